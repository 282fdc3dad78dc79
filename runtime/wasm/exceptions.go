package wasm

import (
	"errors"
	"fmt"
)

// Modules that handle exceptions in the way that compilers still make (legacy
// exception handling: try, catch, rethrow, delegate) are rewritten to do so
// themselves, since wazero knows only what came after, and cannot let a module
// catch what JavaScript throws. What is thrown lies in added globals: its tag
// (0: nothing; tag + 1; -1: not a module's exception), the value that JavaScript
// threw, and a place for each parameter of each tag. Whoever calls looks whether
// something has been thrown and goes to its handler, or returns:
//
//	try T       block T
//	  body        block
//	catch $t        body, with a look after each call
//	  handler       br 1
//	end           end
//	              (what was thrown is moved into locals)
//	              if its tag is $t: its parameters, handler, br 1
//	              it is thrown again
//	            end
//
// A try costs nothing until something is thrown, a call one comparison.

// unwinding is the layout of the added globals.
type unwinding struct {
	thrown int         // the tag
	value  int         // what JavaScript threw; the parameters follow
	types  []valueType // of value and the parameters
	first  []int       // by tag: its first parameter, as an index of types
}

const thrownByJS = -1

func (b *binary) unwinding(from int) *unwinding {
	u := &unwinding{thrown: from, value: from + 1, types: []valueType{typeExternref}}
	for _, t := range b.tags {
		u.first = append(u.first, len(u.types))
		u.types = append(u.types, t.function.params...)
	}
	return u
}

// globals writes the added globals; it returns how many.
func (u *unwinding) globals(w *writer) int {
	w.global(globalType{typeI32, true})
	w.zero(typeI32)
	for _, t := range u.types {
		w.global(globalType{t, true})
		w.zero(t)
	}
	return 1 + len(u.types)
}

// errLegacy says that a module has to be rewritten for exceptions.
var errLegacy = errors.New("legacy exception handling")

const (
	opTry       = 0x06
	opCatch     = 0x07
	opThrow     = 0x08
	opRethrow   = 0x09
	opBr        = 0x0c
	opBrIf      = 0x0d
	opBrTable   = 0x0e
	opReturn    = 0x0f
	opDelegate  = 0x18
	opCatchAll  = 0x19
	opTryTable  = 0x1f
	opBrOnNull  = 0xd5
	opBlock     = 0x02
	opElse      = 0x05
	opLocalGet  = 0x20
	opLocalSet  = 0x21
	opI32Eq     = 0x46
	opRefNull   = 0xd0
	opVector    = 0xfd
	noHandler   = -1
	frameBlock  = 0
	frameTry    = 1
	frameCatch  = 2
	frameAll    = 3
	vectorConst = 12
)

// frame is a block of the original code.
type frame struct {
	kind    byte
	label   int // the block of the new code that branches to it go to
	handler int // the block at whose end what is thrown in it is handled, or noHandler
	outer   int // the same for what a handler of it throws
	slot    int // of the locals that hold what a handler of it handles
}

// unwinder rewrites a function for exceptions. Blocks are numbered from the
// function's, which is 0.
type unwinder struct {
	*writer
	b      *binary
	u      *unwinding
	r      *reader
	step   []byte
	result []valueType
	locals uint32 // the first of the added ones
	slots  int
	frames []frame
	out    int // blocks that are open
	calls  bool
}

// unwind writes the function that f holds, whose type is t.
func (w *writer) unwind(b *binary, u *unwinding, f *reader, t functionType, step []byte) {
	x := &unwinder{writer: &writer{}, b: b, u: u, r: f, step: step, result: t.results, locals: uint32(len(t.params))}
	var groups writer
	n := f.u32()
	for k := n; k > 0 && f.err == nil; k-- {
		count := f.u32()
		if x.locals += count; x.locals > 50000 || count > 50000 {
			f.fail(errors.New("local count too large"))
			return
		}
		groups.u32(count)
		groups.bytes(f.valueType())
	}
	x.body()
	w.u32(n + uint32(x.slots*(1+len(u.types))))
	w.bytes(groups.buf...)
	for range x.slots {
		w.bytes(1, typeI32)
		for _, t := range u.types {
			w.bytes(1, t)
		}
	}
	if x.calls {
		w.bytes(step...)
	}
	w.bytes(x.buf...)
}

