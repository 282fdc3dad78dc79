package webidl

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// BadArgument throws workerd's TypeError for an argument of the wrong type; the
// class "" stands for the global scope (src/workerd/jsg/util.c++).
func (r *Realm) BadArgument(class, method string, n int, typ string) {
	if class == "" {
		class = "ServiceWorkerGlobalScope"
	}
	r.Engine.Throw("TypeError", "Failed to execute '%s' on '%s': parameter %d is not of type '%s'.", method, class, n, typ)
}

// BadConstruct is badArgument for constructors.
func (r *Realm) BadConstruct(class string, n int, typ string) {
	r.Engine.Throw("TypeError", "Failed to construct '%s': constructor parameter %d is not of type '%s'.", class, n, typ)
}

// Need is badArgument for the nth argument if it is not there.
func (r *Realm) Need(call goja.FunctionCall, n int, class, method, typ string) {
	if len(call.Arguments) < n {
		r.BadArgument(class, method, n, typ)
	}
}

// Reader makes a read-only attribute.
func Reader[T any](name string, read func(T) goja.Value) engine.Accessor[T] {
	return engine.Accessor[T]{Name: name, Get: func(self T, _ *goja.Object) goja.Value { return read(self) }}
}
