// Package result holds what campaigns have found, as data: cases and how they ended, reports and the findings
// in them. A campaign writes it; reporters and other tools read it.
package result

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/infer"
	"minido.dev/minido/chaos/place"
	"minido.dev/minido/chaos/workerd"
)

// Outcome is how a case ended.
type Outcome string

// The outcomes.
const (
	Passed   Outcome = "passed"
	Violated Outcome = "violated" // an invariant does not hold
	Restless Outcome = "restless" // it never became idle
	Missed   Outcome = "missed"   // nothing is wrong, and a fault did not happen where it should
	Broken   Outcome = "broken"   // the harness or the server failed by itself
	// Unreached is Missed for a plan that was drawn: another order of events has fewer
	// points. Such a run neither passed nor failed.
	Unreached Outcome = "unreached"
)

// OK reports whether nothing is wrong: of Unreached, as far as it came.
func (o Outcome) OK() bool { return o == Passed || o == Unreached }

// code is the exit code that goes with an outcome.
func (o Outcome) code() int {
	switch o {
	case Passed, Unreached:
		return chaos.Pass
	case Violated:
		return chaos.Violated
	case Restless:
		return chaos.Restless
	case Missed:
		return chaos.Missed
	}
	return chaos.Broken
}

// Kill is one death within a case.
type Kill struct {
	// Point is the label of the last effect point that was passed, "" for none.
	Point string `json:"point"`
	// AtMs is when, since the case began.
	AtMs float64 `json:"at_ms"`
	// ReadyMs is the time from the death, as the harness saw it, until the next
	// server answered; RecoveredMs until its first commit, which is when the system
	// works again. 0 if it did not. WaitedMs is the part of RecoveredMs in which the
	// server was ready, and no alarm was due yet.
	ReadyMs     float64 `json:"ready_ms"`
	RecoveredMs float64 `json:"recovered_ms,omitempty"`
	WaitedMs    float64 `json:"waited_ms,omitempty"`
	// Deploy says that it was none: the life ended at rest, for another version.
	Deploy bool `json:"deploy,omitempty"`
	// Fibers is how many fibers the death cut.
	Fibers int `json:"fibers"`
}

// Case is one case's result. Immutable once reported.
type Case struct {
	// Name is the plan's text.
	Name string `json:"name"`
	// Pace is how long its clients wait between their steps, as Go writes a duration;
	// "" if they do not. Two cases of a report may differ in it alone.
	Pace    string  `json:"pace,omitempty"`
	Outcome Outcome `json:"outcome"`
	// Text says why, for every outcome but Passed.
	Text string `json:"text,omitempty"`
	// Missed are the faults that did not happen, whatever the outcome: checkers judge
	// also what happened without them.
	Missed     []string          `json:"missed,omitempty"`
	Violations []check.Violation `json:"violations,omitempty"`
	// SameAs names the case that was run in place of this one: the deaths of both
	// leave the same world. Then Ms is 0, and Dir is the other's.
	SameAs string `json:"same_as,omitempty"`
	// PlayedBack is how many of its lives no server lived: an earlier case had recorded
	// them.
	PlayedBack int `json:"played_back,omitempty"`
	// Uncompared says why the run was not compared with runs without faults; "" if it was,
	// or if that is not asked of such a run.
	Uncompared string `json:"uncompared,omitempty"`
	// Order says that it is another order of messages (Options.Schedules).
	Order bool `json:"order,omitempty"`
	// Refused says that a fault was one that production would not do at that moment.
	Refused bool   `json:"refused,omitempty"`
	Kills   []Kill `json:"kills"`
	// Places are where in the source its faults struck, of a case that failed.
	Places []place.Place `json:"places,omitempty"`
	// Names are the objects of its violations by their ids there (symptom.Names).
	Names map[string]string `json:"names,omitempty"`
	// Checkers are those that had something to judge.
	Checkers []string `json:"checkers,omitempty"`
	// Ms is how long it took, Tries how often the plan was run.
	Ms    float64 `json:"ms"`
	Tries int     `json:"tries"`
	// Dir holds its evidence, "" if that was deleted.
	Dir string `json:"dir,omitempty"`
	// Replay runs it again.
	Replay string `json:"replay"`
	// Confirm is the command that runs a simulated case that failed with real
	// processes; "" elsewhere.
	Confirm string `json:"confirm,omitempty"`
	// Workerd says what became of it on workerd, if it was run there (Confirm).
	Workerd *workerd.Result `json:"workerd,omitempty"`
	// Seed is that of the order of events, in a simulation.
	Seed uint64 `json:"seed,omitempty"`
	// Digest is a hash over all that was observable of a simulated case.
	Digest string `json:"digest,omitempty"`
}

// Deaths is how often its server was killed.
func (c Case) Deaths() (n int) {
	for _, k := range c.Kills {
		if !k.Deploy {
			n++
		}
	}
	return n
}

// Visits reports whether its fault happened where it should, and it was the first one: it
// then counts as a visit of that point.
func (c Case) Visits() bool {
	if c.Order {
		return false
	}
	object := !strings.HasPrefix(c.Name, "kill@") && !c.Refused && c.Outcome != Missed
	return object || c.Deaths() == 1 && !strings.Contains(c.Name, "; kill@")
}

