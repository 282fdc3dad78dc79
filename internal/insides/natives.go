package insides

import (
	"reflect"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"

	"minido.dev/minido/internal/insides/templates"
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
	return whole(l, learnNatives(l), func(known *natives) { known.known = true })
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

// builtins has goja's built-in methods made here. Immutable.
type builtins struct {
	*templates.Templates
	natives *natives
	tracker uintptr // in the runtime
}

// theBuiltins is learnt at the first call. Safe for concurrent use.
var theBuiltins = learnt(learnBuiltins)

func learnBuiltins(l *look) *builtins {
	b := &builtins{Templates: &templates.Templates{}, natives: theNatives()}
	b.tracker = l.Typed(reflect.TypeFor[goja.Runtime](), "asyncContextTracker", reflect.TypeFor[goja.AsyncContextTracker]())
	if l.Is("native functions", "known", b.natives.known && TheGoja().Known) && l.Known() {
		l.begins(goja.New().Get("Object").(*goja.Object), reflect.TypeFor[Object]())
		b.Templates = templates.Learn(&l.Look, templates.Inside{Make: b.make, Method: b.natives.method, Implementation: implementationOf})
	}
	return b
}

// method is templates.Inside.Method.
func (n *natives) method(property goja.Value) (*goja.Object, Function, string, int) {
	p := (*gojaProperty)(wordsOf(&property).data)
	if !n.plain.Special(property) || !p.writable || !p.configurable || p.enumerable || p.accessor {
		return nil, nil, "", 0
	}
	fn, ok := p.value.(*goja.Object)
	if !ok || mirrorOf(fn).self.tab != n.object || len(baseOf(fn).propNames) != 2 {
		return nil, nil, "", 0
	}
	return fn, (*gojaNative)(mirrorOf(fn).self.data).f, fn.Get("name").String(), int(fn.Get("length").ToInteger())
}

// make is templates.Inside.Make.
func (b *builtins) make(vm *goja.Runtime, m *templates.Method) goja.Value {
	made := &struct {
		functionParts[otherSlots]
		native   gojaNative
		property gojaProperty
		call     templates.Call
	}{call: m.Of(vm)}
	call, n := unsafe.Pointer(&made.call), b.natives
	made.native.f = *(*Function)(unsafe.Pointer(&call))
	fn := shaped(&n.functionShape, &made.functionParts, vm, functionPrototype(vm), words{n.object, unsafe.Pointer(&made.native)}, &made.native.baseFuncObject, &m.Length, &m.Name)
	made.property.value, made.property.writable, made.property.configurable = fn, true, true
	if engine, ok := (*(*goja.AsyncContextTracker)(unsafe.Add(unsafe.Pointer(vm), b.tracker))).(Joiner); ok {
		engine.Made(m.Number, fn)
	}
	return boxed(n.plain.property, unsafe.Pointer(&made.property))
}

// AdoptMethods has the methods of goja's large built-in objects made in one piece, when they are first touched, and told
// to the runtime's Joiner. It is how many there are: none in a process's first runtime. No program may have run in this one.
func AdoptMethods(vm *goja.Runtime) int { return theBuiltins().Adopt(vm) }

// MethodToCome is the number of a method that has not been made, -1 if it has, or is none of those.
func MethodToCome(o *goja.Object, name string) int {
	n := theBuiltins().Number(o, name)
	if n >= 0 {
		if _, made := baseOf(o).values[unistring.String(name)]; made {
			return -1
		}
	}
	return n
}
