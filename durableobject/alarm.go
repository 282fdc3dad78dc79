package durableobject

import (
	"fmt"
	"math"
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/alarms"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/isolate"
)

// alarmState follows the object's alarm between its row and the index.
// Loop-confined.
type alarmState struct {
	changed bool   // set or deleted since the last commit
	row     *int64 // committed row, nil for none; known once loaded
	loaded  bool
	next    *int64 // row after the commit, while changed
	// rearmed: set since an alarm fell due, so that the index must hear of it even
	// if the time is the same.
	rearmed bool

	handling bool  // the handler is being called
	at       int64 // the time whose handler runs
	deferred bool  // the row still holds the running alarm: getAlarm() says null
	held     bool  // so does the committed row
}

// pending is the part of the state that a rolled back transaction restores.
type pendingAlarm struct {
	changed, rearmed, deferred bool
	next                       *int64
}

func (a *alarmState) pending() pendingAlarm {
	return pendingAlarm{a.changed, a.rearmed, a.deferred, a.next}
}

func (a *alarmState) restore(p pendingAlarm) {
	if !a.handling && p.deferred { // the handler has ended meanwhile
		p.deferred = false
		if a.changed { // by deleting its row, which is back: the index has heard that it is done
			p.changed, p.rearmed, p.next = true, true, a.row
		}
	}
	a.changed, a.rearmed, a.deferred, a.next = p.changed, p.rearmed, p.deferred, p.next
}

type indexWrite func(x AlarmIndex, cause string) error

// indexWrites says what to write into the index before and after the commit.
func (a *alarmState) indexWrites() (before, after indexWrite) {
	if !a.changed || same(a.row, a.next) && !a.rearmed {
		return nil, nil
	}
	if a.next == nil {
		return nil, func(x AlarmIndex, cause string) error { return x.Clear(cause) }
	}
	set := func(x AlarmIndex, cause string) error { return x.Set(*a.next, cause) }
	if a.row == nil || *a.next < *a.row {
		return set, nil
	}
	next := *a.next
	return nil, func(x AlarmIndex, cause string) error { return x.Set(next, cause) }
}

func same(a, b *int64) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

func (a *alarmState) committed() {
	if a.changed {
		a.row, a.changed, a.rearmed, a.held = a.next, false, false, false
	}
}

// loadAlarm reads the row once per incarnation.
func (o *wakeUp) loadAlarm() {
	o.mayUseStorage()
	a := &o.alarm.alarmState
	if a.loaded {
		return
	}
	ms, ok, err := o.store.Alarm()
	if err != nil {
		o.realm.storageError(err)
	}
	o.ctx.MarkUnconfirmed() // it may have begun to read
	a.loaded = true
	if ok {
		a.row = &ms
	}
}

func (o *wakeUp) currentAlarm() *int64 {
	o.loadAlarm()
	if o.alarm.changed {
		return o.alarm.next
	}
	return o.alarm.row
}

// getAlarm implements storage.getAlarm(): null inside the handler, unless it
// has set a new one.
func (o *storage) getAlarm() goja.Value {
	at := o.alarm.currentAlarm()
	if at == nil || o.alarm.deferred {
		return goja.Null()
	}
	return o.realm.vm.ToValue(*at)
}

// setAlarm implements storage.setAlarm(); v is a Date or milliseconds.
func (o *storage) setAlarm(v, options goja.Value) {
	r := o.realm
	ms, unconfirmed := alarmTime(r.eng, v), allowsUnconfirmed(options)
	if !o.alarm.defined {
		r.eng.Throw("TypeError", "Your Durable Object class must have an alarm() handler in order to call setAlarm()")
	}
	now := r.eng.Now().UnixMilli()
	if ms < now {
		ms = now // a time in the past means now
	}
	o.alarm.loadAlarm()
	if err := o.db().SetAlarm(ms); err != nil {
		r.storageError(err)
	}
	a := &o.alarm.alarmState
	a.rearmed = a.rearmed || r.isDue(a.row)
	a.changed, a.next, a.deferred = true, &ms, false
	r.eng.Sites.Statement("setAlarm")
	o.unconfirmedIf(unconfirmed, o.wrote)
}

