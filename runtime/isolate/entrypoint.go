package isolate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

// execution is ctx of a stateless event: ExecutionContext. What it does is done to the
// event that calls it, as in workerd, whichever it was made for.
type execution struct{}

func (i *Isolate) defineExecution() {
	i.execution = engine.DefineClass(i.Engine, engine.ClassDef[*execution]{
		Name: "ExecutionContext",
		Methods: []engine.Method[*execution]{
			{Name: "waitUntil", Length: 1, Fn: func(_ *execution, call goja.FunctionCall) goja.Value {
				if len(call.Arguments) == 0 {
					i.Engine.Throw("TypeError", "Failed to execute 'waitUntil' on 'ExecutionContext': parameter 1 is not of type 'Promise'.")
				}
				i.Engine.IO("waitUntil") // as workerd, whichever request the ctx was made for
				i.waitUntil(call.Argument(0))
				return goja.Undefined()
			}},
			{Name: "passThroughOnException", Fn: func(*execution, goja.FunctionCall) goja.Value { return goja.Undefined() }},
			{Name: "abort", Length: 1, Fn: func(_ *execution, call goja.FunctionCall) goja.Value {
				context := i.Engine.IO("abort")
				ev := &event.Error{Message: "Worker execution was aborted due to call to ctx.abort()."}
				if reason := call.Argument(0); !goja.IsUndefined(reason) {
					ev = i.CF.Failure(reason)
					ev.Remote = false
				}
				context.Kill(ev)
				panic(i.CF.FromError(ev))
			}},
		},
	})
}

// waitUntil keeps the current context alive until promise settles; a
// rejection is logged, and fails an event whose outcome it is.
func (i *Isolate) waitUntil(promise goja.Value) {
	c := i.Engine.Current()
	c.WaitUntil()
	i.Engine.Await(promise, func(goja.Value) { c.ReleaseFor() }, func(reason goja.Value) {
		i.Engine.Uncaught.Report(reason)
		if r := i.requests[c]; r != nil && r.whole && r.late == nil {
			r.late = i.Engine.Errors.ToEvent(reason)
			r.invocation.Fail()
		}
		c.ReleaseFor()
	})
}

// entrypoint is the Target of one exported entrypoint. Safe for concurrent use.
type entrypoint struct {
	i     *Isolate
	name  string
	props *event.Payload
}

// Entrypoint is a target that calls the exported handler or class of that
// name; "default" is the worker's main one. Safe for concurrent use.
func (i *Isolate) Entrypoint(name string, props *event.Payload) cfapi.Target {
	return &entrypoint{i: i, name: name, props: props}
}

// WithProps implements cfapi.Loopback.
func (t *entrypoint) WithProps(props *event.Payload) cfapi.Target {
	return &entrypoint{i: t.i, name: t.name, props: props}
}

// defaultEntrypoint is the name of a worker's main export.
const defaultEntrypoint = "default"

// Dup implements event.Capability; entrypoints need no counting.
func (t *entrypoint) Dup() event.Capability { return t }

// Release implements event.Capability.
func (t *entrypoint) Release() {}

// Call implements event.Capability.
func (t *entrypoint) Call(c *event.Call, done func(*event.Payload, error)) {
	done = once(done)
	begin := func() *Invocation { return t.i.Invoked(t.name, "", TraceCall(c), c.Parent) }
	t.i.dispatch(t.i.Engine.NewContext(engine.RequestContext, ""), begin, cmp.Or(c.Cause, "rpc"), func(ctx *engine.Context, end func()) {
		inv := t.i.current()
		var target *goja.Object
		var err error
		if thrown := t.i.Engine.Try(func() { target, err = t.instance(ctx) }); thrown != nil { // by the constructor
			inv.Failed(thrown)
			done(nil, t.i.CF.Failure(thrown))
			end()
			return
		}
		if err != nil {
			done(nil, &event.Error{Name: "TypeError", Message: err.Error()})
			end()
			return
		}
		finish := func(p *event.Payload, err error) {
			if err == nil {
				inv.Returned()
			}
			done(p, err)
			end()
		}
		if t.isHandler(target) {
			t.i.CF.InvokeHandler(target, []goja.Value{t.i.CF.Env(), t.handlerContext()}, c, finish)
			return
		}
		t.i.CF.Invoke(target, c, finish)
	}, func(err error) { done(nil, err) })
}

