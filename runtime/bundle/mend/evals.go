package mend

import (
	"github.com/dop251/goja/ast"
)

// indirectEval mends a call of eval. For what a direct one could declare goja keeps each
// variable around it by its name, and then reads those that a class's static blocks name
// where there are none: a class with both ended the process. The eval of a worker is a
// function of the platform's (ecma/lang), and so never a direct one: (0, eval)() is the same.
func indirectEval(n *ast.CallExpression) {
	if f, ok := n.Callee.(*ast.Identifier); ok && f.Name == "eval" {
		n.Callee = &ast.SequenceExpression{Sequence: []ast.Expression{&ast.NumberLiteral{Idx: f.Idx, Literal: "0", Value: int64(0)}, f}}
	}
}
