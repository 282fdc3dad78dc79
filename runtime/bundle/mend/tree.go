package mend

import (
	"fmt"

	"github.com/dop251/goja/ast"
)

// goja's ast has no walker of its own, and reflection would take a quarter of the
// time that a bundle takes to compile.

// visitor is told what descend finds. flag is what the visitor gave it.
type visitor interface {
	// slot is a place that holds an expression, never nil. The visitor descends
	// into it, and may put another one there.
	slot(e *ast.Expression, flag bool)
	// node is any other node with nodes below it.
	node(n ast.Node, flag bool)
	// list is what a block, a function, a case or a program consists of.
	list(l *[]ast.Statement, flag bool)
}

// descend tells v about the nodes right below n, in an order of its own. Names are
// no nodes here, unless they stand where an expression may.
func descend(n ast.Node, v visitor, flag bool) {
	d := descent{v: v, flag: flag}
	switch n := n.(type) {
	case *ast.ArrayLiteral:
		d.slots(n.Value)
	case *ast.ArrayPattern:
		d.slots(n.Elements)
		d.slot(&n.Rest)
	case *ast.ArrowFunctionLiteral:
		d.parameters(n.ParameterList)
		d.node(n.Body)
	case *ast.AssignExpression:
		d.slot(&n.Left)
		d.slot(&n.Right)
	case *ast.AwaitExpression:
		d.slot(&n.Argument)
	case *ast.BinaryExpression:
		d.slot(&n.Left)
		d.slot(&n.Right)
	case *ast.Binding:
		d.target(n.Target)
		d.slot(&n.Initializer)
	case *ast.BlockStatement:
		d.block(n)
	case *ast.BracketExpression:
		d.slot(&n.Left)
		d.slot(&n.Member)
	case *ast.CallExpression:
		d.slot(&n.Callee)
		d.slots(n.ArgumentList)
	case *ast.CaseStatement:
		d.slot(&n.Test)
		v.list(&n.Consequent, flag)
	case *ast.CatchStatement:
		d.target(n.Parameter)
		d.block(n.Body)
	case *ast.ClassDeclaration:
		v.node(n.Class, flag)
	case *ast.ClassLiteral:
		d.slot(&n.SuperClass)
		for _, e := range n.Body {
			v.node(e, flag)
		}
	case *ast.ClassStaticBlock:
		d.block(n.Block)
	case *ast.ConditionalExpression:
		d.slot(&n.Test)
		d.slot(&n.Consequent)
		d.slot(&n.Alternate)
	case *ast.DoWhileStatement:
		d.slot(&n.Test)
		d.node(n.Body)
	case *ast.DotExpression:
		d.slot(&n.Left)
	case *ast.ExpressionBody:
		d.slot(&n.Expression)
	case *ast.ExpressionStatement:
		d.slot(&n.Expression)
	case *ast.FieldDefinition:
		d.slot(&n.Key)
		d.slot(&n.Initializer)
	case *ast.ForDeclaration:
		d.target(n.Target)
	case *ast.ForInStatement:
		v.node(n.Into, flag)
		d.slot(&n.Source)
		d.node(n.Body)
	case *ast.ForIntoExpression:
		d.slot(&n.Expression)
	case *ast.ForIntoVar:
		v.node(n.Binding, flag)
	case *ast.ForLoopInitializerExpression:
		d.slot(&n.Expression)
	case *ast.ForLoopInitializerLexicalDecl:
		d.bindings(n.LexicalDeclaration.List)
	case *ast.ForLoopInitializerVarDeclList:
		d.bindings(n.List)
	case *ast.ForOfStatement:
		v.node(n.Into, flag)
		d.slot(&n.Source)
		d.node(n.Body)
	case *ast.ForStatement:
		d.node(n.Initializer)
		d.slot(&n.Test)
		d.slot(&n.Update)
		d.node(n.Body)
	case *ast.FunctionDeclaration:
		v.node(n.Function, flag)
	case *ast.FunctionLiteral:
		d.parameters(n.ParameterList)
		d.block(n.Body)
	case *ast.IfStatement:
		d.slot(&n.Test)
		d.node(n.Consequent)
		d.node(n.Alternate)
	case *ast.LabelledStatement:
		d.node(n.Statement)
	case *ast.LexicalDeclaration:
		d.bindings(n.List)
	case *ast.MethodDefinition:
		d.slot(&n.Key)
		v.node(n.Body, flag)
	case *ast.NewExpression:
		d.slot(&n.Callee)
		d.slots(n.ArgumentList)
	case *ast.ObjectLiteral:
		d.properties(n.Value)
	case *ast.ObjectPattern:
		d.properties(n.Properties)
		d.slot(&n.Rest)
	case *ast.Optional:
		d.slot(&n.Expression)
	case *ast.OptionalChain:
		d.slot(&n.Expression)
	case *ast.ParameterList:
		d.parameters(n)
	case *ast.PrivateDotExpression:
		d.slot(&n.Left)
	case *ast.Program:
		v.list(&n.Body, flag)
	case *ast.PropertyKeyed:
		d.slot(&n.Key)
		d.slot(&n.Value)
	case *ast.PropertyShort:
		d.slot(&n.Initializer)
	case *ast.ReturnStatement:
		d.slot(&n.Argument)
	case *ast.SequenceExpression:
		d.slots(n.Sequence)
	case *ast.SpreadElement:
		d.slot(&n.Expression)
	case *ast.SwitchStatement:
		d.slot(&n.Discriminant)
		for _, c := range n.Body {
			v.node(c, flag)
		}
	case *ast.TemplateLiteral:
		d.slot(&n.Tag)
		d.slots(n.Expressions)
	case *ast.ThrowStatement:
		d.slot(&n.Argument)
	case *ast.TryStatement:
		d.block(n.Body)
		if n.Catch != nil {
			v.node(n.Catch, flag)
		}
		d.block(n.Finally)
	case *ast.UnaryExpression:
		d.slot(&n.Operand)
	case *ast.VariableStatement:
		d.bindings(n.List)
	case *ast.WhileStatement:
		d.slot(&n.Test)
		d.node(n.Body)
	case *ast.WithStatement:
		d.slot(&n.Object)
		d.node(n.Body)
	case *ast.YieldExpression:
		d.slot(&n.Argument)
	case *ast.BadExpression, *ast.BadStatement, *ast.BooleanLiteral, *ast.BranchStatement, *ast.DebuggerStatement,
		*ast.EmptyStatement, *ast.Identifier, *ast.MetaProperty, *ast.NullLiteral, *ast.NumberLiteral, *ast.PrivateIdentifier,
		*ast.RegExpLiteral, *ast.StringLiteral, *ast.SuperExpression, *ast.ThisExpression:
	default:
		panic(fmt.Sprintf("mend: descend: %T", n))
	}
}

