package durableobject

import (
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/sqlstore"
)

// Past is the history of an object's storage, to look at and to return to.
// Loop-confined; its methods are called outside any turn.
type Past struct{ o *Object }

// Past is the history of the object's storage.
func (o *Object) Past() Past { return Past{o} }

// Moments lists up to limit of the newest states of the object's history, the
// oldest first; see sqlstore.Past.Moments.
// The error is that of the object's end, or the store's.
func (p Past) Moments(limit int) ([]sqlstore.Moment, error) {
	if err := p.readable(); err != nil {
		return nil, err
	}
	return sqlstore.PastOf(p.o.store).Moments(limit)
}

// WriteState writes a state of the past into a file of its own; see
// sqlstore.Past.WriteState.
func (p Past) WriteState(bookmark, path string) error {
	if err := p.readable(); err != nil {
		return err
	}
	return sqlstore.PastOf(p.o.store).WriteState(bookmark, path)
}

// Restore has the next incarnation begin with the state that a bookmark names, as
// storage.onNextSessionRestoreBookmark() does; the caller evicts the object, which is
// not Busy. undo is the bookmark that returns to the present state.
func (p Past) Restore(bookmark string) (undo string, err error) {
	if err := p.readable(); err != nil {
		return "", err
	}
	o := p.o
	err = o.realm.points.Effect(killpoint.File, o.opts.Label, "restore", func() (err error) {
		undo, err = o.store.RestoreOnNextOpen(bookmark)
		return err
	})
	return undo, err
}

// readable says why the object's store cannot be read.
func (p Past) readable() error {
	o := p.o
	if o.store == nil || o.ended || o.superseded {
		return o.refusal()
	}
	return nil
}
