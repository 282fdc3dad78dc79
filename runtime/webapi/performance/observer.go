package performance

import (
	"slices"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// observer is a PerformanceObserver (Performance Timeline, section
// 4). Its entries are handed over in a turn of their own. Loop-confined.
type observer struct {
	callback goja.Value
	object   *goja.Object
	kinds    []string
	queue    []*entry
	due      bool // a turn that calls back is on its way
}

// entries is a PerformanceObserverEntryList.
type entries []*entry

// observedKinds are the types of entries that come onto the timeline.
var observedKinds = []string{"measure", "mark"}

func (p *Timeline) installObserver() {
	list := webidl.Lazily(p.Engine, p.definePerformanceList)
	p.LazyClass("PerformanceObserverEntryList", func() *goja.Object { return list().Ctor })
	p.LazyClass("PerformanceResourceTiming", func() *goja.Object {
		return engine.DefineClass(p.Engine, engine.ClassDef[*entry]{
			Name: "PerformanceResourceTiming", Extends: p.performanceClasses().entry.Ctor, Accessors: p.resourceAttributes(),
		}).Ctor
	})
	p.LazyClass("PerformanceObserver", func() *goja.Object { return p.definePerformanceObserver(list) })
}

// timelineQueries are the three questions to a timeline, of those entries that
// list gives.
func timelineQueries[T any](p *Timeline, class string, list func(T) []*entry) []engine.Method[T] {
	method := func(name string, length int, match func(call goja.FunctionCall, x *entry) bool) engine.Method[T] {
		return engine.Method[T]{Name: name, Fn: func(t T, call goja.FunctionCall) goja.Value {
			p.Need(call, length, class, name, "string")
			return p.entryList(list(t), func(x *entry) bool { return match(call, x) })
		}}
	}
	return []engine.Method[T]{
		method("getEntries", 0, func(goja.FunctionCall, *entry) bool { return true }),
		method("getEntriesByType", 1, func(call goja.FunctionCall, x *entry) bool { return x.kind == call.Argument(0).String() }),
		method("getEntriesByName", 1, func(call goja.FunctionCall, x *entry) bool {
			kind := call.Argument(1)
			return x.name == call.Argument(0).String() && (goja.IsUndefined(kind) || x.kind == kind.String())
		}),
	}
}

func (p *Timeline) definePerformanceList() *engine.Class[entries] {
	return engine.DefineClass(p.Engine, engine.ClassDef[entries]{
		Name:    "PerformanceObserverEntryList",
		Methods: timelineQueries(p, "PerformanceObserverEntryList", func(l entries) []*entry { return l }),
	})
}

func (p *Timeline) definePerformanceObserver(list func() *engine.Class[entries]) *goja.Object {
	st := p.performanceClasses()
	class := engine.DefineClass(p.Engine, engine.ClassDef[*observer]{
		Name: "PerformanceObserver",
		New: func(call goja.ConstructorCall) *observer {
			if !engine.IsCallable(call.Argument(0)) {
				p.BadConstruct("PerformanceObserver", 1, "Value")
			}
			return &observer{callback: call.Argument(0)}
		},
		Methods: []engine.Method[*observer]{
			{Name: "observe", Fn: func(o *observer, call goja.FunctionCall) goja.Value {
				o.object = call.This.(*goja.Object)
				p.observe(o, call.Argument(0), list)
				return goja.Undefined()
			}},
			{Name: "disconnect", Fn: func(o *observer, _ goja.FunctionCall) goja.Value {
				o.kinds, o.queue = nil, nil
				st.observers = slices.DeleteFunc(st.observers, func(x *observer) bool { return x == o })
				return goja.Undefined()
			}},
			{Name: "takeRecords", Fn: func(o *observer, _ goja.FunctionCall) goja.Value {
				taken := o.queue
				o.queue = nil
				return p.entryList(taken, func(*entry) bool { return true })
			}},
		},
	})
	kinds := make([]any, len(observedKinds))
	for i, kind := range observedKinds {
		kinds[i] = kind
	}
	class.Ctor.DefineDataProperty("supportedEntryTypes", p.VM.NewArray(kinds...), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	return class.Ctor
}

// observe is observe({entryTypes}) and observe({type, buffered}); kinds that
// are not known are left out.
func (p *Timeline) observe(o *observer, options goja.Value, list func() *engine.Class[entries]) {
	st := p.performanceClasses()
	several, one := webidl.Get(options, "entryTypes"), webidl.Get(options, "type")
	var kinds []string
	switch {
	case goja.IsUndefined(several) == goja.IsUndefined(one):
		p.Engine.Throw("TypeError", "PerformanceObserver.observe() takes either 'entryTypes' or 'type'.")
	case !goja.IsUndefined(one):
		kinds = append(slices.Clone(o.kinds), one.String())
	default:
		p.Sequence(several, "entryTypes", "ObserveOptions", func(v goja.Value) { kinds = append(kinds, v.String()) })
	}
	o.kinds = slices.DeleteFunc(kinds, func(kind string) bool { return !slices.Contains(observedKinds, kind) })
	if len(o.kinds) == 0 {
		return
	}
	if !slices.Contains(st.observers, o) {
		st.observers = append(st.observers, o)
	}
	st.lists = list
	if !goja.IsUndefined(one) && webidl.Get(options, "buffered").ToBoolean() {
		for _, x := range st.entries {
			if x.kind == one.String() {
				p.tell(o, x)
			}
		}
	}
}

// tell queues an entry for an observer, which is called in a turn to come.
func (p *Timeline) tell(o *observer, x *entry) {
	o.queue = append(o.queue, x)
	if o.due {
		return
	}
	o.due = true
	p.Engine.Post(p.Engine.Frame(), "performance observer", func() {
		o.due = false
		taken := o.queue
		if o.queue = nil; len(taken) > 0 {
			p.Engine.Call(o.callback, o.object, p.performanceClasses().lists().Wrap(entries(taken)), o.object)
		}
	})
}
