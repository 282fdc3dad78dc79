package mend

import (
	"fmt"
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// goja marks on its stack where the arguments of a call with ... begin, before it looks
// at what is called. An optional chain that ends there, as in a?.m(...xs) with a
// undefined, leaves the mark behind, and whatever is evaluated next takes it for a
// value. The same becomes of the undefined that is `this` in a call of what a call
// gives, as in a?.b()(). Such a chain becomes the body of an arrow function that is
// called at once: returning drops what is left. One with an await or a yield, which cannot move into
// another function, is taken apart into conditions:
//
//	($chain0 = a) == null ? void 0 : $chain0.m(...await xs)

// litters reports whether a chain can leave something behind: whether there is a call
// with ..., or of what is no member, behind a ?. of its own.
func litters(e ast.Expression) bool {
	var spread, plain bool
	for link := &e; link != nil; link = before(*link) {
		switch l := (*link).(type) {
		case *ast.CallExpression:
			spread = spread || hasSpread(l.ArgumentList)
			callee := l.Callee
			if o, ok := callee.(*ast.Optional); ok { // which knows about this call
				if spread || plain {
					return true
				}
				callee, link = o.Expression, &l.Callee
			}
			_, calls := callee.(*ast.CallExpression)
			plain = plain || calls
		case *ast.Optional:
			if spread || plain {
				return true
			}
		}
	}
	return false
}

func hasSpread(list []ast.Expression) bool {
	return slices.ContainsFunc(list, func(e ast.Expression) bool {
		_, ok := e.(*ast.SpreadElement)
		return ok
	})
}

// before is the link of a chain that one stands on, nil if it is the first.
func before(e ast.Expression) *ast.Expression {
	switch e := e.(type) {
	case *ast.Optional:
		return &e.Expression
	case *ast.DotExpression:
		return &e.Left
	case *ast.BracketExpression:
		return &e.Left
	case *ast.PrivateDotExpression:
		return &e.Left
	case *ast.CallExpression:
		return &e.Callee
	}
	return nil
}

// wrapChain is the call of an arrow function that answers with the value of a chain, or
// of its deletion; nil for any other expression.
func wrapChain(e ast.Expression) ast.Expression {
	chain, ok := e.(*ast.OptionalChain)
	if deletion, isUnary := e.(*ast.UnaryExpression); isUnary && deletion.Operator == token.DELETE {
		chain, ok = deletion.Operand.(*ast.OptionalChain)
	}
	if !ok || !litters(chain.Expression) {
		return nil
	}
	return callArrow(&ast.ArrowFunctionLiteral{Start: e.Idx0(), Body: &ast.ExpressionBody{Expression: e}})
}

// chainSplitter is a visitor for the body of an async function or a generator that takes
// the chains apart that wrapChain must not have.
type chainSplitter struct{ variables int }

// chainVariable holds what a link of a chain is, and ChainCall calls a method of it.
const (
	chainVariable = "$chain"
	ChainCall     = "$call"
)

// splitChains mends the body of a function.
func splitChains(list *[]ast.Statement) {
	var s chainSplitter
	s.list(list, false)
	if s.variables == 0 {
		return
	}
	names := &ast.LexicalDeclaration{Token: token.LET}
	for i := range s.variables {
		names.List = append(names.List, &ast.Binding{Target: &ast.Identifier{Name: chainName(i)}})
	}
	at := 0 // behind the directives
	for at < len(*list) && isDirective((*list)[at]) {
		at++
	}
	*list = slices.Insert(slices.Clone(*list), at, ast.Statement(names))
}

// splitArrow does that for an async arrow function, whose body may be an expression.
func splitArrow(n *ast.ArrowFunctionLiteral) {
	switch body := n.Body.(type) {
	case *ast.BlockStatement:
		splitChains(&body.List)
	case *ast.ExpressionBody:
		at := body.Expression.Idx0()
		list := []ast.Statement{&ast.ReturnStatement{Return: at, Argument: body.Expression}}
		if splitChains(&list); len(list) > 1 {
			n.Body = &ast.BlockStatement{LeftBrace: at, List: list, RightBrace: at}
		} else {
			body.Expression = list[0].(*ast.ReturnStatement).Argument
		}
	}
}

func chainName(i int) unistring.String {
	return unistring.String(fmt.Sprintf("%s%d", chainVariable, i))
}

func (s *chainSplitter) slot(e *ast.Expression, flag bool) {
	operand, deletes := *e, false
	if u, ok := operand.(*ast.UnaryExpression); ok && u.Operator == token.DELETE {
		operand, deletes = u.Operand, true
	}
	chain, ok := operand.(*ast.OptionalChain)
	if !ok {
		s.node(*e, flag)
		return
	}
	s.node(chain, flag)
	if !litters(chain.Expression) {
		return
	}
	var f suspension
	if f.node(chain, false); !f.found {
		return
	}
	*e = s.split(chain.Expression, deletes)
}

func (s *chainSplitter) node(n ast.Node, flag bool) {
	switch n := n.(type) {
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		return
	case *ast.CallExpression:
		if _, ok := n.Callee.(*ast.OptionalChain); ok { // a mark left behind is never seen: the call fails
			s.node(n.Callee, flag)
			for i := range n.ArgumentList {
				s.slot(&n.ArgumentList[i], flag)
			}
			return
		}
	}
	descend(n, s, flag)
}

func (s *chainSplitter) list(l *[]ast.Statement, flag bool) {
	for _, st := range *l {
		s.node(st, flag)
	}
}

func (s *chainSplitter) variable(at ast.Expression) func() *ast.Identifier {
	name := chainName(s.variables)
	s.variables++
	return func() *ast.Identifier { return &ast.Identifier{Name: name, Idx: at.Idx0()} }
}

func assign(to, value ast.Expression) ast.Expression {
	return &ast.AssignExpression{Operator: token.ASSIGN, Left: to, Right: value}
}

// split is chain without its first ?., and without the others.
func (s *chainSplitter) split(chain ast.Expression, deletes bool) ast.Expression {
	var first, above *ast.Expression // the place of the first ?., and of what stands on it
	for link, last := &chain, (*ast.Expression)(nil); link != nil; link = before(*link) {
		if _, ok := (*link).(*ast.Optional); ok {
			first, above = link, last
		}
		last = link
	}
	if first == nil {
		if deletes {
			return &ast.UnaryExpression{Operator: token.DELETE, Idx: chain.Idx0(), Operand: chain}
		}
		return chain
	}
	value := (*first).(*ast.Optional).Expression
	held := s.variable(value)
	test := assign(held(), value)
	*first = held()
	if method, ok := (*above).(*ast.CallExpression); ok { // o.m?.(): this is o
		var this ast.Expression
		switch m := value.(type) {
		case *ast.DotExpression:
			this = s.hold(&m.Left)
		case *ast.BracketExpression:
			this = s.hold(&m.Left)
		case *ast.PrivateDotExpression:
			this = s.hold(&m.Left)
		}
		if this != nil {
			*above = call(ChainCall, held(), this, &ast.ArrayLiteral{LeftBracket: value.Idx0(), Value: method.ArgumentList})
		}
	}
	absent := ast.Expression(&ast.UnaryExpression{Operator: token.VOID, Idx: value.Idx0(), Operand: &ast.NumberLiteral{Idx: value.Idx0(), Literal: "0", Value: int64(0)}})
	if deletes {
		absent = &ast.BooleanLiteral{Idx: value.Idx0(), Value: true}
	}
	return &ast.ConditionalExpression{
		Test:       &ast.BinaryExpression{Operator: token.EQUAL, Left: test, Right: &ast.NullLiteral{Idx: value.Idx0()}, Comparison: true},
		Consequent: absent, Alternate: s.split(chain, deletes),
	}
}

// hold keeps an object in a variable, and answers with what it is to be had by.
func (s *chainSplitter) hold(of *ast.Expression) ast.Expression {
	switch o := (*of).(type) {
	case *ast.SuperExpression:
		return &ast.ThisExpression{Idx: o.Idx}
	case *ast.ThisExpression:
		return o
	}
	held := s.variable(*of)
	*of = assign(held(), *of)
	return held()
}

// suspension is a visitor that looks for an await or a yield of the same function.
type suspension struct{ found bool }

func (f *suspension) slot(e *ast.Expression, flag bool) { f.node(*e, flag) }

func (f *suspension) node(n ast.Node, flag bool) {
	switch n.(type) {
	case *ast.AwaitExpression, *ast.YieldExpression:
		f.found = true
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
	default:
		if !f.found {
			descend(n, f, flag)
		}
	}
}

func (f *suspension) list(l *[]ast.Statement, flag bool) {
	for _, s := range *l {
		f.node(s, flag)
	}
}
