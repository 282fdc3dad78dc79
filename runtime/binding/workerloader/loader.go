// Package workerloader is the Worker Loader: workers whose code a worker hands
// over while it runs, each in an isolate of its own.
package workerloader

import (
	"bytes"
	_ "embed"
	"slices"
	"sync"
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

//go:embed loader.js
var source string

var prelude = engine.NewPrelude("worker-loader.js", source)

// maxUnnamed bounds the isolates of workers without a name: the oldest ends when
// another one is loaded.
const maxUnnamed = 32

// loaders are all workers that were loaded in a session. Safe for concurrent use.
type loaders struct {
	driver.Stateless
	session *driver.Session

	mu      sync.Mutex // guards the fields below
	closed  bool
	all     map[*dynamic]bool
	unnamed []*dynamic
}

// New makes the driver of Worker Loaders.
func New(s *driver.Session) driver.Driver {
	return &loaders{session: s, all: map[*dynamic]bool{}}
}

// Make implements driver.Driver. Names are kept for as long as the isolate that
// asks for them.
func (d *loaders) Make(a *cfapi.API, w driver.Worker, _ config.Binding) goja.Value {
	l := &loader{api: a, owner: d, named: map[string]*dynamic{}}
	native := a.Engine.Native(
		engine.Func{Name: "get", Length: 1, Fn: l.get},
		engine.Func{Name: "provide", Length: 10, Fn: l.provide},
		engine.Func{Name: "fail", Length: 2, Fn: l.fail},
		engine.Func{Name: "entrypoint", Length: 3, Fn: l.entrypoint},
		engine.Func{Name: "objectClass", Length: 3, Fn: l.objectClass},
	)
	native.Set("experimental", slices.Contains(w.Project().CompatibilityFlags, "experimental"))
	return a.Engine.Load(prelude, native)
}

// Close implements driver.Driver.
func (d *loaders) Close() error {
	d.mu.Lock()
	d.closed = true
	all := d.all
	d.all = map[*dynamic]bool{}
	d.mu.Unlock()
	for worker := range all { // order-independent: each has an isolate of its own
		worker.close()
	}
	return nil
}

func (d *loaders) add(worker *dynamic, named bool) {
	d.mu.Lock()
	var oldest *dynamic
	d.all[worker] = true
	if !named {
		d.unnamed = append(d.unnamed, worker)
		if len(d.unnamed) > maxUnnamed {
			oldest = d.unnamed[0]
			d.unnamed = d.unnamed[1:]
			delete(d.all, oldest)
		}
	}
	d.mu.Unlock()
	if oldest != nil {
		oldest.close()
	}
}

// loader is the binding of one isolate. Loop-confined.
type loader struct {
	api   *cfapi.API
	owner *loaders
	named map[string]*dynamic
}

// get is get(name): the worker, and whether its code is still wanted.
func (l *loader) get(call goja.FunctionCall) goja.Value {
	vm := l.api.Engine.VM()
	l.api.Engine.IO("a Worker Loader")
	answer := func(worker *dynamic, fresh bool) goja.Value {
		handle := vm.NewObject()
		l.api.Engine.Attach(handle, worker)
		return vm.NewArray(handle, fresh)
	}
	name := call.Argument(0)
	if goja.IsUndefined(name) {
		worker := &dynamic{load: l.owner.session.Load}
		l.owner.add(worker, false)
		return answer(worker, true)
	}
	if known := l.named[name.String()]; known != nil && known.usable() {
		return answer(known, false)
	}
	worker := &dynamic{name: name.String(), load: l.owner.session.Load}
	l.named[name.String()] = worker
	l.owner.add(worker, true)
	return answer(worker, true)
}

func (l *loader) worker(v goja.Value) *dynamic {
	worker, ok := l.api.Engine.Attached(v).(*dynamic)
	if !ok {
		panic(l.api.Engine.VM().NewTypeError(engine.IllegalInvocation))
	}
	return worker
}

// fail is fail(worker, error): its code did not come.
func (l *loader) fail(call goja.FunctionCall) goja.Value {
	l.worker(call.Argument(0)).fail(l.api.Failure(call.Argument(1)))
	return goja.Undefined()
}

// Bounds of what is handed over, in bytes (workerd: api/worker-loader.c++).
const (
	maxCodeBytes = 64 << 20
	maxEnvBytes  = 1 << 20
)

// tails are the targets of a list of services.
func (l *loader) tails(field string, list goja.Value) (targets []cfapi.Target) {
	o := list.ToObject(l.api.Engine.VM())
	for _, key := range o.Keys() {
		c, _ := l.api.TargetOf(o.Get(key))
		target, ok := c.(cfapi.Target)
		if !ok {
			l.api.Engine.Throw("TypeError", "Incorrect type for the '%s' field on 'WorkerCode': the provided value is not of type 'Fetcher'.", field)
		}
		targets = append(targets, target)
	}
	return targets
}

// provide is provide(worker, date, flags, main, modules, env, outbound, tails, limits,
// streamingTails).
func (l *loader) provide(call goja.FunctionCall) goja.Value {
	a, vm := l.api, l.api.Engine.VM()
	worker := l.worker(call.Argument(0))
	code := driver.Code{Name: worker.name, Date: call.Argument(1).String(), Main: call.Argument(3).String()}
	for _, key := range call.Argument(2).ToObject(vm).Keys() {
		code.Flags = append(code.Flags, call.Argument(2).ToObject(vm).Get(key).String())
	}
	list, size := call.Argument(4).ToObject(vm), 0
	for _, key := range list.Keys() {
		o := list.Get(key).(*goja.Object)
		m := driver.Module{Name: o.Get("name").String(), Kind: o.Get("kind").String()}
		if data := o.Get("data"); data != nil {
			var view []byte
			if err := vm.ExportTo(data, &view); err != nil {
				a.Engine.Rethrow(err)
			}
			m.Content = bytes.Clone(view)
		} else {
			m.Content = []byte(o.Get("text").String())
		}
		code.Modules = append(code.Modules, m)
		size += len(m.Content)
	}
	if size > maxCodeBytes {
		a.Engine.Throw("Error", "Dynamic Worker code size (%d bytes) exceeds the maximum allowed size of %d bytes.", size, maxCodeBytes)
	}
	if env, ok := call.Argument(5).(*goja.Object); ok {
		code.EnvNames = env.Keys()
		code.Env = a.Pack(env)
		if n := len(code.Env.Bytes); n > maxEnvBytes {
			a.Engine.Throw("Error", "Dynamic Worker env size (%d bytes) exceeds the maximum allowed size of %d bytes.", n, maxEnvBytes)
		}
	}
	code.Tails = l.tails("tails", call.Argument(7))
	code.StreamingTails = l.tails("streamingTails", call.Argument(9))
	limits := call.Argument(8).ToObject(vm)
	if ms := limits.Get("cpuMs"); !goja.IsUndefined(ms) {
		code.CPU = time.Duration(ms.ToFloat() * float64(time.Millisecond))
	}
	if n := limits.Get("subRequests"); !goja.IsUndefined(n) {
		code.Subrequests = int(n.ToInteger())
	}
	switch outbound := call.Argument(6); {
	case goja.IsUndefined(outbound):
	case goja.IsNull(outbound):
		code.Outbound = forbidden{}
	default:
		c, _ := a.TargetOf(outbound)
		target, ok := c.(cfapi.Target)
		if !ok {
			a.Engine.Throw("TypeError", "Incorrect type for the 'globalOutbound' field on 'WorkerCode': the provided value is not of type 'Fetcher'.")
		}
		code.Outbound = target
	}
	worker.provide(code)
	return goja.Undefined()
}

// entrypoint is entrypoint(worker, name, props).
func (l *loader) entrypoint(call goja.FunctionCall) goja.Value {
	var props *event.Payload
	if given, ok := call.Argument(2).(*goja.Object); ok {
		props = l.api.Pack(given)
	}
	return l.api.Service(&target{l.worker(call.Argument(0)), call.Argument(1).String(), props})
}

// objectClass is objectClass(worker, name, props). Facets are made of it.
func (l *loader) objectClass(call goja.FunctionCall) goja.Value {
	worker := l.worker(call.Argument(0))
	c := &cfapi.ObjectClass{Name: call.Argument(1).String(), Home: func(done func(any, error)) {
		worker.forObjects(l.api.Engine).when(func(loaded driver.Loaded, err error) {
			if err != nil {
				done(nil, err)
				return
			}
			done(loaded.Home(), nil)
		})
	}}
	if given, ok := call.Argument(2).(*goja.Object); ok {
		c.Props = l.api.Pack(given)
	}
	return c.In(l.api)
}

// dynamic is a worker that is loaded when it is first used, once its code is there. Safe
// for concurrent use.
type dynamic struct {
	name string // "" for one without
	load func(driver.Code, func(driver.Loaded, error))

	mu      sync.Mutex   // guards the fields below
	code    *driver.Code // nil before it was handed over
	loading bool
	settled bool
	closed  bool
	loaded  driver.Loaded
	err     error
	waiting []func() // calls that came before the code, in order
	// objects is the same code in an isolate on the loop of the objects that have
	// facets of its classes; nil: there are none.
	objects *dynamic
}

func (w *dynamic) usable() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.closed && w.err == nil && (w.loaded == nil || w.loaded.Alive()) && (w.objects == nil || w.objects.usable())
}

