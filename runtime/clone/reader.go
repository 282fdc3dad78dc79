package clone

import (
	"slices"

	"github.com/dop251/goja"
)

// Reader reads one value. Host codecs receive it to read the body of their
// object; it is valid only until their Read returns. Loop-confined.
type Reader struct {
	cursor
	c       *Codec
	o       Options
	objects []*goja.Object // by number; nil while being read
	buffers []*goja.Object // the buffers made of them
	keys    [keySlots]string
	items   []any // elements (goja.Value) being collected, a stack
	arrays  []int // numbers of the arrays being collected, a stack
}

// Mode returns the purpose of the value being read.
func (r *Reader) Mode() Mode { return r.o.Mode }

// External returns Options.External.
func (r *Reader) External() any { return r.o.External }

// ReadUint32 reads a varint, of which it keeps 32 bits.
func (r *Reader) ReadUint32() (uint32, error) { return r.uint32() }

// ReadUint64 reads a varint.
func (r *Reader) ReadUint64() (uint64, error) { return r.varint() }

// ReadRaw returns the next n bytes. They are part of the input: copy them to
// keep or change them.
func (r *Reader) ReadRaw(n uint64) ([]byte, error) { return r.take(n) }

// ReadLengthDelimited reads a length and that many bytes, which are part of the
// input (jsg::Deserializer::readLengthDelimitedBytes).
func (r *Reader) ReadLengthDelimited() ([]byte, error) {
	n, err := r.varint()
	if err != nil {
		return nil, err
	}
	return r.take(n)
}

// ReadValue reads any value. Errors as of [Codec.Deserialize].
func (r *Reader) ReadValue() (goja.Value, error) { return r.readValue() }

func (r *Reader) readAll() (goja.Value, error) {
	if err := r.header(); err != nil {
		return nil, err
	}
	return r.readValue()
}

// reserve gives the next number to an object about to be read.
func (r *Reader) reserve() int {
	r.objects = append(r.objects, nil)
	return len(r.objects) - 1
}

// made gives the next number to an object.
func (r *Reader) made(o *goja.Object) *goja.Object {
	r.objects = append(r.objects, o)
	return o
}

func (r *Reader) readValue() (goja.Value, error) {
	v, err := r.readItem()
	if err != nil {
		return nil, err
	}
	// A view follows its buffer, or a reference to it, and takes its place.
	if o, isObject := v.(*goja.Object); isObject && r.pos < len(r.b) && r.peek() == tagBufferView && r.c.layout.kindOf(o) == kindBuffer {
		return r.readView(o)
	}
	return v, nil
}

func (r *Reader) readItem() (goja.Value, error) {
	tag, err := r.tag()
	if err != nil {
		return nil, err
	}
	switch tag {
	case tagInt32:
		n, err := r.zigzag()
		return r.c.vm.ToValue(int64(n)), err
	case tagOneByteString:
		raw, err := r.lengthPrefixed()
		if err != nil {
			return nil, err
		}
		return r.c.latin1(raw), nil
	case tagDouble:
		f, err := r.double()
		return r.c.vm.ToValue(f), err
	case tagTrue:
		return r.c.vm.ToValue(true), nil
	case tagFalse:
		return r.c.vm.ToValue(false), nil
	case tagNull:
		return goja.Null(), nil
	case tagUndefined:
		return goja.Undefined(), nil
	case tagUint32:
		n, err := r.uint32()
		return r.c.vm.ToValue(int64(n)), err
	case tagBigInt:
		n, err := r.bigInt()
		if err != nil {
			return nil, err
		}
		return r.c.vm.ToValue(n), nil
	case tagTwoByteString, tagUtf8String:
		return r.readString(tag)
	case tagObjectReference:
		return r.readReference()
	}
	if err := r.nest(); err != nil {
		return nil, err
	}
	defer func() { r.depth-- }()
	return r.readObjectItem(tag)
}

func (r *Reader) readReference() (goja.Value, error) {
	id, err := r.uint32()
	if err != nil {
		return nil, err
	}
	if uint64(id) >= uint64(len(r.objects)) {
		return nil, r.fail("a reference leads nowhere")
	}
	if r.objects[id] == nil {
		if !slices.Contains(r.arrays, int(id)) {
			return nil, r.fail("a reference leads into an unfinished object")
		}
		r.objects[id] = r.c.vm.NewArray() // it contains itself: needed now
	}
	return r.objects[id], nil
}

