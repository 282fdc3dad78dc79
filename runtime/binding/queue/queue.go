// Package queue is Queues: producers on env, and a broker for each queue, which
// delivers batches to the consumer of the session. Unlike miniflare's, which
// forgets messages when it ends, a broker keeps them: it is a Durable Object of
// the platform's own, in v3/queues/<queue>.
package queue

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

//go:embed producer.js
var producerSource string

//go:embed broker.js
var brokerSource string

var (
	producerPrelude = engine.NewPrelude("queue-producer.js", producerSource)
	brokerPrelude   = engine.NewPrelude("queue-broker.js", brokerSource)
)

const (
	folder = "queues"
	// broker is the name of a queue's only object.
	broker = "broker"
)

type queues struct {
	driver.Stateless
	session *driver.Session
}

var _ driver.Hosting = (*queues)(nil)

// New makes the driver of queues.
func New(s *driver.Session) driver.Driver { return &queues{session: s} }

// queueName is the queue of a producer: as in wrangler dev the binding's name
// where none is configured.
func queueName(b config.Binding) string {
	if name := b.Param("queue"); name != "" {
		return name
	}
	return b.Name
}

// safeName are the names that can be a folder's.
var safeName = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

// uniqueKey is the folder of a queue's broker.
func uniqueKey(queue string) string { return "minido-queue-" + queue }

// className is the class of a queue's broker, in labels and commands.
func className(queue string) string { return "queue-" + queue }

// consumer is a consumer as wrangler's configuration has it, with miniflare's
// defaults (workers/queues/broker.worker.ts).
type consumer struct {
	Script          string  `json:"-"`
	Queue           string  `json:"queue"`
	Type            string  `json:"type"`
	MaxBatchSize    float64 `json:"maxBatchSize"`
	MaxBatchTimeout float64 `json:"maxBatchTimeout"` // in seconds
	MaxRetries      float64 `json:"maxRetries"`
	RetryDelay      float64 `json:"retryDelay"` // in seconds
	DeadLetterQueue string  `json:"deadLetterQueue,omitempty"`
	// MaxConcurrency is how many batches are delivered at the same time. Production
	// scales by itself; here it is 1 unless configured, as in miniflare.
	MaxConcurrency float64 `json:"maxConcurrency"`
	// VisibilityTimeoutMs is how long a message that was pulled is nobody else's.
	VisibilityTimeoutMs float64 `json:"visibilityTimeoutMs"`
}

// httpPull is the type of consumers that fetch messages themselves.
const httpPull = "http_pull"

func consumersOf(p *config.Project) (all []consumer) {
	for _, a := range p.Attachments {
		if a.Kind != "queue" {
			continue
		}
		number := func(name string, byDefault float64) float64 {
			if n, ok := a.Params[name].(float64); ok {
				return n
			}
			return byDefault
		}
		text := func(name string) string { s, _ := a.Params[name].(string); return s }
		all = append(all, consumer{
			Script: p.Name, Queue: text("queue"), Type: text("type"),
			MaxBatchSize: max(1, number("max_batch_size", 5)), MaxBatchTimeout: number("max_batch_timeout", 1), MaxRetries: number("max_retries", 2),
			RetryDelay: number("retry_delay", 0), DeadLetterQueue: text("dead_letter_queue"), MaxConcurrency: max(1, number("max_concurrency", 1)),
			VisibilityTimeoutMs: number("visibility_timeout_ms", 30000),
		})
	}
	return all
}

// Classes implements driver.Hosting: a broker lives with its queue's consumer, or
// with the first worker that names the queue.
func (d *queues) Classes(projects []*config.Project) (all []driver.Class) {
	hosted := map[string]bool{}
	host := func(script, queue string, c *consumer) {
		if queue == "" || hosted[queue] || !safeName.MatchString(queue) {
			return
		}
		hosted[queue] = true
		all = append(all, driver.Class{
			Name: className(queue), UniqueKey: uniqueKey(queue), Folder: folder, Script: script,
			Make: func(a *cfapi.API, h driver.Handlers) *goja.Object { return d.broker(a, h, queue, c) },
		})
	}
	var consumers []consumer
	for _, p := range projects {
		consumers = append(consumers, consumersOf(p)...)
	}
	for _, c := range consumers {
		if c.Type != httpPull {
			host(c.Script, c.Queue, &c)
		}
	}
	for _, c := range consumers {
		host(c.Script, c.Queue, &c)
		host(c.Script, c.DeadLetterQueue, nil)
	}
	for _, p := range projects {
		for _, b := range p.Bindings {
			if b.Kind == "queue" {
				host(p.Name, queueName(b), nil)
			}
		}
	}
	return all
}

