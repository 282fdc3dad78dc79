package json

import (
	"encoding/binary"
	"math"
	"strconv"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"

	"minido.dev/minido/internal/insides/texts"
	"minido.dev/minido/runtime/engine"
)

// writer is a text that grows: each UTF-16 code unit by itself as one to three
// bytes, as UTF-8 has it for a character, so that text in ASCII, of which there is
// most, is copied. Its zero value is empty.
type writer struct {
	bytes []byte
	extra int // by how many bytes there are more than code units
}

func (t *writer) length() int { return len(t.bytes) - t.extra }

func (t *writer) value(e *engine.Engine) goja.Value {
	if t.extra == 0 {
		return e.Maker().AsciiString(string(t.bytes))
	}
	return e.Maker().WideString(t.units())
}

// units are the code units after goja's mark.
func (t *writer) units() []uint16 {
	out := make([]uint16, 1+t.length())
	out[0] = unistring.BOM
	to, b := out[1:], t.bytes
	for len(b) > 0 {
		switch c := uint16(b[0]); {
		case c < 0x80:
			n := 0
			for n+8 <= len(b) && binary.LittleEndian.Uint64(b[n:])&manyTimes(0x80) == 0 {
				x := binary.LittleEndian.Uint64(b[n:])
				spread((*[4]uint16)(to[n:]), uint32(x))
				spread((*[4]uint16)(to[n+4:]), uint32(x>>32))
				n += 8
			}
			for ; n < len(b) && b[n] < 0x80; n++ {
				to[n] = uint16(b[n])
			}
			to, b = to[n:], b[n:]
		case c < 0xE0:
			to[0] = c&0x1F<<6 | uint16(b[1]&0x3F)
			to, b = to[1:], b[2:]
		default:
			to[0] = c<<12 | uint16(b[1]&0x3F)<<6 | uint16(b[2]&0x3F)
			to, b = to[1:], b[3:]
		}
	}
	return out
}

// spread makes four units of four bytes; the compiler writes them at once.
func spread(to *[4]uint16, bytes uint32) {
	x := uint64(bytes)
	x = (x | x<<16) & 0x0000FFFF0000FFFF
	x = (x | x<<8) & 0x00FF00FF00FF00FF
	to[0], to[1], to[2], to[3] = uint16(x), uint16(x>>16), uint16(x>>32), uint16(x>>48)
}

func (t *writer) ascii(s string) { t.bytes = append(t.bytes, s...) }

func (t *writer) byte(c byte) { t.bytes = append(t.bytes, c) }

func (t *writer) unit(c uint16) {
	switch {
	case c < 0x80:
		t.bytes = append(t.bytes, byte(c))
	case c < 0x800:
		t.bytes = append(t.bytes, 0xC0|byte(c>>6), 0x80|byte(c&0x3F))
		t.extra++
	default:
		t.bytes = append(t.bytes, 0xE0|byte(c>>12), 0x80|byte(c>>6&0x3F), 0x80|byte(c&0x3F))
		t.extra += 2
	}
}

// add appends a text.
func (t *writer) add(other *writer) {
	t.bytes = append(t.bytes, other.bytes...)
	t.extra += other.extra
}

func (t *writer) text(s goja.String) {
	if a, ok := texts.AsciiOf(s); ok {
		t.ascii(a)
		return
	}
	for _, c := range texts.UnitsOf(s) {
		t.unit(c)
	}
}

// number is Number::toString (ECMA-262, section 6.1.6.1.20) of a finite number.
func (t *writer) number(f float64) {
	if f == 0 {
		t.byte('0') // -0 too
		return
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		t.bytes = strconv.AppendFloat(t.bytes, f, 'f', -1, 64)
		return
	}
	from := len(t.bytes)
	t.bytes = strconv.AppendFloat(t.bytes, f, 'e', -1, 64)
	// Go writes at least two digits of an exponent.
	if n := len(t.bytes); n-from > 4 && t.bytes[n-2] == '0' && (t.bytes[n-3] == '-' || t.bytes[n-3] == '+') {
		t.bytes[n-2] = t.bytes[n-1]
		t.bytes = t.bytes[:n-1]
	}
}

