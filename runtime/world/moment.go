package world

import "minido.dev/minido/runtime/event"

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
