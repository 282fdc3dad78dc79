package check

import (
	"encoding/json"
	"slices"

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
	// Restless is whether the last life never became idle: Rest is then how it
	// was when the harness ended it.
	Restless bool
	// Bounded is whether the last life was ended at a horizon, with alarms and timers that
	// were still to come.
	Bounded bool
	// Models are the registers and counters that were declared.
	Models []Model
}

// ends are the faults by which objects ended in a process that lived on.
func (e Evidence) ends() []history.Blow {
	return slices.DeleteFunc(e.blows(), func(b history.Blow) bool { return !b.Ends })
}

// blows are all faults that the server has survived.
func (e Evidence) blows() []history.Blow { return Blows(e.Events) }

// Blows are all faults that the server has survived in a history.
func Blows(events []history.Event) []history.Blow {
	var out []history.Blow
	for _, ev := range events {
		var b history.Blow
		if ev.Kind == history.Note && ev.Who == history.ByFault && json.Unmarshal(ev.Data, &b) == nil {
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
	// Doc is its row in docs/chaos.md.
	Doc() Doc
	// Applies says whether there is anything to judge: tables, frames or calls.
	Applies(Evidence) bool
	// Check returns what does not hold.
	Check(Evidence) []Violation
}

// Doc says what a checker judges, where it finds something to judge, and which
// invariants it knows. Violations have no other.
type Doc struct {
	Judges     string
	Invariants []Invariant
}

// Invariant is something that must hold.
type Invariant struct{ Name, Text string }

// All returns the built-in checkers, in the order of reports. A new one is a file of its
// own and a name here.
func All() []Checker {
	return []Checker{integrity{}, fiberChecker{}, chatChecker{}, socketChecker{}, alarmChecker{}, effectChecker{}, linearChecker{}, orphanChecker{}, workflowChecker{}}
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
