// Package reach lists what JavaScript objects of a goja runtime hold: objects, the
// variables of closures, strings, and who refers to whom. goja has no such list; the
// package follows goja's own values by reflection, which changes nothing and runs no
// JavaScript. What only Go code holds (the callback of a timer, a pending operation) is
// out of its sight.
package reach

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
)

// Kind is what a Node is.
type Kind int

// The kinds of nodes.
const (
	Root     Kind = iota // holds the roots
	Object               // an object, an array, a function
	Function             // one that can be called
	Scope                // the variables of a function or module that closures see
	String
)

// Node is one thing in memory.
type Node struct {
	Kind Kind
	// Name is an object's constructor, a function's name, the beginning of a string.
	Name string
	// ID stays the same from list to list, while the thing lives; 0 is the root's.
	ID uint32
	// Size is an estimate of the bytes that are its own, without what it refers to.
	Size  int
	Edges []Edge
}

// Edge is a reference. Name is a property's name; of elements and variables, which have
// none, Index says which it is.
type Edge struct {
	Named, Element bool // a property, an element; neither: a variable, or internal
	Name           string
	Index          int
	To             int // the node's place in the list
}

// From lists what is reached from the runtime's globals and the given objects, by name;
// the first node is the root. It must run where the runtime's code does. The error says
// what of goja's values is not as expected.
func From(vm *goja.Runtime, roots map[string]*goja.Object) ([]Node, error) {
	if err := known(reflect.TypeOf(vm).Elem(), reflect.ValueOf(vm.NewObject()).Elem()); err != nil {
		return nil, err
	}
	w := &walk{at: map[uintptr]int{}, seen: map[uintptr]bool{}, ids: map[uint32]bool{}, pointers: map[reflect.Type]bool{}}
	w.nodes = []Node{{Kind: Root, Name: "(roots)"}}
	w.follow(0, Edge{Named: true, Name: "globalThis"}, reflect.ValueOf(vm.GlobalObject()))
	for _, name := range sortedNames(roots) {
		w.follow(0, Edge{Named: true, Name: name}, reflect.ValueOf(roots[name]))
	}
	w.follow(0, Edge{Name: "(intrinsics)"}, reflect.ValueOf(vm).Elem().FieldByName("global"))
	for len(w.open) > 0 {
		next := w.open[len(w.open)-1]
		w.open = w.open[:len(w.open)-1]
		w.inside(next.owner, next.edge, next.value)
	}
	return w.nodes, nil
}

// known holds what is looked into by name against what goja has: its runtime and an object.
func known(runtime reflect.Type, object reflect.Value) error {
	b := base(object.FieldByName("self"))
	if !b.IsValid() {
		return errors.New("reach: goja.Object.self is not as expected")
	}
	for _, want := range []struct {
		of   reflect.Type
		name string
		kind reflect.Kind
	}{
		{runtime, "global", reflect.Struct}, {b.Type(), "val", reflect.Pointer}, {b.Type(), "prototype", reflect.Pointer},
		{b.Type(), "class", reflect.String}, {b.Type(), "values", reflect.Map},
	} {
		if f, ok := want.of.FieldByName(want.name); !ok || f.Type.Kind() != want.kind {
			return fmt.Errorf("reach: goja.%s.%s is not as expected", want.of.Name(), want.name)
		}
	}
	return nil
}

