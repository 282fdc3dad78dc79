package engine

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"minido.dev/minido/internal/insides"
)

// guardNumbers has conversions to numbers round once, to the nearest, where goja
// adds up digits or gives up (ECMA-262, sections 7.1.4.1.1, 19.2.5 and 21.1.1.1).
func (e *Engine) guardNumbers() {
	e.wrap(e.vm.GlobalObject(), "parseInt", func(c goja.FunctionCall, method insides.Function) goja.Value {
		if e.firstText(&c) == nil {
			return method(c)
		}
		v := method(c)
		if x := v.ToFloat(); x != 0 && math.Abs(x) < 1<<53 || math.IsNaN(x) {
			return v
		}
		return e.vm.ToValue(longInteger(c.Arguments[0].String(), int(int32(uint32(c.Argument(1).ToInteger())))))
	})
	e.wrap(e.vm.GlobalObject(), "Number", func(c goja.FunctionCall, method insides.Function) goja.Value {
		if len(c.Arguments) == 0 {
			return method(c)
		}
		switch v := c.Arguments[0].(type) {
		case goja.String:
			if text := v.String(); len(text) > 15 {
				if x, ok := longLiteral(strings.Trim(text, " \t\r\n")); ok {
					return e.vm.ToValue(x)
				}
			}
		case *goja.Object:
		default:
			if n, ok := v.Export().(*big.Int); ok && n.BitLen() > 53 {
				x, _ := new(big.Float).SetInt(n).Float64()
				return e.vm.ToValue(x)
			}
		}
		return method(c)
	})
}

// firstText converts the first argument to a string, in place; nil without one.
func (e *Engine) firstText(c *goja.FunctionCall) goja.Value {
	if len(c.Arguments) == 0 {
		return nil
	}
	if _, isText := c.Arguments[0].(goja.String); !isText {
		args := append([]goja.Value(nil), c.Arguments...)
		args[0] = args[0].ToString()
		c.Arguments = args
	}
	return c.Arguments[0]
}

// longInteger is parseInt of a text that is known to begin with digits of the
// radix.
func longInteger(text string, radix int) float64 {
	text = strings.TrimFunc(text, isWhiteSpace)
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

// isWhiteSpace reports WhiteSpace and LineTerminator (ECMA-262, sections 12.2 and 12.3).
func isWhiteSpace(r rune) bool {
	return strings.ContainsRune("\t\n\v\f\r \u00A0\u1680\u2028\u2029\u202F\u205F\u3000\uFEFF", r) || r >= 0x2000 && r <= 0x200A
}
