package cfapi

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// Module is a cloudflare: module's exports; ok is false for one that does not exist.
func (a *API) Module(specifier string) (exports *goja.Object, ok bool) {
	if m := a.modules[specifier]; m != nil {
		return m, true
	}
	switch specifier {
	case "cloudflare:workers":
		exports = modules{a}.workers()
	case "cloudflare:email":
		exports = modules{a}.email()
	case "cloudflare:sockets":
		exports = modules{a}.sockets()
	case "cloudflare:workflows":
		exports = modules{a}.workflows()
	default:
		return nil, false
	}
	a.modules[specifier] = exports
	return exports, true
}

// ModuleNames are the names that workerd's module of that specifier exports (1.20261117.1,
// Object.keys of its namespace), those that are not offered here among them; nil for a
// module that is none of the cloudflare: ones.
func ModuleNames(specifier string) []string {
	switch specifier {
	case "cloudflare:workers":
		return []string{"DurableObject", "RpcPromise", "RpcProperty", "RpcStub", "RpcTarget", "ServiceStub", "WorkerEntrypoint", "WorkflowEntrypoint",
			"abortIsolate", "cache", "env", "exports", "restore", "tracing", "waitUntil", "withEnv", "withEnvAndExports", "withExports"}
	case "cloudflare:email":
		return []string{"EmailMessage"}
	case "cloudflare:sockets":
		return []string{"connect", "internalNewHttpClient"}
	case "cloudflare:workflows":
		return []string{"NonRetryableError"}
	}
	return nil
}

// modules makes the cloudflare: modules of an API.
type modules struct{ api *API }

func (mods modules) workers() *goja.Object {
	a := mods.api
	m := a.vm.NewObject()
	for _, name := range []string{"DurableObject", "WorkerEntrypoint", "WorkflowEntrypoint", "RpcTarget", "RpcStub", "RpcPromise", "RpcProperty",
		"ServiceStub", "env", "exports"} {
		m.Set(name, a.js.Get(name))
	}
	m.Set("waitUntil", a.Engine.Func("waitUntil", 1, func(call goja.FunctionCall) goja.Value {
		a.Engine.IO("waitUntil()")
		a.opts.WaitUntil(call.Argument(0))
		return goja.Undefined()
	}))
	mods.defineOverrides(m)
	mods.defineTracing(m)
	return m
}

// defineTracing puts tracing on the module, made when it is first asked for.
func (mods modules) defineTracing(m *goja.Object) {
	a := mods.api
	var made *goja.Object
	m.DefineAccessorProperty("tracing", a.Engine.Func("tracing", 0, func(goja.FunctionCall) goja.Value {
		if made == nil {
			made = a.Tracing()
		}
		return made
	}), nil, goja.FLAG_FALSE, goja.FLAG_TRUE)
}

// emailSource makes EmailMessage: its constructor gives a plain object, as under wrangler
// dev (miniflare: workers/email/email.worker.ts), so that it crosses in calls.
const emailSource = `class EmailMessage { constructor(from, to, raw) { return { from, to, "EmailMessage::raw": raw }; } }`

func (mods modules) email() *goja.Object { return mods.exporting("EmailMessage", emailSource) }

func (mods modules) workflows() *goja.Object {
	return mods.exporting("NonRetryableError", `class NonRetryableError extends Error { constructor(message, name = "NonRetryableError") { super(message); this.name = name; } }`)
}

// exporting is a module with one export, a class of that source.
func (mods modules) exporting(name, source string) *goja.Object {
	m := mods.api.vm.NewObject()
	class, err := mods.api.vm.RunString("(" + source + ")")
	if err != nil {
		panic(err)
	}
	m.Set(name, class)
	return m
}

func (mods modules) sockets() *goja.Object {
	a := mods.api
	m := a.vm.NewObject()
	m.Set("connect", a.Engine.Func("connect", 2, func(call goja.FunctionCall) goja.Value {
		return a.Platform.TCP.Connect(call.Argument(0), call.Argument(1))
	}))
	return m
}

// override is one thing that a with... function puts in place.
type override struct {
	key   any
	value goja.Value
}

// defineOverrides puts withEnv, withExports and withEnvAndExports on the module.
func (mods modules) defineOverrides(m *goja.Object) {
	a := mods.api
	define := func(name string, keys ...any) {
		a.Engine.DefineFunc(m, engine.Func{Name: name, Length: len(keys) + 1, Fn: func(call goja.FunctionCall) goja.Value {
			var set []override
			for i, key := range keys {
				set = append(set, override{key, call.Argument(i)})
			}
			fn := call.Argument(len(keys))
			if !engine.IsCallable(fn) {
				a.Engine.Throw("TypeError", "Failed to execute '%s' on 'EnvModule': parameter %d is not of type 'function'.", name, len(keys)+1)
			}
			return mods.with(set, fn)
		}})
	}
	define("withEnv", envKey{})
	define("withExports", exportsKey{})
	define("withEnvAndExports", envKey{}, exportsKey{})
}

// with calls fn in a frame in which env or exports are others; what fn starts
// keeps them. A value that is no object changes nothing, as in the reference.
func (mods modules) with(set []override, fn goja.Value) (result goja.Value) {
	a := mods.api
	f := a.Engine.Frame()
	for _, o := range set {
		if _, ok := o.value.(*goja.Object); ok {
			f = f.WithLocal(o.key, o.value)
		}
	}
	a.Engine.In(f, func() { result = a.Engine.Call(fn, goja.Undefined()) })
	return result
}
