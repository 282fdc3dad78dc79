package main

import (
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// Stacks are folded from the outermost frame on, inlined frames included, and equal
// ones are added up.
func TestFold(t *testing.T) {
	line := func(name string) profile.Line { return profile.Line{Function: &profile.Function{Name: name}} }
	outer := &profile.Location{Line: []profile.Line{line("outer")}}
	inner := &profile.Location{Line: []profile.Line{line("inlined;"), line("inner")}}
	sample := func(micros int64, at ...*profile.Location) *profile.Sample {
		return &profile.Sample{Location: at, Value: []int64{1, micros * 1000}}
	}
	var got strings.Builder
	p := &profile.Profile{Sample: []*profile.Sample{sample(20, inner, outer), sample(5, outer), sample(10, inner, outer)}}
	if err := fold(p, &got); err != nil {
		t.Fatal(err)
	}
	if want := "outer 5\nouter;inner;inlined, 30\n"; got.String() != want {
		t.Errorf("folded:\n%swant:\n%s", got.String(), want)
	}
}
