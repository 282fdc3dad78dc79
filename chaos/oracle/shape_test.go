package oracle

import "testing"

// States of the same shape differ in large numbers and ids; another text, another table and one
// more of a few rows are another shape.
func TestShape(t *testing.T) {
	of := func(name string, rows ...string) uint64 {
		s := State{tables: map[place]table{}}
		t := table{columns: []string{"v"}}
		for _, r := range rows {
			t.rows = append(t.rows, []string{r})
		}
		s.put(place{namespace: "w-Room", object: "o"}, name, t)
		return s.Shape()
	}
	one := of("jobs", "done 17")
	if of("jobs", "done 23456") != one {
		t.Error("a number makes another shape")
	}
	for what, other := range map[string]uint64{"text": of("jobs", "open 17"), "number of one digit": of("jobs", "done 1"), "table": of("log", "done 17"), "row": of("jobs", "done 17", "done 18")} {
		if other == one {
			t.Errorf("another %s is the same shape", what)
		}
	}
	if of("jobs", "a 11", "a 12", "a 13") != of("jobs", "a 11", "a 12", "a 13", "a 14") {
		t.Error("the number of many rows makes another shape")
	}
}
