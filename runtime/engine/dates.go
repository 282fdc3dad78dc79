package engine

import (
	"github.com/dop251/goja"
	"minido.dev/minido/internal/insides"
)

// installDates has Date.parse and `new Date(text)` read texts as V8 does.
func (e *Engine) installDates() {
	class := e.vm.Get("Date").(*goja.Object)
	e.wrap(class, "parse", func(c goja.FunctionCall, _ insides.Function) goja.Value {
		return e.vm.ToValue(parseDate(c.Argument(0).ToString().String()))
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
			v = e.primitive(obj)
		}
		if text, isText := v.(goja.String); isText {
			v = e.vm.ToValue(parseDate(text.String()))
		}
		return original([]goja.Value{v}, newTarget)
	}
}

// primitive is ToPrimitive without a hint (ECMA-262, section 7.1.1).
func (e *Engine) primitive(obj *goja.Object) goja.Value { return e.primitiveFor(obj, "default") }

// primitiveFor is ToPrimitive with the hint "default" or "number".
func (e *Engine) primitiveFor(obj *goja.Object, hint string) goja.Value {
	if method := obj.GetSymbol(goja.SymToPrimitive); method != nil && !goja.IsUndefined(method) && !goja.IsNull(method) {
		if !IsCallable(method) {
			shown := e.Show(method)
			e.Throw("TypeError", "'%s' returned for property 'Symbol(Symbol.toPrimitive)' of object '%s' is not a function", shown, e.Show(obj))
		}
		v := e.Call(method, obj, e.String(hint))
		if _, isObject := v.(*goja.Object); isObject {
			e.Throw("TypeError", "Cannot convert object to primitive value")
		}
		return v
	}
	for _, name := range []string{"valueOf", "toString"} {
		if method := obj.Get(name); IsCallable(method) {
			if v := e.Call(method, obj); !isObjectValue(v) {
				return v
			}
		}
	}
	e.Throw("TypeError", "Cannot convert object to primitive value")
	return nil
}

func isObjectValue(v goja.Value) bool {
	_, ok := v.(*goja.Object)
	return ok
}
