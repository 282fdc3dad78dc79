package ecma

import (
	"math"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

func guardStrings(e *engine.Engine) {
	p := builtin.Prototype(e, "String")
	builtin.Guard(e, p, "repeat", func(c *goja.FunctionCall) {
		if s := builtin.ReceiverText(e, c); s != nil {
			n := builtin.NumberAt(e, c, 0)
			if math.IsInf(n, 1) {
				e.Throw("RangeError", "Invalid count value: Infinity")
			}
			e.Memory.Allocate(builtin.Product(n, int64(s.Length())), builtin.BadStringLength)
		}
	})
	for _, name := range []string{"padStart", "padEnd"} {
		builtin.Guard(e, p, name, func(c *goja.FunctionCall) {
			if builtin.ReceiverText(e, c) != nil {
				e.Memory.Allocate(builtin.Product(builtin.NumberAt(e, c, 0), 1), builtin.BadStringLength)
			}
		})
	}
}
