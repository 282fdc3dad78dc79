package pool

import (
	"minido.dev/minido/durableobject"
	"minido.dev/minido/sqlstore"
)

// Moments lists up to limit of the newest states of the object's history, the
// oldest first. The object is started if it is not in memory. done is called
// exactly once. Safe for concurrent use.
func (r Ref) Moments(limit int, done func([]sqlstore.Moment, error)) {
	r.e.with(nil, func(o *durableobject.Object) { done(o.Past().Moments(limit)) }, func(err error) { done(nil, err) })
}

// WriteState writes the state that a bookmark names into a new file, as a
// database of its own. The object is started if it is not in memory. done is
// called exactly once. Safe for concurrent use.
func (r Ref) WriteState(bookmark, path string, done func(error)) {
	r.e.with(nil, func(o *durableobject.Object) { done(o.Past().WriteState(bookmark, path)) }, done)
}

// Restore evicts the object, so that its next incarnation begins with the state
// that a bookmark names; undo is the bookmark of the present state. The error is a
// *RefusedError while the object is busy. done is called exactly once. Safe for
// concurrent use.
func (r Ref) Restore(bookmark string, done func(undo string, err error)) {
	r.e.with(nil, func(o *durableobject.Object) {
		if why := o.Busy(); why != "" {
			done("", &RefusedError{why})
			return
		}
		done(o.Past().Restore(bookmark))
	}, func(err error) { done("", err) })
}
