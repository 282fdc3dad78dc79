package insides

import (
	"math"
	"math/big"
	"unsafe"

	"github.com/dop251/goja"
)

// What the loop computes with: a number or a boolean outside of memory.

// kind of what is in a number's bits.
type kind = uint8

const (
	noNumber kind = iota
	integer       // an int64, within what a float64 has exactly
	float
	boolean kind = 4
)

// maxExact is up to where goja has integers.
const maxExact = 1 << 53

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

func floatOf(k kind, bits uint64) float64 {
	if k == integer {
		return float64(int64(bits))
	}
	return math.Float64frombits(bits)
}

// canonical is a float as goja has it: an integer if it is one.
func canonical(f float64) (kind, uint64) {
	if i := int64(f); float64(i) == f && i >= -maxExact && i <= maxExact && (i != 0 || !math.Signbit(f)) {
		return integer, uint64(i)
	}
	return float, math.Float64bits(f)
}

// canonicalInteger is an integer as goja has it: a float if it is long.
func canonicalInteger(i int64) (kind, uint64) {
	if i >= -maxExact && i <= maxExact {
		return integer, uint64(i)
	}
	return float, math.Float64bits(float64(i))
}

// int32Of is ToInt32 (ECMA-262, 7.1.6).
func int32Of(k kind, bits uint64) int32 {
	if k == integer {
		return int32(bits)
	}
	f := math.Float64frombits(bits)
	if f > -maxExact && f < maxExact {
		return int32(int64(f))
	}
	if f != f || math.IsInf(f, 0) {
		return 0
	}
	return int32(int64(math.Mod(f, 1<<32)))
}

// compute is the result of an operator for two numbers.
func compute(op opcode, lk kind, l uint64, rk kind, r uint64) (kind, uint64) {
	if lk&rk == integer {
		switch op {
		case opAdd:
			return canonicalInteger(int64(l) + int64(r))
		case opSub:
			return canonicalInteger(int64(l) - int64(r))
		case opMul:
			if a, b := int64(l), int64(r); a == int64(int32(a)) && b == int64(int32(b)) {
				if p := a * b; p != 0 || a >= 0 && b >= 0 {
					return canonicalInteger(p)
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
			return truth(int64(l) < int64(r))
		case opLessEqual:
			return truth(int64(l) <= int64(r))
		case opGreater:
			return truth(int64(l) > int64(r))
		case opGreaterEqual:
			return truth(int64(l) >= int64(r))
		case opEqual, opStrictEqual:
			return truth(l == r)
		case opNotEqual, opStrictNotEqual:
			return truth(l != r)
		}
	}
	switch op {
	case opAnd:
		return integer, uint64(int64(int32Of(lk, l) & int32Of(rk, r)))
	case opOr:
		return integer, uint64(int64(int32Of(lk, l) | int32Of(rk, r)))
	case opXor:
		return integer, uint64(int64(int32Of(lk, l) ^ int32Of(rk, r)))
	case opSal:
		return integer, uint64(int64(int32Of(lk, l) << (uint32(int32Of(rk, r)) & 31)))
	case opSar:
		return integer, uint64(int64(int32Of(lk, l) >> (uint32(int32Of(rk, r)) & 31)))
	case opShr:
		return integer, uint64(uint32(int32Of(lk, l)) >> (uint32(int32Of(rk, r)) & 31))
	}
	a, b := floatOf(lk, l), floatOf(rk, r)
	switch op {
	case opAdd:
		return canonical(a + b)
	case opSub:
		return canonical(a - b)
	case opMul:
		return canonical(a * b)
	case opDiv:
		return canonical(a / b)
	case opMod:
		return canonical(math.Mod(a, b))
	case opLess:
		return truth(a < b)
	case opLessEqual:
		return truth(a <= b)
	case opGreater:
		return truth(a > b)
	case opGreaterEqual:
		return truth(a >= b)
	case opEqual, opStrictEqual:
		return truth(a == b)
	}
	return truth(a != b)
}

func truth(b bool) (kind, uint64) {
	if b {
		return boolean, 1
	}
	return boolean, 0
}

// unary is the result of an operator for one number.
func unary(op opcode, k kind, bits uint64) (kind, uint64) {
	switch op {
	case opIncrement:
		if k == integer {
			return canonicalInteger(int64(bits) + 1)
		}
		return canonical(math.Float64frombits(bits) + 1)
	case opDecrement:
		if k == integer {
			return canonicalInteger(int64(bits) - 1)
		}
		return canonical(math.Float64frombits(bits) - 1)
	case opNegate:
		if k == integer && bits != 0 {
			return integer, -bits
		}
		return canonical(-floatOf(k, bits))
	case opBitNot:
		return integer, uint64(int64(^int32Of(k, bits)))
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
		return canonical(*(*float64)(unsafe.Add(data, 8*i)))
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
		return canonical(float64(*(*float32)(unsafe.Add(data, 4*i))))
	}
	return noNumber, 0
}

// put writes a number to a place of a typed array, if it can.
func (v *gojaView) put(i int, k kind, bits uint64) bool {
	i += v.offset
	data := unsafe.Pointer(unsafe.SliceData(v.buffer().data))
	switch v.typedArray.tab {
	case views[viewUint8]:
		*(*uint8)(unsafe.Add(data, i)) = uint8(int32Of(k, bits))
	case views[viewFloat64]:
		*(*float64)(unsafe.Add(data, 8*i)) = plainNaN(floatOf(k, bits))
	case views[viewInt32], views[viewUint32]:
		*(*int32)(unsafe.Add(data, 4*i)) = int32Of(k, bits)
	case views[viewInt8]:
		*(*uint8)(unsafe.Add(data, i)) = uint8(int32Of(k, bits))
	case views[viewUint16], views[viewInt16]:
		*(*uint16)(unsafe.Add(data, 2*i)) = uint16(int32Of(k, bits))
	case views[viewFloat32]:
		*(*float32)(unsafe.Add(data, 4*i)) = float32(plainNaN(floatOf(k, bits)))
	default:
		return false
	}
	return true
}

// plainNaN is a float whose NaN has the bits that goja's has.
func plainNaN(f float64) float64 {
	if f != f {
		return math.NaN()
	}
	return f
}
