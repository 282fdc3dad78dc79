package draw

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"minido.dev/minido/chaos/corpus"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/internal/entropy"
)

// The same seed draws the same plans, another one others.
func TestDraw(t *testing.T) {
	from := From{Points: []string{"commit:after(A/a)/rpc#1", "wake:after(A/a)/start#1", "alarm:before(A/a)/alarm#1"}, Took: 300 * time.Millisecond}
	text := func(seed uint64) (out string) {
		for _, p := range New(entropy.NewSeeded(seed), from).Plans(20) {
			if _, err := fault.ParsePlan(p.String()); err != nil || len(p) == 0 {
				t.Errorf("%s: %v", p, err)
			}
			out += p.String() + "\n"
		}
		return out
	}
	if first, again := text(1), text(1); first != again || first == text(2) {
		t.Error("plans do not follow the seed")
	}
}

// Every kind of fault that the world has is drawn, in a form that reads back and at
// a point where it can happen; a simulation draws none that it cannot do.
func TestDrawTakesTheWholeCatalogue(t *testing.T) {
	kinds := func(from From) map[string]bool {
		from.Points = []string{"commit:before(A/a)/rpc#1", "commit:after(A/a)/rpc#1", "queue:before(Q/q)/timer#1", "fetch:before()/fetch#1"}
		from.Took = 300 * time.Millisecond
		seen := map[string]bool{}
		for _, p := range New(entropy.NewSeeded(7), from).Plans(2000) {
			if again, err := fault.ParsePlan(p.String()); err != nil || again.String() != p.String() {
				t.Fatalf("%s: %v", p, err)
			}
			if !p[0].Happens() {
				t.Errorf("%s cannot happen", p)
			}
			kind, _, _ := strings.Cut(p[0].String(), "@")
			if p[0].Upstream != nil || p[0].Skew != 0 {
				kind, _, _ = strings.Cut(kind, "(")
			}
			seen[kind] = true
		}
		return seen
	}
	of := []string{"refuse", "cut", "truncate", "slice", "stall", "slow", "status"}
	all := []string{"kill", "skew"}
	for _, k := range fault.Kinds() {
		all = append(all, k.Draws...)
	}
	both := append(append([]string{"power"}, all...), prefixed("upstream.", of)...)
	both = append(both, prefixed("sink.", of)...)
	for _, x := range []struct {
		from From
		want []string
	}{
		{From{}, all},
		{From{Asked: 2}, append(append([]string{}, all...), prefixed("upstream.", of)...)},
		{From{Sim: true, Asked: 2, Effects: 1}, both},
	} {
		want := map[string]bool{}
		for _, k := range x.want {
			want[k] = true
		}
		if diff := cmp.Diff(want, kinds(x.from)); diff != "" {
			t.Errorf("%+v: %s", x.from, diff)
		}
	}
}

func prefixed(p string, list []string) (out []string) {
	for _, s := range list {
		out = append(out, p+s)
	}
	return out
}

// No plan holds a life up for longer than it may take, whether it is drawn or made of one that
// is known; one that may take longer is drawn such a fault.
func TestDrawComesToRestInTime(t *testing.T) {
	from := From{Points: []string{"rpc:before(A/a)/fetch#1"}, Took: 5 * time.Second, Limit: 90 * time.Second, Sim: true}
	longest := func(from From, c *corpus.Corpus) (most time.Duration) {
		d := New(entropy.NewSeeded(7), from)
		for range 3000 {
			total := time.Duration(0)
			for _, f := range d.Guided(c) {
				total += f.HoldsUp()
			}
			most = max(most, total)
		}
		return most
	}
	none, err := corpus.Open("")
	if err != nil {
		t.Fatal(err)
	}
	known, err := corpus.Open(filepath.Join(t.TempDir(), "corpus"))
	if err != nil {
		t.Fatal(err)
	}
	if !known.Learn(corpus.Entry{Plan: "delay(2m)@rpc:before(A/a)/fetch#1", Pairs: []uint64{1}, Points: []string{"rpc:before(A/a)/fetch#1"}}) {
		t.Fatal("the plan is no news")
	}
	for name, c := range map[string]*corpus.Corpus{"drawn": none, "guided": known} {
		if most := longest(from, c); most == 0 || most >= from.Limit-from.Took {
			t.Errorf("%s: up to %v are held up, of %v", name, most, from.Limit)
		}
	}
	from.Limit = 5 * time.Minute
	if most := longest(from, none); most != 2*time.Minute {
		t.Errorf("with more time, up to %v are held up", most)
	}
}
