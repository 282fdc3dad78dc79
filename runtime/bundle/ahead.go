package bundle

// Ahead evaluates, one by one, the deferred modules of a loaded bundle that the entry
// imports, directly or not, so that the first event that needs them finds them done.
// Compile and Evaluate take turns; one of them runs at a time.
type Ahead struct {
	in   *instance
	left []int // in the order of evaluation
}

// ahead is what waits in a bundle that has been loaded.
func (in *instance) ahead() *Ahead {
	a := &Ahead{in: in}
	seen := map[int]bool{}
	var visit func(id int)
	visit = func(id int) {
		m := in.b.modules[id]
		if seen[id] || m.low == nil {
			return
		}
		seen[id] = true
		for _, ref := range m.low.imports {
			if t := m.deps[ref.tagged()]; ref.Kind == importStatement && t.module >= 0 {
				visit(t.module)
			}
		}
		if m.deferred {
			a.left = append(a.left, id)
		}
	}
	visit(in.b.entry)
	return a
}

// Compile makes the program of the next module, which may be done off the loop; false
// if none is left: then programs are kept for later processes.
func (a *Ahead) Compile() bool {
	if len(a.left) == 0 {
		_ = a.in.b.KeepPrograms() // a cache that cannot be written costs time at the next start, no more
		return false
	}
	if m := a.in.b.modules[a.left[0]]; m.low.code != "" {
		_, _ = m.program() // an error is kept in the unit and met again at its use
	}
	return true
}

// Evaluate evaluates the module that was compiled, on the runtime's loop. What it
// throws, its first user gets.
func (a *Ahead) Evaluate() {
	r := a.in.records[a.left[0]]
	a.left = a.left[1:]
	if r.state == stateNew {
		a.in.early = true
		_ = a.in.evaluate(r)
		a.in.early = false
	}
}
