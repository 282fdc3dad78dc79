package clone

import (
	"math"
	"math/big"
)

// The Go values that [DecodeToGo] makes of JavaScript values that Go has no
// type for. Objects are pointers, so that shared objects and cycles keep their
// identity.
type (
	// Undefined is JavaScript's undefined; null is nil.
	Undefined struct{}
	// GoProperty is one own property, in the object's order.
	GoProperty struct {
		Key   string
		Value any
	}
	// GoObject is an ordinary object.
	GoObject struct{ Properties []GoProperty }
	// GoArray is an array. Items holds the elements of a dense one; those of a
	// sparse one are among the properties, keyed by index.
	GoArray struct {
		Length     uint32
		Items      []any // Hole where there is none
		Properties []GoProperty
	}
	// Hole is a missing element of an array.
	Hole struct{}
	// GoMap is a Map.
	GoMap struct{ Entries [][2]any }
	// GoSet is a Set.
	GoSet struct{ Items []any }
	// GoDate is a Date, in milliseconds since 1970; NaN if it is invalid.
	GoDate struct{ Milliseconds float64 }
	// GoRegExp is a RegExp.
	GoRegExp struct{ Source, Flags string }
	// GoBoxed is a boolean, number, bigint or string object.
	GoBoxed struct{ Value any }
	// GoBuffer is an ArrayBuffer.
	GoBuffer struct{ Bytes []byte }
	// GoView is a typed array or a DataView.
	GoView struct {
		Type           string
		Buffer         *GoBuffer
		Offset, Length int // bytes
	}
	// GoError is a native error or a DOMException (Class says which). Cause and
	// Message are nil where the error has none.
	GoError struct {
		Class, Name string
		Message     any
		Stack       string
		Cause       any
		Properties  []GoProperty
	}
)

// DecodeToGo reads bytes without a runtime, for tools that show what is stored.
// It returns nil, bool, float64, *big.Int, string (lone surrogates become
// U+FFFD), Undefined, or a pointer to one of the Go types above. Host objects
// other than errors are a *DeserializeError: their length is known only to
// their codecs. Safe for concurrent use.
func DecodeToGo(b []byte) (any, error) {
	d := &decoder{cursor: cursor{b: b}}
	if err := d.header(); err != nil {
		return nil, err
	}
	return d.value()
}

type decoder struct {
	cursor
	objects []any
}

func (d *decoder) value() (any, error) {
	v, err := d.item()
	if buffer, isBuffer := v.(*GoBuffer); err == nil && isBuffer && d.peek() == tagBufferView {
		if _, err := d.tag(); err != nil {
			return nil, err
		}
		view, err := d.view(len(buffer.Bytes))
		if err != nil {
			return nil, err
		}
		return d.made(&GoView{Type: view.name, Buffer: buffer, Offset: view.offset, Length: view.length}), nil
	}
	return v, err
}

func (d *decoder) made(v any) any {
	d.objects = append(d.objects, v)
	return v
}

func (d *decoder) item() (any, error) {
	tag, err := d.tag()
	if err != nil {
		return nil, err
	}
	switch tag {
	case tagNull:
		return nil, nil
	case tagUndefined:
		return Undefined{}, nil
	case tagTrue, tagFalse:
		return tag == tagTrue, nil
	case tagInt32:
		n, err := d.zigzag()
		return float64(n), err
	case tagUint32:
		n, err := d.uint32()
		return float64(n), err
	case tagDouble:
		return d.double()
	case tagBigInt:
		return d.bigInt()
	case tagOneByteString, tagTwoByteString, tagUtf8String:
		return d.text(tag)
	case tagObjectReference:
		id, err := d.uint32()
		if err == nil && uint64(id) >= uint64(len(d.objects)) {
			err = d.fail("a reference leads nowhere")
		}
		if err != nil {
			return nil, err
		}
		return d.objects[id], nil
	}
	if err := d.nest(); err != nil {
		return nil, err
	}
	defer func() { d.depth-- }()
	return d.object(tag)
}

func (d *decoder) object(tag byte) (any, error) {
	switch tag {
	case tagVerifyObjectCount:
		if _, err := d.uint32(); err != nil {
			return nil, err
		}
		return d.value()
	case tagBeginObject:
		o := &GoObject{}
		d.made(o)
		return o, d.properties(&o.Properties, tagEndObject, -1)
	case tagBeginDenseArray, tagBeginSparseArray:
		return d.array(tag)
	case tagBeginMap:
		m := &GoMap{}
		d.made(m)
		items, err := d.list(tagEndMap)
		for i := 0; i+1 < len(items); i += 2 {
			m.Entries = append(m.Entries, [2]any{items[i], items[i+1]})
		}
		return m, err
	case tagBeginSet:
		s := &GoSet{}
		d.made(s)
		items, err := d.list(tagEndSet)
		s.Items = items
		return s, err
	case tagDate:
		ms, err := d.double()
		return d.made(&GoDate{Milliseconds: ms}), err
	case tagTrueObject, tagFalseObject, tagNumberObject, tagBigIntObject, tagStringObject:
		return d.boxed(tag)
	case tagRegExp:
		re := &GoRegExp{}
		d.made(re)
		var err error
		if re.Source, err = d.nestedString(); err == nil {
			re.Flags, err = d.regExpLetters()
		}
		return re, err
	case tagArrayBuffer, tagResizableBuffer:
		content, _, err := d.bufferBody(tag)
		return d.made(&GoBuffer{Bytes: append([]byte(nil), content...)}), err
	case tagError:
		return d.v8Error()
	case tagHostObject:
		return d.hostObject()
	}
	d.pos--
	return nil, d.fail(unsupported(tag))
}

