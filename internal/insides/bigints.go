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

// bigIntBits bounds a BigInt; V8's bound is 2^30.
const bigIntBits = 1 << 24

// factorBits bounds what is on the right of *, / and %: with more these take seconds at
// worst, and cannot be interrupted.
const factorBits = bigIntBits / 4

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
		return false
	}
	a, b := (*big.Int)(wordsOf(left).data), (*big.Int)(wordsOf(right).data)
	var z *big.Int
	x, y := len(a.Bits()), len(b.Bits())
	switch op {
	case opLess, opLessEqual, opGreater, opGreaterEqual:
		is := false
		switch c := a.Cmp(b); op {
		case opLess:
			is = c < 0
		case opLessEqual:
			is = c <= 0
		case opGreater:
			is = c > 0
		case opGreaterEqual:
			is = c >= 0
		}
		if *left = valueFalse; is {
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
		z = shift(m, op, a, b)
	}
	if z != nil {
		*wordsOf(left) = words{tabBigInt, unsafe.Pointer(z)}
	}
	m.sp--
	m.pc++
	return true
}

// shift is a << b or a >> b.
func shift(m *gojaMachine, op opcode, a, b *big.Int) *big.Int {
	far := !b.IsInt64() || b.Int64() > bigIntBits || b.Int64() < -bigIntBits
	switch leftwards := (op == opSal) == (b.Sign() >= 0); {
	case a.Sign() == 0:
		return new(big.Int)
	case far && leftwards:
		joined.joiner(unsafe.Pointer(m)).TooBig()
		return new(big.Int) // there is nobody to throw
	case far && a.Sign() < 0:
		return big.NewInt(-1)
	case far:
		return new(big.Int)
	case leftwards:
		n := b.Int64()
		by := uint(max(n, -n))
		return numbers.NewBig(len(a.Bits())+int(by/64)+2).Lsh(a, by)
	default:
		n := b.Int64()
		return numbers.NewBig(len(a.Bits())+1).Rsh(a, uint(max(n, -n)))
	}
}

// bigScratch is up to how many words a dividend may have for its quotient to be kept.
const bigScratch = 256
