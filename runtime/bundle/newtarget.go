package bundle

import (
	"encoding/json"
	"reflect"
	"sort"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
)

// In goja a plain call inherits new.target from the constructor that it was
// made in, however deep: `function f() { return new.target }` called without
// `new` by code that a constructor runs does not answer undefined. Functions
// that refuse to be called with `new` (as the AI SDK's providers do) then fail.
// The expression is rewritten in functions so that it also asks whether `this`
// was made by that constructor, on the same line. In a class's constructor it is
// right as it is.

const newTarget = "new.target"

// guardedNewTarget is what new.target becomes in a function.
const guardedNewTarget = "(new.target && this instanceof new.target ? new.target : void 0)"

// esbuild turns literals of regular expressions with property escapes into
// constructor calls, which translate them, but does not look into character
// classes: a literal such as /[\p{L}]/u would stay, and never match. These are
// rewritten too, on the same line.

// mendExpressions rewrites both in code, or returns it as it is.
func mendExpressions(code string) string {
	if !strings.Contains(code, newTarget) && !strings.Contains(code, `\p{`) && !strings.Contains(code, `\P{`) {
		return code
	}
	program, err := parser.ParseFile(nil, "", code, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return code // whoever compiles it reports the error
	}
	var f finder
	f.walk(reflect.ValueOf(program.Body), false)
	sort.Slice(f.found, func(i, j int) bool { return f.found[i].at < f.found[j].at })
	var b strings.Builder
	last := 0
	for _, r := range f.found {
		if r.at < last || !strings.HasPrefix(code[r.at:], r.old) {
			continue
		}
		b.WriteString(code[last:r.at])
		b.WriteString(r.new)
		last = r.at + len(r.old)
	}
	b.WriteString(code[last:])
	return b.String()
}

// rewrite is one expression at an offset, and what takes its place.
type rewrite struct {
	at       int
	old, new string
}

// finder collects new.target in functions, and literals with property escapes.
type finder struct{ found []rewrite }

// walk visits all nodes below v; exact says that the innermost function that is
// no arrow is a class's constructor. goja's ast has no walker of its own.
func (f *finder) walk(v reflect.Value, exact bool) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		switch n := v.Interface().(type) {
		case *ast.MetaProperty:
			if !exact && n.Property.Name == "target" {
				f.found = append(f.found, rewrite{int(n.Meta.Idx) - 1, newTarget, guardedNewTarget})
			}
			return
		case *ast.RegExpLiteral:
			if strings.ContainsAny(n.Flags, "uv") && (strings.Contains(n.Pattern, `\p{`) || strings.Contains(n.Pattern, `\P{`)) {
				f.found = append(f.found, rewrite{int(n.Idx) - 1, n.Literal, "new RegExp(" + quoted(n.Pattern) + ", " + quoted(n.Flags) + ")"})
			}
			return
		case *ast.MethodDefinition:
			f.walk(reflect.ValueOf(n.Key), exact)
			f.function(n.Body, n.Kind == ast.PropertyKindMethod && !n.Static && isConstructorKey(n))
			return
		case *ast.FunctionLiteral:
			f.function(n, false)
			return
		}
		f.walk(v.Elem(), exact)
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; name != "DeclarationList" && v.Type().Field(i).IsExported() {
				f.walk(v.Field(i), exact)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			f.walk(v.Index(i), exact)
		}
	}
}

func (f *finder) function(n *ast.FunctionLiteral, exact bool) {
	f.walk(reflect.ValueOf(n.ParameterList), exact)
	f.walk(reflect.ValueOf(n.Body), exact)
}

func isConstructorKey(n *ast.MethodDefinition) bool {
	key, ok := n.Key.(*ast.StringLiteral)
	return ok && !n.Computed && key.Value == "constructor"
}

// quoted is a string literal of JavaScript.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	return string(b)
}
