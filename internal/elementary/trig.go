package elementary

import (
	"math"
	"math/big"
	"math/bits"
)

// Sin is Math.sin.
func Sin(x float64) float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return math.NaN()
	}
	if math.Abs(x) < 0x1p-27 {
		return nearlySame(x, -1.0/6)
	}
	r, q, ok := reduce(x)
	if ok {
		s, c := sine(r)
		if z, ok := quadrant(s, c, q).nearest(); ok {
			return z
		}
	}
	sin, _ := bigTurn(x)
	return settle(sin)
}

// Cos is Math.cos.
func Cos(x float64) float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return math.NaN()
	}
	if math.Abs(x) < 0x1p-27 {
		return 1 // less than half a unit below it
	}
	r, q, ok := reduce(x)
	if ok {
		s, c := sine(r)
		if z, ok := quadrant(s, c, q+1).nearest(); ok {
			return z
		}
	}
	_, cos := bigTurn(x)
	return settle(cos)
}

// Tan is Math.tan.
func Tan(x float64) float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return math.NaN()
	}
	if math.Abs(x) < 0x1p-27 {
		return nearlySame(x, 1.0/3)
	}
	r, q, ok := reduce(x)
	if ok {
		s, c := sine(r)
		if q&1 == 1 {
			s, c = c.neg(), s
		}
		if z, ok := s.div(c).nearest(); ok {
			return z
		}
	}
	sin, cos := bigTurn(x)
	return settle(sin.Quo(sin, cos))
}

// nearlySame is x+c*x^3 for an x so small that the nearest double is x or next to
// it.
func nearlySame(x, c float64) float64 {
	if math.Abs(x) < 0x1p-340 { // x^3 is nothing
		return x
	}
	return x + float64(c*float64(float64(x*x)*x))
}

// quadrant is the sine of an angle that is q right angles on.
func quadrant(s, c pair, q int) pair {
	if q&1 == 1 {
		s = c
	}
	if q&2 == 2 {
		return s.neg()
	}
	return s
}

// reduce takes right angles from x: what is left, within half of one, and how
// many they were. ok is false where so little is left that it is not precise.
func reduce(x float64) (r pair, q int, ok bool) {
	c := &table
	if math.Abs(x) >= 1<<20 {
		r, q = reduceFar(x)
		return r, q, math.Abs(r.hi) > 0x1p-30
	}
	n := math.Round(x * c.perRight)
	a := sum(x, -float64(n*c.quarter[0]))
	r = a.add(sum(-float64(n*c.quarter[1]), 0)).sub(product(n, c.quarter[2]))
	return r, int(n), math.Abs(r.hi) > 0x1p-18 || n == 0
}

// reduceFar multiplies by 2/pi in integers: of its bits, 256 from those on that
// make less than a whole turn.
func reduceFar(x float64) (r pair, q int) {
	m, k := math.Frexp(math.Abs(x))
	n := uint64(math.Ldexp(m, 53))
	from := uint(k - 53 + 62) // the bit of twoByPi that stands for 2 when all is times 2^(k-53)
	word, shift := from/64, from%64
	var p [4]uint64 // n times these bits, of which the first two are right angles
	carry := uint64(0)
	for i := 3; i >= 0; i-- {
		bits64 := table.twoByPi[word+uint(i)]<<shift | table.twoByPi[word+uint(i)+1]>>(64-shift)
		hi, lo := bits.Mul64(n, bits64)
		var c uint64
		p[i], c = bits.Add64(lo, carry, 0)
		carry = hi + c
	}
	q = int(p[0] >> 62)
	f := [3]uint64{p[0]<<2 | p[1]>>62, p[1]<<2 | p[2]>>62, p[2]<<2 | p[3]>>62}
	sign := 1.0
	if f[0]>>63 == 1 { // nearer to the next
		q, sign = q+1, -1
		f = [3]uint64{^f[0], ^f[1], ^f[2]}
	}
	zeros := bits.LeadingZeros64(f[0])
	if zeros > 40 { // too little is left
		return pair{}, q
	}
	hi, lo := f[0]<<zeros|f[1]>>(64-zeros), f[1]<<zeros|f[2]>>(64-zeros)
	a := pair{float64(hi >> 11), float64(hi<<53|lo>>11) * 0x1p-64}
	r = quick(a.hi, a.lo).times(math.Ldexp(sign, -53-zeros)).mul(table.right)
	if x < 0 {
		return r.neg(), -q
	}
	return r, q
}

