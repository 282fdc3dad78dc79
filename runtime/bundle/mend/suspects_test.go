package mend

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// What finds suspects in a file's code says what these regular expressions say.
func TestSuspectsAsRegularExpressions(t *testing.T) {
	accessor := regexp.MustCompile(`(?s)\b[gs]et [\w$#"'\[].*\]: `)
	members := regexp.MustCompile(`\?\?=|\|\|=|&&=|[\]}] = |[\]}\w$] of `)
	words := []string{"get ", "set ", "et ", "target ", "a", "#", "\n", "]: ", "]", " = ", "}", " of ", "$", "x", "??=", "||", "=", "&&", " ", "_", "[", "\"", "é", "g", "s"}
	r := rand.New(rand.NewPCG(1, 2))
	accessors, assignments := 0, 0
	for range 200_000 {
		var b strings.Builder
		for range r.IntN(9) {
			b.WriteString(words[r.IntN(len(words))])
		}
		code := b.String()
		got, want := mayHaveAccessor(code), accessor.MatchString(code)
		if got != want {
			t.Fatalf("%q has an accessor: %v, not %v", code, got, want)
		}
		if got {
			accessors++
		}
		if got, want = assignsMembers(code), members.MatchString(code); got != want {
			t.Fatalf("%q assigns members: %v, not %v", code, got, want)
		}
		if got {
			assignments++
		}
	}
	if accessors < 1000 || assignments < 1000 {
		t.Errorf("only %d and %d had one", accessors, assignments)
	}
}
