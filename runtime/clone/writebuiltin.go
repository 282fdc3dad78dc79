package clone

import (
	"fmt"
	"math"
	"math/big"
	"time"

	"github.com/dop251/goja"
)

// writeLeaf writes the objects that contain no others.
func (w *Writer) writeLeaf(o *goja.Object, k kind) error {
	switch k {
	case kindDate:
		ms := math.NaN()
		if t, valid := o.Export().(time.Time); valid {
			ms = float64(t.UnixMilli())
		}
		w.buf = appendDouble(append(w.buf, tagDate), ms)
	case kindPrimitive:
		return w.writeBoxed(o)
	case kindString:
		w.buf = append(w.buf, tagStringObject)
		w.writeString(w.c.prim.stringValueOf(goja.FunctionCall{This: o}).(goja.String))
	case kindRegExp:
		return w.writeRegExp(o)
	case kindBuffer:
		return w.writeBuffer(o)
	case kindTypedArray, kindDataView:
		return w.writeView(o, k)
	default:
		// Objects that Go made, with a type of its own, may be host objects.
		if handled, err := w.writeHost(o); handled || err != nil {
			return err
		}
		return w.c.refuse(o)
	}
	return nil
}

func (w *Writer) writeBoxed(o *goja.Object) error {
	switch v := o.Export().(type) {
	case bool:
		w.buf = append(w.buf, tagFalseObject)
		if v {
			w.buf[len(w.buf)-1] = tagTrueObject
		}
	case int64:
		w.buf = appendDouble(append(w.buf, tagNumberObject), float64(v))
	case float64:
		w.buf = appendDouble(append(w.buf, tagNumberObject), v)
	case *big.Int:
		w.buf = appendBigInt(append(w.buf, tagBigIntObject), v)
	default:
		return w.c.refuse(o)
	}
	return nil
}

func (w *Writer) writeRegExp(o *goja.Object) error {
	source, flags, ok := goja.Value(nil), "", false
	if w.c.cfg.RegExpSource != nil {
		source, flags, ok = w.c.cfg.RegExpSource(o)
	}
	var bits uint32
	if ok {
		for _, f := range regExpFlags {
			for i := range flags {
				if flags[i] == f.letter {
					bits |= f.bit
				}
			}
		}
	} else {
		call := goja.FunctionCall{This: o}
		source = w.c.prim.regExpSource(call)
		for i, f := range regExpFlags {
			if get := w.c.prim.regExpFlag[i]; get != nil && get(call).ToBoolean() {
				bits |= f.bit
			}
		}
	}
	text, isString := source.(goja.String)
	if !isString {
		return fmt.Errorf("clone: the source of a RegExp is a %T, not a string", source)
	}
	w.buf = append(w.buf, tagRegExp)
	w.writeString(text)
	w.buf = appendVarint(w.buf, uint64(bits))
	return nil
}

// entries returns what a Map or Set holds, in pairs: (value, key) of a Map,
// (value, value) of a Set. Getters run later, so the list is a copy.
func (w *Writer) entries(o *goja.Object, forEach native) []goja.Value {
	outer := w.c.collected
	w.c.collected = nil
	defer func() { w.c.collected = outer }()
	forEach(goja.FunctionCall{This: o, Arguments: []goja.Value{w.c.collect}})
	return w.c.collected
}

func (w *Writer) writeMap(o *goja.Object) error {
	pairs := w.entries(o, w.c.prim.mapForEach)
	w.buf = append(w.buf, tagBeginMap)
	for i := 0; i < len(pairs); i += 2 {
		if err := w.WriteValue(pairs[i+1]); err != nil {
			return err
		}
		if err := w.WriteValue(pairs[i]); err != nil {
			return err
		}
	}
	w.buf = appendVarint(append(w.buf, tagEndMap), uint64(len(pairs)))
	return nil
}

func (w *Writer) writeSet(o *goja.Object) error {
	pairs := w.entries(o, w.c.prim.setForEach)
	w.buf = append(w.buf, tagBeginSet)
	for i := 0; i < len(pairs); i += 2 {
		if err := w.WriteValue(pairs[i]); err != nil {
			return err
		}
	}
	w.buf = appendVarint(append(w.buf, tagEndSet), uint64(len(pairs)/2))
	return nil
}

func (w *Writer) writeBuffer(o *goja.Object) error {
	if i := w.transferIndex(o); i >= 0 {
		w.buf = appendVarint(append(w.buf, tagBufferTransfer), uint64(i))
		return nil
	}
	if w.c.cfg.Shared != nil && w.c.cfg.Shared.IsShared(o) {
		return w.writeShared(o)
	}
	buffer := o.Export().(goja.ArrayBuffer)
	if buffer.Detached() {
		return &DataCloneError{Message: "An ArrayBuffer is detached and could not be cloned."}
	}
	content := buffer.Bytes()
	if uint64(len(content)) > math.MaxUint32 {
		return w.c.refuse(o)
	}
	if len(content) > w.limit {
		return ErrTooLarge // before copying
	}
	switch limit := w.c.limitOf(o); {
	case int64(limit) > math.MaxUint32:
		return w.c.refuse(o)
	case limit != fixedLength:
		w.buf = appendVarint(appendVarint(append(w.buf, tagResizableBuffer), uint64(len(content))), uint64(limit))
	default:
		w.buf = appendVarint(append(w.buf, tagArrayBuffer), uint64(len(content)))
	}
	w.buf = append(w.buf, content...)
	return nil
}

