package mend

import (
	"errors"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"

	"minido.dev/minido/internal/lazyregexp"
)

// goja's parser refuses three forms that are valid and that packages use: a class
// field named get, set or async with a value; an await in the concise body of an
// arrow function that is the default value of a parameter; and a default inside of
// an array pattern that has a default of its own, as in ({ x: [y = 1] = [] }) => y,
// where it takes the pattern for an expression first. They are rewritten where the
// parser stumbles, on the same line, and all those of one kind at once.

// suspectSyntax reports whether one of the forms may occur, which decides whether
// the code is worth a parse.
func suspectSyntax(code string) bool {
	for line := range strings.SplitSeq(code, "\n") {
		if strings.Contains(line, "=> ") && strings.Contains(line, "await ") && asyncDefault(line) {
			return true
		}
		if defaultInside(line) {
			return true
		}
		rest := strings.TrimPrefix(strings.TrimLeft(line, " "), "static ")
		for _, field := range []string{"get = ", "set = ", "async = "} {
			if strings.HasPrefix(rest, field) {
				return true
			}
		}
	}
	return false
}

// defaultInside reports whether a line has an array with something assigned inside
// and to it, or the end of one that began on another line.
func defaultInside(line string) bool {
	for end := strings.Index(line, "] = "); end >= 0; {
		if opens := strings.Count(line[:end], "[") > strings.Count(line[:end], "]"); !opens || strings.Contains(line[:end], " = ") && strings.Contains(line[strings.IndexByte(line, '['):end], " = ") {
			return true
		}
		next := strings.Index(line[end+1:], "] = ")
		if next < 0 {
			return false
		}
		end += 1 + next
	}
	return false
}

// asyncDefault reports whether a line has `= async` inside open brackets.
func asyncDefault(line string) bool {
	for from := 0; ; {
		i := strings.Index(line[from:], "async ")
		if i < 0 {
			return false
		}
		i += from
		if eq := strings.LastIndex(line[:i], " = "); eq >= 0 {
			open := strings.Count(line[:eq], "(") + strings.Count(line[:eq], "{")
			if open > strings.Count(line[:eq], ")")+strings.Count(line[:eq], "}") {
				return true
			}
		}
		from = i + 1
	}
}

// splitLast writes the last code point as its two surrogates in the strings on
// which goja's lexer panics: it stops reading \u{10FFFF} before the closing brace,
// and then finds the length wrong.
func splitLast(code string) string {
	if !strings.Contains(code, `\u{10`) {
		return code
	}
	for range repairMax {
		literal, ok := unreadable(code)
		if !ok || !lastPoint.MatchString(literal) {
			return code
		}
		fixed := lastPoint.ReplaceAllString(literal, `${1}\uDBFF\uDFFF`)
		for _, quotes := range [][2]string{{`"`, `"`}, {`'`, `'`}, {"`", "`"}, {"`", "${"}, {"}", "${"}, {"}", "`"}} {
			code = strings.ReplaceAll(code, quotes[0]+literal+quotes[1], quotes[0]+fixed+quotes[1])
		}
	}
	return code
}

// lastPoint is the escape, after an even number of backslashes.
var lastPoint = lazyregexp.New(`((?:^|[^\\])(?:\\\\)*)\\u\{0*10[fF]{4}\}`)

// unreadable is the first string literal at which goja's lexer panics.
func unreadable(code string) (literal string, found bool) {
	defer func() {
		err, ok := recover().(error)
		if !ok {
			return
		}
		_, rest, ok := strings.Cut(err.Error(), "unexpected unicode length while parsing '")
		literal, found = strings.TrimSuffix(rest, "'"), ok
	}()
	_, _ = parser.ParseFile(nil, "", code, 0, parser.WithDisableSourceMaps) // Parseable looks at the error
	return "", false
}

// repairMax bounds the rewrites in one file.
const repairMax = 500

// Parseable returns code that goja parses, or code itself if there is nothing to
// do or the error is another one.
func Parseable(code string) string {
	code = splitLast(code)
	if !suspectSyntax(code) {
		return code
	}
	fixed, eager := code, true
	for range repairMax {
		_, err := parser.ParseFile(nil, "", fixed, 0, parser.WithDisableSourceMaps)
		if err == nil {
			return fixed
		}
		var list parser.ErrorList
		if !errors.As(err, &list) || len(list) == 0 {
			return code
		}
		next, ok := repairOnce(fixed, list, eager)
		if !ok && eager {
			next, ok = repairOnce(code, firstError(code), false) // one field at a time, from the beginning
			eager = false
		}
		if !ok {
			return code
		}
		fixed = next
	}
	return code
}

