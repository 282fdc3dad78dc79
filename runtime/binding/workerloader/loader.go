// Package workerloader is the Worker Loader: workers whose code is supplied at run
// time by another worker, each in an isolate of its own.
package workerloader

import (
	"bytes"
	_ "embed"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/binding/workerloader/dynamic"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webidl"
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
	all     map[*dynamic.Worker]bool
	unnamed []*dynamic.Worker
}

// New makes the driver of Worker Loaders.
func New(s *driver.Session) driver.Driver {
	return &loaders{session: s, all: map[*dynamic.Worker]bool{}}
}

// Make implements driver.Driver. Names are kept for as long as the isolate that
// asks for them.
func (d *loaders) Make(a *cfapi.API, w driver.Worker, _ config.Binding) goja.Value {
	l := &loader{api: a, owner: d, named: map[string]*dynamic.Worker{}, experimental: slices.Contains(w.Project().CompatibilityFlags, "experimental")}
	l.js = a.Engine.Load(prelude, a.Engine.Native(
		engine.Func{Name: "isBuffer", Length: 1, Fn: l.test(webidl.IsArrayBuffer)},
		engine.Func{Name: "isFetcher", Length: 1, Fn: l.test(func(v goja.Value) bool { return l.fetcher(v) != nil })},
		engine.Func{Name: "isModule", Length: 1, Fn: l.test(func(v goja.Value) bool {
			return a.Engine.Call(a.Engine.Primordial("ObjectPrototypeToString"), goja.Undefined(), v).String() == "[object WebAssembly.Module]"
		})},
	)).ToObject(a.Engine.VM())
	l.stubs = engine.DefineClass(a.Engine, engine.ClassDef[*stub]{Name: "WorkerStub", Methods: []engine.Method[*stub]{
		{Name: "getEntrypoint", Fn: l.entrypoint},
		{Name: "getDurableObjectClass", Fn: l.objectClass},
	}})
	return engine.DefineClass(a.Engine, engine.ClassDef[*loader]{Name: "WorkerLoader", Methods: []engine.Method[*loader]{
		{Name: "get", Fn: (*loader).get},
		{Name: "load", Fn: (*loader).load},
	}}).Wrap(l)
}

// Close implements driver.Driver.
func (d *loaders) Close() error {
	d.mu.Lock()
	d.closed = true
	all := d.all
	d.all = map[*dynamic.Worker]bool{}
	d.mu.Unlock()
	for worker := range all { // order-independent: each has an isolate of its own
		worker.Close()
	}
	return nil
}

func (d *loaders) add(worker *dynamic.Worker, named bool) {
	d.mu.Lock()
	var oldest *dynamic.Worker
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
		oldest.Close()
	}
}

// loader is the binding of one isolate. Loop-confined.
type loader struct {
	api          *cfapi.API
	owner        *loaders
	js           *goja.Object // what loader.js returns
	stubs        *engine.Class[*stub]
	named        map[string]*dynamic.Worker
	experimental bool // the worker that loads has the flag of this name
}

// stub is a WorkerStub.
type stub struct{ worker *dynamic.Worker }

// test is a function of loader.js that asks something of a value.
func (l *loader) test(is func(goja.Value) bool) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value { return l.api.Engine.VM().ToValue(is(call.Argument(0))) }
}

// fetcher is what a service stub, or an entrypoint of ctx.exports, reaches; nil for
// anything else.
func (l *loader) fetcher(v goja.Value) cfapi.Target {
	if target, ok := cfapi.LoopbackTarget(l.api, v); ok {
		return target
	}
	c, _ := l.api.TargetOf(v)
	target, _ := c.(cfapi.Target)
	return target
}

// get is get(name, getCode). The code is asked for in a turn of its own, unless that
// was done before.
func (l *loader) get(call goja.FunctionCall) goja.Value {
	a := l.api
	if len(call.Arguments) == 0 {
		a.Engine.Throw("TypeError", "Failed to execute 'get' on 'WorkerLoader': parameter 1 is not of type 'string'.")
	}
	name := ""
	isNamed := !webidl.IsMissing(call.Argument(0))
	if isNamed {
		name = a.Platform.ToString(call.Argument(0)).String()
	}
	getCode := call.Argument(1)
	if !engine.IsCallable(getCode) {
		a.Engine.Throw("TypeError", "Failed to execute 'get' on 'WorkerLoader': parameter 2 is not of type 'function'.")
	}
	op := a.Engine.StartOp("a Worker Loader")
	worker := dynamic.New(name, l.owner.session.Load)
	if isNamed {
		if known := l.named[name]; known != nil && known.Usable() {
			op.Drop()
			return l.stubs.Wrap(&stub{known})
		}
		l.named[name] = worker
	}
	l.owner.add(worker, isNamed)
	promise := op.Promise()
	failed := func(reason goja.Value) {
		failure := a.Failure(reason)
		failure.Remote = false // it comes from the worker that asks
		worker.Fail(failure)
	}
	a.Engine.Await(promise, func(code goja.Value) {
		if thrown := a.Engine.Try(func() { l.provide(worker, code) }); thrown != nil {
			failed(thrown)
		}
	}, failed)
	op.Resolve("a Worker Loader", func() goja.Value {
		code := a.Engine.Call(getCode, a.Engine.VM().GlobalObject())
		if _, ok := code.(*goja.Object); !ok && !webidl.IsMissing(code) {
			a.Engine.Throw("TypeError", "Callback returned incorrect type; expected 'Promise'")
		}
		return code
	})
	return l.stubs.Wrap(&stub{worker})
}

