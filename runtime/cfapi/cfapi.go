// Package cfapi is Cloudflare's own surface inside an isolate: the modules
// cloudflare:workers and cloudflare:email, the objects on env, stubs and JS RPC.
//
// What a stub reaches is a Target, which the packages above provide; nothing
// here knows where objects live.
package cfapi

import (
	_ "embed"
	"slices"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi"
	"minido.dev/minido/runtime/webidl"
)

// Target is what a stub calls: an object, or an entrypoint of a worker. Safe
// for concurrent use; calls on one Target arrive in the order they were made.
type Target interface {
	event.Capability
	// Fetch sends a request; done is called exactly once, from any goroutine.
	Fetch(req *event.Request, done func(*event.Response, error)) (cancel func(error))
}

// Unsendable is a capability whose stubs cannot be serialized: not in messages,
// not in storage.
type Unsendable interface {
	event.Capability
	// Unsendable is the text of the DataCloneError. Safe for concurrent use.
	Unsendable() string
}

// Inner is a capability of an object of the platform's own that lives in the caller's
// isolate: calls of it are no effect points.
type Inner interface {
	event.Capability
	Inner()
}

// Facet is a Target of an object that belongs to the one which calls it.
type Facet interface {
	Target
	Facet()
}

// Options are what the API needs from outside.
type Options struct {
	Points *killpoint.Points
	// Compat answers for a compatibility flag (its enable name).
	Compat func(flag compat.Flag) bool
	// WaitUntil extends the life of the current context until the promise settles.
	WaitUntil func(promise goja.Value)
	// Missing is the message of the TypeError for a member that obj, an entrypoint or an object,
	// lacks, or has as its own instead of on its prototype; nil: workerd's.
	Missing func(obj *goja.Object, name string, own bool) string
	// Module is the WebAssembly.Module of a file.
	Module func(content []byte) (goja.Value, error)
}

// Module is the WebAssembly.Module of a file of the project, or why it is none.
func Module(a *API, content []byte) (goja.Value, error) { return a.opts.Module(content) }

// API is Cloudflare's surface of one isolate. Loop-confined.
type API struct {
	Engine   *engine.Engine
	Platform *webapi.Platform

	vm      *goja.Runtime
	opts    Options
	js      *goja.Object // what js/workers.js returns
	env     *goja.Object
	exports *goja.Object
	modules map[string]*goja.Object
	lines   lines
	passed  *[]event.Capability // stubs in the arguments that are being packed, if they pass to the callee
	inner   bool                // an object of the platform's own is being packed, or what it returns
	tracer  *tracer             // nil before its first use
	ids     *engine.Class[*objectID]
	spaces  *engine.Class[*namespace]

	refused map[*goja.Object]string // by RefuseClone
	refusal *goja.Object            // the last TypeError that a call got of the platform instead of a method

	objectClass, loopbackClass *engine.Class[*ObjectClass]
	loopbackSpace              *engine.Class[*namespace]

	traps []goja.Value // of the proxies in js/workers.js; immutable after Install

	serviceStub, objectStub, stubOf, handleOf, disposable, loopback goja.Callable
	rpcTarget, entrypoint, durableObject                            *goja.Object
}

//go:embed js/workers.js
var workersSource string

var workersPrelude = engine.NewPrelude("workers.js", workersSource)

// Install makes the API in an engine in which no user code has run yet.
func Install(e *engine.Engine, p *webapi.Platform, o Options) *API {
	a := &API{Engine: e, Platform: p, vm: e.VM(), opts: o, modules: map[string]*goja.Object{}, env: e.VM().NewObject(), lines: lines{points: o.Points}}
	native := e.Native(
		engine.Func{Name: "call", Length: 3, Fn: a.nativeCall},
		engine.Func{Name: "get", Length: 2, Fn: a.nativeGet},
		engine.Func{Name: "fetch", Length: 3, Fn: a.nativeFetch},
		engine.Func{Name: "connect", Length: 3, Fn: a.nativeConnect},
		engine.Func{Name: "verb", Length: 3, Fn: verbs{a}.nativeVerb},
		engine.Func{Name: "queue", Length: 3, Fn: handlers{a}.nativeQueue},
		engine.Func{Name: "scheduled", Length: 2, Fn: handlers{a}.nativeScheduled},
		engine.Func{Name: "wrap", Length: 1, Fn: a.nativeWrap},
		engine.Func{Name: "dup", Length: 1, Fn: a.nativeDup},
		engine.Func{Name: "dispose", Length: 1, Fn: a.nativeDispose},
		engine.Func{Name: "loopback", Length: 2, Fn: a.nativeLoopback},
		engine.Func{Name: "env", Fn: a.currentEnv},
		engine.Func{Name: "exports", Fn: a.currentExports},
		engine.Func{Name: "entriesInherit", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			a.traps = append(a.traps, call.Argument(0))
			return call.Argument(0)
		}},
		engine.Func{Name: "entry", Length: 1, Fn: a.nativeEntry},
		engine.Func{Name: "illegal", Fn: func(goja.FunctionCall) goja.Value { panic(a.vm.NewTypeError(engine.IllegalInvocation)) }},
		engine.Func{Name: "rejected", Length: 1, Fn: func(call goja.FunctionCall) goja.Value { return a.rejected(call.Argument(0)) }},
	)
	native.Set("rpc", p.Enabled(compat.Rpc))
	native.Set("handlers", p.Enabled(compat.ServiceBindingExtraHandlers))
	native.Set("verbs", !p.Enabled(compat.FetcherNoGetPutDelete))
	a.js = e.Load(workersPrelude, native).(*goja.Object)
	fn := func(name string) goja.Callable {
		f, ok := goja.AssertFunction(a.js.Get(name))
		if !ok {
			panic("workers.js lacks " + name)
		}
		return f
	}
	a.serviceStub, a.objectStub, a.stubOf = fn("serviceStub"), fn("objectStub"), fn("stubOf")
	a.handleOf, a.disposable, a.loopback = fn("handleOf"), fn("disposable"), fn("loopback")
	a.rpcTarget = a.js.Get("RpcTarget").(*goja.Object)
	a.entrypoint = a.js.Get("WorkerEntrypoint").(*goja.Object)
	a.durableObject = a.js.Get("DurableObject").(*goja.Object)
	p.Console.StandIn = shownAs(a)
	a.defineIDs()
	a.defineLoopbacks()
	a.registerCodecs()
	return a
}

