package engine

import (
	"strings"

	"github.com/dop251/goja"
)

// circular is the text of JSON.stringify's TypeError, which shows the way that
// leads back: V8 shows its first two steps and its last.
func (s site) circular() string {
	const text = "Converting circular structure to JSON"
	root, _ := s.machine.argument(0).(*goja.Object)
	if root == nil {
		return ""
	}
	w := cycle{engine: s.engine, seen: map[*goja.Object]bool{}}
	if s.engine.vm.Try(func() { w.find(root) }) != nil || w.closing == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString(text + "\n    --> starting at object with constructor " + w.name(w.path[0].object))
	between := w.path[1:]
	for i, step := range between {
		if len(between) > 3 && i == 2 {
			b.WriteString("\n    |     ...")
		}
		if len(between) > 3 && i >= 2 && i < len(between)-1 {
			continue
		}
		b.WriteString("\n    |     " + step.key + " -> object with constructor " + w.name(step.object))
	}
	b.WriteString("\n    --- " + w.closing + " closes the circle")
	return b.String()
}

type cycleStep struct {
	key    string
	object *goja.Object
}

// cycle looks for the first way back, in the order in which JSON.stringify
// goes. It reads plain data alone: no getter and no toJSON runs.
type cycle struct {
	engine  *Engine
	path    []cycleStep
	seen    map[*goja.Object]bool // left without a cycle
	closing string
}

func (w *cycle) find(root *goja.Object) bool {
	w.path = append(w.path, cycleStep{object: root})
	return w.visit(root)
}

func (w *cycle) visit(object *goja.Object) bool {
	describe := w.engine.Primordial("ObjectGetOwnPropertyDescriptor")
	isArray := object.ClassName() == "Array"
	for _, key := range object.Keys() {
		d, ok := w.engine.Call(describe, goja.Undefined(), object, w.engine.vm.ToValue(key)).(*goja.Object)
		if !ok {
			continue
		}
		next, ok := d.Get("value").(*goja.Object)
		if !ok || isCallable(next) {
			continue
		}
		label := "property '" + key + "'"
		if isArray {
			label = "index " + key
		}
		for i, step := range w.path {
			if step.object == next {
				w.path, w.closing = w.path[i:], label
				return true
			}
		}
		if w.seen[next] {
			continue
		}
		w.path = append(w.path, cycleStep{label, next})
		if w.visit(next) {
			return true
		}
		w.path = w.path[:len(w.path)-1]
	}
	w.seen[object] = true
	return false
}

func (w *cycle) name(object *goja.Object) string {
	name := "Object"
	if c, ok := object.Get("constructor").(*goja.Object); ok {
		if n := c.Get("name"); n != nil {
			name = n.String()
		}
	}
	return "'" + name + "'"
}
