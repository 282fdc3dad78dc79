package mend

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/internal/regex"
)

// Some expressions mean something else in goja than in V8. They are replaced in
// the tree between parsing and compiling, so that the text, and with it the
// places in stacks and what Function.prototype.toString answers, stays as it is.
//
//   - new.target: a plain call inherits it from the constructor that the call was
//     made in, however deep. Functions that refuse to be called with `new` (as the
//     AI SDK's providers do) then fail. In functions it also has to ask whether
//     `this` was made by that constructor; in a class's constructor it is right.
//   - Literals that goja does not know or has otherwise (regex.Pattern.Foreign)
//     become constructor calls, as esbuild makes of some: each evaluation makes a
//     new object, as it does for a literal. One that is no pattern is a SyntaxError.
//   - A shift of a BigInt by 2^40 makes goja allocate 2^40 bits, which ends the
//     process; a product or quotient of long ones takes minutes in which nothing
//     stops it. Operators are no functions that could refuse it. What stands on
//     their right goes through a helper that bounds it, unless it is a number as
//     the code stands; where goja's instructions are known, these do it
//     (insides.BoundsOperators). (esbuild turns ** into a call of a helper by itself.)
//   - const f = __name(() => {}, "f"), which esbuild writes to keep the name: goja
//     gives it by itself, and to the function's place in stacks too, where it
//     sees that the function is f.
//   - A class's constructor has no name in stacks; it gets V8's.
//   - super in a field or a static block (mendsuper.go).
//   - var e where e is caught (mendcatch.go).
//   - catch with finally (mendtry.go).
//   - a < b < c (mendrelation.go).
//   - The source of an arrow function lacks the parentheses that its body ends with.
//   - Functions that are defaults of parameters (mendarrow.go).
//   - Elements of patterns that goja's parser does not take (repair.go).
//   - What cannot run (menddead.go).
//   - arguments that arrow functions alone name (mendarguments.go).
//   - v ??= x, and members in patterns (mendassign.go).
//   - a?.m(...xs) (mendchain.go).
//   - delete f() (menddelete.go).
//   - { get a() {}, [k]: 1 } (mendliteral.go).
//   - using and await using (mendusing.go).
//   - await x where x is an object and no promise.

// The helpers: of shifts to the left and to the right, and of *, / and %.
const (
	ShiftLeft  = "$shl"
	ShiftRight = "$shr"
	Factor     = "$mul"
)

// AwaitGuard is the helper of what is awaited: goja asks every object for its
// constructor, not only promises (ECMA-262, section 27.2.4.7.1), and takes one that
// answers with Promise for a promise, which ends in a panic.
const AwaitGuard = "$await"

// bounds names the helper of each operator that has one.
var bounds = map[token.Token]unistring.String{
	token.SHIFT_LEFT: ShiftLeft, token.SHIFT_RIGHT: ShiftRight,
	token.MULTIPLY: Factor, token.SLASH: Factor, token.REMAINDER: Factor,
}

// mayBound looks in esbuild's output for operators of bounds with something else
// than a number on their right. A mistake costs some time, no more.
func mayBound(code string) bool {
	for _, op := range []string{"<<", ">>", " *", " /", " %"} {
		for rest := code; ; {
			i := strings.Index(rest, op)
			if i < 0 {
				break
			}
			rest = strings.TrimPrefix(rest[i+len(op):], "=")
			by, ok := strings.CutPrefix(rest, " ")
			if ok && by != "" && (by[0] < '0' || by[0] > '9' || strings.HasPrefix(strings.TrimLeft(by, "0123456789abcdefABCDEFxXoO_"), "n")) {
				return true
			}
		}
	}
	return false
}

// Unit replaces the expressions in a program that has these helpers in scope. The
// error is a goja.CompilerSyntaxError.
func Unit(program *ast.Program, helpers []string) error {
	has := func(helper string) bool { return slices.Contains(helpers, helper) }
	return mend(program, mender{
		bounds: has(Factor) && !insides.BoundsOperators(), async: has(AsyncFunction), names: has(nameHelper),
		awaits: has(AwaitGuard), members: has(MemberBase), accessors: has(OwnHelper),
		arguments: strings.Contains(program.File.Source(), argumentsName),
	})
}

