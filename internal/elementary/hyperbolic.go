package elementary

import "math"

// The formulas of V8 for hyperbolic functions and their inverses, which take
// different ways where one would lose digits (fdlibm's). tanh is the C library's.

// halfway is from where the inverse functions are logarithms of 2x.
const halfway = 1 << 28

// largest is what Sinh and Cosh take.
const largest = 710.4758600739439

// Sinh is Math.sinh.
func Sinh(x float64) float64 {
	ax, half := math.Abs(x), math.Copysign(0.5, x)
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0) || ax < 0x1p-28:
		return x
	case ax < 22:
		t := Expm1(ax)
		if ax < 1 {
			return half * (float64(2*t) - float64(t*t)/(t+1))
		}
		return half * (t + t/(t+1))
	case ax < 709.7822265625:
		return half * Exp(ax)
	case ax <= largest:
		w := Exp(0.5 * ax)
		return float64(half*w) * w
	}
	return math.Copysign(math.Inf(1), x)
}

// Cosh is Math.cosh.
func Cosh(x float64) float64 {
	ax := math.Abs(x)
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return ax
	case math.Float64bits(ax)>>32 < 0x3FD62E43: // half of ln 2
		t := Expm1(ax)
		w := 1 + t
		if ax < 0x1p-55 {
			return w
		}
		return 1 + float64(t*t)/(w+w)
	case ax < 22:
		t := Exp(ax)
		return float64(0.5*t) + 0.5/t
	case math.Float64bits(ax)>>32 < 0x40862E42:
		return 0.5 * Exp(ax)
	case ax <= largest:
		w := Exp(0.5 * ax)
		return float64(0.5*w) * w
	}
	return math.Inf(1)
}

// Tanh is Math.tanh.
func Tanh(x float64) float64 {
	ax := math.Abs(x)
	switch {
	case math.IsNaN(x):
		return x
	case ax < 0x1p-55:
		return x * (1 + x)
	case ax >= 22:
		return math.Copysign(1, x)
	case ax >= 1:
		return math.Copysign(1-2/(Expm1(2*ax)+2), x)
	}
	t := Expm1(-2 * ax)
	return math.Copysign(-t/(t+2), x)
}

const ln2 = 6.93147180559945286227e-01

// Asinh is Math.asinh.
func Asinh(x float64) float64 {
	ax := math.Abs(x)
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0) || ax < 0x1p-28:
		return x
	case ax >= halfway+1<<8: // what its first half says is above
		return math.Copysign(Log(ax)+ln2, x)
	case math.Float64bits(ax)>>32 > 0x40000000:
		return math.Copysign(Log(float64(2*ax)+1/(math.Sqrt(float64(x*x)+1)+ax)), x)
	}
	t := float64(x * x)
	return math.Copysign(Log1p(ax+t/(1+math.Sqrt(1+t))), x)
}

// Acosh is Math.acosh.
func Acosh(x float64) float64 {
	switch {
	case math.IsNaN(x) || x < 1:
		return math.NaN()
	case x >= halfway:
		if math.IsInf(x, 1) {
			return x
		}
		return Log(x) + ln2
	case x == 1:
		return 0
	case math.Float64bits(x)>>32 > 0x40000000:
		return Log(float64(2*x) - 1/(x+math.Sqrt(float64(x*x)-1)))
	}
	t := x - 1
	return Log1p(t + math.Sqrt(float64(2*t)+float64(t*t)))
}

// Atanh is Math.atanh.
func Atanh(x float64) float64 {
	ax := math.Abs(x)
	var t float64
	switch {
	case math.IsNaN(x) || ax > 1:
		return math.NaN()
	case ax == 1:
		return math.Copysign(math.Inf(1), x)
	case ax < 0x1p-28:
		return x
	case ax < 0.5:
		t = ax + ax
		t = 0.5 * Log1p(t+float64(t*ax)/(1-ax))
	default:
		t = 0.5 * Log1p((ax+ax)/(1-ax))
	}
	return math.Copysign(t, x)
}

// Hypot is Math.hypot of the magnitudes of its arguments (ECMA-262, section
// 21.3.2.18): the squares relative to the largest, with the errors of their sum.
func Hypot(list []float64) float64 {
	most, isNaN := 0.0, false
	for _, x := range list {
		isNaN = isNaN || math.IsNaN(x)
		if x = math.Abs(x); x > most {
			most = x
		}
	}
	switch {
	case math.IsInf(most, 0):
		return most
	case isNaN:
		return math.NaN()
	case most == 0:
		return 0
	}
	total, lost := 0.0, 0.0
	for _, x := range list {
		x = math.Abs(x) / most
		part := float64(x*x) - lost
		next := total + part
		lost = (next - total) - part
		total = next
	}
	return math.Sqrt(total) * most
}