// bigTurn is sine and cosine of x, the slow way.
func bigTurn(x float64) (sin, cos *big.Float) {
	const wide = farthest
	half := new(big.Float).SetPrec(wide).SetMantExp(known().pi, -1)
	f := new(big.Float).SetPrec(wide).SetFloat64(x)
	n := new(big.Float).SetPrec(wide).Quo(f, half)
	n.Add(n, big.NewFloat(math.Copysign(0.5, x)))
	whole, _ := n.Int(nil)
	f.Sub(f, half.Mul(half, new(big.Float).SetPrec(wide).SetInt(whole)))
	sin, cos = bigSine(new(big.Float).SetPrec(precision).Set(f))
	for q := new(big.Int).And(whole, big.NewInt(3)).Int64(); q > 0; q-- {
		sin, cos = cos, sin.Neg(sin)
	}
	return sin, cos
}

// sine is sine and cosine of |r| < 0.8.
func sine(r pair) (sin, cos pair) {
	c := &table
	if r.hi < 0 {
		sin, cos = sine(r.neg())
		return sin.neg(), cos
	}
	n := math.Round(r.hi * steps)
	t := sum(r.hi-n/steps, r.lo)
	square := t.mul(t)
	u := square.hi
	// sin t = t + t*a, cos t = 1 + b
	a := square.mul(pair{-1.0 / 6, -sixth}.add(square.times(polynomial(u, 1.0/120, -1.0/5040, 1.0/362880))))
	b := square.mul(one(-0.5).add(square.mul(pair{1.0 / 24, twentyfourth}.add(one(float64(u * polynomial(u, -1.0/720, 1.0/40320)))))))
	st := t.add(t.mul(a))
	if n == 0 {
		return st, one(1).add(b)
	}
	s0, c0 := c.sines[int(n)], c.cosines[int(n)]
	return s0.add(c0.mul(st)).add(s0.mul(b)), c0.add(c0.mul(b)).sub(s0.mul(st))
}

// Atan is Math.atan.
func Atan(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.Abs(x) < 0x1p-26: // the nearest may be next to x, but V8's is not
		return x
	case math.Abs(x) > 0x1p60:
		return math.Copysign(table.pi.hi/2, x)
	}
	z, ok := angle(one(math.Abs(x)), one(1)).nearest()
	if !ok {
		z = settle(bigArctangent(number(math.Abs(x))))
	}
	return math.Copysign(z, x)
}

// angle is atan(y/x) for positive y and x, whose quotient is neither huge nor tiny.
func angle(y, x pair) pair {
	c := &table
	if y.hi > x.hi {
		return c.pi.scale(-1).sub(angle(x, y))
	}
	n := math.Round(y.hi / x.hi * steps)
	step := n / steps
	t := y.sub(x.times(step)).div(x.add(y.times(step)))
	u := t.mul(t)
	v := u.hi
	p := pair{1.0 / 5, fifth}.add(one(float64(v * polynomial(v, -1.0/7, 1.0/9, -1.0/11))))
	p = pair{-1.0 / 3, -third}.add(u.mul(p))
	return c.tangents[int(n)].add(t.add(t.mul(u.mul(p))))
}

