package regex

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"unicode/utf16"
)

// FuzzParse: whatever the pattern and the text, parsing and matching end without a
// panic; bounds lie within the text, and bytes and code units give the same ones.
func FuzzParse(f *testing.F) {
	for _, seed := range []struct{ source, flags, text string }{
		{`(?<y>\d{4})-\d\d|\d\d-(?<y>\d{4})\k<y>`, "d", "2024-01"}, {`[\p{L}--[a-z]&&\q{ab|c|}]`, "iv", "ab"}, {`(?i-s:a(?=b*?)(?<!\1c))+`, "m", "aab"},
		{`[\d-\cA\c_\b-z]{2,}?|(?!x)*\012\8`, "", "a-b"}, {`^(?:(a)|(b)|)*?$\B`, "gy", "ab\nab"}, {`\u{1F600}|\ud83d\ude00+.`, "su", "\U0001F600x"},
	} {
		f.Add(seed.source, seed.flags, seed.text)
	}
	f.Fuzz(func(t *testing.T, source, flags, text string) {
		units := utf16.Encode([]rune(source))
		p, err := Parse(units, flags)
		if err != nil {
			return
		}
		p.Foreign()
		steps := 0
		m := &Matcher{Look: func() {
			if steps++; steps > 20 {
				panic("enough")
			}
		}}
		defer func() {
			if x := recover(); x != nil && x != "enough" {
				panic(x)
			}
		}()
		encoded := utf16.Encode([]rune(text))
		got, err := Match(m, p, encoded, len(encoded)/3, len(text)%2 == 1)
		if err != nil {
			if !errors.Is(err, ErrTooDeep) {
				t.Fatal(err)
			}
			return
		}
		for i := 0; i < len(got); i += 2 {
			if from, to := got[i], got[i+1]; (from != -1 || to != -1) && (from < 0 || from > to || to > len(encoded)) {
				t.Fatalf("bounds %v in %d units", got, len(encoded))
			}
		}
		if slices.ContainsFunc(encoded, func(u uint16) bool { return u >= 0x80 }) {
			return
		}
		if ascii, err := Match(m, p, []byte(text), len(text)/3, len(text)%2 == 1); err != nil || fmt.Sprint(ascii) != fmt.Sprint(got) {
			t.Fatalf("bytes give %v %v, units %v", ascii, err, got)
		}
	})
}