// Fetch implements cfapi.Target.
func (t *entrypoint) Fetch(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	if IsConnection(req) {
		return t.connect(req, done)
	}
	begin := func() *Invocation { return t.i.Invoked(t.name, "", t.i.TraceRequest(req), req.Parent) }
	return exchange(t.i, req, begin, t.fetch, done)
}

// exchange has a request answered in a context of its own. begin is as dispatch has it; done is
// called once. cancel says that the client is gone.
func exchange(i *Isolate, req *event.Request, begin func() *Invocation, answer func(*engine.Context, *goja.Object) goja.Value, done func(*event.Response, error)) (cancel func(error)) {
	done = once(done)
	ctx := i.Engine.NewContext(engine.RequestContext, "")
	ended, gone := func() {}, func() {}
	i.dispatch(ctx, begin, cmp.Or(req.Cause, "fetch"), func(ctx *engine.Context, end func()) {
		ended = func() { ended = func() {}; end() }
		i.requests[ctx].home = req.Home
		gone = i.Respond(req, func(request *goja.Object) goja.Value { return answer(ctx, request) }, func(resp *event.Response, err error) {
			done(resp, err)
			ended()
		})
	}, func(err error) { done(nil, err) })
	return func(error) {
		// The handler is not waited for any longer; what waitUntil was given is. An
		// engine that has ended has ended the context too.
		_ = i.Engine.Post(ctx.Frame(), "client gone", func() { gone(); ended() })
	}
}

// Scheduled delivers a cron event to the default entrypoint. Safe for concurrent use.
func (i *Isolate) Scheduled(cron string, scheduledMs int64, returned func(error), done func(noRetry bool, err error)) {
	(&entrypoint{i: i, name: defaultEntrypoint}).Scheduled(cron, scheduledMs, returned, done)
}

// Scheduled implements cfapi.Handling.
func (t *entrypoint) Scheduled(cron string, scheduledMs int64, returned func(error), done func(noRetry bool, err error)) {
	i, noRetry := t.i, false
	done = once(done)
	begin := func() *Invocation {
		return i.Invoked(t.name, "", event.TraceEvent{Type: "scheduled", Cron: cron, ScheduledMs: scheduledMs}, nil)
	}
	i.dispatch(i.Engine.NewContext(engine.RequestContext, ""), begin, "scheduled", func(ctx *engine.Context, end func()) {
		inv := i.current()
		handled := i.requests[ctx].ends(ctx, inv, func(err error, cut bool) {
			var hung *event.Error
			if told := !cut || errors.As(err, &hung) && hung.Message == hungText; err != nil && told && err.Error() != ErrNoScheduled {
				err = Reported{err}
			}
			done(noRetry, err)
		})
		finish := func(err error) {
			inv.failed(err)
			inv.Returned()
			handled(err)
			if returned != nil {
				returned(err)
			}
			end()
		}
		failed := func(reason goja.Value) {
			ev := i.Engine.Errors.ToEvent(reason)
			if ev.Message != ErrNoScheduled {
				i.Engine.Uncaught.Tell(reason)
			}
			finish(ev)
		}
		thrown := i.Engine.Try(func() {
			noRetry = true // a worker without the handler will not have it later
			receiver, fn, args := t.handler(ctx, "scheduled")
			noRetry = false
			controller := i.scheduledController(cron, scheduledMs, &noRetry)
			result := i.Engine.Call(fn, receiver, append([]goja.Value{controller}, args...)...)
			i.Engine.Await(result, func(goja.Value) { finish(nil) }, failed)
		})
		if thrown != nil {
			failed(thrown)
		}
	}, func(err error) { done(false, err) })
}

