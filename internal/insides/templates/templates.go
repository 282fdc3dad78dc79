// Package templates has goja make its built-in methods in one piece, and says when it makes one.
//
// goja keeps a template of each of its large built-in objects (Object, Math, the prototype of
// Array): the names of its properties, and a function for each that makes it in a runtime when
// it is first touched, in any way. Those of a runtime that adopts ours make methods as ours do.
package templates

import (
	"reflect"
	"runtime"
	"strings"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"

	"minido.dev/minido/internal/insides/layout"
)

// template mirrors a template.
type template struct {
	propNames []unistring.String
	props     unsafe.Pointer // factories
	//lint:ignore U1000 it stands for a field of goja's
	symProps unsafe.Pointer
	//lint:ignore U1000 it stands for a field of goja's
	symPropNames []*goja.Symbol
	//lint:ignore U1000 it stands for a field of goja's
	protoFactory func(*goja.Runtime) *goja.Object
}

// factories make the properties of an object.
type factories = map[unistring.String]func(*goja.Runtime) goja.Value

// Method is a built-in method: in each runtime a function of its own, of the same Go code.
// Immutable.
type Method struct {
	Number int // less than Templates.Methods
	Name   string
	Length int
	code   uintptr // of a method value of the runtime
}

// Call is the Go function of a method in one runtime: a method value, which has its receiver
// behind its code.
type Call struct {
	code uintptr
	vm   *goja.Runtime
}

// Of is that of a runtime.
func (m *Method) Of(vm *goja.Runtime) Call { return Call{m.code, vm} }

// Inside is what the package is told of goja's objects, whose layout is known.
type Inside struct {
	// Implementation is the type of what implements an object.
	Implementation func(o *goja.Object) reflect.Type
	// Method is the function of a property that is a method as most are, with its Go function, its
	// name and its length; nil for other properties.
	Method func(property goja.Value) (fn *goja.Object, call func(goja.FunctionCall) goja.Value, name string, length int)
	// Make is a property that is such a method.
	Make func(vm *goja.Runtime, m *Method) goja.Value
}

// Templates are those of a process. Immutable.
type Templates struct {
	Known   bool
	Methods int // how many there are

	in      Inside
	places  []place                                    // by kind of implementation
	numbers map[*template]map[unistring.String]*Method // by our templates
	ours    []*template                                // by holders
}

// holders are the objects that have a template, by their ways from the global object: names of
// properties, and "^" for what inherits.
var holders = [][]string{
	{}, {"Object"}, {"Object", "prototype"}, {"Function", "prototype"}, {"Array", "prototype"}, {"String", "prototype"}, {"Number"}, {"Number", "prototype"},
	{"BigInt"}, {"BigInt", "prototype"}, {"Date"}, {"Date", "prototype"}, {"Math"}, {"DataView", "prototype"}, {"Uint8Array", "^", "prototype"},
}

// holder is what a way leads to in a runtime that no program has changed.
func holder(vm *goja.Runtime, way []string) *goja.Object {
	o := vm.GlobalObject()
	for _, step := range way {
		switch {
		case o == nil:
		case step == "^":
			o = o.Prototype()
		default:
			o, _ = o.Get(step).(*goja.Object)
		}
	}
	return o
}

// Learn learns the templates.
func Learn(l *layout.Look, in Inside) *Templates {
	t := &Templates{in: in, numbers: map[*template]map[unistring.String]*Method{}}
	vm := goja.New()
	for _, way := range holders {
		o := holder(vm, way)
		if !l.Is(strings.Join(append([]string{"globalThis"}, way...), "."), "an object", o != nil) {
			return &Templates{}
		}
		at := t.at(o)
		if at == nil {
			t.places = append(t.places, place{selfOf(o).table, offset(l, in.Implementation(o))})
			at = t.at(o)
		}
		if !l.Known() {
			return &Templates{}
		}
		t.ours = append(t.ours, t.learn(*at, vm))
	}
	l.Is("the templates of goja's built-in objects", "200 methods or more", t.Methods >= 200)
	l.Is("a runtime that has ours", "the same methods as another", l.Known() && t.alike())
	if t.Known = l.Known(); !t.Known {
		return &Templates{}
	}
	return t
}

// place is where implementations of a kind have their template.
type place struct {
	table  unsafe.Pointer // their method table
	offset uintptr
}

// self mirrors the implementation of an object, with which a goja.Object begins.
type self struct{ table, data unsafe.Pointer }

