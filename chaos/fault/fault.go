// Package fault is the language of what a campaign breaks: a fault is a named
// value with a text form, a plan is a list of them on one line, and what is
// printed can be given back verbatim.
//
//	kill@commit:after(ResearchAgent/r1)/alarm#17   SIGKILL at that effect point
//	kill@after(350ms)                              SIGKILL so long after the server was ready, or at rest if that is sooner
//	kill@commit:before#3; kill@wake:after#1        the second one hits the next life
package fault

import (
	"fmt"
	"strings"
	"time"

	"minido.dev/minido/internal/killpoint"
)

// Fault is one fault. Immutable.
type Fault struct {
	// Point is the label of the effect point at which the process kills itself,
	// in the form of killpoint.ParseTarget; "" if After is set.
	Point string
	// After is how long after the server was ready the harness kills it; if the
	// system is at rest before, then.
	After time.Duration
}

// String is the fault's text form.
func (f Fault) String() string {
	if f.Point != "" {
		return "kill@" + f.Point
	}
	return "kill@after(" + f.After.String() + ")"
}

// Plan is the faults of one case, one for each life of the server in turn; the
// life after the last one is left alone.
type Plan []Fault

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
	if !found || verb != "kill" || at == "" {
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
		if i := strings.Index(text, "; kill@"); i >= 0 {
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
