package number

import (
	"github.com/dop251/goja"

	"minido.dev/minido/internal/elementary"
	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// InstallMath gives the functions of Math that ECMA-262 does not define to the last
// bit V8's results (package elementary).
func InstallMath(e *engine.Engine) {
	object := e.VM().Get("Math").(*goja.Object)
	for _, f := range []struct {
		name string
		fn   func(float64) float64
	}{
		{"acos", elementary.Acos}, {"acosh", elementary.Acosh}, {"asin", elementary.Asin}, {"asinh", elementary.Asinh},
		{"atan", elementary.Atan}, {"atanh", elementary.Atanh}, {"cbrt", elementary.Cbrt}, {"cos", elementary.Cos},
		{"cosh", elementary.Cosh}, {"exp", elementary.Exp}, {"expm1", elementary.Expm1}, {"log", elementary.Log},
		{"log10", elementary.Log10}, {"log1p", elementary.Log1p}, {"log2", elementary.Log2}, {"sin", elementary.Sin},
		{"sinh", elementary.Sinh}, {"tan", elementary.Tan}, {"tanh", elementary.Tanh},
	} {
		builtin.Wrap(e, object, f.name, func(c goja.FunctionCall, _ insides.Function) goja.Value {
			return e.VM().ToValue(f.fn(c.Argument(0).ToFloat()))
		})
	}
	for _, f := range []struct {
		name string
		fn   func(a, b float64) float64
	}{{"atan2", elementary.Atan2}, {"pow", elementary.Pow}} {
		builtin.Wrap(e, object, f.name, func(c goja.FunctionCall, _ insides.Function) goja.Value {
			a := c.Argument(0).ToFloat()
			return e.VM().ToValue(f.fn(a, c.Argument(1).ToFloat()))
		})
	}
	builtin.Wrap(e, object, "sign", func(c goja.FunctionCall, method insides.Function) goja.Value { // of which goja returns what is no number
		return method(goja.FunctionCall{This: c.This, Arguments: []goja.Value{c.Argument(0).ToNumber()}})
	})
	builtin.Wrap(e, object, "hypot", func(c goja.FunctionCall, _ insides.Function) goja.Value {
		list := make([]float64, len(c.Arguments))
		for i, v := range c.Arguments {
			list[i] = v.ToFloat()
		}
		return e.VM().ToValue(elementary.Hypot(list))
	})
}
