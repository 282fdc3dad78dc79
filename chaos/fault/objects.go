package fault

import (
	"errors"

	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/killpoint"
)

// The verbs of what production does to objects, in the words of docs/control.md.
const (
	Evict     Verb = "evict"
	Hibernate Verb = "hibernate"
	Reset     Verb = "reset"
	Abort     Verb = "abort"
	Crash     Verb = "crash"
)

// Isolate is the argument of what is done to the whole isolate instead of the point's
// object.
const Isolate = "isolate"

var (
	evict     = ofObject(Evict, "the point's object, or with `(isolate)` every object and module state, is dropped from memory, as after a long idle time; refused while it is busy", "", Isolate)
	hibernate = ofObject(Hibernate, "the object is dropped from memory and its sockets stay open; refused while something keeps it awake", "")
	reset     = ofObject(Reset, "a code update: work in flight stops at its next storage access, new requests reach new code", "", Isolate)
	abort     = ofObject(Abort, "`ctx.abort()`", "")
	crash     = ofObject(Crash, "the object, or the isolate, dies as if its process did: at a commit, or at the end of its constructor, within the turn, so that `commit:before` loses the turn's writes; elsewhere after the turn", "", Isolate)
)

// withinTurn reports whether the object whose point this is can crash there and then:
// the turn learns of it. Its crash is asked for again behind the turn, and finds
// nothing to do.
func withinTurn(at killpoint.Point) bool {
	return hasObject(at) && (at.Kind == killpoint.Commit || at.Kind == killpoint.Wake)
}

// ofObject is a kind that acts on the point's object, or on the isolate.
func ofObject(verb Verb, does string, args ...string) Kind {
	k := Kind{Verb: verb, Does: does, Weight: 1, Takes: oneOf(args...), EndsObjects: always}
	if verb == Hibernate {
		k.EndsObjects = never
	}
	for _, arg := range args {
		k.Forms = append(k.Forms, Fault{Verb: verb, Arg: arg}.Kind())
	}
	k.Draws = k.Forms
	k.Happens = func(arg string, at killpoint.Point) bool { return arg == Isolate || hasObject(at) }
	k.Do = func(m Machine, arg string, at killpoint.Point, done func(error)) error {
		a := pool.Action{Verb: pool.Verb(verb), Reason: "aborted by a fault"}
		if verb == Crash && arg != Isolate && withinTurn(at) {
			told := done
			done = func(err error) {
				if errors.Is(err, pool.ErrNotRunning) {
					err = nil // it crashed in its turn
				}
				told(err)
			}
		}
		switch {
		case arg == Isolate:
			m.Isolate(a, done)
		case !hasObject(at):
			done(&pool.RefusedError{Reason: "no object is at this point"})
		default:
			m.Object(at.Object, a, done)
		}
		if verb == Crash && withinTurn(at) {
			return killpoint.ErrCrashed
		}
		return nil
	}
	return k
}

// Hibernations are plans in which an object hibernates while its sockets stay open, as in
// production when nothing has come for a while: behind each effect of a message, and, of an
// object that gets messages, behind each response and frame of a request, which may have
// opened a socket. A death cuts the sockets, and does not show what the object has forgotten
// of them. points are labels that a run without faults has passed.
func Hibernations(points []string) (plans []Plan) {
	var all []killpoint.Point
	talks := map[string]bool{} // objects whose clients send messages
	for _, label := range points {
		at, err := killpoint.ParseLabel(label)
		if err != nil || at.Side != killpoint.After || at.Kind == killpoint.Close {
			continue
		}
		all = append(all, at)
		talks[at.Object] = talks[at.Object] || at.Cause == message
	}
	for _, at := range all {
		opens := at.Cause == request && talks[at.Object] && (at.Kind == killpoint.Response || at.Kind == killpoint.Frame)
		if f := (Fault{Verb: Hibernate}).At(at.Label()); (opens || at.Cause == message) && f.Happens() {
			plans = append(plans, Plan{f})
		}
	}
	return plans
}

// The causes of turns in which an object deals with sockets.
const (
	message = "message"
	request = "fetch"
)
