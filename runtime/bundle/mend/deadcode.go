package mend

import (
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// What cannot run, because of a condition that is a literal (as esbuild leaves it of
// process.env.NODE_ENV), is taken out of the tree: goja compiles it, throws it away,
// and forgets in doing so which variables closures share, and that a break or continue
// there is none of the code that stays: it overwrites another instruction of that. Then
// assignments get lost, something else runs, or the code does not compile. Variables
// that are declared there stay: the function has a list of them.

// truth is whether a literal is true; ok is false for anything else.
func truth(e ast.Expression) (value, ok bool) {
	switch e := e.(type) {
	case *ast.BooleanLiteral:
		return e.Value, true
	case *ast.NullLiteral:
		return false, true
	case *ast.StringLiteral:
		return e.Value != "", true
	case *ast.NumberLiteral:
		switch v := e.Value.(type) {
		case int64:
			return v != 0, true
		case float64:
			return v != 0, true
		}
	case *ast.UnaryExpression:
		value, ok = truth(e.Operand)
		switch e.Operator {
		case token.VOID:
			return false, ok
		case token.NOT:
			return !value, ok
		case token.MINUS, token.PLUS:
			_, number := e.Operand.(*ast.NumberLiteral)
			return value, ok && number
		}
	}
	return false, false
}

// pruneIf mends a statement.
func pruneIf(n *ast.IfStatement) {
	switch value, ok := truth(n.Test); {
	case ok && value && !declaresFunction(n.Alternate):
		n.Alternate = nil
	case ok && !value && !declaresFunction(n.Consequent):
		n.Consequent = &ast.EmptyStatement{Semicolon: n.If}
	}
}

// pruneLoop takes out the body of a loop with a condition that is never true.
func pruneLoop(test ast.Expression, body *ast.Statement) {
	if value, ok := truth(test); ok && !value && !declaresFunction(*body) {
		*body = &ast.EmptyStatement{Semicolon: (*body).Idx0()}
	}
}

// pruneUnreachable takes out what stands after a break or continue and declares
// nothing.
func pruneUnreachable(list []ast.Statement) []ast.Statement {
	branch := slices.IndexFunc(list, func(s ast.Statement) bool { _, ok := s.(*ast.BranchStatement); return ok })
	if branch < 0 || branch == len(list)-1 {
		return list
	}
	kept := slices.Clone(list[:branch+1])
	for _, s := range list[branch+1:] {
		switch s.(type) {
		case *ast.FunctionDeclaration, *ast.LexicalDeclaration, *ast.ClassDeclaration, *ast.VariableStatement:
			kept = append(kept, s)
		default:
			if declaresFunction(s) {
				kept = append(kept, s)
			}
		}
	}
	return kept
}

// declaresFunction reports whether a block declares functions, which are variables
// outside of it too in sloppy code.
func declaresFunction(s ast.Statement) bool {
	switch s := s.(type) {
	case *ast.FunctionDeclaration:
		return true
	case *ast.BlockStatement:
		for _, s := range s.List {
			if _, ok := s.(*ast.FunctionDeclaration); ok {
				return true
			}
		}
	}
	return false
}

// pruneConditional mends an expression; what is not evaluated becomes null.
func pruneConditional(n *ast.ConditionalExpression) {
	if value, ok := truth(n.Test); ok && value {
		n.Alternate = &ast.NullLiteral{Idx: n.Test.Idx0()}
	} else if ok {
		n.Consequent = &ast.NullLiteral{Idx: n.Test.Idx0()}
	}
}

// pruneLogical mends && and ||.
func pruneLogical(n *ast.BinaryExpression) {
	if n.Operator != token.LOGICAL_AND && n.Operator != token.LOGICAL_OR {
		return
	}
	if value, ok := truth(n.Left); ok && value == (n.Operator == token.LOGICAL_OR) {
		n.Right = &ast.NullLiteral{Idx: n.Left.Idx0()}
	}
}
