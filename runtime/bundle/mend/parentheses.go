package mend

import (
	"sort"
	"strings"
)

// parentheses are the pairs of a text, in the order in which they open.
type parentheses []parenthesis

type parenthesis struct {
	open, close int // offsets; close is that of the text's end if there is none
	outer       int // the index of the pair around it, -1 if there is none
}

// parenthesesOf reads a text that parses. regexps has the lengths of its regular
// expressions by their offsets, which the text alone does not tell from divisions.
func parenthesesOf(code string, regexps map[int]int) parentheses {
	var (
		pairs     parentheses
		inner     = -1
		depth     int   // of braces
		templates []int // the depths at which the open substitutions of templates end
	)
	for i := 0; i < len(code); i++ {
		switch c := code[i]; c {
		case '(':
			pairs = append(pairs, parenthesis{i, len(code), inner})
			inner = len(pairs) - 1
		case ')':
			if inner >= 0 {
				pairs[inner].close = i
				inner = pairs[inner].outer
			}
		case '{':
			depth++
		case '"', '\'':
			for i++; i < len(code) && code[i] != c; i++ {
				if code[i] == '\\' {
					i++
				}
			}
		case '/':
			if n, ok := regexps[i]; ok {
				i += n - 1
			} else if end, ok := commentEnd(code, i); ok {
				i = end - 1
			}
		case '}':
			depth--
			last := len(templates) - 1
			if last < 0 || templates[last] != depth {
				continue
			}
			templates = templates[:last]
			fallthrough // the template goes on
		case '`':
			for i++; i < len(code) && code[i] != '`'; i++ {
				if code[i] == '\\' {
					i++
				} else if strings.HasPrefix(code[i:], "${") {
					i++
					templates = append(templates, depth)
					depth++
					break
				}
			}
		}
	}
	return pairs
}

// commentEnd is where the comment at offset i ends, if there is one.
func commentEnd(code string, i int) (int, bool) {
	var length int
	switch {
	case strings.HasPrefix(code[i:], "//"):
		length = strings.IndexAny(code[i:], "\n\r\u2028\u2029")
	case strings.HasPrefix(code[i:], "/*"):
		if length = strings.Index(code[i+2:], "*/"); length >= 0 {
			length += 4
		}
	default:
		return 0, false
	}
	if length < 0 {
		return len(code), true
	}
	return i + length, true
}

// around is the offset at which the innermost pair around two offsets opens, -1
// if there is none. The first one is not behind the second one.
func (p parentheses) around(first, second int) int {
	i := sort.Search(len(p), func(i int) bool { return p[i].open >= first }) - 1
	for i >= 0 && p[i].close <= second {
		i = p[i].outer
	}
	if i < 0 {
		return -1
	}
	return p[i].open
}
