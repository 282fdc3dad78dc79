package result

import (
	"maps"
	"slices"
	"strings"

	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/symptom"
	"minido.dev/minido/chaos/workerd"
)

// Cause names what is wrong with a case, so that the symptoms of one bug have the same:
// what its checkers say without the facts, and of a comparison the tables that differ.
// It is for people, and "" for a case that is fine.
func (c Case) Cause() string {
	if c.Outcome.OK() {
		return ""
	}
	return strings.Join(c.Causes(), ", ")
}

// Causes are the parts of Cause.
func (c Case) Causes() []string {
	what := []string{string(c.Outcome)}
	if len(c.Violations) > 0 {
		what = nil
	}
	for _, v := range c.Violations {
		what = append(what, symptom.Of(v)...)
	}
	slices.Sort(what)
	return slices.Compact(what)
}

// turn names the turn in which the case's last fault struck: the class of its object and
// what started it.
func (c Case) turn() string {
	label := ""
	if n := len(c.Kills); n > 0 {
		label = c.Kills[n-1].Point
	} else if plan, err := fault.ParsePlan(c.Name); err == nil && len(plan) > 0 {
		label = plan[len(plan)-1].Point
	}
	return symptom.Turn(label)
}

// String is the finding on one line.
func (f Finding) String() string {
	if len(f.Turns) == 0 {
		return f.Cause
	}
	return f.Cause + ", struck in " + strings.Join(f.Turns, ", ")
}

// Finding is the cases of one cause.
type Finding struct {
	Cause string
	// Cases are those that the report has, Count is how many there were.
	Cases []Case
	Count int
	// Turns are those in which the last faults struck.
	Turns []string
	// Example is the one that is best to look at: that which was run on workerd, or that of
	// the fewest faults, the first of these.
	Example Case
}

// Workerd says what became of the finding on workerd; nil if it was not run there.
func (f Finding) Workerd() *workerd.Result { return f.Example.Workerd }

// Findings groups what failed by its cause, the commonest first.
func (r Report) Findings() []Finding {
	var out []Finding
	at := map[string]int{}
	for _, c := range r.Failed() {
		cause := c.Cause()
		i, known := at[cause]
		if !known {
			i = len(out)
			at[cause] = i
			out = append(out, Finding{Cause: cause, Example: c})
		}
		f := &out[i]
		f.Cases = append(f.Cases, c)
		f.Count++
		if turn := c.turn(); turn != "" && !slices.Contains(f.Turns, turn) {
			f.Turns = append(f.Turns, turn)
		}
		if f.Example.Workerd == nil && (len(c.Kills) < len(f.Example.Kills) || c.Workerd != nil) {
			f.Example = c
		}
	}
	if r.Folded != nil {
		for _, cause := range slices.Sorted(maps.Keys(r.Folded.Causes)) {
			if i, known := at[cause]; known {
				out[i].Count += r.Folded.Causes[cause]
			} else { // it came when so many others were known: cases.ndjson has it
				out = append(out, Finding{Cause: cause, Count: r.Folded.Causes[cause]})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return b.Count - a.Count })
	return out
}
