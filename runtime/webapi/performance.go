package webapi

import (
	"sort"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// performanceState is the timeline of performance.mark and measure.
// Loop-confined; bounded by maxEntries.
type performanceState struct {
	entries []*performanceEntry
	entry   *engine.Class[*performanceEntry]
	mark    *engine.Class[*performanceEntry]
	measure *engine.Class[*performanceEntry]
}

// maxEntries bounds the timeline; the oldest entries go first.
const maxEntries = 10000

type performanceEntry struct {
	name, kind      string
	start, duration float64
	detail          goja.Value
}

// milliseconds is the time that JavaScript sees, in ms since 1970: workerd's
// time origin is 0, so that performance.now() equals Date.now() (performance.h).
func (p *Platform) milliseconds() float64 { return float64(p.Engine.Now().UnixMilli()) }

func (p *Platform) installPerformance() {
	p.Engine.LazyGlobal("performance", p.makePerformance)
	p.lazyClass("PerformanceEntry", func() *goja.Object { return p.performanceClasses().entry.Ctor })
	p.lazyClass("PerformanceMark", func() *goja.Object { return p.performanceClasses().mark.Ctor })
	p.lazyClass("PerformanceMeasure", func() *goja.Object { return p.performanceClasses().measure.Ctor })
}

func (p *Platform) performanceClasses() *performanceState {
	st := &p.core.perf
	if st.entry != nil {
		return st
	}
	detail := reader("detail", func(x *performanceEntry) goja.Value { return x.detail })
	st.entry = engine.DefineClass(p.Engine, engine.ClassDef[*performanceEntry]{
		Name: "PerformanceEntry",
		Accessors: []engine.Accessor[*performanceEntry]{
			reader("name", func(x *performanceEntry) goja.Value { return p.vm.ToValue(x.name) }),
			reader("entryType", func(x *performanceEntry) goja.Value { return p.vm.ToValue(x.kind) }),
			reader("startTime", func(x *performanceEntry) goja.Value { return p.vm.ToValue(x.start) }),
			reader("duration", func(x *performanceEntry) goja.Value { return p.vm.ToValue(x.duration) }),
		},
		Methods: []engine.Method[*performanceEntry]{{Name: "toJSON", Fn: func(x *performanceEntry, _ goja.FunctionCall) goja.Value {
			return p.record("name", x.name, "entryType", x.kind, "startTime", x.start, "duration", x.duration)
		}}},
	})
	st.mark = engine.DefineClass(p.Engine, engine.ClassDef[*performanceEntry]{
		Name: "PerformanceMark", Extends: st.entry.Ctor, Length: 1,
		Accessors: []engine.Accessor[*performanceEntry]{detail},
		New: func(call goja.ConstructorCall) *performanceEntry {
			return p.newMark(call.Argument(0).String(), call.Argument(1))
		},
	})
	st.measure = engine.DefineClass(p.Engine, engine.ClassDef[*performanceEntry]{
		Name: "PerformanceMeasure", Extends: st.entry.Ctor,
		Accessors: []engine.Accessor[*performanceEntry]{detail},
	})
	return st
}

func (p *Platform) newMark(name string, options goja.Value) *performanceEntry {
	x := &performanceEntry{name: name, kind: "mark", start: p.milliseconds(), detail: p.detailOf(options)}
	if at := get(options, "startTime"); !goja.IsUndefined(at) {
		x.start = at.ToFloat()
	}
	return x
}

func (p *Platform) detailOf(options goja.Value) goja.Value {
	if d := get(options, "detail"); !goja.IsUndefined(d) {
		v, _ := p.structuredClone(d, nil)
		return v
	}
	return goja.Null()
}

func (st *performanceState) add(x *performanceEntry) {
	if len(st.entries) >= maxEntries {
		st.entries = append(st.entries[:0], st.entries[1:]...)
	}
	st.entries = append(st.entries, x)
}

func (p *Platform) makePerformance() goja.Value {
	type performance struct{}
	st := p.performanceClasses()
	method := func(name string, length int, fn func(call goja.FunctionCall) goja.Value) engine.Method[performance] {
		return engine.Method[performance]{Name: name, Length: length,
			Fn: func(_ performance, call goja.FunctionCall) goja.Value { return fn(call) }}
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
	class := engine.DefineClass(p.Engine, engine.ClassDef[performance]{
		Name: "Performance", Extends: p.eventTargets().Ctor,
		Accessors: []engine.Accessor[performance]{
			reader("timeOrigin", func(performance) goja.Value { return p.vm.ToValue(0) }),
		},
		Methods: []engine.Method[performance]{
			method("now", 0, func(goja.FunctionCall) goja.Value { return p.vm.ToValue(p.milliseconds()) }),
			method("mark", 1, func(call goja.FunctionCall) goja.Value {
				x := p.newMark(call.Argument(0).String(), call.Argument(1))
				st.add(x)
				return st.mark.Wrap(x)
			}),
			method("measure", 1, func(call goja.FunctionCall) goja.Value { return p.measure(call) }),
			method("clearMarks", 0, clear("mark")),
			method("clearMeasures", 0, clear("measure")),
			method("getEntries", 0, func(goja.FunctionCall) goja.Value {
				return p.entryList(func(*performanceEntry) bool { return true })
			}),
			method("getEntriesByType", 1, func(call goja.FunctionCall) goja.Value {
				kind := call.Argument(0).String()
				return p.entryList(func(x *performanceEntry) bool { return x.kind == kind })
			}),
			method("getEntriesByName", 1, func(call goja.FunctionCall) goja.Value {
				name, kind := call.Argument(0).String(), call.Argument(1)
				return p.entryList(func(x *performanceEntry) bool {
					return x.name == name && (goja.IsUndefined(kind) || x.kind == kind.String())
				})
			}),
			method("toJSON", 0, func(goja.FunctionCall) goja.Value { return p.record("timeOrigin", 0) }),
		},
	})
	p.Engine.Global("Performance", class.Ctor)
	return class.Wrap(performance{})
}

func (p *Platform) entryList(match func(*performanceEntry) bool) goja.Value {
	st := p.performanceClasses()
	var found []*performanceEntry
	for _, x := range st.entries {
		if match(x) {
			found = append(found, x)
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].start < found[j].start })
	list := make([]any, len(found))
	for i, x := range found {
		if x.kind == "mark" {
			list[i] = st.mark.Wrap(x)
		} else {
			list[i] = st.measure.Wrap(x)
		}
	}
	return p.vm.NewArray(list...)
}

// measure is performance.measure(name, startOrOptions, end) (User Timing).
func (p *Platform) measure(call goja.FunctionCall) goja.Value {
	st := p.performanceClasses()
	x := &performanceEntry{name: call.Argument(0).String(), kind: "measure", detail: goja.Null()}
	start, end, duration := call.Argument(1), call.Argument(2), goja.Undefined()
	if _, ok := start.(*goja.Object); ok {
		options := start
		x.detail = p.detailOf(options)
		start, end, duration = get(options, "start"), get(options, "end"), get(options, "duration")
	}
	at := func(v goja.Value, def float64) float64 {
		switch v.(type) {
		case goja.String:
			name := v.String()
			for i := len(st.entries) - 1; i >= 0; i-- {
				if m := st.entries[i]; m.kind == "mark" && m.name == name {
					return m.start
				}
			}
			return 0 // workerd forgives
		}
		if goja.IsUndefined(v) {
			return def
		}
		return v.ToFloat()
	}
	until := at(end, p.milliseconds())
	x.start = at(start, 0)
	if !goja.IsUndefined(duration) {
		if goja.IsUndefined(start) {
			x.start = until - duration.ToFloat()
		}
		until = x.start + duration.ToFloat()
	}
	x.duration = until - x.start
	st.add(x)
	return st.measure.Wrap(x)
}
