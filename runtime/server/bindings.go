package server

import (
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/dop251/goja"

	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/runtime/binding"
	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/binding/drivers"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/isolate"
)

// BindingState is one line of the table of bindings that start-up prints.
type BindingState struct {
	Name, Kind, Detail string
	// Ready is false for a binding whose first use throws.
	Ready  bool
	Advice string // what to do where it does not; "" if it is ready
	Where  string // file:line:column, "" for variables from flags
}

// Bindings describes env for people.
func (s *Server) Bindings() []BindingState {
	p := s.Project()
	var out []BindingState
	for _, b := range p.Listed() {
		d := s.session.drivers.Of(b.Kind)
		st := BindingState{Name: b.Name, Kind: b.Kind.Title(), Detail: b.Detail(), Ready: d != nil && d.Offered(host{s, p, nil}, b)}
		if k := binding.Lookup(b.Kind); !st.Ready && k != nil {
			st.Advice = k.Advice
			if script := boundScript(p, b); script != "" {
				st.Advice = start(p, script)
			}
		}
		if b.Var == nil {
			st.Where = b.Where.String()
		}
		out = append(out, st)
	}
	return out
}

// boundScript is the worker that a binding leads to, "" if it leads to none.
func boundScript(p *config.Project, b config.Binding) string {
	for _, d := range p.DurableObjects {
		if d.Name == b.Name {
			return d.ScriptName
		}
	}
	return b.Param("service")
}

// start says how to run a worker that is not running, with its wrangler file if that
// lies nearby.
func start(p *config.Project, script string) string {
	file := config.FindWorker(p.Dir, script)
	if file == "" || p.ConfigFile == "" {
		return fmt.Sprintf("Run the worker %q with minido dev, or add its wrangler file: -c FILE -c ITS-FILE.", script)
	}
	other, err := filepath.Rel(p.Dir, file)
	if err != nil {
		other = file
	}
	return fmt.Sprintf("Run with `-c %s -c %s`, or the worker %q in a session of its own.", filepath.Base(p.ConfigFile), filepath.ToSlash(other), script)
}

// openDrivers makes what offers the bindings of the session's workers.
func (s *Server) openDrivers() {
	dynamic := &dynamics{opts: s.opts, primary: s.Project}
	s.session.drivers = drivers.Open(&driver.Session{
		Load:      dynamic.load,
		Scheduler: s.opts.Scheduler, Entropy: s.opts.Entropy, Points: s.opts.Points, AI: s.opts.AI,
		PersistDir: func() string { return s.opts.PersistDir },
		URL:        s.URL,
		Environ:    s.opts.Config.Environ,
		Limits:     s.opts.Limits, Sync: s.opts.Sync, Files: s.opts.Files, Report: func(err error) { s.event(EventFailure, err.Error()) },
	})
}

// bindings makes env for an isolate.
func (s *Server) bindings(p *config.Project, w *worker) []cfapi.Binding {
	var out []cfapi.Binding
	for _, b := range p.Env() {
		out = append(out, cfapi.Binding{Name: b.Name, Make: func(a *cfapi.API) goja.Value {
			if d := s.session.drivers.Of(b.Kind); d != nil {
				return d.Make(a, host{s, p, w}, b)
			}
			return driver.Absent(a, b)
		}})
	}
	return out
}

// host is the worker that an env belongs to: one generation of a server's. It
// implements driver.Worker.
type host struct {
	s *Server
	p *config.Project
	w *worker // nil if nothing is made
}

var _ driver.Worker = host{}

// hosting is what the platform's classes in an isolate can call of its worker.
type hosting struct {
	iso  *isolate.Isolate
	host host
}

var _ driver.Handlers = hosting{}

// Queue implements driver.Handlers.
func (h hosting) Queue(b *event.QueueBatch, done func(*event.QueueResult, error)) {
	h.iso.Queue(b, done)
}

// Entrypoint implements driver.Handlers.
func (h hosting) Entrypoint(name string, props *event.Payload) cfapi.Target {
	return h.iso.Entrypoint(name, props)
}

// Objects implements driver.Handlers.
func (h hosting) Objects(uniqueKey string) cfapi.Namespace { return h.host.Objects(uniqueKey) }

// Objects implements driver.Worker.
func (h host) Objects(uniqueKey string) cfapi.Namespace {
	return &platformSpace{from: h.s, uniqueKey: uniqueKey, ids: objectid.NewNamespace(uniqueKey)}
}

// Inner implements driver.Worker.
func (h host) Inner(object *goja.Object) cfapi.Target { return isolate.Inner(h.w.iso, object) }

// Project implements driver.Worker.
func (h host) Project() *config.Project { return h.p }

// Running implements driver.Worker.
func (h host) Running(script string) bool {
	return script == h.p.Name || h.s.session.find(script) != nil
}

// Reachable implements driver.Worker.
func (h host) Reachable(script string) bool {
	return script == h.p.Name || h.s.session.reachable(script)
}

// Service implements driver.Worker: an entrypoint of this worker is one of the
// generation that env belongs to.
func (h host) Service(script, entrypoint string, props *event.Payload) cfapi.Target {
	if entrypoint == "" {
		entrypoint = defaultEntrypoint
	}
	if script == h.p.Name {
		return h.w.iso.Entrypoint(entrypoint, props)
	}
	return &service{from: h.s, script: script, entrypoint: entrypoint, props: props}
}

// Namespace implements driver.Worker.
func (h host) Namespace(b config.Binding) cfapi.Namespace {
	for _, d := range h.p.DurableObjects {
		switch {
		case d.Name != b.Name:
		case d.Local:
			return h.s.space(d.UniqueKey)
		default:
			return &foreignSpace{from: h.s, bind: d, ids: objectid.NewNamespace(d.UniqueKey)}
		}
	}
	panic("a binding without its namespace: " + b.Name)
}

// Assets implements driver.Worker.
func (h host) Assets() cfapi.Target { return assetsTarget{h.s} }

func pathOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	return u.EscapedPath()
}
