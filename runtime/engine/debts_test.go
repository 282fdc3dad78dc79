package engine

import (
	"errors"
	"slices"
	"testing"

	"minido.dev/minido/runtime/event"
)

// Outputs of a context wait for all that it was told that is not on disk, but for
// messages to the only one that told it; a sync that fails ends it.
func TestDebts(t *testing.T) {
	w := newWorld(t)
	var left []string
	emit := func(c *Context, to any, text string) {
		w.e.Post(c.Frame(), "test", func() {
			if out := func() { left = append(left, text) }; to != nil {
				c.EmitTo(to, out)
			} else {
				c.Emit(out)
			}
		})
		w.run()
	}
	owes := func(c *Context, to any) *event.Safe {
		s := &event.Safe{}
		w.e.Post(c.Frame(), "test", func() { c.Owes(to, s) })
		w.run()
		return s
	}
	settle := func(s *event.Safe, err error) { s.Settle(err); w.run() }
	want := func(where string, texts ...string) {
		t.Helper()
		if !slices.Equal(left, texts) {
			t.Errorf("%s: %q left, want %q", where, left, texts)
		}
		left = nil
	}
	c := w.e.NewContext(RequestContext, "")
	emit(c, nil, "free")
	first, second := owes(c, "a"), owes(c, "a")
	emit(c, "a", "to a")
	emit(c, "b", "to b")
	emit(c, nil, "answer")
	want("of one", "free", "to a")
	settle(second, nil)
	want("the second is safe")
	settle(first, nil)
	want("both are safe", "to b", "answer")

	first, second = owes(c, "a"), owes(c, "b")
	emit(c, "a", "to a")
	settle(first, nil)
	emit(c, "b", "to b")
	want("of two")
	settle(second, nil)
	want("of none", "to a", "to b")
	if n := c.Held(); n != 0 {
		t.Errorf("%d holds are left", n)
	}

	failed := owes(c, "a")
	emit(c, nil, "answer")
	settle(failed, errors.New("the disk is gone"))
	want("a sync has failed")
	if c.Dead() == nil || c.Held() != 0 {
		t.Errorf("the context lives on: %v, %d holds", c.Dead(), c.Held())
	}
}
