// Package isolate is one loaded worker: its bundle evaluated in one engine, its
// env and entrypoints, and the dispatch of events to contexts. Stateless
// requests get a context each; durable objects (package durableobject) bring
// their own and share the isolate.
package isolate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/bundle"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/ecma"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/nodeapi"
	"minido.dev/minido/runtime/wasm"
	"minido.dev/minido/runtime/webapi"
	"minido.dev/minido/runtime/webapi/caches"
)

// Options describe a worker to load. Immutable once given to New.
type Options struct {
	Name      string // the script's name
	Scheduler sched.Scheduler
	Entropy   entropy.Source
	Bundle    *bundle.Bundle // nil: Use gives it
	Points    *killpoint.Points
	Log       engine.Logger
	Compat    func(flag compat.Flag) bool
	// Fetch is the way out of the worker.
	Fetch func(req *event.Request, done func(*event.Response, error)) (cancel func(error))
	// Caches is where the Cache API keeps responses; nil: there is none.
	Caches *caches.Store
	// Bindings are env; Environ is process.env.
	Bindings []cfapi.Binding
	Environ  func() map[string]string
	// Globals are values, as JSON, that only a worker in service-worker syntax has.
	Globals map[string]string
	// Namespaces are the durable object classes of this worker by class name:
	// they stand on ctx.exports.
	Namespaces map[string]cfapi.Namespace
	// Platform are classes of Durable Objects of the platform's own, by names that
	// no export has.
	Platform map[string]func(i *Isolate) *goja.Object
	// Tail is told of the worker's events; nil: it has no tail workers.
	Tail Tail
	// TurnLimit bounds the CPU time of a turn; 0 is the engine's default.
	TurnLimit time.Duration
	// Patience is engine.Options.Patience.
	Patience *engine.Patience
	// Subrequests bounds the requests that one event makes; 0 does not.
	Subrequests int
	// Watch is the clock of limits, Heap bounds memory; see engine.Options.
	Watch clock.Clock
	Heap  *engine.HeapWatch
	// Turns is told of turns; nil: nobody.
	Turns engine.TurnObserver
	// Skew is engine.Options.Skew.
	Skew func(label string) time.Duration
	// Logs is told what is logged before Log is; nil: nobody.
	Logs LogObserver
	// RunsTests is for an entry module that imports test files, as Cloudflare's pool
	// for vitest does: modules that are imported after the start are evaluated in the
	// context that imports them, with its I/O, instead of in the global scope; and the
	// exports, which are the tested module's, may be anything. A class of objects may have
	// a static method __minido_fetch__, which gets their requests in place of fetch: it is
	// called with the instance and the request.
	RunsTests bool
	// Condemned is called once, on the loop, when the isolate must be replaced.
	Condemned func(i *Isolate, reason error)
}

// Isolate is one loaded worker. Methods that do not say otherwise are
// loop-confined.
type Isolate struct {
	Engine   *engine.Engine
	Platform *webapi.Platform
	CF       *cfapi.API
	Memory   Memory

	opts       Options
	vm         *goja.Runtime
	wasm       *wasm.Store
	node       *nodeapi.Modules
	namespaces map[string]*goja.Object // of modules of the host, by specifier
	exports    *goja.Object            // the entry module's exports
	loopbacks  *goja.Object            // ctx.exports
	platform   map[string]*goja.Object
	queue      *queueEvents
	warned     warnings
	listens    bool // the worker is in service-worker syntax
	tail       *tailing
	execution  *engine.Class[*execution]
	tracing    *goja.Object                   // ctx.tracing, one for all; nil before the first
	reused     map[string]*goja.Object        // ctx by entrypoint, see handlerContext
	controller *engine.Class[*bool]           // of cron events; nil before the first
	requests   map[*engine.Context]*stateless // in progress
	dispatched int64                          // stateless events so far
	abandoned  bool
	ahead      *bundle.Ahead // until EvaluateAhead
	remotes    *remotes
	saying     []goja.Value // what console was given, until its text is logged
}

