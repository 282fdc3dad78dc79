package engine

import (
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
)

// goja's natives neither notice an interrupt nor count as calls when they call
// each other: `({ toString: String.prototype.trim }) + ""` would overflow Go's
// own stack, which ends the process. So each native function, goja's and ours,
// looks for an interrupt and counts how deep it is in others. What iterates or
// recurses without calling a function is bounded in guards.go.

// Natives are the native functions of a runtime: how deep they call each other,
// and whether they are to stop. Loop-confined.
type Natives struct {
	engine      *Engine
	depth       int // how many are active
	limit       int
	refusing    bool    // the RangeError is being made
	interrupted *uint32 // goja's flag; never set if it is not known
	pause       goja.Callable

	// LongText is the length, in code units, from which goja does not search for all matches
	// in a text by itself: it cannot be stopped meanwhile, keeps them all, and writes a result
	// without a look at its length. As many matches take it some tens of milliseconds. Only
	// tests set it.
	LongText int

	// Spread, if not nil, is called before the properties of a value are copied to an object
	// by `...`; it throws if these are too many. Whoever installs the language sets it.
	Spread func(from goja.Value)
}

// longText is the usual Natives.LongText.
const longText = 1 << 20

var pausePrelude = NewPrelude("pause.js", `function () { "use strict"; return () => {}; }`)

// hiddenPrelude gives what no property of a global leads to.
var hiddenPrelude = NewPrelude("hidden.js", `function () {
  "use strict";
  const flags = Object.getOwnPropertyDescriptor(RegExp.prototype, "flags").get;
  return [[].values(), new Map().values(), new Set().values(), ""[Symbol.iterator](), "".matchAll(/a/g), (function* () {})(), async () => {}, flags];
}`)

func (n *Natives) init(e *Engine, depth int) {
	n.engine, n.limit, n.interrupted, n.LongText = e, depth, new(uint32), longText
	if in := insides.TheGoja(); in.Known {
		n.interrupted = in.MachineOf(e.vm).InterruptFlag()
	}
}

// bound bounds the natives that exist; Func bounds those that follow.
func (n *Natives) bound(e *Engine, l Language) {
	n.pause, _ = goja.AssertFunction(e.Load(pausePrelude, nil))
	in := insides.TheGoja()
	if !in.Known {
		return
	}
	e.Builtins.bounding = true
	roots := []*goja.Object{e.vm.GlobalObject(), e.Load(hiddenPrelude, nil).(*goja.Object)}
	language := reflect.TypeOf(l)
	if known, ok := routes.Load(language); ok && n.follow(in, known.([]route), roots) {
		return
	}
	w := walk{in: in, natives: n, seen: map[*goja.Object]bool{}}
	for _, root := range roots {
		w.visit(root, route{from: -1})
	}
	for i := range w.routes {
		w.routes[i].last = true
		if from := w.routes[i].from; from >= 0 {
			w.routes[from].last = false
		}
	}
	routes.Store(language, w.routes)
}

// routes are how a walk reaches the natives, []route by the type of the Language: runtimes
// with the same language have the same built-ins, so that a process walks through them once.
var routes sync.Map

// route is how an object is reached: from the object of an earlier route, by the name, the
// symbol, or as the prototype if there is neither. Roots are reached from -1, in turn.
type route struct {
	from   int
	name   string
	symbol *goja.Symbol
	native bool // it is a native function
	last   bool // no route begins there
}

// follow bounds the natives that routes lead to; false if there is not what they say. None
// is bounded then.
func (n *Natives) follow(in *insides.Goja, routes []route, roots []*goja.Object) bool {
	objects := make([]*goja.Object, len(routes))
	slots := make([]*insides.Function, 0, len(routes))
	for i, r := range routes {
		var v goja.Value
		switch {
		case r.last && r.native && r.from >= 0 && r.name != "" && insides.MethodToCome(objects[r.from], r.name) >= 0:
			continue // it is bounded when it is made
		case r.from < 0:
			v, roots = roots[0], roots[1:]
		case r.symbol != nil:
			v = objects[r.from].GetSymbol(r.symbol)
		case r.name != "":
			v = objects[r.from].Get(r.name)
		default:
			v = objects[r.from].Prototype()
		}
		o, ok := v.(*goja.Object)
		if !ok || o == nil {
			return false
		}
		objects[i] = o
		if slot := in.FunctionOf(o); r.native != (slot != nil && *slot != nil) {
			return false
		} else if r.native {
			slots = append(slots, slot)
		}
	}
	for _, slot := range slots {
		*slot = n.bounded(*slot)
	}
	return true
}

// walk visits what JavaScript can reach. Getters are called, not visited, but
// for the one that calls what a user can define.
type walk struct {
	in      *insides.Goja
	natives *Natives
	seen    map[*goja.Object]bool
	routes  []route // to all that was seen
}

// visit visits what r leads to.
func (w *walk) visit(v goja.Value, r route) {
	o, ok := v.(*goja.Object)
	if !ok || o == nil || w.seen[o] {
		return
	}
	w.seen[o] = true
	slot := w.in.FunctionOf(o)
	if r.native = slot != nil && *slot != nil; r.native {
		*slot = w.natives.bounded(*slot)
	}
	at := len(w.routes)
	w.routes = append(w.routes, r)
	for _, name := range o.GetOwnPropertyNames() {
		w.property(func() goja.Value { return o.Get(name) }, route{from: at, name: name})
	}
	for _, symbol := range o.Symbols() {
		w.property(func() goja.Value { return o.GetSymbol(symbol) }, route{from: at, symbol: symbol})
	}
	w.visit(o.Prototype(), route{from: at})
}

// property visits what get returns; a getter of a prototype throws.
func (w *walk) property(get func() goja.Value, r route) {
	var v goja.Value
	if w.natives.engine.vm.Try(func() { v = get() }) == nil {
		w.visit(v, r)
	}
}

// bounded is fn with the checks before it.
func (n *Natives) bounded(fn insides.Function) insides.Function {
	return func(c goja.FunctionCall) goja.Value {
		if n.depth >= n.limit && !n.refusing {
			n.refuse()
		}
		n.Pause()
		n.depth++
		defer n.leave()
		return fn(c)
	}
}

func (n *Natives) leave() { n.depth-- }

func (n *Natives) refuse() {
	n.refusing = true
	defer func() { n.refusing = false }()
	n.engine.Throw("RangeError", StackExceeded)
}

// Pause ends the turn if it has been interrupted: natives that take long call it
// now and then.
func (n *Natives) Pause() {
	if atomic.LoadUint32(n.interrupted) == 0 || n.pause == nil {
		return
	}
	if _, err := n.pause(goja.Undefined()); err != nil {
		n.engine.Rethrow(err)
	}
}

// Interrupted reports whether the turn is to end: what cannot call Pause where it
// works asks, stops, and calls it later.
func (n *Natives) Interrupted() bool { return atomic.LoadUint32(n.interrupted) != 0 }
