package syntax

import (
	"fmt"
	"strings"
)

// expr is an expression that may stand anywhere: a primary one, or in parentheses.
func (g *generator) expr() string {
	if g.budget--; g.budget < 0 || g.depth > 4 {
		return g.leaf()
	}
	g.depth++
	defer func() { g.depth-- }()
	if g.canAwait() && g.chance(5) {
		return g.await()
	}
	if g.canYield() && g.chance(5) {
		return g.yield()
	}
	forms := []func() string{
		g.leaf, g.leaf, g.leaf, g.trace, g.trace, g.assignment, g.assignment, g.logicalAssignment, g.logicalAssignment, g.update, g.binary, g.logical,
		g.conditional, g.sequence, g.unary, g.template, g.chain, g.chain, g.call, g.call, g.array, g.object, g.functionExpression,
		g.classExpression, g.member, g.run, g.destructuring,
	}
	return forms[g.n(len(forms))]()
}

func (g *generator) leaf() string {
	switch g.n(4) {
	case 0:
		return g.pick("0", "1", "2", `"s"`, `""`, "null", "undefined", "true", "(-1)", "NaN")
	case 1:
		return "t(" + g.mark() + ", " + g.pick("1", "2", `"x"`, "undefined", "null", "0") + ")"
	default:
		if name := g.variable(is(anything)); name != "" {
			return name
		}
		return "3"
	}
}

func (g *generator) trace() string { return "t(" + g.mark() + ", " + g.expr() + ")" }

func (g *generator) await() string {
	switch g.n(8) {
	case 0:
		return "(await " + g.expr() + ")"
	case 1:
		return "(await r(" + g.mark() + "))"
	case 2:
		if name := g.variable(is(asyncFunction)); name != "" {
			return "(await " + name + g.arguments() + ")"
		}
	case 3:
		if name := g.variable(is(asyncGeneratorOf)); name != "" {
			return "(await adrain(" + name + g.arguments() + "))"
		}
	case 4:
		return "(await (async " + g.function(scope{async: true, arrow: true}) + ")" + g.arguments() + ")"
	case 5:
		return "(await Promise.all([p(" + g.expr() + "), p(" + g.expr() + ")]))"
	}
	return "(await p(" + g.expr() + "))"
}

func (g *generator) yield() string {
	switch g.n(6) {
	case 0:
		if g.scope.async && g.chance(2) {
			return "(yield* " + g.asyncIterable() + ")"
		}
		return "(yield* " + g.iterable() + ")"
	case 1:
		return "(yield)"
	}
	return "(yield " + g.expr() + ")"
}

// assignable is the left side of an assignment.
func (g *generator) assignable() string {
	switch g.n(9) {
	case 0:
		return "O." + g.pick("a", "b", "c", "d")
	case 1:
		return "O[" + g.key() + "]"
	case 2:
		return "O.n." + g.pick("q", "w")
	case 3:
		return "xs[" + g.key() + "]"
	case 4:
		if g.scope.private {
			return "this.#" + g.pick("p", "acc")
		}
	case 5:
		if g.scope.super {
			return g.pick("super.g", "super[t("+g.mark()+", \"g\")]", "this.g")
		}
	}
	if name := g.variable(mutable); name != "" {
		return name
	}
	return "O.a"
}

// key is a computed one that is a string already: goja converts keys before it looks
// at what has the member.
func (g *generator) key() string { return "`${" + g.expr() + "}`" }

func (g *generator) assignment() string {
	op := g.pick("=", "=", "=", "+=", "-=", "*=", "/=", "%=", "**=", "<<=", ">>=", ">>>=", "&=", "|=", "^=")
	target := g.assignable
	if op == "**=" { // esbuild looks a member's object up again behind the key
		target = func() string { return g.pick("O.a", "O.n.q", "v") }
	}
	return "(" + target() + " " + op + " " + g.expr() + ")"
}

func (g *generator) logicalAssignment() string {
	return "(" + g.assignable() + " " + g.pick("??=", "||=", "&&=") + " " + g.expr() + ")"
}

