package cfapi

import (
	"reflect"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/event"
)

// line is a stub's connection while a message of it takes another way: those behind it
// wait, for calls of one stub arrive in the order in which they were made. Loop-confined.
type line struct {
	waiting []killpoint.Message
	lost    error // the connection is gone, and the stub with it
}

// lines are those of an isolate's stubs. Loop-confined.
type lines struct {
	points *killpoint.Points
	held   map[event.Capability]*line // stubs that are in no map have none
}

// labelled is a capability of an object.
type labelled interface{ Label() string }

// sendTo releases a call through a stub as an output of the current context.
func (a *API) sendTo(cap event.Capability, release func(), lose func(error)) {
	c := a.Engine.IO("a call")
	emit := c.Emit
	if e, ok := cap.(early); ok {
		emit = func(release func()) { c.EmitTo(e.debtor(), release) }
	}
	if _, inner := cap.(Inner); inner || !a.opts.Points.Heard() {
		emit(release)
		return
	}
	m := a.message(release, lose)
	if l, ok := cap.(labelled); ok {
		m.To = l.Label()
	}
	emit(func() { a.lines.depart(cap, m) })
}

// answer releases the answer to call as an output of the current context. p is what the
// call returned, nil if it failed: a caller that waits by itself until that is safe
// (event.Call.Early) gets it before.
func (r receiver) answer(call *event.Call, p *event.Payload, release func(), lose func(error)) {
	a := r.api
	c := a.Engine.IO("a call")
	if !r.inner && a.opts.Points.Heard() {
		m := a.message(release, lose)
		m.To = call.From
		release = func() { a.opts.Points.Send(m) }
	}
	if p == nil || !call.Early {
		c.Emit(release)
		return
	}
	c.EmitEarly(func(s *event.Safe) { p.Safe = s; release() })
}

// message is a call or a result that leaves the current context.
func (a *API) message(release func(), lose func(error)) killpoint.Message {
	c := a.Engine.IO("a call")
	return killpoint.Message{Kind: killpoint.RPC, Object: c.Label, Cause: a.Engine.Cause(), Send: release, Lose: lose, Crash: c.Crash,
		Post: func(fn func()) { _ = a.Engine.PostLoop(fn) }} // a closed loop has nobody who waits
}

// depart sends a message on its stub's connection.
func (x *lines) depart(cap event.Capability, m killpoint.Message) {
	if l := x.of(cap); l != nil {
		if l.lost != nil {
			m.Lose(l.lost)
			return
		}
		l.waiting = append(l.waiting, m)
		return
	}
	on, send, lose := false, m.Send, m.Lose
	m.Send = func() {
		send()
		if on {
			x.resume(cap)
		}
	}
	m.Lose = func(err error) {
		lose(err)
		if l := x.of(cap); l != nil {
			l.lost = err
			for _, next := range l.waiting {
				next.Lose(err)
			}
			l.waiting = nil
		}
	}
	if x.points.Send(m) && reflect.TypeOf(cap).Comparable() {
		if x.held == nil {
			x.held = map[event.Capability]*line{}
		}
		on = true
		x.held[cap] = &line{}
	}
}

// resume lets go what has waited behind a message.
func (x *lines) resume(cap event.Capability) {
	l := x.of(cap)
	delete(x.held, cap)
	for _, m := range l.waiting {
		x.depart(cap, m)
	}
}

func (x *lines) of(cap event.Capability) *line {
	if len(x.held) == 0 || !reflect.TypeOf(cap).Comparable() {
		return nil
	}
	return x.held[cap]
}