// stub is the broker of a queue.
func stub(a *cfapi.API, ns cfapi.Namespace) *goja.Object {
	return a.Service(ns.Stub(ns.IDs().FromName(broker)))
}

// sender calls a method of the broker for a producer. What a worker sends is committed
// when its promise resolves; what the worker shows of that waits until it is on disk.
func sender(a *cfapi.API, ns cfapi.Namespace, method string) engine.Func {
	return cfapi.Method(a, cfapi.Early(ns.Stub(ns.IDs().FromName(broker))), method)
}

// Make implements driver.Driver.
func (d *queues) Make(a *cfapi.API, w driver.Worker, b config.Binding) goja.Value {
	vm := a.Engine.VM()
	buffer := func(data []byte) goja.Value { return vm.ToValue(vm.NewArrayBuffer(data)) }
	ns := w.Objects(uniqueKey(queueName(b)))
	native := a.Engine.Native(
		sender(a, ns, "send"), sender(a, ns, "sendOne"),
		engine.Func{Name: "utf8", Length: 1, Fn: func(call goja.FunctionCall) goja.Value { return buffer([]byte(call.Argument(0).String())) }},
		engine.Func{Name: "serialize", Length: 1, Fn: func(call goja.FunctionCall) goja.Value { return buffer(a.Serialize(call.Argument(0))) }},
		engine.Func{Name: "bytes", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			var view []byte
			if err := vm.ExportTo(call.Argument(0), &view); err != nil {
				a.Engine.Rethrow(err)
			}
			return buffer(bytes.Clone(view))
		}},
	)
	on := w.Project().Compat
	byDefault := "v8"
	if on(compat.QueuesJsonMessages) {
		byDefault = "json"
	}
	create := a.Engine.Load(producerPrelude, native)
	delay := goja.Undefined()
	if n, ok := b.Params["delivery_delay"].(float64); ok {
		delay = vm.ToValue(n)
	}
	queue := a.Engine.Call(create, goja.Undefined(), stub(a, ns), vm.ToValue(byDefault), vm.ToValue(on(compat.QueueExposeErrorCodes)), delay)
	return driver.Uncloned(a, queue, `Could not serialize object of type "WorkerQueue". This type does not support serialization.`)
}

// broker makes the class of a queue's broker; c is nil for a queue that nobody
// consumes in this session: its messages wait.
func (d *queues) broker(a *cfapi.API, h driver.Handlers, queue string, c *consumer) *goja.Object {
	vm := a.Engine.VM()
	log := func(name string, level engine.Level) engine.Func {
		return engine.Func{Name: name, Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			a.Engine.Log(level, call.Argument(0).String())
			return goja.Undefined()
		}}
	}
	native := a.Engine.Native(
		engine.Func{Name: "id", Fn: func(goja.FunctionCall) goja.Value {
			var id [16]byte
			if _, err := a.Engine.Entropy().Read(id[:]); err != nil {
				a.Engine.Throw("Error", "queue: %s", err)
			}
			return vm.ToValue(hex.EncodeToString(id[:]))
		}},
		engine.Func{Name: "deliver", Length: 2, Fn: func(call goja.FunctionCall) goja.Value {
			return d.deliver(a, h, batchOf(a, queue, call))
		}},
		engine.Func{Name: "text", Length: 1, Fn: func(call goja.FunctionCall) goja.Value { return vm.ToValue(string(bytesOf(call.Argument(0)))) }},
		engine.Func{Name: "base64", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			return vm.ToValue(base64.StdEncoding.EncodeToString(bytesOf(call.Argument(0))))
		}},
		engine.Func{Name: "show", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			v, err := a.Platform.Clone.Deserialize(bytesOf(call.Argument(0)), clone.Options{Mode: clone.Storage})
			if err != nil {
				return vm.ToValue("(cannot be decoded: " + err.Error() + ")")
			}
			return vm.ToValue(a.Platform.Console.InspectWith(v, goja.Undefined(), goja.Undefined()))
		}},
		log("report", engine.Warn), log("delivered", engine.Debug),
	)
	made := a.Engine.Load(brokerPrelude, native)
	consumed, deadLetters := goja.Undefined(), goja.Undefined()
	if c != nil {
		text, err := json.Marshal(c)
		if err != nil {
			panic("queue: " + err.Error()) // plain numbers and texts
		}
		consumed = a.ParseJSON(string(text))
		if c.DeadLetterQueue != "" {
			deadLetters = stub(a, h.Objects(uniqueKey(c.DeadLetterQueue)))
		}
	}
	response := vm.GlobalObject().Get("Response")
	return a.Engine.Call(made, goja.Undefined(), a.DurableObjectClass(), response, vm.ToValue(queue), consumed, deadLetters).(*goja.Object)
}