// provide hands the code over.
func (w *dynamic) provide(code driver.Code) {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		release(code)
		return
	}
	w.code = &code
	objects := w.objects
	w.mu.Unlock()
	if objects != nil {
		objects.provide(withEnv(code))
	}
	w.begin()
}

// begin loads the code when it is there and somebody waits for it.
func (w *dynamic) begin() {
	w.mu.Lock()
	if w.code == nil || w.loading || w.closed || len(w.waiting) == 0 {
		w.mu.Unlock()
		return
	}
	w.loading = true
	code := withEnv(*w.code)
	w.mu.Unlock()
	w.load(code, w.settle)
}

// release gives up what the env of code refers to.
func release(code driver.Code) {
	if code.Env == nil {
		return
	}
	for _, reference := range code.Env.Caps {
		if capability, ok := reference.(event.Capability); ok {
			capability.Release()
		}
	}
}

// withEnv is the code with an env of its own: who loads it takes that over.
func withEnv(code driver.Code) driver.Code {
	if code.Env != nil {
		code.Env = copied(code.Env)
	}
	return code
}

// copied is a payload with references of its own.
func copied(p *event.Payload) *event.Payload {
	c := &event.Payload{Bytes: p.Bytes, Caps: slices.Clone(p.Caps)}
	for i, reference := range c.Caps {
		if capability, ok := reference.(event.Capability); ok {
			c.Caps[i] = capability.Dup()
		}
	}
	return c
}

