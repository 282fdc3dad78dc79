package mend

import (
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// ECMA-262, section B.3.4: a block that catches e may declare `var e`, as minified
// code does. The variable is the function's, but what the declaration assigns goes
// to the caught one. goja refuses it; an assignment means the same, since the
// function knows its variables already.

// letRedeclare mends a catch clause.
func letRedeclare(n *ast.CatchStatement) {
	if name, ok := n.Parameter.(*ast.Identifier); ok {
		v := &redeclared{name.Name}
		v.list(&n.Body.List, false)
	}
}

// redeclared is a visitor that replaces declarations of a name, functions aside.
type redeclared struct{ name unistring.String }

func (v *redeclared) slot(e *ast.Expression, flag bool) {} // declares nothing outside of functions

func (v *redeclared) node(n ast.Node, flag bool) {
	switch n := n.(type) {
	case *ast.FunctionDeclaration, *ast.ClassDeclaration:
		return
	case *ast.IfStatement:
		v.lone(&n.Consequent)
		v.lone(&n.Alternate)
	case *ast.LabelledStatement:
		v.lone(&n.Statement)
	case *ast.DoWhileStatement:
		v.lone(&n.Body)
	case *ast.WhileStatement:
		v.lone(&n.Body)
	case *ast.ForOfStatement:
		v.lone(&n.Body)
	case *ast.ForStatement:
		v.lone(&n.Body)
		if vars, ok := n.Initializer.(*ast.ForLoopInitializerVarDeclList); ok && v.among(vars.List) {
			var all ast.SequenceExpression
			for _, b := range vars.List {
				if b.Initializer != nil {
					all.Sequence = append(all.Sequence, assignment(b))
				}
			}
			n.Initializer = nil
			if len(all.Sequence) > 0 {
				n.Initializer = &ast.ForLoopInitializerExpression{Expression: &all}
			}
		}
	case *ast.ForInStatement:
		v.lone(&n.Body)
		if into, ok := n.Into.(*ast.ForIntoVar); ok && v.among([]*ast.Binding{into.Binding}) {
			n.Into = &ast.ForIntoExpression{Expression: into.Binding.Target}
		}
	}
	descend(n, v, flag)
}

func (v *redeclared) list(l *[]ast.Statement, flag bool) {
	if slices.ContainsFunc(*l, v.declaredIn) {
		var out []ast.Statement
		for _, s := range *l {
			if v.declaredIn(s) {
				out = append(out, assignments(s)...)
			} else {
				out = append(out, s)
			}
		}
		*l = out
	}
	for _, s := range *l {
		v.node(s, flag)
	}
}

// lone mends a declaration that is no member of a list, such as what an if without
// braces consists of.
func (v *redeclared) lone(s *ast.Statement) {
	if v.declaredIn(*s) {
		*s = &ast.BlockStatement{LeftBrace: (*s).Idx0(), List: assignments(*s), RightBrace: (*s).Idx0()}
	}
}

func (v *redeclared) declaredIn(s ast.Statement) bool {
	declaration, ok := s.(*ast.VariableStatement)
	return ok && v.among(declaration.List)
}

// assignments are what a declaration of variables does.
func assignments(declaration ast.Statement) []ast.Statement {
	var out []ast.Statement
	for _, b := range declaration.(*ast.VariableStatement).List {
		if b.Initializer != nil {
			out = append(out, &ast.ExpressionStatement{Expression: assignment(b)})
		}
	}
	return out
}

// among reports whether the name is declared by itself.
func (v *redeclared) among(list []*ast.Binding) bool {
	for _, b := range list {
		if name, ok := b.Target.(*ast.Identifier); ok && name.Name == v.name {
			return true
		}
	}
	return false
}

// assignment is what the declaration of one variable does.
func assignment(b *ast.Binding) ast.Expression {
	return &ast.AssignExpression{Operator: token.ASSIGN, Left: b.Target, Right: b.Initializer}
}
