package pool

import (
	"errors"
	"path/filepath"

	"minido.dev/minido/durableobject"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/sqlstore"
)

// past is the history of one database.
type past interface {
	Moments(limit int) ([]sqlstore.Moment, error)
	WriteState(bookmark, path string) error
	Restore(bookmark string) (undo string, err error)
}

// pastOf calls use with the history of the object, or of a facet, by the names that lead to
// it. The database of a facet that does not run is open meanwhile, and what Restore asked for
// is done then. Loop-confined, as is what starts facets, so that nothing else opens that
// database.
func (r Ref) pastOf(o *durableobject.Object, facet []string, use func(past) error) (err error) {
	if running := durableobject.Facet(o, facet); running != nil {
		return use(running.Past())
	}
	file, err := r.FacetFile(facet)
	if err != nil {
		return err
	}
	if sqlstore.Deleting(file) {
		return ErrNoFacet
	}
	store, err := r.e.ns.pool.openResting(file, r.e.label(), r.e.ns.pool.chanceOf(filepath.Base(file)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return use(restingPast{sqlstore.PastOf(store), store, r.e})
}

// restingPast is the history of a facet that does not run.
type restingPast struct {
	sqlstore.Past
	store *sqlstore.Store
	e     *entry
}

// Restore has the facet begin with the state that a bookmark names when it runs again.
func (p restingPast) Restore(bookmark string) (undo string, err error) {
	err = p.e.ns.pool.opts.Points.Effect(killpoint.File, p.e.label(), "restore", func() (err error) {
		undo, err = p.store.RestoreOnNextOpen(bookmark)
		return err
	})
	return undo, err
}

// Moments lists up to limit of the newest states of the history of an object, or of a
// facet, by the names that lead to it; the oldest first. The object is started if it is not
// in memory, a facet is not. The error is ErrNoFacet where there is none. done is called
// exactly once. Safe for concurrent use.
func (r Ref) Moments(facet []string, limit int, done func([]sqlstore.Moment, error)) {
	r.e.with(nil, func(o *durableobject.Object) {
		var list []sqlstore.Moment
		err := r.pastOf(o, facet, func(p past) (err error) {
			list, err = p.Moments(limit)
			return err
		})
		done(list, err)
	}, func(err error) { done(nil, err) })
}

// WriteState writes the state that a bookmark names into a new file, as a database of its
// own; see Moments. done is called exactly once. Safe for concurrent use.
func (r Ref) WriteState(facet []string, bookmark, path string, done func(error)) {
	r.e.with(nil, func(o *durableobject.Object) {
		done(r.pastOf(o, facet, func(p past) error { return p.WriteState(bookmark, path) }))
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
		var undo string
		err := r.pastOf(o, facet, func(p past) (err error) {
			undo, err = p.Restore(bookmark)
			return err
		})
		if err == nil {
			o.Evict()
		}
		done(undo, err)
	}, func(err error) { done("", err) })
}
