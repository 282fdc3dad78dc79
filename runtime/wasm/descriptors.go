package wasm

import (
	"math"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides/instances"
	"minido.dev/minido/runtime/engine"
)

// unsigned is Web IDL's [EnforceRange] unsigned long, with V8's texts; what is
// "Argument 0", or "Property 'initial'".
func (s *Store) unsigned(v goja.Value, where, what string) uint32 {
	f := s.number(v)
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		s.throw("TypeError", "%s: %s must be convertible to a valid number", where, what)
	case math.Trunc(f) < 0:
		s.throw("TypeError", "%s: %s must be non-negative", where, what)
	case f > math.MaxUint32:
		s.throw("TypeError", "%s: %s must be in the unsigned long range", where, what)
	}
	return uint32(f)
}

// member is a property of a descriptor.
func member(o *goja.Object, name string) goja.Value {
	if v := o.Get(name); v != nil {
		return v
	}
	return goja.Undefined()
}

// limitsOf are those of a descriptor, up to most.
func (s *Store) limitsOf(o *goja.Object, where string, most uint64) limits {
	v := member(o, "initial")
	if goja.IsUndefined(v) {
		s.throw("TypeError", "%s: Property 'initial' is required", where)
	}
	bounded := func(v goja.Value, name string, from uint64) uint64 {
		n := uint64(s.unsigned(v, where, "Property '"+name+"'"))
		switch {
		case n < from:
			s.throw("RangeError", "%s: Property '%s': value %d is below the lower bound %d", where, name, n, from)
		case n > most:
			s.throw("RangeError", "%s: Property '%s': value %d is above the upper bound %d", where, name, n, most)
		}
		return n
	}
	l := limits{min: bounded(v, "initial", 0)}
	if v := member(o, "maximum"); !goja.IsUndefined(v) {
		if most == maxTable {
			most = math.MaxUint32
		}
		l.max, l.bounded = bounded(v, "maximum", l.min), true
	}
	return l
}

// descriptor is the first argument of a constructor.
func (s *Store) descriptor(call goja.ConstructorCall, where, what string) *goja.Object {
	o, ok := call.Argument(0).(*goja.Object)
	if !ok {
		s.throw("TypeError", "%s: Argument 0 must be a %s descriptor", where, what)
	}
	return o
}

func (s *Store) defineMemory() {
	const where = "WebAssembly.Memory()"
	c := engine.DefineClass(s.engine, engine.ClassDef[*memory]{
		Language: true,
		Name:     "Memory", Tag: "WebAssembly.Memory", Length: 1, Called: where + ": WebAssembly.Memory must be invoked with 'new'",
		New: func(call goja.ConstructorCall) *memory {
			o := s.descriptor(call, where, "memory")
			l := s.limitsOf(o, where, maxPages)
			if member(o, "shared").ToBoolean() {
				if !l.bounded {
					s.throw("TypeError", "%s: If shared is true, maximum property should be defined.", where)
				}
				s.throw("TypeError", "%s: shared memories are not supported by minido, which has no threads: leave 'shared' out", where)
			}
			if l.min > pageLimit {
				s.throw("RangeError", "%s: could not allocate memory: %s", where, bound)
			}
			s.engine.Memory.Allocate(int64(l.min)*pageSize, where+": could not allocate memory")
			i := s.home(moduleOf(entity{kind: kindMemory, memory: l}), nil)
			m := &memory{inst: i, typ: l, object: call.This}
			i.memories = []*memory{m}
			return m
		},
	})
	s.classes.memory = c
	method(s, c, "grow", 1, func(m *memory, what string, call goja.FunctionCall) goja.Value {
		return m.grow(s.unsigned(call.Argument(0), what, "Argument 0"))
	})
	getter(s, c, "buffer", "WebAssembly.Memory.buffer", (*memory).view)
	s.define("Memory", c.Ctor)
}

// memoryObject is the WebAssembly.Memory of a memory that an instance exports.
func (s *Store) memoryObject(m *memory, name string) *goja.Object {
	if m.object == nil {
		m.object = s.classes.memory.Wrap(m)
	}
	if m.name == "" {
		m.name = name
	}
	return m.object
}

// elementTypes are the texts of a table's element type, and of a global's.
var elementTypes = map[string]valueType{"anyfunc": typeFuncref, "externref": typeExternref}

const notFunction = "function-typed object must be null (if nullable) or a Wasm function object"

