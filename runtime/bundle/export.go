package bundle

import (
	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
)

// export is __export(target, all): a getter of target for each name of all, whose value
// is the getter.
func (in *instance) export(call goja.FunctionCall) goja.Value {
	target, all := call.Argument(0).ToObject(in.vm), call.Argument(1).ToObject(in.vm)
	members, ok := insides.ThePlainLayout().AppendMembers(nil, all)
	for _, m := range members {
		in.getter(target, m.Name.String(), m.Value)
	}
	if !ok {
		for _, name := range all.Keys() {
			in.getter(target, name, all.Get(name))
		}
	}
	return goja.Undefined()
}

// accessor is getter for helpers.
func (in *instance) accessor(call goja.FunctionCall) goja.Value {
	in.getter(call.Argument(0).ToObject(in.vm), call.Argument(1).String(), call.Argument(2))
	return goja.Undefined()
}

// getter has reading a name call a function.
func (in *instance) getter(target *goja.Object, name string, fn goja.Value) {
	if err := target.DefineAccessorProperty(name, fn, nil, goja.FLAG_TRUE, goja.FLAG_TRUE); err != nil {
		in.throw(err)
	}
}
