package fetch

import (
	"strings"
	"testing"

	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/mime"
)

// Fetch, section 5.1: whatever the lines, the sorted list has each name once
// (Set-Cookie apart), in order, and get() joins the values that it shows.
func FuzzHeaders(f *testing.F) {
	f.Add("a", "1", "A", "2", "set-cookie", "x", uint8(0))
	f.Add("b", " 1 ", "a", "", "B", "\xff", uint8(7))
	f.Fuzz(func(t *testing.T, n1, v1, n2, v2, n3, v3 string, how uint8) {
		if strings.ContainsFunc(n1+n2+n3, func(r rune) bool { return r >= 0x80 }) {
			return // JavaScript's strings are valid, these need not be
		}
		h := &headers{}
		for i, field := range []event.Field{{Name: n1, Value: v1}, {Name: n2, Value: v2}, {Name: n3, Value: v3}} {
			switch how >> (2 * i) & 3 {
			case 0, 1:
				h.append(field.Name, field.Value)
			case 2:
				h.set(field.Name, field.Value)
			case 3:
				h.delete(field.Name)
			}
		}
		list := h.sorted()
		for i, field := range list {
			cookie := field.Name == "set-cookie"
			if i > 0 && (list[i-1].Name > field.Name || list[i-1].Name == field.Name && !cookie) {
				t.Fatalf("%q is not in order", list)
			}
			if value, ok := h.get(field.Name); !ok || !cookie && value != field.Value {
				t.Fatalf("get(%q) gives %q, the list %q", field.Name, value, field.Value)
			}
		}
		if typ, ok := mime.Parse(v1); ok {
			if again, ok := mime.Parse(typ.String()); !ok || again.String() != typ.String() {
				t.Fatalf("%q: %q parses to %q", v1, typ, again)
			}
		}
	})
}
