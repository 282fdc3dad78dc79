package check

import (
	"encoding/json"
	"fmt"
	"time"

	"minido.dev/minido/chaos/fibers"
	"minido.dev/minido/chaos/history"
)

// Violation is an invariant that does not hold, with the facts that prove it.
// Immutable.
type Violation struct {
	// Checker and Invariant are short names.
	Checker   string `json:"checker"`
	Invariant string `json:"invariant"`
	// Text says in one or two lines what happened instead.
	Text string `json:"text"`
}

// String is the violation on one line.
func (v Violation) String() string { return v.Checker + "/" + v.Invariant + ": " + v.Text }

// Key tells what kind of violation it is, whatever its facts: two runs that
// violate the same key have found the same thing.
func (v Violation) Key() string { return v.Checker + "/" + v.Invariant }

// Evidence is what a case leaves to be judged. Immutable.
type Evidence struct {
	// Events is the history.
	Events []history.Event
	// Deaths are the files at each death, in order, Rest the files at rest.
	Deaths []Snapshot
	Rest   Snapshot
	// Restless is whether the last life never came to rest: Rest is then how it
	// was when the harness ended it.
	Restless bool
	// Models are the registers and counters that were declared.
	Models []Model
}

// ends are the faults by which objects ended in a process that lived on.
func (e Evidence) ends() []history.Blow {
	var out []history.Blow
	for _, ev := range e.Events {
		var b history.Blow
		if ev.Kind == history.Note && ev.Who == history.ByFault && json.Unmarshal(ev.Data, &b) == nil && b.Ends {
			out = append(out, b)
		}
	}
	return out
}

// Mark is something that must happen in at least one case of a campaign, or the
// campaign shows little.
type Mark struct {
	Name string
	Met  bool
}

// Checker judges one aspect.
type Checker interface {
	// Name is short, as in reports and flags.
	Name() string
	// Applies says whether there is anything to judge: tables, frames or calls.
	Applies(Evidence) bool
	// Check returns what does not hold.
	Check(Evidence) []Violation
}

// All returns the built-in checkers, in the order of reports.
func All() []Checker {
	return []Checker{integrity{}, fiberChecker{}, chatChecker{}, socketChecker{}, alarmChecker{}, effectChecker{}, linearChecker{}}
}

// Judge asks each checker that applies, and tells which did.
func Judge(checkers []Checker, e Evidence) (found []Violation, asked []string) {
	for _, c := range checkers {
		if !c.Applies(e) {
			continue
		}
		asked = append(asked, c.Name())
		found = append(found, c.Check(e)...)
	}
	return found, asked
}

// integrity: SQLite finds no damage in any database at rest.
type integrity struct{}

func (integrity) Name() string          { return "integrity" }
func (integrity) Applies(Evidence) bool { return true }

func (c integrity) Check(e Evidence) []Violation {
	var out []Violation
	for _, d := range e.Rest.Damaged {
		out = append(out, Violation{c.Name(), "database-whole", d})
	}
	return out
}

// fiberChecker holds each agent's files against package fibers' invariants.
type fiberChecker struct{}

func (fiberChecker) Name() string { return "fibers" }

func (fiberChecker) Applies(e Evidence) bool {
	for _, s := range append(append([]Snapshot{}, e.Deaths...), e.Rest) {
		for _, o := range s.Objects {
			if hasFibers(o.Fibers) {
				return true
			}
		}
	}
	return false
}

func hasFibers(s fibers.State) bool {
	for _, d := range s.Databases {
		if d.HasHooks || len(d.Runs) > 0 || len(d.Managed) > 0 || len(d.Jobs) > 0 {
			return true
		}
	}
	return false
}

func (c fiberChecker) Check(e Evidence) []Violation {
	var out []Violation
	ends := len(e.ends())
	for _, o := range objectsOf(e) {
		var deaths []fibers.State
		for _, d := range e.Deaths {
			at, _ := d.find(o)
			deaths = append(deaths, at.Fibers)
		}
		rest, _ := e.Rest.find(o)
		for _, v := range fibers.Check(deaths, rest.Fibers, ends) {
			out = append(out, Violation{c.Name(), v.Invariant, o.Label() + ": " + v.Text})
		}
	}
	return out
}

// objectsOf are all objects that were ever seen, in the order of their first
// sight.
func objectsOf(e Evidence) []Object {
	seen := map[string]bool{}
	var out []Object
	for _, s := range append(append([]Snapshot{}, e.Deaths...), e.Rest) {
		for _, o := range s.Objects {
			if key := o.Namespace + "/" + o.ID; !seen[key] {
				seen[key] = true
				out = append(out, o)
			}
		}
	}
	return out
}

// alarmChecker holds each object's alarm row against the namespace's index.
type alarmChecker struct{}

// Horizon is how far off an alarm may be for a system to count as at rest: one
// that is due sooner is work that is left.
const Horizon = time.Minute

// slack is what a clock and a reading of files may differ by.
const slack = 5 * time.Second

func (alarmChecker) Name() string { return "alarms" }

func (alarmChecker) Applies(e Evidence) bool {
	for _, s := range append(append([]Snapshot{}, e.Deaths...), e.Rest) {
		for _, o := range s.Objects {
			if o.Row.Set || o.Index.Set {
				return true
			}
		}
	}
	return false
}

func (c alarmChecker) Check(e Evidence) []Violation {
	var out []Violation
	add := func(invariant, format string, args ...any) {
		out = append(out, Violation{c.Name(), invariant, fmt.Sprintf(format, args...)})
	}
	for n, d := range e.Deaths {
		for _, o := range d.Objects {
			if o.Row.Set && (!o.Index.Set || o.Index.At.After(o.Row.At)) {
				add("index-not-later", "%s at death %d: its alarm is set for %s, the index says %s: it would fire late or never", o.Label(), n+1, o.Row, o.Index)
			}
		}
	}
	if e.Restless {
		return out // an alarm may have been about to fire
	}
	for _, o := range e.Rest.Objects {
		switch {
		case o.Row.Set && o.Row.At.Before(e.Rest.At.Add(Horizon-slack)):
			add("fires", "%s: its alarm is set for %s, and at %s the server says that nothing is left to do: it will not fire", o.Label(), o.Row, Alarm{e.Rest.At, true})
		case o.Row.Set != o.Index.Set || o.Row.Set && !o.Row.At.Equal(o.Index.At):
			add("index-agrees", "%s at rest: its alarm is %s, the index says %s", o.Label(), o.Row, o.Index)
		}
	}
	return out
}
