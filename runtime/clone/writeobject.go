package clone

import (
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
)

// writeReceiver writes an object, or a reference to it if it was written
// before (ValueSerializer::WriteObject and WriteJSReceiver).
func (w *Writer) writeReceiver(o *goja.Object) error {
	k := w.c.layout.kindOf(o)
	if k == kindTypedArray || k == kindDataView {
		// The buffer comes first, and its number too.
		if _, seen := w.ids.lookup(o); !seen {
			if err := w.writeReceiver(w.viewBuffer(o, k)); err != nil {
				return err
			}
		}
	}
	if id, seen := w.ids.find(o); seen {
		w.buf = appendVarint(append(w.buf, tagObjectReference), uint64(id))
		return nil
	}
	var err error
	switch k {
	case kindPlain:
		err = w.writePlain(o)
	case kindArray, kindSparseArray:
		err = w.nested(arrayFrame, o, (*Writer).writeArray)
	case kindMap:
		err = w.nested(objectFrame, o, (*Writer).writeMap)
	case kindSet:
		err = w.nested(objectFrame, o, (*Writer).writeSet)
	case kindError:
		err = w.nested(objectFrame, o, (*Writer).writeError)
	case kindFunction, kindProxy:
		err = w.writeCallable(o)
	default:
		err = w.writeLeaf(o, k)
	}
	if err == nil {
		return w.fits()
	}
	return err
}

func (w *Writer) nested(frame int, o *goja.Object, write func(*Writer, *goja.Object) error) error {
	if err := w.enter(frame); err != nil {
		return err
	}
	defer w.leave(frame)
	return write(w, o)
}

// writePlain writes ordinary objects and instances of classes: those of the
// platform through their host codecs.
func (w *Writer) writePlain(o *goja.Object) error {
	if o.ClassName() == "Arguments" { // of a strict function: goja's ordinary object
		return w.c.refuse(o)
	}
	if o.Prototype() != w.c.prim.objectProto {
		if w.c.cfg.Registry.refusesPlain(o) {
			return w.c.refuse(o)
		}
		if handled, err := w.writeHost(o); handled || err != nil {
			return err
		}
		if w.o.ClassInstances == Refused {
			return notSerializable(w.c.className(o))
		}
	}
	return w.nested(objectFrame, o, (*Writer).writeObject)
}

// writeCallable handles what only host codecs can write.
func (w *Writer) writeCallable(o *goja.Object) error {
	if w.o.HostCallables {
		if handled, err := w.writeHost(o); handled || err != nil {
			return err
		}
	}
	return w.c.refuse(o)
}

func (w *Writer) writeObject(o *goja.Object) error {
	w.buf = append(w.buf, tagBeginObject)
	n, direct, err := w.writeDirect(o)
	if !direct && err == nil {
		n, err = w.writeProperties(o, w.enumerableKeys(o), 0)
	}
	if err != nil {
		return err
	}
	w.buf = appendVarint(append(w.buf, tagEndObject), uint64(n))
	return nil
}

// writeDirect writes an object's properties from where goja keeps them. It
// declines, with direct false, what is not as simple: accessors, hidden
// properties, integer keys (which come first, in ascending order).
func (w *Writer) writeDirect(o *goja.Object) (n int, direct bool, err error) {
	names, values, ok := w.c.layout.plain(o)
	if !ok {
		return 0, false, nil
	}
	for _, name := range names {
		if startsLikeIndex(name) || reflect.TypeOf(values[name]) == w.c.layout.accessor {
			return 0, false, nil
		}
	}
	// Nested getters may change this object meanwhile: iterate over a copy of
	// the names, and look up each value when its turn comes.
	base := len(w.names)
	w.names = append(w.names, names...)
	end := len(w.names)
	defer func() { w.names = w.names[:base] }()
	for i := base; i < end; i++ {
		name := w.names[i]
		if _, values, ok = w.c.layout.plain(o); !ok {
			break
		}
		value, exists := values[name]
		if !exists {
			continue
		}
		if reflect.TypeOf(value) == w.c.layout.accessor {
			value = o.Get(name.String())
		}
		if units := name.AsUtf16(); units != nil {
			w.writeUnits(units[1:])
		} else {
			w.writeASCII(string(name))
		}
		if err := w.WriteValue(value); err != nil {
			return n, true, err
		}
		n++
	}
	return n, true, nil
}

