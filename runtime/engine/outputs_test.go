package engine

import (
	"errors"
	"slices"
	"testing"
)

// A context without a gate has nothing to commit, so that its outputs wait for nothing.
func TestContextWithoutAGate(t *testing.T) {
	w := newWorld(t)
	c := w.e.NewContext(RequestContext, "")
	left := 0
	w.e.Post(c.Frame(), "test", func() {
		c.MarkDirty()
		if c.Holds() || len(w.e.Turns.dirty) > 0 {
			t.Errorf("holds %v, %d contexts to commit", c.Holds(), len(w.e.Turns.dirty))
		}
		c.Emit(func() { left++ })
		if left != 1 {
			t.Error("the output waits")
		}
	})
	w.run()
}

// A turn's writes are one commit of each context that wrote. Outputs wait for it if MarkDirty
// announced one of the writes, and do not for MarkUnconfirmed's; ClearDirty takes back those of
// its own context alone.
func TestWhatATurnCommits(t *testing.T) {
	w := newWorld(t)
	var all []*Context
	var gates []*testGate
	for _, label := range []string{"A", "B", "C"} {
		c := w.e.NewContext(ObjectContext, label)
		g := &testGate{c: c}
		c.Gate = g
		all, gates = append(all, c), append(gates, g)
	}
	turn := func(fn func(), commits ...int) {
		t.Helper()
		for _, g := range gates {
			g.commits = 0
		}
		w.e.Post(all[0].Frame(), "test", fn)
		w.run()
		for i, g := range gates {
			if g.commits != commits[i] {
				t.Errorf("%s is committed %d times, want %d", g.c.Label, g.commits, commits[i])
			}
			if g.c.Holds() || g.c.isDirty {
				t.Errorf("%s holds after the turn", g.c.Label)
			}
		}
	}
	mark := func() {
		for _, c := range all {
			c.MarkDirty()
			c.MarkDirty()
		}
	}
	turn(mark, 1, 1, 1)
	for cleared := range all {
		want := []int{1, 1, 1}
		want[cleared] = 0
		turn(func() {
			mark()
			all[cleared].ClearDirty()
			all[cleared].ClearDirty()
			if all[cleared].Holds() {
				t.Error("holds what was committed")
			}
		}, want...)
	}
	turn(func() { // of one that has not written
		all[0].MarkDirty()
		all[1].ClearDirty()
	}, 1, 0, 0)
	turn(func() { // and is not asked for twice
		all[0].MarkDirty()
		all[0].ClearDirty()
		all[0].MarkUnconfirmed()
	}, 1, 0, 0)
	turn(func() {
		left := 0
		emit := func() { all[0].Emit(func() { left++ }) }
		all[0].MarkUnconfirmed()
		emit()
		if left != 1 || all[0].Holds() {
			t.Errorf("%d outputs left after an unconfirmed write", left)
		}
		all[0].MarkDirty()
		emit()
		if left != 1 || !all[0].Holds() {
			t.Errorf("%d outputs left after a write", left)
		}
	}, 1, 0, 0)
}

// Outputs leave in their order once LetGo is called with the mark under which they were held back,
// or a later one; those from before the mark leave at once. The first that ends the context drops the rest.
func TestOutputsThatAreHeldBack(t *testing.T) {
	w := newWorld(t)
	c := w.e.NewContext(ObjectContext, "A")
	var left []string
	emit := func(text string) { c.Emit(func() { left = append(left, text) }) }
	want := func(where string, heldBack bool, texts ...string) {
		t.Helper()
		if !slices.Equal(left, texts) || c.HeldBack() != heldBack {
			t.Errorf("%s: %q left, held back %v", where, left, c.HeldBack())
		}
		left = nil
	}
	emit("free")
	want("before any mark", false, "free")
	first := c.HoldBack()
	emit("a")
	emit("b")
	second := c.HoldBack()
	emit("c")
	want("held back", true)
	c.LetGo(first - 1)
	want("an earlier mark", true)
	c.LetGo(first)
	want("the first mark", true, "a", "b")
	c.LetGo(second)
	want("the second mark", false, "c")
	c.LetGo(first)
	emit("d")
	want("the first mark again", false, "d")

	c.HoldBack()
	emit("a")
	third := c.HoldBack()
	emit("b")
	c.LetGo(third)
	want("both marks at once", false, "a", "b")

	quiet := false
	c.WaitUntil()
	c.WhenQuiet(func() { quiet = true })
	mark := c.HoldBack()
	c.Emit(c.ReleaseFor)
	if c.LetGo(third); quiet {
		t.Error("quiet while it waits for a promise")
	}
	if c.LetGo(mark); !quiet {
		t.Error("nobody hears that the context waits for nothing, though an output ended the last promise")
	}

	mark = c.HoldBack()
	emit("a")
	c.Emit(func() { c.Kill(errors.New("the client is gone")) })
	emit("b")
	c.LetGo(mark)
	want("an output that ends the context", false, "a")
}

type toldWrites []string

func (f *toldWrites) Wrote(object, site string) { *f = append(*f, object+": "+site) }
func (*toldWrites) Sending(string)              {}

// Who follows is told of each write once, whether outputs wait for it or not.
func TestWritesAreTold(t *testing.T) {
	w := newWorld(t)
	var told toldWrites
	w.e.Sites.Follow(&told)
	c := w.e.NewContext(ObjectContext, "A")
	c.Gate = &testGate{c: c}
	w.e.Post(c.Frame(), "test", func() {
		w.e.Sites.Statement("put first")
		c.MarkDirty()
		c.MarkDirty()
		w.e.Sites.Statement("put second")
		c.MarkUnconfirmed()
	})
	w.run()
	if !slices.Equal(told, []string{"A: put first", "A: put second"}) {
		t.Errorf("told %q", told)
	}
}
