package performance

import (
	"math"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// eventCounts is EventCounts (Event Timing, section 3.3), which never counts
// anything in a worker.
type eventCounts struct{}

// nodeTimes are the times of PerformanceNodeTiming that workerd leaves at 0, in
// the order of its properties (api/performance.h).
var nodeTimes = []string{"idleTime", "loopExit", "loopStart", "environment", "bootstrapComplete", "v8Start", "nodeStart"}

// resourceAttributes are those of PerformanceResourceTiming (Resource Timing,
// section 4.1). No entry has them: a worker's fetches are not on its timeline.
func (p *Timeline) resourceAttributes() (list []engine.Accessor[*entry]) {
	for _, name := range []string{"connectEnd", "connectStart", "decodedBodySize", "domainLookupEnd", "domainLookupStart", "encodedBodySize",
		"fetchStart", "initiatorType", "nextHopProtocol", "redirectEnd", "redirectStart", "requestStart", "responseEnd", "responseStart",
		"responseStatus", "secureConnectionStart", "transferSize", "workerStart"} {
		list = append(list, webidl.Reader(name, func(*entry) goja.Value { return goja.Undefined() }))
	}
	return list
}

// nodeMembers are what Node's Performance has beyond the standard's
// (nodejs.org/api/perf_hooks.html): as in workerd it measures nothing.
func (p *Timeline) nodeMembers() ([]engine.Accessor[*object], []engine.Method[*object]) {
	counts := webidl.Lazily(p.Engine, p.defineEventCounts)
	timing := webidl.Lazily(p.Engine, p.defineNodeTiming)
	nothing := func(*object, goja.FunctionCall) goja.Value { return goja.Undefined() }
	return []engine.Accessor[*object]{
			webidl.Reader("eventCounts", func(*object) goja.Value { return counts().Wrap(eventCounts{}) }),
			webidl.Reader("nodeTiming", func(*object) goja.Value { return timing().Wrap(&entry{name: "node", kind: "node"}) }),
		}, []engine.Method[*object]{
			{Name: "clearResourceTimings", Fn: nothing},
			{Name: "markResourceTiming", Fn: nothing},
			{Name: "setResourceTimingBufferSize", Fn: p.setResourceTimingBufferSize},
			{Name: "eventLoopUtilization", Fn: func(*object, goja.FunctionCall) goja.Value {
				return p.Record("idle", 0, "active", 0, "utilization", 0)
			}},
			{Name: "timerify", Fn: func(_ *object, call goja.FunctionCall) goja.Value {
				if !engine.IsCallable(call.Argument(0)) {
					p.BadArgument("Performance", "timerify", 1, "function")
				}
				return call.Argument(0)
			}},
		}
}

// setResourceTimingBufferSize checks its argument; there are no entries of resources.
func (p *Timeline) setResourceTimingBufferSize(_ *object, call goja.FunctionCall) goja.Value {
	p.Need(call, 1, "Performance", "setResourceTimingBufferSize", "unsigned integer")
	switch n := call.Arguments[0].ToFloat(); {
	case math.IsNaN(n), math.IsInf(n, 0):
		p.Engine.Throw("TypeError", "The value cannot be converted because it is not an integer.")
	case n < 0:
		p.Engine.Throw("TypeError", "The value cannot be converted because it is negative and this API expects a positive number.")
	case n > math.MaxUint32:
		p.Engine.Throw("TypeError", "Value out of range. Must be less than or equal to %d.", uint32(math.MaxUint32))
	}
	return goja.Undefined()
}

func (p *Timeline) defineNodeTiming() *engine.Class[*entry] {
	usage := func() *goja.Object { return p.Record("loopCount", 0, "events", 0, "eventsWaiting", 0) }
	zero := func(*entry) goja.Value { return p.VM.ToValue(0) }
	own := []engine.Accessor[*entry]{webidl.Reader("uvMetricsInfo", func(*entry) goja.Value { return usage() })}
	for _, name := range nodeTimes {
		own = append(own, webidl.Reader(name, zero))
	}
	return engine.DefineClass(p.Engine, engine.ClassDef[*entry]{
		Name: "PerformanceNodeTiming", Extends: p.performanceClasses().entry.Ctor, Own: own,
		Methods: []engine.Method[*entry]{{Name: "toJSON", Fn: func(x *entry, _ goja.FunctionCall) goja.Value {
			members := []any{"name", x.name, "entryType", x.kind, "startTime", 0, "duration", 0}
			for i := len(nodeTimes) - 1; i >= 0; i-- {
				members = append(members, nodeTimes[i], 0)
			}
			return p.Record(append(members, "uvMetricsInfo", usage())...)
		}}},
	})
}

func (p *Timeline) defineEventCounts() *engine.Class[eventCounts] {
	none := func(name, tag string) engine.Method[eventCounts] {
		return engine.Method[eventCounts]{Name: name, Fn: func(eventCounts, goja.FunctionCall) goja.Value {
			return p.Iterator("EventCounts", tag, func() (goja.Value, bool) { return nil, false })
		}}
	}
	asked := func(name string, answer goja.Value) engine.Method[eventCounts] {
		return engine.Method[eventCounts]{Name: name, Fn: func(_ eventCounts, call goja.FunctionCall) goja.Value {
			p.Need(call, 1, "EventCounts", name, "string")
			p.ToString(call.Arguments[0])
			return answer
		}}
	}
	class := engine.DefineClass(p.Engine, engine.ClassDef[eventCounts]{
		Name:      "EventCounts",
		Accessors: []engine.Accessor[eventCounts]{webidl.Reader("size", func(eventCounts) goja.Value { return p.VM.ToValue(0) })},
		Methods: []engine.Method[eventCounts]{
			asked("get", goja.Undefined()), asked("has", p.VM.ToValue(false)),
			none("entries", "EntryIterator"), none("keys", "KeyIterator"), none("values", "ValueIterator"),
			{Name: "forEach", Fn: func(_ eventCounts, call goja.FunctionCall) goja.Value {
				if !engine.IsCallable(call.Argument(0)) {
					p.BadArgument("EventCounts", "forEach", 1, "function")
				}
				return goja.Undefined()
			}},
		},
	})
	class.Alias(goja.SymIterator, "entries")
	return class
}
