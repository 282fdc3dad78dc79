package wasm

import (
	"strconv"

	"github.com/dop251/goja"
	"github.com/tetratelabs/wazero/api"
	"minido.dev/minido/internal/insides/instances"
)

// function is an Exported Function (JS interface, section 5.5): one for each
// address, so that JavaScript always gets the same object. Loop-confined.
type function struct {
	inst   *instance
	index  uint32 // in the instance's index space
	typ    functionType
	object *goja.Object
	ref    uintptr
	idle   []api.Function // each can run one call at a time
	refs   bool           // references to functions pass through it
}

// function is the Exported Function of an index.
func (i *instance) function(index uint32) *function {
	if f := i.functions[index]; f != nil {
		return f
	}
	if int(index) < len(i.imports) {
		if f := i.imports[index].wasm; f != nil {
			i.functions[index] = f
			return f
		}
	}
	s := i.store
	f := &function{inst: i, index: index, typ: i.code.binary.functions[index].function}
	f.refs = f.typ.has(typeFuncref)
	f.object = s.engine.Func(strconv.Itoa(int(index)), len(f.typ.params), f.call)
	s.engine.Attach(f.object, f)
	i.functions[index] = f
	return f
}

// reference is what tables and globals hold of it.
func (f *function) reference() uintptr {
	if f.ref == 0 {
		f.ref = f.inst.engine.FunctionInstanceReference(f.index)
	}
	return f.ref
}

// maxIdle bounds the stacks that are kept for a function's next calls.
const maxIdle = 4

// call is the function as JavaScript calls it.
func (f *function) call(c goja.FunctionCall) goja.Value {
	s := f.inst.store
	if s.active == 0 {
		s.extern.collect(s)
	}
	s.active++
	defer s.leave()
	var few [8]uint64
	stack := few[:]
	if n := max(len(f.typ.params), len(f.typ.results)); n > len(few) {
		stack = make([]uint64, n)
	}
	for n, t := range f.typ.params {
		stack[n] = s.toWasm(c.Argument(n), t, f.inst)
	}
	f.mustPass()
	s.run(f, stack)
	switch len(f.typ.results) {
	case 0:
		return goja.Undefined()
	case 1:
		return s.toJS(stack[0], f.typ.results[0])
	}
	list := make([]any, len(f.typ.results))
	for n, t := range f.typ.results {
		list[n] = s.toJS(stack[n], t)
	}
	return s.vm.NewArray(list...)
}

func (s *Store) leave() { s.active-- }

// mustPass throws if a value of the signature cannot be had in JavaScript.
func (f *function) mustPass() {
	if f.typ.has(typeV128) || f.typ.has(typeExnref) {
		f.inst.store.throw("TypeError", "type incompatibility when transforming from/to JS")
	}
}

// run calls it with the arguments on the stack, on which the results are then.
func (s *Store) run(f *function, stack []uint64) {
	var callee api.Function
	if n := len(f.idle); n > 0 {
		callee, f.idle = f.idle[n-1], f.idle[:n-1]
	} else {
		callee = f.inst.engine.NewFunction(f.index)
	}
	err := callee.CallWithStack(s.ctx, stack)
	s.settle()
	if err != nil {
		s.raise(err) // its stack may be huge
	}
	if len(f.idle) < maxIdle {
		f.idle = append(f.idle, callee)
	}
	if f.inst.pending() {
		f.inst.throwPending()
	}
}

// functionOf is the Exported Function of a reference.
func (s *Store) functionOf(ref uint64) goja.Value {
	if ref == 0 {
		return goja.Null()
	}
	at := instances.CodeOf(uintptr(ref))
	i := s.contexts[at.Instance].Value()
	if i == nil {
		s.throw("RuntimeError", "a reference to a function whose instance is gone")
	}
	index, ok := i.indexOf(at)
	if !ok {
		s.throw("RuntimeError", "a reference to a function that its instance does not have")
	}
	return i.function(index).object
}

// indexOf finds the function of an instance that has this code.
func (i *instance) indexOf(at instances.Code) (uint32, bool) {
	if i.byCode == nil {
		i.byCode = map[instances.Code]uint32{}
		for n := range i.code.binary.functions {
			i.byCode[instances.CodeOf(i.engine.FunctionInstanceReference(uint32(n)))] = uint32(n)
		}
	}
	index, ok := i.byCode[at]
	return index, ok
}
