package toplevel

import "strings"

// FirstWord is the first word of a function's text: "function", "async", "class", a name or
// a bracket. Safe for concurrent use.
func FirstWord(text string) string {
	n := strings.IndexFunc(text, func(r rune) bool {
		return !(r == '_' || r == '$' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z')
	})
	return text[:max(n, 1)]
}
