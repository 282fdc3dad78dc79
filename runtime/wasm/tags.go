package wasm

import (
	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides/instances"
	"minido.dev/minido/runtime/engine"
)

// tag is a WebAssembly.Tag. Loop-confined.
type tag struct {
	params []valueType
	js     bool // WebAssembly.JSTag: what JavaScript throws
	object *goja.Object
}

// exception is a WebAssembly.Exception.
type exception struct {
	tag     *tag
	payload []goja.Value
	stack   goja.Value
}

var tagTypes = map[string]valueType{"i32": typeI32, "i64": typeI64, "f32": typeF32, "f64": typeF64, "externref": typeExternref, "anyfunc": typeFuncref}

// defineTags defines Tag, JSTag and Exception (JS interface of the exception
// handling proposal).
func (s *Store) defineTags() {
	s.classes.tag = engine.DefineClass(s.engine, engine.ClassDef[*tag]{
		Language: true,
		Name:     "Tag", Tag: "WebAssembly.Tag", Length: 1, Called: "WebAssembly.Tag(): WebAssembly.Tag must be invoked with 'new'",
		New: func(call goja.ConstructorCall) *tag {
			const where = "WebAssembly.Tag()"
			o, ok := call.Argument(0).(*goja.Object)
			if !ok {
				s.throw("TypeError", "%s: Argument 0 must be a tag type", where)
			}
			list, ok := member(o, "parameters").(*goja.Object)
			if !ok {
				s.throw("TypeError", "%s: Argument 0 must be a tag type with 'parameters'", where)
			}
			t := &tag{object: call.This}
			for n, v := range s.listOf(list) {
				typ, ok := tagTypes[v.String()]
				if !ok {
					s.throw("TypeError", "%s: Argument 0 parameter type at index #%d must be a value type", where, n)
				}
				t.params = append(t.params, typ)
			}
			return t
		},
	})
	s.define("Tag", s.classes.tag.Ctor)
	s.jsTag = &tag{params: []valueType{typeExternref}, js: true}
	s.jsTag.object = s.classes.tag.Wrap(s.jsTag)
	s.names.DefineDataProperty("JSTag", s.jsTag.object, goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	s.defineException()
}

// listOf is what an iterable gives.
func (s *Store) listOf(v goja.Value) []goja.Value {
	listed, err := s.helpers.collect(goja.Undefined(), v)
	if err != nil {
		s.engine.Rethrow(err)
	}
	o := listed.(*goja.Object)
	list := make([]goja.Value, o.Get("length").ToInteger())
	for n := range list {
		list[n] = o.Get(s.vm.ToValue(n).String())
	}
	return list
}

func (s *Store) defineException() {
	const where = "WebAssembly.Exception()"
	c := engine.DefineClass(s.engine, engine.ClassDef[*exception]{
		Language: true,
		Name:     "Exception", Tag: "WebAssembly.Exception", Length: 2, Called: where + ": WebAssembly.Exception must be invoked with 'new'",
		New: func(call goja.ConstructorCall) *exception {
			t, ok := s.classes.tag.Of(call.Argument(0))
			switch {
			case !ok:
				s.throw("TypeError", "%s: Argument 0 must be a WebAssembly tag", where)
			case t.js:
				s.throw("TypeError", "%s: Argument 0 cannot be WebAssembly.JSTag", where)
			}
			list, ok := call.Argument(1).(*goja.Object)
			if !ok {
				s.throw("TypeError", "%s: Exception values must be an iterable object", where)
			}
			values := s.listOf(list)
			if len(values) != len(t.params) {
				s.throw("TypeError", "%s: Number of exception values does not match signature length", where)
			}
			x := &exception{tag: t, stack: goja.Undefined()}
			for n, v := range values {
				x.payload = append(x.payload, s.toJS(s.toWasm(v, t.params[n], nil), t.params[n]))
			}
			if o, ok := call.Argument(2).(*goja.Object); ok && member(o, "traceStack").ToBoolean() {
				x.stack = s.engine.Errors.New("Error", "").Get("stack")
			}
			return x
		},
	})
	s.classes.exception = c
	argument := func(what string, call goja.FunctionCall) *tag {
		t, ok := s.classes.tag.Of(call.Argument(0))
		if !ok {
			s.throw("TypeError", "%s: Argument 0 must be a WebAssembly.Tag", what)
		}
		return t
	}
	method(s, c, "getArg", 2, func(x *exception, what string, call goja.FunctionCall) goja.Value {
		t := argument(what, call)
		n := s.unsigned(call.Argument(1), what, "Argument 1")
		switch {
		case x.tag != t:
			s.throw("TypeError", "%s: First argument does not match the exception tag", what)
		case int(n) >= len(x.payload):
			s.throw("RangeError", "%s: Index out of range", what)
		}
		return x.payload[n]
	})
	method(s, c, "is", 1, func(x *exception, what string, call goja.FunctionCall) goja.Value {
		return s.vm.ToValue(x.tag == argument(what, call))
	})
	getter(s, c, "stack", "WebAssembly.Exception.stack()", func(x *exception) goja.Value { return x.stack })
	s.define("Exception", c.Ctor)
}

func (l linking) tag(item importItem, v goja.Value) {
	t, ok := l.store.engine.Attached(v).(*tag)
	switch {
	case !ok:
		l.fail("tag import requires a WebAssembly.Tag")
	case string(t.params) != string(item.function.params):
		l.fail("imported tag does not match the expected type")
	case l.code.rewritten.unwind == nil:
		l.fail("tags cannot be imported by modules with standard exception handling (try_table) in minido; compile with -wasm-legacy-exceptions or without exceptions")
	}
	l.tags = append(l.tags, t)
}

// pending is what an instance has thrown and no handler of its own has taken.
func (i *instance) pending() bool {
	if i.thrown == nil {
		return false
	}
	v, _ := i.thrown.Value()
	return uint32(v) != 0
}

func (i *instance) unwindGlobal(k int) instances.Cell {
	return instances.GlobalOf(i.mod, i.code.rewritten.unwind.value+k)
}

// throwPending throws it in JavaScript.
func (i *instance) throwPending() {
	s, u := i.store, i.code.rewritten.unwind
	at, _ := i.thrown.Value()
	i.thrown.SetValue(0, 0)
	by, _ := i.unwindGlobal(0).Value()
	i.unwindGlobal(0).SetValue(0, 0)
	if int32(at) == thrownByJS {
		panic(s.extern.value(by))
	}
	n := int(uint32(at)) - 1
	t := i.tags[n]
	x := &exception{tag: t, stack: goja.Undefined()}
	for k, typ := range t.params {
		v, _ := i.unwindGlobal(u.first[n] + k).Value()
		x.payload = append(x.payload, s.toJS(v, typ))
	}
	if t.js {
		panic(x.payload[0])
	}
	// The object that JavaScript threw in, if it is that one.
	if o, ok := s.extern.value(by).(*goja.Object); ok {
		if before, ok := s.classes.exception.Of(o); ok && before.tag == t {
			panic(o)
		}
	}
	panic(s.classes.exception.Wrap(x))
}

// catches is deferred around a function of JavaScript that an instance calls: what
// it throws goes to the instance's handlers.
func (i *instance) catches(stack []uint64) {
	r := recover()
	var v goja.Value
	switch r := r.(type) {
	case nil:
		return
	case *goja.Exception:
		v = r.Value()
	case goja.Value:
		v = r
	default: // an interruption
		panic(r)
	}
	if o, ok := v.(*goja.Object); ok && o == i.store.trapped {
		panic(r) // no handler takes a trap
	}
	clear(stack)
	s, u := i.store, i.code.rewritten.unwind
	i.unwindGlobal(0).SetValue(s.extern.handle(s, v), 0)
	x, _ := s.classes.exception.Of(v)
	for n, t := range i.tags {
		switch {
		case x != nil && x.tag == t:
			for k, typ := range t.params {
				i.unwindGlobal(u.first[n]+k).SetValue(s.toWasm(x.payload[k], typ, i), 0)
			}
		case x == nil && t.js:
			i.unwindGlobal(u.first[n]).SetValue(s.extern.handle(s, v), 0)
		default:
			continue
		}
		i.thrown.SetValue(uint64(n)+1, 0)
		return
	}
	i.thrown.SetValue(uint64(uint32(0xffffffff)), 0)
}