// nativeEntry is native.entry(proxy): the handler of a proxy that js/workers.js
// made, undefined for anything else. A WeakMap would not do: goja's holds its
// values for two collections after the key's last use, and for ever if they lead
// to the key.
func (a *API) nativeEntry(call goja.FunctionCall) goja.Value {
	proxy, ok := builtin.AsProxy(call.Argument(0))
	if !ok {
		return goja.Undefined()
	}
	handler := proxy.Handler()
	if slices.ContainsFunc(a.traps, func(traps goja.Value) bool { return builtin.Inherits(handler, traps) }) {
		return handler
	}
	return goja.Undefined()
}

// shownAs is what the console calls a stub, or what reading and calling one gives, "" for
// any other object.
func shownAs(a *API) func(*goja.Object) string {
	return func(v *goja.Object) string {
		if goja.IsUndefined(a.nativeEntry(goja.FunctionCall{Arguments: []goja.Value{v}})) {
			return ""
		}
		return webidl.Get(v.Prototype().Get("constructor"), "name").String()
	}
}

// Env is the env object of the isolate, shared by all its entrypoints.
func (a *API) Env() *goja.Object { return a.env }

// SetExports sets what cloudflare:workers exports as `exports` (ctx.exports).
func (a *API) SetExports(exports *goja.Object) { a.exports = exports }

// DurableObjectClass is the base class DurableObject of cloudflare:workers.
func (a *API) DurableObjectClass() *goja.Object { return a.durableObject }

// EntrypointClass is the base class WorkerEntrypoint of cloudflare:workers.
func (a *API) EntrypointClass() *goja.Object { return a.entrypoint }

// RPCTargetClass is RpcTarget.
func (a *API) RPCTargetClass() *goja.Object { return a.rpcTarget }

// Binding is one property of env.
type Binding struct {
	Name string
	Make func(a *API) goja.Value
}

// Bind puts bindings on env, in their order.
func (a *API) Bind(bindings []Binding) {
	for _, b := range bindings {
		a.env.Set(b.Name, b.Make(a))
	}
}

// ParseJSON makes the value of JSON text.
func (a *API) ParseJSON(text string) goja.Value {
	return a.Engine.Call(a.Engine.Primordial("JSONParse"), goja.Undefined(), a.vm.ToValue(text))
}

// Service is a stub of a worker's entrypoint: a service binding, env.ASSETS,
// or a loopback from ctx.exports.
func (a *API) Service(t Target) *goja.Object {
	v, err := a.serviceStub(goja.Undefined(), a.handle(t))
	if err != nil {
		a.Engine.Rethrow(err)
	}
	return v.(*goja.Object)
}

// handle makes a Go value that JavaScript passes around without seeing inside.
func (a *API) handle(v any) goja.Value {
	obj := a.vm.NewObject()
	a.Engine.Attach(obj, v)
	return obj
}

// standIn is the name of the class of a proxy that stands for a value that is
// not here, a promise or a property of a stub; "" for anything else.
func (a *API) standIn(obj *goja.Object) string {
	h, err := a.handleOf(goja.Undefined(), obj)
	if err != nil {
		a.Engine.Rethrow(err)
	}
	name, _ := h.Export().(string)
	return name
}

// TargetOf finds what a stub reaches; ok is false for anything that is no stub.
func (a *API) TargetOf(v goja.Value) (c event.Capability, ok bool) {
	if _, isObject := v.(*goja.Object); !isObject {
		return nil, false
	}
	h, err := a.handleOf(goja.Undefined(), v)
	if err != nil {
		a.Engine.Rethrow(err)
	}
	c, ok = a.Engine.Attached(h).(event.Capability)
	return c, ok
}
