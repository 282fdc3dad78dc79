package lang

import (
	_ "embed"

	"minido.dev/minido/runtime/ecma/builtin"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

//go:embed js/disposable.js
var disposableSource string

var disposablePrelude = engine.NewPrelude("disposable.js", disposableSource)

// InstallDisposables defines SuppressedError and the stacks of disposable
// resources (Explicit Resource Management).
func (p *Language) InstallDisposables() {
	for _, name := range []string{"SuppressedError", "DisposableStack", "AsyncDisposableStack"} {
		p.Engine.Lazies.Global(name, func() goja.Value {
			if p.disposables == nil {
				show := engine.Func{Name: "show", Fn: func(c goja.FunctionCall) goja.Value { return p.VM.ToValue(builtin.Show(p.Engine, c.Argument(0))) }}
				p.disposables = p.Engine.Load(disposablePrelude, p.Engine.Native(show, p.markLanguage())).(*goja.Object)
			}
			return p.disposables.Get(name)
		})
	}
}
