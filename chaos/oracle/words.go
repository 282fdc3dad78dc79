package oracle

import "strings"

// words are words that a text may have anywhere, and words with which it or one of its
// parts between underscores begins. Both are in lower case; how the text is written does
// not matter. Every cell of every state is asked, which a regular expression is too slow for.
type words struct {
	anywhere, first []string
}

// counted are columns, KV entries and tables, and words of a row, with which correct
// programs count and log attempts and note times; a death changes them, as it should.
var counted = words{
	anywhere: []string{"attempt", "interrupt", "retry", "retries", "restart", "recover", "updated", "heartbeat", "generation"},
	first:    []string{"tries", "lease"},
}

// shortest is the length of the shortest word.
const shortest = len("tries")

// MatchString reports whether a text has one of the words.
func (w words) MatchString(text string) bool {
	if len(text) < shortest {
		return false
	}
	text = strings.ToLower(text)
	for _, word := range w.anywhere {
		if strings.Contains(text, word) {
			return true
		}
	}
	for _, word := range w.first {
		if strings.HasPrefix(text, word) || strings.Contains(text, word) && strings.Contains(text, "_"+word) {
			return true
		}
	}
	return false
}
