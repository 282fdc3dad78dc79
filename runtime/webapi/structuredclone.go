package webapi

import (
	"errors"
	"slices"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/engine"
)

func (p *Platform) installClone() {
	// Every object with a Go value is a platform object, and so is what the
	// stream classes make.
	p.Hosts.RefuseOthers(func(obj *goja.Object) bool { return p.attachedTo(obj) != nil || p.inheritsStream(obj) })
	p.Hosts.Add(transferCodec{p}, hostTransferred)
	p.Engine.LazyGlobal("structuredClone", func() goja.Value {
		return p.globalFunc("structuredClone", 1, func(call goja.FunctionCall) goja.Value {
			p.need(call, 1, "", "structuredClone", "JsValue")
			options := call.Argument(1)
			if _, ok := options.(*goja.Object); !ok && !isMissing(options) {
				p.badArgument("", "structuredClone", 2, "StructuredCloneOptions")
			}
			var transfer []*goja.Object
			if list := get(options, "transfer"); !goja.IsUndefined(list) {
				transfer = p.objects(list)
			}
			result, _ := p.structuredClone(call.Arguments[0], transfer)
			return result
		})
	})
}

// objects converts a sequence<object>.
func (p *Platform) objects(list goja.Value) []*goja.Object {
	var all []*goja.Object
	p.sequence(list, "transfer", "StructuredCloneOptions", func(item goja.Value) {
		obj, ok := item.(*goja.Object)
		if !ok {
			p.notSequence("transfer", "StructuredCloneOptions")
		}
		all = append(all, obj)
	})
	return all
}

// sequence calls fn for the items of the member of a dictionary that is a
// sequence: of an object that can be iterated over, which a string is not (Web
// IDL, section 3.2.21).
func (p *Platform) sequence(list goja.Value, member, dictionary string, fn func(goja.Value)) {
	obj, ok := list.(*goja.Object)
	if !ok || !engine.IsCallable(obj.GetSymbol(goja.SymIterator)) {
		p.notSequence(member, dictionary)
	}
	p.forOf(list, fn)
}

func (p *Platform) notSequence(member, dictionary string) {
	p.Engine.Throw("TypeError", "Incorrect type for the '%s' field on '%s': the provided value is not of type 'Array'.", member, dictionary)
}

// hostTransferred tags the place of a transferred platform object in the bytes
// of a structured clone. Such bytes never leave the isolate.
const hostTransferred clone.HostTag = 1 << 20

// transferring are the platform objects of the transfer list of the structured
// clone that runs now, and those that stand for them on the other side, nil
// until made. Loop-confined.
type transferring struct{ from, to []*goja.Object }

// structuredClone is HTML's StructuredSerializeWithTransfer and
// StructuredDeserializeWithTransfer (sections 2.7.7 and 2.7.8): the clone, and
// the platform objects that took the place of transferred ones.
func (p *Platform) structuredClone(v goja.Value, transfer []*goja.Object) (result goja.Value, received []*goja.Object) {
	o := clone.Options{Mode: clone.StructuredClone, EnhancedErrors: p.compat("enhanced_error_serialization"), HostCallables: true}
	refuse := func(text string) { panic(p.NewDOMException("DataCloneError", text)) }
	t := &transferring{}
	for i, obj := range transfer {
		if slices.Contains(transfer[:i], obj) {
			refuse("The transfer list names an object twice.")
		}
		if isArrayBuffer(obj) && !p.Engine.IsShared(obj) {
			if obj.Export().(goja.ArrayBuffer).Detached() {
				refuse("An ArrayBuffer is detached and could not be cloned.")
			}
			if p.Engine.Kept(obj) {
				refuse("Object is not transferable.")
			}
			o.Transfer = append(o.Transfer, obj)
			continue
		}
		if text := p.untransferable(obj); text != "" {
			refuse(text)
		}
		t.from = append(t.from, obj)
	}
	t.to = make([]*goja.Object, len(t.from))
	kept, outer := p.core.crypto.cloning, p.core.transfer
	p.core.transfer = t
	defer func() { p.core.crypto.cloning, p.core.transfer = kept, outer }()
	result, err := p.Clone.StructuredClone(v, o)
	if err != nil {
		panic(p.CloneError(err))
	}
	for i := range t.from {
		t.receive(p, i)
	}
	return result, t.to
}

// receive makes the object that stands for the ith transferred one.
func (t *transferring) receive(p *Platform, i int) *goja.Object {
	if t.to[i] == nil {
		t.to[i] = p.transferObject(t.from[i])
	}
	return t.to[i]
}

// untransferable says why an object cannot be transferred, "" if it can.
func (p *Platform) untransferable(obj *goja.Object) string {
	if port, ok := p.attachedTo(obj).(*messagePort); ok {
		if port.detached {
			return "The MessagePort has been transferred already."
		}
		return ""
	}
	if obj.ExportType() == proxyType {
		return "Object is not transferable"
	}
	switch kind := p.streamKind(obj); {
	case kind == "":
		return "Object is not transferable"
	case p.streamsCall(kind, "transferable", obj).ToBoolean():
		return ""
	default:
		return "A locked stream could not be transferred."
	}
}

// transferObject moves a transferable platform object: the old one is of no use
// from then on.
func (p *Platform) transferObject(obj *goja.Object) *goja.Object {
	if port, ok := p.Engine.Attached(obj).(*messagePort); ok {
		return p.transferPort(port)
	}
	return p.streamsCall(p.streamKind(obj), "transfer", obj).(*goja.Object)
}

// transferCodec writes objects of the transfer list by their place in it.
type transferCodec struct{ p *Platform }

// Match implements clone.HostCodec.
func (c transferCodec) Match(obj *goja.Object, mode clone.Mode) bool {
	t := c.p.core.transfer
	return mode == clone.StructuredClone && t != nil && slices.Contains(t.from, obj)
}

// Write implements clone.HostCodec.
func (c transferCodec) Write(w *clone.Writer, obj *goja.Object) error {
	w.WriteUint32(uint32(slices.Index(c.p.core.transfer.from, obj)))
	return nil
}

// Read implements clone.HostCodec.
func (c transferCodec) Read(r *clone.Reader, _ clone.HostTag) (*goja.Object, error) {
	i, err := r.ReadUint32()
	if err != nil {
		return nil, err
	}
	t := c.p.core.transfer
	if t == nil || int(i) >= len(t.from) {
		return nil, errors.New("a transferred object is missing")
	}
	return t.receive(c.p, int(i)), nil
}

// CloneError is the JavaScript value of an error from package clone: the
// DOMException DataCloneError for what cannot be cloned.
func (p *Platform) CloneError(err error) goja.Value {
	var refused *clone.DataCloneError
	var damaged *clone.DeserializeError
	switch {
	case errors.As(err, &refused):
		return p.NewDOMException("DataCloneError", refused.Message)
	case errors.As(err, &damaged):
		return p.NewDOMException("DataCloneError", damaged.Error())
	case errors.Is(err, clone.ErrTooDeep):
		return p.Engine.NewError("RangeError", clone.ErrTooDeep.Error())
	case errors.Is(err, clone.ErrNotTransferable):
		return p.Engine.NewError("TypeError", clone.ErrNotTransferable.Error())
	}
	return p.Engine.FromGo(err)
}