func (r *Reader) readObjectItem(tag byte) (goja.Value, error) {
	switch tag {
	case tagVerifyObjectCount: // obsolete: a count, then the value
		if _, err := r.uint32(); err != nil {
			return nil, err
		}
		return r.readValue()
	case tagBeginObject:
		return r.readObject()
	case tagBeginDenseArray:
		return r.readDenseArray()
	case tagBeginSparseArray:
		return r.readSparseArray()
	case tagBeginMap:
		return r.readMap()
	case tagBeginSet:
		return r.readSet()
	case tagDate:
		ms, err := r.double()
		if err != nil {
			return nil, err
		}
		return r.construct(r.c.prim.dateCtor, r.c.vm.ToValue(ms))
	case tagTrueObject, tagFalseObject, tagNumberObject, tagBigIntObject, tagStringObject:
		return r.readBoxed(tag)
	case tagRegExp:
		return r.readRegExp()
	case tagArrayBuffer, tagResizableBuffer:
		content, err := r.bufferBody(tag)
		if err != nil {
			return nil, err
		}
		return r.made(r.newBuffer(append(make([]byte, 0, len(content)), content...))), nil
	case tagBufferTransfer:
		return r.readTransferred()
	case tagError:
		return r.readError()
	case tagHostObject:
		return r.readHost()
	}
	r.pos--
	return nil, r.fail(unsupported(tag))
}

func (r *Reader) newBuffer(content []byte) *goja.Object {
	return r.c.vm.ToValue(r.c.vm.NewArrayBuffer(content)).(*goja.Object)
}

// construct makes an object with a builtin constructor and numbers it.
func (r *Reader) construct(ctor *goja.Object, args ...goja.Value) (goja.Value, error) {
	o, err := r.c.vm.New(ctor, args...)
	if err != nil {
		return nil, err
	}
	return r.made(o), nil
}

func (r *Reader) readString(tag byte) (goja.Value, error) {
	if tag == tagTwoByteString {
		units, err := r.units()
		if err != nil {
			return nil, err
		}
		return goja.StringFromUTF16(units), nil
	}
	text, err := r.text(tag)
	if err != nil {
		return nil, err
	}
	return r.c.vm.ToValue(text), nil
}

// readNestedString reads a string within another object: before version 12 it has no
// tag.
func (r *Reader) readNestedString() (goja.String, error) {
	if r.version < 12 {
		v, err := r.readString(tagUtf8String)
		if err != nil {
			return nil, err
		}
		return v.(goja.String), nil
	}
	v, err := r.readValue()
	if err != nil {
		return nil, err
	}
	if s, isString := v.(goja.String); isString {
		return s, nil
	}
	return nil, r.fail("a string is expected")
}

func (r *Reader) readObject() (goja.Value, error) {
	o := r.made(r.c.vm.NewObject())
	n, err := r.readProperties(o, tagEndObject)
	if err != nil {
		return nil, err
	}
	return o, r.end(n, -1)
}

// readProperties reads keys and values up to an end tag, which it consumes.
func (r *Reader) readProperties(o *goja.Object, end byte) (n int, err error) {
	for ; ; n++ {
		tag, err := r.tag()
		if err != nil {
			return n, err
		}
		if tag == end {
			return n, nil
		}
		key, keyValue, err := r.readKey(tag)
		if err != nil {
			return n, err
		}
		v, err := r.readValue()
		if err != nil {
			return n, err
		}
		if keyValue != nil {
			r.defineByValue(o, keyValue, v)
			continue
		}
		if err := define(o, key, v, true); err != nil {
			return n, err
		}
	}
}

// readKey reads a property key. keyValue is set instead of key where the key
// has a lone surrogate, which a Go string cannot hold.
func (r *Reader) readKey(tag byte) (key string, keyValue goja.Value, err error) {
	switch tag {
	case tagOneByteString:
		raw, err := r.lengthPrefixed()
		if err != nil {
			return "", nil, err
		}
		if isASCII(raw) {
			return r.intern(raw), nil, nil
		}
		return r.c.latin1(raw).String(), nil, nil
	case tagInt32:
		n, err := r.zigzag()
		return itoa(int(n)), nil, err
	case tagUint32:
		n, err := r.uint32()
		return itoa(int(n)), nil, err
	case tagDouble:
		f, err := r.double()
		return r.c.vm.ToValue(f).String(), nil, err
	case tagTwoByteString:
		units, err := r.units()
		if err != nil {
			return "", nil, err
		}
		v := goja.StringFromUTF16(units)
		if hasSurrogate(units) {
			return "", v, nil
		}
		return v.String(), nil, nil
	case tagUtf8String:
		key, err = r.text(tag)
		return key, nil, err
	}
	return "", nil, r.fail("a property key is neither a string nor a number")
}

func hasSurrogate(units []uint16) bool {
	for _, u := range units {
		if u >= 0xD800 && u <= 0xDFFF {
			return true
		}
	}
	return false
}

