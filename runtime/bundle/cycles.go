package bundle

// Modules that import each other in a circle depend on where evaluation enters
// the circle: `class B extends A` throws if B's file runs before A's. ECMAScript
// runs them in the order in which import statements lead to them, depth first
// (InnerModuleEvaluation, 16.2.1.5.3.1), and an import of a module that is being
// imported runs nothing. So inside of a circle an import statement gives a
// namespace whose names are there already. If code reads one before its turn, the
// module runs then: ECMAScript would have its functions by now.

// circles marks the modules that are part of a circle of import statements.
func (l *linker) circles() {
	c := &circles{modules: l.modules, seen: make([]int, len(l.modules)), low: make([]int, len(l.modules)), open: make([]bool, len(l.modules))}
	for id := range l.modules {
		c.visit(id)
	}
}

// circles finds strongly connected components as Tarjan does. The numbers in seen
// begin at 1.
type circles struct {
	modules   []*module
	seen, low []int
	open      []bool // on the stack
	stack     []int
	count     int
}

func (c *circles) visit(id int) {
	m := c.modules[id]
	if c.seen[id] != 0 || m.low == nil {
		return
	}
	c.stack = append(c.stack, id)
	c.count++
	c.seen[id], c.low[id], c.open[id] = c.count, c.count, true
	for _, ref := range m.low.imports {
		to := m.deps[ref.tagged()]
		// The parts of a prebuilt bundle go by other rules (split.go).
		if ref.Kind != importStatement || to.module < 0 || to.self || c.modules[to.module].whole != nil {
			continue
		}
		c.visit(to.module)
		if c.open[to.module] {
			c.low[id] = min(c.low[id], c.low[to.module])
		}
	}
	if c.low[id] != c.seen[id] {
		return
	}
	circular := c.stack[len(c.stack)-1] != id
	for {
		last := c.stack[len(c.stack)-1]
		c.stack = c.stack[:len(c.stack)-1]
		c.open[last] = false
		c.modules[last].circular = circular
		if last == id {
			return
		}
	}
}

// lazy reports whether the module's names are there before it runs, and make it
// run when they are read.
func (m *module) lazy() bool { return m.deferred || m.circular || m.mockable }
