package counting

import (
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"

	"minido.dev/minido/runtime/bundle/mend"
)

// What esbuild has added to a file, or has put in the place of syntax that goja lacks.

// helpers are called in statements of esbuild's own.
var helpers = map[string]bool{
	"__name": true, "__export": true, "__reExport": true, "__publicField": true, "__privateAdd": true, "__decorateClass": true,
	"__decorateElement": true, "__decoratorMetadata": true, "__runInitializers": true,
}

// called is the name of the function that e calls, without esbuild's number; "" if e
// calls none, or none with a name.
func called(e ast.Expression) string {
	c, ok := e.(*ast.CallExpression)
	if !ok {
		return ""
	}
	name, ok := c.Callee.(*ast.Identifier)
	if !ok {
		return ""
	}
	return mend.Name(name.Name.String())
}

// isGenerated reports whether a statement that consists of e is esbuild's.
func isGenerated(e ast.Expression) bool {
	if a, ok := e.(*ast.AssignExpression); ok {
		return called(a.Right) == "__toCommonJS" || importedBy(a.Right, "i/")
	}
	return helpers[called(e)] || importedBy(e, "i/")
}

// isModule reports whether a variable is esbuild's: an imported module, the exports, or
// import.meta.
func isModule(b *ast.Binding) bool {
	if name, ok := b.Initializer.(*ast.Identifier); ok {
		target, ok := b.Target.(*ast.Identifier)
		return ok && (name.Name == "exports" && strings.HasSuffix(target.Name.String(), "_exports") || name.Name == "$meta")
	}
	return importedBy(b.Initializer, "i/")
}

// isImported reports whether e is a module that import() has asked for.
func isImported(e ast.Expression) bool { return importedBy(e, "d/") }

// importedBy reports whether e is require(specifier), or __toESM of that, where the
// specifier begins with tag (package bundle, importRef).
func importedBy(e ast.Expression, tag string) bool {
	name := called(e)
	if name == "" {
		return false
	}
	args := e.(*ast.CallExpression).ArgumentList
	switch {
	case len(args) == 0:
		return false
	case name == "__toESM":
		return importedBy(args[0], tag)
	case name == "require":
		spec, ok := args[0].(*ast.StringLiteral)
		return ok && strings.HasPrefix(spec.Value.String(), tag)
	}
	return false
}

// hasName reports whether e gets the name of the variable that it is assigned to.
func hasName(e ast.Expression) bool {
	switch e.(type) {
	case *ast.ArrowFunctionLiteral, *ast.FunctionLiteral, *ast.ClassLiteral:
		return true
	}
	return called(e) == "__name"
}

// unnamed is a function without esbuild's helper around it, and what is none as it is.
func unnamed(e ast.Expression) ast.Expression {
	if called(e) != "__name" {
		return e
	}
	return e.(*ast.CallExpression).ArgumentList[0]
}

// isDirective reports whether a statement is "use strict" or the like, if it is one of
// the first.
func isDirective(s ast.Statement) bool {
	e, ok := s.(*ast.ExpressionStatement)
	if !ok {
		return false
	}
	_, ok = e.Expression.(*ast.StringLiteral)
	return ok
}

// namesOnly reports whether a static block gives its class its name, and does no more.
func namesOnly(list []ast.Statement) bool {
	if len(list) != 1 {
		return false
	}
	e, ok := list[0].(*ast.ExpressionStatement)
	return ok && called(e.Expression) == "__name"
}

// asyncGenerator is the generator that an async generator was made into, nil if n is
// none: function f() { return __asyncGenerator(this, null, function* () {}) }.
func asyncGenerator(n *ast.FunctionLiteral) *ast.FunctionLiteral {
	if len(n.Body.List) != 1 {
		return nil
	}
	returned, ok := n.Body.List[0].(*ast.ReturnStatement)
	if !ok || called(returned.Argument) != "__asyncGenerator" {
		return nil
	}
	args := returned.Argument.(*ast.CallExpression).ArgumentList
	inner, ok := args[len(args)-1].(*ast.FunctionLiteral)
	if !ok {
		return nil
	}
	return inner
}

// awaitingLoop is the loop of for await (const x of y), nil if the try statement is no
// such loop; and its label, if it has one.
func awaitingLoop(n *ast.TryStatement) (label *ast.LabelledStatement, loop *ast.ForStatement) {
	if len(n.Body.List) != 1 || n.Finally == nil {
		return nil, nil
	}
	s := n.Body.List[0]
	if label, _ = s.(*ast.LabelledStatement); label != nil {
		s = label.Statement
	}
	loop, ok := s.(*ast.ForStatement)
	if !ok {
		return nil, nil
	}
	vars, ok := loop.Initializer.(*ast.ForLoopInitializerVarDeclList)
	if !ok || len(vars.List) == 0 || called(vars.List[0].Initializer) != "__forAwait" {
		return nil, nil
	}
	return label, loop
}

