package bundle

import (
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

// guardNewTarget rewrites code, or returns it as it is.
func guardNewTarget(code string) string {
	if !strings.Contains(code, newTarget) {
		return code
	}
	program, err := parser.ParseFile(nil, "", code, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return code // whoever compiles it reports the error
	}
	var f newTargetFinder
	f.walk(reflect.ValueOf(program.Body), false)
	sort.Ints(f.found)
	var b strings.Builder
	last := 0
	for _, at := range f.found {
		if at < last || !strings.HasPrefix(code[at:], newTarget) {
			continue
		}
		b.WriteString(code[last:at])
		b.WriteString(guardedNewTarget)
		last = at + len(newTarget)
	}
	b.WriteString(code[last:])
	return b.String()
}

// newTargetFinder collects the offsets of new.target in functions.
type newTargetFinder struct{ found []int }

// walk visits all nodes below v; exact says that the innermost function that is
// no arrow is a class's constructor. goja's ast has no walker of its own.
func (f *newTargetFinder) walk(v reflect.Value, exact bool) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		switch n := v.Interface().(type) {
		case *ast.MetaProperty:
			if !exact && n.Property.Name == "target" {
				f.found = append(f.found, int(n.Meta.Idx)-1)
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

func (f *newTargetFinder) function(n *ast.FunctionLiteral, exact bool) {
	f.walk(reflect.ValueOf(n.ParameterList), exact)
	f.walk(reflect.ValueOf(n.Body), exact)
}

func isConstructorKey(n *ast.MethodDefinition) bool {
	key, ok := n.Key.(*ast.StringLiteral)
	return ok && !n.Computed && key.Value == "constructor"
}
