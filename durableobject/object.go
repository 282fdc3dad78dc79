package durableobject

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/planted"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/isolate"
	"minido.dev/minido/sqlstore"
)

// AlarmIndex keeps the wake-up times of objects that are not in memory. An
// entry is never later than the object's own row (DESIGN: alarms).
type AlarmIndex interface {
	Set(ms int64, cause string) error
	Clear(cause string) error
	// Reconcile makes the index agree with the row, nil for none.
	Reconcile(row *int64, cause string) error
}

// Options describe an incarnation. Immutable once given to Start.
type Options struct {
	Class string // the exported class's name
	ID    objectid.ID
	// TextID, if not nil, is what code sees as ctx.id instead: a facet may be given any text.
	TextID *string
	Label  string // "Class/name", for messages and kill points
	Open   StoreOpener
	// Sockets outlive the incarnation.
	Sockets *SocketSet
	Alarms  AlarmIndex
	// Facets manages the database files of the object's facets.
	Facets FacetFiles
	// Parent is the object that this one is a facet of, nil for a root.
	Parent *Object
	// Props are ctx.props, nil for none.
	Props *event.Payload
	// Ended is called once, on the loop, when the incarnation is over. err is
	// nil after a graceful eviction.
	Ended func(o *Object, err *event.Error)
}

// ErrEvicted is what events get that reached an incarnation after it was
// evicted and before any code ran: deliver them to a new one.
var ErrEvicted = errors.New("the object was evicted")

// Object is one incarnation of a durable object. Loop-confined.
type Object struct {
	opts     Options
	realm    *Realm
	ctx      *engine.Context
	store    *sqlstore.Store
	gate     gate
	born     *isolate.Invocation // of the event that it was constructed for, until that begins
	line     isolate.Line
	instance *goja.Object
	callable bool       // over RPC
	entry    goja.Value // what gets requests in place of the instance's fetch; nil outside of tests
	storage  storage
	alarm    wakeUp
	sockets  sockets
	facets   facetTree
	failure  *event.Error
	ended    bool
	stopped  bool // by the platform: an alarm that this interrupts is no failure of its handler
	running  int  // events that have started and not been answered
	// unconfirmed is set during writes that outputs need not wait for.
	unconfirmed bool
	interrupt   func()    // ends a statement of the store; from any goroutine
	sealed      int64     // mark of the last commit that is not known to be on disk
	syncing     bool      // a sync is under way
	idleAt      time.Time // when the last event began or ended
	used        bool      // in the realm's list of those that Shrink has not seen since

	// superseded: new code has taken the storage over. Set at most once, before
	// the next realm begins.
	superseded bool
}

// Start makes the object on the loop of its realm: it opens the store and runs
// the constructor. Events delivered later wait for it. started is called once
// on the loop.
func (r *Realm) Start(o Options, started func(err error)) *Object {
	obj := &Object{opts: o, realm: r, ctx: r.eng.NewContext(engine.ObjectContext, o.Label)}
	obj.storage.Object, obj.alarm.Object, obj.sockets.Object, obj.facets.Object = obj, obj, obj, obj
	obj.ctx.Host = obj
	if o.Parent != nil {
		obj.ctx.Ahead = o.Parent.ctx.Ahead // it runs beside it
	}
	obj.idleAt = r.eng.Clock().Now()
	obj.ctx.Gate = obj
	if o.Parent != nil && o.Parent.realm != r {
		r.guests = append(r.guests, obj)
	}
	store, err := o.Open(&r.thread)
	if err != nil {
		obj.failWith(err)
		started(err)
		return obj
	}
	obj.store, obj.interrupt = store, store.Interrupt
	r.use(obj)
	if err := obj.recover(); err != nil {
		obj.failWith(err)
		started(err)
		return obj
	}
	r.points.Unwritten(o.Label)
	obj.born = isolate.Invoking(r.iso, o.Class)
	r.eng.Turns.Enter(obj.born.Frame(obj.ctx.Frame()), "start", func() {
		if thrown := r.eng.Try(obj.construct); thrown != nil {
			ev := r.iso.CF.Failure(thrown)
			ev.ObjectReset, ev.Remote = true, false
			r.eng.Uncaught.Tell(thrown) // a caller that catches it shows it to nobody
			obj.born.Failed(thrown)
			obj.fail(ev)
			return
		}
		if r.points.Hit(killpoint.Wake, killpoint.After, o.Label, "start") {
			obj.Crash()
		}
	})
	if obj.failure != nil {
		started(obj.failure)
	} else {
		started(nil)
	}
	return obj
}

