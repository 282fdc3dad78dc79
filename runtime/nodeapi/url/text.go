package url

import (
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
	"golang.org/x/net/idna"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
)

const upperHex = "0123456789ABCDEF"

// percentEncode escapes the UTF-8 bytes of s that keep refuses.
func percentEncode(s string, keep func(byte) bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; keep(c) {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(upperHex[c>>4])
			b.WriteByte(upperHex[c&15])
		}
	}
	return b.String()
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// uriComponent is what encodeURIComponent leaves alone.
func uriComponent(c byte) bool { return alphanumeric(c) || strings.IndexByte("-_.!~*'()", c) >= 0 }

// percentDecode decodes what is encoded well and leaves the rest.
func percentDecode(s string) []byte {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && node.IsHex(s[i+1]) && node.IsHex(s[i+2]) {
			out = append(out, node.DecodeHex(s[i+1:i+3])...)
			i += 2
			continue
		}
		out = append(out, s[i])
	}
	return out
}

// querystringModule are the natives of js/querystring.js.
func querystringModule(base *node.Modules) []engine.Func {
	m := &module{Modules: base}

	return []engine.Func{
		{Name: "escape", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			s := c.Argument(0).(goja.String)
			if loneSurrogate(s) {
				m.Throw("URIError", "ERR_INVALID_URI", "URI malformed")
			}
			return m.VM.ToValue(percentEncode(s.String(), uriComponent))
		}},
		{Name: "unescape", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			return m.VM.ToValue(node.DecodeUTF8(percentDecode(c.Argument(0).String())))
		}},
		{Name: "unescapeBuffer", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			return m.NewBuffer(percentDecode(c.Argument(0).String()))
		}},
	}
}

// loneSurrogate reports half a character in a string.
func loneSurrogate(s goja.String) bool {
	for i := 0; i < s.Length(); i++ {
		switch c := s.CharAt(i); {
		case c >= 0xdc00 && c <= 0xdfff:
			return true
		case c >= 0xd800 && c <= 0xdbff:
			if i++; i >= s.Length() || s.CharAt(i) < 0xdc00 || s.CharAt(i) > 0xdfff {
				return true
			}
		}
	}
	return false
}

// malformedEscape is a % that no two hexadecimal digits follow.
var malformedEscape = lazyregexp.New(`%([^0-9a-fA-F]|.[^0-9a-fA-F]|.?$)`)

// urlModule are the natives of js/url.js.
func urlModule(base *node.Modules) []engine.Func {
	m := &module{Modules: base}

	return []engine.Func{
		{Name: "decodeComponent", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			text := c.Argument(0).String()
			b := percentDecode(text)
			if !utf8.Valid(b) || malformedEscape.MatchString(text) {
				m.Throw("URIError", "", "URI malformed")
			}
			return m.VM.ToValue(string(b))
		}},
		{Name: "encodeAuth", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			return m.VM.ToValue(percentEncode(c.Argument(0).String(), func(b byte) bool { return uriComponent(b) || b == ':' }))
		}},
		{Name: "domain", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			name, ascii := c.Argument(0).String(), c.Argument(1).ToBoolean()
			profile := idna.New(idna.MapForLookup(), idna.Transitional(false), idna.CheckHyphens(false), idna.StrictDomainName(false))
			out, err := profile.ToASCII(name)
			if err == nil && !ascii {
				out, err = profile.ToUnicode(name)
			}
			switch {
			case err == nil:
			case strings.ContainsFunc(name, func(c rune) bool { return c >= utf8.RuneSelf }):
				out = "" // as Node has it: an invalid name is the empty string
			default:
				out = name // as the URL standard has it: labels of ASCII that decode to nothing stay
			}
			return m.VM.ToValue(out)
		}},
	}
}

// punycodeModule are the natives of js/punycode.js.
func punycodeModule(base *node.Modules) []engine.Func {
	m := &module{Modules: base}

	wrap := func(fn func(string) (string, error)) func(goja.FunctionCall) goja.Value {
		return func(c goja.FunctionCall) goja.Value {
			out, err := fn(c.Argument(0).String())
			if err != nil {
				m.Throw("RangeError", "", "%v", err)
			}
			return m.VM.ToValue(out)
		}
	}
	return []engine.Func{
		{Name: "encode", Length: 1, Fn: wrap(punycodeEncode)},
		{Name: "decode", Length: 1, Fn: wrap(punycodeDecode)},
	}
}

