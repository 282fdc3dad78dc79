package syntax

import "fmt"

// kind says what a variable may hold.
type kind byte

const (
	anything kind = iota
	function
	class
	generatorOf // a generator function
	asyncGeneratorOf
	asyncFunction
)

type variable struct {
	name    string
	kind    kind
	mutable bool
}

// scope is a block, or the body of a function.
type scope struct {
	outer            *scope
	variables        []variable
	function, arrow  bool
	async, generator bool
	returns          bool     // return may stand here
	super, private   bool     // super.x, this.#p may stand here
	loop, breakable  bool     // continue, break
	labels           []string // of the function
	plain            bool     // neither await nor yield: a parameter, a static block
}

// scopes are where in the program the generator stands: what may be declared,
// named, awaited there. Confined to its call.
type scopes struct {
	scope  *scope // the innermost
	names  int    // so far
	traces int
}

func (g *scopes) name() string {
	g.names++
	return fmt.Sprintf("v%d", g.names)
}

// mark is a label of the trace, unique in the program.
func (g *scopes) mark() string {
	g.traces++
	return fmt.Sprintf("%q", fmt.Sprintf("t%d", g.traces))
}

func (g *scopes) declare(name string, k kind, mutable bool) {
	g.scope.variables = append(g.scope.variables, variable{name, k, mutable})
}

// variables that are visible and suit.
func (g *scopes) visible(suits func(variable) bool) []variable {
	var all []variable
	for s := g.scope; s != nil; s = s.outer {
		for _, v := range s.variables {
			if suits(v) {
				all = append(all, v)
			}
		}
	}
	return all
}

// within makes text in a scope of its own.
func (g *scopes) within(s scope, make func() string) string {
	s.outer = g.scope
	if !s.function {
		o := g.scope
		s.async, s.generator, s.arrow, s.plain, s.returns = o.async, o.generator, o.arrow, s.plain || o.plain, o.returns
		s.super, s.private = o.super, o.private
		s.loop, s.breakable = s.loop || o.loop, s.breakable || o.breakable
		s.labels = append(s.labels, o.labels...)
	} else if s.arrow {
		s.super, s.private = g.scope.super, g.scope.private
	}
	g.scope = &s
	text := make()
	g.scope = s.outer
	return text
}

func mutable(v variable) bool { return v.mutable }

func is(k kind) func(variable) bool { return func(v variable) bool { return v.kind == k } }

func (g *scopes) canAwait() bool { return g.scope.async && !g.scope.plain }

func (g *scopes) canYield() bool { return g.scope.generator && !g.scope.plain }
