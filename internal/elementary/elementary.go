// Package elementary has the functions of ECMAScript's Math with V8's exact results,
// on every machine (ECMA-262, section 21.3.2, leaves them to the engine).
//
// V8's own are of two kinds. Most round correctly: the result is the double nearest
// to the true value. These are computed in two doubles, good to some 2^-75; where
// that does not tell which double is nearest, in big.Float. The hyperbolic ones are
// formulas over the first kind, which do not round correctly, and are the same
// formulas here.
//
// The compiler may join a multiplication and an addition to one rounding where the
// machine can; an explicit conversion forbids it (Go specification, "Floating-point
// operators"). So every product that is added to something has one.
//
// All functions are pure and safe for concurrent use.
package elementary

import (
	"math"
	"math/big"
	"sync"
)

// pair is the sum of two doubles, the second of which is at most half a unit in the
// last place of the first.
type pair struct{ hi, lo float64 }

func one(x float64) pair { return pair{x, 0} }

// sum is a+b without an error.
func sum(a, b float64) pair {
	s := a + b
	t := s - a
	return pair{s, (a - (s - t)) + (b - t)}
}

// quick is sum for |a| >= |b|.
func quick(a, b float64) pair {
	s := a + b
	return pair{s, b - (s - a)}
}

// product is a*b without an error.
func product(a, b float64) pair {
	p := float64(a * b)
	return pair{p, math.FMA(a, b, -p)}
}

func (a pair) add(b pair) pair {
	s, t := sum(a.hi, b.hi), sum(a.lo, b.lo)
	s = quick(s.hi, s.lo+t.hi)
	return quick(s.hi, s.lo+t.lo)
}

func (a pair) sub(b pair) pair { return a.add(b.neg()) }

func (a pair) neg() pair { return pair{-a.hi, -a.lo} }

func (a pair) mul(b pair) pair {
	p := product(a.hi, b.hi)
	return quick(p.hi, p.lo+(float64(a.hi*b.lo)+float64(a.lo*b.hi)))
}

func (a pair) times(b float64) pair {
	p := product(a.hi, b)
	return quick(p.hi, p.lo+float64(a.lo*b))
}

func (a pair) div(b pair) pair {
	q := a.hi / b.hi
	r := a.sub(b.times(q))
	q2 := r.hi / b.hi
	r = r.sub(b.times(q2))
	return quick(q, q2).add(one(r.hi / b.hi))
}

// root is the square root of a positive pair.
func (a pair) root() pair {
	if a.hi == 0 {
		return pair{}
	}
	s := math.Sqrt(a.hi)
	return quick(s, a.sub(product(s, s)).hi/(2*s))
}

// scale is a*2^k, for results that are normal numbers.
func (a pair) scale(k int) pair { return pair{math.Ldexp(a.hi, k), math.Ldexp(a.lo, k)} }

// polynomial is c[0]+c[1]x+…
func polynomial(x float64, c ...float64) float64 {
	y := c[len(c)-1]
	for i := len(c) - 2; i >= 0; i-- {
		y = float64(y*x) + c[i]
	}
	return y
}

// doubt is how much a pair may be wrong, of its value: some bits more than any
// function here needs.
const doubt = 1.0 / (1 << 63) / 4

// tiniest is below which a double may have fewer digits, with room for lo.
const tiniest = 1e-290

// nearest is the double nearest to a, ok if a tells.
func (a pair) nearest() (x float64, ok bool) {
	x = a.hi + a.lo
	e := math.Abs(x) * doubt
	return x, a.hi+(a.lo-e) == a.hi+(a.lo+e) && math.Abs(x) > tiniest && math.Abs(x) < math.MaxFloat64/4
}

// precision is that of the slow way: of doubles, none that is not exactly between
// two is closer to it than 2^-120 or so.
const precision = 256

// number is a big.Float of the slow way.
func number(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

// settle rounds a result of the slow way; what is within its error of being exact
// or exactly between two doubles, is.
func settle(x *big.Float) float64 {
	if x.Sign() == 0 {
		return 0
	}
	short := new(big.Float).SetPrec(60).Set(x)
	diff := new(big.Float).SetPrec(precision).Sub(x, short)
	if diff.Sign() == 0 || diff.MantExp(nil) < x.MantExp(nil)-180 {
		x = short
	}
	y, _ := x.Float64()
	return y
}

// constants are those that more than one function uses.
type constants struct {
	pi, right        pair // right is pi/2
	ln2              pair
	log2e, log10e    pair
	exps             [steps]pair // 2^(i/steps)
	sines, cosines   [steps]pair // of i/steps
	tangents         [steps + 1]pair
	inverses         [2 * steps]float64 // near 1/m for m = 1+i/(2*steps)
	logs             [2 * steps]pair    // -log(inverses)
	ln2Step          [3]float64         // ln2/steps
	quarter          [3]float64         // pi/2
	twoByPi          [23]uint64         // the bits of 2/pi, from those of 2^63 on
	powers           [23]float64        // of ten: all that are doubles
	perLn2, perRight float64
}

const (
	steps = 64
	// farthest is enough to reduce the largest double by pi.
	farthest = 1400
)

// far are constants to farthest bits, for the slow way.
type far struct{ pi, ln2 *big.Float }

// known gives them; they are computed at their first use.
var known = sync.OnceValue(func() far { return far{bigPi(farthest), bigLn2(farthest)} })
