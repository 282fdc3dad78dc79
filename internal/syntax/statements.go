package syntax

import (
	"fmt"
	"strings"
)

func (g *generator) statements(n int) string {
	var list []string
	for range n {
		list = append(list, g.statement())
	}
	return strings.Join(list, "\n")
}

func (g *generator) block() string {
	return "{\n" + g.within(scope{}, func() string { return g.statements(1 + g.n(3)) }) + "\n}"
}

func (g *generator) loop() string {
	return "{\n" + g.within(scope{loop: true, breakable: true}, func() string { return g.statements(1 + g.n(2)) }) + "\n}"
}

func (g *generator) statement() string {
	if g.budget--; g.budget < 0 {
		return "t(" + g.mark() + ");"
	}
	switch g.n(26) {
	default:
		return g.expression() + ";"
	case 0, 1, 2:
		return g.declaration()
	case 3:
		text := "if (" + g.expr() + ") " + g.block()
		if g.chance(2) {
			text += " else " + g.block()
		}
		return text
	case 4:
		return g.try()
	case 5, 6, 7, 8:
		return g.loops()
	case 9:
		return g.switches()
	case 10:
		return g.leave()
	case 11:
		label := "L" + g.name()
		return label + ": " + g.within(scope{labels: []string{label}}, func() string {
			if g.chance(2) {
				return g.loops()
			}
			return g.block()
		})
	case 12:
		return g.functionDeclaration()
	case 13:
		name := g.name()
		text := "class " + name + g.class()
		g.declare(name, class, true)
		return text
	case 14:
		return g.block()
	case 15:
		return "fs.push(() => " + g.variable(func(variable) bool { return true }) + ");"
	case 16:
		return g.using()
	}
}

// expression is one that may stand as a statement.
func (g *generator) expression() string {
	if g.chance(4) {
		return "log(" + g.expr() + ")"
	}
	return "(" + g.expr() + ")"
}

func (g *generator) declaration() string {
	word := g.pick("let", "const", "var", "let")
	if word == "var" && g.scope.plain {
		word = "let"
	}
	if g.chance(3) {
		var names []string
		pattern := g.pattern(2, func() string { name := g.name(); names = append(names, name); return name })
		text := word + " " + pattern + " = " + g.source(pattern) + ";"
		for _, name := range names {
			g.declare(name, anything, word != "const")
		}
		return text
	}
	name := g.name()
	text := word + " " + name
	if word == "const" || !g.chance(4) {
		text += " = " + g.expr()
	}
	g.declare(name, anything, word != "const")
	return text + ";"
}

// source is an expression that a pattern can take apart, mostly.
func (g *generator) source(pattern string) string {
	if strings.HasPrefix(pattern, "[") {
		return g.iterable()
	}
	return g.object()
}

func (g *generator) functionDeclaration() string {
	name := g.name()
	s := scope{async: g.chance(2), generator: g.chance(2)}
	word, k := "function ", function
	switch {
	case s.async && s.generator:
		word, k = "async function* ", asyncGeneratorOf
	case s.async:
		word, k = "async function ", asyncFunction
	case s.generator:
		word, k = "function* ", generatorOf
	}
	text := word + name + g.function(s)
	g.declare(name, k, true)
	return text
}

func (g *generator) try() string {
	text := "try " + g.block()
	end := g.n(3)
	if end != 1 {
		switch g.n(3) {
		case 0:
			text += " catch " + g.block()
		default:
			name := g.name()
			text += " catch (" + name + ") {\n" + g.within(scope{}, func() string {
				g.declare(name, anything, true)
				return "log(\"caught\", " + name + ");\n" + g.statements(1+g.n(2))
			}) + "\n}"
		}
	}
	if end != 0 {
		text += " finally " + g.block()
	}
	return text
}

func (g *generator) loops() string {
	forms := []func() string{g.forLoop, g.forOf, g.forOf, g.forIn, g.while, g.doWhile}
	if g.canAwait() {
		forms = append(forms, g.forAwait, g.forAwait)
	}
	return forms[g.n(len(forms))]()
}

