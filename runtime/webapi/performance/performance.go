// Package performance is the timeline of an isolate: performance.now, mark, measure,
// and observers (Performance Timeline, User Timing).
package performance

import (
	"slices"
	"sort"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webapi/events"
	"minido.dev/minido/runtime/webapi/structured"
	"minido.dev/minido/runtime/webidl"
)

// Timeline is the timeline of performance.mark and measure. Loop-confined;
// bounded by maxEntries.
type Timeline struct {
	*webidl.Realm
	cloner *structured.Cloner
	events *events.Events

	entries []*entry
	entry   *engine.Class[*entry]
	mark    *engine.Class[*entry]
	measure *engine.Class[*entry]

	observers []*observer
	lists     func() *engine.Class[entries]
}

// maxEntries bounds the timeline; the oldest entries go first.
const maxEntries = 10000

type entry struct {
	name, kind      string
	start, duration float64
	detail          goja.Value
	object          *goja.Object // of an entry on the timeline
}

// performance is the object of the timeline.
type object struct{ events.Target }

// New defines the globals of the timeline in a realm.
func New(r *webidl.Realm, cloner *structured.Cloner, ev *events.Events) *Timeline {
	p := &Timeline{Realm: r, cloner: cloner, events: ev}
	class := webidl.Lazily(p.Engine, p.definePerformance)
	p.Engine.Lazies.Global("performance", func() goja.Value { return class().Wrap(&object{}) })
	// Until workerd has the classes, wrangler bundles them with Node.js compatibility.
	if !p.Enabled(compat.EnableGlobalPerformanceClasses) && (!p.Enabled(compat.NodejsCompatV2) || p.Enabled(compat.EnableNodejsPerfHooksModule)) {
		class = webidl.Lazily(p.Engine, p.defineClock)
		return p
	}
	p.LazyClass("Performance", func() *goja.Object { return class().Ctor })
	p.LazyClass("PerformanceEntry", func() *goja.Object { return p.performanceClasses().entry.Ctor })
	p.LazyClass("PerformanceMark", func() *goja.Object { return p.performanceClasses().mark.Ctor })
	p.LazyClass("PerformanceMeasure", func() *goja.Object { return p.performanceClasses().measure.Ctor })
	p.installObserver()
	return p
}

func (p *Timeline) performanceClasses() *Timeline {
	st := p
	if st.entry != nil {
		return st
	}
	toJSON := []engine.Method[*entry]{{Name: "toJSON", Fn: func(x *entry, _ goja.FunctionCall) goja.Value {
		return p.Record("name", x.name, "entryType", x.kind, "startTime", x.start, "duration", x.duration)
	}}}
	detail := webidl.Reader("detail", func(x *entry) goja.Value { return x.detail })
	st.entry = engine.DefineClass(p.Engine, engine.ClassDef[*entry]{
		Name: "PerformanceEntry",
		Accessors: []engine.Accessor[*entry]{
			webidl.Reader("name", func(x *entry) goja.Value { return p.VM.ToValue(x.name) }),
			webidl.Reader("entryType", func(x *entry) goja.Value { return p.VM.ToValue(x.kind) }),
			webidl.Reader("startTime", func(x *entry) goja.Value { return p.VM.ToValue(x.start) }),
			webidl.Reader("duration", func(x *entry) goja.Value { return p.VM.ToValue(x.duration) }),
		},
		Methods: toJSON,
	})
	st.mark = engine.DefineClass(p.Engine, engine.ClassDef[*entry]{
		Name: "PerformanceMark", Extends: st.entry.Ctor,
		Accessors: []engine.Accessor[*entry]{detail}, Methods: toJSON,
		New: func(call goja.ConstructorCall) *entry {
			if len(call.Arguments) == 0 {
				p.BadConstruct("PerformanceMark", 1, "string")
			}
			return p.newMark(call.Arguments[0], call.Argument(1))
		},
	})
	st.measure = engine.DefineClass(p.Engine, engine.ClassDef[*entry]{
		Name: "PerformanceMeasure", Extends: st.entry.Ctor,
		Accessors: []engine.Accessor[*entry]{detail}, Methods: toJSON,
	})
	return st
}

