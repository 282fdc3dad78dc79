package engine

import (
	"reflect"
	"slices"
	"strconv"
	"unicode/utf16"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
)

// jsonText is a text that grows: bytes as long as it is ASCII, then UTF-16 code
// units. Its zero value is empty.
type jsonText struct {
	bytes []byte
	units []uint16 // nil while the text is ASCII
}

func (t *jsonText) length() int { return len(t.bytes) + len(t.units) }

func (t *jsonText) value(e *Engine) goja.Value {
	if t.units != nil {
		return goja.StringFromUTF16(t.units)
	}
	return e.String(string(t.bytes))
}

// widen leaves ASCII.
func (t *jsonText) widen() {
	if t.units != nil {
		return
	}
	t.units = make([]uint16, len(t.bytes), 2*len(t.bytes)+64)
	for i, c := range t.bytes {
		t.units[i] = uint16(c)
	}
	t.bytes = nil
}

func (t *jsonText) ascii(s string) {
	if t.units == nil {
		t.bytes = append(room(t.bytes, len(s)), s...)
		return
	}
	t.units = room(t.units, len(s))
	for i := range len(s) {
		t.units = append(t.units, uint16(s[i]))
	}
}

// room grows a text to twice its size; append would copy a long one more often.
func room[U byte | uint16](s []U, n int) []U {
	if cap(s)-len(s) < n {
		s = slices.Grow(s, n+len(s)+64)
	}
	return s
}

func (t *jsonText) utf8(s string) {
	if isASCII(s) {
		t.ascii(s)
		return
	}
	t.widen()
	t.units = append(t.units, utf16.Encode([]rune(s))...)
}

func (t *jsonText) text(s goja.String) {
	if a, ok := asciiOf(s); ok {
		t.ascii(a)
		return
	}
	t.widen()
	t.units = append(t.units, unitsOf(s)...)
}

// quote is QuoteJSONString (ECMA-262, section 25.5.2.3).
func (t *jsonText) quote(s goja.String) {
	if a, ok := asciiOf(s); ok {
		t.quoteASCII(a)
		return
	}
	t.quoteUnits(unitsOf(s))
}

func (t *jsonText) quoteUnits(s []uint16) {
	t.widen()
	t.units = append(t.units, '"')
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c < 0x80 && jsonEscapes[c] != "":
			t.ascii(jsonEscapes[c])
		case c >= 0xD800 && c < 0xDC00 && i+1 < len(s) && s[i+1]&0xFC00 == 0xDC00:
			t.units = append(t.units, c, s[i+1])
			i++
		case c >= 0xD800 && c < 0xE000:
			t.ascii(`\u` + strconv.FormatUint(uint64(c), 16))
		default:
			t.units = append(t.units, c)
		}
	}
	t.units = append(t.units, '"')
}

func (t *jsonText) quoteName(name unistring.String) {
	if units := name.AsUtf16(); units != nil {
		t.quoteUnits(units[1:])
	} else {
		t.quoteASCII(string(name))
	}
}

func (t *jsonText) quoteASCII(s string) {
	t.ascii(`"`)
	from := 0
	for i := range len(s) {
		if escape := jsonEscapes[s[i]]; escape != "" {
			t.ascii(s[from:i])
			t.ascii(escape)
			from = i + 1
		}
	}
	t.ascii(s[from:])
	t.ascii(`"`)
}

// jsonEscapes is how a character stands in a text; empty: as it is.
var jsonEscapes = func() (escapes [0x80]string) {
	const hex = "0123456789abcdef"
	for c := range 0x20 {
		escapes[c] = `\u00` + string([]byte{hex[c>>4], hex[c&15]})
	}
	for _, short := range []string{"\b\\b", "\t\\t", "\n\\n", "\f\\f", "\r\\r", `"\"`, `\\\`} {
		escapes[short[0]] = short[1:]
	}
	return escapes
}()

// unitsOf are the code units of a string; they must not be changed.
func unitsOf(s goja.String) []uint16 {
	v := reflect.ValueOf(s)
	if u := scannedUnits(v, s); u.IsValid() {
		v = u
	}
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint16 && v.Len() == s.Length()+1 {
		return unsafe.Slice((*uint16)(v.UnsafePointer()), v.Len())[1:] // after goja's mark
	}
	units := make([]uint16, s.Length())
	for i := range units {
		units[i] = s.CharAt(i)
	}
	return units
}

// scannedUnits are the code units, with goja's mark, that goja keeps of a string that
// came from Go: nil if it is ASCII. For other strings they are not valid.
func scannedUnits(v reflect.Value, s goja.String) (units reflect.Value) {
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return units
	}
	s.Length() // which has it look through the string, once
	if u := v.Elem().FieldByName("u"); u.Kind() == reflect.Slice {
		units = u
	}
	return units
}

// asciiOf is the text of s, if it is ASCII.
func asciiOf(s goja.String) (string, bool) {
	if reflect.TypeOf(s).Kind() == reflect.Slice {
		return "", false // goja keeps code units where there are others
	}
	a := s.String()
	return a, len(a) == s.Length() && isASCII(a)
}
