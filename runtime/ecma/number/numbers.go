// Package number amends goja's Number, BigInt and Math. Everything is loop-confined.
package number

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// Install has conversions to numbers round once, to the nearest, where goja
// adds up digits or gives up (ECMA-262, sections 7.1.4.1.1, 19.2.5 and 21.1.1.1).
func Install(e *engine.Engine) {
	builtin.Wrap(e, e.VM().GlobalObject(), "parseInt", func(c goja.FunctionCall, method insides.Function) goja.Value {
		if builtin.FirstText(e, &c) == nil {
			return method(c)
		}
		v := method(c)
		if x := v.ToFloat(); x != 0 && math.Abs(x) < 1<<53 || math.IsNaN(x) {
			return v
		}
		return e.VM().ToValue(longInteger(c.Arguments[0].String(), int(int32(uint32(c.Argument(1).ToInteger())))))
	})
	builtin.Wrap(e, e.VM().GlobalObject(), "Number", func(c goja.FunctionCall, method insides.Function) goja.Value {
		if len(c.Arguments) == 0 {
			return method(c)
		}
		switch v := c.Arguments[0].(type) {
		case goja.String:
			if text := v.String(); len(text) > 15 {
				if x, ok := longLiteral(strings.Trim(text, " \t\r\n")); ok {
					return e.VM().ToValue(x)
				}
			}
		case *goja.Object:
		default:
			if n, ok := v.Export().(*big.Int); ok && n.BitLen() > 53 {
				x, _ := new(big.Float).SetInt(n).Float64()
				return e.VM().ToValue(x)
			}
		}
		return method(c)
	})
}

// longInteger is parseInt of a text that is known to begin with digits of the
// radix.
func longInteger(text string, radix int) float64 {
	text = strings.TrimFunc(text, builtin.IsWhiteSpace)
	sign := 1.0
	if text != "" && (text[0] == '-' || text[0] == '+') {
		if text[0] == '-' {
			sign = -1
		}
		text = text[1:]
	}
	if hex := len(text) > 1 && text[0] == '0' && text[1]|0x20 == 'x'; hex && (radix == 0 || radix == 16) {
		text, radix = text[2:], 16
	}
	if radix == 0 {
		radix = 10
	}
	n := 0
	for n < len(text) {
		if digit, err := strconv.ParseUint(text[n:n+1], 36, 8); err != nil || int(digit) >= radix {
			break
		}
		n++
	}
	x, _ := exactly(text[:n], radix)
	return sign * x
}

// longLiteral is a number that is written with a prefix.
func longLiteral(text string) (x float64, ok bool) {
	if len(text) < 3 || text[0] != '0' {
		return 0, false
	}
	radix := map[byte]int{'x': 16, 'o': 8, 'b': 2}[text[1]|0x20]
	if radix == 0 || text[2] == '-' || text[2] == '+' || strings.Contains(text, "_") {
		return 0, false
	}
	return exactly(text[2:], radix)
}

// maxExactDigits bounds the digits that count: what follows them changes no
// result, but takes time.
const maxExactDigits = 1 << 12

// exactly is the number nearest to an integer in digits.
func exactly(digits string, radix int) (x float64, ok bool) {
	if radix == 10 {
		x, _ = strconv.ParseFloat(digits, 64)
		return x, true // an infinity with its error
	}
	digits = strings.TrimLeft(digits, "0")
	if len(digits) > maxExactDigits {
		return math.Inf(1), strings.Trim(strings.ToLower(digits), "0123456789abcdef") == "" // 2^4096 and more
	}
	n, ok := new(big.Int).SetString("0"+digits, radix)
	if !ok {
		return 0, false
	}
	x, _ = new(big.Float).SetInt(n).Float64()
	return x, true
}

// maxBigIntBits bounds a BigInt, whose arithmetic is no function and so cannot
// be interrupted; in V8 it is 2^30. Parsing decimal digits takes quadratic time.
const (
	maxBigIntBits   = 1 << 24
	maxBigIntDigits = 1 << 19
	badBigInt       = "Maximum BigInt size exceeded"
)

// GuardBigInt bounds what makes BigInts.
func GuardBigInt(e *engine.Engine) {
	class := e.VM().Get("BigInt").(*goja.Object)
	for _, name := range []string{"asIntN", "asUintN"} {
		builtin.Guard(e, class, name, func(c *goja.FunctionCall) {
			bits := builtin.NumberAt(e, c, 0)
			if bits <= -1 || bits > 1<<53-1 {
				e.Throw("RangeError", "Invalid value %s: not (convertible to) a safe integer", e.Text(e.VM().ToValue(bits)))
			}
			if len(c.Arguments) < 2 || !(bits > maxBigIntBits) {
				return
			}
			// Wider than any value: the value itself, unless it is negative and wraps.
			n, ok := c.Arguments[1].Export().(*big.Int)
			if ok && name == "asUintN" && n.Sign() < 0 {
				e.Throw("RangeError", badBigInt)
			}
			c.Arguments = append([]goja.Value{e.VM().ToValue(maxBigIntBits + 1)}, c.Arguments[1:]...)
		})
	}
	builtin.Guard(e, e.VM().GlobalObject(), "BigInt", func(c *goja.FunctionCall) {
		if len(c.Arguments) > 0 && builtin.StringLength(c.Arguments[0]) > maxBigIntDigits {
			e.Throw("RangeError", badBigInt)
		}
	})
}
