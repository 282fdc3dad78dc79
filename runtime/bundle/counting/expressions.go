package counting

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// slot visits an expression, and may put one that counts in its place.
func (in *instrumenter) slot(e *ast.Expression) {
	switch n := (*e).(type) {
	case *ast.ConditionalExpression:
		b := branch{kind: "cond-expr", at: in.span(n)}
		in.slot(&n.Test)
		in.taken(&b, &n.Consequent)
		in.taken(&b, &n.Alternate)
		in.plan.branches = append(in.plan.branches, b)
	case *ast.BinaryExpression:
		if !isLogical(n) {
			in.below.Visit(n)
			return
		}
		b := branch{kind: "binary-expr", at: in.span(n)}
		in.leaves(&b, n)
		in.plan.branches = append(in.plan.branches, b)
	case *ast.ArrowFunctionLiteral:
		in.arrow(n)
	case *ast.CallExpression:
		if enum := enumeration(n); enum != nil {
			in.enumeration(enum)
			return
		}
		in.below.Visit(n)
	default:
		in.node(n)
	}
}

// taken counts a path of a branch.
func (in *instrumenter) taken(b *branch, e *ast.Expression) {
	i, counter := in.counter(*e)
	taken := path{at: in.span(*e), counter: i}
	in.slot(e)
	first(counter, e)
	taken.to = in.plan.Counters
	b.paths = append(b.paths, taken)
	in.extent(taken.at.Start, i)
}

// leaves counts the operands of &&, || and ??, as many as are combined.
func (in *instrumenter) leaves(b *branch, n *ast.BinaryExpression) {
	for _, e := range []*ast.Expression{&n.Left, &n.Right} {
		if inner, ok := (*e).(*ast.BinaryExpression); ok && isLogical(inner) {
			in.leaves(b, inner)
			continue
		}
		in.taken(b, e)
	}
}

func isLogical(n *ast.BinaryExpression) bool {
	return n.Operator == token.LOGICAL_AND || n.Operator == token.LOGICAL_OR || n.Operator == token.COALESCE
}

// defaultOf counts the default of a parameter, or of a part of a pattern, whole with it.
func (in *instrumenter) defaultOf(whole ast.Node, value *ast.Expression) {
	b := branch{kind: "default-arg", at: in.span(whole)}
	in.taken(&b, value)
	in.plan.branches = append(in.plan.branches, b)
}

// pattern visits what a pattern takes apart.
func (in *instrumenter) pattern(n ast.Node) {
	switch n := n.(type) {
	case *ast.ObjectPattern:
		for _, p := range n.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				if p.Initializer != nil {
					in.defaultOf(p, &p.Initializer)
				}
			case *ast.PropertyKeyed:
				if p.Computed {
					in.slot(&p.Key)
				}
				in.element(&p.Value)
			}
		}
		if n.Rest != nil {
			in.element(&n.Rest)
		}
	case *ast.ArrayPattern:
		for i := range n.Elements {
			if n.Elements[i] != nil {
				in.element(&n.Elements[i])
			}
		}
		if n.Rest != nil {
			in.element(&n.Rest)
		}
	}
}

// element visits a part of a pattern.
func (in *instrumenter) element(e *ast.Expression) {
	switch n := (*e).(type) {
	case *ast.AssignExpression:
		if n.Operator == token.ASSIGN {
			in.defaultOf(n, &n.Right)
			in.element(&n.Left)
		}
	case *ast.Binding:
		in.node(n)
	default:
		in.slot(e)
	}
}

// property visits a property of an object; its methods are functions.
func (in *instrumenter) property(n *ast.PropertyKeyed) {
	if n.Computed {
		in.slot(&n.Key)
	}
	method, ok := n.Value.(*ast.FunctionLiteral)
	if !ok || n.Kind == ast.PropertyKindValue {
		in.slot(&n.Value)
		return
	}
	if in.async && isAsyncUnit(n.Key) {
		in.top = true
		in.list(&method.Body.List)
		return
	}
	in.function(method)
}

func (in *instrumenter) function(n *ast.FunctionLiteral) {
	in.functionFrom(n, int(n.Idx0())-in.base)
}

// functionFrom counts a function that begins at start.
func (in *instrumenter) functionFrom(n *ast.FunctionLiteral, start int) {
	for _, b := range n.ParameterList.List {
		in.node(b)
	}
	if n.ParameterList.Rest != nil {
		in.element(&n.ParameterList.Rest)
	}
	f := function{decl: Span{Start: start, End: start + 1}, body: in.span(n.Body)}
	if n.Name != nil {
		f.decl, f.named = in.span(n.Name), true
	}
	body := n.Body
	if inner := asyncGenerator(n); inner != nil {
		body = inner.Body
	}
	in.functionBody(f, body)
}

// functionBody counts a function and its statements, after its directives.
func (in *instrumenter) functionBody(f function, body *ast.BlockStatement) {
	i, counter := in.counter(body)
	f.counter = i
	in.plan.functions = append(in.plan.functions, f)
	in.list(&body.List)
	at := 0
	for at < len(body.List) && isDirective(body.List[at]) {
		at++
	}
	body.List = append(body.List[:at:at], append([]ast.Statement{do(counter)}, body.List[at:]...)...)
}

// arrow counts an arrow function; one that is an expression is a statement too.
func (in *instrumenter) arrow(n *ast.ArrowFunctionLiteral) {
	if body, ok := n.Body.(*ast.ExpressionBody); ok && isImported(body.Expression) {
		return // esbuild's, of import()
	}
	for _, b := range n.ParameterList.List {
		in.node(b)
	}
	if n.ParameterList.Rest != nil {
		in.element(&n.ParameterList.Rest)
	}
	start := int(n.Idx0()) - in.base
	f := function{decl: Span{Start: start, End: start + 1}, body: in.span(n.Body)}
	switch body := n.Body.(type) {
	case *ast.BlockStatement:
		in.functionBody(f, body)
	case *ast.ExpressionBody:
		i, counter := in.counter(body.Expression)
		f.counter = i
		in.plan.functions = append(in.plan.functions, f)
		returned := in.value(body.Expression, nil)
		in.slot(&body.Expression)
		first(returned, &body.Expression)
		first(counter, &body.Expression)
	}
}

// enumeration counts the function that an enum or a namespace is: what it returns is
// none of the source's statements.
func (in *instrumenter) enumeration(n *ast.ArrowFunctionLiteral) {
	body, ok := n.Body.(*ast.BlockStatement)
	if !ok {
		return
	}
	if name, ok := n.ParameterList.List[0].Target.(*ast.Identifier); ok {
		in.namespaces[name.Name] = true
	}
	start := int(n.Idx0()) - in.base
	f := function{decl: Span{Start: start, End: start + 1}, body: in.span(body)}
	var last []ast.Statement
	if end := len(body.List) - 1; end >= 0 {
		if _, ok := body.List[end].(*ast.ReturnStatement); ok {
			body.List, last = body.List[:end], []ast.Statement{body.List[end]}
		}
	}
	in.functionBody(f, body)
	body.List = append(body.List, last...)
}
