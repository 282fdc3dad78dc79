package durableobject

import (
	"slices"
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/isolate"
	"minido.dev/minido/sqlstore"
)

// Realm holds the platform classes of durable objects in one isolate.
// Loop-confined.
type Realm struct {
	iso    *isolate.Isolate
	eng    *engine.Engine
	vm     *goja.Runtime
	points *killpoint.Points
	compat func(compat.Flag) bool
	// legacy reports whether a class has the storage of before SQLite.
	legacy func(class string) bool

	state    *engine.Class[*Object]
	storage  *engine.Class[*Object]
	kv       *engine.Class[*syncKV]
	sql      *engine.Class[*sqlAPI]
	cursor   *engine.Class[*sqlCursor]
	txn      *engine.Class[*asyncTxn]
	facets   *engine.Class[*facetsAPI]
	autoResp *engine.Class[*autoResponse]

	thread sqlstore.Thread // of the open stores
	used   []*Object       // those that had events since Shrink made them small
	guests []*Object       // living facets whose parent is in another realm, oldest first

	alarmInfo *engine.Class[struct{}]

	listIter, rowIter, rawIter iterators
}

// NewRealm defines the classes. legacy says of an exported class whether it has the
// storage of before SQLite, which has neither storage.sql nor storage.kv. Call it on
// the isolate's loop.
func NewRealm(iso *isolate.Isolate, points *killpoint.Points, compat func(flag compat.Flag) bool, legacy func(class string) bool) *Realm {
	r := &Realm{iso: iso, eng: iso.Engine, vm: iso.Engine.VM(), points: points, compat: compat, legacy: legacy}
	if points.Explains() {
		r.eng.Sites.Follow(points)
	}
	r.listIter, r.rowIter = r.defineIterators("ListIterator"), r.defineIterators("RowIterator")
	r.alarmInfo = engine.DefineClass(r.eng, engine.ClassDef[struct{}]{Name: "AlarmInvocationInfo"})
	r.defineState()
	r.defineStorage()
	r.defineKV()
	r.defineSQL()
	r.defineTxn()
	r.defineFacets()
	r.defineSockets()
	return r
}

func (r *Realm) use(o *Object) {
	if !o.used {
		o.used = true
		r.used = append(r.used, o)
	}
}

// Shrink has objects that have been idle for so long give back memory that their
// databases can do without. Loop-confined, outside any turn.
func (r *Realm) Shrink(idle time.Duration) {
	now := r.eng.Clock().Now()
	kept := r.used[:0]
	for _, o := range r.used {
		switch {
		case o.store == nil: // it has ended, or is superseded
		case o.Busy() != "" || now.Sub(o.idleAt) < idle:
			kept = append(kept, o)
			continue
		default:
			o.store.Shrink()
		}
		o.used = false
	}
	clear(r.used[len(kept):])
	r.used = kept
}

// EndGuests ends the facets whose parents are in other realms, each for its reason.
// Loop-confined, outside any turn.
func (r *Realm) EndGuests(why func(o *Object) *event.Error) {
	for _, o := range slices.Clone(r.guests) {
		o.end(why(o))
	}
}

// Isolate is the isolate that the realm belongs to. Safe for concurrent use.
func (r *Realm) Isolate() *isolate.Isolate { return r.iso }

// method is a shorthand for methods of an object's API: it checks that the
// object is the one whose code runs, and that it still lives.
func method[T interface{ object() *Object }](name string, length int, fn func(self T, call goja.FunctionCall) goja.Value) engine.Method[T] {
	return engine.Method[T]{Name: name, Length: length, Fn: func(self T, call goja.FunctionCall) goja.Value {
		self.object().ctx.Check()
		return fn(self, call)
	}}
}

func (o *Object) object() *Object { return o }

// notFunction is what a method gives whose promise rejects, since its first argument is
// no function.
func (r *Realm) notFunction(class, method string) goja.Value {
	return r.promised(func() goja.Value {
		r.iso.Platform.BadArgument(class, method, 1, "function")
		return nil
	})
}

// promised runs fn and returns a promise of its result; what fn throws rejects
// the promise. Storage answers at once, so the promise is settled already.
func (r *Realm) promised(fn func() goja.Value) goja.Value {
	p, resolve, reject := r.eng.NewPromise()
	var v goja.Value
	if thrown := r.eng.Try(func() { v = fn() }); thrown != nil {
		reject(thrown)
	} else {
		if v == nil {
			v = goja.Undefined()
		}
		resolve(v)
	}
	return r.vm.ToValue(p)
}

// db is the open store. It throws if the object has ended, which code called
// for its arguments (a getter, a toString) may have brought about.
func (o *Object) db() *sqlstore.Store {
	o.ctx.Check()
	o.mayUseStorage()
	o.realm.eng.Watchdog.Interruptible(&o.interrupt)
	o.ctx.MarkUnconfirmed() // the end of the turn ends what only reads, too
	return o.store
}

// storageError raises an error of the store in JavaScript.
func (r *Realm) storageError(err error) {
	r.eng.Throw("Error", "%s", err)
}

// StoreOpener opens the object's database; it is called on the loop, once an
// incarnation. The thread is that of the loop.
type StoreOpener func(thread *sqlstore.Thread) (*sqlstore.Store, error)