// The parameters of RFC 3492, section 5.
const (
	punyBase, punyMin, punyMax, punySkew, punyDamp, punyBias, punyFirst = 36, 1, 26, 38, 700, 72, 128
	punyLimit                                                           = 1<<31 - 1
)

const (
	errPunyOverflow = node.TextError("Overflow: input needs wider integers to process")
	errPunyInput    = node.TextError("Invalid input")
	errPunyNotBasic = node.TextError("Illegal input >= 0x80 (not a basic code point)")
)

func punyAdapt(delta, points int, first bool) int {
	if first {
		delta /= punyDamp
	} else {
		delta /= 2
	}
	delta += delta / points
	k := 0
	for ; delta > (punyBase-punyMin)*punyMax/2; k += punyBase {
		delta /= punyBase - punyMin
	}
	return k + (punyBase-punyMin+1)*delta/(delta+punySkew)
}

func punyThreshold(k, bias int) int { return min(max(k-bias, punyMin), punyMax) }

// punycodeEncode is RFC 3492, section 6.3.
func punycodeEncode(s string) (string, error) {
	var out []byte
	runes := []rune(s)
	for _, r := range runes {
		if r < punyFirst {
			out = append(out, byte(r))
		}
	}
	basic := len(out)
	done := basic
	if basic > 0 {
		out = append(out, '-')
	}
	n, delta, bias := punyFirst, 0, punyBias
	for done < len(runes) {
		next := punyLimit
		for _, r := range runes {
			if int(r) >= n {
				next = min(next, int(r))
			}
		}
		if next-n > (punyLimit-delta)/(done+1) {
			return "", errPunyOverflow
		}
		delta += (next - n) * (done + 1)
		n = next
		for _, r := range runes {
			if int(r) < n {
				delta++
			}
			if int(r) != n {
				continue
			}
			q := delta
			for k := punyBase; ; k += punyBase {
				t := punyThreshold(k, bias)
				if q < t {
					break
				}
				out = append(out, punyDigit(t+(q-t)%(punyBase-t)))
				q = (q - t) / (punyBase - t)
			}
			out = append(out, punyDigit(q))
			bias = punyAdapt(delta, done+1, done == basic)
			delta = 0
			done++
		}
		delta++
		n++
	}
	return string(out), nil
}

func punyDigit(d int) byte {
	if d < 26 {
		return byte('a' + d)
	}
	return byte('0' + d - 26)
}

// punycodeDecode is RFC 3492, section 6.2.
func punycodeDecode(s string) (string, error) {
	var out []rune
	start := 0
	if i := strings.LastIndexByte(s, '-'); i > 0 {
		for _, r := range s[:i] {
			if r >= 0x80 {
				return "", errPunyNotBasic
			}
			out = append(out, r)
		}
		start = i + 1
	}
	n, i, bias := punyFirst, 0, punyBias
	for at := start; at < len(s); {
		before, w := i, 1
		for k := punyBase; ; k += punyBase {
			if at >= len(s) {
				return "", errPunyInput
			}
			d := punyValue(s[at])
			at++
			if d < 0 {
				return "", errPunyInput
			}
			if d > (punyLimit-i)/w {
				return "", errPunyOverflow
			}
			i += d * w
			t := punyThreshold(k, bias)
			if d < t {
				break
			}
			w *= punyBase - t
		}
		bias = punyAdapt(i-before, len(out)+1, before == 0)
		n += i / (len(out) + 1)
		i %= len(out) + 1
		if n > utf8.MaxRune {
			return "", errPunyInput
		}
		out = append(out[:i], append([]rune{rune(n)}, out[i:]...)...)
		i++
	}
	return string(out), nil
}

func punyValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c-'0') + 26
	case c >= 'a' && c <= 'z':
		return int(c - 'a')
	case c >= 'A' && c <= 'Z':
		return int(c - 'A')
	}
	return -1
}
