package counting

import (
	"strconv"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"

	"minido.dev/minido/runtime/bundle/mend"
)

// Instrument puts counters into the program of a unit, which is a function; the
// function gets one more parameter of the given name, an array of numbers. It is
// called before mend.Unit. The text of the program, and with it places in stacks,
// stays as it is.
func Instrument(program *ast.Program, name string) *Plan {
	in := &instrumenter{plan: &Plan{}, namespaces: map[unistring.String]bool{}, name: unistring.String(name), base: program.File.Base(), source: program.File.Source()}
	in.below = mend.Below{Slot: in.slot, Node: in.node, List: in.list}
	in.head = strings.IndexByte(in.source, '\n')
	in.async = strings.Contains(in.source, mend.AsyncUnit)
	if len(program.Body) != 1 {
		return in.plan
	}
	whole, ok := program.Body[0].(*ast.ExpressionStatement)
	if !ok {
		return in.plan
	}
	unit, ok := whole.Expression.(*ast.FunctionLiteral)
	if !ok {
		return in.plan
	}
	unit.ParameterList.List = append(unit.ParameterList.List, &ast.Binding{Target: &ast.Identifier{Name: in.name, Idx: unit.Idx0()}})
	in.top = true
	in.list(&unit.Body.List)
	return in.plan
}

// instrumenter is one call of Instrument.
type instrumenter struct {
	plan   *Plan
	name   unistring.String
	base   int
	source string
	below  mend.Below
	head   int  // where the program's first line ends: it holds helpers
	async  bool // the unit awaits at its top level (mend.AsyncUnit)
	// namespaces are the parameters of the functions that namespaces were made into.
	namespaces map[unistring.String]bool
	top        bool // the list that is visited is the unit's own
}

// span is the place of a node.
func (in *instrumenter) span(n ast.Node) Span {
	s := Span{Start: int(n.Idx0()) - in.base, End: int(n.Idx1()) - in.base}
	if n, ok := n.(*ast.IfStatement); ok {
		s.Test = int(n.Test.Idx0()) - in.base
	}
	return s
}

// counter is the number of a new counter, and the expression that counts.
func (in *instrumenter) counter(at ast.Node) (int, ast.Expression) {
	n, idx := in.plan.Counters, at.Idx0()
	in.plan.Counters++
	return n, &ast.UnaryExpression{Operator: token.INCREMENT, Idx: idx, Postfix: true, Operand: &ast.BracketExpression{
		Left: &ast.Identifier{Name: in.name, Idx: idx}, Member: &ast.NumberLiteral{Idx: idx, Literal: strconv.Itoa(n), Value: int64(n)},
		LeftBracket: idx, RightBracket: idx}}
}

// first has an expression count before it is evaluated.
func first(counter ast.Expression, e *ast.Expression) {
	*e = &ast.SequenceExpression{Sequence: []ast.Expression{counter, *e}}
}

func do(counter ast.Expression) ast.Statement { return &ast.ExpressionStatement{Expression: counter} }

// list counts what a block consists of.
func (in *instrumenter) list(l *[]ast.Statement) {
	top := in.top
	in.top = false
	out := make([]ast.Statement, 0, 2*len(*l))
	directives := true
	for i, s := range *l {
		in.place(s)
		directives = directives && isDirective(s)
		switch {
		case directives, top && int(s.Idx0())-in.base < in.head:
			out = append(out, s)
		case i+1 < len(*l) && isStack(s) && isDisposing((*l)[i+1]):
			out = append(out, s)
		case top && in.async:
			out = in.asyncTop(out, s)
		default:
			out = in.statement(out, s)
		}
	}
	*l = out
}

// place gives an if statement its place, which goja's parser leaves out.
func (in *instrumenter) place(s ast.Statement) {
	n, ok := s.(*ast.IfStatement)
	if !ok {
		return
	}
	if at := strings.LastIndex(in.source[:int(n.Test.Idx0())-in.base], "if"); at >= 0 {
		n.If = file.Idx(at + in.base)
	}
	in.place(n.Alternate)
}

// extent notes a node that begins at start, and whose counters begin with from.
func (in *instrumenter) extent(start, from int) {
	if in.plan.Counters > from {
		in.plan.extents = append(in.plan.extents, extent{start, from, in.plan.Counters})
	}
}

// statement appends a statement to out, after what counts it.
func (in *instrumenter) statement(out []ast.Statement, s ast.Statement) []ast.Statement {
	start, from := int(s.Idx0())-in.base, in.plan.Counters
	out = in.appended(out, s)
	in.extent(start, from)
	return out
}