// load is load(code).
func (l *loader) load(call goja.FunctionCall) goja.Value {
	l.api.Engine.IO("a Worker Loader")
	code := call.Argument(0)
	if _, ok := code.(*goja.Object); !ok && (len(call.Arguments) == 0 || !webidl.IsMissing(code)) {
		l.api.Engine.Throw("TypeError", "Failed to execute 'load' on 'WorkerLoader': parameter 1 is not of type 'WorkerCode'.")
	}
	worker := dynamic.New("", l.owner.session.Load)
	l.provide(worker, code)
	l.owner.add(worker, false)
	return l.stubs.Wrap(&stub{worker})
}

// Bounds of what is handed over, in bytes (workerd: api/worker-loader.c++).
const (
	maxCodeBytes = 64 << 20
	maxEnvBytes  = 1 << 20
)

// targets are those of a list of stubs.
func (l *loader) targets(list goja.Value) (targets []cfapi.Target) {
	o := list.ToObject(l.api.Engine.VM())
	for _, key := range o.Keys() {
		targets = append(targets, l.mayPass(o.Get(key)))
	}
	return targets
}

// mayPass is what a stub reaches that is given to another worker.
func (l *loader) mayPass(v goja.Value) cfapi.Target {
	target := l.fetcher(v)
	if u, ok := target.(cfapi.Unsendable); ok {
		l.api.Platform.ThrowDOM("DataCloneError", "%s", u.Unsendable())
	}
	return target
}

// provide reads a WorkerCode and hands it over.
func (l *loader) provide(worker *dynamic.Worker, given goja.Value) {
	a, vm := l.api, l.api.Engine.VM()
	if webidl.IsMissing(given) {
		a.Engine.Throw("TypeError", "Cannot initialize N7workerd3api12WorkerLoader10WorkerCodeE with required members from an undefined or null value.")
	}
	if _, ok := given.(*goja.Object); !ok {
		a.Engine.Throw("TypeError", "Incorrect type for Promise: the Promise did not resolve to 'WorkerCode'.")
	}
	read := a.Engine.Call(l.js.Get("read"), goja.Undefined(), given).ToObject(vm)
	code := driver.Code{Name: worker.Name(), Date: read.Get("date").String(), Main: read.Get("main").String()}
	list, size := read.Get("modules").ToObject(vm), 0
	for _, key := range list.Keys() {
		o := list.Get(key).(*goja.Object)
		m := driver.Module{Name: o.Get("name").String(), Kind: o.Get("kind").String()}
		if data := o.Get("data"); data != nil {
			view, _ := a.Platform.BytesOf(data)
			m.Content = bytes.Clone(view)
		} else {
			m.Content = []byte(webidl.UTF8Of(a.Platform.ToString(o.Get("text"))))
		}
		code.Modules = append(code.Modules, m)
		size += len(m.Content)
	}
	if size > maxCodeBytes {
		a.Engine.Throw("Error", "Dynamic Worker code size (%d bytes) exceeds the maximum allowed size of %d bytes.", size, maxCodeBytes)
	}
	experimental := read.Get("allowExperimental").ToBoolean()
	if experimental && !l.experimental {
		a.Engine.Throw("Error", "'allowExperimental' is only allowed when the calling worker has the 'experimental' compat flag set.")
	}
	flags := read.Get("flags").ToObject(vm)
	for _, key := range flags.Keys() {
		code.Flags = append(code.Flags, flags.Get(key).String())
	}
	if err := (compat.Set{Date: code.Date, Asked: code.Flags}).Check(experimental); err != nil {
		a.Engine.Throw("Error", "%s", err)
	}
	if env, ok := read.Get("env").(*goja.Object); ok {
		code.EnvNames = env.Keys()
		code.Env = cfapi.PackProps(a, env)
		if n := len(code.Env.Bytes); n > maxEnvBytes {
			a.Engine.Throw("Error", "Dynamic Worker env size (%d bytes) exceeds the maximum allowed size of %d bytes.", n, maxEnvBytes)
		}
	}
	switch outbound := read.Get("outbound"); {
	case goja.IsUndefined(outbound):
	case goja.IsNull(outbound):
		code.Outbound = forbidden{}
	default:
		code.Outbound = l.mayPass(outbound)
	}
	code.Tails = l.targets(read.Get("tails"))
	if read.Get("follows").ToBoolean() && !experimental {
		a.Engine.Throw("Error", "Streaming tail workers are experimental. You must pass the option 'allowExperimental: true' to the worker loader to use them")
	}
	code.StreamingTails = l.targets(read.Get("streamingTails"))
	limits := read.Get("limit").ToObject(vm)
	if ms := limits.Get("cpuMs"); !webidl.IsUndefined(ms) {
		code.CPU = time.Duration(ms.ToInteger()) * time.Millisecond
	}
	if n := limits.Get("subRequests"); !webidl.IsUndefined(n) {
		code.Subrequests = int(n.ToInteger())
	}
	worker.Provide(code)
}