func (w *dynamic) settle(loaded driver.Loaded, err error) {
	w.mu.Lock()
	if w.settled || w.closed {
		w.mu.Unlock()
		if loaded != nil {
			loaded.Close()
		}
		return
	}
	w.settled, w.loaded, w.err = true, loaded, err
	waiting := w.waiting
	w.waiting = nil
	w.mu.Unlock()
	for _, fn := range waiting {
		fn()
	}
}

// fail says that the code did not come, to those who wait for its objects, too.
func (w *dynamic) fail(err error) {
	w.mu.Lock()
	objects := w.objects
	w.mu.Unlock()
	w.settle(nil, err)
	if objects != nil {
		objects.settle(nil, err)
	}
}

// errEnded is what callers of a worker get whose isolate had to make room, or
// whose session ends.
var errEnded = &event.Error{Message: "The dynamic worker has been unloaded; load it again, or give it a name."}

func (w *dynamic) close() {
	w.mu.Lock()
	loaded, waiting, objects := w.loaded, w.waiting, w.objects
	if !w.closed {
		w.closed, w.err = true, errEnded
		if w.code != nil {
			release(*w.code)
		}
	}
	w.waiting = nil
	w.mu.Unlock()
	for _, fn := range waiting {
		fn()
	}
	if loaded != nil {
		loaded.Close()
	}
	if objects != nil {
		objects.close()
	}
}

