package server

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dop251/goja"

	"minido.dev/minido/durableobject"
	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/bundle"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/isolate"
)

// dynamics loads the workers whose code a worker hands over (driver.Session.Load).
// Safe for concurrent use.
type dynamics struct {
	opts Options

	mu    sync.Mutex // guards loads
	loads int        // so far
}

// dynamicWorker implements driver.Loaded.
type dynamicWorker struct {
	iso   *isolate.Isolate
	realm *durableobject.Realm // on its loop, once it is loaded
	dir   string               // of its modules
	ended atomic.Bool
}

// Entrypoint implements driver.Loaded.
func (w *dynamicWorker) Entrypoint(name string, props *event.Payload) cfapi.Target {
	return w.iso.Entrypoint(name, props)
}

// Home implements driver.Loaded.
func (w *dynamicWorker) Home() any { return w.realm }

// Alive implements driver.Loaded.
func (w *dynamicWorker) Alive() bool { return !w.ended.Load() }

// Close implements driver.Loaded.
func (w *dynamicWorker) Close() {
	w.ended.Store(true)
	_ = w.iso.Engine.PostLoop(func() { // a loop that has ended has no callers
		unloaded := &event.Error{Message: "The dynamic worker has been unloaded."}
		w.iso.Abandon(unloaded)
		w.realm.EndGuests(func(*durableobject.Object) *event.Error { return unloaded })
		w.iso.Engine.Close()
	})
	_ = os.RemoveAll(w.dir) // a temporary directory
}

// moduleRules say what a module of each kind is.
var moduleRules = map[string]bundle.ModuleType{
	"js": bundle.ESModule, "cjs": bundle.CommonJS, "text": bundle.Text, "data": bundle.Data, "json": bundle.JSON, "wasm": bundle.CompiledWasm,
}

// load bundles the code and evaluates it. done is called exactly once.
func (d *dynamics) load(code driver.Code, done func(driver.Loaded, error)) {
	d.mu.Lock()
	d.loads++
	n := d.loads
	d.mu.Unlock()
	d.opts.Scheduler.Go("load a dynamic worker", func() {
		w := &dynamicWorker{}
		b, p, err := d.bundle(code, w)
		if err != nil {
			if w.dir != "" {
				err = errors.Join(err, os.RemoveAll(w.dir))
			}
			done(nil, &event.Error{Message: "Failed to start Worker:\n" + err.Error()})
			return
		}
		d.start(w, n, code, p, b, done)
	})
}

// bundle writes the modules to a directory of their own and links them.
func (d *dynamics) bundle(code driver.Code, w *dynamicWorker) (*bundle.Bundle, *config.Project, error) {
	name := code.Name
	if name == "" {
		name = "dynamic"
	}
	p := &config.Project{Name: name, CompatibilityDate: code.Date, CompatibilityFlags: code.Flags}
	dir, err := os.MkdirTemp("", "minido-worker-*")
	if err != nil {
		return nil, nil, fmt.Errorf("worker loader: %w", err)
	}
	w.dir = dir
	o := bundle.Options{Dir: dir, Entry: code.Main, NoBundle: true, NoDefer: true, Alias: map[string]string{}, Builtins: isolate.HasBuiltin(p.Compat)}
	globs := map[bundle.ModuleType][]string{}
	found := false
	for _, m := range code.Modules {
		path := strings.TrimPrefix(m.Name, "./")
		if !filepath.IsLocal(path) {
			return nil, nil, fmt.Errorf("worker loader: the module name %q leads out of the worker", m.Name)
		}
		file := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return nil, nil, fmt.Errorf("worker loader: %w", err)
		}
		if err := os.WriteFile(file, m.Content, 0o600); err != nil {
			return nil, nil, fmt.Errorf("worker loader: %w", err)
		}
		kind := moduleRules[m.Kind]
		globs[kind] = append(globs[kind], path)
		found = found || m.Name == code.Main
		o.Alias[path] = file // names are also specifiers
	}
	if !found {
		return nil, nil, fmt.Errorf("mainModule %q is not among the modules", code.Main)
	}
	for _, kind := range slices.Sorted(maps.Keys(globs)) {
		o.Rules = append(o.Rules, bundle.Rule{Type: kind, Globs: globs[kind], Fallthrough: true})
	}
	bundler := bundle.New(o)
	defer bundler.Close()
	b, err := bundler.Build()
	return b, p, err
}

