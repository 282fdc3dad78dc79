package server

import (
	"context"
	"fmt"

	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/devregistry"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/isolate"
)

// openRegistry joins the other sessions of this user, if Options.DevRegistry says
// where they are. A session that cannot goes on alone.
func openRegistry(s *Server) {
	if s.opts.DevRegistry == "" {
		return
	}
	r, err := devregistry.Open(devregistry.Options{
		Dir: s.opts.DevRegistry, Scheduler: s.opts.Scheduler, Machine: s.opts.machine(), Entropy: s.opts.Entropy, Dialer: s.opts.Dialer,
		Local: hosted{s}, Report: func(err error) { s.event(EventFailure, err.Error()) },
	})
	if err != nil {
		s.event(EventWarning, "other dev sessions are not found: "+err.Error())
		return
	}
	s.session.registry = r
	s.session.announce(s)
}

// announce registers the names that the workers of the session have now. A failure
// is told by s.
func (x *session) announce(s *Server) {
	if x.registry == nil {
		return
	}
	var names []string
	for _, m := range x.members {
		names = append(names, m.Project().Name)
	}
	if err := x.registry.Register(names); err != nil {
		s.event(EventWarning, "other dev sessions do not find this one: "+err.Error())
	}
}

func (x *session) closeRegistry(ctx context.Context) error {
	if x == nil || x.registry == nil {
		return nil
	}
	return x.registry.Close(ctx)
}

// reachable reports whether a worker runs, in this session or in another one that
// can be called.
func (x *session) reachable(script string) bool {
	if x.find(script) != nil {
		return true
	}
	if x.registry == nil {
		return false
	}
	_, state, err := x.registry.Find(script)
	return err == nil && state == devregistry.Found
}

// elsewhere is what a worker that does not run in this session is called by: of's
// result if another session has it.
func (x *session) elsewhere(script string, of func(devregistry.Worker) cfapi.Target) cfapi.Target {
	if x.registry == nil {
		return absent{notRunning(script)}
	}
	switch w, state, err := x.registry.Find(script); {
	case err != nil:
		return broken{err}
	case state == devregistry.Found:
		return of(w)
	case state == devregistry.Foreign:
		return absent{incompatible(script)}
	}
	return absent{notRunning(script)}
}

// notRunning is what miniflare says of a worker that is bound to and is not
// there (workers/core/dev-registry-proxy).
func notRunning(script string) string {
	return fmt.Sprintf("Worker %q not found. Make sure it is running locally.", script)
}

// incompatible is what miniflare says of a worker whose entry names no debug port.
func incompatible(script string) string {
	return fmt.Sprintf("Worker %q is not compatible with this version of the dev server. Please update all Worker instances to the same version.", script)
}

// absent is the Target of a worker that cannot be called: as with the reference,
// fetch answers 503 and every call throws.
type absent struct{ text string }

// Dup implements event.Capability.
func (t absent) Dup() event.Capability { return t }

// Release implements event.Capability.
func (t absent) Release() {}

// Call implements event.Capability.
func (t absent) Call(_ *event.Call, done func(*event.Payload, error)) {
	done(nil, &event.Error{Message: t.text, Remote: true})
}

// Fetch implements cfapi.Target.
func (t absent) Fetch(_ *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	done(&event.Response{
		Status: 503, StatusText: event.Reason(503), Header: event.Header{{Name: "Content-Type", Value: "text/plain;charset=UTF-8"}}, Body: event.Bytes([]byte(t.text)),
	}, nil)
	return func(error) {}
}

// elsewhere is the entrypoint where its worker runs outside of the session.
func (t *service) elsewhere() cfapi.Target {
	return t.from.session.elsewhere(t.script, func(w devregistry.Worker) cfapi.Target {
		if t.props != nil && len(t.props.Caps) > 0 {
			return broken{fmt.Errorf("the props of an entrypoint of %q have stubs or streams in them, which do not reach a worker of another dev session", t.script)}
		}
		return w.Entrypoint(t.entrypoint, t.props)
	})
}

// foreignObject is an object of a worker outside of the session, wherever that runs
// when a call is made.
type foreignObject struct {
	space *foreignSpace
	id    objectid.ID
}

var _ cfapi.Target = foreignObject{}

func (t foreignObject) now() cfapi.Target {
	b := t.space.bind
	if t.space.from.session.find(b.ScriptName) != nil { // it has got that name meanwhile
		return t.space.Stub(t.id)
	}
	return t.space.from.session.elsewhere(b.ScriptName, func(w devregistry.Worker) cfapi.Target {
		name, _ := t.id.Name()
		return w.Object(b.ClassName, t.id.String(), name)
	})
}

// Dup implements event.Capability.
func (t foreignObject) Dup() event.Capability { return t }

// Release implements event.Capability.
func (t foreignObject) Release() {}

// Call implements event.Capability.
func (t foreignObject) Call(c *event.Call, done func(*event.Payload, error)) { t.now().Call(c, done) }

// Fetch implements cfapi.Target.
func (t foreignObject) Fetch(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	return t.now().Fetch(req, done)
}

// hosted is the session's workers as other sessions call them; s is any of them.
type hosted struct{ s *Server }

var _ devregistry.Local = hosted{}

// Entrypoint implements devregistry.Local. A worker that has lost its name meanwhile
// is absent: a call does not travel on to a third session.
func (h hosted) Entrypoint(worker, entrypoint string, props *event.Payload) cfapi.Target {
	if h.s.session.find(worker) == nil {
		return absent{notRunning(worker)}
	}
	return &service{from: h.s, script: worker, entrypoint: entrypoint, props: props}
}

// Object implements devregistry.Local.
func (h hosted) Object(worker, class, id, name string) cfapi.Target {
	m := h.s.session.find(worker)
	if m == nil {
		return absent{notRunning(worker)}
	}
	for _, c := range h.s.session.classes(m, m.Project()) {
		space := m.space(c.UniqueKey)
		if c.ClassName != class || space == nil {
			continue
		}
		oid, err := space.IDs().Parse(id)
		if err != nil {
			return broken{err}
		}
		if name != "" {
			oid = oid.WithName(name)
		}
		return space.Stub(oid)
	}
	return broken{fmt.Errorf("the worker %q has no Durable Object class %q: declare it in its wrangler file (durable_objects.bindings, migrations)", worker, class)}
}

// Tail implements devregistry.Local.
func (h hosted) Tail(worker string, traces []*event.Trace) {
	if m := h.s.session.find(worker); m != nil {
		onIsolate(m, func(i *isolate.Isolate) { i.Tail(traces, func(error) {}) }) // its own console has said what it threw
	}
}

// tail gives a worker of another session what one of this session did; nothing
// happens if it does not run.
func (x *session) tail(worker string, trace *event.Trace) error {
	if x.registry == nil {
		return nil
	}
	w, state, err := x.registry.Find(worker)
	if err != nil || state != devregistry.Found {
		return err
	}
	w.Tail([]*event.Trace{trace})
	return nil
}

// onIsolate calls fn with the worker's isolate, if it has one.
func onIsolate(s *Server, fn func(i *isolate.Isolate)) {
	s.withWorker(func(w *worker, err error) {
		if err == nil && w.iso != nil {
			fn(w.iso)
		}
	})
}
