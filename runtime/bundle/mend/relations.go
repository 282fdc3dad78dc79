package mend

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// ECMA-262, section 13.10: a < b < c is (a < b) < c, and the same holds of in and
// instanceof. goja groups them from the right. The tree does not say what stood in
// parentheses, so the text is asked.

func relates(op token.Token) bool {
	switch op {
	case token.LESS, token.GREATER, token.LESS_OR_EQUAL, token.GREATER_OR_EQUAL, token.IN, token.INSTANCEOF:
		return true
	}
	return false
}

// groupComparisons mends the comparisons of a program. It comes before the other
// mends, since it needs the places of all regular expressions.
func groupComparisons(program *ast.Program) {
	v := &comparisons{regexps: map[int]int{}}
	descend(program, v, false)
	if len(v.rows) == 0 {
		return
	}
	p := parenthesesOf(program.File.Source(), v.regexps)
	for _, n := range v.rows {
		groupLeft(n, p)
	}
}

// comparisons is a visitor that finds comparisons with one on their right, and
// the lengths of regular expressions by their offsets.
type comparisons struct {
	regexps map[int]int
	rows    []*ast.BinaryExpression
}

func (v *comparisons) slot(e *ast.Expression, flag bool) { v.node(*e, flag) }

func (v *comparisons) node(n ast.Node, flag bool) {
	switch n := n.(type) {
	case *ast.RegExpLiteral:
		v.regexps[int(n.Idx)-1] = len("//") + len(n.Pattern)
	case *ast.BinaryExpression:
		if comparisonOnRight(n) != nil {
			v.rows = append(v.rows, n)
		}
	}
	descend(n, v, flag)
}

func (v *comparisons) list(l *[]ast.Statement, flag bool) {
	for _, s := range *l {
		v.node(s, flag)
	}
}

// comparisonOnRight is the comparison on the right of another, or nil.
func comparisonOnRight(n *ast.BinaryExpression) *ast.BinaryExpression {
	right, ok := n.Right.(*ast.BinaryExpression)
	if !ok || !relates(n.Operator) || !relates(right.Operator) {
		return nil
	}
	return right
}

// groupLeft mends a comparison, and those on its right.
func groupLeft(n *ast.BinaryExpression, p parentheses) {
	for {
		right := comparisonOnRight(n)
		// Parentheses around both sides of the right one, and not around the left
		// side of the whole, are its own.
		if right == nil || p.around(int(right.Left.Idx0())-1, int(right.Right.Idx0())-1) > int(n.Left.Idx0())-1 {
			return
		}
		// a op (b right c) becomes (a op b) right c
		inner := *n
		inner.Right = right.Left
		n.Operator, n.Left, n.Right, n.Comparison = right.Operator, &inner, right.Right, right.Comparison
	}
}