func (g *generator) update() string {
	if g.chance(2) {
		return "(" + g.pick("++", "--") + g.assignable() + ")"
	}
	return "(" + g.assignable() + g.pick("++", "--") + ")"
}

func (g *generator) binary() string {
	op := g.pick("+", "-", "*", "/", "%", "**", "<<", ">>", ">>>", "&", "|", "^", "==", "!=", "===", "!==", "<", ">", "<=", ">=", "in", "instanceof")
	switch op {
	case "in":
		if g.scope.private && g.chance(3) {
			return "(#p in " + g.pick("this", g.object()) + ")"
		}
		return "(" + g.expr() + " in " + g.object() + ")"
	case "instanceof":
		return "(" + g.expr() + " instanceof Base)"
	}
	return "(" + g.expr() + " " + op + " " + g.expr() + ")"
}

func (g *generator) logical() string {
	op := g.pick("&&", "||", "??")
	if g.chance(3) {
		return "(" + g.expr() + " " + op + " " + g.expr() + " " + op + " " + g.expr() + ")"
	}
	return "(" + g.expr() + " " + op + " " + g.expr() + ")"
}

func (g *generator) conditional() string {
	return "(" + g.expr() + " ? " + g.expr() + " : " + g.expr() + ")"
}

func (g *generator) sequence() string {
	return "(" + g.expr() + ", " + g.expr() + ")"
}

func (g *generator) unary() string {
	switch op := g.pick("-", "+", "!", "~", "typeof ", "void ", "delete "); op {
	case "delete ":
		return "(delete O[" + g.expr() + "])"
	default:
		if op == "-" {
			op = "- +" // goja converts an object twice for -
		}
		return "(" + op + g.expr() + ")"
	}
}

func (g *generator) template() string {
	text := "`" + g.pick("", "a") + "${" + g.expr() + "}" + g.pick("", "b") + "${" + g.expr() + "}" + g.pick("", "c") + "`"
	if g.chance(2) {
		return g.tagged() + text
	}
	return text
}

func (g *generator) tagged() string {
	if g.canAwait() && g.chance(3) {
		return "(await p(tag))"
	}
	return g.pick("tag", "O.m", "tag")
}

func (g *generator) chain() string {
	base := g.pick("O", "O.n", "v", "O.b", "O?.c", "w")
	if g.chance(3) {
		base = "(" + g.expr() + ")"
	}
	text := base
	for range 1 + g.n(3) {
		switch g.n(6) {
		case 0:
			text += "?." + g.pick("a", "n", "m", "q", "length")
		case 1:
			text += "?.[" + g.key() + "]"
		case 2:
			text += "?." + g.arguments()
		case 3:
			text += "?.m" + g.pick("", "?.") + g.arguments()
		case 4:
			text += "." + g.pick("a", "n", "q")
		case 5:
			text += "[" + g.key() + "]"
		}
	}
	if !strings.Contains(text, "?.") {
		text += "?.a"
	}
	if g.chance(5) {
		return "(delete " + text + "?.a)"
	}
	return "(" + text + ")"
}

func (g *generator) member() string {
	switch g.n(6) {
	case 0:
		if g.scope.super {
			return g.pick("super.g", "super.m"+g.arguments(), "super[t("+g.mark()+", \"m\")]"+g.arguments())
		}
	case 1:
		if g.scope.private {
			return g.pick("this.#p", "this.#acc", "this.#m"+g.arguments(), "this?.#p")
		}
	case 2:
		return "O[" + g.key() + "]"
	case 3:
		return "xs[" + g.key() + "]"
	case 4:
		if !g.scope.arrow && g.scope.function && !g.scope.plain && g.scope.outer != nil {
			return g.pick("arguments.length", "new.target", "arguments[0]")
		}
	}
	return "O." + g.pick("a", "b", "c", "d", "n")
}