// Atan2 is Math.atan2.
func Atan2(y, x float64) float64 {
	pi := table.pi.hi
	ay, ax := math.Abs(y), math.Abs(x)
	switch {
	case math.IsNaN(x) || math.IsNaN(y):
		return math.NaN()
	case y == 0 && !math.Signbit(x) || math.IsInf(x, 1) && !math.IsInf(y, 0):
		return math.Copysign(0, y)
	case y == 0 || math.IsInf(x, -1) && !math.IsInf(y, 0):
		return math.Copysign(pi, y)
	case x == 0 || math.IsInf(y, 0) && !math.IsInf(x, 0):
		return math.Copysign(pi/2, y)
	case math.IsInf(y, 0) && x > 0:
		return math.Copysign(pi/4, y)
	case math.IsInf(y, 0):
		return math.Copysign(3*table.pi.hi/4, y)
	}
	_, ky := math.Frexp(ay)
	_, kx := math.Frexp(ax)
	if d := ky - kx; d > -60 && d < 60 {
		a := angle(one(math.Ldexp(ay, -ky)).scale(d), one(math.Ldexp(ax, -kx)))
		if x < 0 {
			a = table.pi.sub(a)
		}
		if z, ok := a.nearest(); ok {
			return math.Copysign(z, y)
		}
	}
	z := bigAngle(ay, ax, x < 0)
	if z == 0 {
		return 0 // V8's, without the sign
	}
	return math.Copysign(z, y)
}

func bigAngle(y, x float64, beyond bool) float64 {
	const wide = 2400 // a tiny angle is taken from pi
	q := new(big.Float).SetPrec(precision).Quo(number(y), number(x))
	var a *big.Float
	switch k := q.MantExp(nil); {
	case k > 70: // pi/2 - 1/q
		a = new(big.Float).SetPrec(wide).SetMantExp(known().pi, -1)
		a.Sub(a, new(big.Float).SetPrec(precision).Quo(small(1), q))
	case k < -70: // q - q^3/3
		cube := new(big.Float).SetPrec(precision).Mul(q, q)
		cube.Mul(cube, q)
		a = new(big.Float).SetPrec(wide).Sub(q, cube.Quo(cube, small(3)))
	default:
		a = bigArctangent(q)
	}
	if beyond {
		a = new(big.Float).SetPrec(wide).Sub(known().pi, a)
	}
	z, _ := a.Float64()
	return z
}

// Asin is Math.asin.
func Asin(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.Abs(x) > 1:
		return math.NaN()
	case x == 0:
		return x
	case math.Abs(x) < 0x1p-27:
		return nearlySame(x, 1.0/6)
	case math.Abs(x) == 1:
		return math.Copysign(table.pi.hi/2, x)
	}
	ax := math.Abs(x)
	z, ok := angle(one(ax), sum(1, -ax).mul(sum(1, ax)).root()).nearest()
	if !ok {
		n := number(ax)
		z = settle(bigArctangent(n.Quo(n, bigLeg(ax))))
	}
	return math.Copysign(z, x)
}

// bigLeg is sqrt(1-x^2).
func bigLeg(x float64) *big.Float {
	square := number(x)
	square.Mul(square, square)
	leg := new(big.Float).SetPrec(precision).Sub(small(1), square)
	return leg.Sqrt(leg)
}

// Acos is Math.acos.
func Acos(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.Abs(x) > 1:
		return math.NaN()
	case x == 1:
		return 0
	case x == -1:
		return table.pi.hi
	case math.Abs(x) < 0x1p-60:
		return table.pi.hi / 2
	}
	ax := math.Abs(x)
	a := angle(sum(1, -ax).mul(sum(1, ax)).root(), one(ax))
	if x < 0 {
		a = table.pi.sub(a)
	}
	if z, ok := a.nearest(); ok {
		return z
	}
	leg := bigLeg(ax)
	b := bigArctangent(leg.Quo(leg, number(ax)))
	if x < 0 {
		b.Sub(known().pi, b)
	}
	return settle(b)
}

// Cbrt is Math.cbrt.
func Cbrt(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	m, k := math.Frexp(math.Abs(x))
	for k%3 != 0 {
		m, k = m/2, k+1
	}
	y := 0.5 + m/2 // of m in [1/8, 1)
	for range 6 {
		y = (float64(2*y) + m/float64(y*y)) / 3
	}
	square := product(y, y)
	rest := one(m).sub(square.times(y))
	z, ok := quick(y, rest.hi/(3*square.hi)).nearest()
	if !ok { // a cube root is never exactly between two doubles
		b := number(y)
		for range 3 {
			s := number(0).Mul(b, b)
			r := number(0).Sub(number(m), number(0).Mul(s, b))
			b.Add(b, r.Quo(r, s.Mul(s, small(3))))
		}
		z = settle(b)
	}
	return math.Copysign(math.Ldexp(z, k/3), x)
}
