package errortext

import (
	"strings"
)

// V8 names in its messages the expression that was called, constructed or
// iterated over, as the source has it ("o.list.map is not a function"), and
// programs look for these texts. The functions here find that expression next
// to the position that goja gives, in the output of esbuild, whose form is
// regular; what they do not recognise becomes "(intermediate value)", which is
// also V8's word for what it does not print.

const intermediate = "(intermediate value)"

// calleeBefore is the expression that ends before the parenthesis at offset.
func calleeBefore(src string, offset int) string {
	end := min(offset, len(src))
	for end > 0 && isSpace(src[end-1]) {
		end--
	}
	return printed(strings.TrimLeft(src[operandStart(src, end):end], ".")) // a spread's dots are not its
}

// operandAfter is the expression that begins at offset: a chain of names,
// members and calls. new says that an argument list ends it.
func operandAfter(src string, offset int, isNew bool) string {
	if offset < 0 || offset >= len(src) {
		return intermediate
	}
	rest := src[offset:]
	if isNew {
		var found bool
		if rest, found = strings.CutPrefix(rest, "new "); !found {
			return intermediate
		}
	}
	i := 0
	for i < len(rest) {
		switch c := rest[i]; {
		case isWord(c) || c == '.' && i > 0:
			i++
		case c == '[' && i > 0, c == '(' && (i == 0 || !isNew):
			n := closing(rest[i:])
			if n < 0 {
				return intermediate
			}
			i += n + 1
		default:
			return printed(rest[:i])
		}
	}
	return printed(rest)
}

// operandStart walks back over one operand that ends at end.
func operandStart(src string, end int) int {
	i := end
	for i > 0 {
		switch c := src[i-1]; {
		case isWord(c):
			for i > 0 && (isWord(src[i-1]) || src[i-1] == '#') {
				i--
			}
			if word := src[i:end]; keywords[word] {
				return end
			}
		case c == ')' || c == ']' || c == '}':
			open := opening(src[:i])
			if open < 0 {
				return end
			}
			i = open
			if i > 0 && (isWord(src[i-1]) || src[i-1] == ')' || src[i-1] == ']') {
				end = i
				continue // a call or an element of what is before it
			}
		case c == '"' || c == '\'' || c == '`':
			j := strings.LastIndexByte(src[:i-1], c)
			if j < 0 {
				return end
			}
			i = j
		default:
			return i
		}
		if i == 0 || src[i-1] != '.' {
			return i
		}
		i--
		if i > 0 && src[i-1] == '?' {
			i--
		}
		end = i
	}
	return i
}

// keywords may stand right before an operand and are none.
var keywords = map[string]bool{"return": true, "await": true, "yield": true, "typeof": true, "throw": true, "case": true,
	"in": true, "of": true, "void": true, "delete": true, "new": true, "else": true, "do": true}

// opening is where the bracket that ends text was opened, -1 if it was not.
func opening(text string) int {
	depth := 0
	for i := len(text) - 1; i >= 0 && len(text)-i < 4000; i-- {
		switch c := text[i]; c {
		case ')', ']', '}':
			depth++
		case '(', '[', '{':
			if depth--; depth == 0 {
				return i
			}
		case '"', '\'', '`':
			j := strings.LastIndexByte(text[:i], c)
			if j < 0 {
				return -1
			}
			i = j
		}
	}
	return -1
}

// closing is where the bracket that begins text is closed, -1 if it is not.
func closing(text string) int {
	depth := 0
	for i := 0; i < len(text) && i < 4000; i++ {
		switch c := text[i]; c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return i
			}
		case '"', '\'', '`':
			j := strings.IndexByte(text[i+1:], c)
			if j < 0 {
				return -1
			}
			i += j + 1
		}
	}
	return -1
}

