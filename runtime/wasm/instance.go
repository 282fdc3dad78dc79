package wasm

import (
	"runtime"
	"weak"

	"github.com/dop251/goja"
	"minido.dev/minido/internal/insides/instances"
	"minido.dev/minido/internal/lazyregexp"
)

// instantiateCode is "instantiate a WebAssembly module" (JS interface, section
// 5.1): the instance and its exports object. what names the operation in errors.
func (s *Store) instantiateCode(code *Code, object goja.Value, what string) *goja.Object {
	if _, ok := object.(*goja.Object); !ok && !goja.IsUndefined(object) {
		s.throw("TypeError", "%s: Argument 1 must be an object", what)
	}
	i := &instance{store: s, code: code, functions: map[uint32]*function{}}
	i.readImports(what, object)
	if err := code.Compile(); err != nil {
		s.throw("CompileError", "%s: %v", what, err)
	}
	i.bounds(what)
	i.connect(what)
	i.adopt()
	exports := i.exportsObject()
	if code.binary.overflowing(i) {
		s.throw("RuntimeError", "%s: table index is out of bounds", what)
	}
	if code.binary.start >= 0 {
		f := i.function(uint32(code.binary.start))
		s.active++
		defer s.leave()
		s.run(f, nil)
	}
	runtime.KeepAlive(i)
	return exports
}

// bounds refuses memories and tables that are too large.
func (i *instance) bounds(what string) {
	b := i.code.binary
	for _, m := range b.memories[b.imported[kindMemory]:] {
		if m.memory.min > pageLimit {
			i.store.throw("RangeError", "%s: Out of memory: Cannot allocate Wasm memory for new instance: %s", what, bound)
		}
		i.store.engine.Memory.Allocate(int64(m.memory.min)*pageSize, what+": Out of memory: Cannot allocate Wasm memory for new instance")
	}
	for _, t := range b.tables[b.imported[kindTable]:] {
		if t.table.limits.min > maxTable {
			i.store.throw("RangeError", "%s: Out of memory: Cannot allocate Wasm table for new instance", what)
		}
	}
}

var segment = lazyregexp.New(`^data\[(\d+)\]: out of bounds memory access$`)

// connect makes wazero's instance and its imports.
func (i *instance) connect(what string) {
	s := i.store
	e, err := theCompiler()
	if err != nil {
		s.throw("RuntimeError", "%s: %v", what, err)
	}
	left := &remains{borrowed: i.code.binary.imported[kindMemory] > 0}
	if len(i.imports) > 0 {
		left.hostCode, left.host, err = i.hostOf(e)
	}
	if err == nil {
		err = s.instantiate(i, i.code.compiled, i.provided(left.host))
	}
	if err != nil {
		left.close()
		if m := segment.FindStringSubmatch(err.Error()); m != nil {
			s.throw("RuntimeError", "%s: data segment %s is out of bounds", what, m[1])
		}
		s.throw("LinkError", "%s: %v", what, err)
	}
	left.mod = i.mod
	s.born(i, left)
	if u := i.code.rewritten.unwind; u != nil {
		i.thrown = instances.GlobalOf(i.mod, u.thrown)
	}
	if at := i.code.rewritten.fuel; at >= 0 {
		elements, _ := instances.TableOf(i.mod, at)
		(*elements)[0] = e.ticks
	}
	me := weak.Make(i)
	for _, n := range []int{0, len(i.imports)} { // an imported one, one of its own
		if n < len(i.code.binary.functions) {
			s.contexts[instances.CodeOf(i.engine.FunctionInstanceReference(uint32(n))).Instance] = me
		}
	}
}

// adopt makes the objects of what the module defines itself.
func (i *instance) adopt() {
	b := i.code.binary
	for _, m := range b.memories[len(i.memories):] {
		i.memories = append(i.memories, &memory{inst: i, typ: m.memory})
	}
	for n, t := range b.tables[len(i.tables):] {
		i.tables = append(i.tables, &table{inst: i, index: b.imported[kindTable] + n, typ: t.table})
	}
	for n, g := range b.globals[len(i.globals):] {
		i.globals = append(i.globals, &global{inst: i, index: b.imported[kindGlobal] + n, typ: g.global})
	}
	for _, t := range b.tags[len(i.tags):] {
		i.tags = append(i.tags, &tag{params: t.function.params})
	}
}

// exportsObject is the frozen object without a prototype that has the exports.
func (i *instance) exportsObject() *goja.Object {
	s := i.store
	exports := s.vm.CreateObject(nil)
	for _, x := range i.code.binary.exports {
		var v goja.Value
		switch x.kind {
		case kindFunction:
			v = i.function(x.index).object
		case kindMemory:
			v = s.memoryObject(i.memories[x.index], x.name)
		case kindTable:
			v = s.tableObject(i.tables[x.index], x.name)
		case kindGlobal:
			v = s.globalObject(i.globals[x.index], x.name)
		default:
			t := i.tags[x.index]
			if t.object == nil {
				t.object = s.classes.tag.Wrap(t)
			}
			v = t.object
		}
		exports.DefineDataProperty(x.name, v, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_TRUE)
	}
	s.engine.Call(s.engine.Primordial("ObjectFreeze"), goja.Undefined(), exports)
	return exports
}
