package campaign

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/sim"
	"minido.dev/minido/runtime/world"
)

func texts(groups []group) (out [][]string) {
	for _, g := range groups {
		var names []string
		for _, p := range g.all() {
			names = append(names, p.String())
		}
		out = append(out, names)
	}
	return out
}

// Points of one state are one group, of which the last is run; what kills once more
// has the groups of both deaths. Without states each plan is run.
func TestTogether(t *testing.T) {
	state := func(turn int) sim.State { return sim.State{Moment: world.Moment{Turn: turn}} }
	clean := Case{Points: []string{"a", "b", "c"}, states: []sim.State{state(1), state(1), state(2)}}
	plans := []fault.Plan{{{Point: "a"}}, {{Point: "b"}}, {{Point: "c"}}}
	groups := together(plans, clean)
	if diff := cmp.Diff([][]string{{"kill@a", "kill@b"}, {"kill@c"}}, texts(groups)); diff != "" {
		t.Error(diff)
	}
	recovery := Case{Points: []string{"x", "y", "z"}, states: []sim.State{state(5), state(6), state(6)}}
	want := [][]string{
		{"kill@a; kill@x", "kill@b; kill@x"},
		{"kill@b; kill@y", "kill@a; kill@y", "kill@a; kill@z", "kill@b; kill@z"},
	}
	if diff := cmp.Diff(want, texts(groups[0].again(recovery))); diff != "" {
		t.Error(diff)
	}
	clean.states = nil
	if got := together(plans, clean); len(got) != 3 || len(plansOf(got)) != 3 {
		t.Errorf("without states: %v", texts(got))
	}
}

// A history is renamed as that of the earlier death would be: the points after it
// are gone, and those of other lives stay.
func TestRename(t *testing.T) {
	events := func(list ...history.Event) []history.Event {
		for i := range list {
			list[i].N = i + 1
		}
		return list
	}
	e := func(kind history.Kind, text string) history.Event { return history.Event{Kind: kind, Text: text} }
	all := events(e(history.Point, "a"), e(history.Point, "b"), e(history.Kill, "b"), e(history.Start, ""),
		e(history.Point, "a"), e(history.Point, "b"), e(history.Point, "c"), e(history.Kill, "c"), e(history.Note, "end"))
	got, err := rename(all, 1, "a")
	if err != nil {
		t.Fatal(err)
	}
	want := events(e(history.Point, "a"), e(history.Point, "b"), e(history.Kill, "b"), e(history.Start, ""),
		e(history.Point, "a"), e(history.Kill, "a"), e(history.Note, "end"))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if all[7].Text != "c" || all[8].N != 9 {
		t.Error("it changed what it was given")
	}
	for n, label := range map[int]string{0: "c", 1: "d", 2: "a"} {
		if _, err := rename(all, n, label); err == nil {
			t.Errorf("death %d at %s was renamed", n, label)
		}
	}
}
