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
	look    int            // how many objects there may be before the room for more is looked at
	buffers []*goja.Object // made of Options.Transferred so far
	slots   int            // elements that sparse arrays may make goja allocate
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

// Before every roomObjects more objects their room is looked at; goja takes about
// objectBytes for a small one and its properties.
const (
	roomObjects = 1 << 13
	objectBytes = 256
)

func (r *Reader) readValue() (goja.Value, error) {
	if len(r.objects) >= r.look {
		r.look += roomObjects
		if err := r.c.room(roomObjects * objectBytes); err != nil {
			return nil, err
		}
	}
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
		content, limit, err := r.bufferBody(tag)
		if err != nil {
			return nil, err
		}
		return r.made(r.newBuffer(append(make([]byte, 0, len(content)), content...), limit)), nil
	case tagBufferTransfer:
		return r.readTransferred()
	case tagSharedBuffer:
		return r.readShared()
	case tagError:
		return r.readError()
	case tagHostObject:
		return r.readHost()
	}
	r.pos--
	return nil, r.fail(unsupported(tag))
}

func (r *Reader) newBuffer(content []byte, limit int) *goja.Object {
	if limit != fixedLength && r.c.cfg.Resizable != nil {
		return r.c.cfg.Resizable.NewResizableBuffer(content, limit)
	}
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