// firstError is what the parser says of code.
func firstError(code string) (list parser.ErrorList) {
	_, err := parser.ParseFile(nil, "", code, 0, parser.WithDisableSourceMaps)
	errors.As(err, &list)
	return list
}

// repairOnce rewrites every place of the kind that the first error is of; of fields
// those that look alike, if eager.
func repairOnce(code string, list parser.ErrorList, eager bool) (string, bool) {
	if len(list) == 0 {
		return code, false
	}
	switch message := list[0].Message; {
	case strings.Contains(message, awaitRefused):
		return repairAll(code, list, awaitRefused, blockBody)
	case strings.Contains(message, targetRefused):
		return repairAll(code, list, targetRefused, wrapElement)
	case strings.HasSuffix(message, "token ="):
		at, ok := offsetOf(code, list[0].Position.Line, list[0].Position.Column)
		if !ok {
			return code, false
		}
		// The position is that of the token after the equals sign.
		fixed, ok := quoteField(code, strings.LastIndexByte(code[:at], '='))
		if ok && eager {
			fixed = fieldLine.ReplaceAllString(fixed, `$1"$2" = `)
		}
		return fixed, ok
	}
	return code, false
}

// fieldLine is how esbuild writes such a field, or an assignment to such a variable.
var fieldLine = lazyregexp.New(`(?m)^( *(?:static )?)(get|set|async) = `)

const (
	awaitRefused  = "await-expression in formal parameters"
	targetRefused = "destructuring binding target"
)

// repairAll rewrites the places of all errors of one kind, the last one first.
func repairAll(code string, list parser.ErrorList, kind string, rewrite func(code string, at int) (string, bool)) (string, bool) {
	var places []int
	for _, e := range list {
		if at, ok := offsetOf(code, e.Position.Line, e.Position.Column); ok && strings.Contains(e.Message, kind) {
			places = append(places, at)
		}
	}
	slices.Sort(places)
	done := false
	for _, at := range slices.Backward(slices.Compact(places)) {
		if fixed, ok := rewrite(code, at); ok {
			code, done = fixed, true
		}
	}
	return code, done
}

// offsetOf converts a position (from 1) to an offset.
func offsetOf(code string, line, column int) (int, bool) {
	at := 0
	for ; line > 1; line-- {
		i := strings.IndexByte(code[at:], '\n')
		if i < 0 {
			return 0, false
		}
		at += i + 1
	}
	at += column - 1
	return at, at >= 0 && at < len(code)
}

// quoteField puts quotes around the field name before the `=` at offset at.
func quoteField(code string, at int) (string, bool) {
	if at < 0 {
		return "", false
	}
	end := len(strings.TrimRight(code[:at], " \n"))
	for _, name := range []string{"get", "set", "async"} {
		if start := end - len(name); start > 0 && code[start:end] == name && !isIdent(code[start-1]) {
			return code[:start] + `"` + name + `"` + code[end:], true
		}
	}
	return "", false
}

// blockBody turns the concise body around offset at into a block.
func blockBody(code string, at int) (string, bool) {
	const arrow = "=> "
	for search := at; ; {
		start := strings.LastIndex(code[:search], arrow)
		if start < 0 {
			return "", false
		}
		body := start + len(arrow)
		// The right arrow is the one whose body reaches past the await.
		if end := expressionEnd(code, body); code[body] != '{' && end > at {
			return code[:body] + "{ return " + code[body:end] + "; }" + code[end:], true
		}
		search = start
	}
}

// wrapped is the property of the object pattern that an element with a default is
// put into. goja takes that where it refuses the element; mend takes it out again.
const wrapped = "$element"

// wrapElement puts the element at offset at into an object pattern.
func wrapElement(code string, at int) (string, bool) {
	if strings.HasPrefix(code[at:], "{"+wrapped) {
		return code, false
	}
	end := expressionEnd(code, at)
	return code[:at] + "{" + wrapped + ": " + code[at:end] + "}" + code[end:], true
}

// unwrapElement is the element in such a pattern, nil for any other expression.
func unwrapElement(e ast.Expression) ast.Expression {
	pattern, ok := e.(*ast.ObjectPattern)
	if !ok || len(pattern.Properties) != 1 || pattern.Rest != nil {
		return nil
	}
	property, ok := pattern.Properties[0].(*ast.PropertyKeyed)
	if !ok || property.Computed {
		return nil
	}
	if key, ok := property.Key.(*ast.StringLiteral); !ok || key.Value != wrapped {
		return nil
	}
	return property.Value
}