// recover finishes what a crash may have left half done.
func (o *Object) recover() error {
	if o.opts.Facets != nil {
		pending, err := o.store.FacetDeletionPending()
		if err != nil {
			return err
		}
		if pending {
			if err := o.opts.Facets.DeleteAll(); err != nil {
				return err
			}
			if err := o.store.FacetsDeleted(); err != nil {
				return err
			}
			commit := o.realm.points.Effect(killpoint.Commit, o.opts.Label, "start", o.store.Commit)
			if err := errors.Join(commit, o.store.Sync()); err != nil {
				return err
			}
		}
	}
	o.ctx.MarkUnconfirmed() // the constructor's turn ends what is read here
	ms, ok, err := o.store.Alarm()
	if err != nil {
		return err
	}
	if !ok {
		return o.opts.Alarms.Reconcile(nil, "start")
	}
	return o.opts.Alarms.Reconcile(&ms, "start")
}

func (o *Object) construct() {
	r := o.realm
	class, ok := r.iso.Class(o.opts.Class)
	if !ok {
		r.eng.Throw("TypeError", "The worker %s does not export a class named %s; it exports %v.", r.iso.Name(), o.opts.Class, r.iso.ExportNames())
	}
	o.alarm.defined = engine.IsCallable(class.Get("prototype").(*goja.Object).Get("alarm"))
	instance, err := r.vm.New(class, o.newState(), r.iso.CF.Env())
	if err != nil {
		r.eng.Rethrow(err)
	}
	o.callable = isolate.HasCalls(r.iso, class)
	o.instance, o.entry = instance, isolate.ObjectEntry(r.iso, class)
	r.iso.Memory.Lives(o.ctx, instance)
}

// Label is "Class/name". Safe for concurrent use.
func (o *Object) Label() string { return o.opts.Label }

// Context is the object's context.
func (o *Object) Context() *engine.Context { return o.ctx }

// Realm is the realm that the object lives in. Safe for concurrent use.
func (o *Object) Realm() *Realm { return o.realm }

// deliver runs fn as an event of the object, after the input gate admits it.
// refused is called instead if the object is over before fn ran; the error is
// ErrEvicted or why the object failed. Call it on the loop, outside any turn.
func (o *Object) deliver(cause string, fn func(), refused func(error)) {
	o.deliverIn(o.ctx.Frame(), cause, fn, refused)
}

// deliverIn is deliver in the critical section of frame f.
func (o *Object) deliverIn(f *engine.Frame, cause string, fn func(), refused func(error)) {
	if o.ended {
		refused(o.refusal())
		return
	}
	forget := o.ctx.AtDeath(func(error) { refused(o.refusal()) })
	o.realm.eng.Turns.Enter(f, cause, func() {
		forget()
		if o.superseded {
			refused(ErrEvicted)
			return
		}
		o.running++
		o.ctx.NewEvent()
		o.idleAt = o.realm.eng.Clock().Now()
		fn()
	})
}

// Born calls done when the object has been constructed, with what blockConcurrencyWhile
// holds up, or with why it could not be. Call it on the loop, outside any turn.
func (o *Object) Born(done func(error)) {
	o.deliver("start", func() {
		o.done()
		done(nil)
	}, done)
}

// done ends an event that deliver started.
func (o *Object) done() {
	o.running--
	o.idleAt = o.realm.eng.Clock().Now()
	o.realm.use(o)
}

// Failure is why the incarnation ended, nil while it lives and after a graceful
// eviction.
func (o *Object) Failure() *event.Error { return o.failure }

// Ended reports whether the incarnation is over.
func (o *Object) Ended() bool { return o.ended }