// Reported is an error of a handler that the log has with its stack.
type Reported struct{ error }

// Unwrap is the error itself.
func (r Reported) Unwrap() error { return r.error }

// scheduledController is the argument of a scheduled handler (workerd:
// api/scheduled.h); noRetry() sets *noRetry.
func (i *Isolate) scheduledController(cron string, scheduledMs int64, noRetry *bool) *goja.Object {
	if i.controller == nil {
		i.controller = engine.DefineClass(i.Engine, engine.ClassDef[*bool]{Name: "ScheduledController", Methods: []engine.Method[*bool]{
			{Name: "noRetry", Fn: func(noRetry *bool, _ goja.FunctionCall) goja.Value {
				*noRetry = true
				return goja.Undefined()
			}},
		}})
	}
	controller := i.controller.Wrap(noRetry)
	// They are properties of its own, as in the reference.
	controller.DefineDataProperty("cron", i.vm.ToValue(cron), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_TRUE)
	controller.DefineDataProperty("scheduledTime", i.vm.ToValue(scheduledMs), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_TRUE)
	return controller
}

// dispatch runs an event of the stateless worker in a context of its own, which
// ends when end was called and nothing is held any more. failed is called
// instead of fn if the isolate cannot take the event, and also after fn has begun
// if the context ends before fn returns: it was interrupted, perhaps before it had
// arranged for that. begin makes what tail workers hear of; nil: nothing. Safe for
// concurrent use.
func (i *Isolate) dispatch(ctx *engine.Context, begin func() *Invocation, cause string, fn func(ctx *engine.Context, end func()), failed func(error)) {
	err := i.Engine.PostLoop(func() {
		if i.Engine.Health.CondemnedBy() != nil || i.abandoned {
			failed(ErrEnded)
			return
		}
		if i.loopbacks == nil {
			failed(&event.Error{Message: "the worker is not loaded"})
			return
		}
		i.dispatched++
		r := &stateless{number: i.dispatched, pending: true}
		i.requests[ctx] = r
		ctx.AtDeath(func(error) { delete(i.requests, ctx) })
		forget := ctx.AtDeath(func(error) { failed(ErrEnded) }) // before any code ran
		var inv *Invocation
		if begin != nil {
			inv = begin()
			ctx.AtDeath(inv.End)
		}
		i.Engine.Turns.Enter(inv.Frame(ctx.Frame()), cause, func() {
			forget()
			forget = ctx.AtDeath(failed)
			ctx.HoldFor()
			fn(ctx, func() { r.pending = false; ctx.ReleaseFor() })
			forget()
			ctx.WhenIdle(func() { ctx.Finish(errFinished) })
		})
	})
	if err != nil {
		failed(ErrEnded)
	}
}

// once is fn for the first call only. Loop-confined.
func once[A, B any](fn func(A, B)) func(A, B) {
	called := false
	return func(a A, b B) {
		if !called {
			called = true
			fn(a, b)
		}
	}
}

// stateless is an event of the stateless worker. Loop-confined.
type stateless struct {
	number  int64
	pending bool // its handler has not come to an end
	// whole has the event fail if a promise given to waitUntil is rejected, as those of
	// schedules and queues do (workerd: IoContext_IncomingRequest::finishScheduled).
	whole      bool
	home       bool        // of a request whose URL is the server's own
	invocation *Invocation // of a whole event; nil if nobody wants to know
	late       error       // what the first promise was rejected with; nil for none
}

// ends has the event of ctx end with what waitUntil holds: over is called then, with why
// the event failed, nil if it did not, and whether it was ended before its time. handled is
// to be told when the handler has come to an end.
func (r *stateless) ends(ctx *engine.Context, inv *Invocation, over func(err error, cut bool)) (handled func(error)) {
	r.whole, r.invocation = true, inv
	returned, failure := false, error(nil)
	ctx.AtDeath(func(reason error) {
		switch finished := returned && errors.Is(reason, errFinished); {
		case failure != nil:
			over(failure, !finished)
		case finished:
			over(r.late, false)
		default:
			over(reason, true)
		}
	})
	return func(err error) { returned, failure = true, err }
}

