package bundle

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

// groupLeft mends a comparison, and those on its right.
func groupLeft(n *ast.BinaryExpression, code string) {
	for relates(n.Operator) {
		right, ok := n.Right.(*ast.BinaryExpression)
		if !ok || !relates(right.Operator) || parenthesized(right, code) {
			return
		}
		// a op (b right c) becomes (a op b) right c
		inner := *n
		inner.Right = right.Left
		n.Operator, n.Left, n.Right, n.Comparison = right.Operator, &inner, right.Right, right.Comparison
	}
}

// parenthesized reports whether a comparison, that is the right side of another,
// has parentheses around it: whether one that opens before it closes behind its
// operator.
func parenthesized(n *ast.BinaryExpression, code string) bool {
	from, to := int(n.Left.Idx0())-1, int(n.Right.Idx0())-1
	for from > 0 && (code[from-1] == ' ' || code[from-1] == '\n') {
		from--
	}
	if from == 0 || code[from-1] != '(' || to > len(code) {
		return false
	}
	depth := 1
	for i := from; i < to && depth > 0; i++ {
		switch c := code[i]; c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '"', '\'', '`':
			for i++; i < to && code[i] != c; i++ {
				if code[i] == '\\' {
					i++
				}
			}
		}
	}
	return depth > 0
}
