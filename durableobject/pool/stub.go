package pool

import (
	"errors"
	"sync/atomic"

	"minido.dev/minido/durableobject"
	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/runtime/event"
)

// stub is the Target of one stub in JavaScript. Calls arrive in the order in
// which they were made. Once an incarnation that it talked to has failed, it
// fails with that error from then on. Safe for concurrent use.
type stub struct {
	entry  *entry
	id     objectid.ID           // with its name, if it was made from one
	object *durableobject.Object // loop-confined: the incarnation it last talked to
}

// Label is that of the object, "Class/name".
func (s *stub) Label() string { return s.entry.label() }

// Dup implements event.Capability; stubs need no counting.
func (s *stub) Dup() event.Capability { return &stub{entry: s.entry, id: s.id} }

// Release implements event.Capability.
func (s *stub) Release() {}

// Fetch implements cfapi.Target.
func (s *stub) Fetch(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	var canceled atomic.Pointer[func(error)]
	s.fetch(req, done, &canceled, 0)
	return func(reason error) {
		if fn := canceled.Load(); fn != nil {
			(*fn)(reason)
		}
	}
}

func (s *stub) fetch(req *event.Request, done func(*event.Response, error), cancel *atomic.Pointer[func(error)], attempt int) {
	s.entry.ns.pool.deliver(&delivery{entry: s.entry, stub: s, request: req, use: func(o *durableobject.Object) {
		fn := o.Fetch(req, func(resp *event.Response, err error) {
			if errors.Is(err, durableobject.ErrEvicted) && attempt < maxRedeliveries {
				s.fetch(req, done, cancel, attempt+1)
				return
			}
			done(resp, remote(err))
		})
		cancel.Store(&fn)
	}, failed: func(err error) { done(nil, err) }})
}

// remote marks an error with which an object ends as thrown by the other side: so a fetch
// sees it, which a call does not.
func remote(err error) error {
	var ev *event.Error
	if !errors.As(err, &ev) || !ev.ObjectReset {
		return err
	}
	marked := *ev
	marked.Remote = true
	return &marked
}

// Call implements event.Capability.
func (s *stub) Call(c *event.Call, done func(*event.Payload, error)) { s.call(c, done, 0) }

func (s *stub) call(c *event.Call, done func(*event.Payload, error), attempt int) {
	s.entry.ns.pool.deliver(&delivery{entry: s.entry, stub: s, call: c, use: func(o *durableobject.Object) {
		o.Call(c, func(p *event.Payload, err error) {
			if errors.Is(err, durableobject.ErrEvicted) && attempt < maxRedeliveries {
				s.call(c, done, attempt+1)
				return
			}
			done(p, err)
		})
	}, failed: func(err error) { done(nil, err) }})
}
