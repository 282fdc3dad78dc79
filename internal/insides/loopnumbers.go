package insides

import (
	"math"
	"math/big"
	"unsafe"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides/numbers"
)

// What the loop computes with: a number or a boolean outside of memory.

type kind = numbers.Kind

const (
	noNumber = numbers.None
	integer  = numbers.Integer
	float    = numbers.Float
	boolean  = numbers.Boolean
)

// numberIn is a value as the loop computes with it.
func numberIn(v *goja.Value) (kind, uint64) {
	w := wordsOf(v)
	switch w.tab {
	case tabInteger:
		return integer, *(*uint64)(w.data)
	case tabFloat:
		return float, *(*uint64)(w.data)
	}
	return noNumber, 0
}

// compute is the result of an operator for two numbers.
func compute(op opcode, lk kind, l uint64, rk kind, r uint64) (kind, uint64) {
	if lk&rk == integer {
		switch op {
		case opAdd:
			return numbers.CanonicalInteger(int64(l) + int64(r))
		case opSub:
			return numbers.CanonicalInteger(int64(l) - int64(r))
		case opMul:
			if a, b := int64(l), int64(r); a == int64(int32(a)) && b == int64(int32(b)) {
				if p := a * b; p != 0 || a >= 0 && b >= 0 {
					return numbers.CanonicalInteger(p)
				}
			}
		case opMod:
			if a, b := int64(l), int64(r); b != 0 {
				if m := a % b; m != 0 || a >= 0 {
					return integer, uint64(m)
				}
			}
		case opAnd:
			return integer, uint64(int64(int32(l) & int32(r)))
		case opOr:
			return integer, uint64(int64(int32(l) | int32(r)))
		case opXor:
			return integer, uint64(int64(int32(l) ^ int32(r)))
		case opSal:
			return integer, uint64(int64(int32(l) << (r & 31)))
		case opSar:
			return integer, uint64(int64(int32(l) >> (r & 31)))
		case opShr:
			return integer, uint64(uint32(l) >> (r & 31))
		case opLess:
			return numbers.Truth(int64(l) < int64(r))
		case opLessEqual:
			return numbers.Truth(int64(l) <= int64(r))
		case opGreater:
			return numbers.Truth(int64(l) > int64(r))
		case opGreaterEqual:
			return numbers.Truth(int64(l) >= int64(r))
		case opEqual, opStrictEqual:
			return numbers.Truth(l == r)
		case opNotEqual, opStrictNotEqual:
			return numbers.Truth(l != r)
		}
	}
	switch op {
	case opAnd:
		return integer, uint64(int64(numbers.Int32Of(lk, l) & numbers.Int32Of(rk, r)))
	case opOr:
		return integer, uint64(int64(numbers.Int32Of(lk, l) | numbers.Int32Of(rk, r)))
	case opXor:
		return integer, uint64(int64(numbers.Int32Of(lk, l) ^ numbers.Int32Of(rk, r)))
	case opSal:
		return integer, uint64(int64(numbers.Int32Of(lk, l) << (uint32(numbers.Int32Of(rk, r)) & 31)))
	case opSar:
		return integer, uint64(int64(numbers.Int32Of(lk, l) >> (uint32(numbers.Int32Of(rk, r)) & 31)))
	case opShr:
		return integer, uint64(uint32(numbers.Int32Of(lk, l)) >> (uint32(numbers.Int32Of(rk, r)) & 31))
	}
	a, b := numbers.FloatOf(lk, l), numbers.FloatOf(rk, r)
	switch op {
	case opAdd:
		return numbers.Canonical(a + b)
	case opSub:
		return numbers.Canonical(a - b)
	case opMul:
		return numbers.Canonical(a * b)
	case opDiv:
		return numbers.Canonical(a / b)
	case opMod:
		return numbers.Canonical(math.Mod(a, b))
	case opLess:
		return numbers.Truth(a < b)
	case opLessEqual:
		return numbers.Truth(a <= b)
	case opGreater:
		return numbers.Truth(a > b)
	case opGreaterEqual:
		return numbers.Truth(a >= b)
	case opEqual, opStrictEqual:
		return numbers.Truth(a == b)
	}
	return numbers.Truth(a != b)
}

