package cfapi

import (
	_ "embed"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

//go:embed js/ai.js
var aiSource string

var aiPrelude = engine.NewPrelude("ai.js", aiSource)

// AI is a Workers AI binding whose run(model, inputs) is POST base/ai/run/model.
// It is made before user code runs, so that it calls the platform's own fetch.
func (a *API) AI(base string) goja.Value {
	create := a.Engine.Load(aiPrelude, a.Engine.Native())
	return a.Engine.Call(create, goja.Undefined(), a.vm.GlobalObject().Get("fetch"), a.vm.ToValue(base))
}
