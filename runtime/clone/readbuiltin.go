package clone

import "github.com/dop251/goja"

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

func (r *Reader) readShared() (goja.Value, error) {
	id, err := r.uint32()
	if err != nil {
		return nil, err
	}
	if r.o.shared == nil || uint64(id) >= uint64(len(*r.o.shared)) {
		return nil, r.fail(unsupported(tagSharedBuffer))
	}
	return r.made(r.c.cfg.Shared.ShareMemory((*r.o.shared)[id])), nil
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
		r.buffers[id] = r.newBuffer(r.o.Transferred[id].Bytes, r.o.Transferred[id].Limit)
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
	if r.c.prim.viewCtors[v.index] == nil {
		return nil, r.fail(v.name + " is not available in this runtime")
	}
	length := goja.Undefined()
	if !v.tracking || r.c.limitOf(buffer) == fixedLength {
		length = r.c.vm.ToValue(v.length / v.size)
	}
	return r.construct(r.c.prim.viewCtors[v.index], buffer, r.c.vm.ToValue(v.offset), length)
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
