package mend

import (
	"slices"

	"github.com/dop251/goja/ast"
)

// A function whose `arguments` are named in its arrow functions alone gives goja's
// virtual machine a wrong place to look for them: what comes out is another value,
// or a panic. One that names them itself, in a statement that does nothing else, is
// right (ECMA-262, section 10.2.11). In the default values of parameters, they have to
// be named right before the arrow function.

const argumentsName = "arguments"

// nameArguments mends a function that is no arrow function.
func nameArguments(n *ast.FunctionLiteral) {
	if n.ParameterList != nil {
		descend(n.ParameterList, argumentsNamer{}, false)
	}
	var f argumentsFinder
	for _, s := range n.Body.List {
		if f.node(s, false); f.found {
			break
		}
	}
	if !f.found {
		return
	}
	at := 0 // behind the directives
	for at < len(n.Body.List) && isDirective(n.Body.List[at]) {
		at++
	}
	named := &ast.ExpressionStatement{Expression: &ast.Identifier{Name: argumentsName, Idx: n.Body.LeftBrace}}
	n.Body.List = slices.Insert(slices.Clone(n.Body.List), at, ast.Statement(named))
}

func isDirective(s ast.Statement) bool {
	e, ok := s.(*ast.ExpressionStatement)
	if ok {
		_, ok = e.Expression.(*ast.StringLiteral)
	}
	return ok
}

// argumentsFinder is a visitor that looks for `arguments` in the arrow functions
// of a function; flag says that it is in one.
type argumentsFinder struct{ found bool }

func (f *argumentsFinder) slot(e *ast.Expression, flag bool) { f.node(*e, flag) }

func (f *argumentsFinder) node(n ast.Node, flag bool) {
	switch n := n.(type) {
	case *ast.Identifier:
		f.found = f.found || flag && n.Name == argumentsName
		return
	case *ast.PropertyShort:
		f.found = f.found || flag && n.Name.Name == argumentsName
	case *ast.FunctionLiteral:
		return
	case *ast.ArrowFunctionLiteral:
		flag = true
	case *ast.OptionalChain:
		flag = flag || litters(n.Expression) // it becomes one (mendchain.go)
	}
	if !f.found {
		descend(n, f, flag)
	}
}

func (f *argumentsFinder) list(l *[]ast.Statement, flag bool) {
	for _, s := range *l {
		f.node(s, flag)
	}
}

// argumentsNamer is a visitor that names `arguments` before the arrow functions of
// default values that name them. goja calls no function after a parameter, so that
// no name is lost.
type argumentsNamer struct{}

func (v argumentsNamer) slot(e *ast.Expression, flag bool) {
	switch x := (*e).(type) {
	case *ast.ArrowFunctionLiteral:
	case *ast.OptionalChain:
		if !litters(x.Expression) {
			v.node(x, flag)
			return
		}
	default:
		v.node(*e, flag)
		return
	}
	var f argumentsFinder
	if f.node(*e, true); f.found {
		*e = &ast.SequenceExpression{Sequence: []ast.Expression{&ast.Identifier{Name: argumentsName, Idx: (*e).Idx0()}, *e}}
	}
}

func (v argumentsNamer) node(n ast.Node, flag bool) {
	if _, ok := n.(*ast.FunctionLiteral); !ok {
		descend(n, v, flag)
	}
}

func (v argumentsNamer) list(l *[]ast.Statement, flag bool) {
	for _, s := range *l {
		v.node(s, flag)
	}
}