// appended is statement without its extent.
func (in *instrumenter) appended(out []ast.Statement, s ast.Statement) []ast.Statement {
	switch n := s.(type) {
	case *ast.ExpressionStatement:
		if isGenerated(n.Expression) || isNamespaceExport(n.Expression, in.namespaces) {
			return append(out, s)
		}
	case *ast.BlockStatement:
		in.list(&n.List)
		return append(out, s)
	case *ast.VariableStatement:
		return append(in.declarators(out, n.List), s)
	case *ast.LexicalDeclaration:
		return append(in.declarators(out, n.List), s)
	case *ast.FunctionDeclaration, *ast.ClassDeclaration:
		in.below.Visit(n)
		return append(out, s)
	case *ast.EmptyStatement:
		return append(out, s)
	case *ast.TryStatement:
		if isDisposing(s) {
			in.list(&n.Body.List)
			return append(out, s)
		}
		if label, loop := awaitingLoop(n); loop != nil {
			if label != nil {
				out = append(out, in.counted(label))
			}
			out = append(out, in.counted(loop))
			in.awaitingLoop(loop)
			return append(out, s)
		}
	case *ast.LabelledStatement:
		out = append(out, in.counted(n))
		in.place(n.Statement)
		inner := in.statement(nil, n.Statement)
		last := len(inner) - 1
		n.Statement = inner[last]
		return append(append(out, inner[:last]...), n)
	}
	out = append(out, in.counted(s))
	in.node(s)
	return append(out, s)
}

// counted makes a statement of the plan, and returns what counts it.
func (in *instrumenter) counted(s ast.Statement) ast.Statement {
	i, counter := in.counter(s)
	in.plan.statements = append(in.plan.statements, statement{at: in.span(s), counter: i})
	return do(counter)
}

// value is counted for the value of a variable or a field.
func (in *instrumenter) value(e ast.Expression, name ast.Node) ast.Expression {
	i, counter := in.counter(e)
	s := statement{at: in.span(unnamed(e)), counter: i}
	if name != nil {
		s.name = in.span(name)
		_, s.class = e.(*ast.ClassLiteral)
	}
	in.plan.statements = append(in.plan.statements, s)
	return counter
}

// declarators counts the values of variables. The first is counted in a statement before
// the declaration, and so is each function, which would lose its name otherwise.
func (in *instrumenter) declarators(out []ast.Statement, list []*ast.Binding) []ast.Statement {
	for i, b := range list {
		counter := in.declarator(b)
		switch {
		case counter == nil:
		case i == 0 || hasName(b.Initializer):
			out = append(out, do(counter))
		default:
			first(counter, &b.Initializer)
		}
	}
	return out
}

// declarator visits a variable; the result counts its value, nil without one.
func (in *instrumenter) declarator(b *ast.Binding) (counter ast.Expression) {
	if pattern, ok := b.Target.(ast.Pattern); ok {
		in.node(pattern)
	}
	if b.Initializer == nil || isModule(b) {
		return nil
	}
	counter = in.value(b.Initializer, b.Target)
	in.slot(&b.Initializer)
	return counter
}

// loopVariables counts the values of variables that a for statement declares.
func (in *instrumenter) loopVariables(list []*ast.Binding) {
	for _, b := range list {
		if counter := in.declarator(b); counter != nil {
			first(counter, &b.Initializer)
		}
	}
}

// body counts what a loop or an if consists of, which becomes a block.
func (in *instrumenter) body(s *ast.Statement) *ast.BlockStatement {
	block, ok := (*s).(*ast.BlockStatement)
	if !ok {
		block = &ast.BlockStatement{LeftBrace: (*s).Idx0(), List: []ast.Statement{*s}, RightBrace: (*s).Idx1() - 1}
		*s = block
	}
	in.list(&block.List)
	return block
}

// node visits what lies below a node that is no expression, or one that counts nothing.
func (in *instrumenter) node(n ast.Node) {
	start, from := int(n.Idx0())-in.base, in.plan.Counters
	in.inside(n)
	switch n.(type) {
	case *ast.MethodDefinition, *ast.FieldDefinition, *ast.ClassStaticBlock, *ast.PropertyKeyed:
		in.extent(start, from)
	}
}

