package pool

import (
	"errors"
	"time"

	"minido.dev/minido/alarms"
	"minido.dev/minido/durableobject"
	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/runtime/event"
)

// entry is one object, in memory or not: what its incarnations share.
type entry struct {
	ns      *Namespace
	sockets *durableobject.SocketSet

	// guarded by pool.mu
	id    objectid.ID // with its name, once known
	own   objectid.ID // ctx.id: the id by which the object was first started, kept until it fails
	owned bool        // own is set
	// addressed: a stub or an alarm was made for it; else only Address looked.
	addressed bool
	object    *durableobject.Object
	timer     clock.Timer // looks at the idle time again
	// unborn is the last incarnation whose constructor threw, and until the ticket of the
	// last delivery that waited for it then.
	unborn *durableobject.Object
	until  uint64

	patience time.Duration // loop-confined: of this incarnation, see Policy.draw
}

// maxRedeliveries bounds how often one event follows evictions; more means that
// something ends the object again and again.
const maxRedeliveries = 20

// entry finds or makes the entry of an object.
func (n *Namespace) entry(id objectid.ID) *entry {
	key := id.WithoutName() // named and unnamed ids are one object
	n.pool.mu.Lock()
	defer n.pool.mu.Unlock()
	e := n.entries[key]
	if e == nil {
		e = &entry{ns: n, id: id, sockets: durableobject.NewSocketSet()}
		e.sockets.Connect(n.pool.opts.Clock, e.wake)
		n.entries[key] = e
	}
	if _, named := e.id.Name(); !named {
		e.id = id
	}
	return e
}

// address is entry for who may start the object.
func (n *Namespace) address(id objectid.ID) *entry {
	e := n.entry(id)
	n.pool.mu.Lock()
	defer n.pool.mu.Unlock()
	e.addressed = true
	return e
}

func (e *entry) current() *durableobject.Object {
	e.ns.pool.mu.Lock()
	defer e.ns.pool.mu.Unlock()
	return e.object
}

// whereabouts are the incarnation in memory, nil for none, and the realm in which
// it runs or would be started, nil while there is none.
func (e *entry) whereabouts() (*durableobject.Object, *durableobject.Realm) {
	p := e.ns.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.object != nil {
		return e.object, e.object.Realm()
	}
	return nil, p.realm
}

func (e *entry) identity() objectid.ID {
	e.ns.pool.mu.Lock()
	defer e.ns.pool.mu.Unlock()
	return e.id
}

func (e *entry) label() string {
	e.ns.pool.mu.Lock()
	defer e.ns.pool.mu.Unlock()
	if name, ok := e.id.Name(); ok {
		return e.ns.class + "/" + name
	}
	return e.ns.class + "/" + e.id.String()
}

// ensure returns the running incarnation, started if need be, on the loop. The
// id of the stub that starts an object is its ctx.id, with a name or without
// one; evictions keep it, failures do not.
func (e *entry) ensure(r *durableobject.Realm, s *stub) *durableobject.Object {
	p := e.ns.pool
	p.mu.Lock()
	if o := e.object; o != nil && o.Realm() == r {
		p.mu.Unlock()
		return o
	}
	if !e.owned {
		e.own, e.owned = e.id, true
		if s != nil {
			e.own = s.id
		}
	}
	id := e.own
	p.mu.Unlock()
	o := r.Start(durableobject.Options{
		Class: e.ns.class, ID: id, Label: e.label(), Sockets: e.sockets,
		Open: e.open(), Alarms: e.alarmIndex(), Facets: e.facetFiles(),
		Ended: e.ended,
	}, func(error) {})
	p.mu.Lock()
	if o.Ended() {
		e.unborn, e.until = o, p.tickets
		p.mu.Unlock()
		return o
	}
	e.object, e.unborn = o, nil
	p.mu.Unlock()
	if p.opts.Opened != nil {
		p.opts.Opened()
	}
	e.patience = p.opts.Policy.draw(p.chance.Float64)
	e.armIdle(p.opts.Policy.shortest())
	return o
}

// waited returns the incarnation whose constructor threw while a delivery waited for it,
// nil for none: all that wait for a constructor fail with it, and it runs once (workerd:
// src/workerd/io/worker.c++, Worker::Actor::ensureConstructed).
func (e *entry) waited(ticket uint64, r *durableobject.Realm) *durableobject.Object {
	e.ns.pool.mu.Lock()
	defer e.ns.pool.mu.Unlock()
	if e.unborn != nil && (ticket > e.until || e.unborn.Realm() != r) {
		e.unborn = nil
	}
	return e.unborn
}

// ended is called on the loop when an incarnation is over. A reset closes the
// object's sockets, an eviction leaves them.
func (e *entry) ended(o *durableobject.Object, ev *event.Error) {
	p := e.ns.pool
	p.mu.Lock()
	if e.object == o {
		e.object = nil
	}
	if ev != nil && !o.Superseded() {
		e.owned = false
	}
	p.mu.Unlock()
	if ev != nil && !o.Superseded() { // the sockets may be the successor's
		e.sockets.DropAll(1006, ev.Message)
	}
}

// wake delivers an event of a hibernatable socket.
func (e *entry) wake(ev durableobject.SocketEvent) { e.deliverSocket(ev, 0) }

func (e *entry) deliverSocket(ev durableobject.SocketEvent, attempt int) {
	e.with(nil, func(o *durableobject.Object) {
		o.Socket(ev, func(err error) {
			if errors.Is(err, durableobject.ErrEvicted) && attempt < maxRedeliveries {
				e.deliverSocket(ev, attempt+1)
			}
		})
	}, func(error) {}) // an object that cannot start has dropped its sockets
}

// alarmIndex is the object's view of the alarm index.
func (e *entry) alarmIndex() durableobject.AlarmIndex { return alarmIndex{e} }

type alarmIndex struct{ e *entry }

func (x alarmIndex) key() alarms.Object {
	p := x.e.ns.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	name, _ := x.e.own.Name()
	return alarms.Object{Namespace: x.e.ns.ids.UniqueKey(), ID: x.e.id.String(), Name: name}
}

// Set implements durableobject.AlarmIndex.
func (x alarmIndex) Set(ms int64, cause string) error {
	return x.e.ns.pool.alarms.Set(x.key(), ms, cause)
}

// Clear implements durableobject.AlarmIndex.
func (x alarmIndex) Clear(cause string) error { return x.e.ns.pool.alarms.Clear(x.key(), cause) }

// Reconcile implements durableobject.AlarmIndex.
func (x alarmIndex) Reconcile(row *int64, cause string) error {
	return x.e.ns.pool.alarms.Reconcile(x.key(), row, cause)
}
