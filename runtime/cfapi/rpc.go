package cfapi

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/exchange"
	"minido.dev/minido/runtime/webapi/structured"
)

// MaxPayloadBytes is the largest RPC message, as in production.
const MaxPayloadBytes = 32 << 20

// maxMeasuredBytes bounds how far a message that is too large is serialized
// only to tell its size.
const maxMeasuredBytes = 2 * MaxPayloadBytes

// Pack clones v for another context, with stubs for what goes by reference. It
// throws DataCloneError.
func (a *API) Pack(v goja.Value) *event.Payload {
	p := &event.Payload{}
	b, err := a.Platform.Clone.Serialize(v, clone.Options{
		Mode: clone.RPC, EnhancedErrors: a.Platform.Enabled(compat.EnhancedErrorSerialization), ClassInstances: clone.Refused, HostCallables: true,
		MaxBytes: maxMeasuredBytes, External: p,
	})
	if err == nil && len(b) > MaxPayloadBytes {
		err = fmt.Errorf("%w: %d bytes", clone.ErrTooLarge, len(b))
	}
	if err != nil {
		releaseCaps(p)
		a.throwClone(err)
	}
	p.Bytes = b
	return p
}

// Unpack makes the value that Pack cloned.
func (a *API) Unpack(p *event.Payload) goja.Value {
	if p == nil {
		return goja.Undefined()
	}
	v, err := a.Platform.Clone.Deserialize(p.Bytes, clone.Options{Mode: clone.RPC, External: structured.Read(p)})
	if err != nil {
		a.throwClone(err)
	}
	return v
}

// Serialize clones v for a store: what passes by reference in calls is refused.
// It throws DataCloneError.
func (a *API) Serialize(v goja.Value) []byte {
	b, err := a.Platform.Clone.Serialize(v, clone.Options{Mode: clone.Storage, EnhancedErrors: a.opts.Compat(compat.EnhancedErrorSerialization), HostCallables: true})
	if err != nil {
		a.throwClone(err)
	}
	return b
}

func (a *API) throwClone(err error) {
	var ex *goja.Exception
	var dce *clone.DataCloneError
	switch {
	case errors.As(err, &ex):
		a.Engine.Rethrow(err)
	case errors.As(err, &dce):
		panic(a.Platform.NewDOMException("DataCloneError", dce.Message))
	case errors.Is(err, clone.ErrTooLarge):
		size := "more than 64MiB"
		if _, text, ok := strings.Cut(err.Error(), clone.ErrTooLarge.Error()+": "); ok {
			size = text
		}
		a.Engine.Throw("Error", "Serialized RPC arguments or return values are limited to 32MiB, but the size of this value was: %s.", size)
	default:
		a.Engine.Throw("Error", "%s", err)
	}
}

func releaseCaps(p *event.Payload) {
	for _, c := range p.Caps {
		if c, ok := c.(event.Capability); ok {
			c.Release()
		}
	}
}

// Failure describes a thrown value for the other side of a call. An object
// crosses as a clone, in which there can be no references; one that cannot be
// cloned, and anything that is no object, crosses by its text.
func (a *API) Failure(reason goja.Value) *event.Error {
	return a.failure(reason, a.Platform.Enabled(compat.EnhancedErrorSerialization))
}

// failure is Failure with or without the flag enhanced_error_serialization.
func (a *API) failure(reason goja.Value, enhanced bool) *event.Error {
	ev := a.Engine.Errors.ToEvent(reason)
	ev.Remote = true
	ev.Thrown = nil
	obj, isObject := reason.(*goja.Object)
	if !isObject {
		if symbol, ok := reason.(*goja.Symbol); ok {
			ev.Message = "Symbol(" + symbol.String() + ")"
		}
		return ev
	}
	if engine.IsCallable(obj) {
		return ev
	}
	if !enhanced && !a.Platform.IsDOMException(obj) {
		ev.Told = told(a.Platform.Clone.Describe(obj))
		ev.ObjectReset = false
		ev.Retryable = ev.Retryable && !ev.Overloaded
		return ev
	}
	b, err := a.Platform.Clone.Serialize(reason, clone.Options{
		Mode: clone.RPC, EnhancedErrors: true, MaxBytes: MaxPayloadBytes,
	})
	if err == nil {
		ev.Thrown = &event.Payload{Bytes: b}
	}
	if !a.vm.InstanceOf(obj, a.Engine.Primordial("Error")) && !a.Platform.IsDOMException(obj) {
		ev.Name, ev.Message = "Error", a.Platform.Clone.Describe(reason)
	}
	return ev
}

