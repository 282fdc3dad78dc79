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
	for _, name := range []string{"encodeURI", "encodeURIComponent", "escape"} {
		most := int64(9)
		if name == "escape" {
			most = 6
		}
		builtin.Guard(e, e.VM().GlobalObject(), name, func(c *goja.FunctionCall) {
			text, _ := builtin.FirstText(e, c).(goja.String)
			if text == nil || int64(text.Length())*most <= engine.MaxValueBytes {
				return
			}
			e.Memory.Allocate(escapedLength(text, most), builtin.BadStringLength)
		})
	}
	for _, name := range []string{"padStart", "padEnd"} {
		builtin.Guard(e, p, name, func(c *goja.FunctionCall) {
			if builtin.ReceiverText(e, c) != nil {
				e.Memory.Allocate(builtin.Product(builtin.NumberAt(e, c, 0), 1), builtin.BadStringLength)
			}
		})
	}
}

// escapedLength is about the length of a text when its characters are escaped: one of three
// bytes becomes so many.
func escapedLength(text goja.String, most int64) (n int64) {
	for i := range text.Length() {
		switch c := text.CharAt(i); {
		case c < 0x80:
			n++
		case c < 0x800, c >= 0xD800 && c < 0xE000:
			n += 6
		default:
			n += most
		}
	}
	return n
}
