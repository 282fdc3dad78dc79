package insides

import (
	"math/big"
	"unsafe"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides/numbers"
)

// BigInts take goja's machine two pieces of memory for each result, three for a
// remainder. Ours take one. And a shift by 2^40 makes goja allocate 2^40 bits, which ends
// the process; a product or quotient of long ones takes minutes in which nothing stops it.
// Operators are no functions that could refuse it, so their instructions do.

//go:linkname toNumeric github.com/dop251/goja.toNumeric
func toNumeric(v goja.Value) goja.Value

// factorBits bounds what is on the right of *, / and %: with more these take seconds at
// worst, and cannot be interrupted.
const factorBits = numbers.BigIntBits / 4

// BoundsOperators reports whether Instrument has operators refuse BigInts that are too
// long. Safe for concurrent use.
func BoundsOperators() bool { return Instrument(nil) && theLoop.known }

// bigOperators has the loop call ours where it calls goja's.
func (lp *loop) bigOperators() {
	lp.originals[opAdd] = addition
	for op := opAdd; op <= opGreaterEqual; op++ {
		if theirs := lp.originals[op]; op != opShr {
			lp.originals[op] = func(instruction, machine unsafe.Pointer) {
				if !bigOperator(op, (*gojaMachine)(machine)) {
					theirs(instruction, machine)
				}
			}
		}
	}
	for _, op := range []opcode{opEqual, opNotEqual} {
		theirs := lp.originals[op]
		lp.originals[op] = func(instruction, machine unsafe.Pointer) {
			m := (*gojaMachine)(machine)
			refuseDigits(m, m.stack[m.sp-2], m.stack[m.sp-1])
			theirs(instruction, machine)
		}
	}
}

// bigIntDigits bounds a text that is read as a BigInt, as in BigInt(): more take seconds.
const bigIntDigits = 1 << 19

// refuseDigits throws if a BigInt would be compared with such a text.
func refuseDigits(m *gojaMachine, left, right goja.Value) {
	if wordsOf(&right).tab == tabBigInt {
		left, right = right, left
	}
	if s, ok := right.(goja.String); ok && wordsOf(&left).tab == tabBigInt && s.Length() > bigIntDigits {
		joined.joiner(unsafe.Pointer(m)).TooBig()
	}
}

// bigOperator does an operator if both values are BigInts.
func bigOperator(op opcode, m *gojaMachine) bool {
	left, right := &m.stack[m.sp-2], &m.stack[m.sp-1]
	if factor := op == opMul || op == opDiv || op == opMod || op == opSal || op == opSar; factor {
		if wordsOf(left).tab == tabObject {
			*left = toNumeric(*left)
		}
		if wordsOf(right).tab == tabObject {
			*right = toNumeric(*right)
		}
	}
	if wordsOf(left).tab != tabBigInt || wordsOf(right).tab != tabBigInt {
		refuseDigits(m, *left, *right)
		return false
	}
	a, b := (*big.Int)(wordsOf(left).data), (*big.Int)(wordsOf(right).data)
	var z *big.Int
	x, y := len(a.Bits()), len(b.Bits())
	switch op {
	case opLess, opLessEqual, opGreater, opGreaterEqual:
		*left = valueFalse
		if _, is := compute(op, integer, uint64(int64(a.Cmp(b))), integer, 0); is != 0 {
			*left = valueTrue
		}
	case opAdd:
		z = numbers.NewBig(max(x, y)+1).Add(a, b)
	case opSub:
		z = numbers.NewBig(max(x, y)+1).Sub(a, b)
	case opAnd:
		z = numbers.NewBig(max(x, y)+1).And(a, b)
	case opOr:
		z = numbers.NewBig(max(x, y)+1).Or(a, b)
	case opXor:
		z = numbers.NewBig(max(x, y)+1).Xor(a, b)
	case opMul, opDiv, opMod:
		if y > factorBits/64 && b.BitLen() > factorBits+1 {
			joined.joiner(unsafe.Pointer(m)).TooBig()
		}
		switch {
		case op == opMul:
			z = numbers.NewBig(x+y).Mul(a, b)
		case y == 0:
			return false // goja throws
		case op == opDiv:
			z, _ = new(big.Int).QuoRem(a, b, &big.Int{})
		case x < bigScratch:
			z = numbers.NewBig(x + 1)
			joined.joiner(unsafe.Pointer(m)).Numbers().quotient.QuoRem(a, b, z)
		default:
			z = new(big.Int).Rem(a, b)
		}
	default:
		if z = numbers.Shift(a, b, op == opSal); z == nil {
			joined.joiner(unsafe.Pointer(m)).TooBig()
			z = new(big.Int) // there is nobody to throw
		}
	}
	if z != nil {
		*wordsOf(left) = words{tabBigInt, unsafe.Pointer(z)}
	}
	m.sp--
	m.pc++
	return true
}

// bigScratch is up to how many words a dividend may have for its quotient to be kept.
const bigScratch = 256
