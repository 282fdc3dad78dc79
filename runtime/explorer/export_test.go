package explorer

// Kept is how many invocations are kept, and the worker of the newest.
func (t *Traces) Kept() (n int, newest string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.kept), t.kept[len(t.kept)-1].ScriptName
}
