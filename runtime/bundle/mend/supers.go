package mend

import (
	"github.com/dop251/goja/ast"
)

// goja allows `super` in the initializer of a field and in a static block only if
// the class stands in a method: it looks for the method at the wrong place. Below
// an arrow function it looks at the right one, so the initializer, or what the
// block has, is put into one that is called at once (ECMA-262, sections 15.7.10
// and 15.7.11; 13.3.7).

// letSuper mends a field.
func letSuper(n *ast.FieldDefinition) {
	if n.Initializer == nil {
		return
	}
	var f superFinder
	if f.slot(&n.Initializer, false); f.found {
		n.Initializer = callArrow(&ast.ArrowFunctionLiteral{Start: n.Idx, Body: &ast.ExpressionBody{Expression: n.Initializer}})
	}
}

// letSuperInBlock mends a static block.
func letSuperInBlock(n *ast.ClassStaticBlock) {
	var f superFinder
	if descend(n, &f, false); !f.found {
		return
	}
	inner := *n.Block
	arrow := callArrow(&ast.ArrowFunctionLiteral{Start: n.Static, Body: &inner, DeclarationList: n.DeclarationList})
	n.Block.List, n.DeclarationList = []ast.Statement{&ast.ExpressionStatement{Expression: arrow}}, nil
}

func callArrow(fn *ast.ArrowFunctionLiteral) *ast.CallExpression {
	fn.ParameterList = &ast.ParameterList{Opening: fn.Start, Closing: fn.Start}
	return &ast.CallExpression{Callee: fn, LeftParenthesis: fn.Start, RightParenthesis: fn.Start}
}

// superFinder is a visitor that looks for `super` outside of functions and classes.
type superFinder struct{ found bool }

func (f *superFinder) slot(e *ast.Expression, flag bool) { f.node(*e, flag) }

func (f *superFinder) node(n ast.Node, flag bool) {
	switch n := n.(type) {
	case *ast.SuperExpression:
		f.found = true
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
	case *ast.ClassLiteral:
		descendAround(n, f, flag)
	default:
		if !f.found {
			descend(n, f, flag)
		}
	}
}

func (f *superFinder) list(l *[]ast.Statement, flag bool) {
	for _, s := range *l {
		f.node(s, flag)
	}
}