// mend is Unit; the error is a goja.CompilerSyntaxError.
func mend(program *ast.Program, m mender) (err error) {
	defer func() {
		if x := recover(); x != nil {
			refused, ok := x.(*goja.CompilerSyntaxError)
			if !ok {
				panic(x)
			}
			refused.File, err = program.File, refused
		}
	}()
	groupComparisons(program)
	m.source = program.File.Source()
	descend(program, m, false)
	return nil
}

// mender says which helpers are in scope: those of operators, those of async
// generators, and that of names; and whether the code names arguments.
// It is a visitor whose flag says that the innermost function that is no arrow is a
// class's constructor.
type mender struct {
	bounds, async, names, arguments bool
	awaits, members, accessors      bool
	top                             bool   // in what was a module's top level (transform.go, asyncStage)
	source                          string // of the program
}

func (m mender) slot(e *ast.Expression, exact bool) {
	if element := unwrapElement(*e); element != nil {
		*e = element
	}
	if plain, ok := (*e).(*ast.AssignExpression); ok && m.members {
		if with := plainLogical(plain); with != nil {
			*e = with
		}
	}
	if wrapped := wrapChain(*e); wrapped != nil {
		m.chain(*e, exact)
		*e = wrapped
		return
	}
	if deletion, ok := (*e).(*ast.UnaryExpression); ok {
		if with := evaluateDeleted(deletion); with != nil {
			*e = with
		}
	}
	if with := m.replacement(*e, exact); with != nil {
		*e = with
		return
	}
	m.node(*e, exact)
}

func (m mender) list(l *[]ast.Statement, exact bool) {
	if m.async {
		*l = markDeclarations(*l)
	}
	*l = pruneUnreachable(*l)
	for _, s := range *l {
		m.node(s, exact)
	}
}

func (m mender) node(n ast.Node, exact bool) {
	switch n := n.(type) {
	case *ast.MethodDefinition:
		m.slot(&n.Key, exact)
		m.function(n.Body, n.Kind == ast.PropertyKindMethod && !n.Static && isConstructorKey(n))
		return
	case *ast.FunctionLiteral:
		m.function(n, false)
		return
	case *ast.ClassLiteral:
		nameConstructor(n)
	case *ast.LexicalDeclaration:
		m.unnameAll(n.List)
	case *ast.VariableStatement:
		m.unnameAll(n.List)
	case *ast.IfStatement:
		pruneIf(n)
	case *ast.WhileStatement:
		pruneLoop(n.Test, &n.Body)
	case *ast.ForStatement:
		if n.Test != nil {
			pruneLoop(n.Test, &n.Body)
		}
	case *ast.ConditionalExpression:
		pruneConditional(n)
	case *ast.ArrowFunctionLiteral:
		m.top = false
		closeParentheses(n, m.source)
		if n.Async {
			splitArrow(n)
		}
		m.nameParameters(n.ParameterList)
	case *ast.TryStatement:
		mendUsing(n)
		nestTry(n)
	case *ast.CatchStatement:
		letRedeclare(n)
	case *ast.ClassStaticBlock:
		letSuperInBlock(n)
	case *ast.FieldDefinition:
		letSuper(n)
		if key, ok := n.Key.(*ast.StringLiteral); ok && !n.Computed {
			m.unname(&n.Initializer, key.Value)
		}
	case *ast.PropertyKeyed:
		keepClassName(n)
		if key, ok := n.Key.(*ast.StringLiteral); ok && !n.Computed && n.Kind == ast.PropertyKindValue {
			m.unname(&n.Value, key.Value)
		}
		if method, ok := n.Value.(*ast.FunctionLiteral); ok && n.Kind != ast.PropertyKindValue {
			m.slot(&n.Key, exact)
			if key, ok := n.Key.(*ast.StringLiteral); ok && method.Async && strings.HasSuffix(key.Value.String(), AsyncUnit) {
				m.topLevel(method)
			} else {
				m.function(method, false)
			}
			return
		}
	case *ast.DotExpression:
		if m.async {
			checkResult(n)
		}
	case *ast.BinaryExpression:
		pruneLogical(n)
		if !isNumber(n.Left) { // it takes no BigInt
			m.bound(n.Operator, &n.Right)
		}
	case *ast.AwaitExpression:
		if m.awaits {
			args := []ast.Expression{n.Argument}
			if m.top {
				at := int(n.Await) - 1
				args = append(args, &ast.NumberLiteral{Idx: n.Await, Literal: strconv.Itoa(at), Value: int64(at)})
			}
			guard := call(AwaitGuard, args...)
			guard.LeftParenthesis = n.Await // where V8 has an await in stacks
			n.Argument = guard
		}
	case *ast.CallExpression:
		indirectEval(n)
		if callee, ok := n.Callee.(*ast.OptionalChain); ok { // (a?.m)(): an arrow function would lose what this is
			m.chain(callee, exact)
			for i := range n.ArgumentList {
				m.slot(&n.ArgumentList[i], exact)
			}
			return
		}
	case *ast.ObjectLiteral:
		if m.accessors {
			m.defineComputed(n)
		}
	case *ast.ArrayPattern, *ast.ObjectPattern:
		if m.members {
			checkBases(n)
		}
	case *ast.ForIntoExpression:
		if m.members {
			checkBase(&n.Expression)
		}
	case *ast.AssignExpression:
		if logical[n.Operator] && m.members {
			checkBase(&n.Left)
		}
		m.bound(n.Operator, &n.Right)
		if target, ok := n.Left.(*ast.Identifier); ok && n.Operator == token.ASSIGN {
			m.unname(&n.Right, target.Name)
		}
	}
	descend(n, m, exact)
}

