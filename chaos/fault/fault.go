// Package fault is the language of faults: a fault is a named value with a text form,
// a plan is a list of them on one line, and printed plans can be parsed again.
//
//	kill@commit:after(ResearchAgent/r1)/alarm#17   SIGKILL at that effect point
//	power@commit:after(ResearchAgent/r1)/alarm#17  the machine loses power there: what was not synced may be gone; in simulation
//	skew(2s)@commit:after(Room/a)/fetch#1          SIGKILL there; Room/a goes on on a machine whose clock is 2 s ahead of all others; skew(-2s): behind
//	kill@after(350ms)                              SIGKILL so long after the server was ready, or at rest if that is sooner
//	kill@checkpoint#2                              SIGKILL at the commit by which a fiber has stored its second snapshot in this life
//	kill@commit:before#3; kill@wake:after#1        the second one hits the next life
//	kill@step#3                                    before the clients' third step, when the answer to the second has come; also power
//	deploy@rest                                    the system comes to rest, and the next version of the project takes over
//	deploy@step#3                                  so it does before the clients' third step
//	crash@commit:after(Room/lobby)/message#2       what production does to one object, at that point: to the point's own
//	crash(isolate)@fetch:before#1                  or to all of them, and module state; also evict, hibernate, reset, abort
//	fail(full)@commit:before(Room/lobby)/message#2 the disk is full: the write at that point fails; also fail(io), fail(busy)
//	fail(sync)@commit:after(Room/lobby)/message#2  it was written, and its sync fails
//	refuse@fetch:before/alarm#1                    the server that is fetched from takes no connection
//	fail(dns)@fetch:before/alarm#1                 the name of the server that is fetched from does not resolve
//	slow(200ms)@commit:before#3                    the disk, and every effect with it, is blocked for this time
//	jump(5m)@alarm:before#1                        the machine's clock is set forward there, for this life and those after it
//	upstream.status(429)@request#2                 what the scripted model does to its second request (package upstream)
//	sink.cut(0)@request#1                          the same of the effect sink
package fault

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"minido.dev/minido/chaos/upstream"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/lazyregexp"
)

// Verb is what a fault within a process is called; "" is a kill of the process, and a
// fault of an upstream. Each has a Kind.
type Verb string

// Fault is one fault. Immutable.
type Fault struct {
	// Verb is "" for a kill, which ends the process, and for a fault of the upstream.
	Verb Verb
	// Arg is what the verb has in parentheses: Isolate, the error of Fail, or the
	// time of Slow and Jump.
	Arg string
	// Point is the label of the effect point at which it happens, in the form of
	// killpoint.ParseTarget; "" if After or Upstream is set.
	Point string
	// Power makes a kill a loss of power: what was not synced may be gone.
	Power bool
	// Skew, unless 0, makes a kill at a point one after which the point's object, or the
	// worker, runs on a machine whose clock is so far ahead of all others, or behind them, in
	// every life that follows.
	Skew time.Duration
	// Deploy ends a life at rest, so that the next one loads the next version of the
	// project: when nothing is left to do or, with Step, at rest before that step.
	Deploy bool
	// Step is the clients' step, counted from 1 over all lives, before which a life ends: a
	// kill comes when that is to be sent, so that it cuts no answer to one before. 0 without.
	Step int
	// After is how long after the server was ready the harness kills it; if the
	// system is at rest before, then.
	After time.Duration
	// Checkpoint kills at the commit by which a fiber has stored so many snapshots in the
	// present life; 0 for every other fault.
	Checkpoint int
	// Upstream is what the scripted model, or with Sink the effect sink, does to one
	// of its requests, counted over all lives; nil for every other fault.
	Upstream *upstream.Fault
	Sink     bool
}

// IsKill reports whether the fault ends a life of the server.
func (f Fault) IsKill() bool { return f.Verb == "" && f.Upstream == nil }

// EndsObjects reports whether objects of a living server lose their memory and
// their sockets by it.
func (f Fault) EndsObjects() bool {
	k := kindOf(f.Verb)
	return k != nil && k.EndsObjects(f.Arg)
}

// OfMessage reports whether the fault is one of a message, which leaves the server whole.
func (f Fault) OfMessage() bool {
	switch f.Verb {
	case Delay, Drop, Twice, Partition:
		return true
	}
	return false
}

// checkpoint is what stands for the point of a kill at a fiber's checkpoint.
const checkpoint = "checkpoint#"

