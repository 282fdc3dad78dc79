package isolate

import (
	"slices"
	"strings"

	"github.com/dop251/goja"
)

// builtin is the namespace of a module of the host.
func (i *Isolate) builtin(spec string) (goja.Value, error) {
	if ns := i.namespaces[spec]; ns != nil {
		return ns, nil
	}
	exports, err := i.hosted(spec)
	if err != nil {
		return nil, err
	}
	var ns *goja.Object
	if strings.HasPrefix(spec, "cloudflare:") {
		obj := exports.(*goja.Object)
		ns = i.namespace(obj, obj.GetOwnPropertyNames(), nil)
	} else {
		obj, names := exports.ToObject(i.vm), i.node.Surface(strings.TrimPrefix(spec, "node:"))
		if names == nil {
			names = obj.Keys()
		}
		ns = i.namespace(obj, names, exports)
	}
	if i.namespaces == nil {
		i.namespaces = map[string]*goja.Object{}
	}
	i.namespaces[spec] = ns
	return ns, nil
}

// hosted is what a module of the host exports.
func (i *Isolate) hosted(spec string) (goja.Value, error) {
	if m, ok := i.CF.Module(spec); ok {
		return m, nil
	}
	if spec == "cloudflare:node" {
		return i.node.CloudflareNode()
	}
	return i.node.Require(spec)
}

// namespace is a module namespace object (ECMA-262, section 10.4.6): names of exports in
// their order, and standard as default unless it is nil. What an export is made of is not
// made before it is read.
func (i *Isolate) namespace(exports *goja.Object, names []string, standard goja.Value) *goja.Object {
	ns := i.vm.CreateObject(nil)
	names = slices.Clone(names)
	if standard != nil {
		names = append(names, "default")
	}
	slices.Sort(names)
	for _, name := range names {
		if name == "default" && standard != nil {
			fixed(ns, name, standard)
			continue
		}
		desc, ok := i.Engine.Call(i.Engine.Primordial("ObjectGetOwnPropertyDescriptor"), goja.Undefined(), exports, i.vm.ToValue(name)).(*goja.Object)
		switch {
		case ok && desc.Get("value") != nil:
			fixed(ns, name, desc.Get("value"))
		case ok:
			i.Engine.Lazies.Export(ns, name, func() goja.Value { return exports.Get(name) })
		case exports.Get(name) != nil: // inherited
			fixed(ns, name, exports.Get(name))
		case standard != nil && exports.Get("name") != nil && exports.Get("name").String() == name: // the class that is the module
			fixed(ns, name, standard)
		}
	}
	ns.DefineDataPropertySymbol(goja.SymToStringTag, i.vm.ToValue("Module"), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	i.Engine.Call(i.Engine.Primordial("ObjectPreventExtensions"), goja.Undefined(), ns)
	return ns
}

// fixed defines what cannot be assigned to.
func fixed(ns *goja.Object, name string, v goja.Value) {
	ns.DefineDataProperty(name, v, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_TRUE)
}
