package engine

import (
	"strings"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"
)

// installSources has Function.prototype.toString show built-ins that are written in
// JavaScript here as it shows others (ECMA-262, section 20.2.3.5: NativeFunction);
// programs tell built-ins by this text.
func (e *Engine) installSources() {
	e.wrap(e.prototype("Function"), "toString", func(c goja.FunctionCall, method function) goja.Value {
		fn, _ := c.This.(*goja.Object)
		if fn != nil && theInsides().ours(fn) {
			name := ""
			if v := fn.Get("name"); v != nil {
				name = v.String()
			}
			return e.vm.ToValue("function " + name + "() { [native code] }")
		}
		v := method(c)
		if text := v.String(); strings.HasPrefix(text, "function bound ") && strings.HasSuffix(text, "{ [native code] }") {
			return e.vm.ToValue("function () { [native code] }")
		}
		return v
	})
}

// ours reports whether a function is of a prelude.
func (in *insides) ours(fn *goja.Object) bool {
	if !in.ok || fn.ClassName() != "Function" {
		return false
	}
	v := in.implementation(fn)
	offset, scripted := in.programs[v.Type()]
	if !scripted {
		return false
	}
	program := *(*unsafe.Pointer)(unsafe.Add(v.UnsafePointer(), offset))
	if program == nil {
		return false
	}
	src := *(**file.File)(unsafe.Add(program, in.source))
	return src != nil && strings.HasPrefix(src.Name(), "minido:") && src.Name() != "minido:bundle"
}