// hungText is the reference's (workerd, io/io-context.c++).
const hungText = "The Workers runtime canceled this request because it detected that your Worker's code had hung and would never generate a response. Refer to: https://developers.cloudflare.com/workers/observability/errors/"

// hung ends the stateless events that wait for promises which nothing can settle:
// those whose handler has not answered fail, the others are dropped silently.
func (i *Isolate) hung() {
	contexts := slices.SortedFunc(maps.Keys(i.requests), func(a, b *engine.Context) int {
		return cmp.Compare(i.requests[a].number, i.requests[b].number)
	})
	for _, ctx := range contexts {
		switch r := i.requests[ctx]; {
		case r == nil: // ended by the end of another one
		case r.pending:
			i.Engine.In(ctx.Frame(), func() { i.Engine.Log(engine.Error, "Uncaught Error: "+hungText) })
			ctx.Kill(&event.Error{Name: "Error", Message: hungText})
		default:
			ctx.Finish(errFinished)
		}
	}
}

// condemned ends what is in progress: its callers get the reason.
func (i *Isolate) condemned(reason error) {
	i.abandon(func(ctx *engine.Context) *event.Error { return i.Condemnation(ctx, reason) })
	if i.opts.Condemned != nil {
		i.opts.Condemned(i, reason)
	}
}

// ErrEnded is what stateless events get that came to an isolate that was
// condemned or abandoned meanwhile, before any code ran: deliver them to its
// successor.
var ErrEnded = errors.New("the isolate has ended")

// Abandon ends the stateless events in progress: their callers get ev. Later
// ones get ErrEnded.
func (i *Isolate) Abandon(ev *event.Error) {
	i.abandon(func(*engine.Context) *event.Error { return ev })
}

// Condemnation is what callers of a context get whose isolate was condemned: of
// the one whose turn exceeded a limit, production's text for that; where all
// are concerned (memory, a stack overflow), the reason; else a lost connection.
func (i *Isolate) Condemnation(ctx *engine.Context, reason error) *event.Error {
	object := ctx.Kind == engine.ObjectContext
	var limit *engine.LimitError
	switch {
	case !errors.As(reason, &limit):
		return &event.Error{Name: "Error", Message: reason.Error(), ObjectReset: object}
	case ctx == i.Engine.Health.Suspect(), limit.Resource == engine.Memory:
		return &event.Error{Name: "Error", Message: limit.Text(object), ObjectReset: object}
	}
	return &event.Error{Name: "Error", Message: "Network connection lost.", Retryable: true}
}

func (i *Isolate) abandon(why func(ctx *engine.Context) *event.Error) {
	i.abandoned = true
	var all []*engine.Context
	for ctx := range i.requests { // order-independent: each gets the same error
		all = append(all, ctx)
	}
	for _, ctx := range all {
		ctx.Kill(why(ctx))
	}
}

// InProgress is the number of stateless events in progress.
func (i *Isolate) InProgress() int { return len(i.requests) }

// Open counts what the stateless events have begun and not ended, by name. It must run
// on the loop, or while that stands still.
func (i *Isolate) Open() map[string]int {
	open := map[string]int{}
	for ctx := range i.requests { // order-independent: a count
		if n := ctx.Timers(); n > 0 {
			open["a timer"] += n
		}
		for _, op := range ctx.Ops() {
			open[op.Name]++
		}
	}
	return open
}

var errFinished = fmt.Errorf("the request has been answered")

