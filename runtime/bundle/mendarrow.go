package bundle

import (
	"strings"

	"github.com/dop251/goja/ast"
)

// closeParentheses adds what goja leaves out of an arrow function's source text
// (ECMA-262, section 20.2.3.5) where its body ends with parentheses: x => (f(), 1).
func closeParentheses(n *ast.ArrowFunctionLiteral, source string) {
	body, concise := n.Body.(*ast.ExpressionBody)
	if !concise {
		return
	}
	start, inner := int(n.Idx0())-1, int(body.Expression.Idx0())-1
	if start < 0 || inner < start || inner > len(source) || !strings.HasPrefix(source[start:], n.Source) {
		return
	}
	arrow := strings.LastIndex(source[start:inner], "=>")
	if arrow < 0 || !strings.Contains(source[start+arrow:inner], "(") {
		return
	}
	end := expressionEnd(source, start+arrow+len("=>"))
	more := ""
	if from := start + len(n.Source); end > from {
		more = strings.TrimRight(source[from:end], " \n")
	}
	if strings.Trim(more, ") \n") == "" {
		n.Source += more
	}
}
