package regexp

import (
	_ "embed"
	"slices"

	"minido.dev/minido/runtime/ecma/builtin"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

//go:embed js/regexpsteps.js
var regexpStepsSource string

var regexpStepsPrelude = engine.NewPrelude("regexpsteps.js", regexpStepsSource)

// stepwise calls a method of RegExp.prototype that takes all of the
// specification's steps; goja's look exec up once for many matches, and expect
// every object to have one.
func (p *Class) stepwise(name string, c goja.FunctionCall) goja.Value {
	if p.steps == nil {
		p.steps = p.Engine.Load(regexpStepsPrelude, p.Engine.Native(
			engine.Func{Name: "show", Length: 1, Fn: func(c goja.FunctionCall) goja.Value { return p.VM.ToValue(builtin.Show(p.Engine, c.Argument(0))) }},
			engine.Func{Name: "exec", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
				return p.Engine.Call(p.exec, c.Argument(0), c.Argument(1))
			}},
		)).(*goja.Object)
	}
	return p.Engine.Call(p.steps.Get(name), c.This, slices.Clone(c.Arguments)...)
}

// untouched reports whether v is a regular expression of ours that looks up
// nothing of its own: no code can see how it is asked for matches.
func (p *Class) untouched(v goja.Value) bool {
	obj, ok := v.(*goja.Object)
	if !ok || p.ForeignOf(v) == nil || !builtin.Inherits(obj, p.Proto) || webidl.Get(p.Proto, "exec") != goja.Value(p.exec) {
		return false
	}
	return len(obj.GetOwnPropertyNames()) == 1 // lastIndex
}
