package pool

import (
	"minido.dev/minido/durableobject"
	"minido.dev/minido/runtime/event"
)

// delivery is one event on its way to an object. Immutable but for ticket,
// which is guarded by pool.mu.
type delivery struct {
	entry *entry
	// stub, if not nil, is the stub that was called: its incarnation must not
	// have failed before.
	stub   *stub
	use    func(o *durableobject.Object)
	failed func(error)
	// request or call is what it delivers, if it is one of these.
	request *event.Request
	call    *event.Call
	// ticket counts the pool's deliveries. Those that wait for a realm go by it,
	// so that one that an isolate gives back because it is being replaced does
	// not fall behind later ones.
	ticket uint64
}

// with calls use, on the loop and between turns, with the running incarnation,
// which is started first if there is none. Safe for concurrent use; calls are
// carried out in order.
func (e *entry) with(s *stub, use func(o *durableobject.Object), failed func(error)) {
	e.ns.pool.deliver(&delivery{entry: e, stub: s, use: use, failed: failed})
}

// deliver posts an event to the realm, now or when there is one.
func (p *Pool) deliver(d *delivery) {
	p.mu.Lock()
	if d.ticket == 0 {
		p.tickets++
		d.ticket = p.tickets
	}
	closed := p.closed
	switch {
	case closed:
	case p.realm == nil:
		p.waiting.Add(d.ticket, d)
	default:
		// Under the lock: posted later it could come behind an event that was
		// called later.
		closed = d.post(p.realm) != nil
	}
	p.mu.Unlock()
	if closed {
		d.failed(ErrClosed)
	}
}

// post queues the delivery on the realm's loop.
func (d *delivery) post(r *durableobject.Realm) error {
	return r.Isolate().Engine.PostLoop(func() { d.run(r) })
}

// run delivers, on the loop of r.
func (d *delivery) run(r *durableobject.Realm) {
	e, s := d.entry, d.stub
	if r.Isolate().Engine.Health.CondemnedBy() != nil || !e.ns.pool.isCurrent(r) {
		e.ns.pool.deliver(d) // the server is replacing the isolate
		return
	}
	if s != nil && s.object != nil && s.object.Superseded() {
		s.object = nil // the new code is another object's life
	}
	if s != nil && s.object != nil && s.object.Failure() != nil {
		d.failed(s.object.Failure())
		return
	}
	o := e.waited(d.ticket, r)
	if o == nil {
		o = e.ensure(r, s)
	}
	if s != nil {
		s.object = o
	}
	if ev := o.Failure(); ev != nil {
		var err error = ev
		switch {
		case d.request != nil:
			durableobject.Unborn(o, d.request, d.request.Parent)
			err = remote(ev)
		case d.call != nil:
			durableobject.Unborn(o, nil, d.call.Parent)
		}
		d.failed(err)
		return
	}
	d.use(o)
}
