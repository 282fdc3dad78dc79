package syntax

import (
	"fmt"
	"strings"

	"minido.dev/minido/internal/entropy"
)

// Program is one program: the text of an expression that is a function of world().
// The same seed and size give the same program; one of a smaller size begins like it,
// which is how a program that shows a fault is made smaller. Size is about the number
// of expressions and statements.
func Program(seed uint64, size int) string {
	g := &generator{dice: dice{entropy.NewSeeded(seed)}, budget: size}
	g.scope = &scope{async: true, function: true, returns: true}
	g.declare("v", anything, true)
	g.declare("w", anything, true)
	g.declare("xs", anything, true)
	g.declare("k", anything, false)
	head := "let v = " + g.pick("undefined", "null", "0", "1", `"s"`) + ", w = " + g.pick("2", "undefined", `""`) + ", xs = [1, , 3]; const k = 5;"
	if g.chance(3) {
		head = "" // they are parameters, below
	}
	body := g.statements(3 + g.n(4))
	if head == "" {
		return fmt.Sprintf("async (W) => { const %s = W; return await (async function(v, w = t(\"default w\", 2), ...xs) { const k = 5;\n%s\n})(%s); }", Names, body, g.pick("", "undefined, 1", "null, undefined, 3, 4"))
	}
	return fmt.Sprintf("async (W) => { const %s = W; %s\n%s\n}", Names, head, body)
}

// generator makes one program. Confined to its call.
type generator struct {
	dice
	scopes
	budget int // of nodes; simple ones are made when it is spent
	depth  int // of expressions
}

// variable is the name of a visible one.
func (g *generator) variable(suits func(variable) bool) string {
	all := g.visible(suits)
	if len(all) == 0 {
		return ""
	}
	return all[g.n(len(all))].name
}

// function is the parameters and the body of a function, from "(" to "}".
func (g *generator) function(s scope) string {
	s.function, s.returns = true, true
	between := " "
	if s.arrow {
		between = " => "
	}
	return g.within(s, func() string {
		g.scope.plain = true
		params := g.parameters()
		g.scope.plain = false
		if s.arrow && g.chance(3) {
			return params + between + "(" + g.expr() + ")"
		}
		return params + between + "{\n" + g.statements(1+g.n(3)) + "\n}"
	})
}

func (g *generator) parameters() string {
	var list []string
	for range g.n(3) {
		name := g.name()
		switch g.n(4) {
		case 0:
			list = append(list, name+" = "+g.expr())
		case 1:
			var names []string
			list = append(list, g.pattern(2, func() string { names = append(names, g.name()); return names[len(names)-1] })+" = "+g.iterable())
			for _, name := range names {
				g.declare(name, anything, true) // goja has no dead zone for them in functions among their defaults
			}
			continue
		default:
			list = append(list, name)
		}
		g.declare(name, anything, true)
	}
	if g.chance(4) {
		name := g.name()
		list = append(list, "..."+name)
		g.declare(name, anything, true)
	}
	return "(" + strings.Join(list, ", ") + ")"
}

func (g *generator) arguments() string {
	var list []string
	for range g.n(3) {
		if g.chance(4) {
			list = append(list, "..."+g.iterable())
		} else {
			list = append(list, g.expr())
		}
	}
	return "(" + strings.Join(list, ", ") + ")"
}
