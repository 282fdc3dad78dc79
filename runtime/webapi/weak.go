package webapi

import (
	"weak"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/runtime/engine"
)

// weakState keeps what WeakRef.deref has shown alive until the turn ends
// (ECMA-262, section 9.10: KeepDuringJob). Loop-confined.
type weakState struct {
	kept []*goja.Object
}

// weakRef is a WeakRef. What it refers to is held strongly where the garbage
// collector must not be observable: on a virtual clock, runs with one seed are
// equal.
type weakRef struct {
	strong goja.Value
	weak   weak.Pointer[goja.Object]
}

// finalizers is a FinalizationRegistry. Its callbacks are never called, which
// the specification allows: when memory is reclaimed is nothing that a
// program may rely on, and here it would differ from run to run.
type finalizers struct{}

func (p *Platform) installWeak() {
	simulated := clock.IsVirtual(p.Engine.Clock())
	p.Engine.LazyGlobal("WeakRef", func() goja.Value {
		return engine.DefineClass(p.Engine, engine.ClassDef[*weakRef]{
			Name: "WeakRef", Length: 1,
			New: func(call goja.ConstructorCall) *weakRef { return p.newWeakRef(call.Argument(0), simulated) },
			Methods: []engine.Method[*weakRef]{{Name: "deref", Fn: func(r *weakRef, _ goja.FunctionCall) goja.Value {
				if r.strong != nil {
					return r.strong
				}
				obj := r.weak.Value()
				if obj == nil {
					return goja.Undefined()
				}
				p.keep(obj)
				return obj
			}}},
		}).Ctor
	})
	p.Engine.LazyGlobal("FinalizationRegistry", func() goja.Value { return p.finalizationRegistry() })
}

func (p *Platform) newWeakRef(target goja.Value, simulated bool) *weakRef {
	p.canBeWeak("WeakRef: invalid target", target)
	obj, ok := target.(*goja.Object)
	if !ok || simulated {
		return &weakRef{strong: target}
	}
	p.keep(obj)
	return &weakRef{weak: weak.Make(obj)}
}

// canBeWeak throws unless v is an object or a symbol.
func (p *Platform) canBeWeak(message string, v goja.Value) {
	switch v.(type) {
	case *goja.Object, *goja.Symbol:
		return
	}
	p.Engine.Throw("TypeError", "%s", message)
}

func (p *Platform) keep(obj *goja.Object) {
	st := &p.core.weak
	if len(st.kept) == 0 {
		p.Engine.AtTurnEnd(func() { st.kept = nil })
	}
	st.kept = append(st.kept, obj)
}

func (p *Platform) finalizationRegistry() goja.Value {
	return engine.DefineClass(p.Engine, engine.ClassDef[*finalizers]{
		Name: "FinalizationRegistry", Length: 1,
		New: func(call goja.ConstructorCall) *finalizers {
			if !engine.IsCallable(call.Argument(0)) {
				p.Engine.Throw("TypeError", "FinalizationRegistry: cleanup must be callable")
			}
			return &finalizers{}
		},
		Methods: []engine.Method[*finalizers]{
			{Name: "register", Length: 2, Fn: func(_ *finalizers, call goja.FunctionCall) goja.Value {
				p.canBeWeak("FinalizationRegistry.prototype.register: invalid target", call.Argument(0))
				if call.Argument(0).SameAs(call.Argument(1)) {
					p.Engine.Throw("TypeError", "FinalizationRegistry.prototype.register: target and holdings must not be same")
				}
				return goja.Undefined()
			}},
			{Name: "unregister", Length: 1, Fn: func(_ *finalizers, call goja.FunctionCall) goja.Value {
				p.canBeWeak("Invalid unregisterToken ('"+p.Engine.Text(call.Argument(0))+"')", call.Argument(0))
				return p.vm.ToValue(false)
			}},
		},
	}).Ctor
}
