package cfapi

import (
	"encoding/hex"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// spanKey is where a frame has the span that is active in it.
type spanKey struct{}

// span is a Span of user code's (workerd: api/tracing.h). Nobody collects what it is told:
// isTraced is false.
type span struct{ traceID, spanID string }

// tracing is `tracing` of cloudflare:workers, and of the ctx of a stateless event.
type tracing struct{ root *goja.Object } // what is active where no span was entered; made at its first use

// tracer has the classes of spans. Loop-confined.
type tracer struct {
	a     *API
	spans *engine.Class[*span]
	class *engine.Class[*tracing]
}

// Tracing makes an object that enters spans. Loop-confined.
func (a *API) Tracing() *goja.Object {
	if a.tracer == nil {
		a.tracer = &tracer{a: a}
		a.tracer.define()
	}
	return a.tracer.class.Wrap(&tracing{})
}

func (t *tracer) define() {
	e := t.a.Engine
	itself := func(call goja.FunctionCall) goja.Value { return call.This }
	t.spans = engine.DefineClass(e, engine.ClassDef[*span]{
		Name: "Span",
		Methods: []engine.Method[*span]{
			{Name: "setAttribute", Length: 2, Fn: func(_ *span, call goja.FunctionCall) goja.Value {
				t.need(call, "Span", "setAttribute", 1, "string", nil)
				return itself(call)
			}},
			{Name: "setAttributes", Length: 1, Fn: func(_ *span, call goja.FunctionCall) goja.Value {
				t.need(call, "Span", "setAttributes", 1, "object", isObject)
				return itself(call)
			}},
			{Name: "updateName", Length: 1, Fn: func(_ *span, call goja.FunctionCall) goja.Value {
				t.need(call, "Span", "updateName", 1, "string", nil)
				return itself(call)
			}},
			{Name: "setStatus", Length: 1, Fn: func(_ *span, call goja.FunctionCall) goja.Value {
				t.need(call, "Span", "setStatus", 1, "TracingSpanStatus", isObject)
				switch code := call.Argument(0).(*goja.Object).Get("code"); {
				case code != nil && (code.String() == "unset" || code.String() == "ok" || code.String() == "error"):
				default:
					e.Throw("TypeError", "Span status code must be 'unset', 'ok', or 'error'.")
				}
				return itself(call)
			}},
			{Name: "recordException", Length: 1, Fn: func(_ *span, call goja.FunctionCall) goja.Value {
				t.need(call, "Span", "recordException", 1, "Value", nil)
				return goja.Undefined()
			}},
			{Name: "end", Fn: func(*span, goja.FunctionCall) goja.Value { return goja.Undefined() }},
			{Name: "spanContext", Fn: func(s *span, _ goja.FunctionCall) goja.Value {
				o := t.a.vm.NewObject()
				o.Set("traceId", s.traceID)
				o.Set("spanId", s.spanID)
				o.Set("traceFlags", 0)
				return o
			}},
		},
		Accessors: []engine.Accessor[*span]{
			{Name: "isTraced", Get: func(*span, *goja.Object) goja.Value { return t.a.vm.ToValue(false) }},
		},
	})
	t.class = engine.DefineClass(e, engine.ClassDef[*tracing]{
		Name: "Tracing",
		Methods: []engine.Method[*tracing]{
			{Name: "enterSpan", Length: 2, Fn: func(x *tracing, call goja.FunctionCall) goja.Value {
				t.need(call, "Tracing", "enterSpan", 1, "string", nil)
				t.need(call, "Tracing", "enterSpan", 2, "Function", isFunction)
				s := t.span(x)
				return t.in(s, call.Arguments[1], append([]goja.Value{s}, call.Arguments[2:]...))
			}},
			{Name: "startActiveSpan", Length: 2, Fn: func(x *tracing, call goja.FunctionCall) goja.Value {
				t.need(call, "Tracing", "startActiveSpan", 1, "string", nil)
				t.need(call, "Tracing", "startActiveSpan", 2, "Function", isFunction)
				s := t.span(x)
				return t.in(s, call.Arguments[1], []goja.Value{s})
			}},
			{Name: "startSpan", Length: 1, Fn: func(x *tracing, call goja.FunctionCall) goja.Value {
				t.need(call, "Tracing", "startSpan", 1, "string", nil)
				return t.span(x)
			}},
			{Name: "withActiveSpan", Length: 2, Fn: func(_ *tracing, call goja.FunctionCall) goja.Value {
				t.need(call, "Tracing", "withActiveSpan", 1, "Span", func(v goja.Value) bool { _, ok := e.Attached(v).(*span); return ok })
				t.need(call, "Tracing", "withActiveSpan", 2, "Function", isFunction)
				return t.in(call.Arguments[0], call.Arguments[1], call.Arguments[2:])
			}},
			{Name: "getActiveSpan", Fn: func(x *tracing, _ goja.FunctionCall) goja.Value { return t.active(x) }},
		},
		Accessors: []engine.Accessor[*tracing]{
			{Name: "Span", Get: func(*tracing, *goja.Object) goja.Value { return t.spans.Ctor }},
		},
	})
}

func isObject(v goja.Value) bool {
	_, ok := v.(*goja.Object)
	return ok
}

func isFunction(v goja.Value) bool { return engine.IsCallable(v) }

// need throws unless there is an nth argument, which is right.
func (t *tracer) need(call goja.FunctionCall, class, method string, n int, of string, right func(goja.Value) bool) {
	if len(call.Arguments) < n || right != nil && !right(call.Arguments[n-1]) {
		t.a.Engine.Throw("TypeError", "Failed to execute '%s' on '%s': parameter %d is not of type '%s'.", method, class, n, of)
	}
}

// span makes one within what is active.
func (t *tracer) span(x *tracing) *goja.Object {
	parent, _ := t.a.Engine.Attached(t.active(x)).(*span)
	return t.spans.Wrap(&span{parent.traceID, t.id(8)})
}

// active is the span of the present frame.
func (t *tracer) active(x *tracing) goja.Value {
	if v := t.a.Engine.Frame().Local(spanKey{}); v != nil {
		return v
	}
	if x.root == nil {
		x.root = t.spans.Wrap(&span{t.id(16), t.id(8)})
	}
	return x.root
}

func (t *tracer) id(n int) string {
	b := make([]byte, n)
	_, _ = t.a.Engine.Entropy().Read(b) // a Source always fills it
	return hex.EncodeToString(b)
}

// in calls fn with a span active, for what fn starts too.
func (t *tracer) in(s, fn goja.Value, args []goja.Value) (result goja.Value) {
	e := t.a.Engine
	e.In(e.Frame().WithLocal(spanKey{}, s), func() { result = e.Call(fn, goja.Undefined(), args...) })
	return result
}