// forObjects is the same code on the loop of e, for objects of its classes.
func (w *dynamic) forObjects(e *engine.Engine) *dynamic {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.objects == nil {
		w.objects = &dynamic{name: w.name, load: w.load, closed: w.closed}
		w.objects.load = func(code driver.Code, done func(driver.Loaded, error)) {
			code.Beside = e
			w.load(code, done)
		}
		switch {
		case w.err != nil:
			w.objects.settled, w.objects.err = true, w.err
		case w.code != nil:
			code := withEnv(*w.code)
			w.objects.code = &code
		}
	}
	return w.objects
}

// when calls fn with the worker once it is loaded, or with why it is not.
func (w *dynamic) when(fn func(driver.Loaded, error)) {
	w.mu.Lock()
	if !w.settled && !w.closed {
		w.waiting = append(w.waiting, func() { w.when(fn) })
		w.mu.Unlock()
		w.begin()
		return
	}
	loaded, err := w.loaded, w.err
	w.mu.Unlock()
	fn(loaded, err)
}

// target is an entrypoint of a dynamic worker. Safe for concurrent use.
type target struct {
	worker *dynamic
	name   string
	props  *event.Payload
}

var _ cfapi.Target = (*target)(nil)

// Dup implements event.Capability; entrypoints need no counting.
func (t *target) Dup() event.Capability { return t }

// Release implements event.Capability.
func (t *target) Release() {}

// Call implements event.Capability.
func (t *target) Call(c *event.Call, done func(*event.Payload, error)) {
	t.worker.when(func(loaded driver.Loaded, err error) {
		if err != nil {
			done(nil, err)
			return
		}
		loaded.Entrypoint(t.name, t.props).Call(c, done)
	})
}

// Fetch implements cfapi.Target.
func (t *target) Fetch(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	var mu sync.Mutex // guards stop and gone
	var stop func(error)
	var gone error
	t.worker.when(func(loaded driver.Loaded, err error) {
		if err != nil {
			done(nil, err)
			return
		}
		begun := loaded.Entrypoint(t.name, t.props).Fetch(req, done)
		mu.Lock()
		stop = begun
		reason := gone
		mu.Unlock()
		if reason != nil {
			begun(reason)
		}
	})
	return func(reason error) {
		mu.Lock()
		gone = reason
		begun := stop
		mu.Unlock()
		if begun != nil {
			begun(reason)
		}
	}
}

// forbidden is globalOutbound null: the worker has no way out but its bindings
// (workerd: server/server.c++).
type forbidden struct{}

var _ cfapi.Target = forbidden{}

// Dup implements event.Capability.
func (t forbidden) Dup() event.Capability { return t }

// Release implements event.Capability.
func (forbidden) Release() {}

const forbiddenText = "This worker is not permitted to access the internet via global functions like fetch(). It must use capabilities (such as bindings in 'env') to talk to the outside world."

// Call implements event.Capability.
func (forbidden) Call(_ *event.Call, done func(*event.Payload, error)) {
	done(nil, &event.Error{Message: forbiddenText})
}

// Fetch implements cfapi.Target.
func (forbidden) Fetch(_ *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	done(nil, &event.Error{Message: forbiddenText})
	return func(error) {}
}