// topLevel is function for what esbuild makes of a module that awaits.
func (m mender) topLevel(n *ast.FunctionLiteral) {
	if m.async {
		mendAsync(n)
	}
	splitChains(&n.Body.List)
	m.top = true
	descend(n, m, false)
}

func (m mender) function(n *ast.FunctionLiteral, exact bool) {
	m.top = false
	m.nameParameters(n.ParameterList)
	if m.async {
		mendAsync(n)
	}
	if m.arguments {
		nameArguments(n)
	}
	if n.Async || n.Generator {
		splitChains(&n.Body.List)
	}
	descend(n, m, exact)
}

// chain visits what is in an optional chain, or in the deletion of one.
func (m mender) chain(e ast.Expression, exact bool) {
	if deletion, ok := e.(*ast.UnaryExpression); ok {
		e = deletion.Operand
	}
	m.slot(&e.(*ast.OptionalChain).Expression, exact)
}

// replacement is what takes the place of a node, or nil.
func (m mender) replacement(node ast.Expression, exact bool) ast.Expression {
	switch n := node.(type) {
	case *ast.MetaProperty:
		if exact || n.Property.Name != "target" {
			return nil
		}
		made := &ast.BinaryExpression{Operator: token.INSTANCEOF, Left: &ast.ThisExpression{Idx: n.Idx}, Right: n, Comparison: true}
		void := &ast.UnaryExpression{Operator: token.VOID, Idx: n.Idx, Operand: &ast.NumberLiteral{Idx: n.Idx, Literal: "0", Value: int64(0)}}
		return &ast.ConditionalExpression{
			Test:       &ast.BinaryExpression{Operator: token.LOGICAL_AND, Left: n, Right: made},
			Consequent: n, Alternate: void,
		}
	case *ast.FunctionLiteral:
		if !m.async || asyncBody(n) == nil {
			return nil
		}
		m.function(n, false)
		return call(AsyncFunction, n)
	case *ast.RegExpLiteral:
		pattern, err := regex.Parse(utf16.Encode([]rune(n.Pattern)), n.Flags)
		if err != nil {
			text := "Invalid regular expression flags"
			if regex.ParseFlags(n.Flags) {
				text = fmt.Sprintf("Invalid regular expression: /%s/%s: %v", n.Pattern, n.Flags, err)
			}
			panic(&goja.CompilerSyntaxError{CompilerError: goja.CompilerError{Message: text, Offset: int(n.Idx) - 1}})
		}
		if !pattern.Foreign() {
			return nil
		}
		text := func(s string) ast.Expression {
			return &ast.StringLiteral{Idx: n.Idx, Value: unistring.NewFromString(s)}
		}
		return &ast.NewExpression{
			New: n.Idx, Callee: &ast.Identifier{Name: "RegExp", Idx: n.Idx},
			ArgumentList: []ast.Expression{text(n.Pattern), text(n.Flags)},
		}
	}
	return nil
}