// Respond runs a fetch handler within a turn and hands its response, as an
// output of the current context, to done. done is called exactly once, also
// when the context dies first. Call gone, in a turn of the context, when nobody
// waits for the response any more: it aborts the request's signal.
func (i *Isolate) Respond(req *event.Request, handle func(request *goja.Object) goja.Value, done func(*event.Response, error)) (gone func()) {
	ctx := i.Engine.IO("a fetch handler")
	finished := false
	forget := func() {}
	req, left := guard(req)
	finish := func(resp *event.Response, err error) {
		if finished {
			return
		}
		finished = true
		forget()
		sent := left.end
		if err == nil {
			sent = left.follow(resp)
		}
		done(resp, err)
		sent()
	}
	forget = ctx.AtDeath(func(reason error) { finish(nil, reason) })
	inv := i.current()
	request := i.Platform.Fetch.RequestFromEvent(req) // JavaScript, which may be interrupted
	gone = func() { i.Platform.Fetch.ClientGone(request) }
	fail := func(reason goja.Value) {
		ev := i.CF.Failure(reason)
		if obj, ok := reason.(*goja.Object); ok && !i.Engine.Errors.Is(obj) && !i.Platform.IsDOMException(obj) {
			ev.Shown = i.Engine.Errors.LikeError(obj)
		}
		inv.Failed(reason)
		i.Engine.Uncaught.Tell(reason)
		i.emit(ctx, func() { finish(nil, ev) }, func(err error) { finish(nil, err) })
	}
	thrown := i.Engine.Try(func() {
		result := handle(request)
		if _, direct := i.Platform.Fetch.ResponseOf(result); !direct && !i.Engine.Settles(result) {
			i.Engine.Throw("TypeError", "Callback returned incorrect type; expected 'Promise'")
		}
		i.Engine.Await(result, func(v goja.Value) {
			var resp *event.Response
			bad := i.Engine.Try(func() {
				if r, ok := i.Platform.Fetch.ResponseOf(v); ok && r.IsHandshake() && !req.Upgrade {
					i.Engine.Throw("TypeError", `Worker tried to return a WebSocket in a response to a request which did not contain the header "Upgrade: websocket".`)
				}
				var err error
				if resp, err = i.Platform.Fetch.ResponseToEvent(v, gone); err != nil {
					i.Engine.Rethrow(err)
				}
			})
			if bad != nil {
				fail(bad)
				return
			}
			sent := answered(i, ctx, inv, resp)
			i.emit(ctx, func() { sent(); finish(resp, nil) }, func(err error) {
				netx.Discard(resp, err)
				finish(nil, err)
			})
		}, fail)
	})
	if thrown != nil {
		fail(thrown)
	}
	return gone
}

// answered has tail workers hear of a response when it has been sent, as in workerd. sent
// is to be called when it leaves.
func answered(i *Isolate, ctx *engine.Context, inv *Invocation, resp *event.Response) (sent func()) {
	if inv == nil {
		return func() {}
	}
	inv.Answered(resp.Status)
	if resp.Body == nil || event.IsBytes(resp.Body) {
		return func() { i.Engine.Turns.AtEnd(inv.Sent) } // behind what the turn still throws
	}
	ctx.Hold()
	inv.Hold()
	resp.Body = event.Ended(resp.Body, func(failure error) {
		// An engine that has ended has ended the event too.
		_ = i.Engine.PostLoop(func() {
			if failure != nil {
				inv.Lost(failure)
			}
			inv.Sent()
			inv.Release()
			ctx.Release()
		})
	})
	return func() {}
}

// emit releases a response; an object's response is an effect of its own, a
// stateless worker's is one when the gateway writes it.
func (i *Isolate) emit(ctx *engine.Context, release func(), lose func(error)) {
	if ctx.Kind != engine.ObjectContext || !i.opts.Points.Heard() {
		ctx.Emit(release)
		return
	}
	cause := i.Engine.Cause()
	m := killpoint.Message{Kind: killpoint.Response, Object: ctx.Label, Cause: cause, Send: release, Lose: lose, Crash: ctx.Crash,
		Post: func(fn func()) { _ = i.Engine.PostLoop(fn) }} // a closed loop has nobody who waits
	ctx.Emit(func() { i.opts.Points.Send(m) })
}

func (t *entrypoint) fetch(ctx *engine.Context, request *goja.Object) goja.Value {
	receiver, fn, args := t.handler(ctx, "fetch")
	return t.i.Engine.Call(fn, receiver, append([]goja.Value{request}, args...)...)
}

