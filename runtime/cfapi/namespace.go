package cfapi

import (
	"github.com/dop251/goja"

	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/runtime/engine"
)

// Namespace is where the objects of one class are found. Safe for concurrent use.
type Namespace interface {
	// Class is the class name, for messages.
	Class() string
	// IDs derives and checks the namespace's ids.
	IDs() *objectid.Namespace
	// Stub is a new stub of the object; its calls arrive in order.
	Stub(id objectid.ID) Target
}

// namespace is a DurableObjectNamespace; loopback says that it stands on
// ctx.exports, where it also names its class.
type namespace struct {
	ns       Namespace
	loopback bool
}

type objectID struct{ id objectid.ID }

func (a *API) defineIDs() {
	a.ids = engine.DefineClass(a.Engine, engine.ClassDef[*objectID]{
		Name: "DurableObjectId",
		Methods: []engine.Method[*objectID]{
			{Name: "toString", Fn: func(o *objectID, _ goja.FunctionCall) goja.Value { return a.vm.ToValue(o.id.String()) }},
			{Name: "equals", Length: 1, Fn: func(o *objectID, call goja.FunctionCall) goja.Value {
				other, ok := a.ids.Of(call.Argument(0))
				if !ok {
					a.Engine.Throw("TypeError", "Failed to execute 'equals' on 'DurableObjectId': parameter 1 is not of type 'DurableObjectId'.")
				}
				return a.vm.ToValue(o.id.Equal(other.id))
			}},
		},
	})
	a.spaces = engine.DefineClass(a.Engine, engine.ClassDef[*namespace]{
		Name: "DurableObjectNamespace",
		Methods: []engine.Method[*namespace]{
			{Name: "newUniqueId", Length: 1, Fn: func(n *namespace, call goja.FunctionCall) goja.Value {
				a.Engine.IO("newUniqueId()") // randomness is not for the global scope
				dictionary(a, call, "newUniqueId", 1, "NewUniqueIdOptions")
				if o, ok := call.Argument(0).(*goja.Object); ok {
					a.noJurisdiction(o.Get("jurisdiction"))
				}
				id, err := n.ns.IDs().Unique(a.Engine.Entropy())
				if err != nil {
					a.Engine.Throw("Error", "newUniqueId(): %s", err)
				}
				return a.ObjectID(id)
			}},
			{Name: "idFromName", Length: 1, Fn: func(n *namespace, call goja.FunctionCall) goja.Value {
				return a.ObjectID(n.ns.IDs().FromName(a.nameArg(call, "idFromName")))
			}},
			{Name: "idFromString", Length: 1, Fn: func(n *namespace, call goja.FunctionCall) goja.Value {
				id, err := n.ns.IDs().Parse(a.nameArg(call, "idFromString"))
				if err != nil {
					a.Engine.Throw("TypeError", "%s", err)
				}
				return a.ObjectID(id)
			}},
			{Name: "get", Length: 2, Fn: a.namespaceGet},
			{Name: "getByName", Length: 2, Fn: func(n *namespace, call goja.FunctionCall) goja.Value {
				name := a.nameArg(call, "getByName")
				dictionary(a, call, "getByName", 2, "GetDurableObjectOptions")
				return a.stubFor(n.ns, a.ObjectID(n.ns.IDs().FromName(name)))
			}},
			{Name: "jurisdiction", Length: 1, Fn: func(n *namespace, call goja.FunctionCall) goja.Value {
				a.noJurisdiction(call.Argument(0))
				return call.This
			}},
		},
	})
}

func (a *API) noJurisdiction(v goja.Value) {
	if v != nil && !goja.IsUndefined(v) && !goja.IsNull(v) {
		a.Engine.Throw("Error", "%s", objectid.ErrJurisdiction)
	}
}

// nameArg is the one argument of a method that takes a string.
func (a *API) nameArg(call goja.FunctionCall, method string) string {
	if len(call.Arguments) == 0 {
		a.Engine.Throw("TypeError", "Failed to execute '%s' on 'DurableObjectNamespace': parameter 1 is not of type 'string'.", method)
	}
	return call.Arguments[0].String()
}

// dictionary refuses an nth argument that is neither left out nor an object.
func dictionary(a *API, call goja.FunctionCall, method string, n int, typ string) {
	v := call.Argument(n - 1)
	if _, ok := v.(*goja.Object); !ok && !goja.IsUndefined(v) && !goja.IsNull(v) {
		a.Platform.BadArgument("DurableObjectNamespace", method, n, typ)
	}
}

func (a *API) namespaceGet(n *namespace, call goja.FunctionCall) goja.Value {
	if _, ok := a.ids.Of(call.Argument(0)); !ok {
		a.Engine.Throw("TypeError", "Failed to execute 'get' on 'DurableObjectNamespace': parameter 1 is not of type 'DurableObjectId'.")
	}
	dictionary(a, call, "get", 2, "GetDurableObjectOptions")
	// An id of another namespace is one of this, too, as in workerd.
	return a.stubFor(n.ns, call.Arguments[0].(*goja.Object))
}

// stubFor makes the stub of the object whose DurableObjectId is given;
// Object.keys(stub) is name, which may be undefined, and id, that very object.
func (a *API) stubFor(ns Namespace, idObject *goja.Object) goja.Value {
	id, _ := a.IDOf(idObject)
	a.Engine.IO("a Durable Object stub")
	own := a.vm.NewObject()
	own.Set("name", goja.Undefined())
	if name, ok := id.Name(); ok {
		own.Set("name", name)
	}
	own.Set("id", idObject)
	v, err := a.objectStub(goja.Undefined(), a.handle(ns.Stub(id)), own)
	if err != nil {
		a.Engine.Rethrow(err)
	}
	return v
}

// ObjectID makes the DurableObjectId of id.
func (a *API) ObjectID(id objectid.ID) *goja.Object {
	obj := a.ids.Wrap(&objectID{id})
	name := goja.Undefined()
	if n, ok := id.Name(); ok {
		name = a.vm.ToValue(n)
	}
	obj.DefineDataProperty("jurisdiction", goja.Undefined(), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	obj.DefineDataProperty("name", name, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	return obj
}

// IDOf is the id of a DurableObjectId; ok is false for anything else.
func (a *API) IDOf(v goja.Value) (id objectid.ID, ok bool) {
	o, ok := a.ids.Of(v)
	if !ok {
		return id, false
	}
	return o.id, true
}

// Namespace makes the binding of a durable object class.
func (a *API) Namespace(ns Namespace) *goja.Object { return a.spaces.Wrap(&namespace{ns: ns}) }
