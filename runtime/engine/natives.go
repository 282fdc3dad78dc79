package engine

import (
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
}

var pausePrelude = NewPrelude("pause.js", `function () { "use strict"; return () => {}; }`)

// hiddenPrelude gives what no property of a global leads to.
var hiddenPrelude = NewPrelude("hidden.js", `function () {
  "use strict";
  const flags = Object.getOwnPropertyDescriptor(RegExp.prototype, "flags").get;
  return [[].values(), new Map().values(), new Set().values(), ""[Symbol.iterator](), "".matchAll(/a/g), (function* () {})(), async () => {}, flags];
}`)

func (n *Natives) init(e *Engine, depth int) {
	n.engine, n.limit, n.interrupted = e, depth, new(uint32)
	if in := insides.TheGoja(); in.Known {
		n.interrupted = in.MachineOf(e.vm).InterruptFlag()
	}
}

// bound bounds the natives that exist; Func bounds those that follow.
func (n *Natives) bound(e *Engine) {
	n.pause, _ = goja.AssertFunction(e.Load(pausePrelude, nil))
	if in := insides.TheGoja(); in.Known {
		w := walk{in: in, natives: n, seen: map[*goja.Object]bool{}}
		w.visit(e.vm.GlobalObject())
		w.visit(e.Load(hiddenPrelude, nil))
	}
}

// walk visits what JavaScript can reach. Getters are called, not visited, but
// for the one that calls what a user can define.
type walk struct {
	in      *insides.Goja
	natives *Natives
	seen    map[*goja.Object]bool
}

func (w *walk) visit(v goja.Value) {
	o, ok := v.(*goja.Object)
	if !ok || o == nil || w.seen[o] {
		return
	}
	w.seen[o] = true
	if slot := w.in.FunctionOf(o); slot != nil && *slot != nil {
		*slot = w.natives.bounded(*slot)
	}
	for _, name := range o.GetOwnPropertyNames() {
		w.property(func() goja.Value { return o.Get(name) })
	}
	for _, symbol := range o.Symbols() {
		w.property(func() goja.Value { return o.GetSymbol(symbol) })
	}
	w.visit(o.Prototype())
}

// property visits what get returns; a getter of a prototype throws.
func (w *walk) property(get func() goja.Value) {
	var v goja.Value
	if w.natives.engine.vm.Try(func() { v = get() }) == nil {
		w.visit(v)
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
