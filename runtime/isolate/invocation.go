package isolate

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

// Tail is where the events of a worker go that has tail workers. Safe for
// concurrent use.
type Tail interface {
	// Wanted reports whether anybody wants to know of an event that begins now; the other
	// methods are called for such events alone.
	Wanted() bool
	// Ended is told of an event that has come to an end. It keeps t.
	Ended(t *event.Trace)
	// Streams reports whether Streamed is wanted: what an event does, as it does it,
	// in order, from the onset to the outcome.
	Streams() bool
	Streamed(e event.TailEvent)
}

// maxTraceBytes is how much of an event is kept, as in production.
const maxTraceBytes = 256 << 10

const truncatedText = `["Log size limit exceeded: More than 256KB of data (across console.log statements, exception, request metadata and headers) was logged during a single request. Subsequent data for this request will not be recorded in logs, appear when tailing this Worker's logs, or in Tail Workers."]`

// Invocation is one event of a worker that has tail workers. Methods of a nil
// Invocation do nothing: the worker has none. Loop-confined.
type Invocation struct {
	i        *Isolate
	trace    event.Trace
	bytes    int
	ended    bool
	streams  bool
	ids      event.TailEvent
	sequence int
}

var _ engine.Invocation = (*Invocation)(nil)

// Invoked begins an event: of the entrypoint of that name, or of the object with
// that id if objectID is not "". It is nil if no tail worker wants to know; the
// platform's own objects are nobody's business.
func (i *Isolate) Invoked(name, objectID string, ev event.TraceEvent) *Invocation {
	if !tailed(i) || i.platform[name] != nil {
		return nil
	}
	inv := &Invocation{i: i, streams: i.opts.Tail.Streams(), trace: event.Trace{
		ScriptName: i.opts.Name, Model: "stateless", ObjectID: objectID, Outcome: "ok", AtMs: i.now(), Event: ev,
		Logs: []event.TraceLog{}, Exceptions: []event.TraceException{},
	}}
	if objectID != "" {
		inv.trace.Model = "durableObject"
	}
	if name != defaultEntrypoint {
		inv.trace.Entrypoint = name
	}
	if inv.streams {
		inv.ids = event.TailEvent{TraceID: i.randomHex(16), SpanID: i.randomHex(8), Invocation: i.randomHex(16)}
		onset := inv.trace
		inv.stream(event.TailEvent{Type: "onset", Trace: &onset})
	}
	return inv
}

// tailed reports whether anybody wants to know of the worker's events.
func tailed(i *Isolate) bool { return i.opts.Tail != nil && i.opts.Tail.Wanted() }