func bytesOf(v goja.Value) []byte {
	buffer, _ := v.Export().(goja.ArrayBuffer)
	return buffer.Bytes()
}

// Ask is what the control API asks of a queue's broker. Op is "pause", "resume",
// "pull", "ack", "list", "remove", "deliver" or "purge".
type Ask struct {
	Op                  string          `json:"op"`
	BatchSize           *int            `json:"batchSize,omitempty"`
	VisibilityTimeoutMs *int64          `json:"visibilityTimeoutMs,omitempty"`
	Acks                json.RawMessage `json:"acks,omitempty"`
	Retries             json.RawMessage `json:"retries,omitempty"`
	// Seq is the message that remove and deliver mean, and behind which list begins.
	Seq int64 `json:"seq,omitempty"`
}

// Control asks the broker of a queue, which objects finds by its unique key: nil if
// there is none. done gets its JSON.
func Control(objects func(uniqueKey string) cfapi.Namespace, queue string, ask Ask, done func([]byte, error)) {
	ns := objects(uniqueKey(queue))
	if ns == nil {
		done(nil, ErrNoQueue)
		return
	}
	body, err := json.Marshal(ask)
	if err != nil {
		done(nil, fmt.Errorf("queue: %w", err))
		return
	}
	request := &event.Request{Method: "POST", URL: "http://queue/", Body: event.Bytes(body)}
	ns.Stub(ns.IDs().FromName(broker)).Fetch(request, func(r *event.Response, err error) {
		if err != nil {
			done(nil, err)
			return
		}
		event.ReadAll(r.Body, maxControlBytes, func(data []byte, err error) {
			if err == nil && r.Status != 200 {
				err = errors.New(string(data))
			}
			done(data, err)
		})
	})
}

// maxControlBytes bounds an answer: 100 messages of 128 KB, in base64.
const maxControlBytes = 32 << 20

// ErrNoQueue is for a queue that no worker of the session names.
var ErrNoQueue = errors.New("no worker of this session has a queue of that name")

// batchOf reads deliver(messages, metrics).
func batchOf(a *cfapi.API, queue string, call goja.FunctionCall) *event.QueueBatch {
	b := &event.QueueBatch{Queue: queue, Metrics: []byte(call.Argument(1).String())}
	list := call.Argument(0).ToObject(a.Engine.VM())
	for _, key := range list.Keys() {
		m := list.Get(key).(*goja.Object)
		body, _ := m.Get("body").Export().(goja.ArrayBuffer)
		b.Messages = append(b.Messages, event.QueueMessage{
			ID: m.Get("id").String(), TimestampMs: m.Get("timestamp").ToInteger(), ContentType: m.Get("type").String(),
			Body: slices.Clone(body.Bytes()), Attempts: int(m.Get("attempts").ToInteger()),
		})
	}
	return b
}

// deliver hands a batch to the consumer, between two effect points: a promise of
// the result as JSON.
func (d *queues) deliver(a *cfapi.API, h driver.Handlers, b *event.QueueBatch) goja.Value {
	c := a.Engine.IO("queue")
	label, cause := c.Label, a.Engine.Cause()
	op := a.Engine.StartOp("queue " + b.Queue)
	promise := op.Promise()
	points := d.session.Points
	c.Emit(func() {
		end := func(r *event.QueueResult, err error) {
			if points.Hit(killpoint.Queue, killpoint.After, label, cause) {
				c.Crash()
				return
			}
			if err != nil {
				op.Reject("queue", func() goja.Value { return a.FromError(err) })
				return
			}
			op.Resolve("queue", func() goja.Value {
				text, err := json.Marshal(r)
				if err != nil {
					a.Engine.Throw("Error", "queue: %s", err)
				}
				return a.Engine.VM().ToValue(string(text))
			})
		}
		send := func() { h.Queue(b, end) }
		points.Depart(killpoint.Message{Kind: killpoint.Queue, Object: label, Cause: cause, Crash: c.Crash,
			Post:  func(fn func()) { _ = a.Engine.PostLoop(fn) }, // a closed loop has no consumer
			Send:  send,
			Lose:  func(err error) { end(nil, err) },
			Again: func() { h.Queue(b, func(*event.QueueResult, error) { send() }) }, // the first result is lost
		})
	})
	return promise
}