// told is what callers see of a thrown object with a text where own properties do not cross
// (workerd: src/workerd/jsg/util.c++): the text, whose first word chooses the class.
func told(text string) *event.Told {
	for _, class := range []string{"Error", "TypeError", "RangeError", "SyntaxError", "ReferenceError", "EvalError", "URIError", "AggregateError"} {
		if text == class {
			return &event.Told{Name: class}
		}
		if message, found := strings.CutPrefix(text, class+": "); found {
			return &event.Told{Name: class, Message: message}
		}
	}
	return &event.Told{Name: "Error", Message: text}
}

// FromError makes the value that a failed call rejects with (docs/semantics.md 7): the
// thrown object where it crossed, with the flags of the failure; for anything
// else that was thrown an Error with its text, as the reference has it.
func (a *API) FromError(err error) goja.Value {
	var ev *event.Error
	if !errors.As(err, &ev) {
		return a.Engine.Errors.FromGo(err)
	}
	if ev.Told != nil {
		obj := errorTold(a, ev.Told)
		a.Engine.Errors.SetFlags(obj, ev)
		if ev.ObjectID != "" {
			obj.Set("durableObjectId", ev.ObjectID)
		}
		return obj
	}
	if ev.Thrown == nil {
		return a.Engine.Errors.FromGo(ev)
	}
	var v goja.Value
	if thrown := a.Engine.Try(func() { v = a.Unpack(ev.Thrown) }); thrown != nil {
		return a.Engine.Errors.FromGo(ev)
	}
	if obj, ok := v.(*goja.Object); ok {
		if ev.ObjectID != "" && !a.Platform.IsDOMException(obj) {
			obj.Set("durableObjectId", ev.ObjectID)
		}
		a.Engine.Errors.SetFlags(obj, ev)
	}
	return v
}

func errorTold(a *API, told *event.Told) *goja.Object {
	if told.Name != "AggregateError" {
		return a.Engine.Errors.New(told.Name, told.Message)
	}
	obj, err := a.vm.New(a.Engine.Primordial("AggregateError"), a.vm.NewArray(), a.vm.ToValue(told.Message))
	if err != nil {
		a.Engine.Rethrow(err)
	}
	if err := obj.Delete("errors"); err != nil { // they did not cross
		a.Engine.Rethrow(err)
	}
	return obj
}

// nativeCall is native.call(handle, path, args): a call through a stub.
func (a *API) nativeCall(call goja.FunctionCall) goja.Value {
	cap := a.capability(call.Argument(0))
	path, given := a.path(call.Argument(1)), call.Argument(2)
	return a.promised(func() goja.Value { return a.send(cap, &event.Call{Path: path, Args: packArgs(a, given)}, a.result) })
}

// packArgs is Pack for the arguments of a call. Before rpc_params_dup_stubs a stub in them
// passes to the callee: the caller's is disposed of, also if the arguments turn out not to
// be sendable.
func packArgs(a *API, v goja.Value) *event.Payload {
	if a.opts.Compat(compat.RpcParamsDupStubs) {
		return a.Pack(v)
	}
	var passed []event.Capability
	outer := a.passed // of a call whose arguments' getter makes this one
	a.passed = &passed
	defer func() {
		a.passed = outer
		for _, c := range passed {
			c.Release()
		}
	}()
	return a.Pack(v)
}

