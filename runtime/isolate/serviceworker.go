package isolate

import (
	"maps"
	"slices"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// bindGlobals makes env's bindings globals, as a worker in service-worker syntax
// has them. Only its entry has no exports.
func (i *Isolate) bindGlobals() {
	if len(i.opts.Bundle.ExportNames()) > 0 {
		return
	}
	env := i.CF.Env()
	for _, name := range env.Keys() {
		i.vm.GlobalObject().DefineDataProperty(name, env.Get(name), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
	for _, name := range slices.Sorted(maps.Keys(i.opts.Globals)) {
		i.vm.GlobalObject().DefineDataProperty(name, i.CF.ParseJSON(i.opts.Globals[name]), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
}

// serveEvents makes handlers of the listeners of a worker in service-worker
// syntax. Nothing happens to a worker that exports something.
func (i *Isolate) serveEvents() {
	if len(i.opts.Bundle.ExportNames()) > 0 || !i.Platform.Events.HasListener("fetch") && !i.Platform.Events.HasListener("scheduled") {
		return
	}
	if export, ok := i.exports.Get(defaultEntrypoint).(*goja.Object); ok && (engine.IsCallable(export) || len(export.Keys()) > 0) {
		return // CommonJS: module.exports is a handler
	}
	unchanged := i.vm.Get("fetch")
	handlers := i.Engine.Native(
		engine.Func{Name: "fetch", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			if response := i.Platform.Events.Fetched(call.Argument(0), i.waitUntil); response != nil {
				return response
			}
			return i.Engine.Call(unchanged, goja.Undefined(), call.Argument(0))
		}},
	)
	if i.Platform.Events.HasListener("scheduled") {
		handlers.Set("scheduled", i.Engine.Func("scheduled", 1, func(call goja.FunctionCall) goja.Value {
			controller := call.Argument(0).(*goja.Object)
			noRetry := i.Engine.Attached(controller).(*bool)
			i.Platform.Events.Scheduled(controller.Get("cron").String(), controller.Get("scheduledTime").ToInteger(), noRetry, i.waitUntil)
			return goja.Undefined()
		}))
	}
	i.exports = i.vm.NewObject()
	i.exports.Set(defaultEntrypoint, handlers)
}
