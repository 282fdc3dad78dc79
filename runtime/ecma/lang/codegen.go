package lang

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
)

// codeGeneration is V8's message where code is made from strings.
const codeGeneration = "Code generation from strings disallowed for this context"

var functionKinds = engine.NewPrelude("codegen.js", `function () {
	"use strict";
	return [function () {}, async function () {}, function* () {}].map((f) => Object.getPrototypeOf(f));
}`)

// installCodeGeneration replaces eval and the constructors that make functions
// from strings, also those that are reached through a function's prototype.
// Without any text there is nothing to refuse. They work while the global scope runs, as in production since
// allow_eval_during_startup (2025-06-01), and throw EvalError in a handler.
func (p *Language) installCodeGeneration() {
	guard := func() {
		if p.Engine.Current() != nil || !p.Enabled(compat.AllowEvalDuringStartup) {
			p.Engine.Throw("EvalError", codeGeneration)
		}
	}
	for _, proto := range p.List(p.Engine.Load(functionKinds, p.Engine.Native())) {
		proto := proto.(*goja.Object)
		original := proto.Get("constructor").(*goja.Object)
		name := original.Get("name").String()
		guarded := p.VM.ToValue(func(call goja.ConstructorCall) *goja.Object {
			if name != "Function" || len(call.Arguments) > 0 {
				guard()
			}
			made, err := p.VM.New(original, append([]goja.Value(nil), call.Arguments...)...)
			if err != nil {
				p.Engine.Rethrow(err)
			}
			return made
		}).(*goja.Object)
		guarded.DefineDataProperty("name", p.VM.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		guarded.DefineDataProperty("length", p.VM.ToValue(1), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		guarded.DefineDataProperty("prototype", proto, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
		writable := goja.FLAG_FALSE
		if name == "Function" {
			writable = goja.FLAG_TRUE
			p.Engine.Global(name, guarded)
		}
		proto.DefineDataProperty("constructor", guarded, writable, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	eval, _ := goja.AssertFunction(p.VM.GlobalObject().Get("eval"))
	p.Engine.Global("eval", p.Engine.Func("eval", 1, func(call goja.FunctionCall) goja.Value {
		if goja.IsUndefined(call.Argument(0)) {
			return goja.Undefined()
		}
		guard()
		v, err := eval(goja.Undefined(), call.Argument(0))
		if err != nil {
			p.Engine.Rethrow(err)
		}
		return v
	}))
}
