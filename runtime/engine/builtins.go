package engine

import (
	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
)

// Builtins are goja's built-in methods, of which most are made when a program first touches
// them. Loop-confined.
type Builtins struct {
	engine   *Engine
	toCome   []func(fn *goja.Object) // by number: what is to be done to a method when it is made
	bounding bool                    // those that are made from now on are bounded here
}

// init comes before anything of the runtime is touched.
func (b *Builtins) init(e *Engine) {
	b.engine = e
	b.toCome = make([]func(*goja.Object), insides.AdoptMethods(e.vm))
}

// When does something to a method of a built-in object when it is made, at once if it has
// been. Nothing is done if there is none. do runs no JavaScript; what is asked for first is done
// first. The methods themselves must be unchanged, as they are before user code runs.
func (b *Builtins) When(holder *goja.Object, name string, do func(fn *goja.Object)) {
	n := insides.MethodToCome(holder, name)
	if n < 0 {
		if fn, ok := holder.Get(name).(*goja.Object); ok {
			do(fn)
		}
		return
	}
	if before := b.toCome[n]; before != nil {
		after := do
		do = func(fn *goja.Object) {
			before(fn)
			after(fn)
		}
	}
	b.toCome[n] = do
}

// Amend is insides.Amend of such a method.
func (b *Builtins) Amend(holder *goja.Object, name string, fn func(c goja.FunctionCall, method func(goja.FunctionCall) goja.Value) goja.Value) {
	b.When(holder, name, func(method *goja.Object) { insides.Amend(method, fn) })
}

// made is insides.Joiner's Made.
func (b *Builtins) made(number int, fn *goja.Object) {
	if number >= len(b.toCome) {
		return // the runtime is being made
	}
	if do := b.toCome[number]; do != nil {
		b.toCome[number] = nil
		do(fn)
	}
	if !b.bounding {
		return
	}
	if slot := insides.TheGoja().FunctionOf(fn); slot != nil {
		*slot = b.engine.Natives.bounded(*slot)
	}
}
