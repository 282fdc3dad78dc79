package pool

import (
	"errors"

	"minido.dev/minido/durableobject"
	"minido.dev/minido/sqlstore"
)

// ErrResting is of the past of a facet that does not run: its database is not open.
var ErrResting = errors.New("no such facet runs: the past of a facet can be read and restored while it runs")

// Moments lists up to limit of the newest states of the history of an object, or of a
// facet that runs, by the names that lead to it; the oldest first. The object is started
// if it is not in memory. done is called exactly once. Safe for concurrent use.
func (r Ref) Moments(facet []string, limit int, done func([]sqlstore.Moment, error)) {
	r.e.with(nil, func(o *durableobject.Object) {
		if o = durableobject.Facet(o, facet); o == nil {
			done(nil, ErrResting)
			return
		}
		done(o.Past().Moments(limit))
	}, func(err error) { done(nil, err) })
}

// WriteState writes the state that a bookmark names into a new file, as a
// database of its own. The object is started if it is not in memory. done is
// called exactly once. Safe for concurrent use.
func (r Ref) WriteState(facet []string, bookmark, path string, done func(error)) {
	r.e.with(nil, func(o *durableobject.Object) {
		if o = durableobject.Facet(o, facet); o == nil {
			done(ErrResting)
			return
		}
		done(o.Past().WriteState(bookmark, path))
	}, done)
}

// Restore evicts the object, so that its next incarnation, or that of the facet, begins
// with the state that a bookmark names; undo is the bookmark of the present state. The
// error is a *RefusedError while the object is busy. done is called exactly once. Safe for
// concurrent use.
func (r Ref) Restore(facet []string, bookmark string, done func(undo string, err error)) {
	r.e.with(nil, func(o *durableobject.Object) {
		if why := o.Busy(); why != "" {
			done("", &RefusedError{why})
			return
		}
		of := durableobject.Facet(o, facet)
		if of == nil {
			done("", ErrResting)
			return
		}
		undo, err := of.Past().Restore(bookmark)
		if err == nil {
			o.Evict()
		}
		done(undo, err)
	}, func(err error) { done("", err) })
}