// Title is the case's name, and its pace if it has one: no other case of a report has
// the same.
func (c Case) Title() string {
	if c.Pace == "" {
		return c.Name
	}
	return c.Name + " (clients wait " + c.Pace + ")"
}

// Failed reports whether something is wrong with what was run.
func (c Case) Failed() bool { return !c.Outcome.OK() && c.Outcome != Missed }

// Report is the outcome of a campaign. Immutable once returned.
type Report struct {
	// Verb is enumerate, random, replay or shrink.
	Verb    string `json:"verb"`
	Project string `json:"project"`
	// Code is the exit code.
	Code int `json:"code"`
	// Points is how many labelled points the clean run passed, Visited how many
	// cases died at each of theirs, Skipped how many were left out by a limit.
	Points  int      `json:"points"`
	Visited int      `json:"visited"`
	Missed  []string `json:"missed,omitempty"`
	// Unmet are the marks (sometimes) that no case has met.
	Unmet []string `json:"unmet,omitempty"`
	// Warnings are what a reader should know of the campaign itself, whatever it found.
	Warnings []string `json:"warnings,omitempty"`
	Skipped  int      `json:"skipped,omitempty"`
	// Questions is how many points of the clean run are not visited because they
	// came of a question that a client asked again until it liked the answer.
	Questions int `json:"questions,omitempty"`
	// Schedules is how many orders of messages were run (Options.Schedules).
	Schedules int `json:"schedules,omitempty"`
	// Kills is how many servers were killed, Same how many cases were judged by
	// another's run (Case.SameAs).
	Kills int `json:"kills"`
	Same  int `json:"same,omitempty"`
	// PlayedBack is that of all cases.
	PlayedBack int `json:"played_back,omitempty"`
	// Refused counts the cases whose fault production would not do at its moment,
	// Unreached those with that outcome.
	Refused   int    `json:"refused,omitempty"`
	Unreached int    `json:"unreached,omitempty"`
	Seed      uint64 `json:"seed,omitempty"`
	Shard     string `json:"shard,omitempty"`
	// Pairs is how many pairs of a place and a state Random knows: those of its cases, and of
	// the corpus that it began with.
	Pairs int `json:"pairs,omitempty"`
	// Stopped says that the campaign was ended from outside: Cases are those that had
	// run by then, and marks that they did not meet say nothing.
	Stopped bool `json:"stopped,omitempty"`
	// Resumed is how many of its cases an earlier run of the campaign had done
	// (Options.Resume).
	Resumed int `json:"resumed,omitempty"`
	// Enough is after how many findings no further case began (Options.StopAfter), 0 if the
	// campaign did not end for that.
	Enough int `json:"enough,omitempty"`
	// Left is how many cases were not run because the time was over (Options.For), or for that.
	Left int `json:"left,omitempty"`
	// Cases are those that are kept (MaxKept, MaxExamples), Folded counts the others.
	Cases  []Case  `json:"cases"`
	Folded *Folded `json:"folded,omitempty"`
	// Inferred are the invariants that held in all states of the run without faults
	// (Options.Infer).
	Inferred []infer.Offer `json:"inferred,omitempty"`
	// Ms is how long the cases took together on the clock.
	Ms  float64 `json:"ms"`
	Dir string  `json:"dir"`
}

// Elapsed is Ms as a duration.
func (r Report) Elapsed() time.Duration { return time.Duration(r.Ms * float64(time.Millisecond)) }

// Uncompared counts the cases that were compared with no run without faults, by the
// reason, in its order.
func (r Report) Uncompared() (out []string) {
	by := map[string]int{}
	for _, c := range r.Cases {
		if c.Uncompared != "" {
			by[c.Uncompared]++
		}
	}
	if r.Folded != nil {
		for why, n := range r.Folded.Uncompared { // order-independent: sums
			by[why] += n
		}
	}
	for _, why := range slices.Sorted(maps.Keys(by)) {
		out = append(out, fmt.Sprintf("%d not compared with runs without faults: %s", by[why], why))
	}
	return out
}

// Failed are the cases that are kept with which something is wrong, and those that missed
// a fault, in order.
func (r Report) Failed() []Case {
	var out []Case
	for _, c := range r.Cases {
		if !c.Outcome.OK() {
			out = append(out, c)
		}
	}
	return out
}

// Conclude sets the code: the worst that happened, in the order a reader wants
// to know it.
func (r *Report) Conclude() {
	r.Code = chaos.Pass
	for _, want := range []Outcome{Violated, Restless, Broken, Missed} {
		for _, c := range r.Cases {
			if c.Outcome == want {
				r.Code = want.code()
				return
			}
		}
		if r.Folded != nil && r.Folded.Outcomes[want] > 0 {
			r.Code = want.code()
			return
		}
	}
	// A shard's marks may be met in another one: what merges them decides.
	if len(r.Missed) > 0 || len(r.Unmet) > 0 && r.Shard == "" {
		r.Code = chaos.Missed
	}
}

// Event is one thing that happens in a campaign.
type Event struct {
	// Campaign is the report so far; it is complete only at the end.
	Campaign *Report
	// Case has just ended; nil at the beginning and the end.
	Case *Case
	// Planned is how many cases there are to run, as far as is known.
	Planned int
	// Text says what goes on, at the beginning of a phase.
	Text string
}
