package ecma

import (
	"math"
	"strings"

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
	for _, name := range []string{"replace", "replaceAll"} {
		builtin.Guard(e, p, name, func(c *goja.FunctionCall) {
			if len(c.Arguments) < 2 || builtin.StringLength(c.Arguments[1]) < 64 || builtin.StringLength(c.This) < 64 {
				return // at most 64 times as long as the longer one
			}
			checkReplace(e, builtin.StringLength(c.This), builtin.StringLength(c.Arguments[1]), c)
		})
	}
}

// maxRegExpReplacement bounds the worst case of a replacement by a regular
// expression, whose matches are not counted beforehand.
const maxRegExpReplacement = 16 * engine.MaxValueBytes

func checkReplace(e *engine.Engine, length, replacement int64, c *goja.FunctionCall) {
	pattern, isText := c.Arguments[0].(goja.String)
	worst := builtin.Product(float64(length+1), replacement)
	switch {
	case worst <= engine.MaxValueBytes:
	case isText:
		matches := strings.Count(c.This.String(), pattern.String())
		e.Memory.Allocate(length+builtin.Product(float64(matches), replacement), builtin.BadStringLength)
	case worst > maxRegExpReplacement:
		e.Throw("RangeError", builtin.BadStringLength)
	}
}
