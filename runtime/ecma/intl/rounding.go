package intl

import (
	"math/big"
	"slices"

	"github.com/dop251/goja"
)

// rounding are the options of how digits are left out (ECMA-402, section 16.1.3).
// The zero value is the usual one.
type rounding struct {
	mode, priority, trailing string
	increment                int
}

var roundingModes = []string{"ceil", "floor", "expand", "trunc", "halfCeil", "halfFloor", "halfExpand", "halfTrunc", "halfEven"}

var roundingIncrements = []int{1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 2500, 5000}

func (p *Intl) readRounding(what string, options goja.Value) rounding {
	r := rounding{increment: p.numberOption(options, "roundingIncrement", 1, 5000, 1)}
	if !slices.Contains(roundingIncrements, r.increment) {
		p.Engine.Throw("RangeError", "roundingIncrement value is out of range.")
	}
	r.mode = p.option(what, options, "roundingMode", "halfExpand", roundingModes...)
	r.priority = p.option(what, options, "roundingPriority", "auto", "auto", "morePrecision", "lessPrecision")
	r.trailing = p.option(what, options, "trailingZeroDisplay", "auto", "auto", "stripIfInteger")
	return r
}

// up reports whether digits are counted up that are left out; half says how they
// compare with the half of what they are left out of, odd whether the last digit
// that stays is odd.
func (r rounding) up(half int, odd, negative bool) bool {
	switch r.mode {
	case "ceil":
		return !negative
	case "floor":
		return negative
	case "expand":
		return true
	case "trunc":
		return false
	case "halfCeil":
		return half > 0 || half == 0 && !negative
	case "halfFloor":
		return half > 0 || half == 0 && negative
	case "halfTrunc":
		return half > 0
	case "halfEven":
		return half > 0 || half == 0 && odd
	}
	return half >= 0
}

// keepBy keeps the first n digits.
func (d decimal) keepBy(n int, r rounding) decimal {
	if d.special != "" || n >= len(d.digits) {
		return d
	}
	half := -1
	if n >= 0 && d.digits[n] >= '5' {
		half = 0
		if d.digits[n] > '5' || len(d.digits) > n+1 {
			half = 1
		}
	}
	if !r.up(half, n > 0 && (d.digits[n-1]-'0')%2 == 1, d.negative) {
		d.digits = d.digits[:max(n, 0)]
		return d.trim()
	}
	if n <= 0 {
		d.digits, d.exp = "1", d.exp-n+1
		return d
	}
	kept := []byte(d.digits[:n])
	i := n - 1
	for ; i >= 0 && kept[i] == '9'; i-- {
		kept[i] = '0'
	}
	if i >= 0 {
		kept[i]++
	} else {
		kept = append([]byte{'1'}, kept...)
		d.exp++
	}
	d.digits = string(kept)
	return d.trim()
}

// toIncrement rounds to a multiple of the increment in the last place of a fraction.
func (d decimal) toIncrement(fraction int, r rounding) decimal {
	if d.special != "" || d.isZero() {
		return d
	}
	whole, rest := d.shift(fraction).split(1, 0)
	exact, ok := new(big.Rat).SetString(whole + "." + rest + "0")
	if !ok {
		return d
	}
	exact.Quo(exact, new(big.Rat).SetInt64(int64(r.increment)))
	steps := new(big.Int).Quo(exact.Num(), exact.Denom())
	left := new(big.Rat).Sub(exact, new(big.Rat).SetInt(steps))
	if left.Sign() != 0 && r.up(left.Cmp(big.NewRat(1, 2)), steps.Bit(0) == 1, d.negative) {
		steps.Add(steps, big.NewInt(1))
	}
	steps.Mul(steps, big.NewInt(int64(r.increment)))
	out := newDecimal(steps.String()).shift(-fraction)
	out.negative = d.negative
	return out
}

// roundBy gives the digits that the format shows, and the format that shows them
// where two kinds of limits compete.
func (f *numberFormat) roundBy(d decimal) (decimal, *numberFormat) {
	switch {
	case f.maxSignificant > 0 && f.rounding.priority != "auto" && f.rounding.priority != "":
		significant := d.keepBy(f.maxSignificant, f.rounding)
		fraction := d.keepBy(d.exp+f.maxFraction, f.rounding)
		finer := d.exp-f.maxSignificant <= -f.maxFraction // the significant digits go further
		if finer == (f.rounding.priority == "morePrecision") {
			return significant, f
		}
		g := *f
		g.minSignificant, g.maxSignificant = 0, 0
		return fraction, &g
	case f.maxSignificant > 0:
		return d.keepBy(f.maxSignificant, f.rounding), f
	case f.compactRounding:
		if d.exp >= 2 {
			return d.keepBy(d.exp, f.rounding), f
		}
		return d.keepBy(2, f.rounding), f
	case f.rounding.increment > 1:
		return d.toIncrement(f.maxFraction, f.rounding), f
	}
	return d.keepBy(d.exp+f.maxFraction, f.rounding), f
}
