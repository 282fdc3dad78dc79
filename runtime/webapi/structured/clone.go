// Package structured is structuredClone (HTML, section 2.7). Classes that can be
// cloned add themselves as codecs of package clone.
package structured

import (
	"errors"
	"slices"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/ecma/buffers"
	"minido.dev/minido/runtime/webidl"
)

// Cloner is the structuredClone of an isolate. Loop-confined.
type Cloner struct{ *webidl.Realm }

// New makes the Cloner of a realm, and the global structuredClone.
func New(r *webidl.Realm) *Cloner {
	c := &Cloner{Realm: r}
	r.Engine.Lazies.Interface("structuredClone", func() goja.Value {
		return r.GlobalFunc("structuredClone", func(call goja.FunctionCall) goja.Value {
			r.Need(call, 1, "", "structuredClone", "Value")
			options := call.Argument(1)
			if _, ok := options.(*goja.Object); !ok && !webidl.IsMissing(options) {
				r.BadArgument("", "structuredClone", 2, "StructuredCloneOptions")
			}
			var transfer []*goja.Object
			if list := webidl.Get(options, "transfer"); !goja.IsUndefined(list) {
				transfer = transferList(r, list)
			}
			return c.Clone(call.Arguments[0], transfer)
		})
	})
	return c
}

const notTransferable = "Object is not transferable"

// Clone is HTML's StructuredSerializeWithTransfer and
// StructuredDeserializeWithTransfer (sections 2.7.7 and 2.7.8) as in workerd
// (jsg/ser.c++): a view transfers its buffer, one that is detached or named
// twice is passed over. No platform object is transferable, streams are not either.
func (c *Cloner) Clone(v goja.Value, transfer []*goja.Object) goja.Value {
	o := clone.Options{Mode: clone.StructuredClone, EnhancedErrors: c.Enabled(compat.EnhancedErrorSerialization), HostCallables: true}
	for _, obj := range transfer {
		if buffer, ok := webidl.Get(obj, "buffer").(*goja.Object); ok && c.isView(obj) {
			obj = buffer
		}
		if !webidl.IsArrayBuffer(obj) || buffers.IsShared(c.Engine, obj) {
			c.Engine.Throw("TypeError", notTransferable)
		}
		switch {
		case obj.Export().(goja.ArrayBuffer).Detached(), slices.Contains(o.Transfer, obj):
		case buffers.Kept(c.Engine, obj):
			panic(c.NewDOMException("DataCloneError", "Object is not transferable."))
		default:
			o.Transfer = append(o.Transfer, obj)
		}
	}
	result, err := c.Realm.Clone.StructuredClone(v, o)
	if err != nil {
		panic(Error(c.Realm, err))
	}
	return result
}

// isView reports whether obj is a view of an ArrayBuffer.
func (c *Cloner) isView(obj *goja.Object) bool {
	return c.Engine.Call(c.Engine.Primordial("ArrayBufferIsView"), goja.Undefined(), obj).ToBoolean()
}

// Error is the JavaScript value of an error from package clone: the
// DOMException DataCloneError for what cannot be cloned.
func Error(r *webidl.Realm, err error) goja.Value {
	var refused *clone.DataCloneError
	var damaged *clone.DeserializeError
	switch {
	case errors.As(err, &refused):
		return r.NewDOMException("DataCloneError", refused.Message)
	case errors.As(err, &damaged):
		return r.NewDOMException("DataCloneError", damaged.Error())
	case errors.Is(err, clone.ErrTooDeep):
		return r.Engine.Errors.New("RangeError", clone.ErrTooDeep.Error())
	case errors.Is(err, clone.ErrNotTransferable):
		return r.Engine.Errors.New("TypeError", clone.ErrNotTransferable.Error())
	}
	return r.Engine.Errors.FromGo(err)
}

// transferList converts a transfer list.
func transferList(r *webidl.Realm, list goja.Value) []*goja.Object {
	var all []*goja.Object
	r.Array(list, "transfer", "StructuredCloneOptions", func(item goja.Value) {
		obj, ok := item.(*goja.Object)
		if !ok {
			r.Engine.Throw("TypeError", notTransferable)
		}
		all = append(all, obj)
	})
	return all
}
