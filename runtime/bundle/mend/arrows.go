package mend

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
	from := start + len(n.Source)
	arrow := strings.LastIndex(source[start:inner], "=>")
	if arrow < 0 || !strings.HasPrefix(strings.TrimLeft(source[from:], " \n"), ")") {
		return
	}
	// Most bodies have all their parentheses: the code is not read again for them.
	if !strings.Contains(source[start+arrow:inner], "(") && strings.Count(n.Source, "(") <= strings.Count(n.Source, ")") {
		return
	}
	end := expressionEnd(source, start+arrow+len("=>"))
	more := ""
	if end > from {
		more = strings.TrimRight(source[from:end], " \n")
	}
	if strings.Trim(more, ") \n") == "" {
		n.Source += more
	}
}

// nameParameters gives a nameless function that is the default of a parameter the
// parameter's name (ECMA-262, section 8.6.3), which goja does for every other
// binding: (f = () => 1) becomes (f = { f: () => 1 }.f).
func (m mender) nameParameters(list *ast.ParameterList) {
	for _, b := range list.List {
		target, ok := b.Target.(*ast.Identifier)
		if !ok || !isNameless(b.Initializer) {
			continue
		}
		at := b.Initializer.Idx0()
		if m.async && isNamelessAsync(b.Initializer) {
			b.Initializer = call(AsyncFunction, b.Initializer, &ast.StringLiteral{Idx: at, Literal: string(target.Name), Value: target.Name})
			continue
		}
		named := &ast.PropertyKeyed{Key: &ast.StringLiteral{Idx: at, Literal: string(target.Name), Value: target.Name}, Kind: ast.PropertyKindValue, Value: b.Initializer}
		b.Initializer = &ast.DotExpression{
			Left:       &ast.ObjectLiteral{LeftBrace: at, RightBrace: at, Value: []ast.Property{named}},
			Identifier: ast.Identifier{Name: target.Name, Idx: at},
		}
	}
}

// isNameless reports whether e is an anonymous function or class (8.4.5).
func isNameless(e ast.Expression) bool {
	switch f := e.(type) {
	case *ast.ArrowFunctionLiteral:
		return true
	case *ast.FunctionLiteral:
		return f.Name == nil
	case *ast.ClassLiteral:
		return f.Name == nil
	}
	return false
}
