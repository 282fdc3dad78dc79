package mend

import "github.com/dop251/goja/ast"

// nestTry makes try { try {} catch {} } finally {} of try {} catch {} finally {}:
// in goja a catch clause catches what the finally block beside it throws, after
// which that block runs again (ECMA-262, section 14.15.3, has them nested).
func nestTry(n *ast.TryStatement) {
	if n.Catch == nil || n.Finally == nil {
		return
	}
	inner := &ast.TryStatement{Try: n.Try, Body: n.Body, Catch: n.Catch}
	n.Body = &ast.BlockStatement{LeftBrace: n.Body.LeftBrace, List: []ast.Statement{inner}, RightBrace: n.Catch.Body.RightBrace}
	n.Catch = nil
}