// ErrNoScheduled is the text of what a scheduled event fails with that nothing takes.
const ErrNoScheduled = "Handler does not export a scheduled() function"

func (i *Isolate) throwNoHandler(name string) {
	switch name {
	case "connect":
		i.warned.once(i.Engine, "Received a connect event but we lack a handler. Did you remember to export a connect() function?")
	case "scheduled": // whoever fired it tells of it
		i.Engine.Throw("Error", ErrNoScheduled)
	case "queue":
		i.warned.once(i.Engine, "Received a QueueEvent but we lack a handler for QueueEvents. Did you remember to export a queue() function?")
	case "tail":
		i.warned.once(i.Engine, "Attempted to send events but we lack a handler, did you remember to export a tail() function?")
	}
	i.Engine.Throw("Error", "Handler does not export a %s() function.", name)
}

// handler finds the entrypoint's handler of one of these names, and the arguments that
// follow the event.
func (t *entrypoint) handler(ctx *engine.Context, names ...string) (receiver *goja.Object, fn goja.Value, args []goja.Value) {
	i := t.i
	receiver, err := t.instance(ctx)
	if err != nil {
		i.Engine.Throw("TypeError", "%s", err)
	}
	for _, name := range names {
		if fn = receiver.Get(name); engine.IsCallable(fn) {
			break
		}
	}
	if !engine.IsCallable(fn) {
		i.throwNoHandler(names[0])
	}
	if t.isHandler(receiver) {
		args = []goja.Value{i.CF.Env(), t.handlerContext()}
	} else if names[0] != "email" && (names[0] != "fetch" || t.name != defaultEntrypoint) {
		args = []goja.Value{goja.Undefined(), goja.Undefined()} // as in the reference
	}
	return receiver, fn, args
}

// isHandler reports whether the receiver is the exported object itself, not an
// instance of an exported class.
func (t *entrypoint) isHandler(receiver *goja.Object) bool {
	export, _ := t.i.exports.Get(t.name).(*goja.Object)
	return export == receiver
}

// handlerContext is the ctx of an exported handler: a new one for each event, unless the
// flag has one serve them all.
func (t *entrypoint) handlerContext() *goja.Object {
	i := t.i
	if !i.enabled(compat.NonclassEntrypointReusesCtxAcrossInvocations) {
		return i.executionContext(t.props)
	}
	ctx := i.reused[t.name]
	if ctx == nil {
		ctx = i.executionContext(t.props)
		i.reused[t.name] = ctx
	}
	return ctx
}

func (i *Isolate) executionContext(props *event.Payload) *goja.Object {
	obj := i.execution.Wrap(&execution{})
	given := goja.Value(i.vm.NewObject())
	if props != nil {
		given = i.CF.Unpack(props)
	}
	// They are properties of its own, as in the reference.
	if i.tracing == nil { // a lazy property of each would cost a request as much again
		i.tracing = i.CF.Tracing()
	}
	obj.DefineDataProperty("tracing", i.tracing, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	for _, absent := range []string{"access", "cache"} { // of Cloudflare Access, of a Worker's own cache
		obj.DefineDataProperty(absent, goja.Undefined(), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
	obj.DefineDataProperty("props", given, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	if i.enabled(compat.EnableCtxExports) {
		obj.DefineDataProperty("exports", i.loopbacks, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
	return obj
}

// instance is the exported handler object, or a new instance of the exported
// entrypoint class.
func (t *entrypoint) instance(ctx *engine.Context) (*goja.Object, error) {
	i := t.i
	export, ok := i.exports.Get(t.name).(*goja.Object)
	if !ok {
		return nil, fmt.Errorf("the worker %s has no entrypoint %q; it exports %v", i.opts.Name, t.name, i.ExportNames())
	}
	if !engine.IsCallable(export) {
		return export, nil
	}
	instance, err := i.vm.New(export, i.executionContext(t.props), i.CF.Env())
	if err != nil {
		i.Engine.Rethrow(err)
	}
	return instance, nil
}