func (g *generator) call() string {
	switch g.n(9) {
	case 0:
		return "O.m" + g.arguments()
	case 1:
		return "new Base" + g.arguments()
	case 2:
		return "O[" + g.pick(`"m"`, "t("+g.mark()+`, "m")`) + "]" + g.arguments()
	case 3:
		if name := g.variable(is(function)); name != "" {
			return g.pick("", "new ") + name + g.arguments()
		}
	case 4:
		if name := g.variable(is(class)); name != "" {
			return "new " + name + g.arguments()
		}
	case 5:
		if name := g.variable(is(generatorOf)); name != "" {
			return "drain(" + name + g.arguments() + ")"
		}
	case 6:
		if name := g.variable(is(asyncFunction)); name != "" {
			return name + g.arguments() + ".then((x) => log(" + g.mark() + ", x), (e) => log(" + g.mark() + ", e))"
		}
	case 7:
		return "(" + g.expr() + ", O.m)" + g.arguments()
	}
	return "f" + g.arguments()
}

func (g *generator) array() string {
	var list []string
	for range g.n(4) {
		switch g.n(5) {
		case 0:
			list = append(list, "..."+g.iterable())
		case 1:
			list = append(list, "")
		default:
			list = append(list, g.expr())
		}
	}
	return "[" + strings.Join(list, ", ") + "]"
}

func (g *generator) object() string {
	if g.chance(3) {
		return "O"
	}
	var list []string
	for range g.n(4) {
		key := g.pick("a", "b", "q", `"s t"`, "1", "[t("+g.mark()+", \"c\")]", "["+g.expr()+"]")
		switch g.n(8) {
		case 0:
			list = append(list, "..."+g.pick("O.n", "{ z: "+g.expr()+" }", g.expr()))
		case 1:
			list = append(list, "get "+key+"() { return "+g.within(scope{function: true, super: true}, g.leaf)+"; }")
		case 2:
			list = append(list, key+g.function(scope{super: true}))
		case 3:
			list = append(list, "async "+key+g.function(scope{super: true, async: true}))
		case 4:
			if name := g.variable(is(anything)); name != "" {
				list = append(list, name)
			}
		default:
			list = append(list, key+": "+g.expr())
		}
	}
	return "({ " + strings.Join(list, ", ") + " })"
}

func (g *generator) iterable() string {
	switch g.n(6) {
	case 0:
		return g.array()
	case 1:
		if name := g.variable(is(generatorOf)); name != "" {
			return name + g.arguments()
		}
	case 2:
		return "(function*" + g.function(scope{generator: true}) + ")()"
	case 3:
		return "t(" + g.mark() + ", [" + g.expr() + ", undefined, 3])"
	}
	return "it(" + g.mark() + ", " + g.expr() + ", " + g.pick("undefined", "2", "[1, 2]", "O") + ")"
}

func (g *generator) asyncIterable() string {
	switch g.n(5) {
	case 0:
		return g.iterable()
	case 1:
		if name := g.variable(is(asyncGeneratorOf)); name != "" {
			return name + g.arguments()
		}
	case 2:
		return "(async function*" + g.function(scope{generator: true, async: true}) + ")()"
	}
	return "ai(" + g.mark() + ", " + g.expr() + ", " + g.pick("undefined", "2", "O") + ")"
}

func (g *generator) functionExpression() string {
	switch g.n(6) {
	case 0:
		return "(" + g.function(scope{arrow: true}) + ")"
	case 1:
		return "(function " + g.function(scope{}) + ")"
	case 2:
		return "(async function " + g.function(scope{async: true}) + ")"
	case 3:
		return "(async " + g.function(scope{async: true, arrow: true}) + ")"
	case 4:
		return "(function* " + g.function(scope{generator: true}) + ")"
	}
	return "(async function* " + g.function(scope{generator: true, async: true}) + ")"
}

// run calls a function expression at once.
func (g *generator) run() string {
	switch g.n(5) {
	case 0:
		return "(" + g.function(scope{arrow: true}) + ")" + g.arguments()
	case 1:
		return "(function " + g.function(scope{}) + ").call(" + g.expr() + ")"
	case 2:
		return "drain((function* " + g.function(scope{generator: true}) + ")" + g.arguments() + ")"
	case 3:
		return "(async function " + g.function(scope{async: true}) + ")" + g.arguments() + ".then((x) => log(" + g.mark() + ", x), (e) => log(" + g.mark() + ", e))"
	}
	return "adrain((async function* " + g.function(scope{generator: true, async: true}) + ")" + g.arguments() + ").then((x) => log(" + g.mark() + ", x), (e) => log(" + g.mark() + ", e))"
}

