package mend

import (
	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/token"
)

// esbuild lowers a block with using declarations to
//
//	var _stack = [];
//	try {
//	  const a = __using(_stack, x, true);
//	} catch (_) {
//	  var _error = _, _hasError = true;
//	} finally {
//	  var _promise = __callDispose(_stack, _error, _hasError);
//	  _promise && await _promise;
//	}
//
// Two things are wrong with that. A block that runs again, in a loop, finds the error of
// the time before in its variables. And one promise for all resources is settled a turn
// of the microtask queue late: what stands in for the helper (disposal.js) says what to
// await, one after the other.

// DisposeHelper is esbuild's.
const DisposeHelper = "__callDispose"

// mendUsing mends a try statement, if it is such a block.
func mendUsing(n *ast.TryStatement) {
	if n.Finally == nil || len(n.Finally.List) == 0 || n.Catch == nil {
		return
	}
	var disposal *ast.CallExpression
	switch first := n.Finally.List[0].(type) {
	case *ast.ExpressionStatement:
		disposal = disposalCall(first.Expression)
	case *ast.VariableStatement:
		if len(first.List) == 1 {
			disposal = disposalCall(first.List[0].Initializer)
		}
	}
	if disposal == nil {
		return
	}
	if failed, ok := disposal.ArgumentList[2].(*ast.Identifier); ok {
		again := *failed
		reset := assign(&again, &ast.BooleanLiteral{Idx: failed.Idx})
		n.Body.List = append([]ast.Statement{&ast.ExpressionStatement{Expression: reset}}, n.Body.List...)
	}
	if len(n.Finally.List) == 2 {
		if loop := disposalLoop(n.Finally.List[1]); loop != nil {
			n.Finally.List[1] = loop
		}
	}
}

func disposalCall(e ast.Expression) *ast.CallExpression {
	c, ok := e.(*ast.CallExpression)
	if !ok || len(c.ArgumentList) != 3 {
		return nil
	}
	if callee, ok := c.Callee.(*ast.Identifier); !ok || Name(callee.Name.String()) != DisposeHelper {
		return nil
	}
	return c
}

// disposalLoop is what takes the place of `_promise && await _promise;`.
func disposalLoop(s ast.Statement) ast.Statement {
	statement, ok := s.(*ast.ExpressionStatement)
	if !ok {
		return nil
	}
	and, ok := statement.Expression.(*ast.BinaryExpression)
	if !ok || and.Operator != token.LOGICAL_AND {
		return nil
	}
	name, ok := and.Left.(*ast.Identifier)
	if !ok {
		return nil
	}
	// The await, or what esbuild makes of one in an async generator.
	var awaited *ast.Expression
	switch w := and.Right.(type) {
	case *ast.AwaitExpression:
		awaited = &w.Argument
	case *ast.YieldExpression:
		if made, ok := w.Argument.(*ast.NewExpression); ok && len(made.ArgumentList) == 1 {
			awaited = &made.ArgumentList[0]
		}
	}
	if awaited == nil {
		return nil
	}
	*awaited = &ast.DotExpression{Left: name, Identifier: ast.Identifier{Name: "value", Idx: name.Idx}}
	text := name.Name.String()
	tree, err := goja.Parse("", "while ("+text+") { try { 0; } catch ($error) { "+text+".fail($error); } "+text+" = "+text+".next(); }", parser.WithDisableSourceMaps)
	if err != nil {
		panic("mend: disposalLoop: " + err.Error())
	}
	loop := tree.Body[0].(*ast.WhileStatement)
	attempt := loop.Body.(*ast.BlockStatement).List[0].(*ast.TryStatement)
	attempt.Body.List[0] = &ast.ExpressionStatement{Expression: and.Right}
	return loop
}