// alarmTime is the argument of setAlarm() in milliseconds.
func alarmTime(e *engine.Engine, v goja.Value) int64 {
	ms := date(e, v, "setAlarm")
	if ms <= 0 {
		e.Throw("TypeError", "setAlarm() cannot be called with an alarm time <= 0")
	}
	return ms
}

// maxDate is the latest kj::Date, which counts nanoseconds in 64 bits, in milliseconds.
const maxDate = 9223372036854

// date converts the first argument of a method of storage as JSG does a
// kj::Date: a Date or a number, to milliseconds.
func date(e *engine.Engine, v goja.Value, method string) int64 {
	_, isObject := v.(*goja.Object)
	var ms float64
	switch x := v.Export().(type) {
	case time.Time:
		ms = float64(x.UnixMilli())
	case int64:
		ms = float64(x)
	case float64:
		ms = x
	default:
		if isObject && v.(*goja.Object).ClassName() == "Date" {
			ms = math.NaN()
			break
		}
		e.Throw("TypeError", "Failed to execute '%s' on 'DurableObjectStorage': parameter 1 is not of type 'date'.", method)
	}
	if math.IsNaN(ms) || math.IsInf(ms, 0) {
		e.Throw("TypeError", "The value cannot be converted because it is not a valid Date.")
	}
	if ms > maxDate {
		e.Throw("TypeError", "This API doesn't support dates after 2189.")
	}
	return int64(ms)
}

// deleteAlarm implements storage.deleteAlarm(). While the handler runs it
// deletes the running alarm, too: a handler that then throws is not called
// again, as in the reference.
func (o *storage) deleteAlarm(options goja.Value) {
	unconfirmed := allowsUnconfirmed(options)
	if o.alarm.currentAlarm() == nil {
		return
	}
	if err := o.db().ClearAlarm(); err != nil {
		o.realm.storageError(err)
	}
	a := &o.alarm.alarmState
	a.changed, a.next, a.deferred = true, nil, false
	o.unconfirmedIf(unconfirmed, o.wrote)
}

// AlarmResult is what became of a delivery.
type AlarmResult int

const (
	// AlarmDone: the handler succeeded, there was nothing to do, or the alarm
	// was given up.
	AlarmDone AlarmResult = iota
	// AlarmFailed: the handler threw; the delivery counts as a try.
	AlarmFailed
	// AlarmInterrupted: the platform failed; the delivery does not count.
	AlarmInterrupted
	// AlarmEarly: the row says a later time; the delivery was none.
	AlarmEarly
)

// alarmLimit is how long a handler may run.
const alarmLimit = 15 * time.Minute

// Alarm delivers a wake-up. If the object's row says another time, the index
// is corrected first and the handler runs only if the row is due. done is
// called exactly once. Call it on the loop, outside any turn.
func (o *Object) Alarm(retryCount int, done func(AlarmResult, error)) {
	o.deliver("alarm", func() {
		finished := false
		forget, ended := func() {}, func() {}
		finish := func(result AlarmResult, err error) {
			if !finished {
				finished = true
				forget()
				ended()
				o.done()
				done(result, err)
			}
		}
		forget = o.ctx.AtDeath(func(error) {
			if o.failure != nil && !o.stopped {
				if retryCount >= alarms.MaxRetries {
					o.alarm.dropAlarm()
				}
				finish(AlarmFailed, o.failure) // abort(), a failed commit, a turn without end
				return
			}
			finish(AlarmInterrupted, o.refusal())
		})
		if !o.alarm.alarmDue(finish) {
			return
		}
		o.traced(event.TraceEvent{Type: "alarm", ScheduledMs: *o.alarm.currentAlarm()}, nil, func(inv *isolate.Invocation, end func()) {
			ended = func() { inv.Returned(); end() }
			o.alarm.runAlarm(retryCount, inv, finish)
		})
	}, func(err error) { done(AlarmInterrupted, err) })
}