// inside is node without its extent.
func (in *instrumenter) inside(n ast.Node) {
	switch n := n.(type) {
	case *ast.IfStatement:
		in.ifStatement(n)
	case *ast.SwitchStatement:
		in.switchStatement(n)
	case *ast.ForStatement:
		in.forStatement(n)
	case *ast.ForInStatement:
		in.loop(n.Into, &n.Source, &n.Body)
	case *ast.ForOfStatement:
		in.loop(n.Into, &n.Source, &n.Body)
	case *ast.WhileStatement:
		in.loop(nil, &n.Test, &n.Body)
	case *ast.DoWhileStatement:
		in.loop(nil, &n.Test, &n.Body)
	case *ast.ForIntoVar:
		if pattern, ok := n.Binding.Target.(ast.Pattern); ok {
			in.node(pattern)
		}
	case *ast.Binding: // a parameter
		if n.Initializer != nil {
			in.defaultOf(n, &n.Initializer)
		}
		if pattern, ok := n.Target.(ast.Pattern); ok {
			in.node(pattern)
		}
	case *ast.ObjectPattern, *ast.ArrayPattern:
		in.pattern(n)
	case *ast.FunctionLiteral:
		in.function(n)
	case *ast.MethodDefinition:
		if n.Computed {
			in.slot(&n.Key)
		}
		in.functionFrom(n.Body, int(n.Idx)-in.base)
	case *ast.FieldDefinition:
		if n.Computed {
			in.slot(&n.Key)
		}
		if n.Initializer != nil {
			counter := in.value(n.Initializer, nil)
			in.slot(&n.Initializer)
			first(counter, &n.Initializer)
		}
	case *ast.ClassStaticBlock:
		if !namesOnly(n.Block.List) {
			in.list(&n.Block.List)
		}
	case *ast.PropertyKeyed:
		in.property(n)
	default:
		in.below.Visit(n)
	}
}

func (in *instrumenter) loop(into ast.Node, head *ast.Expression, body *ast.Statement) {
	if into != nil {
		in.node(into)
	}
	in.slot(head)
	in.body(body)
}

func (in *instrumenter) forStatement(n *ast.ForStatement) {
	switch init := n.Initializer.(type) {
	case *ast.ForLoopInitializerVarDeclList:
		in.loopVariables(init.List)
	case *ast.ForLoopInitializerLexicalDecl:
		in.loopVariables(init.LexicalDeclaration.List)
	case *ast.ForLoopInitializerExpression:
		in.slot(&init.Expression)
	}
	for _, e := range []*ast.Expression{&n.Test, &n.Update} {
		if *e != nil {
			in.slot(e)
		}
	}
	in.body(&n.Body)
}

func (in *instrumenter) ifStatement(n *ast.IfStatement) {
	b := branch{kind: "if", at: in.span(n)}
	in.slot(&n.Test)
	i, counter := in.counter(n)
	b.paths = append(b.paths, path{at: b.at, counter: i})
	then := in.body(&n.Consequent)
	b.paths[0].to = in.plan.Counters
	then.List = append([]ast.Statement{do(counter)}, then.List...)
	otherwise := path{absent: n.Alternate == nil}
	if n.Alternate == nil {
		n.Alternate = &ast.BlockStatement{LeftBrace: n.Idx0(), RightBrace: n.Idx0()}
	} else {
		otherwise.at = in.span(n.Alternate)
	}
	otherwise.counter, counter = in.counter(n.Alternate)
	block := in.body(&n.Alternate)
	otherwise.to = in.plan.Counters
	block.List = append([]ast.Statement{do(counter)}, block.List...)
	b.paths = append(b.paths, otherwise)
	in.plan.branches = append(in.plan.branches, b)
}

func (in *instrumenter) switchStatement(n *ast.SwitchStatement) {
	in.slot(&n.Discriminant)
	b := branch{kind: "switch", at: in.span(n)}
	for _, c := range n.Body {
		at := Span{Start: int(c.Case) - in.base, End: int(c.Case) - in.base + len("default:")}
		if len(c.Consequent) > 0 {
			at.End = int(c.Idx1()) - in.base
		} else if c.Test != nil {
			at.End = int(c.Test.Idx1()) - in.base + len(":")
		}
		if c.Test != nil {
			in.slot(&c.Test)
		}
		i, counter := in.counter(&ast.EmptyStatement{Semicolon: c.Case})
		in.list(&c.Consequent)
		c.Consequent = append([]ast.Statement{do(counter)}, c.Consequent...)
		b.paths = append(b.paths, path{at: at, counter: i, to: in.plan.Counters})
		in.extent(at.Start, i)
	}
	if len(b.paths) > 0 {
		in.plan.branches = append(in.plan.branches, b)
	}
}