func (o *Object) refusal() error {
	if o.failure != nil {
		return o.failure
	}
	return ErrEvicted
}

// Fetch delivers a request. done is called exactly once. cancel tells the
// object, by the request's signal, that nobody waits any more; the handler goes on.
func (o *Object) Fetch(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	r := o.realm
	if isolate.IsConnection(req) {
		return connect(o, req, done)
	}
	gone := func() {}
	o.deliver(cmp.Or(req.Cause, "fetch"), func() {
		o.traced(r.iso.TraceRequest(req), req.Parent, func(_ *isolate.Invocation, end func()) {
			gone = r.iso.Respond(req, func(request *goja.Object) goja.Value {
				if o.entry != nil {
					return r.eng.Call(o.entry, goja.Undefined(), o.instance, request)
				}
				fn := o.instance.Get("fetch")
				if !engine.IsCallable(fn) {
					r.eng.Throw("Error", "Handler does not export a fetch() function.")
				}
				return r.eng.Call(fn, o.instance, request, goja.Undefined(), goja.Undefined()) // as in the reference
			}, func(resp *event.Response, err error) {
				end()
				o.done()
				sign(resp, o.opts.Label)
				done(resp, o.orFailure(err))
			})
		})
	}, func(err error) {
		Unborn(o, req, req.Parent)
		done(nil, err)
	})
	return func(error) {
		// An engine that has ended has ended the object too.
		_ = r.eng.Post(o.ctx.Frame(), "client gone", func() { gone() })
	}
}

// sign puts an object's label on its response, for kill points; one that it
// got from another object keeps that one's.
func sign(resp *event.Response, label string) {
	if resp == nil || resp.Object != "" {
		return
	}
	resp.Object = label
	if resp.Socket != nil && resp.Socket.Object == "" {
		resp.Socket.Object = label
	}
}

// errNotCallable is what a call of an object gets whose class does not extend DurableObject.
var errNotCallable = &event.Error{Name: "TypeError", Remote: true, Message: "The receiving Durable Object does not support RPC, because its class was not declared with `extends DurableObject`. " +
	"In order to enable RPC, make sure your class extends the special class `DurableObject`, which can be imported from the module \"cloudflare:workers\"."}

// Call delivers a JS RPC call.
func (o *Object) Call(c *event.Call, done func(*event.Payload, error)) {
	o.deliver(cmp.Or(c.Cause, "rpc"), func() {
		o.traced(isolate.TraceCall(c), c.Parent, func(inv *isolate.Invocation, end func()) {
			if !o.callable {
				inv.Fail()
				end()
				o.done()
				done(nil, errNotCallable)
				return
			}
			o.realm.iso.CF.Invoke(o.instance, c, func(p *event.Payload, err error) {
				if err == nil {
					inv.Returned()
				}
				end()
				o.done()
				done(p, o.orFailure(err))
			})
		})
	}, func(err error) {
		Unborn(o, nil, c.Parent)
		done(nil, err)
	})
}

// ObjectID is the id in hexadecimal.
func (o *Object) ObjectID() string { return o.opts.ID.String() }

// orFailure prefers the object's own failure to what a call saw of it.
func (o *Object) orFailure(err error) error {
	var ev *event.Error
	if err != nil && !errors.As(err, &ev) && o.failure != nil {
		return o.failure
	}
	if err != nil && ev == nil {
		return &event.Error{Message: err.Error(), Remote: true}
	}
	return err
}

// Admit implements engine.Gate.
func (o *Object) Admit(f *engine.Frame, resume func()) bool { return o.gate.admit(f, resume) }

// Commit implements engine.Gate: the implicit transaction and the alarm index.
func (o *Object) Commit(cause string) bool {
	if o.storage.txns > 0 {
		return false
	}
	if planted.AckBeforeCommit && cause == "rpc" {
		return true
	}
	o.commit(cause)
	return true
}

// errIndex is wrapped by failures to write the alarm index.
var errIndex = errors.New("alarm index")

