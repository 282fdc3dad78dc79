package wasm

import "errors"

// fuel is how many turns of loops and calls of functions an instance makes
// before it asks whether it may go on: a fraction of a millisecond.
const fuel = 50000

// countDown is the code section with the counting in it; counts is false if no
// function loops or calls, and nothing has to be counted.
func (b *binary) countDown() (code []byte, counts bool, u *unwinding, err error) {
	body, have := b.body(sectionCode)
	if !have {
		return nil, false, nil, nil
	}
	code, counts, err = b.functionBodies(body, nil)
	if errors.Is(err, errLegacy) {
		counts, u = true, b.unwinding(len(b.globals)+1)
		code, _, err = b.functionBodies(body, u)
	}
	return code, counts, u, err
}

// functionBodies writes the functions, with exceptions if u is not nil.
func (b *binary) functionBodies(body []byte, u *unwinding) (code []byte, counts bool, err error) {
	step := b.step()
	r := &reader{data: body}
	var w writer
	n := r.u32()
	w.u32(n)
	var fn writer
	at := b.imported[kindFunction]
	for ; n > 0 && r.err == nil; n-- {
		fn.buf = fn.buf[:0]
		f := &reader{data: r.bytes(r.u32())}
		switch {
		case u != nil && at < len(b.functions):
			fn.unwind(b, u, f, b.functions[at].function, step)
		case fn.function(f, step):
			counts = true
		}
		at++
		if f.err != nil {
			return nil, false, f.err
		}
		w.u32(uint32(len(fn.buf)))
		w.bytes(fn.buf...)
	}
	return w.buf, counts, r.err
}

// function copies a function's body, with step after its beginning, if it calls,
// and after that of each loop. It reports whether there is any.
func (w *writer) function(r *reader, step []byte) (counts bool) {
	r.many(func() {
		r.u32()
		r.valueType()
	})
	entry := len(w.buf) + r.at
	w.bytes(r.data[:r.at]...)
	from, calls := r.at, false
	for depth := 1; depth > 0 && r.err == nil; {
		in := r.instruction()
		depth += in.nesting
		switch in.op {
		case opLoop:
			w.bytes(r.data[from:r.at]...)
			w.bytes(step...)
			from, counts = r.at, true
		case opCall, opCallIndirect, opReturnCall, opReturnCallIndirect:
			calls = true
		}
	}
	w.bytes(r.data[from:]...)
	if r.err == nil && !r.done() {
		r.fail(errEnd)
	}
	if calls {
		rest := append([]byte(nil), w.buf[entry:]...)
		w.buf = append(append(w.buf[:entry], step...), rest...)
	}
	return counts || calls
}

// step counts one down, and at 0 calls what lies in the added table, by the
// added type. The stack is as before.
func (b *binary) step() []byte {
	var w writer
	counter := uint32(len(b.globals))
	access := func(op byte) {
		w.bytes(op)
		w.u32(counter)
	}
	access(opGlobalGet)
	w.bytes(opI32Const, 1, opI32Sub)
	access(opGlobalSet)
	access(opGlobalGet)
	w.bytes(opI32Const, 0, opI32LtS, opIf, blockEmpty)
	w.bytes(opI32Const)
	w.s32(fuel)
	access(opGlobalSet)
	w.bytes(opI32Const, 0, opCallIndirect)
	w.u32(uint32(len(b.types)))
	w.u32(uint32(len(b.tables)))
	w.bytes(opEnd)
	return w.buf
}
