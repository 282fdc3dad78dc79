package pool

import "minido.dev/minido/sqlstore"

// openStores are the databases that are open, and some that were. Loop-confined.
type openStores struct {
	list []*sqlstore.Store
	many int // look for closed ones when there are so many
}

func (o *openStores) add(s *sqlstore.Store) {
	if len(o.list) >= max(o.many, 16) {
		kept := o.list[:0]
		for _, s := range o.list {
			if !s.Closed() {
				kept = append(kept, s)
			}
		}
		clear(o.list[len(kept):])
		o.list, o.many = kept, 2*len(kept)
	}
	o.list = append(o.list, s)
}

// Abandon closes the files of a pool whose world has died in a simulation, as
// they are: no JavaScript runs, and no caller gets an error. It must run on the goroutine on
// which the world ran.
func (p *Pool) Abandon() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	// Errors of closing say nothing about what was committed, and the world
	// that they belong to is gone.
	for _, s := range p.opened.list {
		_ = s.Drop()
	}
	_ = p.alarms.Drop()
}
