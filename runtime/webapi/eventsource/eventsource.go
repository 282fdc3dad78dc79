// Package eventsource is EventSource (HTML, section 9.2), and the parser of
// text/event-stream.
package eventsource

import (
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webapi/events"
	"minido.dev/minido/runtime/webapi/fetch"
	"minido.dev/minido/runtime/webapi/mime"
	"minido.dev/minido/runtime/webapi/streams"
	"minido.dev/minido/runtime/webapi/url"
	"minido.dev/minido/runtime/webidl"
)

// States of an EventSource.
const (
	sourceConnecting = iota
	sourceOpen
	sourceClosed
)

// workerd's times of reconnection: what a stream asks for is taken between two bounds.
const (
	defaultReconnection = 2 * time.Second
	minReconnection     = time.Second
	maxReconnection     = 10 * time.Second
)

// eventSource is an EventSource (HTML, section 9.2), or one that reads a given
// stream (workerd: api/eventsource.c++). Loop-confined.
type eventSource struct {
	events.Target
	p       *sources
	object  *goja.Object
	frame   *engine.Frame
	url     string // "" of a given stream
	origin  string
	fetcher goja.Value // nil: the global fetch
	state   int
	lastID  string
	delay   time.Duration
	timer   int64 // of the reconnection, 0 if none waits
	empty   bool  // there has been a response without a body

	connection *sourceConnection // nil between two of them
}

// sourceConnection is one attempt of an eventSource. It is current as long as
// the source points at it. Loop-confined.
type sourceConnection struct {
	s       *eventSource
	signal  *events.Signal   // aborts its fetch
	drain   *streams.Drainer // nil until there is a body
	stream  *eventStream
	pending []streamedEvent
}

// sources is what every EventSource of an isolate needs. Loop-confined.
type sources struct {
	*webidl.Realm
	events  *events.Events
	streams *streams.Streams
	fetch   *fetch.Fetch
}

// Install defines EventSource in a realm.
func Install(r *webidl.Realm, ev *events.Events, streams *streams.Streams, f *fetch.Fetch) {
	p := &sources{r, ev, streams, f}
	p.LazyClass("EventSource", p.class)
}

func (p *sources) class() *goja.Object {
	value := func(name string, get func(s *eventSource) any) engine.Accessor[*eventSource] {
		return webidl.Reader(name, func(s *eventSource) goja.Value { return p.VM.ToValue(get(s)) })
	}
	closing := func(s *eventSource, _ goja.FunctionCall) goja.Value {
		s.close()
		return goja.Undefined()
	}
	var class *engine.Class[*eventSource]
	class = engine.DefineClass(p.Engine, engine.ClassDef[*eventSource]{
		Name: "EventSource", Extends: p.events.Targets().Ctor,
		New: func(call goja.ConstructorCall) *eventSource { return p.newEventSource(call) },
		Accessors: []engine.Accessor[*eventSource]{
			value("url", func(s *eventSource) any { return s.url }),
			value("withCredentials", func(*eventSource) any { return false }),
			value("readyState", func(s *eventSource) any { return s.state }),
			events.HandlerAttribute[*eventSource]("open"), events.HandlerAttribute[*eventSource]("message"), events.HandlerAttribute[*eventSource]("error"),
		},
		Methods: []engine.Method[*eventSource]{{Name: "close", Fn: closing}},
		Statics: []engine.Func{{Name: "from", Fn: func(call goja.FunctionCall) goja.Value {
			s := &eventSource{p: p, delay: defaultReconnection}
			s.object = class.Wrap(s)
			p.readEvents(s, call.Argument(0))
			return s.object
		}}},
		Constants: []engine.Constant{{Name: "CONNECTING", Value: sourceConnecting}, {Name: "OPEN", Value: sourceOpen}, {Name: "CLOSED", Value: sourceClosed}},
	})
	class.Alias(p.Symbol("dispose"), "close")
	return class.Ctor
}