// deploy, and what stands for its points.
const (
	deploy = "deploy@"
	rest   = "rest"
	step   = "step#"
)

// prefix and sinkPrefix mark the faults of the upstreams.
const (
	prefix     = "upstream."
	sinkPrefix = "sink."
)

// String is the fault's text form.
func (f Fault) String() string {
	switch {
	case f.Sink:
		return sinkPrefix + f.Upstream.String()
	case f.Upstream != nil:
		return prefix + f.Upstream.String()
	case f.Checkpoint > 0:
		return "kill@" + checkpoint + strconv.Itoa(f.Checkpoint)
	case f.Deploy && f.Step == 0:
		return deploy + rest
	case f.Deploy:
		return deploy + f.Before()
	case f.Step > 0:
		return f.Kind() + "@" + f.Before()
	case f.Verb != "" || f.Point != "":
		return f.Kind() + "@" + f.Point
	}
	return "kill@after(" + f.After.String() + ")"
}

// Before is what stands for the point of a life's end before a step of the clients, as in a
// plan; "" for every other fault.
func (f Fault) Before() string {
	if f.Step == 0 {
		return ""
	}
	return step + strconv.Itoa(f.Step)
}

// Kind is what is before the @ of a fault at a point.
func (f Fault) Kind() string {
	switch {
	case f.Power:
		return "power"
	case f.Skew != 0:
		return skewed + "(" + f.Skew.String() + ")"
	case f.Verb == "":
		return "kill"
	case f.Arg != "":
		return string(f.Verb) + "(" + f.Arg + ")"
	}
	return string(f.Verb)
}

// At is the fault at the point of a label.
func (f Fault) At(label string) Fault {
	f.Point = label
	return f
}

// Happens says whether the fault can be done at its point.
func (f Fault) Happens() bool {
	k := kindOf(f.Verb)
	if k == nil {
		return true // a kill
	}
	at, err := killpoint.ParseLabel(f.Point)
	if err != nil {
		return true // a number, or a label without an object: only the run can tell
	}
	return k.Happens(f.Arg, at)
}

var kindForm = lazyregexp.New(`^([a-z]+)(?:\(([^()]*)\))?$`)

// ParseKind reads what Kind wrote, into a Fault without a point.
func ParseKind(text string) (Fault, error) {
	switch text {
	case "kill":
		return Fault{}, nil
	case "power":
		return Fault{Power: true}, nil
	}
	if m := kindForm.FindStringSubmatch(text); m != nil {
		if d, err := time.ParseDuration(m[2]); m[1] == skewed && err == nil && d != 0 {
			return Fault{Skew: d}, nil
		}
		if k := kindOf(Verb(m[1])); k != nil && k.Takes(m[2]) {
			return Fault{Verb: k.Verb, Arg: m[2]}, nil
		}
	}
	return Fault{}, fmt.Errorf("fault %q: write kill, power, skew(2s), skew(-2s), %s", text, strings.Join(forms(), ", "))
}

// BetweenSteps are plans of one death of that kind before each of the clients' steps but
// the first: no answer is lost, and what has been acknowledged must be there. A death at an
// effect point cuts the step that has led to it, and with it what an earlier one has left
// in memory may be worth nothing.
func BetweenSteps(kind Fault, steps int) (plans []Plan) {
	for n := 2; n <= steps; n++ {
		f := kind
		f.Step = n
		plans = append(plans, Plan{f})
	}
	return plans
}

// Plan is the faults of one case: each kill ends a life of the server, and what
// stands before it happens in that life. The life after the last kill ends by
// itself.
type Plan []Fault

// Lives are the faults of each life, the last of which is not killed.
func (p Plan) Lives() []Plan {
	lives := []Plan{nil}
	for _, f := range p {
		if f.Upstream != nil {
			continue // the upstream outlives the server
		}
		last := len(lives) - 1
		lives[last] = append(lives[last], f)
		if f.IsKill() {
			lives = append(lives, nil)
		}
	}
	return lives
}

// Upstream are the faults of the scripted model, or those of the effect sink.
func (p Plan) Upstream(sink bool) []upstream.Fault {
	var out []upstream.Fault
	for _, f := range p {
		if f.Upstream != nil && f.Sink == sink {
			out = append(out, *f.Upstream)
		}
	}
	return out
}

