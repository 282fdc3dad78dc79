package elementary

import (
	"math"
	"math/big"
)

// The functions here are the slow way: series over big.Float, good to some 2^-240
// where their argument has 256 bits.

func like(x *big.Float) *big.Float { return new(big.Float).SetPrec(x.Prec()) }

// series is the sum of terms until one is too small to count; next makes a term
// of the one before it, in place.
func series(first *big.Float, next func(term *big.Float, n int64)) *big.Float {
	term, sum := like(first).Set(first), like(first).Set(first)
	for n := int64(1); term.Sign() != 0 && term.MantExp(nil) > sum.MantExp(nil)-int(sum.Prec())-8; n++ {
		next(term, n)
		sum.Add(sum, term)
	}
	return sum
}

func small(n int64) *big.Float { return new(big.Float).SetInt64(n) }

// bigArctangentOfInverse is atan(1/n).
func bigArctangentOfInverse(n int64, prec uint) *big.Float {
	power := new(big.Float).SetPrec(prec).Quo(small(1), small(n))
	square := small(n * n)
	return series(power, func(term *big.Float, k int64) {
		power.Quo(power, square)
		power.Neg(power)
		term.Quo(power, small(2*k+1))
	})
}

// bigPi is Machin's formula.
func bigPi(prec uint) *big.Float {
	a, b := bigArctangentOfInverse(5, prec+32), bigArctangentOfInverse(239, prec+32)
	a.Mul(a, small(16))
	return a.Sub(a, b.Mul(b, small(4)))
}

// bigLn2 is 2*atanh(1/3).
func bigLn2(prec uint) *big.Float {
	power := new(big.Float).SetPrec(prec+32).Quo(small(2), small(3))
	return series(power, func(term *big.Float, k int64) {
		power.Quo(power, small(9))
		term.Quo(power, small(2*k+1))
	})
}

// bigExp is e^x.
func bigExp(x, ln2 *big.Float) *big.Float {
	if x.Sign() == 0 {
		return like(x).SetInt64(1)
	}
	q, _ := like(x).Quo(x, ln2).Float64()
	k := int64(math.Round(q))
	wide := new(big.Float).SetPrec(x.Prec() + 64)
	r := wide.Sub(x, new(big.Float).SetPrec(x.Prec()+64).Mul(ln2, small(k)))
	const halvings = 12
	r.SetMantExp(r, -halvings)
	y := series(like(r).SetInt64(1), func(term *big.Float, n int64) {
		term.Mul(term, r)
		term.Quo(term, small(n))
	})
	for range halvings {
		y.Mul(y, y)
	}
	return like(x).SetMantExp(y, int(k))
}

// bigLog is the natural logarithm, by Newton's method over bigExp.
func bigLog(x, ln2 *big.Float) *big.Float {
	mantissa := like(x)
	k := x.MantExp(mantissa)
	m, _ := mantissa.Float64()
	if m < math.Sqrt2/2 {
		m, k = m*2, k-1
		mantissa.SetMantExp(mantissa, 1)
	}
	m -= 1
	y := like(x).SetFloat64(m - m*m/2 + m*m*m/3) // some digits
	if mantissa.Cmp(small(1)) == 0 {
		y.SetInt64(0)
	} else {
		for last := math.MinInt; ; {
			e := bigExp(y, ln2)
			d := like(x).Sub(mantissa, e)
			e.Add(e, mantissa)
			d.Quo(d, e)
			d.SetMantExp(d, 1)
			y.Add(y, d)
			if d.Sign() == 0 || -d.MantExp(nil) > int(x.Prec())/2 || -d.MantExp(nil) <= last {
				break
			}
			last = -d.MantExp(nil)
		}
	}
	return y.Add(y, new(big.Float).SetPrec(x.Prec()).Mul(ln2, small(int64(k))))
}

// bigSine is sine and cosine of |x| < 4.
func bigSine(x *big.Float) (sin, cos *big.Float) {
	square := like(x).Mul(x, x)
	next := func(step int64) func(*big.Float, int64) {
		return func(term *big.Float, n int64) {
			term.Mul(term, square)
			term.Quo(term, small((2*n+step)*(2*n+step-1)))
			term.Neg(term)
		}
	}
	return series(x, next(1)), series(like(x).SetInt64(1), next(0))
}

// bigArctangent halves its argument's angle some times first.
func bigArctangent(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return like(x)
	}
	t := like(x).Set(x)
	const halvings = 6
	for range halvings {
		d := like(t).Mul(t, t)
		d.Add(d, small(1))
		d.Sqrt(d)
		d.Add(d, small(1))
		t.Quo(t, d)
	}
	square := like(t).Mul(t, t)
	power := like(t).Set(t)
	y := series(t, func(term *big.Float, n int64) {
		power.Mul(power, square)
		power.Neg(power)
		term.Quo(power, small(2*n+1))
	})
	return y.SetMantExp(y, halvings)
}
