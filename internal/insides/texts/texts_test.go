package texts

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// Whatever goja keeps a string as, its text is what it has; and what goja has looked
// through is neither copied nor gone through again.
func TestText(t *testing.T) {
	vm := goja.New()
	for _, want := range []string{"", "plain", "é😀", strings.Repeat("long ", 10), strings.Repeat("läng ", 10), "invalid: " + strings.Repeat("\xff", 10)} {
		inJS, err := vm.RunString(strconv.Quote(strings.ToValidUTF8(want, "")))
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []goja.Value{inJS, vm.ToValue(want)} {
			s := v.(goja.String)
			ascii, units := Text(s)
			if len(ascii)+len(units) != s.Length() {
				t.Errorf("%q is %d long, its text %q %v", want, s.Length(), ascii, units)
			}
			for i := range s.Length() {
				if units == nil && uint16(ascii[i]) != s.CharAt(i) || units != nil && units[i] != s.CharAt(i) {
					t.Errorf("%q at %d", want, i)
				}
			}
			if n := testing.AllocsPerRun(10, func() { Text(s) }); n > 0 {
				t.Errorf("%q (%T): %v allocations", want, v, n)
			}
		}
	}
}

// The first byte that is not ASCII is found wherever it is, and no other is taken for one.
func TestASCIIPrefix(t *testing.T) {
	for length := range 100 {
		text := bytes.Repeat([]byte{0x7F}, length)
		if n := ASCIIPrefix(text); n != length || !IsASCII(string(text)) {
			t.Fatalf("%d bytes of ASCII: %d", length, n)
		}
		for at := range length {
			for _, c := range []byte{0x80, 0xFF} {
				text[at] = c
				text[length-1] |= 0x80 // and one at the end
				if n := ASCIIPrefix(text); n != at || IsASCII(string(text)) {
					t.Fatalf("%#x at %d of %d: %d", c, at, length, n)
				}
				text[at], text[length-1] = 0x7F, 0x7F
			}
		}
	}
}
