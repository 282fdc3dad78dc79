package mend

import (
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// goja assigns with ??=, ||= and &&= through a reference, which for a variable on the
// virtual machine's stack is a place on it. The function is elsewhere on the stack after
// an await or a yield: the value is lost, or the virtual machine reads past its end. Put
// as v ?? (v = x) it has none (ECMA-262, section 13.15.2; v is looked up twice, which
// nothing can see).

// logical are the operators, as goja's tree has them, with what they assign if.
var logical = map[token.Token]bool{token.COALESCE: true, token.LOGICAL_OR: true, token.LOGICAL_AND: true}

// plainLogical is the expression without the reference, nil for any other one.
func plainLogical(n *ast.AssignExpression) ast.Expression {
	name, ok := n.Left.(*ast.Identifier)
	if !ok || !logical[n.Operator] {
		return nil
	}
	again := *name
	set := &ast.AssignExpression{Operator: token.ASSIGN, Left: &again, Right: n.Right}
	return &ast.BinaryExpression{Operator: n.Operator, Left: name, Right: set}
}

// MemberBase is the helper of what has a member that is assigned to by reference: in a
// pattern, or by one of the operators. goja makes an object of a primitive value there,
// which takes the member and is gone, where assigning has to throw, and throws for
// undefined and null before the value is there (sections 13.15.5 and 6.2.5.6).
const MemberBase = "$base"

// assignsMembers finds code that may have such a member.
func assignsMembers(code string) bool {
	for _, sign := range []string{"??=", "||=", "&&=", "] = ", "} = "} {
		if strings.Contains(code, sign) {
			return true
		}
	}
	for rest := code; ; {
		i := strings.Index(rest, " of ")
		if i < 0 {
			return false
		}
		if i > 0 && (isWord(rest[i-1]) || strings.IndexByte("]}$", rest[i-1]) >= 0) {
			return true
		}
		rest = rest[i+1:]
	}
}

// checkBase puts the helper around what has the member, if target is a member of
// something that may be a primitive value.
func checkBase(target *ast.Expression) {
	var base *ast.Expression
	switch t := (*target).(type) {
	case *ast.DotExpression:
		base = &t.Left
	case *ast.BracketExpression:
		base = &t.Left
	case *ast.AssignExpression: // with a default
		checkBase(&t.Left)
		return
	default:
		return
	}
	switch (*base).(type) {
	case *ast.ThisExpression, *ast.SuperExpression:
	default:
		*base = call(MemberBase, *base)
	}
}

// checkBases does that for the targets of a pattern that assigns.
func checkBases(pattern ast.Node) {
	switch p := pattern.(type) {
	case *ast.ArrayPattern:
		for i := range p.Elements {
			if p.Elements[i] != nil {
				checkBase(&p.Elements[i])
			}
		}
		if p.Rest != nil {
			checkBase(&p.Rest)
		}
	case *ast.ObjectPattern:
		for _, property := range p.Properties {
			if keyed, ok := property.(*ast.PropertyKeyed); ok {
				checkBase(&keyed.Value)
			}
		}
		if p.Rest != nil {
			checkBase(&p.Rest)
		}
	}
}
