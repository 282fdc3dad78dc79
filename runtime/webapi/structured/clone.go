// Package structured is structuredClone and the transfer of platform objects
// (HTML, section 2.7). Classes add themselves: what can be cloned as a codec of
// package clone, what can be transferred here.
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

// Cloner is the structuredClone of an isolate and the transfer of platform
// objects. Loop-confined.
type Cloner struct {
	*webidl.Realm
	kinds []Transferable
	now   *transferring // of the clone that runs now, nil between clones
}

// Transferable is a class of platform objects that a transfer list may name.
type Transferable struct {
	// Refuse says why obj cannot be transferred, "" if it can; own is false for
	// an object of another class. It runs no user code.
	Refuse func(obj *goja.Object) (text string, own bool)
	// Move gives the object that takes the place of obj, which is of no use from
	// then on.
	Move func(obj *goja.Object) *goja.Object
}

// AddTransferable makes a class transferable. Classes are asked in the order
// in which they were added.
func (c *Cloner) AddTransferable(t Transferable) { c.kinds = append(c.kinds, t) }

// New makes the Cloner of a realm, and the global structuredClone.
func New(r *webidl.Realm) *Cloner {
	c := &Cloner{Realm: r}
	r.Hosts.Add(transferCodec{c}, hostTransferred)
	r.Engine.Lazies.Global("structuredClone", func() goja.Value {
		return r.GlobalFunc("structuredClone", 1, func(call goja.FunctionCall) goja.Value {
			r.Need(call, 1, "", "structuredClone", "JsValue")
			options := call.Argument(1)
			if _, ok := options.(*goja.Object); !ok && !webidl.IsMissing(options) {
				r.BadArgument("", "structuredClone", 2, "StructuredCloneOptions")
			}
			var transfer []*goja.Object
			if list := webidl.Get(options, "transfer"); !goja.IsUndefined(list) {
				transfer = transferList(r, list)
			}
			result, _ := c.Clone(call.Arguments[0], transfer)
			return result
		})
	})
	return c
}

const notTransferable = "Object is not transferable"

// hostTransferred tags the place of a transferred platform object in the bytes
// of a structured clone. Such bytes never leave the isolate.
const hostTransferred clone.HostTag = 1 << 20

// transferring are the platform objects of the transfer list of the structured
// clone that runs now, and those that stand for them on the other side, nil
// until made. Loop-confined.
type transferring struct {
	from, to []*goja.Object
}

// Clone is HTML's StructuredSerializeWithTransfer and
// StructuredDeserializeWithTransfer (sections 2.7.7 and 2.7.8) as in workerd
// (jsg/ser.c++): a view transfers its buffer, one that is detached or named
// twice is passed over. It gives the clone, and the platform objects that took
// the place of transferred ones.
func (c *Cloner) Clone(v goja.Value, transfer []*goja.Object) (result goja.Value, received []*goja.Object) {
	o := clone.Options{Mode: clone.StructuredClone, EnhancedErrors: c.Enabled(compat.EnhancedErrorSerialization), HostCallables: true}
	refuse := func(text string) { panic(c.NewDOMException("DataCloneError", text)) }
	t := &transferring{}
	for _, obj := range transfer {
		if buffer, ok := webidl.Get(obj, "buffer").(*goja.Object); ok && c.isView(obj) {
			obj = buffer
		}
		if webidl.IsArrayBuffer(obj) && !buffers.IsShared(c.Engine, obj) {
			switch {
			case obj.Export().(goja.ArrayBuffer).Detached(), slices.Contains(o.Transfer, obj):
			case buffers.Kept(c.Engine, obj):
				refuse("Object is not transferable.")
			default:
				o.Transfer = append(o.Transfer, obj)
			}
			continue
		}
		if kind, text := c.kindOf(obj); kind.Move == nil {
			c.Engine.Throw("TypeError", notTransferable)
		} else if text != "" {
			refuse(text)
		}
		if !slices.Contains(t.from, obj) {
			t.from = append(t.from, obj)
		}
	}
	t.to = make([]*goja.Object, len(t.from))
	outer := c.now
	c.now = t
	defer func() { c.now = outer }()
	result, err := c.Realm.Clone.StructuredClone(v, o)
	if err != nil {
		panic(Error(c.Realm, err))
	}
	for i := range t.from {
		c.receive(t, i)
	}
	return result, t.to
}

// receive makes the object that stands for the ith transferred one.
func (c *Cloner) receive(t *transferring, i int) *goja.Object {
	if t.to[i] == nil {
		kind, _ := c.kindOf(t.from[i])
		t.to[i] = kind.Move(t.from[i])
	}
	return t.to[i]
}

// isView reports whether obj is a view of an ArrayBuffer.
func (c *Cloner) isView(obj *goja.Object) bool {
	return c.Engine.Call(c.Engine.Primordial("ArrayBufferIsView"), goja.Undefined(), obj).ToBoolean()
}

// kindOf is the class that transfers an object; refused says why it cannot be
// transferred, "" if it can.
func (c *Cloner) kindOf(obj *goja.Object) (kind Transferable, refused string) {
	for _, k := range c.kinds {
		if text, own := k.Refuse(obj); own {
			return k, text
		}
	}
	return Transferable{}, notTransferable
}

// transferCodec writes objects of the transfer list by their place in it.
type transferCodec struct{ c *Cloner }

// Match implements clone.HostCodec.
func (x transferCodec) Match(obj *goja.Object, mode clone.Mode) bool {
	t := x.c.now
	return mode == clone.StructuredClone && t != nil && slices.Contains(t.from, obj)
}

// Write implements clone.HostCodec.
func (x transferCodec) Write(w *clone.Writer, obj *goja.Object) error {
	w.WriteUint32(uint32(slices.Index(x.c.now.from, obj)))
	return nil
}

// Read implements clone.HostCodec.
func (x transferCodec) Read(r *clone.Reader, _ clone.HostTag) (*goja.Object, error) {
	i, err := r.ReadUint32()
	if err != nil {
		return nil, err
	}
	t := x.c.now
	if t == nil || int(i) >= len(t.from) {
		return nil, errors.New("a transferred object is missing")
	}
	return x.c.receive(t, int(i)), nil
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
