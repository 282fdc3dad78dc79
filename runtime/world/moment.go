package world

import (
	"crypto/sha256"
	"fmt"
	"os"

	"minido.dev/minido/runtime/event"
)

// Moment tells apart what the world outside of a server is like. As long as it
// stays the same nothing has happened there, and no time has passed: all that ran
// were the server's own turn and its files.
type Moment struct{ Turn, Outside int }

// moment is that of an effect point: one that an outsider's own step passes is
// never like another.
func (w *World) moment() Moment {
	if w.open || w.current != nil {
		w.touch()
	}
	turn, accepted := w.sched.Moment()
	return Moment{Turn: turn, Outside: accepted - w.scope.posts + w.touched}
}

// touch notes that the server reaches out of itself, or the outside into it, by
// something else than the scheduler.
func (w *World) touch() { w.touched++ }

// touching is a body of which one side is the server's, the other an outsider's,
// who may wait for it to be read.
func (w *World) touching(body event.Body) event.Body {
	if body == nil || event.IsBytes(body) {
		return body
	}
	return &touchingBody{body, w}
}

type touchingBody struct {
	event.Body
	world *World
}

// Read implements event.Body.
func (b *touchingBody) Read(cb func(chunk []byte, err error)) {
	b.world.touch()
	b.Body.Read(cb)
}

// Cancel implements event.Body.
func (b *touchingBody) Cancel(reason error) {
	b.world.touch()
	b.Body.Cancel(reason)
}

// StateHash is a hash over all that CopyState would copy.
func StateHash(dir string) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	err = walkState(dir, func(path, rel string, isDir bool) error {
		var data []byte
		if !isDir {
			var err error
			if data, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		_, _ = fmt.Fprintf(h, "%q %v %d\n", rel, isDir, len(data)) // a hash takes everything
		_, _ = h.Write(data)
		return nil
	})
	h.Sum(sum[:0])
	return sum, err
}