// commit writes in the order that keeps the index no later than the row: an
// earlier alarm goes into the index before the commit, a later one or none
// after it.
func (o *Object) commit(cause string) {
	if o.store == nil || o.ended {
		return
	}
	before, after := o.alarm.indexWrites()
	if before != nil {
		if err := before(o.opts.Alarms, cause); err != nil {
			if !errors.Is(err, errFacetAlarm) {
				err = fmt.Errorf("%w: %w", errIndex, err)
			}
			o.failWith(err)
			return
		}
	}
	if o.store.Dirty() {
		err := o.realm.points.Effect(killpoint.Commit, o.opts.Label, cause, o.store.Commit)
		if err != nil {
			o.failWith(err)
			return
		}
	} else if err := o.store.Commit(); err != nil {
		o.failWith(err)
		return
	}
	o.alarm.committed()
	if after != nil {
		if err := o.store.Sync(); err != nil { // the index must not be ahead of the row
			o.failWith(err)
			return
		}
		if err := after(o.opts.Alarms, cause); err != nil {
			o.failWith(fmt.Errorf("%w: %w", errIndex, err))
			return
		}
	}
	o.seal()
}

// seal holds back the object's outputs until its last commit is on disk.
// Syncing happens off the loop, one sync at a time, and each covers every
// commit before its start: turns go on meanwhile, their outputs wait.
func (o *Object) seal() {
	if !o.store.Unsynced() {
		return
	}
	if o.ctx.Holds() {
		o.sealed = o.ctx.HoldBack()
	}
	if !o.syncing {
		o.startSync()
	}
}

func (o *Object) startSync() {
	o.syncing = true
	mark, sync, told := o.sealed, o.store.Syncer(), o.ctx.Syncing(o.sealed)
	o.realm.eng.Background("sync "+o.opts.Label, func() {
		err := sync()
		_ = o.realm.eng.PostLoop(func() { o.synced(mark, err, told) }) // a closed loop has no outputs left
	})
}

func (o *Object) synced(mark int64, err error, told func()) {
	o.syncing = false
	if told != nil && err == nil && !o.ended {
		told()
	}
	switch {
	case o.ended:
	case err != nil:
		o.failWith(err)
	default:
		o.ctx.LetGo(mark)
		// Nothing may wait for a commit that came after the sync's start (allowUnconfirmed).
		if !o.ended && o.store != nil && (o.sealed > mark || o.store.Unsynced()) {
			o.startSync()
		}
	}
}

// commitNow commits in the middle of a turn (transaction(), deleteAll(), sync()).
func (o *Object) commitNow() {
	o.mayUseStorage()
	o.commit(o.realm.eng.Cause())
	if o.failure != nil {
		panic(o.realm.eng.Errors.FromGo(o.failure))
	}
	o.ctx.ClearDirty()
}

// wrote notes that the turn has something to commit. What leaves while a transaction is open does not
// wait for it, as in workerd, whose output gate is locked by commits alone: its closure could not call
// another object otherwise.
func (o *Object) wrote() {
	if o.unconfirmed || o.storage.txns > 0 {
		o.ctx.MarkUnconfirmed()
	} else {
		o.ctx.MarkDirty()
	}
}

// unconfirmedIf performs writes, none of which runs code of the user, whose
// commit outputs wait for unless allowed is set (the option allowUnconfirmed).
func (o *Object) unconfirmedIf(allowed bool, writes func()) {
	o.unconfirmed = allowed
	defer func() { o.unconfirmed = false }()
	writes()
}

// allowsUnconfirmed reads the option of a method that writes.
func allowsUnconfirmed(options goja.Value) bool {
	opts, ok := options.(*goja.Object)
	if !ok {
		return false
	}
	v := opts.Get("allowUnconfirmed")
	return v != nil && v.ToBoolean()
}

// failWith ends the incarnation because the platform could not do what it had
// to, or because it was armed to crash there.
func (o *Object) failWith(err error) {
	if errors.Is(err, killpoint.ErrCrashed) {
		o.Crash()
		return
	}
	var damaged *sqlstore.CorruptError
	if errors.As(err, &damaged) || errors.Is(err, errIndex) {
		o.realm.eng.Log(engine.Error, o.opts.Label+": "+err.Error()) // whoever calls need not show it to anyone
	}
	o.fail(resetError(err))
}

