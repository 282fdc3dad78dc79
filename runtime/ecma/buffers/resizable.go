package buffers

import (
	_ "embed"
	"math"
	"weak"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

//go:embed resizable.js
var resizableSource string

var resizablePrelude = engine.NewPrelude("resizable.js", resizableSource)

// goja's buffers have one length for ever. Resizable ones (ECMA-262, 25.1) are
// buffers whose bytes are exchanged, and whose views are set anew: a view that
// is out of bounds lies over a detached buffer meanwhile, since goja refuses
// for such a view what the specification refuses. Whatever walks a view while
// user code may resize its buffer is written in js/resizable.js. All this is
// put in place when a program makes its first resizable buffer.
//
// resizables is loop-confined.
type resizables struct {
	engine *engine.Engine
	of     map[weak.Pointer[goja.Object]]*resizable // by buffer and by view
	sweep  int                                      // how many there may be until the dead are looked for
}

// resizable is one buffer.
type resizable struct {
	buffer weak.Pointer[goja.Object]
	Limit  int
	nobody *goja.Object // the detached buffer under views that are out of bounds
	views  []resizedView
}

// resizedView is what a view was made with, in bytes.
type resizedView struct {
	view           weak.Pointer[goja.Object]
	offset, length int
	tracking       bool // its length follows the buffer's
}

// maxReserved bounds maxByteLength, as V8's address space does.
const maxReserved = 1 << 32

// ResizableOf is what is known of a resizable buffer or of a view on one, nil
// for anything else.
func ResizableOf(e *engine.Engine, v goja.Value) *resizable {
	if o, ok := v.(*goja.Object); ok && states.Of(e).resizables != nil {
		return states.Of(e).resizables.of[weak.Make(o)]
	}
	return nil
}

// limitOf is the maxByteLength that the options of a constructor ask for
// (25.1.3.7); ok is false without one.
func limitOf(e *engine.Engine, length int64, options goja.Value) (limit int, ok bool) {
	o, isObject := options.(*goja.Object)
	if !isObject {
		return 0, false
	}
	asked := o.Get("maxByteLength")
	if asked == nil || goja.IsUndefined(asked) {
		return 0, false
	}
	switch n := builtin.ToIndex(e, asked, "Invalid array buffer max length"); {
	case n < length:
		e.Throw("RangeError", "Invalid array buffer max length")
	case n > maxReserved || !insides.TheViews().Known:
		e.Throw("RangeError", builtin.BadBufferLength)
	default:
		limit = int(n)
	}
	return limit, true
}

// makeResizable lets buffer grow to limit bytes.
func makeResizable(e *engine.Engine, buffer *goja.Object, limit int) {
	if states.Of(e).resizables == nil {
		installResizables(e)
	}
	nobody := e.VM().NewArrayBuffer(nil)
	nobody.Detach()
	states.Of(e).resizables.add(buffer, &resizable{buffer: weak.Make(buffer), Limit: limit, nobody: e.VM().ToValue(nobody).(*goja.Object)})
}

// MaxByteLength is the limit of a resizable buffer; ok is false for any other
// object. Loop-confined.
func MaxByteLength(e *engine.Engine, buffer *goja.Object) (limit int, ok bool) {
	of := ResizableOf(e, buffer)
	if of == nil || of.buffer != weak.Make(buffer) {
		return 0, false
	}
	return of.Limit, true
}

// NewResizableBuffer makes an ArrayBuffer of content, which it takes over, that
// can grow to limit bytes. Loop-confined.
func NewResizableBuffer(e *engine.Engine, content []byte, limit int) *goja.Object {
	buffer := e.VM().ToValue(e.VM().NewArrayBuffer(content)).(*goja.Object)
	makeResizable(e, buffer, limit)
	return buffer
}

// ViewOfResizable tells of a view whether its buffer is resizable, whether its
// length follows the buffer's, and whether the buffer has become too short for
// it. Loop-confined.
func ViewOfResizable(e *engine.Engine, view *goja.Object) (resizable, tracking, outOfBounds bool) {
	of := ResizableOf(e, view)
	if of == nil {
		return false, false, false
	}
	s, _ := insides.TheViews().Look(view)
	return true, of.viewed(view).tracking, s.Over(of.nobody)
}

func (r *resizables) add(o *goja.Object, of *resizable) {
	if len(r.of) >= r.sweep {
		for p := range r.of { // order-independent: the dead go
			if p.Value() == nil {
				delete(r.of, p)
			}
		}
		r.sweep = 2*len(r.of) + 64
	}
	r.of[weak.Make(o)] = of
}

// track takes note of a view that was made with args; construct makes it.
func (r *resizables) track(args []goja.Value, size int, construct func(args []goja.Value) *goja.Object) *goja.Object {
	var of *resizable
	if len(args) > 0 {
		of = ResizableOf(r.engine, args[0])
	}
	if _, isBuffer := builtin.AsBuffer(args); of == nil || !isBuffer {
		return construct(args)
	}
	tracking := len(args) < 3 || goja.IsUndefined(args[2])
	if tracking && size > 1 { // a rest smaller than an element does not count
		args = append([]goja.Value(nil), args...)
		c := goja.FunctionCall{Arguments: append(args, goja.Undefined(), goja.Undefined())[:3]}
		offset := 0.0
		if !goja.IsUndefined(c.Arguments[1]) {
			offset = max(builtin.NumberAt(r.engine, &c, 1), 0)
		}
		args = c.Arguments
		switch buffer, _ := builtin.AsBuffer(args); {
		case buffer.Detached() || math.Mod(offset, float64(size)) != 0: // goja refuses it
		case offset > float64(len(buffer.Bytes())):
			r.engine.Throw("RangeError", "Start offset %.0f is outside the bounds of the buffer", offset)
		default:
			args[2] = r.engine.VM().ToValue((len(buffer.Bytes()) - int(offset)) / size)
		}
	}
	view := construct(args)
	if s, ok := insides.TheViews().Look(view); ok {
		of.views = append(of.views, resizedView{weak.Make(view), s.At() * s.Size(), s.Length() * s.Size(), tracking})
		r.add(view, of)
	}
	return view
}

// Resize gives the buffer n bytes. Bytes that come are zero; what goes stays
// allocated, since a native may be in the middle of it.
func Resize(e *engine.Engine, of *resizable, n int) {
	buffer := of.buffer.Value()
	if buffer == nil {
		return
	}
	data := insides.TheViews().BytesOf(buffer)
	switch old := len(*data); {
	case n > cap(*data):
		e.Memory.Allocate(int64(n), builtin.BadBufferLength)
		grown := make([]byte, n, min(max(n, 2*old), of.Limit))
		copy(grown, *data)
		*data = grown
	case n > old:
		*data = (*data)[:n]
		clear((*data)[old:])
	default:
		*data = (*data)[:n]
	}
	alive := of.views[:0]
	for _, w := range of.views {
		view := w.view.Value()
		if view == nil {
			continue
		}
		alive = append(alive, w)
		s, _ := insides.TheViews().Look(view)
		if w.tracking {
			w.length = (n - w.offset) / s.Size() * s.Size()
		}
		if w.offset > n || w.offset+w.length > n {
			s.Put(of.nobody, 0, 0)
			continue
		}
		s.Put(buffer, w.offset/s.Size(), w.length/s.Size())
	}
	of.views = alive
}

// viewed is the declaration of a view.
func (of *resizable) viewed(view *goja.Object) (w resizedView) {
	for _, w = range of.views {
		if w.view == weak.Make(view) {
			break
		}
	}
	return w
}

// installResizables has the views of goja know resizable buffers.
func installResizables(e *engine.Engine) {
	r := &resizables{engine: e, of: map[weak.Pointer[goja.Object]]*resizable{}}
	states.Of(e).resizables = r
	methods := e.Load(resizablePrelude, e.Native(
		engine.Func{Name: "classOf", Length: 1, Fn: func(c goja.FunctionCall) goja.Value { return states.Of(e).viewClasses[c.Argument(0).String()] }},
		engine.Func{Name: "viewed", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			view := c.Argument(0).(*goja.Object)
			of := ResizableOf(e, view)
			w := of.viewed(view)
			return e.VM().NewArray(of.buffer.Value(), w.offset, w.tracking)
		}},
	)).(*goja.Object)
	typed := e.Primordial("TypedArray").Get("prototype").(*goja.Object)
	for _, name := range methods.GetOwnPropertyNames() {
		method, _ := goja.AssertFunction(methods.Get(name))
		native, ok := typed.Get(name).(*goja.Object)
		if !ok {
			continue
		}
		insides.Amend(native, func(c goja.FunctionCall, original func(goja.FunctionCall) goja.Value) goja.Value {
			if ResizableOf(e, c.This) == nil {
				return original(c)
			}
			v, err := method(c.This, c.Arguments...)
			if err != nil {
				e.Rethrow(err)
			}
			return v
		})
	}
	data := e.Primordial("DataView")
	for _, proto := range []*goja.Object{typed, data.Get("prototype").(*goja.Object)} {
		descriptor := e.Call(e.Primordial("ObjectGetOwnPropertyDescriptor"), goja.Undefined(), proto, e.VM().ToValue("buffer")).(*goja.Object)
		insides.Amend(descriptor.Get("get").(*goja.Object), func(c goja.FunctionCall, original func(goja.FunctionCall) goja.Value) goja.Value {
			if of := ResizableOf(e, c.This); of != nil {
				return of.buffer.Value()
			}
			return original(c)
		})
	}
	slot := insides.TheGoja().ConstructorOf(data)
	construct := *slot
	*slot = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
		return r.track(args, 1, func(args []goja.Value) *goja.Object { return construct(args, newTarget) })
	}
}
