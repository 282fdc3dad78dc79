package cfapi

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// envKey and exportsKey are where a frame has what withEnv() and withExports()
// put in place of the isolate's own (workerd: api/workers-module.h, EnvModule).
type (
	envKey     struct{}
	exportsKey struct{}
)

// currentEnv is what `env` of cloudflare:workers shows now.
func (a *API) currentEnv(goja.FunctionCall) goja.Value {
	if v := a.Engine.Frame().Local(envKey{}); v != nil {
		return v
	}
	return a.env
}

// currentExports is what `exports` of cloudflare:workers shows now: nothing
// while the module is being evaluated.
func (a *API) currentExports(goja.FunctionCall) goja.Value {
	if v := a.Engine.Frame().Local(exportsKey{}); v != nil {
		return v
	}
	if a.exports == nil {
		return a.vm.NewObject()
	}
	return a.exports
}

// override is one thing that a with... function puts in place.
type override struct {
	key   any
	value goja.Value
}

// defineOverrides puts withEnv, withExports and withEnvAndExports on the module.
func (a *API) defineOverrides(m *goja.Object) {
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
			return a.with(set, fn)
		}})
	}
	define("withEnv", envKey{})
	define("withExports", exportsKey{})
	define("withEnvAndExports", envKey{}, exportsKey{})
}

// with calls fn in a frame in which env or exports are others; what fn starts
// keeps them. A value that is no object changes nothing, as in the reference.
func (a *API) with(set []override, fn goja.Value) (result goja.Value) {
	f := a.Engine.Frame()
	for _, o := range set {
		if _, ok := o.value.(*goja.Object); ok {
			f = f.WithLocal(o.key, o.value)
		}
	}
	a.Engine.In(f, func() { result = a.Engine.Call(fn, goja.Undefined()) })
	return result
}