// unary is the result of an operator for one number.
func unary(op opcode, k kind, bits uint64) (kind, uint64) {
	switch op {
	case opIncrement:
		if k == integer {
			return numbers.CanonicalInteger(int64(bits) + 1)
		}
		return numbers.Canonical(math.Float64frombits(bits) + 1)
	case opDecrement:
		if k == integer {
			return numbers.CanonicalInteger(int64(bits) - 1)
		}
		return numbers.Canonical(math.Float64frombits(bits) - 1)
	case opNegate:
		if k == integer && bits != 0 {
			return integer, -bits
		}
		return numbers.Canonical(-numbers.FloatOf(k, bits))
	case opBitNot:
		return integer, uint64(int64(^numbers.Int32Of(k, bits)))
	}
	return k, bits // + and ToNumber
}

// smallIntegers are the integers that are in memory already.
var smallIntegers [16 << 10]int64

// smallBelow is how many of them are below 0.
const smallBelow = 1 << 10

// Numbers is where the loop puts the numbers that it makes. Loop-confined.
type Numbers struct {
	room     []uint64
	quotient big.Int // of the last remainder
}

// numbersAtOnce is how many numbers are allocated in one piece: as long as one of them is
// in use, all are in memory.
const numbersAtOnce = 8

// put makes a number a value, at a place.
func (n *Numbers) put(at *words, k kind, bits uint64) {
	if len(n.room) == 0 {
		n.room = make([]uint64, numbersAtOnce)
	}
	p := &n.room[0]
	n.room = n.room[1:]
	if k == integer {
		*p = bits
		*at = words{tabInteger, unsafe.Pointer(p)}
		return
	}
	if bits&(1<<63-1) > 0x7ff<<52 {
		bits = math.Float64bits(math.NaN())
	}
	*p = bits
	*at = words{tabFloat, unsafe.Pointer(p)}
}

// element is what is at a place of a typed array.
func (v *gojaView) element(i int) (kind, uint64) {
	i += v.offset
	data := unsafe.Pointer(unsafe.SliceData(v.buffer().data))
	switch v.typedArray.tab {
	case views[viewUint8], views[viewUint8Clamped]:
		return integer, uint64(*(*uint8)(unsafe.Add(data, i)))
	case views[viewFloat64]:
		return numbers.Canonical(*(*float64)(unsafe.Add(data, 8*i)))
	case views[viewInt32]:
		return integer, uint64(int64(*(*int32)(unsafe.Add(data, 4*i))))
	case views[viewUint32]:
		return integer, uint64(*(*uint32)(unsafe.Add(data, 4*i)))
	case views[viewInt8]:
		return integer, uint64(int64(*(*int8)(unsafe.Add(data, i))))
	case views[viewUint16]:
		return integer, uint64(*(*uint16)(unsafe.Add(data, 2*i)))
	case views[viewInt16]:
		return integer, uint64(int64(*(*int16)(unsafe.Add(data, 2*i))))
	case views[viewFloat32]:
		return numbers.Canonical(float64(*(*float32)(unsafe.Add(data, 4*i))))
	}
	return noNumber, 0
}

// put writes a number to a place of a typed array, if it can.
func (v *gojaView) put(i int, k kind, bits uint64) bool {
	i += v.offset
	data := unsafe.Pointer(unsafe.SliceData(v.buffer().data))
	switch v.typedArray.tab {
	case views[viewUint8]:
		*(*uint8)(unsafe.Add(data, i)) = uint8(numbers.Int32Of(k, bits))
	case views[viewFloat64]:
		*(*float64)(unsafe.Add(data, 8*i)) = numbers.PlainNaN(numbers.FloatOf(k, bits))
	case views[viewInt32], views[viewUint32]:
		*(*int32)(unsafe.Add(data, 4*i)) = numbers.Int32Of(k, bits)
	case views[viewInt8]:
		*(*uint8)(unsafe.Add(data, i)) = uint8(numbers.Int32Of(k, bits))
	case views[viewUint16], views[viewInt16]:
		*(*uint16)(unsafe.Add(data, 2*i)) = uint16(numbers.Int32Of(k, bits))
	case views[viewFloat32]:
		*(*float32)(unsafe.Add(data, 4*i)) = float32(numbers.PlainNaN(numbers.FloatOf(k, bits)))
	default:
		return false
	}
	return true
}
