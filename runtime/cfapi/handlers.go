package cfapi

import (
	"encoding/json"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webidl"
)

// Handling is a target that takes events of schedules and queues, as entrypoints do. Safe
// for concurrent use.
type Handling interface {
	Target
	// Scheduled delivers an event of a schedule. returned, which may be nil, gets what the
	// handler threw; done follows once what waitUntil holds has ended, too, with the first
	// failure, and whether noRetry was called. It alone is called if no handler is.
	Scheduled(cron string, scheduledMs int64, returned func(error), done func(noRetry bool, err error))
	// Queue delivers a batch; done gets what was said of it, or why the handler did not
	// come to an end.
	Queue(b *event.QueueBatch, done func(*event.QueueResult, error))
}

// handlers are queue() and scheduled() of a service's stub, which it has by the flag
// service_binding_extra_handlers (workerd: src/workerd/api/http.c++, Fetcher). Confined to
// the loop.
type handlers struct{ *API }

// nativeScheduled is native.scheduled(handle, options). It gives a promise and never throws.
func (a handlers) nativeScheduled(call goja.FunctionCall) goja.Value {
	return a.promised(func() goja.Value {
		cron, at := "", a.Engine.Clock().Now().UnixMilli()
		if options := call.Argument(1); !webidl.IsMissing(options) {
			if v := webidl.Get(options, "scheduledTime"); !goja.IsUndefined(v) {
				at = a.time(v, "scheduledTime", "ScheduledOptions")
			}
			if v := webidl.Get(options, "cron"); !goja.IsUndefined(v) {
				cron = a.Platform.USV(v)
			}
		}
		return ask(a, call.Argument(0), "scheduled", func(h Handling, settle func(func() goja.Value)) {
			h.Scheduled(cron, at, nil, func(noRetry bool, err error) {
				outcome := "ok"
				if err != nil {
					outcome = "exception"
				}
				settle(func() goja.Value { return a.Platform.Record("outcome", outcome, "noRetry", noRetry) })
			})
		})
	})
}

// nativeQueue is native.queue(handle, name, messages). It gives a promise and never throws.
func (a handlers) nativeQueue(call goja.FunctionCall) goja.Value {
	return a.promised(func() goja.Value {
		given := goja.FunctionCall{Arguments: call.Arguments[1:]}
		a.Platform.Need(given, 1, "Fetcher", "queue", "string")
		b := &event.QueueBatch{Queue: a.Platform.USV(given.Argument(0)), Metrics: []byte(`{"backlogCount":0,"backlogBytes":0}`)}
		list, ok := given.Argument(1).(*goja.Object)
		if !ok || list.ClassName() != "Array" {
			a.Platform.BadArgument("Fetcher", "queue", 2, "Array")
		}
		a.Platform.ForOf(list, func(v goja.Value) { b.Messages = append(b.Messages, a.queued(v)) })
		return ask(a, call.Argument(0), "queue", func(h Handling, settle func(func() goja.Value)) {
			h.Queue(b, func(r *event.QueueResult, err error) { settle(func() goja.Value { return a.queueResult(r, err) }) })
		})
	})
}

// queued is a message that was given as a ServiceBindingQueueMessage.
func (a handlers) queued(v goja.Value) event.QueueMessage {
	const dict = "ServiceBindingQueueMessage"
	id := webidl.Get(v, "id")
	if goja.IsUndefined(id) {
		a.wrongField("id", dict, "string")
	}
	m := event.QueueMessage{ID: a.Platform.USV(id), TimestampMs: a.time(webidl.Get(v, "timestamp"), "timestamp", dict), ContentType: "v8"}
	body, serialized := webidl.Get(v, "body"), webidl.Get(v, "serializedBody")
	switch {
	case goja.IsUndefined(body) == goja.IsUndefined(serialized):
		a.Engine.Throw("TypeError", "Expected one of body or serializedBody for each message")
	case goja.IsUndefined(serialized):
		m.Body = a.Serialize(body)
	default:
		bytes, ok := a.Platform.BytesOf(serialized)
		if !ok {
			a.wrongField("serializedBody", dict, "ArrayBuffer or ArrayBufferView")
		}
		m.Body = append([]byte(nil), bytes...)
	}
	m.Attempts = int(a.Platform.Int32(webidl.Get(v, "attempts")))
	return m
}

// time is a Date's, in milliseconds since the epoch.
func (a handlers) time(v goja.Value, field, dict string) int64 {
	if o, ok := v.(*goja.Object); ok && o.ClassName() == "Date" {
		return o.ToInteger()
	}
	a.wrongField(field, dict, "date")
	return 0
}

func (a handlers) wrongField(field, dict, want string) {
	a.Engine.Throw("TypeError", "Incorrect type for the '%s' field on '%s': the provided value is not of type '%s'.", field, dict, want)
}

func (a handlers) queueResult(r *event.QueueResult, err error) goja.Value {
	if err != nil {
		a.Engine.Rethrow(err)
	}
	retry := a.Platform.Record("retry", r.RetryBatch.Retry)
	if r.RetryBatch.DelaySeconds != nil {
		retry.Set("delaySeconds", *r.RetryBatch.DelaySeconds)
	}
	list := func(v any) goja.Value {
		text, err := json.Marshal(v)
		if err != nil {
			a.Engine.Rethrow(err)
		}
		if string(text) == "null" {
			text = []byte("[]")
		}
		return a.ParseJSON(string(text))
	}
	return a.Platform.Record("outcome", r.Outcome, "ackAll", r.AckAll, "retryBatch", retry, "explicitAcks", list(r.Acks), "retryMessages", list(r.Retries))
}

// ask sends an event to the worker of the stub with a handle; settle is called with what
// makes the result on the loop.
func ask(a handlers, handle goja.Value, what string, send func(h Handling, settle func(func() goja.Value))) goja.Value {
	target := a.capability(handle)
	h, ok := target.(Handling)
	if !ok {
		a.Engine.Throw("TypeError", "%s() takes the stub of a service of this session, which this is not: a Durable Object, a dynamic worker or a worker of another session has no such events in minido.", what)
	}
	if err := a.Engine.Subrequest(); err != nil {
		a.Engine.Rethrow(err)
	}
	op := a.Engine.StartOp(what + "()")
	promise := op.Promise()
	a.sendTo(target, func() { send(h, func(result func() goja.Value) { op.Resolve(what, result) }) }, func(err error) {
		op.Reject(what, func() goja.Value { return a.FromError(err) })
	})
	return promise
}
