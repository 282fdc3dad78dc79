package cfapi

import (
	"fmt"
	"strconv"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

// Invoke performs a call on a target of this isolate, within a turn of the
// target's context. done gets the packed result as an output of that context,
// or the failure; it is called exactly once, also when the context dies first.
func (a *API) Invoke(target *goja.Object, c *event.Call, done func(*event.Payload, error)) {
	receiver{api: a, target: target, reserved: reservedOfEntrypoints}.invoke(c, done)
}

// InvokeHandler is Invoke for an exported object of handlers, which is no
// instance of a class: its functions get one argument, then rest (env, ctx).
func (a *API) InvokeHandler(target *goja.Object, rest []goja.Value, c *event.Call, done func(*event.Payload, error)) {
	receiver{api: a, target: target, reserved: reservedOfEntrypoints, handler: true, rest: rest}.invoke(c, done)
}

// InvokeInner is Invoke for an object of the platform's own; its calls are no effect points.
func (a *API) InvokeInner(target *goja.Object, c *event.Call, done func(*event.Payload, error)) {
	receiver{api: a, target: target, reserved: reservedOfEntrypoints, inner: true}.invoke(c, done)
}

// receiver is the target of a call, and what kind of target it is.
type receiver struct {
	api    *API
	target *goja.Object
	// reserved are the names that cannot be called on it.
	reserved map[string]bool
	// transient targets went by reference; the others are entrypoints and objects.
	transient bool
	// handler targets are exported objects; rest follows the argument of their
	// functions.
	handler bool
	rest    []goja.Value
	// inner targets are the platform's own.
	inner bool
}

// The reserved names are those of workerd (EntrypointJsRpcTarget and
// TransientJsRpcTarget, isReservedName).
var (
	reservedOfEntrypoints = map[string]bool{"fetch": true, "connect": true, "alarm": true, "webSocketMessage": true,
		"webSocketClose": true, "webSocketError": true, "dup": true, "constructor": true}
	reservedOfTransients = map[string]bool{"dup": true, "constructor": true}
)

func (r receiver) invoke(c *event.Call, done func(*event.Payload, error)) {
	a := r.api
	ctx := a.Engine.IO("an RPC call")
	finished := false
	forget := func() {}
	finish := func(p *event.Payload, err error) {
		if finished {
			return
		}
		finished = true
		forget()
		ctx.ReleaseFor()
		done(p, err)
	}
	ctx.HoldFor()
	forget = ctx.AtDeath(func(reason error) { finish(nil, reason) })
	fail := func(reason goja.Value) {
		// The reference's own workers have compatibility dates before the flag's.
		ev := a.failure(reason, !r.inner && a.Platform.Enabled(compat.EnhancedErrorSerialization))
		if refusal := a.refusal; refusal != nil && reason == goja.Value(refusal) {
			ev.Thrown, ev.Stack = nil, ""
		} else if object, ok := ctx.Host.(interface{ ObjectID() string }); ok && (r.transient || (!c.Get || r.tested()) && ev.Thrown != nil) {
			ev.ObjectID = object.ObjectID()
		}
		if !r.inner {
			a.Engine.Uncaught.Tell(reason)
		}
		r.answer(c, nil, func() { finish(nil, ev) }, func(err error) { finish(nil, err) })
	}
	thrown := a.Engine.Try(func() {
		a.Engine.Follow(r.perform(c), func(v goja.Value) {
			var p *event.Payload
			a.inner = r.inner
			bad := a.Engine.Try(func() { p = a.Pack(v) })
			a.inner = false
			if bad != nil {
				fail(bad)
				return
			}
			r.answer(c, p, func() { finish(p, nil) }, func(err error) {
				releaseCaps(p)
				finish(nil, err)
			})
		}, fail)
	})
	if thrown != nil {
		fail(thrown)
	}
}

// perform finds and calls the member that a call names.
func (r receiver) perform(c *event.Call) goja.Value {
	a := r.api
	var this goja.Value = goja.Undefined()
	var found goja.Value = r.target
	for i, name := range c.Path {
		obj, ok := found.(*goja.Object)
		if !ok {
			if i == 1 && r.tested() {
				r.noMethod(name)
			}
			r.noMethod(c.Path[i-1])
		}
		if r.reserved[name] && i == 0 {
			r.refuse("'%s' is a reserved method and cannot be called over RPC.", name)
		}
		if i == 0 && r.handler {
			this, found = obj, r.handlerMember(obj, name)
			continue
		}
		if i == 0 && r.tested() && len(c.Path) > 1 && !r.inherits(obj, name) {
			r.noMethod(c.Path[1]) // what tests see instead of a member has no members
		}
		this, found = obj, r.member(obj, name, i == 0 && !r.transient)
	}
	if c.Get {
		return found
	}
	if !engine.IsCallable(found) {
		name := "(this)"
		if n := len(c.Path); n > 0 {
			name = c.Path[n-1]
		}
		r.refuse("%q is not a function.", name)
	}
	return a.Engine.Call(found, this, r.arguments(c)...)
}

// arguments unpacks the arguments of a call.
func (r receiver) arguments(c *event.Call) []goja.Value {
	a := r.api
	var args []goja.Value
	if c.Args != nil {
		arr := a.Unpack(c.Args).(*goja.Object)
		n := int(arr.Get("length").ToInteger())
		for i := range n {
			args = append(args, arr.Get(strconv.Itoa(i)))
		}
	}
	if !r.handler || len(c.Path) != 1 {
		return args
	}
	if len(args) != 1 {
		r.refuse("Attempted to call RPC function %q with the wrong number of arguments. When calling a top-level handler "+
			"function that is not declared as part of a class, you must always send exactly one argument. In order to support variable numbers "+
			"of arguments, the server must use class-based syntax (extending WorkerEntrypoint) instead.", c.Path[0])
	}
	return append(args, r.rest...)
}

// handlerMember reads a member of an exported object of handlers: all but what
// every object has.
func (r receiver) handlerMember(obj *goja.Object, name string) goja.Value {
	a := r.api
	object := a.Engine.Primordial("Object").Get("prototype")
	for o := obj; o != nil && !o.SameAs(object); o = o.Prototype() {
		if a.hasOwn(o, name) {
			return obj.Get(name)
		}
	}
	r.noMethod(name)
	return nil
}

// refuse throws a TypeError of the platform's own: of no method, so of no object either.
func (r receiver) refuse(format string, args ...any) {
	r.api.refusal = r.api.Engine.Errors.New("TypeError", fmt.Sprintf(format, args...))
	panic(r.api.refusal)
}

// tested reports whether tests call it, whose errors are those of the class that Cloudflare's plugin
// puts around the worker's: code, not the platform, says what is missing.
func (r receiver) tested() bool {
	return r.api.opts.Missing != nil && !r.transient && !r.handler && !r.inner
}

func (r receiver) noMethod(name string) {
	r.refuse("The RPC receiver does not implement the method %q.", name)
}

// member reads a public member: of entrypoints and of instances of our base
// classes only what their prototypes define, short of Object's; of functions
// and plain objects own properties; of stubs what they offer.
func (r receiver) member(obj *goja.Object, name string, entrypoint bool) goja.Value {
	a := r.api
	if _, isStub := a.TargetOf(obj); isStub {
		return obj.Get(name)
	}
	isTarget := entrypoint || a.vm.InstanceOf(obj, a.rpcTarget) || a.vm.InstanceOf(obj, a.durableObject) || a.vm.InstanceOf(obj, a.entrypoint)
	if own := a.hasOwn(obj, name); name == "__proto__" || name == "constructor" || own == isTarget {
		if r.tested() && entrypoint && !(own && (r.inherits(obj, name) || name == "env" || name == "ctx")) {
			panic(a.Engine.Errors.New("TypeError", a.opts.Missing(obj, name, own)))
		}
		r.noMethod(name)
	}
	if !isTarget {
		return obj.Get(name)
	}
	if r.inherits(obj, name) {
		return obj.Get(name)
	}
	if r.tested() && entrypoint {
		panic(a.Engine.Errors.New("TypeError", a.opts.Missing(obj, name, false)))
	}
	r.noMethod(name)
	return nil
}

// inherits reports whether a prototype of obj, short of Object's, has a member.
func (r receiver) inherits(obj *goja.Object, name string) bool {
	object := r.api.Engine.Primordial("Object").Get("prototype")
	for proto := obj.Prototype(); proto != nil && !proto.SameAs(object); proto = proto.Prototype() {
		if r.api.hasOwn(proto, name) {
			return true
		}
	}
	return false
}

func (a *API) hasOwn(obj *goja.Object, name string) bool {
	return a.Engine.Call(a.Engine.Primordial("ObjectPrototypeHasOwnProperty"), goja.Undefined(), obj, a.vm.ToValue(name)).ToBoolean()
}