func startsLikeIndex(name unistring.String) bool {
	return len(name) > 0 && name[0] >= '0' && name[0] <= '9'
}

// enumerableKeys lists own enumerable string keys in the order of the
// language: integers ascending, then the others as they were added.
func (w *Writer) enumerableKeys(o *goja.Object) []goja.Value {
	list := w.c.prim.keys(goja.FunctionCall{Arguments: []goja.Value{o}}).(*goja.Object)
	if items, _, ok := w.c.layout.denseItems(list); ok {
		return items
	}
	keys := make([]goja.Value, list.Get("length").ToInteger())
	for i := range keys {
		keys[i] = list.Get(itoa(i))
	}
	return keys
}

// writeProperties writes the given properties that still exist, leaving out
// integer keys below skipBelow, and returns how many it wrote.
func (w *Writer) writeProperties(o *goja.Object, keys []goja.Value, skipBelow int64) (n int, err error) {
	for _, key := range keys {
		index, isIndex := arrayIndex(key)
		if isIndex && index < skipBelow {
			continue
		}
		if !w.c.prim.hasOwn(goja.FunctionCall{This: o, Arguments: []goja.Value{key}}).ToBoolean() {
			continue
		}
		value := w.c.prim.reflectGet(goja.FunctionCall{Arguments: []goja.Value{o, key}})
		if isIndex {
			w.buf = appendInt(w.buf, index)
		} else {
			w.writeString(key.(goja.String))
		}
		if err := w.WriteValue(value); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// arrayIndex tells whether a key is an array index in canonical form.
func arrayIndex(key goja.Value) (int64, bool) {
	s, isString := key.(goja.String)
	if !isString || s.Length() == 0 || s.Length() > 10 {
		return 0, false
	}
	if first := s.CharAt(0); first < '0' || first > '9' || (first == '0' && s.Length() > 1) {
		return 0, false
	}
	n, err := strconv.ParseUint(s.String(), 10, 64)
	return int64(n), err == nil && n < math.MaxUint32
}

// writeArray chooses between the dense and the sparse form. V8 goes by how it
// happens to store the array; this is the same wherever a value can show it.
func (w *Writer) writeArray(o *goja.Object) error {
	items, extras, dense := w.c.layout.denseItems(o)
	// goja counts an element twice that is defined again, and so misses a hole.
	if !dense || slices.ContainsFunc(items, func(item goja.Value) bool { return item == nil }) {
		return w.writeArrayByKeys(o)
	}
	holds := w.c.holds(items)
	if holds == numbersAndUndefined {
		return w.writeSparse(o, int64(len(items)), w.enumerableKeys(o))
	}
	length := len(items)
	w.buf = appendVarint(append(w.buf, tagBeginDenseArray), uint64(length))
	if holds == numbers {
		w.writeNumbers(items)
	} else if err := w.writeItems(o, items); err != nil {
		return err
	}
	written := 0
	if extras {
		var err error
		if written, err = w.writeProperties(o, w.enumerableKeys(o), math.MaxInt64); err != nil {
			return err
		}
	}
	w.buf = appendVarint(appendVarint(append(w.buf, tagEndDenseArray), uint64(written)), uint64(length))
	return nil
}

// writeItems writes elements one by one. A getter within one of them may change
// the array: each is taken when its turn comes, and is a hole if it is gone.
func (w *Writer) writeItems(o *goja.Object, items []goja.Value) error {
	length := len(items)
	for i := 0; i < length; i++ {
		var item goja.Value
		if i < len(items) {
			item = items[i]
		}
		if item == nil {
			w.buf = append(w.buf, tagTheHole)
			continue
		}
		if err := w.WriteValue(item); err != nil {
			return err
		}
		if _, isObject := item.(*goja.Object); !isObject {
			continue
		}
		var ok bool
		if items, _, ok = w.c.layout.denseItems(o); !ok {
			return w.writeItemsByKey(o, i+1, length)
		}
	}
	return nil
}

// writeItemsByKey goes on with an array that stopped being simple.
func (w *Writer) writeItemsByKey(o *goja.Object, from, length int) error {
	for i := from; i < length; i++ {
		key := w.c.vm.ToValue(itoa(i))
		if !w.c.prim.hasOwn(goja.FunctionCall{This: o, Arguments: []goja.Value{key}}).ToBoolean() {
			w.buf = append(w.buf, tagTheHole)
			continue
		}
		if err := w.WriteValue(w.c.prim.reflectGet(goja.FunctionCall{Arguments: []goja.Value{o, key}})); err != nil {
			return err
		}
	}
	return nil
}

// contents is what an array's elements have in common.
type contents uint8

const (
	anything contents = iota
	numbers
	numbersAndUndefined // V8 keeps these as doubles too, and calls it an array with holes
)

func (c *Codec) holds(items []goja.Value) contents {
	found := numbers
	for _, item := range items {
		switch t := reflect.TypeOf(item); {
		case t == c.layout.intType || t == c.layout.floatType:
		case goja.IsUndefined(item):
			found = numbersAndUndefined
		default:
			return anything
		}
	}
	return found
}

// writeNumbers writes an array that holds only numbers: if one of them is not a
// small integer, V8 stores, and writes, all of them as doubles.
func (w *Writer) writeNumbers(items []goja.Value) {
	start := len(w.buf)
	for _, item := range items {
		at := len(w.buf)
		w.buf = appendFloat(w.buf, item.ToFloat())
		if w.buf[at] == tagDouble {
			w.buf = w.buf[:start]
			for _, item := range items {
				w.buf = appendDouble(append(w.buf, tagDouble), item.ToFloat())
			}
			return
		}
	}
}

// writeArrayByKeys writes arrays that have holes, accessors or gaps, and, where
// goja's layout is not known, all arrays.
func (w *Writer) writeArrayByKeys(o *goja.Object) error {
	length := o.Get("length").ToInteger()
	keys := w.enumerableKeys(o)
	if !w.isDense(o, keys, length) {
		return w.writeSparse(o, length, keys)
	}
	items := make([]goja.Value, length)
	for i := range items {
		items[i] = w.c.prim.reflectGet(goja.FunctionCall{Arguments: []goja.Value{o, keys[i]}})
	}
	holds := w.c.holds(items)
	if holds == numbersAndUndefined {
		return w.writeSparse(o, length, keys)
	}
	w.buf = appendVarint(append(w.buf, tagBeginDenseArray), uint64(length))
	if holds == numbers {
		w.writeNumbers(items)
	} else if err := w.writeItemsByKey(o, 0, int(length)); err != nil {
		return err
	}
	n, err := w.writeProperties(o, w.enumerableKeys(o), math.MaxInt64)
	if err != nil {
		return err
	}
	w.buf = appendVarint(appendVarint(append(w.buf, tagEndDenseArray), uint64(n)), uint64(length))
	return nil
}

func (w *Writer) writeSparse(o *goja.Object, length int64, keys []goja.Value) error {
	w.buf = appendVarint(append(w.buf, tagBeginSparseArray), uint64(length))
	n, err := w.writeProperties(o, keys, 0)
	if err != nil {
		return err
	}
	w.buf = appendVarint(appendVarint(append(w.buf, tagEndSparseArray), uint64(n)), uint64(length))
	return nil
}

// isDense tells whether the first keys are all indices below length, each of
// them plain data.
func (w *Writer) isDense(o *goja.Object, keys []goja.Value, length int64) bool {
	if int64(len(keys)) < length {
		return false
	}
	for i := range length {
		index, isIndex := arrayIndex(keys[i])
		if !isIndex || index != i {
			return false
		}
		descriptor := w.c.prim.getOwnDescriptor(goja.FunctionCall{Arguments: []goja.Value{o, keys[i]}}).(*goja.Object)
		if descriptor.Get("value") == nil {
			return false
		}
	}
	return true
}