func (s *Store) defineTable() {
	const where = "WebAssembly.Table()"
	c := engine.DefineClass(s.engine, engine.ClassDef[*table]{
		Language: true,
		Name:     "Table", Tag: "WebAssembly.Table", Length: 1, Called: where + ": WebAssembly.Table must be invoked with 'new'",
		New: func(call goja.ConstructorCall) *table {
			o := s.descriptor(call, where, "table")
			element, ok := elementTypes[member(o, "element").String()]
			if !ok {
				s.throw("TypeError", "%s: Descriptor property 'element' must be a WebAssembly reference type", where)
			}
			typ := tableType{element, s.limitsOf(o, where, maxTable)}
			i := s.home(moduleOf(entity{kind: kindTable, table: typ}), nil)
			t := &table{inst: i, typ: typ, object: call.This}
			i.tables = []*table{t}
			args := call.Arguments
			if len(args) > 1 && element == typeFuncref && goja.IsUndefined(args[1]) {
				args = args[:1]
			}
			ref, ok := t.convert(args, 1)
			if !ok {
				s.throw("TypeError", "%s: Argument 2 must be undefined or a value of type compatible with the type of the new table: %s.", where, notFunction)
			}
			elements := *t.elements()
			for n := range elements {
				elements[n] = ref
			}
			return t
		},
	})
	s.classes.table = c
	getter(s, c, "length", "WebAssembly.Table.length()", func(t *table) goja.Value { return s.vm.ToValue(int64(t.length())) })
	method(s, c, "grow", 1, func(t *table, what string, call goja.FunctionCall) goja.Value {
		delta := s.unsigned(call.Argument(0), what, "Argument 0")
		ref, ok := t.convert(call.Arguments, 1)
		if !ok {
			s.throw("TypeError", "%s: Argument 1 is invalid: %s", what, notFunction)
		}
		before, ok := t.grow(delta, ref)
		if !ok {
			s.throw("RangeError", "%s: failed to grow table by %d", what, delta)
		}
		return s.vm.ToValue(int64(before))
	})
	place := func(t *table, what string, v goja.Value) uint32 {
		i := s.unsigned(v, what, "Argument 0")
		if n := t.length(); uint64(i) >= uint64(n) {
			s.throw("RangeError", "%s: invalid address %d in %s table of size %d", what, i, typeName(t.typ.element), n)
		}
		return i
	}
	method(s, c, "set", 1, func(t *table, what string, call goja.FunctionCall) goja.Value {
		i := place(t, what, call.Argument(0))
		ref, ok := t.convert(call.Arguments, 1)
		if !ok {
			s.throw("TypeError", "%s: Argument 1 is invalid for table: %s", what, notFunction)
		}
		(*t.elements())[i] = ref
		return goja.Undefined()
	})
	method(s, c, "get", 1, func(t *table, what string, call goja.FunctionCall) goja.Value {
		return t.at(place(t, what, call.Argument(0)))
	})
	s.define("Table", c.Ctor)
}

func typeName(t valueType) string {
	if t == typeFuncref {
		return "funcref"
	}
	return "externref"
}

func (s *Store) tableObject(t *table, name string) *goja.Object {
	if t.object == nil {
		t.object = s.classes.table.Wrap(t)
	}
	if t.name == "" {
		t.name = name
	}
	return t.object
}

var globalTypes = map[string]valueType{"i32": typeI32, "i64": typeI64, "f32": typeF32, "f64": typeF64, "v128": typeV128, "anyfunc": typeFuncref, "externref": typeExternref}

// newGlobal makes a global that is no module's.
func (s *Store) newGlobal(typ globalType, bits uint64) *global {
	i := s.home(moduleOf(entity{kind: kindGlobal, global: typ}), nil)
	instances.PresetGlobal(i.mod, bits)
	g := &global{inst: i, typ: typ}
	i.globals = []*global{g}
	return g
}

func (s *Store) defineGlobal() {
	const where = "WebAssembly.Global()"
	c := engine.DefineClass(s.engine, engine.ClassDef[*global]{
		Language: true,
		Name:     "Global", Tag: "WebAssembly.Global", Length: 1, Called: where + ": WebAssembly.Global must be invoked with 'new'",
		New: func(call goja.ConstructorCall) *global {
			o := s.descriptor(call, where, "global")
			typ := globalType{mutable: member(o, "mutable").ToBoolean()}
			var ok bool
			if typ.value, ok = globalTypes[member(o, "value").String()]; !ok {
				s.throw("TypeError", "%s: Descriptor property 'value' must be a WebAssembly type", where)
			}
			if typ.value == typeV128 {
				s.throw("TypeError", "%s: A global of type 'v128' cannot be created in JavaScript", where)
			}
			var bits uint64
			v := call.Argument(1)
			switch {
			case typ.value == typeFuncref:
				if goja.IsUndefined(v) {
					v = goja.Null()
				}
				if bits, ok = s.reference(v, nil); !ok {
					s.throw("TypeError", "%s: %s", where, notFunction)
				}
			case typ.value == typeExternref || !goja.IsUndefined(v):
				bits = s.toWasm(v, typ.value, nil)
			}
			g := s.newGlobal(typ, bits)
			if typ.value == typeFuncref {
				s.reference(v, g.inst)
			}
			g.object = call.This
			return g
		},
	})
	s.classes.global = c
	method(s, c, "valueOf", 0, func(g *global, _ string, _ goja.FunctionCall) goja.Value { return g.get() })
	c.Proto.DefineAccessorProperty("value", s.engine.Func("get value", 0, func(call goja.FunctionCall) goja.Value {
		return receiver(s, c, call.This, "get WebAssembly.Global.value)").get()
	}), s.engine.Func("set value", 1, func(call goja.FunctionCall) goja.Value {
		const what = "set WebAssembly.Global.value)"
		g := receiver(s, c, call.This, what)
		if !g.typ.mutable {
			s.throw("TypeError", "%s: Can't set the value of an immutable global.", what)
		}
		if len(call.Arguments) == 0 {
			s.throw("TypeError", "%s: Argument 0 is required", what)
		}
		v := call.Argument(0)
		if g.typ.value == typeFuncref {
			ref, ok := s.reference(v, g.inst)
			if !ok {
				s.throw("TypeError", "%s: value of an funcref reference must be either null or an exported function", what)
			}
			g.set(ref)
			return goja.Undefined()
		}
		g.set(s.toWasm(v, g.typ.value, g.inst))
		return goja.Undefined()
	}), goja.FLAG_TRUE, goja.FLAG_TRUE)
	s.define("Global", c.Ctor)
}

func (s *Store) globalObject(g *global, name string) *goja.Object {
	if g.object == nil {
		g.object = s.classes.global.Wrap(g)
	}
	if g.name == "" {
		g.name = name
	}
	return g.object
}
