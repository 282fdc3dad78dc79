package webidl

import (
	"bytes"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// ToString is JavaScript's ToString, which refuses symbols.
func (r *Realm) ToString(v goja.Value) goja.String {
	switch s := v.ToString().(type) {
	case goja.String:
		return s
	case *goja.Symbol:
		r.Engine.Throw("TypeError", "Cannot convert a Symbol value to a string")
		return nil
	default: // goja leaves undefined, null and booleans as they are
		return r.VM.ToValue(s.String()).(goja.String)
	}
}

// DOMString is Web IDL's conversion to a string.
func (r *Realm) DOMString(v goja.Value) string {
	if v == nil {
		v = goja.Undefined()
	}
	return r.Engine.Call(r.Engine.Primordial("String"), goja.Undefined(), v).String()
}

// USV is the conversion to USVString: a lone surrogate becomes U+FFFD.
func (r *Realm) USV(v goja.Value) string { return UTF8Of(r.ToString(v)) }

// UTF8Of is a string as UTF-8, each lone surrogate as U+FFFD (Infra: convert to
// a scalar value string).
func UTF8Of(s goja.String) string {
	text := s.String()
	if utf8.ValidString(text) {
		return text
	}
	return ValidUTF8([]byte(text))
}

// ValidUTF8 replaces each maximal subpart of an ill-formed sequence by U+FFFD.
func ValidUTF8(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	var out strings.Builder
	out.Grow(len(data) + 16)
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r != utf8.RuneError || n > 1 {
			out.Write(data[:n])
			data = data[n:]
			continue
		}
		out.WriteRune(utf8.RuneError)
		data = data[illFormed(data):]
	}
	return out.String()
}

// illFormed is the length of the maximal subpart that data begins with.
func illFormed(data []byte) int {
	low, high, more := byte(0x80), byte(0xBF), 0
	switch c := data[0]; {
	case c >= 0xC2 && c <= 0xDF:
		more = 1
	case c >= 0xE0 && c <= 0xEF:
		more = 2
		if c == 0xE0 {
			low = 0xA0
		} else if c == 0xED {
			high = 0x9F
		}
	case c >= 0xF0 && c <= 0xF4:
		more = 3
		if c == 0xF0 {
			low = 0x90
		} else if c == 0xF4 {
			high = 0x8F
		}
	}
	n := 1
	for ; n <= more && n < len(data) && data[n] >= low && data[n] <= high; n++ {
		low, high = 0x80, 0xBF
	}
	return n
}

// Latin1 makes the string whose code units are the bytes.
func (r *Realm) Latin1(data []byte) goja.Value {
	for i, c := range data {
		if c < utf8.RuneSelf {
			continue
		}
		units := make([]uint16, len(data))
		for i, c := range data[:i] {
			units[i] = uint16(c)
		}
		for j, c := range data[i:] {
			units[i+j] = uint16(c)
		}
		return goja.StringFromUTF16(units)
	}
	return r.VM.ToValue(string(data))
}

// StringArgs converts the first n arguments to strings, in order.
func (r *Realm) StringArgs(call goja.FunctionCall, n int, method, class string) []string {
	if n == 0 {
		return nil
	}
	args := make([]string, n)
	for i := range args {
		if i >= len(call.Arguments) {
			r.Engine.Throw("TypeError", "Failed to execute '%s' on '%s': parameter %d is not of type 'string'.", method, class, i+1)
		}
		args[i] = r.ToString(call.Arguments[i]).String()
	}
	return args
}

// TextOr is a member of a dictionary as a DOMString, "" if it is missing.
func (r *Realm) TextOr(init goja.Value, name string) goja.Value {
	if v := Get(init, name); !goja.IsUndefined(v) {
		return r.ToString(v)
	}
	return r.VM.ToValue("")
}

// ScalarOr is TextOr as a USVString.
func (r *Realm) ScalarOr(init goja.Value, name string) goja.Value {
	return r.VM.ToValue(UTF8Of(r.TextOr(init, name).(goja.String)))
}

// EnforceRange converts to an unsigned integer with [EnforceRange] (Web IDL,
// section 3.2.4.9).
func (r *Realm) EnforceRange(v goja.Value, name string, limit float64) int {
	n := math.Trunc(v.ToNumber().ToFloat())
	if math.IsNaN(n) || n < 0 || n > limit {
		r.Engine.Throw("TypeError", "The value of %q must be an integer between 0 and %.0f.", name, limit)
	}
	return int(n)
}

// Int32 is workerd's conversion to an int (jsg/value.h): what is no finite number is 0,
// a number that does not fit is a TypeError.
func (r *Realm) Int32(v goja.Value) int32 {
	f := v.ToNumber().ToFloat()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	if f = math.Trunc(f); f < math.MinInt32 || f > math.MaxInt32 {
		r.Engine.Throw("TypeError", "Value out of range. Must be between %d and %d (inclusive).", math.MinInt32, math.MaxInt32)
	}
	return int32(f)
}

// ToUint32 is JavaScript's ToUint32; undefined is 0.
func ToUint32(v goja.Value) uint32 {
	f := math.Trunc(v.ToFloat())
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	f = math.Mod(f, 1<<32)
	if f < 0 {
		f += 1 << 32
	}
	return uint32(f)
}

// DecodeUTF8 is the Encoding standard's "UTF-8 decode": a byte order mark is
// dropped, what is not UTF-8 becomes U+FFFD.
func (r *Realm) DecodeUTF8(data []byte) goja.Value {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	return r.Engine.String(ValidUTF8(data))
}
