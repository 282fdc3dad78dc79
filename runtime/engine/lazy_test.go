package engine

import (
	"testing"

	"github.com/dop251/goja"
)

// A lazy global shows as the data property that it stands for, as ECMA-262,
// section 17 has it ({writable, configurable, not enumerable}); a module's export
// that nobody read is still an accessor.
func TestLazyDescriptors(t *testing.T) {
	w := newWorld(t)
	w.e.Lazies.Global("Lazy", func() goja.Value { return w.e.vm.ToValue(5) })
	exports := w.e.vm.NewObject()
	w.e.Lazies.Export(exports, "part", func() goja.Value { return w.e.vm.ToValue(6) })
	w.e.Global("exports", exports)
	w.script(nil, `const d = Object.getOwnPropertyDescriptor(globalThis, "Lazy"), r = Reflect.getOwnPropertyDescriptor(globalThis, "Lazy");
		say([d.value, d.writable, d.enumerable, d.configurable, r.value, typeof Object.getOwnPropertyDescriptor(exports, "part").get, exports.part].join());`)
	w.said("5,true,false,true,5,function,6")
}
