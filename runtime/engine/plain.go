package engine

import (
	"strconv"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
	"minido.dev/minido/internal/insides"
)

// What JSON does with objects, arrays and strings: by a look through the mirrors
// where goja is as they show it, otherwise through goja's interface.

// appendMembers appends an object's own enumerable properties. Their values are
// those of now, if a look is enough; code of the user's may run otherwise, and
// ran says so.
func (e *Engine) appendMembers(list []insides.Property, o *goja.Object) (_ []insides.Property, ran bool) {
	if list, ok := e.maker.Plain.AppendMembers(list, o); ok {
		return list, false
	}
	keys := e.Call(e.Primordial("ObjectKeys"), goja.Undefined(), o).(*goja.Object)
	for i := range int(e.arrayLength(keys)) {
		list = append(list, insides.Property{Name: insides.NameOf(e.element(keys, i).(goja.String))})
	}
	return list, true
}

// element is Get(o, i), nil if there is none.
func (e *Engine) element(o *goja.Object, i int) goja.Value {
	if v := e.maker.Plain.Element(o, i); v != nil {
		return v
	}
	return o.Get(strconv.Itoa(i))
}

// get is Get(o, name), nil if there is none.
func (e *Engine) get(o *goja.Object, name unistring.String) goja.Value {
	if v := e.maker.Plain.Own(o, name); v != nil {
		return v
	}
	if units := name.AsUtf16(); units != nil {
		return e.Call(e.Primordial("ReflectGet"), goja.Undefined(), o, goja.StringFromUTF16(units[1:]))
	}
	return o.Get(string(name))
}

// define makes an own property of an object that JSON has made, whatever the
// prototypes have.
func (e *Engine) define(o *goja.Object, name unistring.String, v goja.Value) {
	if name.AsUtf16() == nil {
		o.DefineDataProperty(string(name), v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		return
	}
	d := e.vm.NewObject()
	for _, flag := range []string{"writable", "enumerable", "configurable"} {
		d.Set(flag, true)
	}
	d.Set("value", v)
	e.Call(e.Primordial("ObjectDefineProperty"), goja.Undefined(), o, e.maker.TextOf(name), d)
}

// objectOf makes an object that has these members, whatever the prototypes have.
func (e *Engine) objectOf(members []insides.Member) *goja.Object {
	if o := e.maker.ObjectOf(members); o != nil {
		return o
	}
	o := e.vm.NewObject()
	for _, m := range members {
		e.define(o, m.Name.Text, m.Value)
	}
	return o
}