// newEventSource is new EventSource(url, {withCredentials, fetcher}).
func (p *sources) newEventSource(call goja.ConstructorCall) *eventSource {
	if len(call.Arguments) == 0 {
		p.BadConstruct("EventSource", 1, "string")
	}
	given, init := p.USV(call.Arguments[0]), call.Argument(1)
	if _, ok := init.(*goja.Object); !ok && !webidl.IsMissing(init) {
		p.BadConstruct("EventSource", 2, "EventSourceInit")
	}
	fetcher, credentials := webidl.Get(init, "fetcher"), webidl.Get(init, "withCredentials").ToBoolean()
	p.needRequest()
	if credentials {
		p.ThrowDOM("NotSupportedError", "The init.withCredentials option is not supported. It must be false or undefined.") // reference's text
	}
	parsed, err := url.Parse(given, "")
	if err != nil {
		p.ThrowDOM("SyntaxError", "Cannot open an EventSource to '%s'. The URL is invalid.", given)
	}
	s := &eventSource{p: p, object: call.This, frame: p.Engine.Frame(), url: parsed.Href(false), delay: defaultReconnection}
	if !webidl.IsMissing(fetcher) {
		s.fetcher = fetcher
	}
	s.connect()
	return s
}

// needRequest throws in the global scope.
func (p *sources) needRequest() {
	if p.Engine.Current() == nil {
		p.ThrowDOM("NotSupportedError", "An EventSource can only be created within the context of a worker request.") // reference's text
	}
}

// readEvents is EventSource.from(stream): there is nothing to reconnect to.
func (p *sources) readEvents(s *eventSource, v goja.Value) {
	stream, ok := v.(*goja.Object)
	if !ok || !p.streams.Is(v) {
		p.BadArgument("EventSource", "from", 1, "ReadableStream")
	}
	p.needRequest()
	if p.streams.Locked(stream) {
		p.Engine.Throw("TypeError", "This ReadableStream is locked.")
	}
	if p.streams.Disturbed(stream) {
		p.Engine.Throw("TypeError", "This ReadableStream has already been read from.")
	}
	s.frame = p.Engine.Frame()
	c := &sourceConnection{s: s, signal: p.events.NewSignal()}
	s.connection, s.state = c, sourceOpen
	c.lock(stream)
	s.task("event source read", c, c.read) // it is open already: no event says so
}

// task runs fn as a turn of its own, if the connection is current then.
func (s *eventSource) task(cause string, c *sourceConnection, fn func()) {
	// A closed loop runs nothing any more, which is as good as a closed source.
	_ = s.p.Engine.Post(s.frame, cause, func() {
		if s.connection == c && s.state != sourceClosed {
			fn()
		}
	})
}

// announce is "announce the connection".
func (s *eventSource) announce() {
	s.state = sourceOpen
	s.p.events.Fire(s.object, s.p.events.New("open"))
}

// connect fetches; what becomes of it comes as events.
func (s *eventSource) connect() {
	p := s.p
	c := &sourceConnection{s: s, signal: p.events.NewSignal()}
	s.connection = c
	fields := p.Record("accept", "text/event-stream", "cache-control", "no-cache")
	if s.lastID != "" {
		fields.Set("last-event-id", s.lastID)
	}
	init := p.Record("headers", fields, "signal", c.signal.Object())
	var promise goja.Value
	if s.fetcher != nil {
		promise = p.Promise(func() goja.Value {
			return p.Invoke(s.fetcher.ToObject(p.VM), "fetch", p.VM.ToValue(s.url), init)
		})
	} else {
		promise = p.fetch.Do(p.VM.ToValue(s.url), init)
	}
	p.Engine.Await(promise, func(v goja.Value) {
		s.task("event source answer", c, func() { c.answered(v) })
	}, func(reason goja.Value) {
		s.task("event source failure", c, func() { s.fail(reason) }) // as workerd, which tries once
	})
}

// answered looks at the response: a status that is no success and any other type fail
// the connection for good, and so does a second response without a body.
func (c *sourceConnection) answered(v goja.Value) {
	s, p := c.s, c.s.p
	r, ok := p.fetch.ResponseOf(v)
	typ, hasType := "", false
	if ok {
		typ, hasType = r.Field("content-type")
	}
	mime, _ := mime.Parse(typ)
	switch {
	case !ok:
		s.fail(p.Engine.Errors.New("TypeError", "The fetcher of an EventSource gave no Response."))
	case r.Status() < 200 || r.Status() > 299:
		s.fail(p.NewDOMException("AbortError", "The response status code was "+p.VM.ToValue(r.Status()).String()+"."))
	case !hasType:
		s.fail(p.NewDOMException("AbortError", "No content type header was present in the response."))
	case mime.Essence != "text/event-stream":
		s.fail(p.NewDOMException("AbortError", "The content type '"+typ+"' is invalid."))
	default:
		if r.Redirected() {
			s.url = r.URL()
		}
		if final, err := url.Parse(s.url, ""); err == nil {
			s.origin = url.Origin(final)
		}
		stream := p.fetch.Stream(r)
		switch {
		case stream != nil:
			c.lock(stream)
			s.announce()
			c.read()
		case s.empty:
			s.fail(p.Engine.Errors.New("Error", "The server provided no content."))
		default:
			s.empty = true
			s.reestablish(p.Engine.Errors.New("Error", "The server provided no content. Will try reconnecting."))
		}
	}
}