// newMark is the PerformanceMark constructor (User Timing, section 3.2.1).
func (p *Timeline) newMark(name, options goja.Value) *entry {
	x := &entry{name: p.ToString(name).String(), kind: "mark", start: p.Milliseconds()}
	if _, ok := options.(*goja.Object); !ok && !webidl.IsMissing(options) {
		p.BadConstruct("PerformanceMark", 2, "PerformanceMarkOptions")
	}
	detail := webidl.Get(options, "detail")
	if at := webidl.Get(options, "startTime"); !goja.IsUndefined(at) {
		x.start = at.ToFloat()
	}
	x.detail = p.detailOf(detail)
	return x
}

func (p *Timeline) detailOf(detail goja.Value) goja.Value {
	if webidl.IsMissing(detail) {
		return goja.Null()
	}
	if _, ok := detail.(*goja.Object); !ok {
		p.Engine.Throw("TypeError", "Incorrect type for the 'detail' field on 'Options': the provided value is not of type 'Object'.")
	}
	return p.cloner.Clone(detail, nil)
}

// addEntry puts an entry of the class on the timeline.
func (p *Timeline) addEntry(class *engine.Class[*entry], x *entry) goja.Value {
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

// defineClock is Performance without the flag: it has no timeline.
func (p *Timeline) defineClock() *engine.Class[*object] {
	return engine.DefineClass(p.Engine, engine.ClassDef[*object]{Name: "Performance", Accessors: []engine.Accessor[*object]{p.origin()}, Methods: []engine.Method[*object]{p.now()}})
}

func (p *Timeline) origin() engine.Accessor[*object] {
	return webidl.Reader("timeOrigin", func(*object) goja.Value { return p.VM.ToValue(0) })
}

func (p *Timeline) now() engine.Method[*object] {
	return engine.Method[*object]{Name: "now", Fn: func(*object, goja.FunctionCall) goja.Value { return p.VM.ToValue(p.Milliseconds()) }}
}

func (p *Timeline) definePerformance() *engine.Class[*object] {
	st := p.performanceClasses()
	method := func(name string, length int, fn func(call goja.FunctionCall) goja.Value) engine.Method[*object] {
		return engine.Method[*object]{Name: name, Fn: func(_ *object, call goja.FunctionCall) goja.Value {
			p.Need(call, length, "Performance", name, "string")
			return fn(call)
		}}
	}
	clear := func(kind string) func(call goja.FunctionCall) goja.Value {
		return func(call goja.FunctionCall) goja.Value {
			name, all := call.Argument(0).String(), goja.IsUndefined(call.Argument(0))
			var kept []*entry
			for _, x := range st.entries {
				if x.kind != kind || !all && x.name != name {
					kept = append(kept, x)
				}
			}
			st.entries = kept
			return goja.Undefined()
		}
	}
	nodeAccessors, nodeMethods := p.nodeMembers()
	return engine.DefineClass(p.Engine, engine.ClassDef[*object]{
		Name: "Performance", Extends: p.events.Targets().Ctor,
		Accessors: append(nodeAccessors, p.origin()),
		Methods: append(append(nodeMethods, timelineQueries(p, "Performance", func(*object) []*entry { return st.entries })...),
			p.now(),
			method("mark", 1, func(call goja.FunctionCall) goja.Value {
				return p.addEntry(st.mark, p.newMark(call.Arguments[0], call.Argument(1)))
			}),
			method("measure", 1, func(call goja.FunctionCall) goja.Value { return p.newMeasure(call) }),
			method("clearMarks", 0, clear("mark")),
			method("clearMeasures", 0, clear("measure")),
			method("toJSON", 0, func(goja.FunctionCall) goja.Value { return p.Record("timeOrigin", 0) }),
		),
	})
}

func (p *Timeline) entryList(entries []*entry, match func(*entry) bool) goja.Value {
	var found []*entry
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
func (p *Timeline) newMeasure(call goja.FunctionCall) goja.Value {
	st := p.performanceClasses()
	x := &entry{name: p.ToString(call.Arguments[0]).String(), kind: "measure", detail: goja.Null()}
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
			return 0 // as in workerd
		}
		return v.ToFloat()
	}
	until := at(end, p.Milliseconds())
	x.start = at(start, 0)
	if !goja.IsUndefined(duration) {
		if goja.IsUndefined(start) {
			x.start = until - duration.ToFloat()
		}
		until = x.start + duration.ToFloat()
	}
	x.duration = until - x.start
	return p.addEntry(st.measure, x)
}