func (g *generator) destructuring() string {
	pattern := g.pattern(2, g.assignable)
	return "(" + pattern + " = " + g.source(pattern) + ")"
}

// pattern is an array or object pattern over what leaf gives.
func (g *generator) pattern(depth int, leaf func() string) string {
	element := func() string {
		text := ""
		if depth > 0 && g.chance(4) {
			text = g.pattern(depth-1, leaf)
			return text + " = " + g.source(text)
		}
		text = leaf()
		if g.chance(2) {
			text += " = " + g.expr()
		}
		return text
	}
	var list []string
	if g.chance(2) {
		for range g.n(4) {
			if g.chance(5) {
				list = append(list, "")
			} else {
				list = append(list, element())
			}
		}
		if g.chance(4) {
			list = append(list, "..."+leaf())
		} else if len(list) > 0 && list[len(list)-1] == "" {
			list = append(list, element())
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	for range g.n(3) {
		key := g.pick("a", "b", "c", "[t("+g.mark()+", \"a\")]", "["+g.expr()+"]")
		list = append(list, key+": "+element())
	}
	if g.chance(4) {
		list = append(list, "..."+leaf())
	}
	return "{ " + strings.Join(list, ", ") + " }"
}

func (g *generator) classExpression() string {
	text := "(class" + g.pick("", " N") + g.class() + ")"
	switch g.n(4) {
	case 0:
		return text
	case 1:
		return "(new " + text + g.arguments() + ")"
	}
	return "(new " + text + g.arguments() + ".run" + g.arguments() + ")"
}

// class is what follows a class's name.
func (g *generator) class() string {
	heritage := ""
	derived := g.chance(2)
	if derived {
		heritage = " extends " + g.pick("Base", "(t("+g.mark()+", Base))", g.awaited("Base"))
	}
	var list []string
	key := func() string {
		return g.pick("x", "y", "static x", "static y", "[t("+g.mark()+", \"k\")]", "static ["+g.expr()+"]", "["+g.expr()+"]")
	}
	list = append(list, "#p = "+g.within(scope{function: true, plain: true, super: derived}, g.expr)+";")
	list = append(list, "get #acc() { t("+g.mark()+"); return 1; } set #acc(x) { log("+g.mark()+", x); } #m(...x) { log("+g.mark()+", ...x); return x[0]; }")
	member := scope{super: derived, private: true}
	for range g.n(3) {
		switch g.n(3) {
		case 0:
			list = append(list, key()+" = "+g.within(scope{function: true, plain: true, super: derived, arrow: false}, g.field)+";")
		case 1:
			list = append(list, "static { "+g.within(scope{function: true, plain: true, super: derived}, func() string { return g.statements(1 + g.n(2)) })+" }")
		case 2:
			list = append(list, g.pick("m1", "m2", "static m3", "[t("+g.mark()+", \"m4\")]")+g.function(member))
		}
	}
	if derived && g.chance(2) {
		list = append(list, "constructor(...x) { super(...x); log(\"made\", new.target === this.constructor); }")
	}
	switch g.n(4) {
	case 0:
		list = append(list, "run"+g.function(member))
	case 1:
		member.async = true
		list = append(list, "async run"+g.function(member))
	case 2:
		member.generator = true
		list = append(list, "*run"+g.function(member))
	default:
		member.async, member.generator = true, true
		list = append(list, "async *run"+g.function(member))
	}
	return heritage + " {\n" + strings.Join(list, "\n") + "\n}"
}

// field is the initializer of a field, where arguments may not stand.
func (g *generator) field() string { return g.trace() }

func (g *generator) awaited(what string) string {
	if g.canAwait() {
		return fmt.Sprintf("(await p(%s))", what)
	}
	return what
}
