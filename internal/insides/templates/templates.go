// Package templates has goja make its built-in methods in one piece, and says when it makes one.
//
// goja keeps a template of each of its large built-in objects (Object, Math, the prototype of
// Array): the names of its properties, and a function for each that makes it in a runtime when
// it is first touched, in any way. Those of a runtime that adopts ours make methods as ours do.
package templates

import (
	"math/big"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
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
	Number int // less than what Adopt says
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

// Templates are those of a process. Safe for concurrent use.
type Templates struct {
	Known  bool
	in     Inside
	places []place // by kind of implementation
	asked  atomic.Bool
	made   func() *made // at the first call
	last   atomic.Pointer[made]
}

// made are our templates. Immutable.
type made struct {
	methods int                                        // how many there are
	numbers map[*template]map[unistring.String]*Method // by our templates
	ours    []*template                                // by holders; nil for what goja has no template of
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

// Learn learns where templates are, and tries one. Ours are made when they are needed.
func Learn(l *layout.Look, in Inside) *Templates {
	t := &Templates{in: in}
	t.made = sync.OnceValue(func() *made { return t.make(holders) })
	vm := goja.New()
	for _, way := range [][]string{{}, {"BigInt"}, {"Array", "prototype"}} { // of each kind
		o := holder(vm, way)
		if !l.Is(strings.Join(append([]string{"globalThis"}, way...), "."), "an object", o != nil) {
			return &Templates{}
		}
		t.places = append(t.places, place{selfOf(o).table, offset(l, in.Implementation(o))})
	}
	l.Is("a method of a runtime that has our template", "as another's", l.Known() && t.tried(vm))
	if t.Known = l.Known(); !t.Known {
		return &Templates{}
	}
	return t
}

// tried tries a small template.
func (t *Templates) tried(vm *goja.Runtime) bool {
	way := [][]string{{"BigInt"}}
	m := t.make(way)
	o := holder(vm, way[0])
	*t.at(o) = m.ours[0]
	fn, _ := o.Get("asIntN").(*goja.Object)
	call, callable := goja.AssertFunction(fn)
	if m.methods < 2 || !callable || o.Get("asIntN") != goja.Value(fn) || fn.Get("name").String() != "asIntN" || fn.Get("length").ToInteger() != 2 || fn.Get("prototype") != nil {
		return false
	}
	v, err := call(goja.Undefined(), vm.ToValue(8), vm.ToValue(big.NewInt(255)))
	return err == nil && v.String() == "-1" && len(o.Keys()) == 0 && o.Delete("asIntN") == nil && o.Get("asIntN") == nil
}

// make makes ours of the templates of some holders.
func (t *Templates) make(ways [][]string) *made {
	m, vm := &made{numbers: map[*template]map[unistring.String]*Method{}}, goja.New()
	for _, way := range ways {
		var ours *template
		if o := holder(vm, way); o != nil {
			if at := t.at(o); at != nil {
				ours = t.copied(m, *at, vm)
			}
		}
		m.ours = append(m.ours, ours)
	}
	return m
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

// copied is our template for one of goja's.
func (t *Templates) copied(m *made, theirs *template, vm *goja.Runtime) *template {
	props, ours, numbers := *(*factories)(unsafe.Pointer(&theirs.props)), factories{}, map[unistring.String]*Method{}
	for _, name := range theirs.propNames {
		factory := props[name]
		ours[name] = factory
		if method := t.method(factory, vm); method != nil {
			method.Number = m.methods
			m.methods++
			numbers[name], ours[name] = method, func(vm *goja.Runtime) goja.Value { return t.in.Make(vm, method) }
		}
	}
	copied := *theirs
	*(*factories)(unsafe.Pointer(&copied.props)) = ours
	m.numbers[&copied] = numbers
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
	return &Method{Name: name, Length: length, code: code}
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

// Adopt has a runtime in which no program has run make its methods as ours do, and says how many
// there are. A process's first runtime keeps goja's templates, and there are none: making ours takes longer
// than they save there.
func (t *Templates) Adopt(vm *goja.Runtime) int {
	if !t.Known || !t.asked.Swap(true) {
		return 0
	}
	m := t.made()
	t.last.Store(m)
	for i, ours := range m.ours {
		if ours != nil {
			*t.at(holder(vm, holders[i])) = ours
		}
	}
	return m.methods
}

// Number is that of the method of this name, -1 if it is none of ours.
func (t *Templates) Number(o *goja.Object, name string) int {
	m := t.last.Load()
	if m == nil {
		return -1
	}
	if at := t.at(o); at != nil {
		if method := m.numbers[*at][unistring.String(name)]; method != nil {
			return method.Number
		}
	}
	return -1
}
