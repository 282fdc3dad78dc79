package isolate

import (
	"fmt"
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
	if len(i.opts.Bundle.ExportNames()) > 0 || !slices.ContainsFunc([]string{"fetch", "scheduled", "queue", "tail", "trace"}, i.Platform.Events.HasListener) {
		return
	}
	if export, ok := i.exports.Get(defaultEntrypoint).(*goja.Object); ok && (engine.IsCallable(export) || len(export.Keys()) > 0) {
		return // CommonJS: module.exports is a handler
	}
	unchanged, worker := i.vm.Get("fetch"), i.Platform.Events.ServiceWorker
	handlers := i.Engine.Native(
		engine.Func{Name: "fetch", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			if response := worker.Fetched(call.Argument(0), i.waitUntil); response != nil {
				return response
			}
			if r := i.requests[i.Engine.Current()]; r != nil && r.home {
				// It would come back, for ever. wrangler's middleware has this text for every
				// request that nobody answers (templates/middleware/loader-sw.ts).
				i.Engine.Throw("Error", "No response!")
			}
			return i.Engine.Call(unchanged, goja.Undefined(), call.Argument(0))
		}},
		engine.Func{Name: "scheduled", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			controller := call.Argument(0).(*goja.Object)
			noRetry := i.Engine.Attached(controller).(*bool)
			i.warnWithoutListener("scheduled", "Received a ScheduledEvent but we lack an event listener for scheduled events (a.k.a. Cron Triggers).")
			worker.Scheduled(controller.Get("cron").String(), controller.Get("scheduledTime").ToInteger(), noRetry, i.waitUntil)
			return goja.Undefined()
		}},
		engine.Func{Name: "queue", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			i.warnWithoutListener("queue", "Received a QueueEvent but we lack an event listener for queue events.")
			worker.Queued(call.Argument(0).(*goja.Object), i.waitUntil)
			return goja.Undefined()
		}},
		engine.Func{Name: "tail", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			worker.Tailed(call.Argument(0).(*goja.Object), i.waitUntil)
			return goja.Undefined()
		}},
		engine.Func{Name: "email", Length: 1, Fn: func(goja.FunctionCall) goja.Value {
			i.Engine.Throw("Error", "A worker in service-worker syntax (addEventListener) gets no mail, as under workerd. Write a module: export default { async email(message, env, ctx) { … } }.")
			return nil
		}},
	)
	i.listens = true
	i.exports = i.vm.NewObject()
	i.exports.Set(defaultEntrypoint, handlers)
}

// warnWithoutListener says once that an event comes which nobody listens for.
func (i *Isolate) warnWithoutListener(typ, text string) {
	if !i.Platform.Events.HasListener(typ) {
		i.warned.once(i.Engine, fmt.Sprintf("%s Did you remember to call addEventListener(%q, ...)?", text, typ))
	}
}

// warnings are those that were given.
type warnings map[string]bool

// once logs a warning the first time.
func (w warnings) once(e *engine.Engine, text string) {
	if !w[text] {
		w[text] = true
		e.Log(engine.Warn, text)
	}
}
