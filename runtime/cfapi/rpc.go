package cfapi

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
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
		Mode: clone.RPC, EnhancedErrors: true, ClassInstances: clone.Refused, HostCallables: true,
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
	v, err := a.Platform.Clone.Deserialize(p.Bytes, clone.Options{Mode: clone.RPC, External: p})
	if err != nil {
		a.throwClone(err)
	}
	return v
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

// Failure describes a thrown value for the other side of a call.
func (a *API) Failure(reason goja.Value) *event.Error {
	ev := a.Engine.ToEvent(reason)
	ev.Remote = true
	ev.Thrown = nil
	if obj, ok := reason.(*goja.Object); ok && !engine.IsCallable(obj) {
		a.Engine.Try(func() { ev.Thrown = a.Pack(reason) }) // a reason that cannot be cloned crosses by its text
	}
	return ev
}

// FromError makes the value that a failed call rejects with (SEMANTICS 7): the
// thrown object where it crossed, with the flags of the failure; for anything
// else that was thrown an Error with its text, as the reference has it.
func (a *API) FromError(err error) goja.Value {
	var ev *event.Error
	if !errors.As(err, &ev) {
		return a.Engine.FromGo(err)
	}
	if ev.Thrown == nil {
		return a.Engine.FromGo(ev)
	}
	var v goja.Value
	if thrown := a.Engine.Try(func() { v = a.Unpack(ev.Thrown) }); thrown != nil {
		return a.Engine.FromGo(ev)
	}
	if obj, ok := v.(*goja.Object); ok {
		if ev.ObjectID != "" {
			obj.Set("durableObjectId", ev.ObjectID)
		}
		a.Engine.SetErrorFlags(obj, ev)
	}
	return v
}

// nativeCall is native.call(handle, path, args): a call through a stub.
func (a *API) nativeCall(call goja.FunctionCall) goja.Value {
	cap := a.capability(call.Argument(0))
	path := a.path(call.Argument(1))
	args := a.Pack(call.Argument(2))
	return a.send(cap, &event.Call{Path: path, Args: args})
}

// nativeGet is native.get(handle, path): the value of a property behind a stub.
func (a *API) nativeGet(call goja.FunctionCall) goja.Value {
	return a.send(a.capability(call.Argument(0)), &event.Call{Path: a.path(call.Argument(1)), Get: true})
}

func (a *API) send(cap event.Capability, c *event.Call) goja.Value {
	op := a.Engine.StartOp("rpc " + strings.Join(c.Path, "."))
	promise := op.Promise()
	a.emit(killpoint.RPC, func() {
		cap.Call(c, func(p *event.Payload, err error) {
			if c.Args != nil {
				releaseCaps(c.Args) // what the callee wants to keep it has to dup()
			}
			if err != nil {
				op.Reject("rpc", func() goja.Value { return a.FromError(err) })
				return
			}
			op.Resolve("rpc", func() goja.Value { return a.result(p) })
		})
	})
	return promise
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
	if !ok || len(p.Caps) == 0 {
		return v
	}
	if _, isStub := a.TargetOf(v); isStub {
		return v
	}
	dispose := a.Engine.Func("dispose", 0, func(goja.FunctionCall) goja.Value {
		releaseCaps(p)
		return goja.Undefined()
	})
	if _, err := a.disposable(goja.Undefined(), obj, dispose); err != nil {
		a.Engine.Rethrow(err)
	}
	return v
}

// emit releases something to the outside, as an output of the current context.
func (a *API) emit(kind killpoint.Kind, release func()) {
	c := a.Engine.IO("a call")
	if !a.opts.Points.On() {
		c.Emit(release)
		return
	}
	cause, label := a.Engine.Cause(), c.Label
	c.Emit(func() {
		a.opts.Points.Hit(kind, killpoint.Before, label, cause)
		release()
		a.opts.Points.Hit(kind, killpoint.After, label, cause)
	})
}