// promised runs fn, which returns a promise; what it throws rejects one. A call
// through a stub never throws.
func (a *API) promised(fn func() goja.Value) (promise goja.Value) {
	if thrown := a.Engine.Try(func() { promise = fn() }); thrown != nil {
		return a.rejected(thrown)
	}
	return promise
}

func (a *API) rejected(reason goja.Value) goja.Value {
	promise, _, reject := a.vm.NewPromise()
	reject(reason)
	return a.vm.ToValue(promise)
}

// nativeGet is native.get(handle, path): the value of a property behind a stub.
func (a *API) nativeGet(call goja.FunctionCall) goja.Value {
	cap, path := a.capability(call.Argument(0)), a.path(call.Argument(1))
	return a.promised(func() goja.Value { return a.send(cap, &event.Call{Path: path, Get: true}, a.result) })
}

// send sends a call; read makes a value of what it returns.
func (a *API) send(cap event.Capability, c *event.Call, read func(*event.Payload) goja.Value) goja.Value {
	_, session := cap.(Target)
	if session { // calls of what a call returned belong to that call
		if err := a.Engine.Subrequest(); err != nil {
			a.Engine.Rethrow(err)
		}
	}
	caller := a.Engine.IO("a call")
	c.Cause, c.From, c.Parent = killpoint.Inherited(a.Engine.Cause()), caller.Label, callerSpan(a)
	e, isEarly := cap.(early)
	// An object would write down what it was told before that is on disk.
	c.Early = isEarly && caller.Kind == engine.RequestContext
	op := a.Engine.StartOp("rpc " + strings.Join(c.Path, "."))
	promise := op.Promise()
	settle := func(p *event.Payload, err error) {
		if c.Args != nil {
			releaseCaps(c.Args) // what the callee wants to keep it has to dup()
		}
		if err != nil {
			op.Reject("rpc", func() goja.Value {
				v := a.FromError(err)
				if _, own := cap.(Facet); session && !own {
					a.markCaller(caller, v)
				}
				return v
			})
			return
		}
		op.Resolve("rpc", func() goja.Value {
			if p.Safe != nil {
				caller.Owes(e.debtor(), p.Safe)
			}
			return read(p)
		})
	}
	a.sendTo(cap, func() { cap.Call(c, settle) }, func(err error) { settle(nil, err) })
	return promise
}

// markCaller puts the id of the object that has called a stub on what the call was
// rejected with, over that of the object which has thrown it, as workerd does.
func (a *API) markCaller(caller *engine.Context, reason goja.Value) {
	object, isObject := caller.Host.(interface{ ObjectID() string })
	obj, ok := reason.(*goja.Object)
	if isObject && ok && !a.Platform.IsDOMException(obj) && a.vm.InstanceOf(obj, a.Engine.Primordial("Error")) {
		obj.Set("durableObjectId", object.ObjectID())
	}
}

// result unpacks what a call returned and gives it a Symbol.dispose, as
// workerd does for object results (jsrpc: "implicit disposers"). The stubs in
// it are disposed of when the caller's context ends, at the latest.
func (a *API) result(p *event.Payload) goja.Value {
	if len(p.Caps) > 0 {
		a.Engine.IO("an RPC result").AtDeath(func(error) { releaseCaps(p) })
	}
	v := a.Unpack(p)
	obj, ok := v.(*goja.Object)
	if !ok {
		return v
	}
	if c, isStub := a.TargetOf(v); isStub {
		if _, service := c.(Target); !service {
			return v
		}
	}
	var dispose goja.Value = goja.Undefined()
	if len(p.Caps) > 0 {
		dispose = a.Engine.Func("dispose", 0, func(goja.FunctionCall) goja.Value {
			releaseCaps(p)
			return goja.Undefined()
		})
	}
	if _, err := a.disposable(goja.Undefined(), obj, dispose); err != nil {
		a.Engine.Rethrow(err)
	}
	return v
}

