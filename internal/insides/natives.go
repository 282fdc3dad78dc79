package insides

import (
	"reflect"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"

	"minido.dev/minido/internal/insides/texts"
)

// goja's interface makes a native function in a dozen pieces, and looks up the name of the Go
// function, which is then replaced. An isolate has hundreds of them. Ours is one piece.

//go:linkname functionPrototype github.com/dop251/goja.(*Runtime).getFunctionPrototype
func functionPrototype(vm *goja.Runtime) *goja.Object

// gojaNative mirrors the implementation of a native function.
type gojaNative struct {
	baseFuncObject gojaBaseFunction
	f              Function
	construct      constructor
}

// natives is what Maker.Native needs to know. Immutable.
type natives struct {
	known  bool
	object unsafe.Pointer // the method table of the implementation
	functionShape
}

// theNatives is learnt at the first call. Safe for concurrent use.
var theNatives = learnt(learnKnownNatives)

func learnKnownNatives(l *look) *natives {
	if n := learnNatives(l); l.Known() {
		n.known = true
		return n
	}
	return &natives{}
}

func learnNatives(l *look) *natives {
	maps := TheMapNames()
	n := &natives{functionShape: functionShape{plain: ThePlainLayout(), seed: maps.seed, names: maps.lengthAndName}}
	if !l.Is("goja.Object.self", "known", n.plain.Known) || !l.Is("maps", "known", maps.Known) {
		return n
	}
	n.length, n.name = maps.know("length"), maps.know("name")
	vm := goja.New()
	sample := newNative(vm, func(goja.FunctionCall) goja.Value { return goja.Undefined() }, "sample", 2)
	made := implementationOf(sample)
	if !l.Is(made.String(), "a pointer", made.Kind() == reflect.Pointer) || !l.Mirrors(reflect.TypeFor[gojaNative](), made.Elem()) {
		return n
	}
	n.object = mirrorOf(sample).self.tab
	e := NewMaker(vm)
	ours := n.make(e, func(c goja.FunctionCall) goja.Value { return c.Argument(0) }, "ours", 2)
	vm.Set("theirs", sample)
	vm.Set("ours", ours)
	v, err := vm.RunString(`const said = (f) => Object.entries(Object.getOwnPropertyDescriptors(f)).map(([name, d]) => name + JSON.stringify(Object.entries(d))).join() + f;
		said(ours).replaceAll("ours", "sample") === said(theirs) && Object.getPrototypeOf(ours) === Function.prototype && ours(7) === 7 &&
			(ours.more = 1, delete ours.length) && Object.getOwnPropertyNames(ours).join() === "name,more" && Object.getOwnPropertyNames(theirs).join() === "length,name"`)
	l.Is("a native function that is made by hand", "like goja's", err == nil && v.ToBoolean())
	return n
}

// Native makes a native function of this name and length.
func (e *Maker) Native(fn Function, name string, length int) *goja.Object {
	if n := theNatives(); n.known && texts.IsASCII(name) {
		return n.make(e, fn, name, length)
	}
	return newNative(e.vm, fn, unistring.NewFromString(name), length)
}

// make makes one whose name is in ASCII.
func (n *natives) make(e *Maker, fn Function, name string, length int) *goja.Object {
	made := &struct {
		functionParts[otherSlots]
		native gojaNative
		text   string
		length int
	}{text: name, length: length}
	made.native.f = fn
	return shaped(&n.functionShape, &made.functionParts, e.vm, functionPrototype(e.vm), words{n.object, unsafe.Pointer(&made.native)},
		&made.native.baseFuncObject, &made.length, &made.text)
}