// printed shows an operand as V8's messages do: arguments as "(...)", elements
// named by a string as members, functions and the like as intermediate values.
func printed(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case isWord(c) || c == '#':
			j := i
			for j < len(text) && (isWord(text[j]) || text[j] == '#') {
				j++
			}
			word := text[i:j]
			if i == 0 && (word == "function" || word == "class" || word == "async") {
				return intermediate
			}
			b.WriteString(withoutImport(text, word, &j))
			i = j
		case c == '.' || c == '?' || c == '"' || c == '\'' || c == '`':
			if c != '.' && c != '?' {
				n := strings.IndexByte(text[i+1:], c)
				if n < 0 || c == '`' {
					return intermediate
				}
				b.WriteString(`"` + text[i+1:i+1+n] + `"`)
				i += n + 2
				continue
			}
			b.WriteByte(c)
			i++
		case c == '(' || c == '[':
			n := closing(text[i:])
			if n < 0 {
				return intermediate
			}
			b.WriteString(bracketed(text[i:i+n+1], b.Len() == 0))
			i += n + 1
		case c == '{' && b.Len() == 0:
			n := closing(text)
			if n < 0 {
				return intermediate
			}
			b.WriteString("{" + strings.Repeat(intermediate, entries(text[1:n])) + "}")
			i += n + 1
		default:
			return intermediate
		}
	}
	if b.Len() == 0 {
		return intermediate
	}
	return b.String()
}

// withoutImport leaves out the namespace that esbuild puts before an imported
// name: the reference's bundle is one scope and has the name alone.
func withoutImport(text, word string, end *int) string {
	if strings.HasPrefix(word, "import_") && *end < len(text) && text[*end] == '.' {
		*end++
		return ""
	}
	return word
}

// bracketed shows what is in brackets: at the start of an operand it is a
// parenthesized expression or an array, later arguments or an element.
func bracketed(text string, first bool) string {
	inner := strings.TrimSpace(text[1 : len(text)-1])
	switch {
	case text[0] == '(' && !first:
		return "(...)"
	case text[0] == '(':
		if name, ok := strings.CutPrefix(inner, "0, "); ok {
			if strings.HasPrefix(name, "import_") {
				if _, rest, ok := strings.Cut(name, "."); ok {
					return rest
				}
			}
			return "(0 , " + printed(name) + ")"
		}
		if isOperand(inner) {
			return printed(inner)
		}
		return intermediate
	case first && strings.ContainsAny(inner, "{([`"):
		items := make([]string, entries(inner))
		for n := range items {
			item := inner[:entryEnd(inner)]
			items[n], inner = intermediate, strings.TrimPrefix(inner[len(item):], ",")
			if item = strings.TrimSpace(item); isOperand(item) {
				items[n] = printed(item)
			}
		}
		return "[" + strings.Join(items, ",") + "]"
	case first:
		return "[" + strings.ReplaceAll(inner, ", ", ",") + "]"
	case len(inner) > 1 && (inner[0] == '"' || inner[0] == '\'') && inner[len(inner)-1] == inner[0]:
		return "." + inner[1:len(inner)-1]
	case isOperand(inner):
		return "[" + printed(inner) + "]"
	}
	return "[" + intermediate + "]"
}

// entries counts the members of an object or array literal, by what is in its brackets.
func entries(inner string) (n int) {
	for inner = strings.TrimSpace(inner); inner != ""; n++ {
		inner = strings.TrimSpace(strings.TrimPrefix(inner[entryEnd(inner):], ","))
	}
	return n
}

// entryEnd is where the first member of such a literal ends: at a comma that is
// in no brackets or quotes, or at the end.
func entryEnd(inner string) int {
	for i := 0; i < len(inner); i++ {
		switch c := inner[i]; c {
		case ',':
			return i
		case '(', '[', '{':
			if n := closing(inner[i:]); n > 0 {
				i += n
			}
		case '"', '\'', '`':
			if n := strings.IndexByte(inner[i+1:], c); n >= 0 {
				i += n + 1
			}
		}
	}
	return len(inner)
}

// isOperand reports whether text is one operand, without operators.
func isOperand(text string) bool {
	return text != "" && operandStart(text, len(text)) == 0
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

// wordAt is the name that begins at offset, "" if none does.
func wordAt(src string, offset int) string {
	if offset < 0 || offset >= len(src) {
		return ""
	}
	end := offset
	for end < len(src) && isWord(src[end]) {
		end++
	}
	return src[offset:end]
}
