package engine

import (
	"errors"
	"reflect"
	"strconv"
	"sync"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
)

// goja's ordinary objects and arrays keep their properties in a map, a list of
// names and a slice, which its interface reaches one property at a time, with
// several allocations for each. JSON goes through a great many: it looks inside.
//
// plainLayout is immutable. If goja's internals were to change, ok is false and
// JSON takes the long way; TestInsidesAreKnown says so.
type plainLayout struct {
	ok            bool
	self          uintptr        // in goja.Object: the implementation, an interface
	object, array unsafe.Pointer // the interface's first word for an ordinary object, and for an array
	values, names uintptr        // in an ordinary object
	elements      uintptr        // in an array
	ascii         unsafe.Pointer // goja.String's first word for a text in ASCII
	failure       unsafe.Pointer // the first word for an error
	frames, read  uintptr        // in an error: its stack, and whether it has become a property
	special       reflect.Type   // of a property that is an accessor, or not writable, or hidden
}

var thePlainLayout = sync.OnceValue(func() *plainLayout {
	l := &plainLayout{ok: true}
	offset := func(t reflect.Type, name string, want reflect.Type) uintptr {
		f, found := t.FieldByName(name)
		l.ok = l.ok && found && (f.Type == want || want.Kind() == reflect.Interface && f.Type.Kind() == reflect.Interface)
		return f.Offset
	}
	l.self = offset(reflect.TypeFor[goja.Object](), "self", reflect.TypeFor[any]())
	vm := goja.New()
	object, array := vm.NewObject(), vm.NewArray()
	implementation := func(o *goja.Object) (t reflect.Type, tab unsafe.Pointer) {
		v := reflect.ValueOf(o).Elem().FieldByName("self").Elem()
		if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
			l.ok = false
			return nil, nil
		}
		return v.Type().Elem(), *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(o), l.self))
	}
	if !l.ok {
		return l
	}
	objectType, objectTab := implementation(object)
	arrayType, arrayTab := implementation(array)
	if !l.ok {
		return l
	}
	l.object, l.array = objectTab, arrayTab
	l.values = offset(objectType, "values", reflect.TypeFor[map[unistring.String]goja.Value]())
	l.names = offset(objectType, "propNames", reflect.TypeFor[[]unistring.String]())
	l.elements = offset(arrayType, "values", reflect.TypeFor[[]goja.Value]())
	if !l.ok {
		return l
	}
	object.DefineDataProperty("hidden", vm.ToValue(1), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	failureType, failureTab := implementation(vm.NewGoError(errSample))
	if !l.ok {
		return l
	}
	l.failure = failureTab
	l.frames = offset(failureType, "stack", reflect.TypeFor[[]goja.StackFrame]())
	l.read = offset(failureType, "stackPropAdded", reflect.TypeFor[bool]())
	text, isText := vm.ToValue("a").(goja.String)
	l.ok = isText && reflect.TypeOf(text).Kind() == reflect.String
	l.ascii = *(*unsafe.Pointer)(unsafe.Pointer(&text))
	if !l.ok {
		return l
	}
	p, _ := l.properties(object)
	l.special = reflect.TypeOf(p.values["hidden"])
	l.ok = l.special != nil && l.special != reflect.TypeOf(vm.ToValue(1))
	return l
})

// properties are those of an ordinary object, by their names and in the order in
// which they were made: goja puts indices first when it is next asked for them.
type properties struct {
	values map[unistring.String]goja.Value
	names  *[]unistring.String
}

func (l *plainLayout) implementation(o *goja.Object) (tab, data unsafe.Pointer) {
	words := (*[2]unsafe.Pointer)(unsafe.Add(unsafe.Pointer(o), l.self))
	return words[0], words[1]
}

// properties looks into an ordinary object; ok is false for any other.
func (l *plainLayout) properties(o *goja.Object) (p properties, ok bool) {
	if !l.ok {
		return p, false
	}
	tab, data := l.implementation(o)
	if tab != l.object {
		return p, false
	}
	p.values = *(*map[unistring.String]goja.Value)(unsafe.Add(data, l.values))
	p.names = (*[]unistring.String)(unsafe.Add(data, l.names))
	return p, true
}

// appendNames appends those of an ordinary object's properties; ok is false if there
// is one that needs more than a look: an accessor, an index, which has another
// place.
func (l *plainLayout) appendNames(list []unistring.String, o *goja.Object) (_ []unistring.String, ok bool) {
	p, ok := l.properties(o)
	if !ok {
		return list, false
	}
	n := len(list)
	for _, name := range *p.names {
		if reflect.TypeOf(p.values[name]) == l.special || name != "" && name[0] >= '0' && name[0] <= '9' {
			return list[:n], false
		}
		list = append(list, name)
	}
	return list, true
}

