package elementary

import (
	"math"
	"math/big"
)

// Log is Math.log.
func Log(x float64) float64 { return logarithm(x, pair{1, 0}, 0) }

// Log2 is Math.log2.
func Log2(x float64) float64 { return logarithm(x, table.log2e, 2) }

// Log10 is Math.log10.
func Log10(x float64) float64 { return logarithm(x, table.log10e, 10) }

// logarithm is log(x)*factor; base is that of the factor, 0 for e.
func logarithm(x float64, factor pair, base float64) float64 {
	switch {
	case math.IsNaN(x) || x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case x == 1:
		return 0
	case math.IsInf(x, 1):
		return x
	}
	if base == 2 {
		if m, k := math.Frexp(x); m == 0.5 {
			return float64(k - 1)
		}
	}
	if z, ok := logOf(one(x)).mul(factor).nearest(); ok {
		return z
	}
	if base == 10 {
		for n, power := range table.powers {
			if x == power {
				return float64(n)
			}
		}
	}
	c := known()
	y := bigLog(number(x), c.ln2)
	if base != 0 {
		y.Quo(y, bigLog(number(base), c.ln2))
	}
	return settle(y)
}

// logOf is the natural logarithm of a positive pair, to some 2^-80 of its value.
func logOf(x pair) pair {
	c := &table
	m, k := math.Frexp(x.hi) // in [0.5, 1)
	m, k = m*2, k-1
	lo := 0.0
	if x.lo != 0 {
		lo = math.Ldexp(x.lo, -k)
	}
	i := int((m - 1) * (2 * steps))
	if i == 2*steps-1 { // near 1 from below
		m, lo, k, i = m/2, lo/2, k+1, 0
	}
	inverse := c.inverses[i]
	r := sum(math.FMA(m, inverse, -1), lo*inverse) // the first has no error
	y := logNear(r)
	if i != 0 {
		y = c.logs[i].add(y)
	}
	if k != 0 {
		y = c.ln2.times(float64(k)).add(y)
	}
	return y
}

// logNear is log(1+r) for |r| < 2^-7.
func logNear(r pair) pair {
	tail := polynomial(r.hi, 1.0/6, -1.0/7, 1.0/8, -1.0/9, 1.0/10, -1.0/11)
	y := pair{1.0 / 5, fifth}.sub(r.times(tail))
	y = one(0.25).sub(r.mul(y))
	y = pair{1.0 / 3, third}.sub(r.mul(y))
	y = one(0.5).sub(r.mul(y))
	return r.sub(r.mul(y).mul(r))
}

// Log1p is Math.log1p.
func Log1p(x float64) float64 {
	switch {
	case math.IsNaN(x) || x < -1:
		return math.NaN()
	case x == -1:
		return math.Inf(-1)
	case math.IsInf(x, 1) || math.Abs(x) < 0x1p-54:
		return x
	}
	var y pair
	if math.Abs(x) < 0x1p-7 {
		y = logNear(one(x))
	} else {
		y = logOf(sum(1, x))
	}
	if z, ok := y.nearest(); ok {
		return z
	}
	const wide = 1200 // 1+x, and what its logarithm loses, for any x
	s := new(big.Float).SetPrec(wide).SetFloat64(x)
	return settle(new(big.Float).SetPrec(precision).Set(bigLog(s.Add(s, small(1)), known().ln2)))
}
