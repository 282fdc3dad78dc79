package scope

import (
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webapi/events"
	"minido.dev/minido/runtime/webidl"
)

// installTimers defines setTimeout and its relatives (HTML, section 8.7),
// queueMicrotask and scheduler.wait.
func (p *scope) installTimers() {
	define := func(name string, fn func(goja.FunctionCall) goja.Value) {
		p.Engine.Lazies.Interface(name, func() goja.Value { return p.GlobalFunc(name, fn) })
	}
	define("setTimeout", func(call goja.FunctionCall) goja.Value { return p.setTimer("setTimeout", call, false) })
	define("setInterval", func(call goja.FunctionCall) goja.Value { return p.setTimer("setInterval", call, true) })
	for _, name := range []string{"clearTimeout", "clearInterval"} {
		define(name, func(call goja.FunctionCall) goja.Value {
			p.Need(call, 1, "", name, "Number")
			if id := call.Arguments[0]; !webidl.IsMissing(id) {
				p.Engine.Timers.Clear(id.ToInteger())
			}
			return goja.Undefined()
		})
	}
	define("queueMicrotask", func(call goja.FunctionCall) goja.Value {
		p.queueMicrotask(p.callback("queueMicrotask", call.Argument(0)))
		return goja.Undefined()
	})
	p.Engine.Lazies.Global("scheduler", p.makeScheduler)
}

// callback checks that v is a function: code in strings is none.
func (p *scope) callback(what string, v goja.Value) goja.Value {
	if engine.IsCallable(v) {
		return v
	}
	p.BadArgument("", what, 1, "function")
	return nil
}

func (p *scope) setTimer(what string, call goja.FunctionCall, repeat bool) goja.Value {
	fn := p.callback(what, call.Argument(0))
	var args []goja.Value
	if len(call.Arguments) > 2 {
		args = append(args, call.Arguments[2:]...)
	}
	var delay time.Duration
	if v := call.Argument(1); !goja.IsUndefined(v) {
		if builtin.TypeOf(p.Engine, v) == "bigint" && p.Enabled(compat.EnableNodejsGlobalTimers) {
			p.Engine.Throw("TypeError", "Cannot mix BigInt and other types, use explicit conversions") // as of an addition in node:timers
		}
		delay = engine.Milliseconds(v.ToFloat()).Truncate(time.Millisecond)
	}
	return p.VM.ToValue(p.Engine.Timers.Set(delay, repeat, func() { p.Engine.Call(fn, p.VM.GlobalObject(), args...) }))
}

// queueMicrotask runs fn among the promise jobs; what it throws is reported as
// an uncaught error, not as a rejection.
func (p *scope) queueMicrotask(fn goja.Value) {
	job := p.VM.ToValue(func(goja.FunctionCall) goja.Value {
		if thrown := p.Engine.Try(func() { p.Engine.Call(fn, goja.Undefined()) }); thrown != nil {
			p.Engine.Uncaught.Announce(thrown)
		}
		return goja.Undefined()
	})
	promise, resolve, _ := p.Engine.NewPromise()
	resolve(goja.Undefined())
	p.Engine.Call(p.Engine.Primordial("PromisePrototypeThen"), goja.Undefined(), p.VM.ToValue(promise), job)
}

// makeScheduler is scheduler: workerd's src/workerd/api/scheduled.h.
func (p *scope) makeScheduler() goja.Value {
	type scheduler struct{}
	class := engine.DefineClass(p.Engine, engine.ClassDef[scheduler]{
		Name: "Scheduler",
		Methods: []engine.Method[scheduler]{{Name: "wait", Fn: func(_ scheduler, call goja.FunctionCall) goja.Value {
			if len(call.Arguments) == 0 {
				return p.Rejected(p.Engine.Errors.New("TypeError", "Failed to execute 'wait' on 'Scheduler': parameter 1 is not of type 'number'."))
			}
			return p.Promise(func() goja.Value { return p.wait(engine.Milliseconds(call.Arguments[0].ToFloat()), call.Argument(1)) })
		}}},
	})
	return class.Wrap(scheduler{})
}

func (p *scope) wait(delay time.Duration, options goja.Value) goja.Value {
	if _, ok := options.(*goja.Object); !ok && !webidl.IsMissing(options) {
		p.BadArgument("Scheduler", "wait", 2, "WaitOptions")
	}
	option := webidl.Get(options, "signal")
	signal, ok := p.Engine.Attached(option).(*events.Signal)
	if !ok && !goja.IsUndefined(option) {
		p.Engine.Throw("TypeError", "Incorrect type for the 'signal' field on 'WaitOptions': the provided value is not of type 'AbortSignal'.")
	}
	if signal != nil && signal.Aborted() {
		panic(p.Tunneled(signal.Reason()))
	}
	promise, resolve, reject := p.Engine.NewPromise()
	var unlisten func()
	id := p.Engine.Timers.Set(delay, false, func() {
		if unlisten != nil {
			unlisten()
		}
		resolve(goja.Undefined())
	})
	if signal != nil {
		unlisten = signal.OnAbort(func(reason goja.Value) {
			p.Engine.Timers.Clear(id)
			reject(p.Tunneled(reason))
		})
	}
	return p.VM.ToValue(promise)
}