// element is that of an array, nil if it needs more than a look.
func (l *plainLayout) element(o *goja.Object, i int) goja.Value {
	if !l.ok {
		return nil
	}
	tab, data := l.implementation(o)
	if tab != l.array {
		return nil
	}
	elements := *(*[]goja.Value)(unsafe.Add(data, l.elements))
	if i >= len(elements) || elements[i] == nil || reflect.TypeOf(elements[i]) == l.special {
		return nil
	}
	return elements[i]
}

var errSample = errors.New("")

// UnreadStack is the stack of an error that no code has asked for its `stack`:
// once it has, that is a property like others. Loop-confined.
func UnreadStack(o *goja.Object) (frames []goja.StackFrame, ok bool) {
	l := thePlainLayout()
	if !l.ok {
		return nil, false
	}
	tab, data := l.implementation(o)
	if tab != l.failure || *(*bool)(unsafe.Add(data, l.read)) {
		return nil, false
	}
	return *(*[]goja.StackFrame)(unsafe.Add(data, l.frames)), true
}

// namesOf appends the names of an object's own enumerable properties.
func (e *Engine) namesOf(list []unistring.String, o *goja.Object) []unistring.String {
	list, ok := thePlainLayout().appendNames(list, o)
	if ok {
		return list
	}
	keys := e.Call(e.Primordial("ObjectKeys"), goja.Undefined(), o).(*goja.Object)
	for i := range int(e.arrayLength(keys)) {
		list = append(list, nameOf(e.element(keys, i).(goja.String)))
	}
	return list
}

// element is Get(o, i), nil if there is none.
func (e *Engine) element(o *goja.Object, i int) goja.Value {
	if v := thePlainLayout().element(o, i); v != nil {
		return v
	}
	return o.Get(strconv.Itoa(i))
}

// get is Get(o, name), nil if there is none.
func (e *Engine) get(o *goja.Object, name unistring.String) goja.Value {
	if p, ok := thePlainLayout().properties(o); ok {
		if v := p.values[name]; v != nil && reflect.TypeOf(v) != thePlainLayout().special {
			return v
		}
	}
	if units := name.AsUtf16(); units != nil {
		return e.Call(e.Primordial("ReflectGet"), goja.Undefined(), o, goja.StringFromUTF16(units[1:]))
	}
	return o.Get(string(name))
}

// define makes an own property of an object that JSON has made, whatever the
// prototypes have.
func (e *Engine) define(o *goja.Object, name unistring.String, v goja.Value) {
	p, ok := thePlainLayout().properties(o)
	switch {
	case ok:
		if _, again := p.values[name]; !again {
			*p.names = append(*p.names, name)
		}
		p.values[name] = v
	case name.AsUtf16() == nil:
		o.DefineDataProperty(string(name), v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	default:
		d := e.vm.NewObject()
		for _, flag := range []string{"writable", "enumerable", "configurable"} {
			d.Set(flag, true)
		}
		d.Set("value", v)
		e.Call(e.Primordial("ObjectDefineProperty"), goja.Undefined(), o, e.textOf(name), d)
	}
}

// String is a string of valid UTF-8. Text in ASCII costs one look at it and one
// small allocation; other text is converted when its units are asked for.
func (e *Engine) String(s string) goja.String {
	if l := thePlainLayout(); l.ok && isASCII(s) {
		return l.asciiString(s)
	}
	return e.vm.ToValue(s).(goja.String)
}

// asciiString is a string of text that is known to be ASCII.
func (l *plainLayout) asciiString(s string) goja.String {
	words := struct {
		tab  unsafe.Pointer
		data *string
	}{l.ascii, &s}
	return *(*goja.String)(unsafe.Pointer(&words))
}

// nameOf is a string as goja names properties; textOf is the way back.
func nameOf(s goja.String) unistring.String {
	if a, ok := asciiOf(s); ok {
		return unistring.String(a)
	}
	return unistring.FromUtf16(append([]uint16{unistring.BOM}, unitsOf(s)...))
}

func (e *Engine) textOf(name unistring.String) goja.Value {
	if units := name.AsUtf16(); units != nil {
		return goja.StringFromUTF16(units[1:])
	}
	return e.vm.ToValue(string(name))
}
