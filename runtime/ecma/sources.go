package ecma

import (
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// installSources has Function.prototype.toString show built-ins that are written in
// JavaScript here as it shows others (ECMA-262, section 20.2.3.5: NativeFunction);
// programs tell built-ins by this text.
func installSources(e *engine.Engine) {
	builtin.Wrap(e, builtin.Prototype(e, "Function"), "toString", func(c goja.FunctionCall, method insides.Function) goja.Value {
		fn, _ := c.This.(*goja.Object)
		if fn != nil && insides.TheGoja().Prelude(fn) {
			name := ""
			if v := fn.Get("name"); v != nil {
				name = v.String()
			}
			return e.VM().ToValue("function " + name + "() { [native code] }")
		}
		v := method(c)
		if text := v.String(); strings.HasPrefix(text, "function bound ") && strings.HasSuffix(text, "{ [native code] }") {
			return e.VM().ToValue("function () { [native code] }")
		}
		if fn != nil {
			if original, ok := e.Errors.FunctionText(v.String()); ok {
				return e.VM().ToValue(original)
			}
		}
		return v
	})
}