// nameHelper is esbuild's for the names of functions.
const nameHelper = "__name"

// unnameAll is unname for declarations; what a parameter is without an argument
// gets no name from goja.
func (m mender) unnameAll(list []*ast.Binding) {
	for _, b := range list {
		if target, ok := b.Target.(*ast.Identifier); ok {
			m.unname(&b.Initializer, target.Name)
		}
	}
}

// unname takes the helper of names away from a function that stands where goja
// gives it the same name.
func (m mender) unname(e *ast.Expression, name unistring.String) {
	c, ok := (*e).(*ast.CallExpression)
	if !m.names || !ok || len(c.ArgumentList) != 2 {
		return
	}
	helper, ok := c.Callee.(*ast.Identifier)
	given, isText := c.ArgumentList[1].(*ast.StringLiteral)
	if !ok || helper.Name != nameHelper || !isText || given.Value != name {
		return
	}
	switch fn := c.ArgumentList[0].(type) {
	case *ast.ArrowFunctionLiteral:
		*e = fn
	case *ast.FunctionLiteral:
		if fn.Name == nil && !(m.async && asyncBody(fn) != nil) { // which gets another helper around it
			*e = fn
		}
	}
}

// nameConstructor has the constructor of a class appear in stacks as "new A". No
// code can refer to a name with a space in it.
func nameConstructor(n *ast.ClassLiteral) {
	if n.Name == nil {
		return
	}
	name := n.Name.Name
	for _, element := range n.Body {
		if block, ok := element.(*ast.ClassStaticBlock); ok {
			if kept := keptName(block.Block.List); kept != "" {
				name = kept
			}
		}
	}
	for _, element := range n.Body {
		if method, ok := element.(*ast.MethodDefinition); ok && method.Kind == ast.PropertyKindMethod && !method.Static && isConstructorKey(method) {
			method.Body.Name = &ast.Identifier{Name: "new " + name, Idx: method.Idx}
		}
	}
}

// keptName is the name that esbuild's helper gives back to a class that it has
// renamed, "" if the block is none of its.
func keptName(block []ast.Statement) unistring.String {
	if len(block) != 1 {
		return ""
	}
	statement, ok := block[0].(*ast.ExpressionStatement)
	if !ok {
		return ""
	}
	c, ok := statement.Expression.(*ast.CallExpression)
	if !ok || len(c.ArgumentList) != 2 {
		return ""
	}
	helper, isName := c.Callee.(*ast.Identifier)
	_, isThis := c.ArgumentList[0].(*ast.ThisExpression)
	given, isText := c.ArgumentList[1].(*ast.StringLiteral)
	if !isName || helper.Name != nameHelper || !isThis || !isText {
		return ""
	}
	return given.Value
}

// bound puts the operator's helper, if it has one, around what is on its right. A
// variable that holds a number is spared the call of a factor's helper.
func (m mender) bound(op token.Token, right *ast.Expression) {
	helper := bounds[op]
	if !m.bounds || helper == "" || isNumber(*right) {
		return
	}
	operand, at := *right, (*right).Idx0()
	call := &ast.CallExpression{Callee: &ast.Identifier{Name: helper, Idx: at}, LeftParenthesis: at, ArgumentList: []ast.Expression{operand}}
	*right = call
	if name, ok := operand.(*ast.Identifier); ok && helper == Factor {
		kind := &ast.UnaryExpression{Operator: token.TYPEOF, Idx: at, Operand: name}
		number := &ast.StringLiteral{Idx: at, Value: "number"}
		isOne := &ast.BinaryExpression{Operator: token.STRICT_EQUAL, Left: kind, Right: number, Comparison: true}
		*right = &ast.ConditionalExpression{Test: isOne, Consequent: name, Alternate: call}
	}
}

// isNumber says that the expression is a literal, and not of a BigInt.
func isNumber(e ast.Expression) bool {
	n, ok := e.(*ast.NumberLiteral)
	return ok && !strings.HasSuffix(n.Literal, "n")
}

func isConstructorKey(n *ast.MethodDefinition) bool {
	key, ok := n.Key.(*ast.StringLiteral)
	return ok && !n.Computed && key.Value == "constructor"
}
