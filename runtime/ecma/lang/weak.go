package lang

import (
	"weak"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// weakRef is a WeakRef. What it refers to is held strongly where the garbage
// collector must not be observable: on a virtual clock, runs with one seed are
// equal.
type weakRef struct {
	strong goja.Value
	weak   weak.Pointer[goja.Object]
}

// finalizers is a FinalizationRegistry. Its callbacks are never called, which
// the specification allows: when memory is reclaimed is nothing that a
// program may rely on, and here it would differ from run to run. tokens is a
// WeakSet of what unregister would find. Loop-confined.
type finalizers struct{ tokens *goja.Object }

func (p *Language) installWeak() {
	if !p.Enabled(compat.EnableWeakRef) {
		return
	}
	simulated := clock.IsVirtual(p.Engine.Clock())
	p.Engine.Lazies.Global("WeakRef", func() goja.Value {
		ctor := engine.DefineClass(p.Engine, engine.ClassDef[*weakRef]{
			Language: true,
			Name:     "WeakRef", Length: 1,
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
		p.Engine.HideMembers(ctor)
		return ctor
	})
	p.Engine.Lazies.Global("FinalizationRegistry", func() goja.Value { return p.finalizationRegistry() })
}

func (p *Language) newWeakRef(target goja.Value, simulated bool) *weakRef {
	p.canBeWeak("WeakRef: invalid target", target)
	obj, ok := target.(*goja.Object)
	if !ok || simulated {
		return &weakRef{strong: target}
	}
	p.keep(obj)
	return &weakRef{weak: weak.Make(obj)}
}

// canBeWeak throws unless v is an object or a symbol that is not registered
// (ECMA-262, section 9.14: CanBeHeldWeakly).
func (p *Language) canBeWeak(message string, v goja.Value) {
	switch v.(type) {
	case *goja.Object:
		return
	case *goja.Symbol:
		if goja.IsUndefined(p.Engine.Call(p.Engine.Primordial("SymbolKeyFor"), goja.Undefined(), v)) {
			return
		}
	}
	p.Engine.Throw("TypeError", "%s", message)
}

func (p *Language) keep(obj *goja.Object) {
	if len(p.kept) == 0 {
		p.Engine.Turns.AtEnd(func() { p.kept = nil })
	}
	p.kept = append(p.kept, obj)
}

func (p *Language) finalizationRegistry() goja.Value {
	ctor := engine.DefineClass(p.Engine, engine.ClassDef[*finalizers]{
		Language: true,
		Name:     "FinalizationRegistry", Length: 1,
		New: func(call goja.ConstructorCall) *finalizers {
			if !engine.IsCallable(call.Argument(0)) {
				p.Engine.Throw("TypeError", "FinalizationRegistry: cleanup must be callable")
			}
			tokens, err := p.VM.New(p.Engine.Primordial("WeakSet"))
			if err != nil {
				p.Engine.Rethrow(err)
			}
			return &finalizers{tokens: tokens}
		},
		Methods: []engine.Method[*finalizers]{
			{Name: "register", Length: 2, Fn: func(f *finalizers, call goja.FunctionCall) goja.Value {
				p.canBeWeak("FinalizationRegistry.prototype.register: invalid target", call.Argument(0))
				if call.Argument(0).SameAs(call.Argument(1)) {
					p.Engine.Throw("TypeError", "FinalizationRegistry.prototype.register: target and holdings must not be same")
				}
				if token := call.Argument(2); !goja.IsUndefined(token) {
					p.canBeWeak("Invalid unregisterToken ('"+builtin.Show(p.Engine, token)+"')", token)
					p.Engine.Call(p.Engine.Primordial("WeakSetPrototypeAdd"), goja.Undefined(), f.tokens, token)
				}
				return goja.Undefined()
			}},
			{Name: "unregister", Length: 1, Fn: func(f *finalizers, call goja.FunctionCall) goja.Value {
				p.canBeWeak("Invalid unregisterToken ('"+builtin.Show(p.Engine, call.Argument(0))+"')", call.Argument(0))
				return p.Engine.Call(p.Engine.Primordial("WeakSetPrototypeDelete"), goja.Undefined(), f.tokens, call.Argument(0))
			}},
		},
	}).Ctor
	p.Engine.HideMembers(ctor)
	return ctor
}