func (d *decoder) nestedString() (string, error) {
	if d.version < 12 {
		return d.text(tagUtf8String)
	}
	tag, err := d.tag()
	if err != nil {
		return "", err
	}
	return d.text(tag)
}

func (d *decoder) boxed(tag byte) (any, error) {
	o := &GoBoxed{Value: tag == tagTrueObject}
	d.made(o)
	var err error
	switch tag {
	case tagNumberObject:
		o.Value, err = d.double()
	case tagBigIntObject:
		var n *big.Int
		n, err = d.bigInt()
		o.Value = n
	case tagStringObject:
		o.Value, err = d.nestedString()
	}
	return o, err
}

func (d *decoder) array(tag byte) (any, error) {
	length, err := d.uint32()
	if err != nil {
		return nil, err
	}
	a := &GoArray{Length: length}
	d.made(a)
	end := byte(tagEndSparseArray)
	if tag == tagBeginDenseArray {
		end = tagEndDenseArray
		for range length {
			if d.peek() == tagTheHole {
				_, err = d.tag()
				a.Items = append(a.Items, Hole{})
			} else {
				var v any
				v, err = d.value()
				a.Items = append(a.Items, v)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return a, d.properties(&a.Properties, end, int64(length))
}

// list reads values up to an end tag and the count after it.
func (d *decoder) list(end byte) (items []any, err error) {
	for d.peek() != end {
		v, err := d.value()
		if err != nil {
			return items, err
		}
		items = append(items, v)
	}
	if _, err := d.tag(); err != nil {
		return items, err
	}
	return items, d.end(len(items), -1)
}

func (d *decoder) properties(into *[]GoProperty, end byte, length int64) error {
	for n := 0; ; n++ {
		if d.peek() == end {
			if _, err := d.tag(); err != nil {
				return err
			}
			return d.end(n, length)
		}
		key, err := d.item()
		if err != nil {
			return err
		}
		v, err := d.value()
		if err != nil {
			return err
		}
		switch k := key.(type) {
		case string:
			*into = append(*into, GoProperty{k, v})
		case float64:
			if k < 0 || k >= math.MaxUint32 || k != math.Trunc(k) {
				return d.fail("a property key is not an index")
			}
			*into = append(*into, GoProperty{itoa(int(k)), v})
		default:
			return d.fail("a property key is neither a string nor a number")
		}
	}
}

func (d *decoder) v8Error() (any, error) {
	e := &GoError{Class: "Error", Name: "Error"}
	d.made(e)
	for {
		sub, err := d.take(1)
		if err != nil {
			return nil, err
		}
		switch sub[0] {
		case errorEnd:
			return e, nil
		case errorMessage:
			e.Message, err = d.nestedString()
		case errorStack:
			e.Stack, err = d.nestedString()
		case errorCause:
			e.Cause, err = d.value()
		default:
			if e.Class = errorName(sub[0]); e.Class == "" {
				err = d.fail("an error has an unknown part")
			}
			e.Name = e.Class
		}
		if err != nil {
			return nil, err
		}
	}
}

func (d *decoder) hostObject() (any, error) {
	n, err := d.uint32()
	if err != nil {
		return nil, err
	}
	e := &GoError{}
	d.made(e)
	switch HostTag(n) {
	case HostNativeError:
		return e, d.nativeError(e)
	case HostDOMException:
		parts := [3]string{}
		for i := range parts {
			length, err := d.varint()
			if err != nil {
				return nil, err
			}
			raw, err := d.take(length)
			if err != nil {
				return nil, err
			}
			parts[i] = string(raw)
		}
		*e = GoError{Class: "DOMException", Name: parts[0], Message: parts[1], Stack: parts[2]}
		return e, nil
	}
	return nil, d.fail("host object " + HostTag(n).String() + " cannot be read without a runtime")
}

func (d *decoder) nativeError(e *GoError) error {
	number, err := d.uint32()
	if err != nil {
		return err
	}
	e.Class = "Error"
	for _, known := range errorKinds {
		if known.number == number {
			e.Class = known.name
		}
	}
	e.Name = e.Class
	if number == 0 {
		name, err := d.value()
		if err != nil {
			return err
		}
		if text, isString := name.(string); isString {
			e.Name = text
		}
	}
	if e.Message, err = d.value(); err != nil {
		return err
	}
	rest, err := d.value()
	if err != nil {
		return err
	}
	if o, isObject := rest.(*GoObject); isObject {
		for _, p := range o.Properties {
			switch text, isString := p.Value.(string); {
			case p.Key == "stack" && isString:
				e.Stack = text
			case p.Key == "cause":
				e.Cause = p.Value
			default:
				e.Properties = append(e.Properties, p)
			}
		}
	}
	return nil
}
