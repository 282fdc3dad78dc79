package timers

import (
	"strings"
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
)

// timeout is a Timeout or an Immediate (nodejs.org/api/timers.html). Timers
// hold no process open here, so ref and unref change nothing but hasRef.
// Loop-confined.
type timeout struct {
	fn     goja.Value
	args   []goja.Value
	delay  time.Duration
	repeat bool
	id     int64
	active bool
	unref  bool
}

// timerClasses are the two classes of node:timers. Loop-confined.
type timerClasses struct{ timeout, immediate *engine.Class[*timeout] }

// installTimers defines setImmediate and clearImmediate, and, where the flag
// asks for it, setTimeout and its relatives as those of node:timers, which
// return objects (compatibility-date.capnp, enable_nodejs_global_timers).
func installTimers(m *node.Modules) {
	names := []string{"setImmediate", "clearImmediate"}
	if m.Options.Compat(compat.EnableNodejsGlobalTimers) {
		names = append(names, "setTimeout", "clearTimeout", "setInterval", "clearInterval")
	}
	for _, name := range names {
		define := m.Engine.Lazies.Global
		if strings.HasSuffix(name, "Immediate") { // these are in workerd without Node too
			define = m.Engine.Lazies.Interface
		}
		define(name, func() goja.Value { return m.Load("timers").(*goja.Object).Get(name) })
	}
}

// makeTimers makes node:timers.
func makeTimers(base *node.Modules) goja.Value {
	m := &module{Modules: base}

	m.timers = m.timerClasses()
	e := m.Engine
	start := func(name string, repeat bool) engine.Func {
		return engine.Func{Name: name, Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			t := &timeout{fn: m.Function(c.Argument(0), "callback"), repeat: repeat, delay: m.addedDelay(c.Argument(1))}
			if len(c.Arguments) > 2 {
				t.args = append(t.args, c.Arguments[2:]...)
			}
			obj := m.timers.timeout.Wrap(t)
			m.startTimer(t)
			return obj
		}}
	}
	stop := func(name string) engine.Func {
		return engine.Func{Name: name, Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			m.clearTimer(c.Argument(0))
			return goja.Undefined()
		}}
	}
	exports := e.Native(
		start("setTimeout", false), start("setInterval", true), stop("clearTimeout"), stop("clearInterval"), stop("unenroll"),
		engine.Func{Name: "clearImmediate", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			if _, ok := m.timers.immediate.Of(c.Argument(0)); !ok && !node.Absent(c.Argument(0)) {
				m.Throw("TypeError", "", "Failed to execute 'clearImmediate' on 'TimersUtil': parameter 1 is not of type 'Immediate'.")
			}
			m.clearTimer(c.Argument(0))
			return goja.Undefined()
		}},
		engine.Func{Name: "active", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			if t, ok := c.Argument(0).(*goja.Object); ok && engine.IsCallable(t.Get("refresh")) {
				e.Call(t.Get("refresh"), t)
			}
			return goja.Undefined()
		}},
		engine.Func{Name: "setImmediate", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			if !engine.IsCallable(c.Argument(0)) {
				m.Throw("TypeError", "", "Failed to execute 'setImmediate' on 'TimersUtil': parameter 1 is not of type 'function'.")
			}
			t := &timeout{fn: c.Argument(0)}
			if len(c.Arguments) > 1 {
				t.args = append(t.args, c.Arguments[1:]...)
			}
			obj := m.timers.immediate.Wrap(t)
			m.startTimer(t)
			return obj
		}},
	)
	m.Define(exports, "Timeout", m.timers.timeout.Ctor)
	e.Lazies.Export(exports, "promises", func() goja.Value { return m.Load("timers/promises") })
	return exports
}

// timerDelay is a delay in milliseconds. As in workerd, what is none is 0, where
// Node itself waits for at least a millisecond, and a delay above 2^31-1 is a long
// wait, where Node itself fires after a millisecond.
func timerDelay(v goja.Value) time.Duration {
	if node.Absent(v) {
		return 0
	}
	return engine.Milliseconds(v.ToFloat()).Truncate(time.Millisecond)
}

