// Package texts looks at how goja keeps strings, which its interface gives one code unit at a time. It is
// reflection alone: what is not as expected is read through the interface.
package texts

import (
	"encoding/binary"
	"reflect"
	"unsafe"

	"github.com/dop251/goja"
)

// UnitsOf are the code units of a string; they must not be changed.
func UnitsOf(s goja.String) []uint16 {
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

// AsciiOf is the text of s, if it is ASCII.
func AsciiOf(s goja.String) (string, bool) {
	if reflect.TypeOf(s).Kind() == reflect.Slice {
		return "", false // goja keeps code units where there are others
	}
	a := s.String()
	return a, len(a) == s.Length() && IsASCII(a)
}

// IsASCII looks at 32 bytes at a time.
func IsASCII(s string) bool { return ASCIIPrefix(unsafe.Slice(unsafe.StringData(s), len(s))) == len(s) }

// ASCIIPrefix is how many bytes there are before the first that is not ASCII.
func ASCIIPrefix(bytes []byte) int {
	const high = 0x8080808080808080
	rest := bytes
	for ; len(rest) >= 32; rest = rest[32:] {
		if (binary.LittleEndian.Uint64(rest)|binary.LittleEndian.Uint64(rest[8:])|binary.LittleEndian.Uint64(rest[16:])|binary.LittleEndian.Uint64(rest[24:]))&high != 0 {
			break
		}
	}
	for ; len(rest) >= 8; rest = rest[8:] {
		if binary.LittleEndian.Uint64(rest)&high != 0 {
			break
		}
	}
	for i, c := range rest {
		if c >= 0x80 {
			return len(bytes) - len(rest) + i
		}
	}
	return len(bytes)
}

// Text is a string as bytes, if it is ASCII, and as code units otherwise. Both are
// only to be read. It does not go through a string that goja has looked through:
// each of many matches in a long text asks for it.
func Text(s goja.String) (ascii []byte, units []uint16) {
	v := reflect.ValueOf(s)
	isASCII := v.Kind() == reflect.String
	if u := scannedUnits(v, s); u.IsValid() {
		isASCII = u.IsNil()
	}
	if isASCII {
		a := s.String()
		return unsafe.Slice(unsafe.StringData(a), len(a)), nil
	}
	return nil, UnitsOf(s)
}
