package streams

import (
	"reflect"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// isNumber tells Numbers from other values.
func isNumber(v goja.Value) bool {
	switch v.ExportType().Kind() {
	case reflect.Int64, reflect.Float64:
		return true
	}
	return false
}

// defineStrategy makes one of the two queuing strategies (Streams, section 7), as
// workerd has them: each look at size() gives another function
// (src/workerd/api/streams/queue.h).
func defineStrategy(p *Streams, name string, size func(goja.Value) goja.Value) goja.Value {
	type strategy struct{ highWaterMark goja.Value }
	return engine.DefineClass(p.Engine, engine.ClassDef[*strategy]{
		Name: name,
		New: func(call goja.ConstructorCall) *strategy {
			init, ok := call.Argument(0).(*goja.Object)
			if !ok {
				p.BadConstruct(name, 1, "QueuingStrategyInit")
			}
			mark := webidl.Present(init, "highWaterMark")
			if mark == nil {
				return &strategy{goja.Undefined()}
			}
			return &strategy{mark.ToNumber()}
		},
		Accessors: []engine.Accessor[*strategy]{
			{Name: "highWaterMark", Get: func(s *strategy, _ *goja.Object) goja.Value { return s.highWaterMark }},
			{Name: "size", Get: func(*strategy, *goja.Object) goja.Value {
				return p.Engine.Func("", 0, func(call goja.FunctionCall) goja.Value { return size(call.Argument(0)) })
			}},
		},
	}).Ctor
}