// writeShared writes which of the shared buffers of a structured clone this is:
// its memory stays where it is, so it can leave the runtime in no other way
// (HTML, section 2.7.3, step 13). One that can grow has no second owner here.
func (w *Writer) writeShared(o *goja.Object) error {
	if w.o.shared == nil || w.c.limitOf(o) != fixedLength {
		return w.c.refuse(o)
	}
	w.buf = appendVarint(append(w.buf, tagSharedBuffer), uint64(len(*w.o.shared)))
	*w.o.shared = append(*w.o.shared, o)
	return nil
}

// limitOf is the limit of a resizable buffer, fixedLength for any other.
func (c *Codec) limitOf(buffer *goja.Object) int {
	if c.cfg.Resizable != nil {
		if limit, ok := c.cfg.Resizable.MaxByteLength(buffer); ok {
			return limit
		}
	}
	return fixedLength
}

func (w *Writer) viewBuffer(o *goja.Object, k kind) *goja.Object {
	if k == kindDataView {
		return w.c.prim.dataBuffer(goja.FunctionCall{This: o}).(*goja.Object)
	}
	return w.c.prim.viewBuffer(goja.FunctionCall{This: o}).(*goja.Object)
}

func (w *Writer) writeView(o *goja.Object, k kind) error {
	resizable, tracking := false, false
	if w.c.cfg.Resizable != nil {
		var outOfBounds bool
		if resizable, tracking, outOfBounds = w.c.cfg.Resizable.ViewOfResizable(o); outOfBounds {
			return w.c.refuse(o)
		}
	}
	call := goja.FunctionCall{This: o}
	tag, offset, length := byte(tagDataView), w.c.prim.dataOffset, w.c.prim.dataLength
	if k == kindTypedArray {
		offset, length = w.c.prim.viewOffset, w.c.prim.viewLength
		name := w.c.prim.viewTag(call).String()
		for _, t := range viewTypes {
			if t.name == name {
				tag = t.tag
			}
		}
	}
	w.buf = append(w.buf, tagBufferView, tag)
	w.WriteUint32(uint32(offset(call).ToInteger()))
	bytes, flags := uint32(length(call).ToInteger()), uint32(0)
	if resizable {
		flags |= viewOfResizable
	}
	if tracking {
		bytes, flags = 0, flags|viewLengthTracking
	}
	w.WriteUint32(bytes)
	w.WriteUint32(flags)
	return nil
}

// ownData returns an own data property's value without running a getter.
func (c *Codec) ownData(o *goja.Object, name string) (goja.Value, bool) {
	d, _ := c.prim.getOwnDescriptor(goja.FunctionCall{Arguments: []goja.Value{o, c.vm.ToValue(name)}}).(*goja.Object)
	if d == nil {
		return nil, false
	}
	v := d.Get("value")
	return v, v != nil
}

// toString converts to a string value; an object's own conversion may throw.
func (c *Codec) toString(v goja.Value) goja.String {
	if s, isString := v.(goja.String); isString {
		return s
	}
	return c.vm.ToValue(v.String()).(goja.String)
}

// errorKinds are the standard errors: V8's sub-tag (0 for Error and those it
// does not know) and workerd's number (ErrorTag in src/workerd/jsg/ser.c++).
var errorKinds = [...]struct {
	name   string
	v8     byte
	number uint32
}{
	{"Error", 0, 1},
	{"TypeError", errorType, 2},
	{"RangeError", errorRange, 3},
	{"ReferenceError", errorReference, 4},
	{"SyntaxError", errorSyntax, 5},
	{"WasmCompileError", 0, 6},
	{"WasmLinkError", 0, 7},
	{"WasmRuntimeError", 0, 8},
	{"WasmSuspendError", 0, 9},
	{"EvalError", errorEval, 10},
	{"URIError", errorURI, 11},
	{"AggregateError", 0, 12},
	{"SuppressedError", 0, 13},
}

func (w *Writer) writeError(o *goja.Object) error {
	// A platform class may be built on Error (DOMException).
	if handled, err := w.writeHost(o); handled || err != nil {
		return err
	}
	if w.o.EnhancedErrors {
		return w.writeNativeError(o)
	}
	message, hasMessage := w.c.ownData(o, "message")
	cause, hasCause := w.c.ownData(o, "cause")
	w.buf = append(w.buf, tagError)
	name := o.Get("name")
	if name == nil {
		name = goja.Undefined()
	}
	for _, e := range errorKinds {
		if e.v8 != 0 && e.name == name.String() {
			w.buf = append(w.buf, e.v8)
		}
	}
	if hasMessage {
		w.buf = append(w.buf, errorMessage)
		w.writeString(w.c.toString(message))
	}
	stack, isString := o.Get("stack").(goja.String)
	if isString && w.o.Mode == RPC { // the other side is told where of its own code it is
		text := ""
		if hasMessage {
			text = w.c.toString(message).String()
		}
		stack = w.c.vm.ToValue(headline(name.String(), text)).(goja.String)
	}
	if isString {
		w.buf = append(w.buf, errorStack)
		w.writeString(stack)
	}
	if hasCause {
		w.buf = append(w.buf, errorCause)
		if err := w.WriteValue(cause); err != nil {
			return err
		}
	}
	w.buf = append(w.buf, errorEnd)
	return nil
}