// nativeFetch is native.fetch(handle, input, init).
func (a *API) nativeFetch(call goja.FunctionCall) goja.Value {
	target, ok := a.Engine.Attached(call.Argument(0)).(Target)
	if !ok {
		a.Engine.Throw("TypeError", "This stub has no fetch(): it is the stub of an RPC target.")
	}
	req, signal, err := a.Platform.RequestFor(call.Argument(1), call.Argument(2))
	if err != nil {
		a.Engine.Rethrow(err)
	}
	_ = signal // aborting a stub's fetch only stops waiting for it; see docs/compatibility.md
	op := a.Engine.StartOp("fetch " + req.URL)
	promise := op.Promise()
	a.emit(killpoint.RPC, func() {
		cancel := target.Fetch(req, func(resp *event.Response, err error) {
			if err != nil {
				op.Reject("rpc", func() goja.Value { return a.FromError(err) })
				return
			}
			op.Resolve("rpc", func() goja.Value { return a.Platform.ResponseFromEvent(resp) })
		})
		op.OnCancel(cancel)
	})
	return promise
}

// nativeWrap is native.wrap(value): a stub's capability for a local target.
func (a *API) nativeWrap(call goja.FunctionCall) goja.Value {
	target, ok := call.Argument(0).(*goja.Object)
	if !ok {
		a.Engine.Throw("TypeError", "Failed to construct 'JsRpcStub': constructor parameter 1 is not of type 'Object'.")
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

// byReference reports whether v passes by reference: a function or an
// instance of RpcTarget, DurableObject or WorkerEntrypoint.
func (a *API) byReference(v goja.Value) bool {
	obj, ok := v.(*goja.Object)
	if !ok {
		return false
	}
	if engine.IsCallable(v) {
		_, proxy := obj.Export().(goja.Proxy)
		return !proxy
	}
	return a.vm.InstanceOf(v, a.rpcTarget)
}

// local is a reference to a target that lives in this isolate. One that was
// given away keeps the context of its target alive until it is released; so do
// its copies. Safe for concurrent use: other isolates hold references too.
type local struct {
	api     *API
	context *engine.Context
	target  *goja.Object // for the loop of api alone
	shared  *localShared
	sent    bool // set before the reference is handed on, immutable then
	done    atomic.Bool
}

type localShared struct{ refs atomic.Int32 }

func (a *API) export(target *goja.Object) *local {
	l := &local{api: a, context: a.Engine.IO("an RPC stub"), target: target, shared: &localShared{}}
	l.shared.refs.Store(1)
	return l
}

// send marks a new reference, which nobody else has yet, as one that leaves in
// a message. A copy of a reference from elsewhere has been sent before, so this
// is for the loop of api.
func (l *local) send() {
	if !l.sent {
		l.sent = true
		l.context.Hold()
	}
}

// Call implements event.Capability.
func (l *local) Call(c *event.Call, done func(*event.Payload, error)) {
	if l.done.Load() {
		done(nil, &event.Error{Name: "Error", Message: "RPC stub used after being disposed."})
		return
	}
	l.api.Deliver(l.context, "rpc", func(f *engine.Frame) {
		l.api.invoke(l.target, c, transient, done)
	}, func(err error) { done(nil, err) })
}

// Dup implements event.Capability.
func (l *local) Dup() event.Capability {
	l.shared.refs.Add(1)
	d := &local{api: l.api, context: l.context, target: l.target, shared: l.shared, sent: l.sent}
	if l.done.Load() {
		d.done.Store(true) // a copy of what is gone is gone
		return d
	}
	if d.sent {
		// The copied reference holds the context until its own release, which
		// comes to the loop later. A closed loop has no contexts.
		_ = l.api.Engine.PostLoop(l.context.Hold)
	}
	return d
}

// Release implements event.Capability. After the last release the target's
// Symbol.dispose method is called, if it has one.
func (l *local) Release() {
	if l.done.Swap(true) {
		return
	}
	a := l.api
	last := l.shared.refs.Add(-1) == 0
	if !last && !l.sent {
		return
	}
	// A closed loop has nothing left to dispose of.
	_ = a.Engine.PostLoop(func() {
		if last {
			a.Engine.Enter(l.context.Frame(), "dispose", l.dispose)
		}
		if l.sent {
			l.context.Release()
		}
	})
}

func (l *local) dispose() {
	a := l.api
	sym := a.Engine.Primordial("Symbol").Get("dispose").(*goja.Symbol)
	if d := l.target.GetSymbol(sym); engine.IsCallable(d) {
		a.Engine.Call(d, l.target)
	}
}

// Deliver runs fn as a turn of context c, or calls dead if the context has
// ended by then. Safe for concurrent use.
func (a *API) Deliver(c *engine.Context, cause string, fn func(f *engine.Frame), dead func(error)) {
	err := a.Engine.PostLoop(func() {
		if reason := c.Dead(); reason != nil {
			dead(reason)
			return
		}
		f := c.Frame()
		forget := c.AtDeath(dead) // a gate may keep the event until the context ends
		a.Engine.Enter(f, cause, func() {
			forget()
			fn(f)
		})
	})
	if err != nil {
		dead(fmt.Errorf("the isolate has ended: %w", err))
	}
}

// Invoke performs a call on a target of this isolate, within a turn of the
// target's context. done gets the packed result as an output of that context,
// or the failure; it is called exactly once, also when the context dies first.
func (a *API) Invoke(target *goja.Object, c *event.Call, done func(*event.Payload, error)) {
	a.invoke(target, c, entry, done)
}

// receiver says what kind of target a call is for.
type receiver int

const (
	// entry is an entrypoint or a durable object: a long list of names is
	// reserved (workerd: EntrypointJsRpcTarget::isReservedName).
	entry receiver = iota
	// transient is what went by reference.
	transient
)

var reserved = map[receiver]map[string]bool{
	entry: {"fetch": true, "connect": true, "alarm": true, "webSocketMessage": true, "webSocketClose": true,
		"webSocketError": true, "dup": true, "constructor": true},
	transient: {"dup": true, "constructor": true},
}

func (a *API) invoke(target *goja.Object, c *event.Call, kind receiver, done func(*event.Payload, error)) {
	ctx := a.Engine.IO("an RPC call")
	finished := false
	forget := func() {}
	finish := func(p *event.Payload, err error) {
		if finished {
			return
		}
		finished = true
		forget()
		ctx.Release()
		done(p, err)
	}
	ctx.Hold()
	forget = ctx.AtDeath(func(reason error) { finish(nil, reason) })
	fail := func(reason goja.Value) {
		ev := a.Failure(reason)
		a.emit(killpoint.RPC, func() { finish(nil, ev) })
	}
	thrown := a.Engine.Try(func() {
		a.Engine.Await(a.perform(target, c, kind), func(v goja.Value) {
			var p *event.Payload
			if bad := a.Engine.Try(func() { p = a.Pack(v) }); bad != nil {
				fail(bad)
				return
			}
			a.emit(killpoint.RPC, func() { finish(p, nil) })
		}, fail)
	})
	if thrown != nil {
		fail(thrown)
	}
}

// perform finds and calls the member that a call names.
func (a *API) perform(target *goja.Object, c *event.Call, kind receiver) goja.Value {
	var this goja.Value = goja.Undefined()
	var found goja.Value = target
	for i, name := range c.Path {
		obj, ok := found.(*goja.Object)
		if !ok {
			a.noMethod(c.Path[i-1])
		}
		if reserved[kind][name] && i == 0 {
			a.Engine.Throw("TypeError", "'%s' is a reserved method and cannot be called over RPC.", name)
		}
		this, found = obj, a.member(obj, name, i == 0 && kind == entry)
	}
	if c.Get {
		return found
	}
	var args []goja.Value
	if c.Args != nil {
		arr := a.Unpack(c.Args).(*goja.Object)
		n := int(arr.Get("length").ToInteger())
		for i := range n {
			args = append(args, arr.Get(fmt.Sprint(i)))
		}
	}
	switch {
	case engine.IsCallable(found):
		return a.Engine.Call(found, this, args...)
	case len(c.Path) == 0:
		a.Engine.Throw("TypeError", "%q is not a function.", "(this)")
	default:
		a.noMethod(c.Path[len(c.Path)-1])
	}
	return nil
}

func (a *API) noMethod(name string) {
	a.Engine.Throw("TypeError", "The RPC receiver does not implement the method %q.", name)
}

// member reads a public member: of entrypoints and of instances of our base
// classes only what their prototypes define, short of Object's; of functions
// and plain objects own properties; of stubs what they offer.
func (a *API) member(obj *goja.Object, name string, entrypoint bool) goja.Value {
	if _, isStub := a.TargetOf(obj); isStub {
		return obj.Get(name)
	}
	isTarget := entrypoint || a.vm.InstanceOf(obj, a.rpcTarget) || a.vm.InstanceOf(obj, a.durableObject) || a.vm.InstanceOf(obj, a.entrypoint)
	if name == "__proto__" || name == "constructor" || a.hasOwn(obj, name) == isTarget {
		a.noMethod(name)
	}
	if !isTarget {
		return obj.Get(name)
	}
	object := a.Engine.Primordial("Object").Get("prototype")
	for proto := obj.Prototype(); proto != nil && !proto.SameAs(object); proto = proto.Prototype() {
		if a.hasOwn(proto, name) {
			return obj.Get(name)
		}
	}
	a.noMethod(name)
	return nil
}

func (a *API) hasOwn(obj *goja.Object, name string) bool {
	return a.Engine.Call(a.Engine.Primordial("ObjectPrototypeHasOwnProperty"), goja.Undefined(), obj, a.vm.ToValue(name)).ToBoolean()
}

// stubCodec passes functions, RpcTargets and stubs by reference.
type stubCodec struct{ a *API }

func (a *API) registerCodecs() {
	a.Platform.Hosts.Add(stubCodec{a}, clone.HostRpcStub)
}

// Match implements clone.HostCodec.
func (s stubCodec) Match(obj *goja.Object, mode clone.Mode) bool {
	if _, ok := s.a.TargetOf(obj); ok || s.a.standIn(obj) != "" {
		return true
	}
	if mode != clone.RPC {
		return s.a.vm.InstanceOf(obj, s.a.rpcTarget) // to be refused by name
	}
	return s.a.byReference(obj)
}

// Write implements clone.HostCodec: the index of the capability.
func (s stubCodec) Write(w *clone.Writer, obj *goja.Object) error {
	p, ok := w.External().(*event.Payload)
	c, isStub := s.a.TargetOf(obj)
	if u, unsendable := c.(Unsendable); unsendable {
		return &clone.DataCloneError{Message: u.Unsendable()}
	}
	if !ok {
		if _, service := c.(Target); service {
			return &clone.DataCloneError{Message: "ServiceStub cannot be serialized in this context."}
		}
		return &clone.DataCloneError{Message: "Remote RPC references can only be serialized for RPC."}
	}
	if kind := s.a.standIn(obj); kind != "" {
		return &clone.DataCloneError{Message: fmt.Sprintf("Could not serialize object of type %q. This type does not support serialization.", kind)}
	}
	if isStub {
		c = c.Dup()
	} else {
		c = s.a.export(obj)
	}
	if l, ok := c.(*local); ok {
		l.send()
	}
	w.WriteUint32(uint32(len(p.Caps)))
	p.Caps = append(p.Caps, c)
	return nil
}

// Read implements clone.HostCodec.
func (s stubCodec) Read(r *clone.Reader, _ clone.HostTag) (*goja.Object, error) {
	p, ok := r.External().(*event.Payload)
	if !ok {
		return nil, errors.New("a stub outside an RPC message")
	}
	i, err := r.ReadUint32()
	if err != nil {
		return nil, err
	}
	if int(i) >= len(p.Caps) {
		return nil, errors.New("an RPC message names a capability that it does not carry")
	}
	c, ok := p.Caps[i].(event.Capability)
	if !ok {
		return nil, errors.New("an RPC message names a capability of another kind")
	}
	if t, isTarget := c.(Target); isTarget {
		return s.a.Service(t), nil
	}
	v, err := s.a.stubOf(goja.Undefined(), s.a.handle(c))
	if err != nil {
		return nil, err
	}
	return v.(*goja.Object), nil
}