func sortedNames(roots map[string]*goja.Object) (names []string) {
	for name, o := range roots { // order-independent: they are sorted
		if o != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

type walk struct {
	nodes    []Node
	at       map[uintptr]int  // nodes by their address
	seen     map[uintptr]bool // other parts of goja's values
	ids      map[uint32]bool
	open     []part
	pointers map[reflect.Type]bool // whether values of a type can refer to anything
}

// part is something whose inside has not been looked at. It is a list, not a recursion:
// the entries of a Map are a chain.
type part struct {
	owner int
	edge  Edge
	value reflect.Value
}

var (
	objectType   = reflect.TypeFor[goja.Object]()
	gojaPackage  = objectType.PkgPath()
	wordSize     = int(reflect.TypeFor[uintptr]().Size())
	maxNamedText = 100
	skipped      = map[string]bool{"Runtime": true, "Program": true, "vm": true, "objectTemplate": true}
)

// follow notes a reference of a node to a value.
func (w *walk) follow(owner int, e Edge, v reflect.Value) {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() || !w.refers(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		w.pointed(owner, e, v)
	case reflect.String:
		if s := v.String(); v.Type().PkgPath() == gojaPackage && v.Type().Name() == "asciiString" && s != "" {
			w.text(owner, e, reflectAddress(v), s, len(s))
		}
	case reflect.Slice:
		if v.Type().PkgPath() == gojaPackage && v.Type().Name() == "unicodeString" && v.Len() > 1 {
			units := make([]uint16, min(v.Len()-1, maxNamedText)) // behind a mark
			for i := range units {
				units[i] = uint16(v.Index(i + 1).Uint())
			}
			w.text(owner, e, v.Pointer(), string(utf16.Decode(units)), 2*v.Len())
			return
		}
		w.inside(owner, e, v)
	default:
		w.inside(owner, e, v)
	}
}

// reflectAddress tells texts apart: where their bytes are is not to be had, so equal ones
// are one.
func reflectAddress(v reflect.Value) uintptr {
	return uintptr(hash(v.String()))<<1 | 1
}

func hash(s string) (h uint64) {
	h = 14695981039346656037
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

func (w *walk) text(owner int, e Edge, address uintptr, s string, size int) {
	n, known := w.at[address]
	if !known {
		if len(s) > maxNamedText {
			s = s[:maxNamedText] + "…"
		}
		n = w.node(address, Node{Kind: String, Name: strings.ToValidUTF8(s, ""), Size: 2*wordSize + size})
	}
	w.refer(owner, e, n)
}

func (w *walk) node(address uintptr, n Node) int {
	n.ID = uint32(address>>3)<<1 | 1 // of 16 GB of addresses, no two are the same; of texts, two may be
	for w.ids[n.ID] {
		n.ID += 2
	}
	w.ids[n.ID] = true
	w.nodes = append(w.nodes, n)
	w.at[address] = len(w.nodes) - 1
	return len(w.nodes) - 1
}

func (w *walk) refer(owner int, e Edge, to int) {
	e.To = to
	w.nodes[owner].Edges = append(w.nodes[owner].Edges, e)
}

// pointed follows a pointer: to a node, or to a part of one.
func (w *walk) pointed(owner int, e Edge, v reflect.Value) {
	t := v.Type().Elem()
	if v.IsNil() || skipped[t.Name()] && t.PkgPath() == gojaPackage {
		return
	}
	address := v.Pointer()
	if n, known := w.at[address]; known {
		w.refer(owner, e, n)
		return
	}
	scope := t.PkgPath() == gojaPackage && t.Name() == "stash"
	if t != objectType && !scope {
		if t.PkgPath() != gojaPackage && t.Name() != "" || w.seen[address] {
			return
		}
		if b := base(v); b.IsValid() && !b.FieldByName("val").IsNil() { // what makes up an object stands for it
			w.pointed(owner, e, b.FieldByName("val"))
			return
		}
		w.seen[address] = true
		w.nodes[owner].Size += int(t.Size())
		w.open = append(w.open, part{owner, e, v.Elem()})
		return
	}
	n := Node{Kind: Scope, Name: "(scope)", Size: int(t.Size())}
	inside := v.Elem()
	if !scope {
		impl := inside.FieldByName("self").Elem()
		n.Kind, n.Name = Object, constructorOf(impl)
		if impl.Kind() == reflect.Pointer {
			if inside = impl.Elem(); inside.Kind() == reflect.Struct && strings.Contains(strings.ToLower(inside.Type().Name()), "func") {
				n.Kind, n.Name = Function, textOf(property(impl, "name"))
			}
			n.Size += int(inside.Type().Size())
		}
	}
	to := w.node(address, n)
	w.refer(owner, e, to)
	w.open = append(w.open, part{to, Edge{}, inside})
}

// inside follows what a part of a node refers to.
func (w *walk) inside(owner int, e Edge, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if t := v.Type(); t.PkgPath() != gojaPackage && t.Name() != "" {
			return // of Go, or of minido
		}
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			switch {
			case name == "val": // the object itself
			case name == "prototype":
				w.follow(owner, Edge{Named: true, Name: "__proto__"}, v.Field(i))
			case v.Type().Name() == "valueProperty" && name == "value" || v.Type().Field(i).Anonymous:
				w.follow(owner, e, v.Field(i))
			default:
				w.follow(owner, Edge{Name: name}, v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice {
			w.nodes[owner].Size += v.Cap() * int(v.Type().Elem().Size())
		}
		if !w.refers(v.Type().Elem()) {
			return
		}
		for i := range v.Len() {
			w.follow(owner, Edge{Element: e.Name == "values" && w.nodes[owner].Kind != Scope, Name: e.Name, Index: i}, v.Index(i))
		}
	case reflect.Map:
		t := v.Type()
		w.nodes[owner].Size += v.Len() * (int(t.Key().Size()) + int(t.Elem().Size()) + 1)
		for it := v.MapRange(); it.Next(); { // order-independent: edges of a node
			to := Edge{Name: e.Name}
			if it.Key().Kind() == reflect.String {
				to = Edge{Named: true, Name: unistring.String(it.Key().String()).String()}
			} else {
				w.follow(owner, e, it.Key())
			}
			w.follow(owner, to, it.Value())
		}
	case reflect.Pointer, reflect.Interface:
		w.follow(owner, e, v)
	}
}

// refers reports whether a value of the type can refer to a node.
func (w *walk) refers(t reflect.Type) (yes bool) {
	if known, ok := w.pointers[t]; ok {
		return known
	}
	w.pointers[t] = true // of a type that has itself inside
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map:
		yes = true
	case reflect.String:
		yes = t.PkgPath() == gojaPackage
	case reflect.Slice:
		yes = true // also for its size
	case reflect.Array:
		yes = w.refers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			yes = yes || w.refers(t.Field(i).Type)
		}
	}
	w.pointers[t] = yes
	return yes
}

// base is goja's baseObject within an implementation of an object.
func base(impl reflect.Value) reflect.Value {
	for impl.Kind() == reflect.Pointer || impl.Kind() == reflect.Interface {
		impl = impl.Elem()
	}
	if impl.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	if impl.Type().Name() == "baseObject" {
		return impl
	}
	return impl.FieldByName("baseObject")
}

// property is an own property's value, as goja keeps it.
func property(impl reflect.Value, name string) reflect.Value {
	b := base(impl)
	if !b.IsValid() {
		return b
	}
	v := b.FieldByName("values").MapIndex(reflect.ValueOf(unistring.String(name)))
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.Kind() == reflect.Pointer && !v.IsNil() && v.Type().Elem().Name() == "valueProperty" {
		v = v.Elem().FieldByName("value")
		for v.Kind() == reflect.Interface {
			v = v.Elem()
		}
	}
	return v
}

func textOf(v reflect.Value) string {
	if v.Kind() == reflect.String {
		return v.String()
	}
	return ""
}

// constructorOf is the name of an object's constructor, or of its class.
func constructorOf(impl reflect.Value) string {
	b := base(impl)
	if !b.IsValid() {
		return "Object"
	}
	class := b.FieldByName("class").String()
	for proto, depth := b.FieldByName("prototype"), 0; proto.Kind() == reflect.Pointer && !proto.IsNil() && depth < 10; depth++ {
		self := proto.Elem().FieldByName("self").Elem()
		if c := property(self, "constructor"); c.Kind() == reflect.Pointer && !c.IsNil() && c.Type().Elem() == objectType {
			if name := textOf(property(c.Elem().FieldByName("self").Elem(), "name")); name != "" {
				return name
			}
		}
		next := base(self)
		if !next.IsValid() {
			break
		}
		proto = next.FieldByName("prototype")
	}
	return class
}

// Label is how an edge is called where all have names.
func (e Edge) Label() string {
	if e.Named || e.Name != "" && e.Name != "values" {
		return e.Name
	}
	return strconv.Itoa(e.Index)
}