func selfOf(o *goja.Object) *self { return (*self)(unsafe.Pointer(o)) }

// offset is where an implementation has its template, behind the part of every object.
func offset(l *layout.Look, kind reflect.Type) uintptr {
	if kind.Kind() != reflect.Pointer {
		l.Is(kind.String(), "a pointer", false)
		return 0
	}
	f, found := kind.Elem().FieldByName("tmpl")
	offset, at := uintptr(0), kind.Elem()
	for i := range f.Index {
		step := at.Field(f.Index[i])
		found = found && (i == len(f.Index)-1 || step.Type.Kind() == reflect.Struct)
		if offset += step.Offset; !found {
			break
		}
		at = step.Type
	}
	if l.Is(kind.Elem().String()+".tmpl", "a pointer to a struct", found && at.Kind() == reflect.Pointer && at.Elem().Kind() == reflect.Struct) {
		l.Mirrors(reflect.TypeFor[template](), at.Elem())
	}
	return offset
}

// learn makes our template of one of goja's.
func (t *Templates) learn(theirs *template, vm *goja.Runtime) *template {
	props, ours, numbers := *(*factories)(unsafe.Pointer(&theirs.props)), factories{}, map[unistring.String]*Method{}
	for _, name := range theirs.propNames {
		factory := props[name]
		ours[name] = factory
		if m := t.method(factory, vm); m != nil {
			numbers[name], ours[name] = m, func(vm *goja.Runtime) goja.Value { return t.in.Make(vm, m) }
		}
	}
	copied := *theirs
	*(*factories)(unsafe.Pointer(&copied.props)) = ours
	t.numbers[&copied] = numbers
	return &copied
}

// method is what a factory makes, if that is a method whose function is a new one each time.
func (t *Templates) method(factory func(*goja.Runtime) goja.Value, vm *goja.Runtime) *Method {
	fn, call, name, length := t.in.Method(factory(vm))
	if fn == nil {
		return nil
	}
	at := *(*unsafe.Pointer)(unsafe.Pointer(&call))
	code := *(*uintptr)(at)
	if !strings.HasSuffix(runtime.FuncForPC(code).Name(), "-fm") || *(*Call)(at) != (Call{code, vm}) {
		return nil // no method value, or another object's
	}
	if again, _, _, _ := t.in.Method(factory(vm)); again == fn {
		return nil // it has several names
	}
	t.Methods++
	return &Method{t.Methods - 1, name, length, code}
}

// alike reports whether a runtime that has ours is as another.
func (t *Templates) alike() bool {
	program := goja.MustCompile("", `const said = [];
		for (const o of [globalThis, Object.getPrototypeOf(Uint8Array.prototype), Object, Object.prototype, Function.prototype, Array.prototype, String.prototype, Number, Number.prototype, BigInt, BigInt.prototype, Date, Date.prototype, Math, DataView.prototype])
			for (const [name, d] of Object.entries(Object.getOwnPropertyDescriptors(o)))
				said.push(name, d.writable, d.enumerable, d.configurable, typeof d.value, typeof d.get, d.value?.name, d.value?.length, typeof d.value === "function" && "prototype" in d.value);
		said.push([3, 1].concat(2).sort().join(), "a-b".split("-").length, Math.max(1, 2), new Date(0).toISOString(), (255).toString(16), Array.prototype.values === [][Symbol.iterator]);
		said.join()`, false)
	var said [2]string
	for i := range said {
		vm := goja.New()
		if i == 1 {
			t.Adopt(vm)
		}
		v, err := vm.RunProgram(program)
		if err != nil {
			return false
		}
		said[i] = v.String()
	}
	return said[0] == said[1]
}

// at is where an object has its template, nil if it has none.
func (t *Templates) at(o *goja.Object) **template {
	for _, p := range t.places {
		if p.table == selfOf(o).table {
			return (**template)(unsafe.Add(selfOf(o).data, p.offset))
		}
	}
	return nil
}

// Adopt has a runtime in which no program has run make its methods as ours do.
func (t *Templates) Adopt(vm *goja.Runtime) {
	for i, ours := range t.ours {
		*t.at(holder(vm, holders[i])) = ours
	}
}

// Number is that of the method of this name, -1 if it is none of ours.
func (t *Templates) Number(o *goja.Object, name string) int {
	if !t.Known {
		return -1
	}
	if at := t.at(o); at != nil {
		if m := t.numbers[*at][unistring.String(name)]; m != nil {
			return m.Number
		}
	}
	return -1
}
