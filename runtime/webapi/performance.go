package webapi

import (
	"math"
	"slices"
	"sort"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// performanceState is the timeline of performance.mark and measure.
// Loop-confined; bounded by maxEntries.
type performanceState struct {
	entries []*performanceEntry
	entry   *engine.Class[*performanceEntry]
	mark    *engine.Class[*performanceEntry]
	measure *engine.Class[*performanceEntry]

	observers []*performanceObserver
	lists     func() *engine.Class[performanceList]
}

// maxEntries bounds the timeline; the oldest entries go first.
const maxEntries = 10000

type performanceEntry struct {
	name, kind      string
	start, duration float64
	detail          goja.Value
	object          *goja.Object // of an entry on the timeline
}

// performance is the object of the timeline.
type performance struct{ eventTarget }

func (p *Platform) milliseconds() float64 { return p.Milliseconds() }

func (p *Platform) installPerformance() {
	class := webidl.Lazily(p.Engine, p.definePerformance)
	p.Engine.LazyGlobal("performance", func() goja.Value { return class().Wrap(&performance{}) })
	p.LazyClass("Performance", func() *goja.Object { return class().Ctor })
	p.LazyClass("PerformanceEntry", func() *goja.Object { return p.performanceClasses().entry.Ctor })
	p.LazyClass("PerformanceMark", func() *goja.Object { return p.performanceClasses().mark.Ctor })
	p.LazyClass("PerformanceMeasure", func() *goja.Object { return p.performanceClasses().measure.Ctor })
}

func (p *Platform) performanceClasses() *performanceState {
	st := &p.core.perf
	if st.entry != nil {
		return st
	}
	detail := webidl.Reader("detail", func(x *performanceEntry) goja.Value { return x.detail })
	st.entry = engine.DefineClass(p.Engine, engine.ClassDef[*performanceEntry]{
		Name: "PerformanceEntry",
		Accessors: []engine.Accessor[*performanceEntry]{
			webidl.Reader("name", func(x *performanceEntry) goja.Value { return p.VM.ToValue(x.name) }),
			webidl.Reader("entryType", func(x *performanceEntry) goja.Value { return p.VM.ToValue(x.kind) }),
			webidl.Reader("startTime", func(x *performanceEntry) goja.Value { return p.VM.ToValue(x.start) }),
			webidl.Reader("duration", func(x *performanceEntry) goja.Value { return p.VM.ToValue(x.duration) }),
		},
		Methods: []engine.Method[*performanceEntry]{{Name: "toJSON", Fn: func(x *performanceEntry, _ goja.FunctionCall) goja.Value {
			return p.Record("name", x.name, "entryType", x.kind, "startTime", x.start, "duration", x.duration)
		}}},
	})
	st.mark = engine.DefineClass(p.Engine, engine.ClassDef[*performanceEntry]{
		Name: "PerformanceMark", Extends: st.entry.Ctor, Length: 1,
		Accessors: []engine.Accessor[*performanceEntry]{detail},
		New: func(call goja.ConstructorCall) *performanceEntry {
			if len(call.Arguments) == 0 {
				p.BadConstruct("PerformanceMark", 1, "string")
			}
			return p.newMark(call.Arguments[0], call.Argument(1))
		},
	})
	st.measure = engine.DefineClass(p.Engine, engine.ClassDef[*performanceEntry]{
		Name: "PerformanceMeasure", Extends: st.entry.Ctor,
		Accessors: []engine.Accessor[*performanceEntry]{detail},
	})
	return st
}

// newMark is the PerformanceMark constructor (User Timing, section 3.2.1).
func (p *Platform) newMark(name, options goja.Value) *performanceEntry {
	x := &performanceEntry{name: p.ToString(name).String(), kind: "mark", start: p.milliseconds()}
	if _, ok := options.(*goja.Object); !ok && !webidl.IsMissing(options) {
		p.BadConstruct("PerformanceMark", 2, "PerformanceMarkOptions")
	}
	detail := webidl.Get(options, "detail")
	if at := webidl.Get(options, "startTime"); !goja.IsUndefined(at) {
		x.start = p.timestamp(at)
	}
	x.detail = p.detailOf(detail)
	return x
}

// timestamp is a DOMHighResTimeStamp that is not negative.
func (p *Platform) timestamp(v goja.Value) float64 {
	at := v.ToFloat()
	if !(at >= 0) || math.IsInf(at, 0) {
		p.Engine.Throw("TypeError", "A time of the timeline must be a number that is finite and not negative.")
	}
	return at
}

func (p *Platform) detailOf(detail goja.Value) goja.Value {
	if !webidl.IsMissing(detail) {
		v, _ := p.cloner.Clone(detail, nil)
		return v
	}
	return goja.Null()
}

// addEntry puts an entry of the class on the timeline.
func (p *Platform) addEntry(class *engine.Class[*performanceEntry], x *performanceEntry) goja.Value {
	st := p.performanceClasses()
	x.object = class.Wrap(x)
	if len(st.entries) >= maxEntries {
		st.entries = append(st.entries[:0], st.entries[1:]...)
	}
	st.entries = append(st.entries, x)
	for _, o := range st.observers {
		if slices.Contains(o.kinds, x.kind) {
			p.tell(o, x)
		}
	}
	return x.object
}

func (p *Platform) definePerformance() *engine.Class[*performance] {
	st := p.performanceClasses()
	method := func(name string, length int, fn func(call goja.FunctionCall) goja.Value) engine.Method[*performance] {
		return engine.Method[*performance]{Name: name, Length: length, Fn: func(_ *performance, call goja.FunctionCall) goja.Value {
			p.Need(call, length, "Performance", name, "string")
			return fn(call)
		}}
	}
	clear := func(kind string) func(call goja.FunctionCall) goja.Value {
		return func(call goja.FunctionCall) goja.Value {
			name, all := call.Argument(0).String(), goja.IsUndefined(call.Argument(0))
			var kept []*performanceEntry
			for _, x := range st.entries {
				if x.kind != kind || !all && x.name != name {
					kept = append(kept, x)
				}
			}
			st.entries = kept
			return goja.Undefined()
		}
	}
	return engine.DefineClass(p.Engine, engine.ClassDef[*performance]{
		Name: "Performance", Extends: p.eventTargets().Ctor,
		Accessors: []engine.Accessor[*performance]{
			webidl.Reader("timeOrigin", func(*performance) goja.Value { return p.VM.ToValue(0) }),
		},
		Methods: append(timelineQueries(p, "Performance", func(*performance) []*performanceEntry { return st.entries }),
			method("now", 0, func(goja.FunctionCall) goja.Value { return p.VM.ToValue(p.milliseconds()) }),
			method("mark", 1, func(call goja.FunctionCall) goja.Value {
				return p.addEntry(st.mark, p.newMark(call.Arguments[0], call.Argument(1)))
			}),
			method("measure", 1, func(call goja.FunctionCall) goja.Value { return p.measure(call) }),
			method("clearMarks", 0, clear("mark")),
			method("clearMeasures", 0, clear("measure")),
			method("toJSON", 0, func(goja.FunctionCall) goja.Value { return p.Record("timeOrigin", 0) }),
		),
	})
}

func (p *Platform) entryList(entries []*performanceEntry, match func(*performanceEntry) bool) goja.Value {
	var found []*performanceEntry
	for _, x := range entries {
		if match(x) {
			found = append(found, x)
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].start < found[j].start })
	list := make([]any, len(found))
	for i, x := range found {
		list[i] = x.object
	}
	return p.VM.NewArray(list...)
}