// keySlots is the size of a small cache of keys: lists of like objects repeat
// the same few.
const keySlots = 32

const longestKept = 64 // bytes

func (r *Reader) intern(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	slot := &r.keys[(int(raw[0])*7+int(raw[len(raw)-1])*3+len(raw))%keySlots]
	if *slot == string(raw) {
		return *slot
	}
	key := string(raw)
	if len(key) <= longestKept {
		*slot = key
	}
	return key
}

func (r *Reader) defineByValue(o *goja.Object, key, v goja.Value) {
	d := r.c.vm.NewObject()
	for _, p := range [...]struct {
		name  string
		value goja.Value
	}{{"value", v}, {"writable", r.c.vm.ToValue(true)}, {"enumerable", r.c.vm.ToValue(true)}, {"configurable", r.c.vm.ToValue(true)}} {
		if err := define(d, p.name, p.value, true); err != nil {
			panic(err) // a JavaScript exception; Deserialize returns it
		}
	}
	r.c.prim.reflectDefine(goja.FunctionCall{Arguments: []goja.Value{o, key, d}})
}

func (r *Reader) readDenseArray() (goja.Value, error) {
	length, err := r.uint32()
	if err != nil {
		return nil, err
	}
	if uint64(length) > uint64(r.rest()) { // each element takes a byte at least
		return nil, r.fail("an array's length exceeds the data")
	}
	id, base := r.reserve(), len(r.items)
	r.arrays = append(r.arrays, id)
	holes, err := r.readItems(length)
	if err != nil {
		return nil, err
	}
	// Made at once where possible: goja takes ten times as long to fill an
	// array that exists.
	if r.objects[id] == nil && !holes {
		r.objects[id] = r.c.vm.NewArray(r.items[base:]...)
	} else if err := r.fill(id, r.items[base:]); err != nil {
		return nil, err
	}
	clear(r.items[base:])
	r.items, r.arrays = r.items[:base], r.arrays[:len(r.arrays)-1]
	n, err := r.readProperties(r.objects[id], tagEndDenseArray)
	if err != nil {
		return nil, err
	}
	return r.objects[id], r.end(n, int64(length))
}

// readItems puts an array's elements on the stack r.items; nil is a hole.
func (r *Reader) readItems(length uint32) (holes bool, err error) {
	for range length {
		if r.peek() == tagTheHole {
			if _, err := r.tag(); err != nil {
				return holes, err
			}
			r.items, holes = append(r.items, nil), true
			continue
		}
		v, err := r.readValue()
		if err != nil {
			return holes, err
		}
		if r.version < 11 && goja.IsUndefined(v) {
			r.items, holes = append(r.items, nil), true // how holes were written then
			continue
		}
		r.items = append(r.items, v)
	}
	return holes, nil
}

