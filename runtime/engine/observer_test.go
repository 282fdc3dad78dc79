package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

type watching struct {
	on   bool
	told []string
}

func (w *watching) Watching() bool { return w.on }

func (w *watching) Turn(r *TurnReport) {
	w.told = append(w.told, fmt.Sprintf("%q %s %v", r.Label, r.Cause, 0 <= r.Computed && r.Computed <= r.Took))
	for _, s := range r.Statements {
		w.told = append(w.told, fmt.Sprintf("[%s: %d read, %d written, %s]", s.Text, s.Read, s.Written, s.Failed))
	}
	if r.Held > 0 || r.Unlisted > 0 {
		w.told = append(w.told, fmt.Sprintf("%d held, %d unlisted", r.Held, r.Unlisted))
	}
}

func (w *watching) Synced(label string, took time.Duration, released int) {
	w.told = append(w.told, fmt.Sprintf("%q synced %v %d", label, took >= 0, released))
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

// rows is a cursor that has read so many rows when it is asked.
type rows struct{ read, written int64 }

func (r *rows) RowsRead() int64    { return r.read }
func (r *rows) RowsWritten() int64 { return r.written }

// A turn's report has what it asked of storage, with the rows that were read until its
// end, and the outputs that waited for its commit; a sync says what it lets go.
func TestWhatTurnsAsk(t *testing.T) {
	w, o := newWorld(t), &watching{on: true}
	w.e.observer = o
	object := w.e.NewContext(RequestContext, "Room/a")
	cursor := &rows{1, 0}
	w.e.Turns.Enter(object.Frame(), "rpc", func() {
		w.e.Turns.Statement("", "SELECT  *\n FROM notes")(cursor, nil)
		w.e.Turns.Statement("get ", "key")(nil, errors.New("no such key"))
		cursor.read, cursor.written = 3, 2
	})
	w.e.Turns.Enter(object.Frame(), "rpc", func() {
		for range maxStatements + 2 {
			w.e.Turns.Statement("", strings.Repeat("ä", maxStatementText))(nil, nil)
		}
	})
	if n := len(o.told); n != 1+2+1+maxStatements+1 {
		t.Fatalf("told %d: %q", n, o.told)
	}
	if got, want := fmt.Sprint(o.told[:3]), `["Room/a" rpc true [SELECT * FROM notes: 3 read, 2 written, ] [get key: 0 read, 0 written, no such key]]`; got != want {
		t.Errorf("told of %s, want %s", got, want)
	}
	if text := o.told[4]; len(text) > maxStatementText+60 || !utf8.ValidString(text) || o.told[len(o.told)-1] != "0 held, 2 unlisted" {
		t.Errorf("a long statement is %q, then %s", text, o.told[len(o.told)-1])
	}

	o.told = nil
	mark := object.HoldBack()
	done := object.Syncing(mark)
	object.Emit(func() {})
	object.HoldBack()
	object.Emit(func() {})
	done()
	if got := fmt.Sprint(o.told); got != `["Room/a" synced true 1]` {
		t.Errorf("told of %s", got)
	}
	o.on, o.told = false, nil
	w.e.Turns.Enter(object.Frame(), "rpc", func() { w.e.Turns.Statement("", "SELECT 1")(nil, nil) })
	if object.Syncing(mark) != nil || o.told != nil {
		t.Errorf("nobody watches, and is told of %q", o.told)
	}
}