// resetError is what callers get when a commit fails (docs/semantics.md 2). It carries
// no durableObjectReset, as in the reference (io/actor-sqlite.c++).
func resetError(err error) *event.Error {
	if sqlite.IsCode(err, sqlite.CodeConstraint) {
		return &event.Error{Message: "Durable Object was reset and rolled back to its last known good state because the application left the database in a state where constraints were violated: " + err.Error()}
	}
	return &event.Error{Message: err.Error()}
}

// fail ends the incarnation with an error: everything uncommitted is rolled
// back, callers get ev. Only the first failure counts.
func (o *Object) fail(ev *event.Error) { o.end(ev) }

// Reset ends the incarnation for reasons of the platform, such as new code: ev
// is what its callers get. Loop-confined; works at any moment.
func (o *Object) Reset(ev *event.Error) {
	if !o.ended {
		o.stopped = o.realm.eng.Health.CondemnedBy() == nil || o.realm.eng.Health.Suspect() != o.ctx
	}
	o.end(ev)
}

// Evict ends the incarnation gracefully; the caller has seen to it that nothing
// is in flight (see Busy), or means to drop it.
func (o *Object) Evict() {
	if planted.DropSockets {
		o.opts.Sockets.DropAll(1006, "")
	}
	o.end(nil)
}

func (o *Object) end(ev *event.Error) {
	if ev == nil {
		o.finish(nil, ErrEvicted)
	} else {
		o.finish(ev, ev)
	}
}

// finish ends the incarnation: failure is why its stubs fail from now on, nil
// if they may go on with the next one; reason is what events in progress get.
func (o *Object) finish(failure *event.Error, reason error) {
	if o.ended {
		return
	}
	o.ended, o.failure = true, failure
	ev := failure
	for _, f := range o.facets.sortedFacets() {
		f.stop(ev)
	}
	o.ctx.Kill(reason)
	o.closeFiles()
	o.realm.guests = slices.DeleteFunc(o.realm.guests, func(g *Object) bool { return g == o })
	if o.opts.Ended != nil {
		o.opts.Ended(o, ev)
	}
}

// Busy says why the object may not be evicted now, "" if it may.
func (o *Object) Busy() string {
	switch {
	case o.running > 0:
		return fmt.Sprintf("%d events are in progress", o.running)
	case o.ctx.Bodies() > 0:
		return fmt.Sprintf("%d bodies are being streamed", o.ctx.Bodies())
	case o.ctx.HeldBack():
		return "its last commit is not on disk yet"
	case o.alarm.handling:
		return "its alarm handler is running"
	case o.gate.current != nil:
		return "blockConcurrencyWhile() is in progress"
	case o.syncing:
		return "what it wrote is not on disk yet"
	}
	for _, f := range o.facets.sortedFacets() {
		if f.object != nil {
			if why := f.object.Busy(); why != "" {
				return "its facet " + f.name + ": " + why
			}
		}
	}
	return ""
}

// Hibernatable says why the object may not hibernate now (production's rules,
// docs/semantics.md 23), "" if it may.
func (o *Object) Hibernatable() string {
	if why := o.Busy(); why != "" {
		return why
	}
	if n := o.ctx.Timers(); n > 0 {
		return fmt.Sprintf("%d timers are pending (setTimeout, setInterval)", n)
	}
	if ops := o.ctx.Ops(); len(ops) > 0 {
		return "it waits for " + ops[0].Name
	}
	if n := o.ctx.Held(); n > 0 {
		return fmt.Sprintf("%d promises given to waitUntil() or open sockets keep it alive", n)
	}
	for _, f := range o.facets.sortedFacets() {
		if f.object != nil {
			if why := f.object.Hibernatable(); why != "" {
				return "its facet " + f.name + ": " + why
			}
			if n := f.sockets.Len(); n > 0 { // only the parent's code could start the facet again for their events
				return fmt.Sprintf("its facet %s: %d WebSockets are open", f.name, n)
			}
		}
	}
	return ""
}

// target is what stubs of a facet reach.
var _ cfapi.Facet = (*facetStub)(nil)
