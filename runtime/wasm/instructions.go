package wasm

import "fmt"

// instruction is what fuel.go has to know of one.
type instruction struct {
	op      byte
	nesting int // 1 where a block begins, -1 where one ends
}

const (
	opLoop               = 0x03
	opIf                 = 0x04
	opEnd                = 0x0b
	opCall               = 0x10
	opCallIndirect       = 0x11
	opReturnCall         = 0x12
	opReturnCallIndirect = 0x13
	opI32Const           = 0x41
	opGlobalGet          = 0x23
	opGlobalSet          = 0x24
	opI32Sub             = 0x6b
	opI32LtS             = 0x48
	blockEmpty           = 0x40
)

// instruction passes one instruction and its immediates (WebAssembly Core,
// section 5.4).
func (r *reader) instruction() instruction {
	op := r.byte()
	in := instruction{op: op}
	switch {
	case op == 0x02 || op == opLoop || op == opIf:
		in.nesting = 1
		r.skipSigned(33)
	case op == 0x1f: // try_table
		in.nesting = 1
		r.skipSigned(33)
		r.many(func() {
			if k := r.byte(); k < 2 {
				r.u32()
			}
			r.u32()
		})
	case op == opTry || op == opCatch || op == opRethrow || op == opDelegate || op == opCatchAll:
		r.fail(errLegacy)
	case op == opEnd:
		in.nesting = -1
	case op == 0x0c, op == 0x0d, op == 0x08, op == opCall, op == opReturnCall, op == 0xd2, op >= 0x20 && op <= 0x26:
		r.u32()
	case op == 0x0e: // br_table
		r.many(func() { r.u32() })
		r.u32()
	case op == opCallIndirect, op == opReturnCallIndirect:
		r.u32()
		r.u32()
	case op == 0x1c: // select t
		r.many(func() { r.valueType() })
	case op >= 0x28 && op <= 0x3e:
		r.memarg()
	case op == 0x3f, op == 0x40:
		r.u32()
	case op == opI32Const:
		r.skipSigned(32)
	case op == 0x42:
		r.skipSigned(64)
	case op == 0x43:
		r.bytes(4)
	case op == 0x44:
		r.bytes(8)
	case op == 0xd0: // ref.null
		r.skipSigned(33)
	case op == 0xfc:
		r.bulk()
	case op == 0xfd:
		r.vector()
	case op <= 0x01, op == 0x05, op == 0x0a, op == 0x0f, op == 0x1a, op == 0x1b, op >= 0x45 && op <= 0xc4, op == 0xd1:
	default:
		if r.err == nil {
			r.fail(fmt.Errorf("instruction 0x%02x is not supported by minido", op))
		}
	}
	return in
}

// many calls fn as often as the vector says that begins here.
func (r *reader) many(fn func()) {
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		fn()
	}
}

func (r *reader) memarg() {
	if align := r.u32(); align&0x40 != 0 {
		r.fail(fmt.Errorf("more than one memory is not supported by minido"))
	}
	r.leb(64)
}

func (r *reader) bulk() {
	switch op := r.u32(); {
	case op <= 7:
	case op == 8, op == 10, op == 12, op == 14:
		r.u32()
		r.u32()
	case op <= 17:
		r.u32()
	default:
		r.fail(fmt.Errorf("instruction 0xfc %d is not supported by minido", op))
	}
}

func (r *reader) vector() {
	switch op := r.u32(); {
	case op <= 11, op == 92, op == 93:
		r.memarg()
	case op == 12, op == 13:
		r.bytes(16)
	case op >= 21 && op <= 34:
		r.byte()
	case op >= 84 && op <= 91:
		r.memarg()
		r.byte()
	case op <= 255:
	default:
		r.fail(fmt.Errorf("instruction 0xfd %d (relaxed SIMD) is not supported by minido", op))
	}
}