// lock takes the stream of events for itself.
func (c *sourceConnection) lock(stream *goja.Object) {
	s, p := c.s, c.s.p
	c.stream = newEventStream(s.lastID)
	ended := func() {
		s.task("event source end", c, func() { s.reestablish(p.Engine.Errors.New("Error", "The server disconnected.")) })
	}
	c.drain = p.streams.Drain(stream, c.chunk, ended, func(reason goja.Value) {
		if p.streams.IsLost(reason) { // as workerd, to which a lost connection is one that ends
			ended()
			return
		}
		s.task("event source end", c, func() { s.fail(reason) })
	})
}

// read asks for a chunk, unless a listener has closed the source.
func (c *sourceConnection) read() {
	if c.s.connection == c {
		c.drain.Next()
	}
}

// chunk parses what arrived; the next is asked for when its events are out.
func (c *sourceConnection) chunk(v goja.Value) {
	s, p := c.s, c.s.p
	if s.connection != c {
		return
	}
	data, ok := p.streams.ChunkBytes(v)
	if !ok {
		s.task("event source end", c, func() { s.fail(p.Engine.Errors.New("TypeError", streams.TextNotBytes)) })
		return
	}
	events, err := c.stream.feed(data)
	if c.stream.retryMs >= 0 {
		s.delay = min(max(time.Duration(c.stream.retryMs)*time.Millisecond, minReconnection), maxReconnection)
	}
	s.lastID = c.stream.id // as workerd, before the event is complete
	c.pending = events
	if err != nil {
		s.task("event source end", c, func() { s.fail(p.Engine.Errors.FromGo(err)) })
		return
	}
	c.deliver()
}

// deliver dispatches what a chunk has completed, as workerd in one turn, and then asks for
// more. What a listener throws ends the source, after it has closed it the rest still comes.
func (c *sourceConnection) deliver() {
	s, p := c.s, c.s.p
	if len(c.pending) == 0 {
		c.read()
		return
	}
	s.task("events of a stream", c, func() {
		events := c.pending
		c.pending = nil
		for _, next := range events {
			if _, thrown := p.events.Deliver(s.object, p.events.NewStreamed(next.typ, next.data, s.origin, next.id)); thrown != nil {
				s.fail(thrown)
				return
			}
		}
		c.read()
	})
}

// reestablish is "reestablish the connection": an "error" event, and after the
// reconnection time another attempt. A given stream that ended is closed.
func (s *eventSource) reestablish(reason goja.Value) {
	if s.url == "" {
		s.fail(reason)
		return
	}
	if s.state == sourceClosed {
		return
	}
	s.connection = nil
	s.state = sourceConnecting
	s.fireError(reason)
	if s.state != sourceConnecting || s.timer != 0 {
		return // the listener closed it
	}
	s.timer = s.p.Engine.Timers.Set(s.delay, false, func() {
		s.timer = 0
		s.connect()
	})
}

// fail is "fail the connection": there will be no other.
func (s *eventSource) fail(reason goja.Value) {
	if s.state == sourceClosed {
		return
	}
	s.close()
	s.fireError(reason)
}

// fireError fires "error"; as in workerd the event has the reason, and no text.
func (s *eventSource) fireError(reason goja.Value) {
	s.p.events.Fire(s.object, s.p.events.NewFailure(reason))
}

// close ends the source and what it reads.
func (s *eventSource) close() {
	s.state = sourceClosed
	c := s.connection
	s.connection = nil
	if s.timer != 0 {
		s.p.Engine.Timers.Clear(s.timer)
		s.timer = 0
	}
	if c == nil {
		return
	}
	s.p.events.Abort(c.signal, goja.Undefined())
	if c.drain != nil {
		c.drain.Stop(c.signal.Reason())
	}
}