// nativeFetch is native.fetch(handle, input, init, object). What an object's fetch() rejects with
// does not show who waits for it, in workerd either.
func (a *API) nativeFetch(call goja.FunctionCall) goja.Value {
	failure := a.FromError
	if call.Argument(3).ToBoolean() {
		failure = func(err error) goja.Value { return a.Engine.Apart(func() goja.Value { return a.FromError(err) }) }
	}
	return fetchThrough(a, call.Argument(0), call.Argument(1), call.Argument(2), failure)
}

// fetchThrough is fetch(input, init) of the stub with a handle.
func fetchThrough(a *API, handle, input, init goja.Value, failure func(error) goja.Value) goja.Value {
	target, ok := a.Engine.Attached(handle).(Target)
	if !ok {
		a.Engine.Throw("TypeError", "This stub has no fetch(): it is the stub of an RPC target.")
	}
	return a.Platform.Fetch.DoBy(input, init, exchange.Route{
		Through: within(a, target.Fetch), Emit: func(release func(), lose func(error)) { a.sendTo(target, release, lose) }, Failure: failure, Cause: "rpc",
	})
}

// callerSpan is what tail workers know the event as whose code runs; nil: nobody wants to know.
func callerSpan(a *API) *event.Span {
	if inv := a.Engine.Frame().Invocation; inv != nil {
		return inv.Span()
	}
	return nil
}

// within has the requests of fetch belong to the event whose code runs.
func within(a *API, fetch exchange.Exchange) exchange.Exchange {
	span := callerSpan(a)
	if span == nil {
		return fetch
	}
	return func(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
		req.Parent = span
		return fetch(req, done)
	}
}

// nativeWrap is native.wrap(value): a stub's capability for a local target.
func (a *API) nativeWrap(call goja.FunctionCall) goja.Value {
	target, ok := call.Argument(0).(*goja.Object)
	object := a.Engine.Primordial("Object").Get("prototype")
	if !ok || !a.byReference(target) && (target.Prototype() == nil || !target.Prototype().SameAs(object)) {
		a.Engine.Throw("TypeError", "RpcStubs can only wrap plain objects, functions, and RpcTarget derivatives.")
	}
	if c, isStub := a.TargetOf(target); isStub {
		if _, service := c.(Target); service {
			a.Engine.Throw("TypeError", "RpcStubs can only wrap plain objects, functions, and RpcTarget derivatives.")
		}
		return a.handle(c.Dup())
	}
	return a.handle(a.export(target))
}

func (a *API) nativeDup(call goja.FunctionCall) goja.Value {
	c := a.capability(call.Argument(0)).Dup()
	a.Engine.IO("dup()").AtDeath(func(error) { c.Release() })
	return a.handle(c)
}

func (a *API) nativeDispose(call goja.FunctionCall) goja.Value {
	a.capability(call.Argument(0)).Release()
	return goja.Undefined()
}

func (a *API) capability(v goja.Value) event.Capability {
	c, ok := a.Engine.Attached(v).(event.Capability)
	if !ok {
		a.Engine.Throw("TypeError", "%s", engine.IllegalInvocation)
	}
	return c
}

func (a *API) path(v goja.Value) []string {
	var path []string
	if err := a.vm.ExportTo(v, &path); err != nil {
		a.Engine.Rethrow(err)
	}
	return path
}

// deliverIn runs fn as a turn in a frame of a context, or calls dead if the context has
// ended by then. Safe for concurrent use.
func deliverIn(a *API, f *engine.Frame, cause string, fn func(f *engine.Frame), dead func(error)) {
	c := f.Context
	err := a.Engine.PostLoop(func() {
		if reason := c.Dead(); reason != nil {
			dead(reason)
			return
		}
		forget := c.AtDeath(dead) // a gate may keep the event until the context ends
		a.Engine.Turns.Enter(f, cause, func() {
			forget()
			fn(f)
		})
	})
	if err != nil {
		dead(fmt.Errorf("the isolate has ended: %w", err))
	}
}
