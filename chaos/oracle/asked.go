package oracle

import (
	"slices"
	"strings"
)

// What clients ask may depend on what they were told: an identity, a token, a page. A client
// that is told something else goes on with something else, and then there is no answer with
// which the one it gets could be compared by its place.

// elsewhere leads from each answer that only a has to the one that only b has, to what is asked
// for in the same way with something else. Where several are, nobody knows which belong
// together.
func elsewhere(a, b map[place]table) map[place]place {
	lone := func(x, y map[place]table) map[string][]place {
		out := map[string][]place{}
		for at, t := range x { // order-independent: what counts is whether there is one
			if at.isTold() && !strings.HasPrefix(at.name, socketPrefix) && t.rows != nil && y[at].rows == nil {
				out[at.way()] = append(out[at.way()], at)
			}
		}
		return out
	}
	out, others := map[place]place{}, lone(b, a)
	for way, mine := range lone(a, b) { // order-independent: a map of the same keys
		if theirs := others[way]; len(mine) == 1 && len(theirs) == 1 {
			out[mine[0]] = theirs[0]
		}
	}
	return out
}

// way is how the step of an answer asks, whatever it asks for: a request by its method and the
// first part of its path, a call by its method.
func (at place) way() string {
	step := strings.TrimPrefix(at.name, toldPrefix)
	kind := " once"
	if again, ok := strings.CutSuffix(step, " (last)"); ok {
		step, kind = again, " again"
	}
	words := strings.SplitN(step, " ", 3)
	if len(words) < 2 || !strings.HasPrefix(words[1], "/") {
		return words[0] + kind
	}
	path, _, _ := strings.Cut(words[1], "?")
	parts := strings.Split(path, "/")
	for i := range parts {
		if i > 1 {
			parts[i] = "*"
		}
	}
	return words[0] + " " + strings.Join(parts, "/") + kind
}

// answeredElsewhere are the differences of two answers to steps that ask in the same way. Numbers
// in them may be those that were asked with.
func answeredElsewhere(at, other place, got, want table) (out []Difference) {
	have, should := got.loosened().said(), want.loosened().said()
	rows := slices.Sorted(slices.Values(union(have, should)))
	if slices.ContainsFunc(rows, counted.MatchString) {
		return nil
	}
	label := at.label() + ", where clients ask " + strings.TrimPrefix(other.name, toldPrefix) + " without the fault,"
	for _, row := range rows {
		if have[row] != should[row] {
			out = append(out, Difference{label, row, have[row], should[row], at})
		}
	}
	return out
}

// loosened is t without its numbers.
func (t table) loosened() table {
	out := t
	out.rows = nil
	for _, row := range t.rows {
		row = slices.Clone(row)
		for i := range row {
			row[i] = digits.ReplaceAllString(row[i], "#")
		}
		out.rows = append(out.rows, row)
	}
	return out
}
