package webapi

import (
	"errors"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/clone"
)

func (p *Platform) installClone() {
	// Every object with a Go value is a platform object.
	p.Hosts.RefuseOthers(func(obj *goja.Object) bool { return p.attachedTo(obj) != nil })
	p.Engine.LazyGlobal("structuredClone", func() goja.Value {
		return p.Engine.Func("structuredClone", 1, func(call goja.FunctionCall) goja.Value {
			p.need(call, 1, "", "structuredClone", "JsValue")
			return p.structuredClone(call.Arguments[0], call.Argument(1))
		})
	})
}

// structuredClone is HTML's section 2.7.10: structuredClone(value, {transfer}).
func (p *Platform) structuredClone(v, options goja.Value) goja.Value {
	o := clone.Options{Mode: clone.StructuredClone, EnhancedErrors: p.compat("enhanced_error_serialization"), HostCallables: true}
	if list := get(options, "transfer"); !isMissing(list) {
		p.forOf(list, func(item goja.Value) {
			obj, ok := item.(*goja.Object)
			if !ok {
				panic(p.CloneError(clone.ErrNotTransferable))
			}
			o.Transfer = append(o.Transfer, obj)
		})
	}
	kept := p.core.crypto.cloning
	defer func() { p.core.crypto.cloning = kept }()
	result, err := p.Clone.StructuredClone(v, o)
	if err != nil {
		panic(p.CloneError(err))
	}
	return result
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