// New makes the isolate with its globals; Start evaluates the bundle.
func New(o Options) *Isolate {
	i := &Isolate{opts: o, requests: map[*engine.Context]*stateless{}, reused: map[string]*goja.Object{}, warned: warnings{}}
	i.remotes, i.Memory = newRemotes(i), Memory{i, map[*engine.Context]*goja.Object{}}
	i.Engine = ecma.New(engine.Options{
		Name: o.Name, Scheduler: o.Scheduler, Entropy: o.Entropy, Mapper: positions{i}, Logger: i.log, TurnLimit: o.TurnLimit, Patience: o.Patience, Watch: o.Watch, Heap: o.Heap, Turns: o.Turns, Skew: o.Skew, Subrequests: o.Subrequests,
		Untagged: !i.enabled(compat.SetTostringTag), PromisesOnly: !i.enabled(compat.UnwrapCustomThenables),
		Unowned:   !i.enabled(compat.HandleCrossRequestPromiseResolution),
		Condemned: i.condemned,
	})
	i.Engine.Hangs.Notify(i.hung)
	i.vm = i.Engine.VM()
	i.Platform = webapi.Install(i.Engine, webapi.Options{Fetch: o.Fetch, Compat: o.Compat, Go: o.Scheduler.Go, Caches: o.Caches})
	if o.Logs != nil {
		i.Platform.Console.Saying = func(args []goja.Value) { i.saying = args }
	}
	i.wasm = wasm.Install(i.Engine, wasm.Options{FromBytes: i.enabled(compat.AllowEvalDuringStartup)})
	i.CF = cfapi.Install(i.Engine, i.Platform, cfapi.Options{Points: o.Points, Compat: o.Compat, WaitUntil: i.waitUntil, Missing: missing(o.RunsTests), Module: func(code []byte) (goja.Value, error) { return moduleOf(i.wasm, code) }})
	i.node = nodeapi.New(i.Engine, i.Platform, nodeapi.Options{Env: o.Environ, Compat: o.Compat, Files: func() map[string][]byte { return i.opts.Bundle.Files() }, Import: i.builtin})
	i.tail = newTailing(i, o.Entropy.Fork("tail"))
	i.defineExecution()
	return i
}

// moduleOf is the WebAssembly.Module of a file, which is compiled at every compatibility date.
func moduleOf(store *wasm.Store, content []byte) (goja.Value, error) {
	code, err := wasm.Read(content)
	if err == nil {
		err = code.Compile()
	}
	if err != nil {
		return nil, err
	}
	return store.Module(code), nil
}

// Use gives the isolate its bundle, if Options had none. Call it once, before Start.
func Use(i *Isolate, b *bundle.Bundle) { i.opts.Bundle = b }

// enabled reports whether a compatibility flag is on.
func (i *Isolate) enabled(flag compat.Flag) bool {
	if i.opts.Compat == nil {
		return compat.Set{Date: compat.LatestDate}.On(flag)
	}
	return i.opts.Compat(flag)
}

// Name is the script's name. Safe for concurrent use.
func (i *Isolate) Name() string { return i.opts.Name }

// HasBuiltin says, before any isolate exists, which builtin modules a worker
// with these compatibility flags can import.
func HasBuiltin(on func(flag compat.Flag) bool) func(spec string) bool {
	return func(spec string) bool {
		switch spec {
		case "cloudflare:workers", "cloudflare:email", "cloudflare:sockets", "cloudflare:workflows":
			return true
		case "cloudflare:node":
			return on(compat.NodejsCompat)
		}
		return nodeapi.Offered(spec, on)
	}
}

