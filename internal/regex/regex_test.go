package regex

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
)

func parsed(t *testing.T, source, flags string) *Pattern {
	t.Helper()
	p, err := Parse(utf16.Encode([]rune(source)), flags)
	if err != nil {
		t.Fatalf("/%s/%s: %v", source, flags, err)
	}
	return p
}

// ECMA-262, section 22.2.2: bytes and code units give the same bounds, from any
// place, searching and sticky.
func TestMatch(t *testing.T) {
	for _, c := range []struct {
		source, flags, text string
		at                  int
		sticky              bool
		want                string
	}{
		{`(?:(a)|b)*`, "", "ab", 0, false, "[0 2 -1 -1]"},
		{`(a*)*`, "", "b", 0, false, "[0 0 -1 -1]"},
		{`(?<=(\d+)(\d+))$`, "", "1053", 0, false, "[4 4 0 1 1 4]"},
		{`(?!(b))a`, "", "ba", 0, false, "[1 2 -1 -1]"},
		{`(?=(a))\1b|aa`, "", "aab", 0, false, "[0 2 -1 -1]"},
		{`(?=(a+))a*b\1`, "", "baaabac", 0, false, "[3 6 3 4]"},
		{`a{2,3}?b`, "", "aaaab", 0, false, "[1 5]"},
		{`(x{0,2}){3}y`, "", "xxxxy", 0, false, "[0 5 4 4]"},
		{`(?i:B)c`, "", "abcBc", 2, false, "[3 5]"},
		{`b`, "", "ab", 0, true, "[]"},
		{`b`, "", "ab", 1, true, "[1 2]"},
		{`\bfoo\b`, "", "foobar foo", 0, false, "[7 10]"},
		{`^b$`, "m", "a\nb\nc", 0, false, "[2 3]"},
		{`^b?$`, "m", "a\r\nb\r\n", 1, false, "[2 2]"},
		{`^x|b`, "m", "ab", 0, false, "[1 2]"},
		{`^b`, "m", "abb\n", 1, false, "[]"},
		{`x*`, "", "ab", 2, false, "[2 2]"},
		{`[^a]`, "", "", 0, false, "[]"},
	} {
		p, m := parsed(t, c.source, c.flags), &Matcher{}
		ascii, err := Match(m, p, []byte(c.text), c.at, c.sticky)
		units, err2 := Match(m, p, utf16.Encode([]rune(c.text)), c.at, c.sticky)
		if err != nil || err2 != nil || fmt.Sprint(ascii) != c.want || fmt.Sprint(units) != c.want {
			t.Errorf("/%s/%s on %q at %d: %v %v, %v %v, want %s", c.source, c.flags, c.text, c.at, ascii, err, units, err2, c.want)
		}
	}
}

// 22.2.2.2: with u, characters are code points, forwards and backwards, and a place
// within one is the one before it.
func TestMatchPoints(t *testing.T) {
	text := utf16.Encode([]rune("a😀b"))
	for source, want := range map[string]string{`.b`: "[1 4]", `(?<=a.)b`: "[3 4]", `\udf06|b`: "[3 4]", `[😀]+`: "[1 3]", `^.{3}$`: "[0 4]"} {
		if got, err := Match(&Matcher{}, parsed(t, source, "u"), text, 0, false); err != nil || fmt.Sprint(got) != want {
			t.Errorf("/%s/u: %v %v, want %s", source, got, err, want)
		}
	}
	if got, _ := Match(&Matcher{}, parsed(t, ".", "u"), text, 2, true); fmt.Sprint(got) != "[1 3]" {
		t.Errorf("from within a character: %v", got)
	}
}

