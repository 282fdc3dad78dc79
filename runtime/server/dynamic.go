package server

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dop251/goja"

	"minido.dev/minido/durableobject"
	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/bundle"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/isolate"
)

// dynamics loads the workers whose code a worker hands over (driver.Session.Load).
// Safe for concurrent use.
type dynamics struct {
	opts    Options
	primary func() *config.Project // the session's first worker, whose way to the network is theirs

	mu    sync.Mutex // guards loads
	loads int        // so far
}

// dynamicWorker implements driver.Loaded.
type dynamicWorker struct {
	iso     *isolate.Isolate
	realm   *durableobject.Realm // on its loop, once it is loaded
	dir     string               // of its modules
	exports []string             // immutable once it is loaded
	ended   atomic.Bool
}

// Entrypoint implements driver.Loaded.
func (w *dynamicWorker) Entrypoint(name string, props *event.Payload) cfapi.Target {
	return w.iso.Entrypoint(name, props)
}

// Exports implements driver.Loaded.
func (w *dynamicWorker) Exports(name string) bool { return slices.Contains(w.exports, name) }

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
			done(nil, notStarted(err))
			return
		}
		d.start(w, n, code, p, b, done)
	})
}

// notStarted is the reference's error of a worker whose modules did not load.
func notStarted(err error) error {
	text := err.Error()
	var built *bundle.BuildError
	var start *isolate.StartError
	switch {
	case errors.As(err, &built):
		text = "Uncaught " + built.Uncaught()
	case errors.As(err, &start):
		text = "Uncaught " + start.Uncaught
	}
	return &event.Error{Message: "Failed to start Worker:\n" + text}
}

// refuseModule is workerd's refusal of a worker's modules before any is evaluated, nil if it
// refuses none.
func refuseModule(code driver.Code) error {
	text := ""
	main := slices.IndexFunc(code.Modules, func(m driver.Module) bool { return path.Clean(m.Name) == path.Clean(code.Main) })
	switch {
	case main < 0:
		text = "Uncaught Error: No such module: " + path.Clean(code.Main)
	case code.Modules[main].Kind != "js":
		text = "Uncaught TypeError: Main module must be an ES module."
	case slices.ContainsFunc(code.Modules, func(m driver.Module) bool { return m.Kind == "json" && string(m.Content) == "undefined" }):
		text = "Uncaught SyntaxError: \"undefined\" is not valid JSON\n:1" // all else was JSON before
	}
	if text == "" {
		return nil
	}
	return errors.New(text)
}

// bundle writes the modules to a directory of their own and links them.
func (d *dynamics) bundle(code driver.Code, w *dynamicWorker) (*bundle.Bundle, *config.Project, error) {
	name := code.Name
	if name == "" {
		name = "dynamic"
	}
	p := &config.Project{Name: name, CompatibilityDate: code.Date, CompatibilityFlags: code.Flags}
	if err := refuseModule(code); err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "minido-worker-*")
	if err != nil {
		return nil, nil, fmt.Errorf("worker loader: %w", err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, nil, fmt.Errorf("worker loader: %w", err)
	}
	w.dir = dir
	o := bundle.Options{Dir: dir, Entry: path.Clean(code.Main), NoBundle: true, NoDefer: true, Named: map[string]string{}, Builtins: isolate.HasBuiltin(p.Compat), Exports: cfapi.ModuleNames}
	globs := map[bundle.ModuleType][]string{}
	for _, m := range code.Modules {
		name := path.Clean(m.Name)
		if !filepath.IsLocal(name) {
			return nil, nil, fmt.Errorf("worker loader: the module name %q leads out of the worker", m.Name)
		}
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return nil, nil, fmt.Errorf("worker loader: %w", err)
		}
		if err := os.WriteFile(file, m.Content, 0o600); err != nil {
			return nil, nil, fmt.Errorf("worker loader: %w", err)
		}
		kind := moduleRules[m.Kind]
		globs[kind] = append(globs[kind], name)
		o.Named[name] = file
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

// environOf is process.env of a worker that was loaded: what of env is text or JSON. On the
// loop of its isolate; env is nil where there is none.
func environOf(p *config.Project, iso *isolate.Isolate, names []string, env *goja.Object) map[string]string {
	texts := map[string]string{}
	if env == nil || !p.Compat(compat.NodejsCompatPopulateProcessEnv) {
		return texts
	}
	stringify := iso.Engine.Primordial("JSONStringify")
	for _, name := range names {
		switch v := env.Get(name); {
		case v == nil || !isJSON(iso, v):
		case goja.IsString(v):
			texts[name] = v.String()
		default:
			texts[name] = iso.Engine.Call(stringify, goja.Undefined(), v).String()
		}
	}
	return texts
}

// isJSON reports whether a value that was cloned is what JSON can say.
func isJSON(iso *isolate.Isolate, v goja.Value) bool {
	o, ok := v.(*goja.Object)
	if !ok {
		kind := v.ExportType()
		return goja.IsNull(v) || kind != nil && (kind.Kind() == reflect.String || kind.Kind() == reflect.Bool || kind.Kind() == reflect.Int64 || kind.Kind() == reflect.Float64)
	}
	proto := o.Prototype()
	if o.ClassName() != "Array" && (proto == nil || !proto.SameAs(iso.Engine.VM().NewObject().Prototype())) {
		return false
	}
	for _, key := range o.Keys() {
		if !isJSON(iso, o.Get(key)) {
			return false
		}
	}
	return true
}

func (d *dynamics) start(w *dynamicWorker, n int, code driver.Code, p *config.Project, b *bundle.Bundle, done func(driver.Loaded, error)) {
	fetch := wayOut(d.opts.Dialer.Do, d.primary())
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
		Environ: func() map[string]string { return environOf(p, w.iso, code.EnvNames, env) }, TurnLimit: limit, Watch: d.opts.machine(), Heap: d.opts.Heap, Skew: d.opts.Skew,
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
			done(nil, notStarted(err))
			return
		}
		w.exports = b.ExportNames()
		w.realm = durableobject.NewRealm(w.iso, d.opts.Points, p.Compat, func(string) bool { return false })
		done(w, nil)
	})
}
