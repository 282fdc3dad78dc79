package driver

import (
	"fmt"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
)

// Absent makes a binding that minido does not offer: it exists, and its first use
// throws its kind, where it is configured, and what to do.
func Absent(a *cfapi.API, b config.Binding) goja.Value {
	advice := ""
	if k := binding.Lookup(b.Kind); k != nil {
		advice = k.Advice
	}
	vm := a.Engine.VM()
	text := fmt.Sprintf("env.%s is a binding of kind %q (%s), which minido does not offer. %s", b.Name, b.Kind.Title(), b.Where, advice)
	throw := func() goja.Value {
		a.Engine.Throw("Error", "%s", text)
		return nil
	}
	target := vm.NewObject()
	proxy := vm.NewProxy(target, &goja.ProxyTrapConfig{
		Get: func(_ *goja.Object, property string, _ goja.Value) goja.Value {
			switch property {
			case "then", "toJSON", "constructor", "toString", "valueOf":
				return target.Get(property) // being looked at is not being used
			}
			return throw()
		},
		Set: func(*goja.Object, string, goja.Value, goja.Value) bool { throw(); return false },
	})
	return vm.ToValue(proxy)
}
