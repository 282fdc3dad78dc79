package date

import (
	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// Install has Date.parse and `new Date(text)` read texts as V8 does.
func Install(e *engine.Engine) {
	class := e.VM().Get("Date").(*goja.Object)
	builtin.Wrap(e, class, "parse", func(c goja.FunctionCall, _ insides.Function) goja.Value {
		return e.VM().ToValue(parseDate(c.Argument(0).ToString().String()))
	})
	slot := insides.TheGoja().ConstructorOf(class)
	if slot == nil {
		return // dates are goja's
	}
	original := *slot
	*slot = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
		if len(args) != 1 {
			return original(args, newTarget)
		}
		v := args[0]
		if obj, isObject := v.(*goja.Object); isObject && obj.ClassName() != "Date" {
			v = builtin.ToPrimitive(e, obj)
		}
		if text, isText := v.(goja.String); isText {
			v = e.VM().ToValue(parseDate(text.String()))
		}
		return original([]goja.Value{v}, newTarget)
	}
}
