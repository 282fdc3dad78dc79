package clone

import "github.com/dop251/goja"

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
	// goja keeps arrays of up to so many elements without gaps, however few they
	// have: bound what a few bytes can make it allocate.
	const gaplessItems, slotsAlways, slotsPerByte = 4097, 1 << 22, 16
	if r.slots += min(int(length), gaplessItems); r.slots > slotsAlways+slotsPerByte*len(r.b) {
		return nil, r.fail("the sparse arrays are too large for their data")
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