// Spoils reports whether a fault of the plan may have the living server answer
// with an error.
func (p Plan) Spoils() bool {
	return slices.ContainsFunc(p, func(f Fault) bool { return !f.IsKill() })
}

// Deploys reports whether the plan has no fault at all, only new versions at rest.
func (p Plan) Deploys() bool {
	return !slices.ContainsFunc(p, func(f Fault) bool { return !f.Deploy })
}

// Kill is the kill that ends a life, nil for none.
func (p Plan) Kill() *Fault {
	if n := len(p); n > 0 && p[n-1].IsKill() {
		return &p[n-1]
	}
	return nil
}

// String is the plan on one line, "none" if it is empty.
func (p Plan) String() string {
	if len(p) == 0 {
		return "none"
	}
	parts := make([]string, len(p))
	for i, f := range p {
		parts[i] = f.String()
	}
	return strings.Join(parts, "; ")
}

// Parse reads one fault.
func Parse(text string) (Fault, error) {
	text = strings.TrimSpace(text)
	for _, p := range []string{prefix, sinkPrefix} {
		rest, ok := strings.CutPrefix(text, p)
		if !ok {
			continue
		}
		u, err := upstream.ParseFault(rest)
		if err != nil {
			return Fault{}, fmt.Errorf("fault %q: %w", text, err)
		}
		return Fault{Upstream: &u, Sink: p == sinkPrefix}, nil
	}
	if when, ok := strings.CutPrefix(text, deploy); ok {
		number, ofStep := strings.CutPrefix(when, step)
		n, err := strconv.Atoi(number)
		switch {
		case when == rest:
			return Fault{Deploy: true}, nil
		case ofStep && err == nil && n > 0:
			return Fault{Deploy: true, Step: n}, nil
		}
		return Fault{}, fmt.Errorf("fault %q: write deploy@rest, or deploy@step#3 for before the clients' third step", text)
	}
	kind, at, found := strings.Cut(text, "@")
	if !found || at == "" {
		return Fault{}, fmt.Errorf("fault %q: write kill@POINT, for example kill@commit:after(Agent/a1)/alarm#2, or kill@after(350ms)", text)
	}
	f, err := ParseKind(kind)
	if err != nil {
		return Fault{}, err
	}
	if inner, ok := strings.CutPrefix(at, "after("); ok && f.Kind() == "kill" && strings.HasSuffix(inner, ")") {
		d, err := time.ParseDuration(strings.TrimSuffix(inner, ")"))
		if err != nil || d <= 0 {
			return Fault{}, fmt.Errorf("fault %q: after() needs a time above zero such as 350ms", text)
		}
		return Fault{After: d}, nil
	}
	if number, ok := strings.CutPrefix(at, step); ok && f.Verb == "" && f.Skew == 0 {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			return Fault{}, fmt.Errorf("fault %q: steps count from 1: write kill@step#2 for before the clients' second step", text)
		}
		f.Step = n
		return f, nil
	}
	if number, ok := strings.CutPrefix(at, checkpoint); ok && f.Kind() == "kill" {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			return Fault{}, fmt.Errorf("fault %q: checkpoints count from 1", text)
		}
		return Fault{Checkpoint: n}, nil
	}
	if _, err := killpoint.ParseTarget(at); err != nil {
		return Fault{}, fmt.Errorf("fault %q: %w", text, err)
	}
	f.Point = at
	if k := kindOf(f.Verb); k != nil && k.Where != "" && !f.Happens() {
		return Fault{}, fmt.Errorf("fault %q: %s", text, k.Where)
	}
	return f, nil
}

// ParsePlan reads what Plan.String wrote. A semicolon followed by a fault's kind
// parts two faults: object names may contain semicolons too.
func ParsePlan(text string) (Plan, error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "none" {
		return nil, nil
	}
	var p Plan
	for text != "" {
		one := text
		if i := separator.FindStringIndex(text); i != nil {
			one, text = text[:i[0]], text[i[0]+2:]
		} else {
			text = ""
		}
		f, err := Parse(one)
		if err != nil {
			return nil, err
		}
		p = append(p, f)
	}
	return p, nil
}

// separator is where the next fault begins, two bytes behind.
var separator = lazyregexp.New(`; (?:kill|power|deploy|skew|` + strings.Join(verbs(), "|") + `|(?:upstream|sink)\.[a-z]+)(?:\([^()]*\))?@`)
