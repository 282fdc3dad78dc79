package json

import (
	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// What JSON does with objects, arrays and strings: by a look through the mirrors
// where goja is as they show it, otherwise through goja's interface.

// appendMembers appends an object's own enumerable properties. Their values are
// those of now, if a look is enough; code of the user's may run otherwise, and
// ran says so.
func appendMembers(e *engine.Engine, list []insides.Property, o *goja.Object) (_ []insides.Property, ran bool) {
	if list, ok := e.Maker().Plain.AppendMembers(list, o); ok {
		return list, false
	}
	keys := e.Call(e.Primordial("ObjectKeys"), goja.Undefined(), o).(*goja.Object)
	for i := range int(builtin.LengthOf(e, keys)) {
		list = append(list, insides.Property{Name: insides.NameOf(builtin.Element(e, keys, i).(goja.String))})
	}
	return list, true
}

// get is Get(o, name), nil if there is none.
func get(e *engine.Engine, o *goja.Object, name unistring.String) goja.Value {
	if v := e.Maker().Plain.Own(o, name); v != nil {
		return v
	}
	if units := name.AsUtf16(); units != nil {
		return e.Call(e.Primordial("ReflectGet"), goja.Undefined(), o, goja.StringFromUTF16(units[1:]))
	}
	return o.Get(string(name))
}

// define makes an own property of an object that JSON has made, whatever the
// prototypes have.
func define(e *engine.Engine, o *goja.Object, name unistring.String, v goja.Value) {
	if name.AsUtf16() == nil {
		o.DefineDataProperty(string(name), v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		return
	}
	d := e.VM().NewObject()
	for _, flag := range []string{"writable", "enumerable", "configurable"} {
		d.Set(flag, true)
	}
	d.Set("value", v)
	e.Call(e.Primordial("ObjectDefineProperty"), goja.Undefined(), o, e.Maker().TextOf(name), d)
}

// objectOf makes an object that has these members, whatever the prototypes have.
func objectOf(e *engine.Engine, members []insides.Member) *goja.Object {
	if o := e.Maker().ObjectOf(members); o != nil {
		return o
	}
	o := e.VM().NewObject()
	for _, m := range members {
		define(e, o, m.Name.Text, m.Value)
	}
	return o
}
