package ecma

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

// What is done in parts gives what goja gives of the whole text: with combining marks, Hangul
// syllables in letters, pairs and lone halves at the ends of parts.
func TestTextsInParts(t *testing.T) {
	units := []string{"a", "é", `e\u0301`, `\u0323\u0301`, `\u1100\u1161\u11a8`, `\u1161`, `\u03a3`, "A\\u03a3", " ", `\ud835\udcb3`, "ß", `\u0130`, "ﬃ", "漢", "."}
	r := rand.New(rand.NewSource(1))
	var b strings.Builder
	for range 3000 {
		if r.Intn(200) == 0 {
			b.WriteString(`\ud800`)
		}
		b.WriteString(units[r.Intn(len(units))])
	}
	script := `for (const form of ["NFC", "NFD", "NFKC", "NFKD"]) say(text.normalize(form)); say(text.toLowerCase());`
	said := func(long int) []string {
		w := newWorld(t)
		if long > 0 {
			w.e.Natives.LongText = long
		}
		w.script(nil, fmt.Sprintf("const text = \"%s\"; %s", b.String(), script))
		if len(w.out) != 5 || len(w.logs) > 0 {
			t.Fatalf("%d texts, %q", len(w.out), w.logs)
		}
		return w.out
	}
	want := said(0)
	for _, long := range []int{1, 2, 3, 100} {
		for i, got := range said(long) {
			if got != want[i] {
				at := 0
				for got[at] == want[i][at] {
					at++
				}
				t.Errorf("parts of %d, text %d differ at %d: %+q, want %+q", long, i, at, got[max(0, at-10):min(len(got), at+10)], want[i][max(0, at-10):min(len(want[i]), at+10)])
			}
		}
	}
}
