package campaign

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"minido.dev/minido/chaos/fault"
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
	clean := ranCase{points: []string{"a", "b", "c"}, states: []sim.State{state(1), state(1), state(2)}}
	plans := []fault.Plan{{{Point: "a"}}, {{Point: "b"}}, {{Point: "c"}}}
	groups := together(plans, clean)
	if diff := cmp.Diff([][]string{{"kill@a", "kill@b"}, {"kill@c"}}, texts(groups)); diff != "" {
		t.Error(diff)
	}
	recovery := ranCase{points: []string{"x", "y", "z"}, states: []sim.State{state(5), state(6), state(6)}}
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
