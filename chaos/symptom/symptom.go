// Package symptom groups the symptoms of one bug into one finding: the violated
// invariants without their facts, and the turn in which a fault struck. Its functions
// are safe for concurrent use.
package symptom

import (
	"strings"

	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/lazyregexp"
)

// Differential is the name, among checkers, of the comparison with runs without a fault.
const Differential = "differential"

// inTable is a table of an object's in the text of a comparison: namespace/id, the table,
// and which side has the row.
var inTable = lazyregexp.New(`(?:^at rest |; )(\S+?)(?:/[0-9a-f]{8})?(?:\.\d+)?( (?:\(key\) )?\S+)? (?:has|lacks) `)

// particular is what differs between two symptoms of one bug: numbers, what is quoted,
// and values.
var particular = lazyregexp.New(`"[^"]*"|=\S+|\S*\d\S*`)

// Of is what a checker says without the facts; of a comparison, one for each of the tables that
// differ.
func Of(v check.Violation) (out []string) {
	symptom := v.Key()
	if v.Checker == Differential {
		for _, p := range inTable.FindAllStringSubmatch(v.Text, -1) { // what kind it is depends on the moment of the death
			out = append(out, v.Checker+" of "+p[1]+particular.ReplaceAllString(p[2], "#"))
		}
		if out != nil {
			return out
		}
	}
	if v.Checker == Differential || v.Checker == "scenario" {
		first, _, _ := strings.Cut(v.Text, "\n")
		symptom += " " + particular.ReplaceAllString(first, "#")
	}
	return []string{symptom}
}

// Turn names the turn in which a fault struck, by the label of its point: the class of its object and
// what started it; "" if no fault has such a label.
func Turn(label string) string {
	p, err := killpoint.ParseLabel(label)
	if err != nil || p.Cause == "" {
		if f, err := fault.Parse("kill@" + label); err == nil && f.Step > 0 {
			return "the time between two steps"
		}
		return ""
	}
	class, _, _ := strings.Cut(p.Object, "/")
	if class == "" {
		class = "the worker"
	}
	return class + "/" + p.Cause
}
