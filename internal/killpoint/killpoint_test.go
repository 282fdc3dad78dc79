package killpoint

import (
	"errors"
	"testing"
)

// Effects are numbered, labelled and counted per label; a failed effect has no
// after-side.
func TestEffectLabels(t *testing.T) {
	var got []string
	p := New(Options{Record: func(pt Point) { got = append(got, pt.Label()) }})
	ok := func() error { return nil }
	p.Effect(Commit, "Room/a", "fetch", ok)
	p.Effect(Commit, "Room/a", "fetch", ok)
	p.Effect(Frame, "Room/a", "message", func() error { return errors.New("broken pipe") })
	want := []string{
		"commit:before(Room/a)/fetch#1", "commit:after(Room/a)/fetch#1",
		"commit:before(Room/a)/fetch#2", "commit:after(Room/a)/fetch#2",
		"frame:before(Room/a)/message#1",
	}
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("point %d: got %q, want %q", i+1, got[i], want[i])
		}
	}
}

// A target may leave out object, cause and occurrence; a label printed by a
// recording is a target that hits the same point again.
func TestParseTarget(t *testing.T) {
	type died struct{ Point }
	run := func(target string) (got Point) {
		pick, err := ParseTarget(target)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if d, ok := recover().(died); ok {
				got = d.Point
			}
		}()
		p := New(Options{Target: pick, Die: func(pt Point) { panic(died{pt}) }})
		for _, cause := range []string{"fetch", "alarm", "alarm"} {
			p.Effect(Commit, "Agent/a b(1)", cause, func() error { return nil })
		}
		p.Effect(RPC, "Agent/a", "rpc", func() error { return nil })
		p.Effect(RPC, "", "rpc", func() error { return nil })
		return got
	}
	for target, number := range map[string]int{
		"4":                                  4,
		"commit:after#3":                     6,
		"commit:before/alarm":                3,
		"commit:after(Agent/a b(1))/alarm#2": 6,
		"commit:after(Agent/a b(1))":         2,
		"commit:after(Agent/other)/alarm#1":  0,
		"frame:before":                       0,
		"rpc:before/rpc#1":                   7,
		"rpc:before()/rpc#1":                 9, // of no object, not of any
	} {
		if got := run(target); got.Number != number {
			t.Errorf("%s: died at %d, want %d", target, got.Number, number)
		}
	}
	for _, bad := range []string{"", "0", "commit", "commit:during", "comit:after", "commit:after#x", "commit:after(a", "commit:after(a)x"} {
		if _, err := ParseTarget(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// A label reads back as the point that wrote it, whatever the object is called.
func TestParseLabelReadsLabels(t *testing.T) {
	for _, want := range []Point{
		{Kind: Commit, Side: After, Object: "Agent/a (1)/b#2", Cause: "alarm", Occurrence: 17},
		{Kind: Response, Side: Before, Cause: "fetch", Occurrence: 1},
	} {
		got, err := ParseLabel(want.Label())
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v", want.Label(), got, err)
		}
	}
	if _, err := ParseLabel("nonsense"); err == nil {
		t.Error("nonsense was read")
	}
}