// addedDelay is timerDelay of a timer's delay, which workerd adds to first.
func (m *module) addedDelay(v goja.Value) time.Duration {
	if builtin.TypeOf(m.Engine, v) == "bigint" {
		m.Engine.Throw("TypeError", "Cannot mix BigInt and other types, use explicit conversions")
	}
	return timerDelay(v)
}

func (m *module) timerClasses() *timerClasses {
	type method = engine.Method[*timeout]
	self := func(fn func(t *timeout)) func(*timeout, goja.FunctionCall) goja.Value {
		return func(t *timeout, c goja.FunctionCall) goja.Value {
			fn(t)
			return c.This
		}
	}
	common := []method{
		{Name: "ref", Fn: self(func(t *timeout) { t.unref = false })},
		{Name: "unref", Fn: self(func(t *timeout) { t.unref = true })},
		{Name: "hasRef", Fn: func(t *timeout, _ goja.FunctionCall) goja.Value { return m.VM.ToValue(!t.unref) }},
	}
	c := &timerClasses{
		timeout: engine.DefineClass(m.Engine, engine.ClassDef[*timeout]{Name: "Timeout", Script: true, Methods: append([]method{
			{Name: "refresh", Fn: self(func(t *timeout) {
				if t.active {
					m.stopTimer(t)
					m.startTimer(t)
				}
			})},
			{Name: "close", Fn: self(m.stopTimer)},
		}, common...)}),
		immediate: engine.DefineClass(m.Engine, engine.ClassDef[*timeout]{Name: "Immediate", Methods: common}),
	}
	primitive := m.Engine.Func("[Symbol.toPrimitive]", 0, func(call goja.FunctionCall) goja.Value {
		return m.VM.ToValue(c.timeout.Self(call.This).id)
	})
	c.timeout.Proto.DefineDataPropertySymbol(goja.SymToPrimitive, primitive, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	dispose := m.Engine.Func("[Symbol.dispose]", 0, func(call goja.FunctionCall) goja.Value {
		if t, ok := m.Engine.Attached(call.This).(*timeout); ok {
			m.stopTimer(t)
		}
		return goja.Undefined()
	})
	if s, ok := m.VM.Get("Symbol").(*goja.Object).Get("dispose").(*goja.Symbol); ok {
		for _, class := range []*engine.Class[*timeout]{c.timeout, c.immediate} {
			class.Proto.DefineDataPropertySymbol(s, dispose, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		}
	}
	return c
}

func (m *module) startTimer(t *timeout) {
	t.active = true
	t.id = m.Engine.Timers.Set(t.delay, t.repeat, func() {
		t.active = t.repeat
		m.Engine.Call(t.fn, goja.Undefined(), t.args...)
	})
}

func (m *module) stopTimer(t *timeout) {
	if t.active {
		t.active = false
		m.Engine.Timers.Clear(t.id)
	}
}

// clearTimer takes a Timeout, an Immediate, or a number that one became.
func (m *module) clearTimer(v goja.Value) {
	if t, ok := m.Engine.Attached(v).(*timeout); ok {
		m.stopTimer(t)
		return
	}
	if node.IsNumber(v) || node.IsString(v) {
		m.Engine.Timers.Clear(v.ToInteger())
	}
}

// timersPromisesModule are the natives of js/timers_promises.js.
func timersPromisesModule(base *node.Modules) []engine.Func {
	m := &module{Modules: base}

	return []engine.Func{
		{Name: "set", Length: 3, Fn: func(c goja.FunctionCall) goja.Value {
			fn := c.Argument(2)
			delay := timerDelay(c.Argument(0))
			if v := c.Argument(0); node.IsNumber(v) && v.ToFloat() == 0 {
				delay = 0
			}
			return m.VM.ToValue(m.Engine.Timers.Set(delay, c.Argument(1).ToBoolean(), func() { m.Engine.Call(fn, goja.Undefined()) }))
		}},
		{Name: "clear", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			if node.IsNumber(c.Argument(0)) {
				m.Engine.Timers.Clear(c.Argument(0).ToInteger())
			}
			return goja.Undefined()
		}},
	}
}
