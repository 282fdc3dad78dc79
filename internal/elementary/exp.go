package elementary

import (
	"math"
	"math/big"
)

// overflow and underflow bound the arguments of Exp whose results are numbers.
const (
	overflow  = 709.782712893384
	underflow = -745.1332191019412
)

// Exp is Math.exp.
func Exp(x float64) float64 {
	switch {
	case math.IsNaN(x) || x > overflow:
		return x * math.Inf(1)
	case x < underflow:
		return 0
	case math.Abs(x) < 0x1p-54:
		return 1 + x
	}
	y, k := expOf(one(x))
	if z, ok := y.nearest(); ok && k > -1000 && k < 1000 {
		return math.Ldexp(z, k)
	}
	return settle(bigExp(number(x), known().ln2))
}

// expOf is e^x as y*2^k, for |x| < 2000.
func expOf(x pair) (y pair, k int) {
	c := &table
	n := math.Round(x.hi * c.perLn2)
	r := sum(x.hi-float64(n*c.ln2Step[0]), -float64(n*c.ln2Step[1])).add(pair{-float64(n * c.ln2Step[2]), 0}).add(one(x.lo))
	i := int(n)
	j := i & (steps - 1)
	y = c.exps[j].mul(growth(r).add(one(1)))
	return y, (i - j) / steps
}

// growth is e^r-1 for |r| < 0.01.
func growth(r pair) pair {
	tail := polynomial(r.hi, 1.0/120, 1.0/720, 1.0/5040, 1.0/40320, 1.0/362880)
	y := r.times(tail).add(pair{1.0 / 24, twentyfourth})
	y = r.mul(y).add(pair{1.0 / 6, sixth})
	y = r.mul(y).add(one(0.5))
	return r.mul(y).mul(r).add(r)
}

// What the doubles nearest to fractions leave.
var (
	third        = math.FMA(-3, 1.0/3, 1) / 3
	sixth        = math.FMA(-6, 1.0/6, 1) / 6
	fifth        = math.FMA(-5, 1.0/5, 1) / 5
	twentyfourth = math.FMA(-24, 1.0/24, 1) / 24
)

// Expm1 is Math.expm1.
func Expm1(x float64) float64 {
	switch {
	case math.IsNaN(x) || x > overflow:
		return x * math.Inf(1)
	case x < -40:
		return -1
	case math.Abs(x) < 0x1p-54:
		return x
	}
	var y pair
	if math.Abs(x) < 0.008 {
		y = growth(one(x))
	} else {
		e, k := expOf(one(x))
		if k > 1000 {
			return Exp(x)
		}
		y = e.scale(k).sub(one(1))
	}
	if z, ok := y.nearest(); ok {
		return z
	}
	wide := new(big.Float).SetPrec(2 * precision).SetFloat64(x) // the subtraction costs 54 bits at most
	e := bigExp(wide, known().ln2)
	return settle(new(big.Float).SetPrec(precision).Sub(e, small(1)))
}

// Pow is Math.pow and the operator ** of Numbers (ECMA-262, section 6.1.6.1.3).
func Pow(x, y float64) float64 {
	whole := math.Trunc(y) == y
	odd := whole && math.Abs(y) < 1<<53 && math.Mod(y, 2) != 0
	ax := math.Abs(x)
	switch {
	case y == 0:
		return 1
	case math.IsNaN(x) || math.IsNaN(y) || ax == 1 && math.IsInf(y, 0):
		return math.NaN()
	case math.IsInf(y, 0):
		if (ax > 1) == (y > 0) {
			return math.Inf(1)
		}
		return 0
	case x == 0 || math.IsInf(x, 0):
		z := 0.0
		if (x == 0) != (y > 0) {
			z = math.Inf(1)
		}
		if odd {
			z = math.Copysign(z, x)
		}
		return z
	case x < 0 && !whole:
		return math.NaN()
	case y == 1:
		return x
	case y == 2:
		return x * x
	case y == -1:
		return 1 / x
	case y == 0.5:
		return math.Sqrt(x)
	}
	z, ok := wholePower(ax, y)
	if !ok {
		z = power(ax, y)
	}
	if x < 0 && odd {
		return -z
	}
	return z
}

// wholePower is x^y of small integers whose result has no error, the commonest case.
func wholePower(x, y float64) (z float64, ok bool) {
	if y < 0 || y > 64 || y != math.Trunc(y) || x != math.Trunc(x) || x > 1<<53 {
		return 0, false
	}
	z = 1
	for range int(y) {
		if z *= x; z > 1<<53 {
			return 0, false
		}
	}
	return z, true
}

// power is x^y for x that is positive and finite.
func power(x, y float64) float64 {
	if x == 1 {
		return 1
	}
	l := logOf(one(x))
	if p := l.hi * y; p > 710 {
		return math.Inf(1)
	} else if p < -746 {
		return 0
	}
	l = l.times(y)
	if math.Abs(l.hi) < 0x1p-55 {
		return 1 + l.hi
	}
	e, k := expOf(l)
	if z, ok := e.nearest(); ok && k > -1000 && k < 1000 {
		return math.Ldexp(z, k)
	}
	return bigPower(x, y)
}

func bigPower(x, y float64) float64 {
	if n := math.Abs(y); n <= 64 && n == math.Trunc(n) {
		p := new(big.Float).SetPrec(53 * 64).SetInt64(1)
		for range int(n) {
			p.Mul(p, new(big.Float).SetFloat64(x))
		}
		if y < 0 {
			p.Quo(small(1), p)
		}
		z, _ := p.Float64()
		return z
	}
	c := known()
	l := bigLog(number(x), c.ln2)
	return settle(bigExp(l.Mul(l, number(y)), c.ln2))
}