// Start evaluates the bundle in a turn of the global scope and calls ready,
// once, on the loop: with nil when the worker's handlers can be called, or with
// what module code threw. Safe for concurrent use.
func (i *Isolate) Start(ready func(error)) {
	load := func() {
		thrown := i.Engine.Try(func() {
			i.CF.Bind(i.opts.Bindings)
			i.definePlatform()
			i.bindGlobals()
		})
		if thrown != nil { // a binding that cannot be made
			ready(startError(i, thrown))
			return
		}
		exports, pending, err := i.opts.Bundle.Load(i.vm, bundle.Host{Builtin: i.builtin, Enter: i.inGlobalScope, AsyncIterator: i.Engine.Primordial("AsyncIteratorPrototype"), Language: i.Engine.MarkLanguage, Wasm: i.wasm.Module, Registry: i.enabled(compat.NewModuleRegistry),
			Provides: func(spec string) bool { _, err := i.builtin(spec); return err == nil },
			Ahead:    func(a *bundle.Ahead) { i.ahead = a }})
		if err != nil {
			ready(i.describe(err))
			return
		}
		i.exports = exports
		if pending == nil {
			ready(i.prepare())
			return
		}
		answered := false
		answer := func(err error) {
			if !answered {
				answered = true
				ready(err)
			}
		}
		i.Engine.Await(i.vm.ToValue(pending.Promise), func(goja.Value) { answer(i.prepare()) }, func(reason goja.Value) { answer(startError(i, reason)) })
		// The global scope has no timers and no I/O: what its microtasks leave pending
		// stays so.
		i.Engine.Turns.After(func() {
			if pending.Promise.State() == goja.PromiseStatePending {
				answer(unsettled(pending))
			}
		})
	}
	err := i.Engine.PostLoop(func() {
		if reason := i.Engine.Health.CondemnedBy(); reason != nil { // it runs no turn any more
			ready(reason)
			return
		}
		i.Engine.Turns.Enter(engine.GlobalFrame, "load", load)
	})
	if err != nil {
		ready(err)
	}
}

// EvaluateAhead evaluates the modules that wait for their first use, each in a turn of
// its own behind what is queued on the loop, and compiles each off the loop before.
// Call it once, after Start has said that the worker is loaded. Safe for concurrent use.
func (i *Isolate) EvaluateAhead() {
	// An isolate that has ended drops what is posted.
	_ = i.Engine.PostLoop(func() {
		if a := i.ahead; a != nil {
			i.ahead = nil
			i.evaluateNext(a)
		}
	})
}

func (i *Isolate) evaluateNext(a *bundle.Ahead) {
	i.Engine.Background("bundle.ahead", func() {
		if a.Compile() {
			_ = i.Engine.Post(engine.GlobalFrame, "evaluate ahead", func() {
				a.Evaluate()
				i.evaluateNext(a)
			})
		}
	})
}

func (i *Isolate) inGlobalScope(fn func()) {
	if i.opts.RunsTests {
		fn()
		return
	}
	i.Engine.In(engine.GlobalFrame, fn)
}

// prepare makes ctx.exports: a loopback for each exported handler and class, in
// the reference's order. It fails if an export cannot be one.
func (i *Isolate) prepare() error {
	if err := i.checkExports(); err != nil {
		return err
	}
	i.serveEvents()
	var handlers, entrypoints, classes []string
	for _, name := range i.ExportNames() {
		v, ok := i.exports.Get(name).(*goja.Object)
		switch {
		case !ok:
		case name == defaultEntrypoint:
			handlers = append([]string{name}, handlers...)
		case !engine.IsCallable(v):
			handlers = append(handlers, name)
		case i.extends(v, i.CF.EntrypointClass()):
			entrypoints = append(entrypoints, name)
		default:
			classes = append(classes, name)
		}
	}
	i.loopbacks = i.vm.NewObject()
	for _, name := range append(handlers, entrypoints...) {
		i.loopbacks.Set(name, i.CF.LoopbackService(&entrypoint{i: i, name: name}))
	}
	for _, name := range classes {
		i.loopbacks.Set(name, i.CF.LoopbackObjects(name, i.opts.Namespaces[name]))
	}
	i.CF.SetExports(i.loopbacks)
	return nil
}

// checkExports refuses exports of the entry module that are neither functions nor
// objects, with workerd's text (jsg/modules.c++, api/global-scope.h).
func (i *Isolate) checkExports() error {
	if i.opts.RunsTests {
		return nil
	}
	for _, name := range i.opts.Bundle.ExportNames() {
		v := i.exports.Get(name)
		if _, ok := v.(*goja.Object); ok {
			continue
		}
		where, message := "", "Incorrect type for map entry '"+name+"': the provided value is not of type 'function or ExportedHandler'."
		if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
			message = "Cannot initialize N7workerd3api15ExportedHandlerE with required members from an undefined or null value."
			where = fmt.Sprintf("\n    at the export %q", name)
		}
		text := (&event.Error{Name: "TypeError", Message: message}).Error()
		return &StartError{"Uncaught " + text + where, text}
	}
	return nil
}

