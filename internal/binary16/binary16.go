// Package binary16 converts 16-bit floating-point numbers (IEEE 754 binary16), which
// Go has no type for.
package binary16

import "math"

// Value is the value of an IEEE 754 binary16.
func Value(bits uint16) float64 {
	sign, exp, mantissa := 1.0, int(bits>>10&31), float64(bits&1023)
	if bits>>15 != 0 {
		sign = -1
	}
	switch {
	case exp == 31 && mantissa != 0:
		return math.NaN()
	case exp == 31:
		return math.Inf(int(sign))
	case exp == 0:
		return math.Copysign(math.Ldexp(mantissa, -24), sign)
	}
	return sign * math.Ldexp(1+mantissa/1024, exp-15)
}

// Bits rounds to the nearest binary16, ties to even.
func Bits(x float64) uint16 {
	sign := uint16(0)
	if math.Signbit(x) {
		sign = 1 << 15
	}
	abs := math.Abs(x)
	switch {
	case math.IsNaN(x):
		return 0x7e00
	case abs >= 65520:
		return sign | 0x7c00
	case abs < math.Ldexp(1, -14):
		return sign | uint16(math.RoundToEven(math.Ldexp(abs, 24)))
	}
	fraction, exp := math.Frexp(abs)                                                   // in [0.5, 1)
	return sign | uint16((exp+13)<<10+int(math.RoundToEven(math.Ldexp(fraction, 11)))) // a carry moves the exponent on
}
