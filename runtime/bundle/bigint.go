package bundle

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/token"
)

// A shift of a BigInt by 2^40 makes goja allocate 2^40 bits, which ends the
// process, and operators are no functions that could refuse it. So what a value
// is shifted by goes through a helper that bounds it, unless it is a number as
// the code stands. esbuild turns ** into a call of a helper by itself.

// The helpers, of shifts to the left and to the right.
const (
	shiftLeft  = "$shl"
	shiftRight = "$shr"
)

// variableShift finds shifts, not those by a number, in esbuild's output.
var variableShift = regexp.MustCompile(`(?:<<|[^>]>>)=? (?:[^0-9]|[0-9][0-9a-fA-FxXoObB_]*n)`)

// guardShifts rewrites l.code on the same lines, or leaves it as it is.
func (l *lowered) guardShifts() {
	if !variableShift.MatchString(l.code) {
		return
	}
	program, err := parser.ParseFile(nil, "", l.code, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return // whoever compiles it reports the error
	}
	var f shiftFinder
	f.walk(reflect.ValueOf(program.Body))
	slices.SortStableFunc(f.edits, func(a, b edit) int { return a.at - b.at })
	var b strings.Builder
	last := 0
	for _, e := range f.edits {
		b.WriteString(l.code[last:e.at])
		b.WriteString(e.text)
		last = e.at
	}
	b.WriteString(l.code[last:])
	before := *l
	l.code = b.String()
	for _, helper := range []string{shiftLeft, shiftRight} {
		if f.used[helper] {
			l.borrow(helper)
		}
	}
	if _, err := parser.ParseFile(nil, "", l.code, 0, parser.WithDisableSourceMaps); err != nil {
		*l = before // a place of goja's is wrong
	}
}

// edit is text to insert at an offset.
type edit struct {
	at   int
	text string
}

// shiftFinder collects the edits. goja's ast has no walker of its own.
type shiftFinder struct {
	edits []edit
	used  map[string]bool
}

func (f *shiftFinder) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		f.walk(v.Elem())
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		switch n := v.Interface().(type) {
		case *ast.BinaryExpression:
			f.shift(n.Operator, n.Right)
		case *ast.AssignExpression:
			f.shift(n.Operator, n.Right)
		}
		f.walk(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; name != "DeclarationList" && v.Type().Field(i).IsExported() {
				f.walk(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			f.walk(v.Index(i))
		}
	}
}

func (f *shiftFinder) shift(op token.Token, by ast.Expression) {
	helper := map[token.Token]string{token.SHIFT_LEFT: shiftLeft, token.SHIFT_RIGHT: shiftRight}[op]
	if n, ok := by.(*ast.NumberLiteral); helper == "" || ok && !strings.HasSuffix(n.Literal, "n") {
		return
	}
	if f.used == nil {
		f.used = map[string]bool{}
	}
	f.used[helper] = true
	f.edits = append(f.edits, edit{int(by.Idx0()) - 1, helper + "(("}, edit{int(by.Idx1()) - 1, "))"})
}
