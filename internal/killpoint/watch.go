package killpoint

import "slices"

// Watch has fn told of each point from now on, until stop is called: fn runs under
// the lock of all effects, must cause no effect and must not wait. Points that are
// off are on while somebody watches. Of a nil *Points nothing is told. Both are
// safe for concurrent use, and stop may be called twice.
func (p *Points) Watch(fn func(Point)) (stop func()) {
	if p == nil {
		return func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	watcher := &fn
	p.watchers = append(p.watchers, watcher)
	p.turnOn()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.watchers = slices.DeleteFunc(p.watchers, func(w *func(Point)) bool { return w == watcher })
		p.turnOn()
	}
}

// turnOn is called with mu held when what decides about it has changed.
func (p *Points) turnOn() {
	p.on.Store(p.always || len(p.armed) > 0 || len(p.watchers) > 0)
}
