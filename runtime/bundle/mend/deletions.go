package mend

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// evaluateDeleted mends the deletion of what is no reference, as in delete f(), which
// goja answers with true and does not evaluate (ECMA-262, section 13.5.1.2). It becomes
// (f(), true).
func evaluateDeleted(n *ast.UnaryExpression) ast.Expression {
	if n.Operator != token.DELETE {
		return nil
	}
	switch n.Operand.(type) {
	case *ast.Identifier, *ast.DotExpression, *ast.BracketExpression, *ast.PrivateDotExpression, *ast.OptionalChain, *ast.ThisExpression:
		return nil
	}
	return &ast.SequenceExpression{Sequence: []ast.Expression{n.Operand, &ast.BooleanLiteral{Idx: n.Idx, Value: true}}}
}
