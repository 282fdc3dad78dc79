package bundle

import "minido.dev/minido/runtime/bundle/circles"

// Modules that import each other in a circle depend on where evaluation enters
// the circle: `class B extends A` throws if B's file runs before A's. ECMAScript
// runs them in the order in which import statements lead to them, depth first
// (InnerModuleEvaluation, 16.2.1.5.3.1), and an import of a module that is being
// imported runs nothing. So inside of a circle an import statement gives a
// namespace whose names are there already. If code reads one before its turn, the
// module runs then: ECMAScript would have its functions by now.

// circles marks the modules that are part of a circle of import statements.
func (l *linker) circles() {
	for id, on := range circles.Of(len(l.modules), l.statements) {
		l.modules[id].circular = on
	}
}

// statements are the modules that a module's import statements name. The parts of a prebuilt
// bundle go by other rules (split.go).
func (l *linker) statements(id int) (list []int) {
	m := l.modules[id]
	if m.low == nil {
		return nil
	}
	for _, ref := range m.low.imports {
		if to := m.deps[ref.tagged()]; ref.Kind == importStatement && to.module >= 0 && !to.self && l.modules[to.module].whole == nil {
			list = append(list, to.module)
		}
	}
	return list
}

// lazy reports whether the module's names are there before it runs, and make it
// run when they are read.
func (m *module) lazy() bool { return m.deferred || m.circular || m.mockable }