// quote is QuoteJSONString (ECMA-262, section 25.5.2.3).
func (t *writer) quote(s goja.String) {
	if a, ok := texts.AsciiOf(s); ok {
		t.quoteASCII(a)
		return
	}
	t.quoteUnits(texts.UnitsOf(s))
}

func (t *writer) quoteUnits(s []uint16) {
	t.byte('"')
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c < 0x80 && escaped[c] != "":
			t.ascii(escaped[c])
		case c >= 0xD800 && c < 0xDC00 && i+1 < len(s) && s[i+1]&0xFC00 == 0xDC00:
			t.unit(c)
			t.unit(s[i+1])
			i++
		case c >= 0xD800 && c < 0xE000:
			t.ascii(`\u`)
			t.bytes = strconv.AppendUint(t.bytes, uint64(c), 16)
		default:
			t.unit(c)
		}
	}
	t.byte('"')
}

func (t *writer) quoteASCII(s string) {
	out := append(t.bytes, '"')
	for {
		n := plainRun(s)
		out = append(out, s[:n]...)
		if n == len(s) {
			break
		}
		out = append(out, escaped[s[n]]...)
		s = s[n+1:]
	}
	t.bytes = append(out, '"')
}

// quotedASCII is how many code units and bytes quoteASCII writes.
func quotedASCII(s string) (units, bytes int) {
	n := len(s) + len(`""`)
	for {
		s = s[plainRun(s):]
		if s == "" {
			return n, n
		}
		n += len(escaped[s[0]]) - 1
		s = s[1:]
	}
}

// quotedUnits is how many code units and bytes quoteUnits writes, at the most.
func quotedUnits(s []uint16) (units, bytes int) {
	units = len(`""`)
	wider := 0 // by how many bytes
	for _, c := range s {
		switch {
		case c < 0x80:
			units += max(1, len(escaped[c]))
		case c >= 0xD800 && c < 0xE000:
			units += len(`\uD800`) // or one of three bytes, in a pair
		case c < 0x800:
			units, wider = units+1, wider+1
		default:
			units, wider = units+1, wider+2
		}
	}
	return units, units + wider
}

// plainRun is how many bytes s begins with that a JSON string holds as they are,
// if they are ASCII.
func plainRun(s string) int {
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	n := 0
	for ; n+8 <= len(b); n += 8 {
		if escapes(binary.LittleEndian.Uint64(b[n:])) {
			break
		}
	}
	if rest := b[n:]; len(rest) >= 4 && len(rest) < 8 {
		last := binary.LittleEndian.Uint32(rest[len(rest)-4:])
		if !escapes(uint64(binary.LittleEndian.Uint32(rest))<<32 | uint64(last)) {
			return len(b)
		}
	}
	for ; n < len(b); n++ {
		if c := b[n]; c < ' ' || c == '"' || c == '\\' {
			break
		}
	}
	return n
}

// escapes reports whether one of eight bytes may be one that a JSON string does
// not hold as it is. A byte below another has its highest bit set by the
// subtraction, and had it not before.
func escapes(x uint64) bool {
	quote, slash := x^manyTimes('"'), x^manyTimes('\\')
	return ((x-manyTimes(' '))&^x|(quote-manyTimes(1))&^quote|(slash-manyTimes(1))&^slash)&manyTimes(0x80) != 0
}

// manyTimes is a byte eight times.
func manyTimes(c byte) uint64 { return uint64(c) * 0x0101010101010101 }

// escaped is how a character stands in a text; empty: as it is.
var escaped = func() (escapes [0x80]string) {
	const hex = "0123456789abcdef"
	for c := range 0x20 {
		escapes[c] = `\u00` + string([]byte{hex[c>>4], hex[c&15]})
	}
	for _, short := range []string{"\b\\b", "\t\\t", "\n\\n", "\f\\f", "\r\\r", `"\"`, `\\\`} {
		escapes[short[0]] = short[1:]
	}
	return escapes
}()
