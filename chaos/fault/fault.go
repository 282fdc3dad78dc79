// Package fault is the language of what a campaign breaks: a fault is a named
// value with a text form, a plan is a list of them on one line, and what is
// printed can be given back verbatim.
//
//	kill@commit:after(ResearchAgent/r1)/alarm#17   SIGKILL at that effect point
//	kill@after(350ms)                              SIGKILL so long after the server was ready, or at rest if that is sooner
//	kill@commit:before#3; kill@wake:after#1        the second one hits the next life
//	crash@commit:after(Room/lobby)/message#2       what production does to one object, at that point: to the point's own
//	crash(isolate)@fetch:before#1                  or to all of them, and module state; also evict, hibernate, reset, abort
package fault

import (
	"fmt"
	"strings"
	"time"

	"minido.dev/minido/internal/killpoint"
)

// Verb is what a fault does: "" is a kill of the process, the others happen to
// one object or to the isolate, as docs/control.md says.
type Verb string

// The verbs of faults within a process.
const (
	Evict     Verb = "evict"
	Hibernate Verb = "hibernate"
	Reset     Verb = "reset"
	Abort     Verb = "abort"
	Crash     Verb = "crash"
)

// Verbs are all but the kill.
func Verbs() []Verb { return []Verb{Evict, Hibernate, Reset, Abort, Crash} }

// Fault is one fault. Immutable.
type Fault struct {
	// Verb is "" for a kill, which ends the process.
	Verb Verb
	// Isolate has the verb done to the whole isolate instead of the point's object.
	Isolate bool
	// Point is the label of the effect point at which the process kills itself,
	// in the form of killpoint.ParseTarget; "" if After is set.
	Point string
	// After is how long after the server was ready the harness kills it; if the
	// system is at rest before, then.
	After time.Duration
}

// String is the fault's text form.
func (f Fault) String() string {
	if f.Verb != "" {
		return f.Kind() + "@" + f.Point
	}
	if f.Point != "" {
		return "kill@" + f.Point
	}
	return "kill@after(" + f.After.String() + ")"
}

// Kind is what is before the @.
func (f Fault) Kind() string {
	switch {
	case f.Verb == "":
		return "kill"
	case f.Isolate:
		return string(f.Verb) + "(isolate)"
	}
	return string(f.Verb)
}

// ParseKind reads what Kind wrote, into a Fault without a point.
func ParseKind(text string) (Fault, error) {
	if text == "kill" {
		return Fault{}, nil
	}
	name, isolate := strings.CutSuffix(text, "(isolate)")
	for _, v := range Verbs() {
		if name == string(v) && !(isolate && (v == Abort || v == Hibernate)) {
			return Fault{Verb: v, Isolate: isolate}, nil
		}
	}
	return Fault{}, fmt.Errorf("fault %q: write kill, evict, hibernate, reset, abort or crash; evict, reset and crash also with (isolate)", text)
}

// Plan is the faults of one case: each kill ends a life of the server, and what
// stands before it happens in that life. The life after the last kill ends by
// itself.
type Plan []Fault

// Lives are the faults of each life, the last of which is not killed.
func (p Plan) Lives() []Plan {
	lives := []Plan{nil}
	for _, f := range p {
		last := len(lives) - 1
		lives[last] = append(lives[last], f)
		if f.Verb == "" {
			lives = append(lives, nil)
		}
	}
	return lives
}

// Kill is the kill that ends a life, nil for none.
func (p Plan) Kill() *Fault {
	if n := len(p); n > 0 && p[n-1].Verb == "" {
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
	verb, at, found := strings.Cut(strings.TrimSpace(text), "@")
	kind, err := ParseKind(verb)
	if found && at != "" && err == nil && kind.Verb != "" {
		if _, err := killpoint.ParseTarget(at); err != nil {
			return Fault{}, fmt.Errorf("fault %q: %w", text, err)
		}
		kind.Point = at
		return kind, nil
	}
	if !found || err != nil || at == "" {
		return Fault{}, fmt.Errorf("fault %q: write kill@POINT, for example kill@commit:after(Agent/a1)/alarm#2, or kill@after(350ms)", text)
	}
	if inner, ok := strings.CutPrefix(at, "after("); ok && strings.HasSuffix(inner, ")") {
		d, err := time.ParseDuration(strings.TrimSuffix(inner, ")"))
		if err != nil || d <= 0 {
			return Fault{}, fmt.Errorf("fault %q: after() needs a time above zero such as 350ms", text)
		}
		return Fault{After: d}, nil
	}
	if _, err := killpoint.ParseTarget(at); err != nil {
		return Fault{}, fmt.Errorf("fault %q: %w", text, err)
	}
	return Fault{Point: at}, nil
}

// ParsePlan reads what Plan.String wrote. A semicolon followed by a verb parts
// two faults: object names may contain semicolons too.
func ParsePlan(text string) (Plan, error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "none" {
		return nil, nil
	}
	var p Plan
	for text != "" {
		one := text
		if i := next(text); i >= 0 {
			one, text = text[:i], text[i+2:]
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

// next is where the second fault's separator is, -1 for none.
func next(text string) int {
	first := strings.Index(text, "; kill@")
	for _, v := range Verbs() {
		for _, mark := range []string{"; " + string(v) + "@", "; " + string(v) + "(isolate)@"} {
			if i := strings.Index(text, mark); i >= 0 && (first < 0 || i < first) {
				first = i
			}
		}
	}
	return first
}