// TraceRequest describes a request; nothing if no tail worker wants to know.
func (i *Isolate) TraceRequest(req *event.Request) event.TraceEvent {
	if !tailed(i) {
		return event.TraceEvent{}
	}
	r := &event.TraceRequest{URL: req.URL, Method: req.Method, Headers: [][2]string{}, CF: req.CF}
	for _, h := range req.Header {
		r.Headers = append(r.Headers, [2]string{strings.ToLower(h.Name), h.Value})
	}
	slices.SortStableFunc(r.Headers, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return event.TraceEvent{Type: "fetch", Request: r}
}

// TraceCall describes an RPC call.
func TraceCall(c *event.Call) event.TraceEvent {
	e := event.TraceEvent{Type: "jsrpc"}
	if len(c.Path) > 0 {
		e.Method = c.Path[0]
	}
	return e
}

func (i *Isolate) now() int64 { return i.Engine.Now().UnixMilli() }

func (i *Isolate) randomHex(n int) string {
	b := make([]byte, n)
	_, _ = i.tail.ids.Read(b) // a Source always fills it
	return hex.EncodeToString(b)
}

// Frame is f for the work of the event.
func (inv *Invocation) Frame(f *engine.Frame) *engine.Frame {
	if inv == nil {
		return f
	}
	return f.WithInvocation(inv)
}

// Logged implements engine.Invocation.
func (inv *Invocation) Logged(level engine.Level, args []goja.Value) {
	if inv.ended || inv.trace.Truncated && !inv.streams {
		return
	}
	message, errs := inv.i.tail.describe(args)
	l := event.TraceLog{Level: levelNames[level], Message: event.RawJSON(message), Errors: event.RawJSON(errs), AtMs: inv.i.now()}
	inv.stream(event.TailEvent{Type: "log", Log: &l})
	if !inv.trace.Truncated && !inv.full(len(message)+len(errs)) {
		inv.trace.Logs = append(inv.trace.Logs, l)
	}
}

var levelNames = map[engine.Level]string{engine.Debug: "debug", engine.Info: "info", engine.Log: "log", engine.Warn: "warn", engine.Error: "error"}

// full counts bytes against the limit; past it the trace says so once. Streams have
// no limit, as in workerd.
func (inv *Invocation) full(n int) bool {
	if inv.bytes+n <= maxTraceBytes {
		inv.bytes += n
		return false
	}
	if !inv.trace.Truncated {
		inv.trace.Truncated = true
		inv.trace.Logs = append(inv.trace.Logs, event.TraceLog{Level: "warn", Message: event.RawJSON(truncatedText), AtMs: inv.i.now()})
	}
	return true
}

// Threw implements engine.Invocation.
func (inv *Invocation) Threw(v goja.Value) { inv.threw(inv.i.Engine.Errors.ToEvent(v)) }

func (inv *Invocation) threw(ev *event.Error) {
	x := event.TraceException{Name: ev.Name, Message: ev.Message, AtMs: inv.i.now()}
	if x.Name == "" {
		x.Name = "Error"
	}
	x.Stack = framesOf(ev.Stack)
	if inv.ended {
		return
	}
	inv.stream(event.TailEvent{Type: "exception", Exception: &x})
	if !inv.full(len(x.Name) + len(x.Message) + len(x.Stack)) {
		inv.trace.Exceptions = append(inv.trace.Exceptions, x)
	}
}

// Failed notes what the handler threw.
func (inv *Invocation) Failed(reason goja.Value) {
	if inv != nil {
		inv.Threw(reason)
		inv.trace.Outcome = "exception"
	}
}

// Fail notes that the handler has failed, with what somebody else reports.
func (inv *Invocation) Fail() {
	if inv != nil {
		inv.trace.Outcome = "exception"
	}
}

// failed notes what an error says of the handler's end; nil is none.
func (inv *Invocation) failed(err error) {
	if inv == nil || err == nil {
		return
	}
	var ev *event.Error
	if !errors.As(err, &ev) {
		ev = &event.Error{Message: err.Error()}
	}
	inv.threw(ev)
	inv.trace.Outcome = "exception"
}

// Returned notes that the handler has come to an end, with a response of that
// status if it gave one.
func (inv *Invocation) Returned(status int) {
	if inv != nil && !inv.ended {
		inv.trace.Event.Status = status
		inv.stream(event.TailEvent{Type: "return", Status: status})
	}
}

// End tells the tail workers that the event is over; reason is why its context
// died, nil for an event that has just ended. Only the first call counts.
func (inv *Invocation) End(reason error) {
	if inv == nil || inv.ended {
		return
	}
	var limit *engine.LimitError
	switch {
	case reason == nil, errors.Is(reason, errFinished):
	case errors.As(reason, &limit) && limit.Resource == engine.Memory:
		inv.trace.Outcome = "exceededMemory"
	case errors.As(reason, &limit):
		inv.trace.Outcome = "exceededCpu"
	default:
		inv.failed(reason)
	}
	inv.ended = true
	trace := inv.trace
	inv.stream(event.TailEvent{Type: "outcome", Trace: &trace})
	inv.i.opts.Tail.Ended(&trace)
}

func (inv *Invocation) stream(e event.TailEvent) {
	if !inv.streams {
		return
	}
	e.TraceID, e.SpanID, e.Invocation = inv.ids.TraceID, inv.ids.SpanID, inv.ids.Invocation
	e.Sequence, e.AtMs = inv.sequence, inv.i.now()
	inv.sequence++
	inv.i.opts.Tail.Streamed(e)
}

// current is the invocation whose turn it is; nil if nobody wants to know.
func (i *Isolate) current() *Invocation {
	inv, _ := i.Engine.Frame().Invocation.(*Invocation)
	return inv
}

// traces is the argument of a tail handler.
func traces(list []*event.Trace) string {
	b, err := json.Marshal(list)
	if err != nil {
		panic("a trace is no JSON: " + err.Error()) // it consists of text that is
	}
	return string(b)
}
