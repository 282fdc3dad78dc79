package server

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/binding/drivers"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/devregistry"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/explorer"
	"minido.dev/minido/runtime/isolate"
)

// session is the workers that run together, as `wrangler dev -c a -c b` runs
// them: each with its own configuration, isolate and objects; the first has the
// listener. Immutable once Start has loaded
// all configurations, so any goroutine may read it.
type session struct {
	members []*Server
	drivers *drivers.Drivers // of env; nil before openDrivers

	registry *devregistry.Registry // how other sessions are found; nil if they are not
	traces   *explorer.Traces
}

// space finds the objects of a class in the worker that has it; nil if none does.
func (x *session) space(uniqueKey string) cfapi.Namespace {
	for _, m := range x.members {
		if space := m.space(uniqueKey); space != nil {
			return space
		}
	}
	return nil
}

// find is the worker of that name; nil if it does not run in this session. The
// name is the present one, which a reload may change.
func (x *session) find(name string) *Server {
	for _, m := range x.members {
		if m.Project().Name == name {
			return m
		}
	}
	return nil
}

// join loads the configurations of the further workers.
func (s *Server) join() error {
	s.session = &session{members: []*Server{s}, traces: explorer.NewTraces(s.opts.Scheduler.Clock().Now, s.opts.Entropy.Fork("traces"))}
	s.openDrivers()
	for _, c := range s.opts.Others {
		project, warnings, err := config.Load(c)
		s.warnings = append(s.warnings, warnings...)
		if err != nil {
			return err
		}
		if other := s.session.find(project.Name); other != nil {
			return fmt.Errorf("%s and %s are both called %q: workers of one session need names of their own (\"name\" in the wrangler file)",
				describe(other.project), describe(project), project.Name)
		}
		o := s.opts
		o.Config, o.Others, o.Address, o.Entropy = c, nil, Address{None: true}, s.opts.Entropy.Fork("worker "+project.Name)
		if events := s.opts.Events; events != nil {
			o.Events = func(ev Event) { ev.Worker = project.Name; events(ev) }
		}
		m := newServer(o)
		m.project, m.session = project, s.session
		s.session.members = append(s.session.members, m)
	}
	return nil
}

// describe is where a project is configured, for people.
func describe(p *config.Project) string {
	if p.ConfigFile != "" {
		return p.ConfigFile
	}
	return p.Dir
}

// Others are the workers that run beside the primary one, in the order of
// Options.Others; nil for each of those. They are the primary's to close.
func (s *Server) Others() []*Server {
	if s.session == nil || s.session.members[0] != s {
		return nil
	}
	return s.session.members[1:]
}

// classes are the Durable Object classes of a member's project, and those that
// another worker of the session binds to by script_name.
func (x *session) classes(s *Server, p *config.Project) []config.DurableObjectClass {
	all := slices.Clone(p.Classes)
	for _, m := range x.members {
		if m == s {
			continue
		}
		for _, b := range m.Project().DurableObjects {
			known := slices.ContainsFunc(all, func(c config.DurableObjectClass) bool { return c.ClassName == b.ClassName })
			if b.ScriptName == p.Name && !known && config.ValidateClassName(b.ClassName) == nil {
				all = append(all, config.DurableObjectClass{ClassName: b.ClassName, UniqueKey: b.UniqueKey, Where: b.ClassWhere})
			}
		}
	}
	return all
}

// platform are the platform's classes that a member hosts, with p as its
// project.
func (x *session) platform(s *Server, p *config.Project) (hosted []driver.Class) {
	var projects []*config.Project
	for _, m := range x.members {
		if m == s {
			projects = append(projects, p)
			continue
		}
		projects = append(projects, m.Project())
	}
	for _, c := range x.drivers.Classes(projects) {
		if c.Script == p.Name {
			hosted = append(hosted, c)
		}
	}
	return hosted
}

// space is an open namespace by its unique key, nil if there is none.
func (s *Server) space(uniqueKey string) *pool.Namespace {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spaces[uniqueKey]
}

