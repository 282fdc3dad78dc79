package intl

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// decimal is a number to be formatted: 0.digits × 10^exp, so that it is rounded
// as it is written and not as a float holds it. Immutable.
type decimal struct {
	negative bool
	special  string // "NaN" or "∞"
	digits   string // without leading or trailing zeros; "" is zero
	exp      int
}

// decimalOf is ToIntlMathematicalValue (ECMA-402, section 16.5.16).
func (p *Intl) decimalOf(v goja.Value) decimal {
	if obj, ok := v.(*goja.Object); ok {
		v = p.VM.ToValue(obj.ToNumber())
	}
	if n, ok := v.Export().(*big.Int); ok {
		return newDecimal(n.String())
	}
	if _, isString := v.(goja.String); isString {
		text := strings.TrimSpace(v.String())
		if _, err := strconv.ParseFloat(text, 64); err == nil && !strings.ContainsAny(text, "xXpPiInN_") {
			return newDecimal(text)
		}
	}
	return floatDecimal(v.ToFloat())
}

func floatDecimal(x float64) decimal {
	switch {
	case math.IsNaN(x):
		return decimal{special: "NaN"}
	case math.IsInf(x, 0):
		return decimal{special: "∞", negative: x < 0}
	}
	return newDecimal(strconv.FormatFloat(x, 'e', -1, 64))
}

// newDecimal reads an optional sign, digits with an optional point, and an
// optional exponent.
func newDecimal(text string) decimal {
	d := decimal{}
	if text != "" && (text[0] == '-' || text[0] == '+') {
		d.negative, text = text[0] == '-', text[1:]
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	shift, _ := strconv.Atoi(exponent)
	whole, fraction, _ := strings.Cut(mantissa, ".")
	d.digits, d.exp = whole+fraction, len(whole)+shift
	return d.trim()
}

func (d decimal) trim() decimal {
	trimmed := strings.TrimLeft(d.digits, "0")
	d.exp -= len(d.digits) - len(trimmed)
	d.digits = strings.TrimRight(trimmed, "0")
	if d.digits == "" {
		d.exp = 0
	}
	return d
}

func (d decimal) isZero() bool { return d.special == "" && d.digits == "" }

// shift multiplies by 10^n.
func (d decimal) shift(n int) decimal {
	if d.digits != "" {
		d.exp += n
	}
	return d
}

// split gives the digits before and after the point, at least as many as asked.
func (d decimal) split(integers, fractions int) (whole, fraction string) {
	switch {
	case d.exp <= 0:
		fraction = strings.Repeat("0", -d.exp) + d.digits
	case d.exp >= len(d.digits):
		whole = d.digits + strings.Repeat("0", d.exp-len(d.digits))
	default:
		whole, fraction = d.digits[:d.exp], d.digits[d.exp:]
	}
	if d.digits == "" {
		fraction = ""
	}
	if n := integers - len(whole); n > 0 {
		whole = strings.Repeat("0", n) + whole
	}
	if n := fractions - len(fraction); n > 0 {
		fraction += strings.Repeat("0", n)
	}
	return whole, fraction
}
