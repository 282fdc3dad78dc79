package isolate

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/clone"
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

// How much of an event is kept, as in production. Each log, exception and message counts
// with its texts and perItem; a request with its URL, its headers and perRequest. Both
// were measured with workerd. maxTraceText is the length of an exception's texts.
const (
	maxTraceBytes = 256 << 10
	perItem       = 80
	perRequest    = 30
	maxTraceText  = 4096
)

// unclonable is what a trace has in place of a message that cannot be cloned.
const unclonable = "[[ Diagnostic event was not serializable ]]"

// limitChannel is the channel of the message that stands for those past the limit.
const limitChannel = "workerd.LimitExceeded"

const truncatedText = `["Log size limit exceeded: More than 256KB of data (across console.log statements, exception, request metadata and headers) was logged during a single request. Subsequent data for this request will not be recorded in logs, appear when tailing this Worker's logs, or in Tail Workers."]`

// Invocation is one event of a worker that has tail workers. Methods of a nil
// Invocation do nothing: the worker has none. Loop-confined.
type Invocation struct {
	i        *Isolate
	trace    event.Trace
	bytes    int
	begun    bool // what it is is known; before, only an object's constructor runs
	ended    bool
	streams  bool
	ids      event.TailEvent
	sequence int
	early    []event.TailEvent // from before it had begun
	// logsFull and publishedFull: the limit was exceeded by a log, by a message.
	logsFull, publishedFull bool
	// answered: a response is being sent; status is that which is told of.
	answered bool
	status   int
	holds    int
	over     func() // what ends it once nobody holds it; nil before it may end
	line     *Line  // of an object; nil elsewhere
}

// Line are the events of an object that are not over, in the order in which they came.
// What its code says counts for the newest, whichever it runs for, as in workerd.
type Line []*Invocation

// Line adds the event to the line of its object.
func (inv *Invocation) Line(l *Line) {
	inv.line = l
	*l = append(*l, inv)
}

// newest is the event that what is said now counts for; nil if it is over.
func (inv *Invocation) newest() *Invocation {
	if inv.line != nil && len(*inv.line) > 0 {
		return (*inv.line)[len(*inv.line)-1]
	}
	if inv.ended {
		return nil
	}
	return inv
}

var _ engine.Invocation = (*Invocation)(nil)

// Invoked begins an event: of the entrypoint of that name, or of the object with
// that id if objectID is not "". parent is the event that caused it, nil for none. It is
// nil if no tail worker wants to know; the platform's own objects are nobody's business.
func (i *Isolate) Invoked(name, objectID string, ev event.TraceEvent, parent *event.Span) *Invocation {
	inv := Invoking(i, name)
	inv.Begin(name, objectID, ev, parent)
	return inv
}

// Invoking is an event of which nothing is known yet: one that has an object constructed.
// It is nil if no tail worker wants to know. Loop-confined.
func Invoking(i *Isolate, name string) *Invocation {
	if !tailed(i) || i.platform[name] != nil {
		return nil
	}
	return &Invocation{i: i, streams: i.opts.Tail.Streams(), trace: event.Trace{
		ScriptName: i.opts.Name, Model: "stateless", Outcome: "ok", AtMs: i.now(), Logs: []event.TraceLog{}, Exceptions: []event.TraceException{},
	}}
}

// Begin says what event it is, as Invoked does.
func (inv *Invocation) Begin(name, objectID string, ev event.TraceEvent, parent *event.Span) {
	if inv == nil {
		return
	}
	i := inv.i
	inv.begun, inv.trace.Event, inv.trace.AtMs = true, ev, i.now()
	if objectID != "" {
		inv.trace.Model, inv.trace.ObjectID = "durableObject", objectID
	}
	if name != defaultEntrypoint {
		inv.trace.Entrypoint = name
	}
	if r := ev.Request; r != nil {
		inv.bytes += perRequest + len(r.URL)
		for _, h := range r.Headers {
			inv.bytes += len(h[0]) + len(h[1])
		}
	}
	if !inv.streams {
		return
	}
	inv.ids = event.TailEvent{TraceID: i.randomHex(16), SpanID: i.randomHex(8), Invocation: i.randomHex(16)}
	if parent != nil {
		inv.ids.TraceID = parent.TraceID
	}
	onset := inv.trace
	first := event.TailEvent{Type: "onset", Trace: &onset}
	if parent != nil {
		first.Parent = parent.SpanID
	}
	inv.stream(first)
	for _, e := range inv.early {
		inv.stream(e)
	}
	inv.early = nil
}

// Span implements engine.Invocation: who streams alone wants to know.
func (inv *Invocation) Span() *event.Span {
	if !inv.streams || !inv.begun {
		return nil
	}
	return &event.Span{TraceID: inv.ids.TraceID, SpanID: inv.ids.SpanID}
}

// Hold implements engine.Invocation.
func (inv *Invocation) Hold() { inv.holds++ }

// Release implements engine.Invocation.
func (inv *Invocation) Release() {
	if inv.holds--; inv.holds == 0 && inv.over != nil {
		over := inv.over
		inv.over = nil
		over()
	}
}