// isDue reports whether that time has come, by the clock that alarms are delivered by. The
// machine that the object runs on may have another one: workerd compares the row with the
// alarm that comes, and with no clock (src/workerd/io/actor-sqlite.c++,
// ActorSqlite::armAlarmHandler).
func (r *Realm) isDue(at *int64) bool {
	return at != nil && *at <= r.eng.Clock().Now().UnixMilli()
}

// alarmDue compares the wake-up with the row.
func (o *wakeUp) alarmDue(finish func(AlarmResult, error)) bool {
	at := o.currentAlarm()
	if o.realm.isDue(at) {
		return true
	}
	if o.alarm.changed { // the commit of this very row writes the index
		finish(AlarmDone, nil)
		return false
	}
	if err := o.opts.Alarms.Reconcile(at, "alarm"); err != nil {
		finish(AlarmInterrupted, err)
		return false
	}
	if at == nil {
		finish(AlarmDone, nil)
	} else {
		finish(AlarmEarly, nil)
	}
	return false
}

func (o *wakeUp) runAlarm(retryCount int, inv *isolate.Invocation, finish func(AlarmResult, error)) {
	r, a := o.realm, &o.alarm.alarmState
	a.handling, a.deferred, a.held, a.at = true, true, true, *o.currentAlarm()
	limit := r.eng.Timers.Set(alarmLimit, false, func() {
		o.fail(&event.Error{Message: "Alarm exceeded its allowed execution time of 15 minutes.", ObjectReset: true, Overloaded: true})
	})
	end := func() { a.handling = false; r.eng.Timers.Clear(limit) }
	failed := func(reason goja.Value) {
		if o.ended { // by the handler itself: AtDeath has told the outcome
			return
		}
		end()
		inv.Failed(reason)
		ev := r.iso.CF.Failure(reason)
		r.eng.Log(engine.Error, "Uncaught (in alarm) "+r.eng.Errors.Logged(reason))
		kept := a.deferred
		if retryCount >= alarms.MaxRetries {
			o.forgetAlarm() // it is not called again
		}
		a.deferred = false
		o.ctx.Emit(func() {
			if kept {
				finish(AlarmFailed, ev)
			} else {
				finish(AlarmDone, ev) // the new alarm stays, nothing is retried
			}
		})
	}
	thrown := r.eng.Try(func() {
		fn := o.instance.Get("alarm")
		if !engine.IsCallable(fn) {
			o.forgetAlarm()
			return
		}
		info := r.alarmInfo.Wrap(struct{}{})
		own(info, "scheduledTime", r.vm.ToValue(a.at))
		own(info, "retryCount", r.vm.ToValue(retryCount))
		own(info, "isRetry", r.vm.ToValue(retryCount > 0))
		r.eng.Await(r.eng.Call(fn, o.instance, info), func(goja.Value) {
			if o.ended {
				return
			}
			end()
			o.forgetAlarm()
			o.ctx.Emit(func() { finish(AlarmDone, nil) })
		}, failed)
	})
	if thrown != nil {
		failed(thrown)
	}
}

// forgetAlarm deletes the row of the alarm whose handler has succeeded.
func (o *wakeUp) forgetAlarm() {
	a := &o.alarm.alarmState
	if !a.deferred {
		return
	}
	a.deferred = false
	if err := o.db().ClearAlarm(); err != nil {
		o.failWith(err)
		return
	}
	a.changed, a.next = true, nil
	o.wrote()
}

// dropAlarm deletes the row of an alarm that is not tried again, of an object
// that is about to end and loses everything else that it has not committed.
func (o *wakeUp) dropAlarm() {
	if !o.alarm.held || o.store == nil {
		return
	}
	err := o.store.Rollback()
	if err == nil {
		err = o.store.ClearAlarm()
	}
	if err == nil {
		err = o.realm.points.Effect(killpoint.Commit, o.opts.Label, "alarm", o.store.Commit)
	}
	if err != nil { // the row stays, so the alarm is tried again when the object is next opened
		o.realm.eng.Log(engine.Error, fmt.Sprintf("%s: delete a dropped alarm: %v", o.opts.Label, err))
	}
}