// Only what goja has otherwise is foreign to it.
func TestForeign(t *testing.T) {
	for _, c := range []struct {
		source, flags string
		want          bool
	}{
		{`(a|b)+`, "", false}, {`(\s*x(y)?)`, "i", false}, {`(?=a)b`, "", false}, {`(a)\1`, "", false}, {`(?<a>x)`, "u", false}, {`((a)b)+`, "", false},
		{`(?:(a)|b)+`, "", true}, {`((a)?b)+`, "", true}, {`(a*)?`, "", true}, {`(?i:a)`, "", true}, {`(?<a>x)|(?<a>y)`, "", true}, {`\p{L}`, "u", true},
		{`\p{L}`, "", false}, {`a`, "v", true}, {`(?=a)b`, "i", true}, {`\u212a`, "i", true}, {`\w`, "iu", true}, {`[\c_]`, "", true},
		{`^a`, "", false}, {`^a`, "m", true}, {`a$`, "m", true}, {`[\c]`, "", true}, {`\b`, "iu", true}, {`a{99999999999}`, "", true},
		{`(?<\u0061>x)`, "", true}, {`(?<𝒜>x)`, "", true},
	} {
		if got := parsed(t, c.source, c.flags).Foreign(); got != c.want {
			t.Errorf("/%s/%s: %v", c.source, c.flags, got)
		}
	}
}

// 22.2.1.4 and 22.2.2.7: properties of strings stand for their strings, the longest
// first, and can be operands.
func TestStringProperties(t *testing.T) {
	for _, c := range []struct{ source, text, want string }{
		{`^\p{RGI_Emoji}$`, "👨‍👩‍👧‍👦", "[0 11]"}, {`\p{RGI_Emoji}`, "👍🏽", "[0 4]"}, {`\p{RGI_Emoji}`, "👍x", "[0 2]"},
		{`\p{Emoji_Keycap_Sequence}`, "1️⃣", "[0 3]"}, {`\p{RGI_Emoji_Flag_Sequence}`, "🇩🇪", "[0 4]"}, {`\p{Basic_Emoji}`, "❤️", "[0 2]"},
		{`\p{RGI_Emoji_Flag_Sequence}`, "🇩🇩", "[]"}, {`[\p{RGI_Emoji}--\q{👍}]`, "👍", "[]"}, {`[\p{RGI_Emoji}&&\q{👍🏽|x}]`, "x👍🏽", "[1 5]"},
		{`[\q{a|abc|ab|}]`, "abc", "[0 3]"}, {`[\q{ab|}]c`, "c", "[0 1]"}, {`[^\p{RGI_Emoji}&&a]`, "b", "[0 1]"},
	} {
		if got, err := Match(&Matcher{}, parsed(t, c.source, "v"), utf16.Encode([]rune(c.text)), 0, false); err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("/%s/v on %s: %v %v, want %s", c.source, c.text, got, err, c.want)
		}
	}
	if got, _ := Match(&Matcher{}, parsed(t, `[\q{aX|Axy}]`, "iv"), []byte("AXY"), 0, false); fmt.Sprint(got) != "[0 3]" {
		t.Errorf("the longest of strings that differ in case: %v", got)
	}
	for source, want := range map[string]string{
		`[^\p{RGI_Emoji}]`: "Negated character class may contain strings", `\P{RGI_Emoji}`: "Invalid property name", `[a&&&b]`: "Invalid character in character class",
	} {
		if _, err := Parse(utf16.Encode([]rune(source)), "v"); err == nil || err.Error() != want {
			t.Errorf("/%s/v: %v, want %s", source, err, want)
		}
	}
}

// A match that takes exponential time can be ended, and one that keeps too many
// alternatives ends with an error.
func TestMatchIsBounded(t *testing.T) {
	calls := 0
	m := &Matcher{Look: func() {
		if calls++; calls == 3 {
			panic("enough")
		}
	}}
	func() {
		defer func() {
			if x := recover(); x != "enough" {
				t.Errorf("ended by %v", x)
			}
		}()
		_, err := Match(m, parsed(t, `(?:a|a)*b`, ""), []byte(strings.Repeat("a", 60)), 0, false)
		t.Errorf("it ended: %v", err)
	}()
	if _, err := Match(m, parsed(t, `(?:){2000000000}`, ""), []byte("a"), 0, true); !errors.Is(err, ErrTooDeep) {
		t.Errorf("two thousand million rounds: %v", err)
	}
	if _, err := Parse(utf16.Encode([]rune(strings.Repeat("(", maxDepth+1))), ""); err != SyntaxError(tooLarge) {
		t.Errorf("deep nesting: %v", err)
	}
}