func (x *unwinder) body() {
	x.frames = []frame{{handler: noHandler}}
	x.out = 1
	for len(x.frames) > 0 && x.r.err == nil {
		at := x.r.at
		if !x.control(x.r.peek()) {
			in := x.r.instruction()
			x.bytes(x.r.data[at:x.r.at]...)
			x.after(in)
		}
	}
	if x.r.err == nil && !x.r.done() {
		x.r.fail(errEnd)
	}
}

func (x *unwinder) top() *frame { return &x.frames[len(x.frames)-1] }

// after follows an instruction that has been copied.
func (x *unwinder) after(in instruction) {
	switch in.op {
	case opBlock, opLoop, opIf:
		x.open(frame{handler: x.top().handler})
		if in.op == opLoop {
			x.bytes(x.step...)
		}
	case opCall, opCallIndirect:
		x.calls = true
		x.look()
	case opReturnCall, opReturnCallIndirect:
		x.calls = true
	}
}

// open is for a block that has been begun.
func (x *unwinder) open(f frame) {
	f.label = x.out
	x.out++
	x.frames = append(x.frames, f)
}

func (x *unwinder) op(op byte, index int) {
	x.bytes(op)
	x.u32(uint32(index))
}

func (x *unwinder) depth(block int) int { return x.out - 1 - block }

// begin and end are of a block that no frame stands for.
func (x *unwinder) begin(op byte) int {
	x.bytes(op, blockEmpty)
	x.out++
	return x.out - 1
}

func (x *unwinder) end() {
	x.bytes(opEnd)
	x.out--
}

// look goes to the handler if something has been thrown.
func (x *unwinder) look() {
	x.op(opGlobalGet, x.u.thrown)
	if h := x.top().handler; h != noHandler {
		x.op(opBrIf, x.depth(h))
		return
	}
	x.begin(opIf)
	x.leave(noHandler)
	x.end()
}

// leave goes to a handler, or returns to one of the caller's.
func (x *unwinder) leave(handler int) {
	if handler != noHandler {
		x.op(opBr, x.depth(handler))
		return
	}
	for _, t := range x.result {
		x.nothing(t)
	}
	x.bytes(opReturn)
}

// control rewrites what begins, ends or leaves blocks; false leaves it to be copied.
func (x *unwinder) control(op byte) bool {
	switch op {
	case opTry, opCatch, opThrow, opRethrow, opDelegate, opCatchAll, opEnd, opBr, opBrIf, opBrTable:
		x.r.byte()
	case opTryTable, opBrOnNull, opBrOnNull + 1:
		x.r.fail(fmt.Errorf("instruction 0x%02x beside legacy exception handling is not supported by minido", op))
		return true
	default:
		return false
	}
	switch op {
	case opTry:
		x.try()
	case opCatch, opCatchAll:
		x.catch(op)
	case opThrow:
		x.throw(int(x.r.u32()))
	case opRethrow:
		x.rethrow(x.target())
	case opDelegate:
		f := x.pop()
		to := x.target().handler
		x.closeTry(f)
		x.leave(to)
		x.end()
	case opEnd:
		x.finish(x.pop())
	case opBr, opBrIf:
		x.op(op, x.depth(x.target().label))
	case opBrTable:
		x.bytes(op)
		n := x.r.u32()
		x.u32(n)
		for ; x.r.err == nil; n-- {
			x.u32(uint32(x.depth(x.target().label)))
			if n == 0 {
				break
			}
		}
	}
	return true
}

// target reads a label.
func (x *unwinder) target() *frame {
	n := x.r.u32()
	if uint64(n) >= uint64(len(x.frames)) {
		x.r.fail(fmt.Errorf("invalid branch depth: %d", n))
		return &frame{handler: noHandler}
	}
	return &x.frames[len(x.frames)-1-int(n)]
}

