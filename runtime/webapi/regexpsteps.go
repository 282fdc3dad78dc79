package webapi

import (
	_ "embed"
	"slices"

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
func (p *Platform) stepwise(name string, c goja.FunctionCall) goja.Value {
	st := &p.core.regexp
	if st.steps == nil {
		st.steps = p.Engine.Load(regexpStepsPrelude, p.Engine.Native(
			engine.Func{Name: "show", Length: 1, Fn: func(c goja.FunctionCall) goja.Value { return p.VM.ToValue(p.show(c.Argument(0))) }},
			engine.Func{Name: "exec", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
				return p.Engine.Call(st.exec, c.Argument(0), c.Argument(1))
			}},
		)).(*goja.Object)
	}
	return p.Engine.Call(st.steps.Get(name), c.This, slices.Clone(c.Arguments)...)
}

// untouched reports whether v is a regular expression of ours that looks up
// nothing of its own: no code can see how it is asked for matches.
func (p *Platform) untouched(v goja.Value) bool {
	obj, ok := v.(*goja.Object)
	if !ok || p.foreignOf(v) == nil || !engine.Inherits(obj, p.core.regexp.proto) || webidl.Get(p.core.regexp.proto, "exec") != goja.Value(p.core.regexp.exec) {
		return false
	}
	return len(obj.GetOwnPropertyNames()) == 1 // lastIndex
}
