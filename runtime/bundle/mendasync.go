package bundle

import (
	"reflect"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/unistring"
)

// esbuild lowers an async generator to a function that answers with
// __asyncGenerator(this, arguments, function*() {...}), and puts __yieldStar
// around what any generator delegates to, where only the async ones need it. Four
// things are lost on the way and given back here: a `return x` awaits x where it stands; `super`
// means the method's, not the inner function's; the function inherits from
// %AsyncGeneratorFunction.prototype%; and what an iterator answers in `for await`
// has to be an object.

// The helpers of generators.js, by what asks for them.
const (
	asyncGenerator = "__asyncGenerator"
	awaitResult    = "$result"
	awaitReturn    = "$return"
	asyncFunction  = "$async"
	delegation     = "$delegate"
	superOf        = "$super" // declared where it is needed
)

// hasAsync reports whether a unit holds what this file mends.
func hasAsync(code string) bool {
	return strings.Contains(code, asyncGenerator) || strings.Contains(code, "__forAwait")
}

// asyncBody is the inner function of what was an async generator, or nil.
func asyncBody(n *ast.FunctionLiteral) *ast.FunctionLiteral {
	if n == nil || n.Body == nil || len(n.Body.List) == 0 {
		return nil
	}
	last, ok := n.Body.List[len(n.Body.List)-1].(*ast.ReturnStatement)
	if !ok {
		return nil
	}
	call, ok := last.Argument.(*ast.CallExpression)
	if !ok || len(call.ArgumentList) != 3 {
		return nil
	}
	callee, ok := call.Callee.(*ast.Identifier)
	if !ok || helperName(callee.Name.String()) != asyncGenerator {
		return nil
	}
	body, _ := call.ArgumentList[2].(*ast.FunctionLiteral)
	return body
}

func call(name unistring.String, args ...ast.Expression) *ast.CallExpression {
	at := args[0].Idx0()
	return &ast.CallExpression{Callee: &ast.Identifier{Name: name, Idx: at}, LeftParenthesis: at, ArgumentList: args}
}

// mendAsync mends the function n if it was an async generator.
func mendAsync(n *ast.FunctionLiteral) {
	body := asyncBody(n)
	if body == nil {
		return
	}
	usesSuper := false
	rewrite(reflect.ValueOf(body.Body), true, func(node any, own bool) any {
		switch x := node.(type) {
		case *ast.ReturnStatement:
			if own && x.Argument != nil {
				x.Argument = &ast.YieldExpression{Yield: x.Return, Argument: call(awaitReturn, x.Argument)}
			}
		case *ast.YieldExpression:
			if star, ok := x.Argument.(*ast.CallExpression); ok && x.Delegate && own {
				star.Callee = &ast.Identifier{Name: delegation, Idx: star.Callee.Idx0()}
			}
		case *ast.CallExpression:
			if member := superMember(x.Callee); member != nil {
				usesSuper = true
				at := x.Idx0()
				x.ArgumentList = append([]ast.Expression{&ast.ThisExpression{Idx: at}}, x.ArgumentList...)
				x.Callee = &ast.DotExpression{Left: call(superOf, member), Identifier: ast.Identifier{Name: "call", Idx: at}}
			}
		case ast.Expression:
			if member := superMember(x); member != nil {
				usesSuper = true
				return call(superOf, member)
			}
		}
		return nil
	})
	if usesSuper {
		n.Body.List = append([]ast.Statement{superDeclaration()}, n.Body.List...)
	}
}

// superMember is the key of super.key or super[key], or nil.
func superMember(e ast.Expression) ast.Expression {
	switch x := e.(type) {
	case *ast.DotExpression:
		if s, ok := x.Left.(*ast.SuperExpression); ok {
			return &ast.StringLiteral{Idx: s.Idx, Value: x.Identifier.Name}
		}
	case *ast.BracketExpression:
		if _, ok := x.Left.(*ast.SuperExpression); ok {
			return x.Member
		}
	}
	return nil
}

// superDeclaration is `const $super = (key) => super[key];`.
func superDeclaration() ast.Statement {
	tree, err := goja.Parse("", "({ m() { const "+superOf+" = (key) => super[key]; } })", parser.WithDisableSourceMaps)
	if err != nil {
		panic("bundle: superDeclaration: " + err.Error())
	}
	object := tree.Body[0].(*ast.ExpressionStatement).Expression.(*ast.ObjectLiteral)
	return object.Value[0].(*ast.PropertyKeyed).Value.(*ast.FunctionLiteral).Body.List[0]
}

// rewrite asks replace about every node below v that has the same super as v; own
// says that it is in the same function, too. What replace answers takes the
// node's place.
func rewrite(v reflect.Value, own bool, replace func(node any, own bool) any) {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		if with := replace(v.Interface(), own); with != nil {
			v.Set(reflect.ValueOf(with))
			return
		}
		rewrite(v.Elem(), own, replace)
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		switch v.Interface().(type) {
		case *ast.FunctionLiteral, *ast.ClassLiteral:
			return
		case *ast.ArrowFunctionLiteral:
			own = false
		}
		rewrite(v.Elem(), own, replace)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Name != "DeclarationList" && f.IsExported() {
				rewrite(v.Field(i), own, replace)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			for i := range v.Len() {
				rewrite(v.Index(i), own, replace)
			}
		}
	}
}

// markDeclarations puts `$async(name)` before the statements of a block for each
// function declared among them that was an async generator.
func markDeclarations(list []ast.Statement) []ast.Statement {
	var marks []ast.Statement
	for _, s := range list {
		if d, ok := s.(*ast.FunctionDeclaration); ok && asyncBody(d.Function) != nil {
			marks = append(marks, &ast.ExpressionStatement{Expression: call(asyncFunction, &ast.Identifier{Name: d.Function.Name.Name, Idx: d.Function.Name.Idx})})
		}
	}
	if marks == nil {
		return list
	}
	return append(marks, list...)
}

// checkResult puts $result around `temp = await iter.next()` in the head of what
// was a for await: n is `(temp = ...).done`.
func checkResult(n *ast.DotExpression) {
	if n.Identifier.Name != "done" {
		return
	}
	assign, ok := n.Left.(*ast.AssignExpression)
	if !ok {
		return
	}
	right := assign.Right
	switch x := right.(type) {
	case *ast.AwaitExpression:
		right = x.Argument
	case *ast.YieldExpression:
		if made, ok := x.Argument.(*ast.NewExpression); ok && len(made.ArgumentList) == 1 {
			right = made.ArgumentList[0]
		}
	}
	next, ok := right.(*ast.CallExpression)
	if !ok {
		return
	}
	if member, ok := next.Callee.(*ast.DotExpression); ok && member.Identifier.Name == "next" {
		if it, ok := member.Left.(*ast.Identifier); ok && strings.HasPrefix(it.Name.String(), "iter") {
			n.Left = call(awaitResult, assign)
		}
	}
}
