package mend

import (
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/token"
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
	AsyncGenerator = "__asyncGenerator"
	AwaitResult    = "$result"
	AwaitReturn    = "$return"
	AsyncFunction  = "$async"
	Delegation     = "$delegate"
	superOf        = "$super" // declared where it is needed, and so is:
	superRef       = "$superRef"
)

// hasAsync reports whether a unit holds what this file mends.
func hasAsync(code string) bool {
	return strings.Contains(code, AsyncGenerator) || strings.Contains(code, "__forAwait")
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
	if !ok || Name(callee.Name.String()) != AsyncGenerator {
		return nil
	}
	body, _ := call.ArgumentList[2].(*ast.FunctionLiteral)
	return body
}

// isNamelessAsync reports whether e was an async generator without a name.
func isNamelessAsync(e ast.Expression) bool {
	fn, ok := e.(*ast.FunctionLiteral)
	return ok && fn.Name == nil && asyncBody(fn) != nil
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
	r := asyncRewriter{}
	if body.ParameterList != nil {
		descend(body.ParameterList, &r, true)
	}
	descend(body.Body, &r, true)
	if r.usesSuper {
		n.Body.List = append(superDeclarations(), n.Body.List...)
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

// superDeclarations declare what stands for super[key]: $super(key) where it is read,
// $superRef(key)._ where it is assigned to.
func superDeclarations() []ast.Statement {
	tree, err := goja.Parse("", `({ m() {
		const `+superOf+` = (key) => super[key];
		const `+superRef+` = (key, get = () => super[key], set = (value) => { super[key] = value; }) => ({ get _() { return get(); }, set _(value) { set(value); } });
	} })`, parser.WithDisableSourceMaps)
	if err != nil {
		panic("mend: superDeclarations: " + err.Error())
	}
	object := tree.Body[0].(*ast.ExpressionStatement).Expression.(*ast.ObjectLiteral)
	return object.Value[0].(*ast.PropertyKeyed).Value.(*ast.FunctionLiteral).Body.List
}

// asyncRewriter visits what has the same super as the body of an async generator;
// its flag says that it is in the same function, too.
type asyncRewriter struct{ usesSuper bool }

func (r *asyncRewriter) slot(e *ast.Expression, own bool) {
	if x, ok := (*e).(*ast.CallExpression); ok {
		if member := superMember(x.Callee); member != nil {
			r.usesSuper = true
			at := x.Idx0()
			x.ArgumentList = append([]ast.Expression{&ast.ThisExpression{Idx: at}}, x.ArgumentList...)
			x.Callee = &ast.DotExpression{Left: call(superOf, member), Identifier: ast.Identifier{Name: "call", Idx: at}}
		}
	} else if member := superMember(*e); member != nil {
		r.usesSuper = true
		*e = call(superOf, member)
	}
	r.node(*e, own)
}

// target is what something is assigned to.
func (r *asyncRewriter) target(e *ast.Expression) {
	if member := superMember(*e); member != nil {
		r.usesSuper = true
		*e = &ast.DotExpression{Left: call(superRef, member), Identifier: ast.Identifier{Name: "_", Idx: member.Idx0()}}
	}
}

// targets are those of a node.
func (r *asyncRewriter) targets(n ast.Node) {
	switch x := n.(type) {
	case *ast.AssignExpression:
		r.target(&x.Left)
	case *ast.UnaryExpression:
		if x.Operator == token.INCREMENT || x.Operator == token.DECREMENT {
			r.target(&x.Operand)
		}
	case *ast.ForIntoExpression:
		r.target(&x.Expression)
	case *ast.ArrayPattern:
		for i := range x.Elements {
			r.target(&x.Elements[i])
		}
		r.target(&x.Rest)
	case *ast.ObjectPattern:
		for _, p := range x.Properties {
			if keyed, ok := p.(*ast.PropertyKeyed); ok {
				r.target(&keyed.Value)
			}
		}
		r.target(&x.Rest)
	}
}

func (r *asyncRewriter) list(l *[]ast.Statement, own bool) {
	for _, s := range *l {
		r.node(s, own)
	}
}

func (r *asyncRewriter) node(n ast.Node, own bool) {
	r.targets(n)
	switch x := n.(type) {
	case *ast.FunctionLiteral:
		return
	case *ast.ClassLiteral:
		descendAround(x, r, own)
		return
	case *ast.ArrowFunctionLiteral:
		own = false
	case *ast.ReturnStatement:
		if own && x.Argument != nil {
			x.Argument = &ast.YieldExpression{Yield: x.Return, Argument: call(AwaitReturn, x.Argument)}
		}
	case *ast.YieldExpression:
		if star, ok := x.Argument.(*ast.CallExpression); ok && x.Delegate && own {
			star.Callee = &ast.Identifier{Name: Delegation, Idx: star.Callee.Idx0()}
		}
	}
	descend(n, r, own)
}

// markDeclarations puts `$async(name)` before the statements of a block for each
// function declared among them that was an async generator.
func markDeclarations(list []ast.Statement) []ast.Statement {
	var marks []ast.Statement
	for _, s := range list {
		if d, ok := s.(*ast.FunctionDeclaration); ok && asyncBody(d.Function) != nil {
			marks = append(marks, &ast.ExpressionStatement{Expression: call(AsyncFunction, &ast.Identifier{Name: d.Function.Name.Name, Idx: d.Function.Name.Idx})})
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
			n.Left = call(AwaitResult, assign)
		}
	}
}