// awaitingLoop counts the body of such a loop, which begins with the variable.
func (in *instrumenter) awaitingLoop(n *ast.ForStatement) {
	vars := n.Initializer.(*ast.ForLoopInitializerVarDeclList)
	in.below.Visit(vars.List[0].Initializer)
	body, ok := n.Body.(*ast.BlockStatement)
	if !ok || len(body.List) == 0 {
		return
	}
	variable, rest := body.List[0], body.List[1:]
	in.list(&rest)
	body.List = append([]ast.Statement{variable}, rest...)
}

// isDisposing reports whether a try statement is a block with using declarations.
func isDisposing(s ast.Statement) bool {
	n, ok := s.(*ast.TryStatement)
	if !ok || n.Finally == nil || len(n.Finally.List) == 0 {
		return false
	}
	switch end := n.Finally.List[0].(type) {
	case *ast.ExpressionStatement:
		return called(end.Expression) == mend.DisposeHelper
	case *ast.VariableStatement:
		return called(end.List[0].Initializer) == mend.DisposeHelper
	}
	return false
}

// isStack reports whether a statement declares what such a block keeps its resources in.
func isStack(s ast.Statement) bool {
	n, ok := s.(*ast.VariableStatement)
	if !ok || len(n.List) != 1 {
		return false
	}
	_, ok = n.List[0].Initializer.(*ast.ArrayLiteral)
	return ok
}

// enumeration is the function that an enum or a namespace was made into, nil if n calls
// no such one: ((E) => {})(E || {}).
func enumeration(n *ast.CallExpression) *ast.ArrowFunctionLiteral {
	fn, ok := n.Callee.(*ast.ArrowFunctionLiteral)
	if !ok || len(n.ArgumentList) != 1 || len(fn.ParameterList.List) != 1 {
		return nil
	}
	or, ok := n.ArgumentList[0].(*ast.BinaryExpression)
	if !ok || or.Operator != token.LOGICAL_OR {
		return nil
	}
	switch empty := or.Right.(type) {
	case *ast.ObjectLiteral:
		ok = len(empty.Value) == 0
	case *ast.AssignExpression:
		_, ok = empty.Right.(*ast.ObjectLiteral)
	default:
		ok = false
	}
	if !ok {
		return nil
	}
	return fn
}

// isNamespaceExport reports whether e is Namespace.name = name, which esbuild writes after
// an exported function or class of a namespace.
func isNamespaceExport(e ast.Expression, namespaces map[unistring.String]bool) bool {
	a, ok := e.(*ast.AssignExpression)
	if !ok {
		return false
	}
	member, ok := a.Left.(*ast.DotExpression)
	if !ok {
		return false
	}
	object, named := member.Left.(*ast.Identifier)
	value, same := a.Right.(*ast.Identifier)
	return named && same && namespaces[object.Name] && value.Name == member.Identifier.Name
}

// isAsyncUnit reports whether a method of this name is what a module that awaits at its
// top level was made into.
func isAsyncUnit(key ast.Expression) bool {
	name, ok := key.(*ast.StringLiteral)
	return ok && strings.HasSuffix(name.Value.String(), mend.AsyncUnit)
}

// asyncTop is statement at the top level of such a module. Its variables are declared
// outside of the method, in which their values are assigned.
func (in *instrumenter) asyncTop(out []ast.Statement, s ast.Statement) []ast.Statement {
	switch n := s.(type) {
	case *ast.VariableStatement:
		if name, ok := n.List[0].Target.(*ast.Identifier); ok {
			switch {
			case name.Name == "stdin_default":
				return append(out, s)
			case strings.HasPrefix(name.Name.String(), "init_"+mend.AsyncUnit):
				in.below.Visit(n.List[0].Initializer)
				return append(out, s)
			}
		}
	case *ast.ExpressionStatement:
		a, ok := n.Expression.(*ast.AssignExpression)
		if !ok || a.Operator != token.ASSIGN || isGenerated(a) {
			break
		}
		if name, ok := a.Left.(*ast.Identifier); ok {
			out = append(out, do(in.value(a.Right, name)))
			in.slot(&a.Right)
			return append(out, s)
		}
	}
	return in.statement(out, s)
}