// WhenReleased calls end once nobody holds the event, at once if nobody does.
func (inv *Invocation) WhenReleased(end func()) {
	if inv.holds == 0 {
		end()
		return
	}
	inv.over = end
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
	return event.TraceEvent{Type: "jsrpc", Method: strings.Join(c.Path, ".")}
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
	if inv = inv.newest(); inv == nil || inv.logsFull && !inv.streams {
		return
	}
	message, errs := inv.i.tail.describe(args)
	l := event.TraceLog{Level: levelNames[level], Message: event.RawJSON(message), Errors: event.RawJSON(errs), AtMs: inv.i.now()}
	inv.stream(event.TailEvent{Type: "log", Log: &l})
	switch {
	case inv.logsFull:
	case inv.full(len(message) + len(errs)):
		inv.logsFull = true
		inv.trace.Logs = append(inv.trace.Logs, event.TraceLog{Level: "warn", Message: event.RawJSON(truncatedText), AtMs: inv.i.now()})
	default:
		inv.trace.Logs = append(inv.trace.Logs, l)
	}
}

// Published implements engine.Invocation.
func (inv *Invocation) Published(name, message goja.Value) {
	if inv = inv.newest(); inv == nil {
		return
	}
	channel := inv.i.tail.text(name)
	data, err := inv.i.Platform.Clone.Serialize(message, clone.Options{})
	if err != nil {
		data, err = inv.i.Platform.Clone.Serialize(inv.i.vm.ToValue(unclonable), clone.Options{})
	}
	if err != nil {
		panic("a text cannot be cloned: " + err.Error()) // it is a constant
	}
	m := event.TraceMessage{Channel: channel, Message: data, AtMs: inv.i.now()}
	inv.stream(event.TailEvent{Type: "diagnosticChannel", Published: &m})
	switch {
	case inv.publishedFull:
	case inv.full(len(channel) + len(data)):
		inv.publishedFull = true
		inv.trace.Published = append(inv.trace.Published, event.TraceMessage{Channel: limitChannel, AtMs: m.AtMs})
	default:
		inv.trace.Published = append(inv.trace.Published, m)
	}
}

var levelNames = map[engine.Level]string{engine.Debug: "debug", engine.Info: "info", engine.Log: "log", engine.Warn: "warn", engine.Error: "error"}

// full counts an item of so many bytes against the limit, and reports whether it is past
// that. Streams have no limit, as in workerd.
func (inv *Invocation) full(n int) bool {
	if inv.bytes+n+perItem <= maxTraceBytes {
		inv.bytes += n + perItem
		return false
	}
	inv.trace.Truncated = true
	return true
}

// Threw implements engine.Invocation.
func (inv *Invocation) Threw(v goja.Value) {
	if inv = inv.newest(); inv != nil {
		inv.threw(inv.i.tail.thrown(v))
	}
}

func (inv *Invocation) threw(x event.TraceException) {
	if inv.ended {
		return
	}
	x.AtMs = inv.i.now()
	if len(x.Name) >= maxTraceText || len(x.Message) >= maxTraceText {
		x.Stack = ""
	}
	for _, text := range []*string{&x.Name, &x.Message, &x.Stack} {
		*text = strings.ToValidUTF8((*text)[:min(len(*text), maxTraceText)], "")
	}
	inv.stream(event.TailEvent{Type: "exception", Exception: &x})
	if !inv.full(len(x.Name) + len(x.Message) + len(x.Stack)) {
		inv.trace.Exceptions = append(inv.trace.Exceptions, x)
	}
}

// Failed notes what the handler threw.
func (inv *Invocation) Failed(reason goja.Value) {
	if inv != nil {
		inv.threw(inv.i.tail.thrown(reason))
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
	x := event.TraceException{Name: cmp.Or(ev.Name, "Error"), Message: ev.Message, Stack: framesOf(ev.Stack, cmp.Or(ev.Name, "Error"), ev.Message)}
	inv.threw(x)
	inv.trace.Outcome = "exception"
}

// Returned notes that the handler has come to an end, and gave no response. One that
// failed has not returned.
func (inv *Invocation) Returned() {
	if inv != nil && !inv.ended && inv.trace.Outcome == "ok" {
		inv.stream(event.TailEvent{Type: "return"})
	}
}

// Answered notes that the handler gave a response of that status, which is being sent.
func (inv *Invocation) Answered(status int) {
	if inv == nil {
		return
	}
	inv.answered = true
	if status != http.StatusSwitchingProtocols { // workerd tells nothing of these
		inv.status = status
	}
}

// Sent notes that the response has been sent.
func (inv *Invocation) Sent() {
	if inv != nil && !inv.ended && inv.answered {
		inv.answered, inv.trace.Event.Status = false, inv.status
		inv.stream(event.TailEvent{Type: "return", Status: inv.status})
	}
}

// Lost notes that the response could not be sent to its end.
func (inv *Invocation) Lost(err error) {
	if inv != nil && !inv.ended && inv.answered {
		inv.answered = false
		inv.failed(err)
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
		inv.Sent()
	case errors.As(reason, &limit) && limit.Resource == engine.Memory:
		inv.trace.Outcome = "exceededMemory"
	case errors.As(reason, &limit):
		inv.trace.Outcome = "exceededCpu"
	default:
		inv.failed(reason)
	}
	inv.ended = true
	if inv.line != nil {
		*inv.line = slices.DeleteFunc(*inv.line, func(other *Invocation) bool { return other == inv })
	}
	trace := inv.trace
	inv.stream(event.TailEvent{Type: "outcome", Trace: &trace})
	inv.i.opts.Tail.Ended(&trace)
}

func (inv *Invocation) stream(e event.TailEvent) {
	if !inv.streams {
		return
	}
	if !inv.begun {
		inv.early = append(inv.early, e)
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
