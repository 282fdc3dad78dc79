package cfapi

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
)

// envKey and exportsKey are where a frame has what withEnv() and withExports()
// put in place of the isolate's own (workerd: api/workers-module.h, EnvModule).
type (
	envKey     struct{}
	exportsKey struct{}
)

// currentEnv is what `env` of cloudflare:workers shows now.
func (a *API) currentEnv(goja.FunctionCall) goja.Value {
	if v := a.Engine.Frame().Local(envKey{}); v != nil {
		return v
	}
	if a.Platform.Enabled(compat.DisallowImportableEnv) {
		return a.vm.NewObject()
	}
	return a.env
}

// currentExports is what `exports` of cloudflare:workers shows now: nothing
// while the module is being evaluated.
func (a *API) currentExports(goja.FunctionCall) goja.Value {
	if v := a.Engine.Frame().Local(exportsKey{}); v != nil {
		return v
	}
	if a.exports == nil || a.Platform.Enabled(compat.DisallowImportableEnv) {
		return a.vm.NewObject()
	}
	return a.exports
}