func (x *unwinder) pop() frame {
	f := *x.top()
	x.frames = x.frames[:len(x.frames)-1]
	if len(x.frames) == 0 && f.kind != frameBlock {
		x.r.fail(errEnd)
	}
	return f
}

func (x *unwinder) try() {
	at := x.r.at
	if t := x.r.peek(); t < 0x40 || t >= 0x80 { // a type's index
		if n := x.r.u32(); int(n) >= len(x.b.types) || len(x.b.types[n].params) > 0 {
			x.r.fail(errors.New("a try block with parameters is not supported by minido"))
			return
		}
	} else {
		x.r.skipSigned(33)
	}
	outer := x.top().handler
	x.bytes(opBlock)
	x.bytes(x.r.data[at:x.r.at]...)
	x.open(frame{kind: frameTry, outer: outer})
	x.top().handler = x.begin(opBlock)
}

// closeTry ends what a try holds: from here on something has been thrown in it.
func (x *unwinder) closeTry(f frame) {
	x.op(opBr, x.depth(f.label))
	x.end()
}

// local is of the slot of f: what is kept at place k, after the tag.
func (x *unwinder) local(f frame, k int) int { return int(x.locals) + f.slot*(1+len(x.u.types)) + k }

func (x *unwinder) catch(op byte) {
	f := *x.top()
	x.op(opBr, x.depth(f.label))
	switch f.kind {
	case frameTry:
		x.end()
		for _, g := range x.frames[:len(x.frames)-1] {
			if g.kind >= frameCatch {
				f.slot++
			}
		}
		x.slots = max(x.slots, f.slot+1)
		f.handler = f.outer
		for k := range 1 + len(x.u.types) {
			x.op(opGlobalGet, x.u.thrown+k)
			x.op(opLocalSet, x.local(f, k))
		}
		x.bytes(opI32Const, 0)
		x.op(opGlobalSet, x.u.thrown)
	case frameCatch:
		x.end()
	default:
		x.r.fail(errors.New("catch does not match a try"))
		return
	}
	if op == opCatchAll {
		f.kind = frameAll
		*x.top() = f
		return
	}
	f.kind = frameCatch
	*x.top() = f
	tag := int(x.r.u32())
	if tag >= len(x.b.tags) {
		x.r.fail(fmt.Errorf("invalid tag index: %d", tag))
		return
	}
	x.op(opLocalGet, x.local(f, 0))
	x.bytes(opI32Const)
	x.s32(int32(tag) + 1)
	x.bytes(opI32Eq)
	x.begin(opIf)
	for k := range x.b.tags[tag].function.params {
		x.op(opLocalGet, x.local(f, 1+x.u.first[tag]+k))
	}
}

// finish is the end of a block.
func (x *unwinder) finish(f frame) {
	switch f.kind {
	case frameTry:
		x.closeTry(f)
		x.leave(f.outer)
	case frameCatch:
		x.closeTry(f)
		x.op(opLocalGet, x.local(f, 0))
		x.op(opGlobalSet, x.u.thrown)
		x.leave(f.outer)
	}
	x.end()
}

func (x *unwinder) throw(tag int) {
	if tag >= len(x.b.tags) {
		x.r.fail(fmt.Errorf("invalid tag index: %d", tag))
		return
	}
	for k := len(x.b.tags[tag].function.params) - 1; k >= 0; k-- {
		x.op(opGlobalSet, x.u.value+x.u.first[tag]+k)
	}
	x.bytes(opRefNull, typeExternref)
	x.op(opGlobalSet, x.u.value)
	x.bytes(opI32Const)
	x.s32(int32(tag) + 1)
	x.op(opGlobalSet, x.u.thrown)
	x.leave(x.top().handler)
}

func (x *unwinder) rethrow(f *frame) {
	if f.kind < frameCatch {
		x.r.fail(errors.New("rethrow outside of a handler"))
		return
	}
	for k := range 1 + len(x.u.types) {
		x.op(opLocalGet, x.local(*f, k))
		x.op(opGlobalSet, x.u.thrown+k)
	}
	x.leave(x.top().handler)
}
