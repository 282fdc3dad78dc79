package isolate

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

//go:embed js/queue.js
var queueSource string

var queuePrelude = engine.NewPrelude("queue.js", queueSource)

// queueEvents makes the argument of queue handlers. Loop-confined.
type queueEvents struct {
	i    *Isolate
	make goja.Value
}

func (i *Isolate) newQueueEvents() *queueEvents {
	warn := engine.Func{Name: "warn", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
		i.Engine.Log(engine.Warn, call.Argument(0).String())
		return goja.Undefined()
	}}
	return &queueEvents{i: i, make: i.Engine.Load(queuePrelude, i.Engine.Native(warn))}
}

// batch is the MessageBatch of an event, and a function that reads what was said
// of it. It throws if a body cannot be read.
func (q *queueEvents) batch(b *event.QueueBatch) (batch goja.Value, read func(outcome string) (*event.QueueResult, error)) {
	i := q.i
	var messages []any
	for _, m := range b.Messages {
		at, err := i.vm.New(i.vm.Get("Date"), i.vm.ToValue(m.TimestampMs))
		if err != nil {
			i.Engine.Rethrow(err)
		}
		o := i.vm.NewObject()
		o.Set("id", m.ID)
		o.Set("timestamp", at)
		o.Set("attempts", m.Attempts)
		o.Set("body", q.body(m))
		messages = append(messages, o)
	}
	metrics := string(b.Metrics)
	if metrics == "" {
		metrics = "{}"
	}
	made := i.Engine.Call(q.make, goja.Undefined(), i.vm.ToValue(b.Queue), i.vm.NewArray(messages...), i.CF.ParseJSON(metrics)).(*goja.Object)
	return made.Get("batch"), func(outcome string) (*event.QueueResult, error) {
		var r event.QueueResult
		text := i.Engine.Call(made.Get("read"), goja.Undefined(), i.vm.ToValue(outcome)).String()
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return nil, fmt.Errorf("queue result: %w", err)
		}
		return &r, nil
	}
}

// body is a message's body as its content type says; "bytes" is an ArrayBuffer,
// as in the reference.
func (q *queueEvents) body(m event.QueueMessage) goja.Value {
	i := q.i
	switch m.ContentType {
	case "text":
		return i.vm.ToValue(string(m.Body))
	case "json":
		return i.CF.ParseJSON(string(m.Body))
	case "bytes":
		return i.vm.ToValue(i.vm.NewArrayBuffer(m.Body))
	}
	v, err := i.Platform.Clone.Deserialize(m.Body, clone.Options{Mode: clone.Storage})
	if err != nil {
		i.Engine.Rethrow(err)
	}
	return v
}

// queueLimit is how long a queue handler may run, what waitUntil holds included
// (production's limit of wall time for queue consumers).
const queueLimit = 15 * time.Minute

// Queue delivers a batch to the default entrypoint. done is called exactly once:
// with what the handler said, or with the error for which the handler was not
// called or did not come to an end. Unless the flag
// queue_consumer_no_wait_for_wait_until is on, which does not count for listeners of the
// service-worker syntax, it waits for what waitUntil holds: acknowledgements count until
// then, and a rejection fails the batch (workerd: api/queue.c++, QueueCustomEvent). Safe
// for concurrent use.
func (i *Isolate) Queue(b *event.QueueBatch, done func(*event.QueueResult, error)) {
	(&entrypoint{i: i, name: defaultEntrypoint}).Queue(b, done)
}

var _ cfapi.Handling = (*entrypoint)(nil)

// Queue implements cfapi.Handling.
func (t *entrypoint) Queue(b *event.QueueBatch, done func(*event.QueueResult, error)) {
	i := t.i
	done = once(done)
	begin := func() *Invocation {
		return i.Invoked(t.name, "", event.TraceEvent{Type: "queue", Queue: b.Queue, BatchSize: len(b.Messages)}, nil)
	}
	i.dispatch(i.Engine.NewContext(engine.RequestContext, ""), begin, "queue", func(ctx *engine.Context, end func()) {
		inv := i.current()
		limit := i.Engine.Clock().AfterFunc(queueLimit, func() {
			// An engine that has ended has ended the context too.
			_ = i.Engine.Post(ctx.Frame(), "queue limit", func() { ctx.Kill(&event.Error{Message: "The queue handler ran longer than 15 minutes."}) })
		})
		read := func(outcome string) (*event.QueueResult, error) { return &event.QueueResult{Outcome: outcome}, nil }
		over := func(err error, cut bool) {
			limit.Stop()
			switch {
			case cut:
				done(nil, err)
			case err != nil:
				done(read("exception"))
			default:
				done(read("ok"))
			}
		}
		var handled func(error)
		if i.listens || !i.enabled(compat.QueueConsumerNoWaitForWaitUntil) {
			handled = i.requests[ctx].ends(ctx, inv, over)
		} else {
			forget := ctx.AtDeath(func(reason error) { over(reason, true) })
			handled = func(err error) { forget(); over(err, false) }
		}
		finish := func(err error) {
			inv.Returned()
			handled(err)
			end()
		}
		failed := func(reason goja.Value) {
			inv.Fail()
			i.Engine.Uncaught.Report(reason)
			finish(i.Engine.Errors.ToEvent(reason))
		}
		thrown := i.Engine.Try(func() {
			var batch goja.Value
			batch, read = i.queue.batch(b)
			receiver, fn, args := t.handler(ctx, "queue")
			result := i.Engine.Call(fn, receiver, append([]goja.Value{batch}, args...)...)
			i.Engine.Await(result, func(goja.Value) { finish(nil) }, failed)
		})
		if thrown != nil {
			failed(thrown)
		}
	}, func(err error) { done(nil, err) })
}
