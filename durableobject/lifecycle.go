package durableobject

import (
	"errors"
	"fmt"
	"time"

	"github.com/dop251/goja"
	"minido.dev/minido/runtime/compat"

	"minido.dev/minido/alarms"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

// Lost is what callers get whose object went away under them without a word:
// its process died, or it was evicted by force. Texts and flags are workerd's
// for a lost connection (jsg/util.c++: DISCONNECTED is retryable).
func Lost() *event.Error {
	return &event.Error{Name: "Error", Message: "Network connection lost.", Retryable: true}
}

// CodeUpdated is what callers get whose object was replaced by new code.
func CodeUpdated() *event.Error {
	return &event.Error{Name: "Error", Message: "Durable Object reset because its code was updated.", ObjectReset: true}
}

// Status is what an object is doing, for people and tools.
type Status struct {
	// Events is how many events have started and not been answered.
	Events int
	// Busy is why the object may not be evicted, Awake why it may not hibernate;
	// "" where it may.
	Busy, Awake string
	// Timers and Held count what keeps the object awake.
	Timers, Held int
	// Waiting names the operations in progress, oldest first.
	Waiting []string
	// Alarm is the time of the alarm in milliseconds since the epoch, nil for none.
	Alarm        *int64
	AlarmRunning bool
	// Idle is how long nothing has happened; 0 while an event is in progress.
	Idle time.Duration
	// DatabaseBytes is the size of the database, CacheBytes what its connection
	// holds in memory.
	DatabaseBytes, CacheBytes int64
	// Facets are those that run, by name.
	Facets []FacetStatus
}

// FacetStatus describes a running facet, and those below it.
type FacetStatus struct {
	Name, Class   string
	DatabaseBytes int64
	Facets        []FacetStatus
}

// Status describes a living object. Loop-confined, outside any turn.
func (o *Object) Status() Status {
	s := Status{
		Events: o.running, Busy: o.Busy(), Awake: o.Hibernatable(), Timers: o.ctx.Timers(), Held: o.ctx.Held(),
		AlarmRunning: o.alarm.handling,
	}
	for _, op := range o.ctx.Ops() {
		s.Waiting = append(s.Waiting, op.Name)
	}
	s.Facets = o.facets.running()
	if s.Events == 0 {
		s.Idle = o.realm.eng.Clock().Now().Sub(o.IdleSince())
	}
	if o.store != nil {
		s.CacheBytes = o.store.MemoryUsed()
	}
	s.DatabaseBytes = o.databaseBytes()
	return s
}

// databaseBytes is the size of the database, 0 where it cannot be read: a damaged
// file is reported to who uses it.
func (o *Object) databaseBytes() int64 {
	if o.store == nil {
		return 0
	}
	n, err := o.store.DatabaseSize()
	if err != nil {
		return 0
	}
	return n
}

// running describes the facets that run.
func (o *facetTree) running() (list []FacetStatus) {
	for _, f := range o.sortedFacets() {
		if f.object != nil && f.broken == nil {
			list = append(list, FacetStatus{f.name, f.object.opts.Class, f.object.databaseBytes(), f.object.facets.running()})
		}
	}
	return list
}

// Facet is a facet of o that runs, by the names that lead to it from the object; nil if
// there is none. No name leads to o itself. Loop-confined.
func Facet(o *Object, names []string) *Object {
	for _, name := range names {
		f := o.facets.byName[name]
		if f == nil || f.object == nil || f.broken != nil {
			return nil
		}
		o = f.object
	}
	return o
}

// IdleSince is when the last event began or ended, in this object or a facet
// of it. Timers are no events. Loop-confined.
func (o *Object) IdleSince() time.Time {
	at := o.idleAt
	for _, f := range o.facets.sortedFacets() {
		if f.object == nil {
			continue
		}
		if t := f.object.IdleSince(); t.After(at) {
			at = t
		}
	}
	return at
}

// ioKeeps is how long an operation, a timer or a promise given to waitUntil()
// keeps an object in memory.
const ioKeeps = 15 * time.Minute

// KeptUntil is until when the object stays in memory because it, or a facet of
// it, waits for something, if the compatibility flag
// durable_object_io_tasks_prevent_eviction is on; otherwise the zero time.
// Loop-confined.
func (o *Object) KeptUntil() (until time.Time) {
	if !o.realm.compat(compat.DurableObjectIoTasksPreventEviction) {
		return until
	}
	if began := o.ctx.Pending(); !began.IsZero() {
		until = began.Add(ioKeeps)
	}
	for _, f := range o.facets.sortedFacets() {
		if f.object == nil {
			continue
		}
		if t := f.object.KeptUntil(); t.After(until) {
			until = t
		}
	}
	return until
}

// Abort is ctx.abort(reason), called from outside: an empty reason gives its
// default text. Loop-confined; works at any moment outside a turn.
func (o *Object) Abort(reason string) { o.fail(aborted(reason)) }

func aborted(reason string) *event.Error {
	if reason == "" {
		reason = "Application called abort() to reset Durable Object."
	}
	return &event.Error{Name: "Error", Message: reason, ObjectReset: true}
}

// Crash ends the incarnation as the death of its process does: what is not
// committed is lost, callers lose their connection. Loop-confined.
func (o *Object) Crash() { o.Reset(Lost()) }

// Drop evicts the object whatever it is doing: callers of events in progress
// lose their connection, later events meet a new incarnation. Loop-confined.
func (o *Object) Drop() {
	if o.Busy() == "" {
		o.Evict()
		return
	}
	o.stopped = true
	o.finish(nil, Lost())
}

// Supersede gives the object's storage up to a new incarnation: its code was
// updated. Work in flight goes on until it next uses storage, which ends this
// incarnation with CodeUpdated; a transaction that is open now has used it.
// Its WebSockets are cut. Events that have not begun are refused with
// ErrEvicted. The caller ends what is left after a time of grace (Reset).
// Loop-confined, outside any turn.
func (o *Object) Supersede() {
	switch {
	case o.ended || o.superseded:
		return
	case o.storage.txns > 0 || o.running == 0:
		o.Reset(CodeUpdated())
		return
	}
	if o.store.Unsynced() {
		if err := o.store.Sync(); err != nil {
			o.failWith(err)
			return
		}
		o.ctx.LetGo(o.sealed)
	}
	o.superseded, o.stopped = true, true
	for _, f := range o.facets.sortedFacets() {
		if f.object != nil {
			f.object.Supersede()
		}
	}
	o.closeFiles()
	o.ctx.Disconnect(CodeUpdated())
}

// Superseded reports whether Supersede left work in flight. Safe for use from
// the loop of the next realm, which begins after Supersede.
func (o *Object) Superseded() bool { return o.superseded }

// mayUseStorage ends a superseded incarnation that reaches for its storage.
func (o *Object) mayUseStorage() {
	if o.superseded {
		o.fail(CodeUpdated())
		panic(o.realm.eng.Errors.FromGo(o.failure))
	}
}

// closeFiles closes the database and the facets' index; what is uncommitted is
// rolled back.
func (o *Object) closeFiles() {
	if o.store != nil {
		o.store.Rollback() // fails only on a store that is lost anyway; Close reports
		if err := o.store.Close(); err != nil {
			o.realm.eng.Log(engine.Error, fmt.Sprintf("%s: close the database: %v", o.opts.Label, err))
		}
		o.store = nil
	}
	if o.opts.Facets != nil && o.opts.Parent == nil {
		if err := o.opts.Facets.Close(); err != nil {
			o.realm.eng.Log(engine.Error, fmt.Sprintf("%s: close the facet index: %v", o.opts.Label, err))
		}
	}
}

// ErrNoAlarm is what FireAlarm reports for an object without one.
var ErrNoAlarm = errors.New("the object has no alarm")

// FireAlarm moves the object's alarm to now, in a turn of its own, so that it
// is delivered at once: the handler sees the moved time as scheduledTime. done
// is called exactly once, when the alarm is due, not when it has run. Call it
// on the loop, outside any turn.
func (o *Object) FireAlarm(done func(error)) {
	o.deliver(alarms.CauseFire, func() {
		defer o.done()
		finished := false
		finish := func(err error) {
			if !finished {
				finished = true
				done(err)
			}
		}
		o.ctx.AtDeath(func(error) { finish(o.refusal()) })
		if o.opts.Alarms == nil || o.alarm.currentAlarm() == nil || o.alarm.deferred {
			finish(ErrNoAlarm)
			return
		}
		if thrown := o.realm.eng.Try(func() { o.storage.setAlarm(o.realm.vm.ToValue(o.realm.eng.Now().UnixMilli()), goja.Undefined()) }); thrown != nil {
			finish(o.realm.eng.Errors.ToEvent(thrown))
			return
		}
		o.alarm.rearmed = true
		o.ctx.Emit(func() { finish(nil) })
	}, done)
}
