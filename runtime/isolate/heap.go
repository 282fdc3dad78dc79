package isolate

import (
	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides/reach"
	"minido.dev/minido/runtime/engine"
)

// Memory is what an isolate's JavaScript holds. Loop-confined.
type Memory struct {
	i         *Isolate
	instances map[*engine.Context]*goja.Object // of classes of objects, while they live
}

// Lives tells of the instance of an object's class, which is in memory until its context
// ends.
func (m *Memory) Lives(ctx *engine.Context, instance *goja.Object) {
	m.instances[ctx] = instance
	ctx.AtDeath(func(error) { delete(m.instances, ctx) })
}

// Reached lists what the globals, the entry module's exports, the objects in memory and
// those that tools have asked for hold. No JavaScript runs meanwhile. The error is reach's.
func (m *Memory) Reached() ([]reach.Node, error) {
	roots := map[string]*goja.Object{"exports": m.i.exports}
	for ctx, instance := range m.instances { // order-independent: they are sorted by name
		roots[ctx.Label] = instance
	}
	for id, h := range m.i.remotes.objects { // order-independent: they are sorted by name
		roots["(inspector) "+id] = h.object
	}
	return reach.From(m.i.vm, roots)
}