// dynamicTails are the tail workers of a worker that was loaded. What is no entrypoint
// has no handler to be told.
type dynamicTails struct{ tails, streaming []cfapi.Target }

var _ isolate.Tail = dynamicTails{}

// Wanted implements isolate.Tail.
func (dynamicTails) Wanted() bool { return true }

// Ended implements isolate.Tail.
func (t dynamicTails) Ended(trace *event.Trace) {
	for _, target := range t.tails {
		if tailed, ok := target.(isolate.Tailed); ok {
			tailed.Tail([]*event.Trace{trace}, func(error) {}) // who is told says what fails, on its own console
		}
	}
}

// Streams implements isolate.Tail.
func (t dynamicTails) Streams() bool { return t.streaming != nil }

// Streamed implements isolate.Tail.
func (t dynamicTails) Streamed(e event.TailEvent) {
	for _, target := range t.streaming {
		if tailed, ok := target.(isolate.Tailed); ok {
			tailed.TailStream(e)
		}
	}
}

func (d *dynamics) start(w *dynamicWorker, n int, code driver.Code, p *config.Project, b *bundle.Bundle, done func(driver.Loaded, error)) {
	fetch := d.opts.Dialer.Do
	if code.Outbound != nil {
		fetch = code.Outbound.Fetch
	}
	var bindings []cfapi.Binding
	var env *goja.Object // unpacked once, on the isolate's loop
	for _, name := range code.EnvNames {
		bindings = append(bindings, cfapi.Binding{Name: name, Make: func(a *cfapi.API) goja.Value {
			if env == nil {
				env = a.Unpack(code.Env).(*goja.Object)
			}
			return env.Get(name)
		}})
	}
	var tail isolate.Tail
	if len(code.Tails)+len(code.StreamingTails) > 0 {
		tail = dynamicTails{code.Tails, code.StreamingTails}
	}
	limit := d.opts.TurnLimit
	if own := engine.TurnLimitFor(code.CPU); own > 0 && (limit == 0 || own < limit) {
		limit = own
	}
	scheduler := d.opts.Scheduler
	if code.Beside != nil {
		scheduler = code.Beside.Beside(scheduler)
	}
	w.iso = isolate.New(isolate.Options{
		Tail: tail, Subrequests: code.Subrequests,
		Name: p.Name, Scheduler: scheduler, Entropy: d.opts.Entropy.Fork(fmt.Sprintf("dynamic worker %d", n)), Bundle: b,
		Points: d.opts.Points, Log: d.opts.Console, Compat: p.Compat, Fetch: fetch, Bindings: bindings,
		Environ: func() map[string]string { return nil }, TurnLimit: limit, Watch: d.opts.machine(), Heap: d.opts.Heap, Skew: d.opts.Skew,
		Condemned: func(i *isolate.Isolate, reason error) {
			w.ended.Store(true)
			if w.realm != nil {
				w.realm.EndGuests(func(o *durableobject.Object) *event.Error { return i.Condemnation(o.Context(), reason) })
			}
		},
	})
	w.iso.Start(func(err error) {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(w.dir))
			w.iso.Engine.Close()
			done(nil, &event.Error{Message: "Failed to start Worker:\n" + err.Error()})
			return
		}
		w.realm = durableobject.NewRealm(w.iso, d.opts.Points, p.Compat, func(string) bool { return false })
		done(w, nil)
	})
}
