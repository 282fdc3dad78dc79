package node

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// Encoding is one of Node's character encodings (nodejs.org/api/buffer.html,
// "Buffers and character encodings").
type Encoding int

// The encodings of Buffer; EncUnknown is none of them.
const (
	EncUTF8 Encoding = iota
	EncUTF16
	EncLatin1
	EncASCII
	EncBase64
	EncBase64URL
	EncHex
	EncUnknown
)

var encodings = map[string]Encoding{
	"utf8": EncUTF8, "utf-8": EncUTF8, "ucs2": EncUTF16, "ucs-2": EncUTF16, "utf16le": EncUTF16, "utf-16le": EncUTF16,
	"latin1": EncLatin1, "binary": EncLatin1, "ascii": EncASCII, "base64": EncBase64, "base64url": EncBase64URL, "hex": EncHex,
}

// EncodingByName is an encoding by any of its names, in any case; EncUnknown if it is none.
func EncodingByName(name string) Encoding {
	if e, ok := encodings[name]; ok {
		return e
	}
	if e, ok := encodings[strings.ToLower(name)]; ok {
		return e
	}
	return EncUnknown
}

// EncodingOf reads an optional encoding argument; what is not a string means
// UTF-8, an unknown name throws.
func (m *Modules) EncodingOf(v goja.Value) Encoding {
	if !IsString(v) || v.(goja.String).Length() == 0 {
		return EncUTF8
	}
	e := EncodingByName(v.String())
	if e == EncUnknown {
		m.Throw("TypeError", "ERR_UNKNOWN_ENCODING", "Unknown encoding: %s", v.String())
	}
	return e
}

// NamedEncoding is encodingOf where an encoding that is given has to be a name.
func (m *Modules) NamedEncoding(v goja.Value) Encoding {
	if !Absent(v) && !goja.IsNull(v) && !IsString(v) {
		m.Throw("TypeError", "ERR_UNKNOWN_ENCODING", "Unknown encoding: %s", m.Engine.Text(v))
	}
	return m.EncodingOf(v)
}

// Encode is the bytes of a JavaScript string. What an encoding cannot read ends
// the text (hex) or is skipped (base64), as in Node.
func Encode(s goja.String, e Encoding) []byte {
	switch e {
	case EncUTF16:
		out := make([]byte, 2*s.Length())
		for i := range s.Length() {
			c := s.CharAt(i)
			out[2*i], out[2*i+1] = byte(c), byte(c>>8)
		}
		return out
	case EncLatin1, EncASCII:
		out := make([]byte, s.Length())
		for i := range out {
			out[i] = byte(s.CharAt(i))
		}
		return out
	case EncBase64, EncBase64URL:
		return decodeBase64(s.String())
	case EncHex:
		return DecodeHex(s.String())
	}
	return []byte(s.String())
}

// decodeBase64 reads both alphabets, skips what belongs to neither, and stops
// at padding.
func decodeBase64(s string) []byte {
	clean := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '-':
			clean = append(clean, '+')
		case c == '_':
			clean = append(clean, '/')
		case c == '=':
			i = len(s)
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '+', c == '/':
			clean = append(clean, c)
		}
	}
	if len(clean)%4 == 1 {
		clean = clean[:len(clean)-1]
	}
	out := make([]byte, base64.RawStdEncoding.DecodedLen(len(clean)))
	n, _ := base64.RawStdEncoding.Decode(out, clean) // cannot fail: only the alphabet is left
	return out[:n]
}

// DecodeHex reads pairs of digits up to the first that is none.
func DecodeHex(s string) []byte {
	n := 0
	for n+1 < len(s) && IsHex(s[n]) && IsHex(s[n+1]) {
		n += 2
	}
	out, _ := hex.DecodeString(s[:n])
	return out
}

// IsHex reports whether a byte is a hexadecimal digit.
func IsHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// Decode is the JavaScript string of bytes.
func (m *Modules) Decode(b []byte, e Encoding) goja.Value {
	switch e {
	case EncUTF16:
		units := make([]uint16, len(b)/2)
		for i := range units {
			units[i] = uint16(b[2*i]) | uint16(b[2*i+1])<<8
		}
		return goja.StringFromUTF16(units)
	case EncLatin1:
		return wide(b, 0xff)
	case EncASCII:
		return wide(b, 0x7f)
	case EncBase64:
		return m.VM.ToValue(base64.StdEncoding.EncodeToString(b))
	case EncBase64URL:
		return m.VM.ToValue(base64.RawURLEncoding.EncodeToString(b))
	case EncHex:
		return m.VM.ToValue(hex.EncodeToString(b))
	}
	return m.VM.ToValue(DecodeUTF8(b))
}

func wide(b []byte, mask byte) goja.Value {
	units := make([]uint16, len(b))
	for i, c := range b {
		units[i] = uint16(c & mask)
	}
	return goja.StringFromUTF16(units)
}

// DecodeUTF8 replaces each maximal ill-formed part by U+FFFD (WHATWG Encoding,
// "UTF-8 decode without BOM").
func DecodeUTF8(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var out strings.Builder
	out.Grow(len(b) + 8)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n <= 1 {
			n = illFormed(b)
		}
		out.WriteRune(r)
		b = b[n:]
	}
	return out.String()
}

// illFormed is the length of the maximal ill-formed part that b begins with:
// a lead byte with those continuation bytes that could follow it, or one byte.
func illFormed(b []byte) int {
	need, low, high := 0, byte(0x80), byte(0xbf)
	switch c := b[0]; {
	case c >= 0xc2 && c <= 0xdf:
		need = 1
	case c == 0xe0:
		need, low = 2, 0xa0
	case c == 0xed:
		need, high = 2, 0x9f
	case c >= 0xe1 && c <= 0xef:
		need = 2
	case c == 0xf0:
		need, low = 3, 0x90
	case c == 0xf4:
		need, high = 3, 0x8f
	case c >= 0xf1 && c <= 0xf3:
		need = 3
	}
	n := 1
	for n <= need && n < len(b) && b[n] >= low && b[n] <= high {
		n++
		low, high = 0x80, 0xbf
	}
	return n
}

// EncodedLength is the number of bytes of a string, without making them where
// that is cheap. It estimates base64 as Node does, from the length alone.
func EncodedLength(s goja.String, e Encoding) int {
	n := s.Length()
	switch e {
	case EncUTF16:
		return 2 * n
	case EncLatin1, EncASCII:
		return n
	case EncHex:
		return n / 2
	case EncBase64, EncBase64URL:
		for i := 0; i < 2 && n > 0 && s.CharAt(n-1) == '='; i++ {
			n--
		}
		return n * 3 / 4
	}
	return len(s.String())
}

// CutUTF8 is the longest beginning of b, at most max bytes, that does not end
// within a character: what a write into too small a buffer keeps.
func CutUTF8(b []byte, max int) int {
	if len(b) <= max {
		return len(b)
	}
	for max > 0 && !utf8.RuneStart(b[max]) {
		max--
	}
	return max
}

// StringOf is a Go string as a JavaScript string value.
func (m *Modules) StringOf(s string) goja.String { return m.VM.ToValue(s).(goja.String) }
