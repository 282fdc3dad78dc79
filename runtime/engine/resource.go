package engine

import (
	_ "embed"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/dop251/goja"
)

// Inside is what the console shows of an object of the platform beside its properties.
type Inside struct {
	Name string
	Get  func(this *goja.Object) goja.Value
}

// MarkResource says that what inherits from proto are objects of workerd's native code,
// which its console shows in a way of their own. DefineClass does it for its classes of
// the platform. Loop-confined.
func (e *Engine) MarkResource(proto *goja.Object, inside ...Inside) {
	if e.classes.resources == nil {
		e.classes.resources = map[*goja.Object][]Inside{}
	}
	e.classes.resources[proto] = inside
}

// Resource tells whether obj inherits from a prototype that was marked, and what that of
// the nearest says the console shows beside properties. It runs no code. Loop-confined.
func (e *Engine) Resource(obj *goja.Object) (inside []Inside, ok bool) {
	for p := obj; p != nil && p.ExportType() != reflect.TypeFor[goja.Proxy](); p = p.Prototype() {
		if inside, ok = e.classes.resources[p]; ok {
			return inside, true
		}
	}
	return nil, false
}

// insides are what Shown says of instances.
func (c *Class[T]) insides(shown []Accessor[T]) []Inside {
	made := make([]Inside, len(shown))
	for i, a := range shown {
		made[i] = Inside{a.Name, func(this *goja.Object) goja.Value { return a.Get(c.Self(this), this) }}
	}
	return made
}

//go:embed order.txt
var orderLines string

// orders are the members of prototypes in the order in which workerd defines them: what
// enumerates objects of the platform, as console does, shows it.
var orders = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(orderLines) {
		class, names, _ := strings.Cut(line, ": ")
		all[class] = strings.Fields(names)
	}
	return all
})

// classMember is a member of a prototype that is to be defined.
type classMember struct {
	name   string
	define func()
}

// defineOrdered defines members in the order of class, others after those.
func defineOrdered(class string, members []classMember) {
	if order := orders()[class]; order != nil {
		place := func(m classMember) int {
			if i := slices.Index(order, m.name); i >= 0 {
				return i
			}
			return len(order)
		}
		slices.SortStableFunc(members, func(a, b classMember) int { return place(a) - place(b) })
	}
	for _, m := range members {
		m.define()
	}
}
