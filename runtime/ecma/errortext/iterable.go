package errortext

import (
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/ecma/builtin"
)

// notIterableValue is what V8 says of a value that no source stands for.
const notIterableValue = " is not iterable (cannot read property Symbol(Symbol.iterator))"

// notIterable is the text for what cannot be iterated over: the expression where V8 shows
// it, else the kind of value.
func (s site) notIterable() string {
	op := s.op()
	if op != "pushArraySpread" && op != "pushSpread" && !strings.HasPrefix(op, "iterate") {
		v := s.machine.Peek(1)
		if s.iterating() {
			v = s.first()
		}
		return builtin.CallSite(s.engine, v) + notIterableValue
	}
	v := s.machine.Peek(1)
	if op == "pushSpread" {
		v = s.machine.Peek(0) // which it has taken from the stack
	}
	src, offset, ok := s.position()
	if !ok {
		return builtin.CallSite(s.engine, v) + notIterableValue
	}
	name, isCall, where := iterated(src, offset)
	if op == "iterate" && where == inLoop { // a loop itself takes its value from the stack
		return ".for is not iterable"
	}
	switch {
	case op == "pushSpread" && v != nil && (goja.IsUndefined(v) || goja.IsNull(v)) && name != intermediate:
		return name + " is not iterable (cannot read property " + v.String() + ")"
	case op == "pushSpread":
		return "Spread syntax requires ...iterable[Symbol.iterator] to be a function"
	case where == inOperand && name == intermediate && v != nil && !goja.IsUndefined(v) && !builtin.IsObjectValue(v) && !takesPattern(src[offset:]):
		return builtin.Show(s.engine, v) + " is not iterable" // a literal, which has no position
	case where == inPattern, where != inSpread && name == intermediate && !isCall && !strings.HasSuffix(src[:offset], "await "):
		return builtin.CallSite(s.engine, v) + notIterableValue
	case isCall:
		return name + " is not a function or its return value is not iterable"
	}
	return name + " is not iterable"
}

// Where what is iterated over stands.
const (
	inOperand = iota // V8 shows the expression
	inLoop           // of a for-of
	inSpread
	inPattern // V8 shows the kind of value: of parameters, of assignments, nested
)

// iterated is the expression with a position in it, as V8 shows it, if it is a call, its
// callee; and where it stands.
func iterated(src string, offset int) (name string, isCall bool, where int) {
	start, end := operandAround(src, offset)
	text, before := src[start:end], strings.TrimRight(src[:start], " ")
	if text == "new" {
		text = intermediate
	}
	before = strings.TrimRight(strings.TrimSuffix(before, "/* @__PURE__ */"), " [") // what is in an array stands for it
	if rest, awaited := strings.CutSuffix(before, " await"); awaited {
		text, before = intermediate, rest
	}
	switch {
	case strings.HasSuffix(before, "..."):
		where = inSpread
	case strings.HasSuffix(before, " of"):
		where = inLoop
	case strings.HasSuffix(before, "="):
		if !declared(strings.TrimSuffix(before, "=")) || strings.ContainsAny(text, ".([") {
			return intermediate, false, inPattern
		}
	case strings.HasPrefix(text, "["), strings.HasPrefix(text, "([") && strings.HasPrefix(src[end:], " =>"):
		return intermediate, false, inPattern
	}
	if text == intermediate {
		return text, false, where
	}
	if strings.HasSuffix(text, ")") && text[0] != '(' {
		if open := opening(text); open > 0 {
			return printed(text[:open]), true, where
		}
	}
	return printed(text), false, where
}

// operandAround is where the operand begins and ends that has a position in it.
func operandAround(src string, offset int) (start, end int) {
	end = offset + operandLength(src[offset:])
	start = operandStart(src, end)
	for start < end && src[start] == '.' { // of a spread
		start++
	}
	if start >= end {
		start = offset
	}
	return start, end
}

// operandLength is how much of text is one operand: names, members and calls, or the
// literal of an object, an array or a value.
func operandLength(text string) int {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case isWord(c), c == '.', c == '#':
			i++
		case c == '?' && strings.HasPrefix(text[i:], "?."):
			i += 2
		case c == '[' || c == '(' || c == '{' && i == 0:
			n := closing(text[i:])
			if n < 0 {
				return i
			}
			i += n + 1
		default:
			return i
		}
	}
	return len(text)
}

// takesPattern reports whether text begins with a function that has an array pattern among
// its parameters.
func takesPattern(text string) bool {
	open := strings.IndexByte(text, '(')
	if open < 0 || strings.ContainsAny(text[:open], ";={[\"'`") {
		return false
	}
	n := closing(text[open:])
	return n > 0 && strings.Contains(text[open:open+n], "[")
}

// declared reports whether the array pattern at the end of text is that of a declaration.
func declared(text string) bool {
	text = strings.TrimRight(text, " ")
	if !strings.HasSuffix(text, "]") {
		return false
	}
	open := opening(text)
	if open < 0 {
		return false
	}
	before := strings.TrimRight(text[:open], " ")
	if strings.ContainsAny(text[open+1:], "[{") { // perhaps it is a pattern within that fails
		return false
	}
	return withoutKeyword(before) != before
}

// withoutKeyword is text without the keyword of a declaration at its end.
func withoutKeyword(text string) string {
	for _, keyword := range []string{"const", "let", "var"} {
		if rest, ok := strings.CutSuffix(text, keyword); ok && (rest == "" || !isWord(rest[len(rest)-1])) {
			return rest
		}
	}
	return text
}
