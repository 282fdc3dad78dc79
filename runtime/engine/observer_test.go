package engine

import (
	"fmt"
	"testing"
	"time"
)

type watching struct {
	on   bool
	told []string
}

func (w *watching) Watching() bool { return w.on }

func (w *watching) Turn(label, cause string, computed, took time.Duration) {
	w.told = append(w.told, fmt.Sprintf("%q %s %v", label, cause, 0 <= computed && computed <= took))
}

// Turns are told of while somebody watches, one call for each.
func TestTurnObserver(t *testing.T) {
	w, o := newWorld(t), &watching{}
	w.e.observer = o
	object := w.e.NewContext(RequestContext, "Room/a")
	w.script(object, "1")
	o.on = true
	w.script(nil, "Promise.resolve().then(() => 1)")
	w.script(object, "op(1).then(say)") // the operation's end is a turn of its own
	o.on = false
	w.script(object, "1")
	if got, want := fmt.Sprint(o.told), `["" test true "Room/a" test true "Room/a" op true]`; got != want {
		t.Errorf("told of %s, want %s", got, want)
	}
}