// descendAround is descend for what of a class is evaluated where the class stands, with
// the same super: what it extends, and the keys of its members.
func descendAround(n *ast.ClassLiteral, v visitor, flag bool) {
	d := descent{v: v, flag: flag}
	d.slot(&n.SuperClass)
	for _, e := range n.Body {
		switch e := e.(type) {
		case *ast.MethodDefinition:
			d.slot(&e.Key)
		case *ast.FieldDefinition:
			d.slot(&e.Key)
		}
	}
}

// descent is one call of descend.
type descent struct {
	v    visitor
	flag bool
}

func (d descent) slot(e *ast.Expression) {
	if *e != nil {
		d.v.slot(e, d.flag)
	}
}

func (d descent) slots(list []ast.Expression) {
	for i := range list {
		d.slot(&list[i])
	}
}

func (d descent) node(n ast.Node) {
	if n != nil {
		d.v.node(n, d.flag)
	}
}

// target is a name or a pattern.
func (d descent) target(t ast.BindingTarget) {
	if p, ok := t.(ast.Pattern); ok {
		d.v.node(p, d.flag)
	}
}

func (d descent) bindings(list []*ast.Binding) {
	for _, b := range list {
		d.v.node(b, d.flag)
	}
}

func (d descent) properties(list []ast.Property) {
	for _, p := range list {
		d.v.node(p, d.flag)
	}
}

func (d descent) parameters(p *ast.ParameterList) {
	if p != nil {
		d.bindings(p.List)
		d.slot(&p.Rest)
	}
}

func (d descent) block(b *ast.BlockStatement) {
	if b != nil {
		d.v.list(&b.List, d.flag)
	}
}

// Below are what visits the nodes right below one (Visit). Each may be given the same
// tree to descend into; none may be nil.
type Below struct {
	// Slot is a place that holds an expression, never nil; another one may be put there.
	Slot func(e *ast.Expression)
	// Node is any other node with nodes below it.
	Node func(n ast.Node)
	// List is what a block, a function, a case or a program consists of.
	List func(l *[]ast.Statement)
}

// Visit tells b about the nodes right below n, in an order of its own. Names are no
// nodes here, unless they stand where an expression may.
func (b Below) Visit(n ast.Node) { descend(n, below{b}, false) }

// below is a Below as a visitor.
type below struct{ Below }

func (b below) slot(e *ast.Expression, _ bool)  { b.Slot(e) }
func (b below) node(n ast.Node, _ bool)         { b.Node(n) }
func (b below) list(l *[]ast.Statement, _ bool) { b.List(l) }