// measure is performance.measure(name, startOrOptions, end) (User Timing).
func (p *Platform) measure(call goja.FunctionCall) goja.Value {
	st := p.performanceClasses()
	x := &performanceEntry{name: p.ToString(call.Arguments[0]).String(), kind: "measure", detail: goja.Null()}
	start, end, duration := call.Argument(1), call.Argument(2), goja.Undefined()
	if goja.IsNull(start) {
		start = goja.Undefined()
	}
	if options, ok := start.(*goja.Object); ok {
		mark, detail := end, webidl.Get(options, "detail")
		duration, end, start = webidl.Get(options, "duration"), webidl.Get(options, "end"), webidl.Get(options, "start")
		spans := 0
		for _, v := range []goja.Value{start, duration, end} {
			if !goja.IsUndefined(v) {
				spans++
			}
		}
		switch timeless := goja.IsUndefined(start) && goja.IsUndefined(end); {
		case spans == 0 && goja.IsUndefined(detail):
			end = mark // as if there were no options
		case !goja.IsUndefined(mark), spans == 3, timeless:
			p.Engine.Throw("TypeError", "The options of performance.measure() give 'start' or 'end' and at most one more time, and there is no third argument then.")
		}
		x.detail = p.detailOf(detail)
	}
	at := func(v goja.Value, def float64) float64 {
		if goja.IsUndefined(v) {
			return def
		}
		if _, ok := v.(goja.String); ok {
			name := v.String()
			for i := len(st.entries) - 1; i >= 0; i-- {
				if m := st.entries[i]; m.kind == "mark" && m.name == name {
					return m.start
				}
			}
			p.ThrowDOM("SyntaxError", "The mark '%s' does not exist.", name)
		}
		return p.timestamp(v)
	}
	until := at(end, p.milliseconds())
	x.start = at(start, 0)
	if !goja.IsUndefined(duration) {
		if goja.IsUndefined(start) {
			x.start = until - p.timestamp(duration)
		}
		until = x.start + p.timestamp(duration)
	}
	x.duration = until - x.start
	return p.addEntry(st.measure, x)
}
