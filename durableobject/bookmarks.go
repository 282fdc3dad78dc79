package durableobject

import (
	"github.com/dop251/goja"

	"minido.dev/minido/internal/killpoint"
)

// currentBookmark implements storage.getCurrentBookmark(): the state after what
// was written so far, which it commits unless a transaction is open.
func (o *storage) currentBookmark() goja.Value {
	if isLegacy(o.Object) {
		return o.realm.vm.ToValue(legacyBookmark)
	}
	if o.storage.txns == 0 {
		o.commitNow()
	}
	b, err := o.db().CurrentBookmark()
	if err != nil {
		o.realm.storageError(err)
	}
	return o.realm.vm.ToValue(b)
}

// bookmarkForTime implements storage.getBookmarkForTime(date or milliseconds).
func (o *storage) bookmarkForTime(c goja.FunctionCall) goja.Value {
	ms := date(o.realm.eng, c.Argument(0), "getBookmarkForTime")
	needSQLite(o.Object, legacyPast)
	if o.storage.txns == 0 {
		o.commitNow()
	}
	b, err := o.db().BookmarkForTime(ms)
	if err != nil {
		o.realm.storageError(err)
	}
	return o.realm.vm.ToValue(b)
}

// restoreBookmark implements storage.onNextSessionRestoreBookmark(bookmark): the
// object's next incarnation begins with the state that it names. Applications
// call ctx.abort() to begin that one.
func (o *storage) restoreBookmark(c goja.FunctionCall) goja.Value {
	r := o.realm
	r.need(c, 1, "DurableObjectStorage", "onNextSessionRestoreBookmark", "string")
	bookmark := r.text(c.Argument(0))
	needSQLite(o.Object, legacyPast)
	var undo string
	err := r.points.Effect(killpoint.File, o.opts.Label, r.eng.Cause(), func() (err error) {
		undo, err = o.db().RestoreOnNextOpen(bookmark)
		return err
	})
	if err != nil {
		r.storageError(err)
	}
	return r.vm.ToValue(undo)
}