// fill puts elements into an array one by one.
func (r *Reader) fill(id int, items []any) error {
	if r.objects[id] == nil {
		r.objects[id] = r.c.vm.NewArray()
	}
	o := r.objects[id]
	if err := o.Set("length", len(items)); err != nil {
		return err
	}
	for i, item := range items {
		if v, isValue := item.(goja.Value); isValue {
			if err := define(o, itoa(i), v, true); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Reader) readSparseArray() (goja.Value, error) {
	length, err := r.uint32()
	if err != nil {
		return nil, err
	}
	o := r.made(r.c.vm.NewArray())
	if err := o.Set("length", int64(length)); err != nil {
		return nil, err
	}
	n, err := r.readProperties(o, tagEndSparseArray)
	if err != nil {
		return nil, err
	}
	return o, r.end(n, int64(length))
}

func (r *Reader) readMap() (goja.Value, error) {
	v, err := r.construct(r.c.prim.mapCtor)
	if err != nil {
		return nil, err
	}
	for n := 0; ; n += 2 {
		if r.peek() == tagEndMap {
			_, err := r.tag()
			if err == nil {
				err = r.end(n, -1)
			}
			return v, err
		}
		key, err := r.readValue()
		if err != nil {
			return nil, err
		}
		value, err := r.readValue()
		if err != nil {
			return nil, err
		}
		r.c.prim.mapSet(goja.FunctionCall{This: v, Arguments: []goja.Value{key, value}})
	}
}

func (r *Reader) readSet() (goja.Value, error) {
	v, err := r.construct(r.c.prim.setCtor)
	if err != nil {
		return nil, err
	}
	for n := 0; ; n++ {
		if r.peek() == tagEndSet {
			_, err := r.tag()
			if err == nil {
				err = r.end(n, -1)
			}
			return v, err
		}
		item, err := r.readValue()
		if err != nil {
			return nil, err
		}
		r.c.prim.setAdd(goja.FunctionCall{This: v, Arguments: []goja.Value{item}})
	}
}

func (r *Reader) readBoxed(tag byte) (goja.Value, error) {
	id := r.reserve()
	var v goja.Value
	switch tag {
	case tagTrueObject, tagFalseObject:
		v = r.c.vm.ToValue(tag == tagTrueObject)
	case tagNumberObject:
		f, err := r.double()
		if err != nil {
			return nil, err
		}
		v = r.c.vm.ToValue(f)
	case tagBigIntObject:
		n, err := r.bigInt()
		if err != nil {
			return nil, err
		}
		v = r.c.vm.ToValue(n)
	case tagStringObject:
		s, err := r.readNestedString()
		if err != nil {
			return nil, err
		}
		v = s
	}
	o, err := r.c.vm.New(r.c.prim.objectCtor, v)
	if err != nil {
		return nil, err
	}
	r.objects[id] = o
	return o, nil
}

func (r *Reader) readRegExp() (goja.Value, error) {
	id := r.reserve()
	source, err := r.readNestedString()
	if err != nil {
		return nil, err
	}
	letters, err := r.regExpLetters()
	if err != nil {
		return nil, err
	}
	var o *goja.Object
	if r.c.cfg.NewRegExp != nil {
		o, err = r.c.cfg.NewRegExp(source, letters)
	} else {
		o, err = r.c.vm.New(r.c.prim.regExpCtor, source, r.c.vm.ToValue(letters))
	}
	if err != nil {
		return nil, r.fail("the regular expression /" + source.String() + "/" + letters + " cannot be made: " + err.Error())
	}
	r.objects[id] = o
	return o, nil
}

func (r *Reader) readTransferred() (goja.Value, error) {
	id, err := r.uint32()
	if err != nil {
		return nil, err
	}
	if uint64(id) >= uint64(len(r.o.Transferred)) {
		return nil, r.fail(unsupported(tagBufferTransfer))
	}
	if r.buffers == nil {
		r.buffers = make([]*goja.Object, len(r.o.Transferred))
	}
	if r.buffers[id] == nil {
		r.buffers[id] = r.newBuffer(r.o.Transferred[id])
	}
	return r.made(r.buffers[id]), nil
}

func (r *Reader) readView(buffer *goja.Object) (goja.Value, error) {
	if _, err := r.tag(); err != nil {
		return nil, err
	}
	v, err := r.view(len(buffer.Export().(goja.ArrayBuffer).Bytes()))
	if err != nil {
		return nil, err
	}
	return r.construct(r.c.prim.viewCtors[v.index], buffer, r.c.vm.ToValue(v.offset), r.c.vm.ToValue(v.length/v.size))
}

// newError makes a standard error, or an Error where the runtime lacks the
// kind. A nil message leaves the property out.
func (r *Reader) newError(name string, message goja.String) (*goja.Object, error) {
	ctor := r.c.prim.errorCtors[name]
	if ctor == nil {
		ctor = r.c.prim.errorCtors["Error"]
	}
	args := make([]goja.Value, 0, 2)
	if name == "AggregateError" {
		args = append(args, r.c.vm.NewArray())
	}
	if message != nil {
		args = append(args, message)
	}
	return r.c.vm.New(ctor, args...)
}

// readError reads V8's own form of an error. The object is made as soon as its
// message is known, since the cause may refer to it.
func (r *Reader) readError() (goja.Value, error) {
	id := r.reserve()
	name, stack := "Error", goja.Undefined()
	var message goja.String
	var o *goja.Object
	create := func() (err error) {
		if o == nil {
			if o, err = r.newError(name, message); err == nil {
				r.objects[id] = o
			}
		}
		return err
	}
	for {
		sub, err := r.take(1)
		if err != nil {
			return nil, err
		}
		switch sub[0] {
		case errorMessage:
			message, err = r.readNestedString()
		case errorStack:
			stack, err = r.readNestedString()
		case errorCause:
			if err = create(); err == nil {
				err = r.readCause(o)
			}
		case errorEnd:
			if err = create(); err == nil {
				err = define(o, "stack", stack, false)
			}
			return o, err
		default:
			if name = errorName(sub[0]); name == "" {
				return nil, r.fail("an error has an unknown part")
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

func (r *Reader) readCause(o *goja.Object) error {
	cause, err := r.readValue()
	if err != nil {
		return err
	}
	return define(o, "cause", cause, false)
}

func errorName(sub byte) string {
	for _, e := range errorKinds {
		if e.v8 == sub && sub != 0 {
			return e.name
		}
	}
	return ""
}