// What is deep, long or has many groups is refused in time and memory that are as
// the source is long.
func TestParseIsBounded(t *testing.T) {
	deep := func(inner string) string {
		return strings.Repeat("(?:", maxDepth-2) + inner + strings.Repeat(")*", maxDepth-2)
	}
	var names strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&names, "(?<n%d>)", i)
	}
	for _, c := range []struct{ source, flags, want string }{
		{strings.Repeat("a", maxUnits+1), "", tooLarge},
		{strings.Repeat("(", maxDepth+1), "", tooLarge},
		{strings.Repeat("[", maxDepth+1), "v", tooLarge},
		{strings.Repeat("()", maxCaptures+1), "", "Too many captures"},
		{strings.Repeat(`[\P{L}]`, maxUnits/8), "u", tooLarge},
		{"[" + strings.Repeat(`\P{L}`, maxUnits/8) + "]", "v", tooLarge},
		{strings.Repeat(`(?<a>)|`, 20000), "", tooLarge},
		{strings.Repeat(`()`, 20000), "", ""},
		{deep(names.String()), "", ""},
		{deep(strings.Repeat("(a)", 30000)), "", ""},
		{"[" + strings.Repeat("\u4e00\u4e02", 50000) + "]", "v", ""},
	} {
		p, err := Parse(utf16.Encode([]rune(c.source)), c.flags)
		if got := fmt.Sprint(err); got != c.want && (err != nil || c.want != "") {
			t.Errorf("%.20s..., %d long: %v, want %q", c.source, len(c.source), err, c.want)
		} else if err == nil {
			p.Foreign()
		}
	}
}

// 22.2.1.7, MayContainStrings: whether a class may have strings follows from its
// form, not from what is left in it.
func TestNegatedClassesOfStrings(t *testing.T) {
	for source, want := range map[string]bool{
		`[^\q{ab}--\q{ab}]`: false, `[^\w--\q{ab}]`: true, `[^\q{ab}&&\w]`: true, `[^\q{ab}&&\q{cd}]`: false,
		`[^\q{a|b}]`: true, `[^\q{}]`: false, `[^[\q{ab}--\q{ab}]x]`: false,
	} {
		if _, err := Parse(utf16.Encode([]rune(source)), "v"); (err == nil) != want {
			t.Errorf("/%s/v: %v", source, err)
		}
	}
}

// Work that goes forward is looked at, too: a long run that ends in no match at
// each place, and matches that each look far ahead.
func TestForwardWorkIsLookedAt(t *testing.T) {
	text := []byte(strings.Repeat("a", 1<<12))
	for source, starts := range map[string]int{`a{4097}`: 1, `(?=a*)a`: 1 << 12} {
		calls := 0
		m, p := &Matcher{Look: func() { calls++ }}, parsed(t, source, "")
		for at := range starts {
			if _, err := Match(m, p, text, at, false); err != nil {
				t.Fatal(err)
			}
		}
		if calls < 50 {
			t.Errorf("/%s/: looked %d times in %d characters squared", source, calls, len(text))
		}
	}
}

// A lazy or plain loop that always moves keeps no more than its alternatives.
func TestLoopsOverLongTexts(t *testing.T) {
	text := []byte(strings.Repeat("ab", maxOpen/2) + "c")
	for _, source := range []string{`[^]*?c`, `(?:a|b)*?c`} {
		if got, err := Match(&Matcher{}, parsed(t, source, ""), text, 0, true); err != nil || len(got) != 2 || got[1] != len(text) {
			t.Errorf("/%s/: %v %v", source, got, err)
		}
	}
}