func (g *generator) forLoop() string {
	return g.within(scope{}, func() string {
		name := g.name()
		head := g.pick("let ", "let ", "var ") + name + " = " + g.expr()
		g.declare(name, anything, true)
		return fmt.Sprintf("for (%s; z() && %s; %s) %s", head, g.pick(g.expr(), name+" !== 3", "true"), g.pick(g.expr(), name+"++", ""), g.loop())
	})
}

// target is what a loop assigns to; the names it declares are in the scope.
func (g *generator) target() string {
	switch g.n(5) {
	case 0:
		return g.assignable()
	case 1:
		return g.pick("const ", "let ", "var ") + g.pattern(1, func() string { name := g.name(); g.declare(name, anything, false); return name })
	default:
		name := g.name()
		defer g.declare(name, anything, false)
		return g.pick("const ", "let ", "var ") + name
	}
}

func (g *generator) forOf() string {
	return g.within(scope{}, func() string {
		of := g.iterable()
		target := g.target()
		if strings.HasSuffix(target, "]") && strings.Contains(target, " [") {
			of = "[" + g.iterable() + ", " + g.iterable() + "]"
		}
		return "for (" + target + " of " + of + ") " + g.guarded()
	})
}

// guarded is the body of a loop over what another one gives.
func (g *generator) guarded() string {
	return "{\nif (!z()) break;\n" + strings.TrimPrefix(g.loop(), "{\n")
}

func (g *generator) forAwait() string {
	return g.within(scope{}, func() string {
		of := g.asyncIterable()
		return "for await (" + g.target() + " of " + of + ") " + g.guarded()
	})
}

func (g *generator) forIn() string {
	return g.within(scope{}, func() string {
		of := g.object()
		return "for (" + g.target() + " in " + of + ") " + g.guarded()
	})
}

func (g *generator) while() string { return "while (z() && " + g.expr() + ") " + g.loop() }

func (g *generator) doWhile() string {
	return "do " + g.loop() + " while (z() && " + g.expr() + ");"
}

func (g *generator) switches() string {
	text := "switch (" + g.expr() + ") {\n"
	return text + g.within(scope{breakable: true}, func() string {
		var cases []string
		other := g.n(4)
		for i := range 1 + g.n(3) {
			head := "case " + g.pick(g.expr(), "1", "undefined") + ":\n"
			if i == other {
				head = "default:\n"
			}
			cases = append(cases, head+"{ "+g.within(scope{}, func() string { return g.statements(1 + g.n(2)) })+" }"+g.pick("\n", "\nbreak;\n"))
		}
		return strings.Join(cases, "")
	}) + "}"
}

// leave is a jump.
func (g *generator) leave() string {
	forms := []string{"throw new Own(" + g.mark() + ");", "fail(" + g.mark() + ");"}
	forms[0] = forms[1]
	if g.scope.returns {
		forms = append(forms, "return "+g.expr()+";", "return "+g.expr()+";")
	}
	if g.scope.loop {
		forms = append(forms, "continue;", "break;")
	} else if g.scope.breakable {
		forms = append(forms, "break;")
	}
	for _, label := range g.scope.labels {
		forms = append(forms, "break "+label+";", "break "+label+";")
	}
	form := forms[g.n(len(forms))]
	if g.chance(2) {
		return "if (" + g.expr() + ") " + form
	}
	return form
}

func (g *generator) using() string {
	name := g.name()
	defer g.declare(name, anything, false)
	if g.canAwait() && g.chance(2) {
		return "await using " + name + " = " + g.pick("ad("+g.mark()+")", "d("+g.mark()+")", "null") + ";"
	}
	return "using " + name + " = " + g.pick("d("+g.mark()+")", "undefined", "t("+g.mark()+", d("+g.mark()+"))") + ";"
}
