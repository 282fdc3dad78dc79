package killpoint

import "slices"

// Watch has fn told of each point from now on, until stop is called: fn must cause no
// effect, must not wait, and must be safe for concurrent use. Points that are off stay
// off: effects go on as if nobody watched, several at the same time and several in one
// where they can be, and there are fewer points. Of a nil *Points nothing is told. Both
// are safe for concurrent use, and stop may be called twice.
func (p *Points) Watch(fn func(Point)) (stop func()) {
	if p == nil {
		return func() {}
	}
	watcher := &fn
	p.rewatch(func(list []*func(Point)) []*func(Point) { return append(slices.Clip(list), watcher) })
	return func() {
		p.rewatch(func(list []*func(Point)) []*func(Point) {
			return slices.DeleteFunc(slices.Clone(list), func(w *func(Point)) bool { return w == watcher })
		})
	}
}

func (p *Points) rewatch(change func([]*func(Point)) []*func(Point)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []*func(Point)
	if now := p.watchers.Load(); now != nil {
		list = *now
	}
	if list = change(list); len(list) == 0 {
		p.watchers.Store(nil)
		return
	}
	p.watchers.Store(&list)
}

// Heard reports whether anybody is told of points: they are on, or watched.
func (p *Points) Heard() bool { return p != nil && (p.on.Load() || p.watchers.Load() != nil) }

// tell tells those who watch.
func (p *Points) tell(pt Point) {
	if p == nil {
		return
	}
	if list := p.watchers.Load(); list != nil {
		for _, fn := range *list {
			(*fn)(pt)
		}
	}
}

// turnOn is called with mu held when what decides about it has changed.
func (p *Points) turnOn() { p.on.Store(p.always || len(p.armed) > 0) }