// service is the Target of an entrypoint of another worker of the session,
// whichever generation of it runs when a call is made. Safe for concurrent use.
type service struct {
	from       *Server
	script     string
	entrypoint string
	props      *event.Payload
}

var _ isolate.Tailed = (*service)(nil)

// Dup implements event.Capability; entrypoints need no counting.
func (t *service) Dup() event.Capability { return t }

// Release implements event.Capability.
func (t *service) Release() {}

// Call implements event.Capability.
func (t *service) Call(c *event.Call, done func(*event.Payload, error)) {
	m := t.from.session.find(t.script)
	if m == nil {
		t.elsewhere().Call(c, done)
		return
	}
	m.withWorker(func(w *worker, err error) {
		if err == nil && w.iso == nil {
			err = fmt.Errorf("the worker %q has only assets: it offers fetch() and no methods", t.script)
		}
		if err != nil {
			done(nil, err)
			return
		}
		w.iso.Entrypoint(t.entrypoint, t.props).Call(c, done)
	})
}

// Tail implements isolate.Tailed; what a worker elsewhere did not get is dropped.
func (t *service) Tail(list []*event.Trace, done func(error)) {
	m := t.from.session.find(t.script)
	if m == nil {
		err := fmt.Errorf("the worker %q does not run in this session, and is told of no events", t.script)
		t.from.event(EventWarning, err.Error())
		done(err)
		return
	}
	onIsolate(m, func(i *isolate.Isolate) {
		i.Entrypoint(t.entrypoint, t.props).(isolate.Tailed).Tail(list, done)
	})
}

// TailStream implements isolate.Tailed; a worker elsewhere follows nothing.
func (t *service) TailStream(e event.TailEvent) {
	if m := t.from.session.find(t.script); m != nil {
		onIsolate(m, func(i *isolate.Isolate) {
			i.Entrypoint(t.entrypoint, t.props).(isolate.Tailed).TailStream(e)
		})
	}
}

var _ cfapi.Handling = (*service)(nil)

// Scheduled implements cfapi.Handling.
func (t *service) Scheduled(cron string, scheduledMs int64, returned func(error), done func(noRetry bool, err error)) {
	t.handle(func(h cfapi.Handling) { h.Scheduled(cron, scheduledMs, returned, done) }, func(err error) { done(false, err) })
}

// Queue implements cfapi.Handling.
func (t *service) Queue(b *event.QueueBatch, done func(*event.QueueResult, error)) {
	t.handle(func(h cfapi.Handling) { h.Queue(b, done) }, func(err error) { done(nil, err) })
}

// handle has the entrypoint take an event; failed is called instead if there is none.
func (t *service) handle(fn func(cfapi.Handling), failed func(error)) {
	m := t.from.session.find(t.script)
	if m == nil {
		err := fmt.Errorf("the worker %q does not run in this session, and takes no events of schedules and queues", t.script)
		t.from.event(EventWarning, err.Error()) // scheduled() says no more than "exception"
		failed(err)
		return
	}
	m.withWorker(func(w *worker, err error) {
		if err == nil && w.iso == nil {
			err = fmt.Errorf("the worker %q has only assets: it takes no events", t.script)
		}
		if err != nil {
			failed(err)
			return
		}
		fn(w.iso.Entrypoint(t.entrypoint, t.props).(cfapi.Handling))
	})
}

// Fetch implements cfapi.Target. A default entrypoint without props is what
// clients reach too: its worker's assets come first where they would for them.
func (t *service) Fetch(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	m := t.from.session.find(t.script)
	if m == nil {
		return t.elsewhere().Fetch(req, done)
	}
	if t.entrypoint == defaultEntrypoint && t.props == nil {
		return m.Fetch(req, done)
	}
	var c event.Canceler
	m.withWorker(func(w *worker, err error) {
		if err == nil && w.iso == nil {
			err = fmt.Errorf("the worker %q has only assets and no entrypoint %q", t.script, t.entrypoint)
		}
		if err != nil {
			done(nil, err)
			return
		}
		c.Set(w.iso.Entrypoint(t.entrypoint, t.props).Fetch(req, done))
	})
	return c.Cancel
}