// HasCalls reports whether objects of a class can be called over RPC: those of a class that
// extends DurableObject, by the flag js_rpc all, and where tests run, since their classes
// are wrapped.
func HasCalls(i *Isolate, class *goja.Object) bool {
	return i.opts.RunsTests || i.enabled(compat.JsRpc) || i.extends(class, i.CF.DurableObjectClass())
}

// IsEntrypoint reports whether a class extends WorkerEntrypoint.
func IsEntrypoint(i *Isolate, class *goja.Object) bool {
	return i.extends(class, i.CF.EntrypointClass())
}

func (i *Isolate) extends(class, base *goja.Object) bool {
	for p := class.Prototype(); p != nil; p = p.Prototype() {
		if p.SameAs(base) {
			return true
		}
	}
	return false
}

// ExportNames are the names that the entry module exports, sorted.
func (i *Isolate) ExportNames() []string {
	names := i.opts.Bundle.ExportNames()
	if len(names) == 0 {
		names = i.exports.Keys()
	}
	sort.Strings(names)
	return names
}

// Classes are the names of the exported classes and functions, in order.
func (i *Isolate) Classes() []string {
	var names []string
	for _, name := range i.exports.Keys() {
		if _, ok := i.Class(name); ok {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// definePlatform makes the platform's own classes, before user code runs.
func (i *Isolate) definePlatform() {
	i.queue = i.newQueueEvents()
	i.platform = map[string]*goja.Object{}
	for _, name := range slices.Sorted(maps.Keys(i.opts.Platform)) {
		i.platform[name] = i.opts.Platform[name](i)
	}
}

// Class is the exported class of that name, or the platform's own; ok is false if
// there is none.
func (i *Isolate) Class(name string) (class *goja.Object, ok bool) {
	if class, ok = i.platform[name]; ok {
		return class, true
	}
	v, isObject := i.exports.Get(name).(*goja.Object)
	if !isObject || !engine.IsCallable(v) {
		return nil, false
	}
	return v, true
}

// missing are the texts for what an entrypoint or an object lacks: where tests run, those of
// Cloudflare's plugin for vitest (vitest-plugin 1.5.0).
func missing(tests bool) func(obj *goja.Object, name string, own bool) string {
	if !tests {
		return nil
	}
	return func(obj *goja.Object, name string, own bool) string {
		if class, ok := obj.Get("constructor").(*goja.Object); ok {
			if text := class.Get("__minido_missing__"); text != nil {
				return text.String()
			}
		}
		if !own {
			return fmt.Sprintf("The RPC receiver does not implement %q.", name)
		}
		return fmt.Sprintf("The RPC receiver's prototype does not implement %q, but the receiver instance does.\nOnly properties and methods defined on the prototype can be accessed over RPC.\n"+
			"Ensure properties are declared like `get %[1]s() { ... }` instead of `%[1]s = ...`,\nand methods are declared like `%[1]s() { ... }` instead of `%[1]s = () => { ... }`.", name)
	}
}

// ObjectEntry is the static method of a class that gets its objects' requests, nil unless
// the isolate i runs tests and the class has one. Loop-confined.
func ObjectEntry(i *Isolate, class *goja.Object) goja.Value {
	if i.opts.RunsTests {
		if fn := class.Get("__minido_fetch__"); engine.IsCallable(fn) {
			return fn
		}
	}
	return nil
}

// Exports is ctx.exports.
func (i *Isolate) Exports() *goja.Object { return i.loopbacks }

// Close ends the isolate: events that wait are dropped. It returns when the
// loop has ended or ctx is done. Not to be called on the loop.
func (i *Isolate) Close(ctx context.Context) error {
	i.Engine.Close()
	select {
	case <-i.Engine.Done():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close isolate %s: a turn is still running: %w", i.opts.Name, ctx.Err())
	}
}