// chosen reads the arguments of a method of a stub: the name of an export, and props.
func (l *loader) chosen(method string, call goja.FunctionCall) (name string, props *event.Payload) {
	name = defaultName
	if v := call.Argument(0); !webidl.IsMissing(v) {
		name = l.api.Platform.ToString(v).String()
	}
	given := l.api.Engine.Call(l.js.Get("options"), goja.Undefined(), l.api.Engine.String(method), call.Argument(1))
	if o, ok := given.(*goja.Object); ok {
		props = cfapi.PackProps(l.api, o)
	}
	return name, props
}

// defaultName is the name of the default export.
const defaultName = "default"

// entrypoint is getEntrypoint(name, options).
func (l *loader) entrypoint(s *stub, call goja.FunctionCall) goja.Value {
	name, props := l.chosen("getEntrypoint", call)
	return l.api.Service(&target{s.worker, name, props})
}

// objectClass is getDurableObjectClass(name, options). Facets are made of it.
func (l *loader) objectClass(s *stub, call goja.FunctionCall) goja.Value {
	name, props := l.chosen("getDurableObjectClass", call)
	c := &cfapi.ObjectClass{Name: name, Props: props, Home: func(done func(any, error)) {
		s.worker.ForObjects(l.api.Engine).When(func(loaded driver.Loaded, err error) {
			if err != nil {
				done(nil, err)
				return
			}
			done(loaded.Home(), nil)
		})
	}}
	return c.In(l.api)
}

// target is an entrypoint of a dynamic worker. Safe for concurrent use.
type target struct {
	worker *dynamic.Worker
	name   string
	props  *event.Payload
}

var _ cfapi.Target = (*target)(nil)

var _ cfapi.Unsendable = (*target)(nil)

// Unsendable implements cfapi.Unsendable: nobody but the worker that loaded it can load
// it again.
func (*target) Unsendable() string {
	return "Entrypoints to dynamically-loaded workers cannot be transferred to other Workers, because the system does not know how to reload this Worker from scratch. Instead, have the parent Worker expose an entrypoint which constructs the dynamic worker and forwards to it."
}

// missing is why nothing can be called, nil if it can: the worker was not loaded, or has no
// such export.
func (t *target) missing(loaded driver.Loaded, err error) error {
	if err == nil && t.name != defaultName && !loaded.Exports(t.name) {
		return &event.Error{Message: "Worker has no such entrypoint: " + t.name}
	}
	return err
}

// remote marks an error as one that has come from another worker.
func remote(err error) error {
	var e *event.Error
	if !errors.As(err, &e) || e.Remote {
		return err
	}
	told := *e
	told.Remote = true
	return &told
}

// Dup implements event.Capability; entrypoints need no counting.
func (t *target) Dup() event.Capability { return t }

// Release implements event.Capability.
func (t *target) Release() {}

// Call implements event.Capability.
func (t *target) Call(c *event.Call, done func(*event.Payload, error)) {
	t.worker.When(func(loaded driver.Loaded, err error) {
		if err = t.missing(loaded, err); err != nil {
			done(nil, err)
			return
		}
		loaded.Entrypoint(t.name, t.props).Call(c, func(p *event.Payload, err error) { done(p, remote(err)) })
	})
}

// Fetch implements cfapi.Target.
func (t *target) Fetch(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	var mu sync.Mutex // guards stop and gone
	var stop func(error)
	var gone error
	t.worker.When(func(loaded driver.Loaded, err error) {
		if err = t.missing(loaded, err); err != nil {
			done(nil, err)
			return
		}
		begun := loaded.Entrypoint(t.name, t.props).Fetch(req, func(resp *event.Response, err error) { done(resp, remote(err)) })
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
	done(nil, &event.Error{Message: forbiddenText, NoOutbound: true})
}

// Fetch implements cfapi.Target.
func (forbidden) Fetch(_ *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	done(nil, &event.Error{Message: forbiddenText, NoOutbound: true})
	return func(error) {}
}
