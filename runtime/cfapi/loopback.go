package cfapi

import (
	"errors"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

// Loopback is a Target that ctx.exports offers: called with {props} it gives the
// same entrypoint with those as its ctx.props.
type Loopback interface {
	Target
	WithProps(props *event.Payload) Target
}

// ObjectClass is a durable object class as code passes it around: what ctx.exports
// has under the class's name, or what that gives when it is called with {props}.
// Facets are made of it. Immutable.
type ObjectClass struct {
	Name  string
	Props *event.Payload // nil for none
	// Home leads to what runs objects of a class that another isolate exports: one that
	// is on the loop of the isolate which the class was given to. nil: this isolate
	// itself. done is called once, from any goroutine.
	Home func(done func(home any, err error))
}

// In is the class as code of an isolate sees it.
func (c *ObjectClass) In(a *API) goja.Value { return a.objectClass.Wrap(c) }

// defineLoopbacks makes the classes of what ctx.exports has for durable objects
// (workerd: api/export-loopback.h).
func (a *API) defineLoopbacks() {
	a.objectClass = engine.DefineClass(a.Engine, engine.ClassDef[*ObjectClass]{Name: "DurableObjectClass"})
	a.loopbackClass = engine.DefineClass(a.Engine, engine.ClassDef[*ObjectClass]{Name: "LoopbackDurableObjectClass", Extends: a.objectClass.Ctor})
	a.loopbackSpace = engine.DefineClass(a.Engine, engine.ClassDef[*namespace]{Name: "LoopbackDurableObjectNamespace", Extends: a.spaces.Ctor})
}

// LoopbackService is what ctx.exports has for an entrypoint.
func (a *API) LoopbackService(t Loopback) *goja.Object {
	v, err := a.loopback(goja.Undefined(), a.handle(t))
	if err != nil {
		a.Engine.Rethrow(err)
	}
	return v.(*goja.Object)
}

// LoopbackTarget finds what a LoopbackService reaches; ok is false for anything else.
func LoopbackTarget(a *API, v goja.Value) (t Target, ok bool) {
	if _, isObject := v.(*goja.Object); !isObject {
		return nil, false
	}
	h, err := a.handleOf(goja.Undefined(), v, a.vm.ToValue(true))
	if err != nil {
		a.Engine.Rethrow(err)
	}
	t, ok = a.Engine.Attached(h).(Loopback)
	return t, ok
}

// LoopbackObjects is what ctx.exports has for a durable object class: its
// namespace, or the class alone if ns is nil.
func (a *API) LoopbackObjects(class string, ns Namespace) *goja.Object {
	kind := "LoopbackDurableObjectClass"
	if ns != nil {
		kind = "LoopbackDurableObjectNamespace"
	}
	fn := a.Engine.Func("", 0, func(call goja.FunctionCall) goja.Value {
		return a.objectClass.Wrap(&ObjectClass{Name: class, Props: a.propsOf(kind, call.Argument(0))})
	})
	for _, name := range []string{"name", "length"} {
		fn.Delete(name) // as of an object that can be called; both are configurable
	}
	if ns != nil {
		fn.SetPrototype(a.loopbackSpace.Proto)
		a.Engine.Attach(fn, &namespace{ns: ns, loopback: true})
	} else {
		fn.SetPrototype(a.loopbackClass.Proto)
		a.Engine.Attach(fn, &ObjectClass{Name: class})
	}
	return fn
}

// ClassOf is the durable object class that a value stands for.
func (a *API) ClassOf(v goja.Value) (class *ObjectClass, ok bool) {
	switch x := a.Engine.Attached(v).(type) {
	case *ObjectClass:
		return x, true
	case *namespace:
		if x.loopback {
			return &ObjectClass{Name: x.ns.Class()}, true
		}
	}
	return nil, false
}

// nativeLoopback is native.loopback(handle, args): a call of an entrypoint's
// loopback.
func (a *API) nativeLoopback(call goja.FunctionCall) goja.Value {
	t, ok := a.Engine.Attached(call.Argument(0)).(Loopback)
	if !ok {
		panic(a.vm.NewTypeError(engine.IllegalInvocation))
	}
	options := goja.Undefined()
	if args, isArray := call.Argument(1).(*goja.Object); isArray && args.Get("0") != nil {
		options = args.Get("0")
	}
	return a.Service(t.WithProps(a.propsOf("LoopbackServiceStub", options)))
}

// propsOf clones the props of a loopback's options. They may hold service stubs
// and no other reference.
func (a *API) propsOf(kind string, options goja.Value) *event.Payload {
	o, ok := options.(*goja.Object)
	if !ok {
		a.Engine.Throw("TypeError", "Failed to execute '(called as function)' on '%s': parameter 1 is not of type 'Options'.", kind)
	}
	given := o.Get("props")
	if given == nil || goja.IsUndefined(given) {
		return nil
	}
	if _, ok := given.(*goja.Object); !ok || engine.IsCallable(given) && a.standIn(given.(*goja.Object)) != "" {
		a.Engine.Throw("TypeError", "Incorrect type for the 'props' field on 'Options': the provided value is not of type 'Object'.")
	}
	return PackProps(a, given)
}

// PackProps clones an object that outlives the call in which it is given, such as
// ctx.props: it may hold service stubs and no other reference. It throws DataCloneError.
func PackProps(a *API, given goja.Value) *event.Payload {
	p := &event.Payload{}
	b, err := a.Platform.Clone.Serialize(given, clone.Options{
		Mode: clone.RPC, EnhancedErrors: a.Platform.Enabled(compat.EnhancedErrorSerialization), ClassInstances: clone.Refused, HostCallables: true,
		MaxBytes: MaxPayloadBytes, External: propsMessage{p},
	})
	if errors.Is(err, clone.ErrTooLarge) {
		a.Engine.Throw("Error", "ctx.props is limited to 32MiB.")
	}
	if err != nil {
		a.throwClone(err)
	}
	p.Bytes = b
	return p
}

// propsMessage is the External of a clone of ctx.props.
type propsMessage struct{ p *event.Payload }
