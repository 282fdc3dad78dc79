package mend

import (
	"slices"
	"strings"
)

// expressionEnd is where the expression at offset i of esbuild's output ends: before
// a comma, a semicolon, a closing bracket or the colon of a conditional expression, of
// its own level.
func expressionEnd(code string, i int) int { return scanTo(code, i, ",;:") }

// scanTo is the offset of the first closing bracket, or of the first of these
// characters, that stands at the level of offset i; the code's end if there is none.
func scanTo(code string, i int, stops string) int {
	depth, conditions := 0, 0
	for start := i; i < len(code); i++ {
		switch c := code[i]; c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 {
				return i
			}
			depth--
		case ',', ';':
			if depth == 0 && strings.IndexByte(stops, c) >= 0 {
				return i
			}
		case '?':
			if depth == 0 && strings.HasPrefix(code[i:], "? ") && (i == 0 || code[i-1] != '?') {
				conditions++
			}
		case ':':
			if depth == 0 {
				if conditions == 0 && strings.IndexByte(stops, c) >= 0 {
					return i
				}
				conditions--
			}
		case '"', '\'', '`':
			i = stringEnd(code, i)
		case '/':
			i = slashEnd(code, start, i)
		}
	}
	return len(code)
}

// stringEnd is the offset of the quote that closes the literal at offset i. A
// template's substitutions are skipped with it.
func stringEnd(code string, i int) int {
	quote := code[i]
	for i++; i < len(code) && code[i] != quote; i++ {
		switch {
		case code[i] == '\\':
			i++
		case quote == '`' && strings.HasPrefix(code[i:], "${"):
			i = scanTo(code, i+2, "")
		}
	}
	return min(i, len(code))
}

// slashEnd is the offset of the last character of what the slash at offset i begins:
// a comment, a regular expression, or a division. start is where the expression
// begins.
func slashEnd(code string, start, i int) int {
	switch rest := code[i:]; {
	case strings.HasPrefix(rest, "/*"):
		if end := strings.Index(rest[2:], "*/"); end >= 0 {
			return i + 2 + end + 1
		}
		return len(code)
	case strings.HasPrefix(rest, "//"):
		if end := strings.IndexByte(rest, '\n'); end >= 0 {
			return i + end
		}
		return len(code)
	case dividesAt(code, start, i):
		return i
	}
	class := false
	for end := i + 1; end < len(code) && code[end] != '\n'; end++ {
		switch code[end] {
		case '\\':
			end++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				return end
			}
		}
	}
	return i
}

// dividesAt reports whether the slash at offset i divides. esbuild writes an
// operator between spaces, and a pattern that follows a value only as a statement
// of its own.
func dividesAt(code string, start, i int) bool {
	before, after := strings.TrimRight(code[start:i], " \n"), code[i+1:]
	if before == "" || !strings.HasPrefix(after, " ") && !strings.HasPrefix(after, "= ") {
		return false
	}
	switch last := before[len(before)-1]; {
	case strings.IndexByte(")]}\"'`", last) >= 0:
		return true
	case last == '+' || last == '-':
		return strings.HasSuffix(before, "++") || strings.HasSuffix(before, "--")
	case last == '/': // of a pattern, or of a comment
		return !strings.HasSuffix(before, "*/")
	case !isIdent(last):
		return false
	}
	word := before[len(strings.TrimRightFunc(before, func(r rune) bool { return r >= 0x80 || isIdent(byte(r)) })):]
	return !slices.Contains(operatorWords, word)
}

// operatorWords are those that a value follows.
var operatorWords = []string{"return", "typeof", "case", "in", "of", "void", "delete", "do", "else", "throw", "new", "instanceof", "await", "yield", "extends", "default"}