// defaultEntrypoint is the name of a worker's main export.
const defaultEntrypoint = "default"

// foreignSpace is the objects of a class of another worker of the session. The
// objects live with that worker. Safe for concurrent use.
type foreignSpace struct {
	from *Server
	bind config.DurableObjectBinding
	ids  *objectid.Namespace
}

var _ cfapi.Namespace = (*foreignSpace)(nil)

// Class implements cfapi.Namespace.
func (n *foreignSpace) Class() string { return n.bind.ClassName }

// IDs implements cfapi.Namespace.
func (n *foreignSpace) IDs() *objectid.Namespace { return n.ids }

// Stub implements cfapi.Namespace.
func (n *foreignSpace) Stub(id objectid.ID) cfapi.Target {
	m := n.from.session.find(n.bind.ScriptName)
	if m == nil {
		return foreignObject{n, id}
	}
	if space := m.space(n.bind.UniqueKey); space != nil {
		return space.Stub(id)
	}
	return broken{fmt.Errorf("the worker %q has no Durable Object class %q (bound as env.%s at %s)",
		n.bind.ScriptName, n.bind.ClassName, n.bind.Name, n.bind.Where)}
}

// platformSpace is the objects of one of the platform's classes, which live with
// the worker of the session that hosts it when they are called. Safe for
// concurrent use.
type platformSpace struct {
	from      *Server
	uniqueKey string
	ids       *objectid.Namespace
}

var _ cfapi.Namespace = (*platformSpace)(nil)

// Class implements cfapi.Namespace.
func (n *platformSpace) Class() string { return n.uniqueKey }

// IDs implements cfapi.Namespace.
func (n *platformSpace) IDs() *objectid.Namespace { return n.ids }

// Stub implements cfapi.Namespace.
func (n *platformSpace) Stub(id objectid.ID) cfapi.Target {
	for _, m := range n.from.session.members {
		if space := m.space(n.uniqueKey); space != nil {
			return space.Stub(id)
		}
	}
	return broken{fmt.Errorf("no worker of this session hosts %s", n.uniqueKey)}
}

// broken is a Target that always fails.
type broken struct{ err error }

// Dup implements event.Capability.
func (t broken) Dup() event.Capability { return t }

// Release implements event.Capability.
func (t broken) Release() {}

// Call implements event.Capability.
func (t broken) Call(_ *event.Call, done func(*event.Payload, error)) { done(nil, t.err) }

// Fetch implements cfapi.Target.
func (t broken) Fetch(_ *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	done(nil, t.err)
	return func(error) {}
}

// closeOthers stops the workers beside the primary.
func (s *Server) closeOthers(ctx context.Context) error {
	var errs []error
	for _, m := range s.Others() {
		errs = append(errs, m.Close(ctx))
	}
	return errors.Join(errs...)
}

// consoleOf is where a worker's logs go: with its name before them if several run
// together, as in wrangler dev.
func consoleOf(s *Server) engine.Logger {
	if s.opts.Console == nil || len(s.session.members) < 2 {
		return s.opts.Console
	}
	prefix := "[" + s.Project().Name + "] "
	return func(level engine.Level, c *engine.Context, text string) { s.opts.Console(level, c, prefix+text) }
}

// logsOf is the observer of a worker's logs, which is told them as consoleOf's are.
func logsOf(s *Server) isolate.LogObserver {
	if s.opts.Logs == nil || len(s.session.members) < 2 {
		return s.opts.Logs
	}
	return named{s.opts.Logs, "[" + s.Project().Name + "] "}
}

// named is an observer of the logs of one of several workers. Immutable.
type named struct {
	isolate.LogObserver
	prefix string
}

// Logged implements isolate.LogObserver.
func (n named) Logged(l isolate.Logged) { l.Text = n.prefix + l.Text; n.LogObserver.Logged(l) }
