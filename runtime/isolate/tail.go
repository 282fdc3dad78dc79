package isolate

import (
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

//go:embed js/tail.js
var tailSource string

var tailPrelude = engine.NewPrelude("tail.js", tailSource)

// tailing makes what tail workers get, on both sides. Loop-confined.
type tailing struct {
	i       *Isolate
	ids     entropy.Source
	js      *goja.Object // what js/tail.js returns; nil before its first use
	streams map[tailKey]*tailStream
}

func newTailing(i *Isolate, ids entropy.Source) *tailing {
	return &tailing{i: i, ids: ids, streams: map[tailKey]*tailStream{}}
}

func (t *tailing) call(name string, arg goja.Value) goja.Value {
	e := t.i.Engine
	if t.js == nil {
		t.js = e.Load(tailPrelude, e.Native(
			engine.Func{Name: "redact", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
				return t.i.vm.ToValue(RedactURL(call.Argument(0).String()))
			}},
			engine.Func{Name: "secret", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
				return t.i.vm.ToValue(SecretHeader(call.Argument(0).String()))
			}},
			engine.Func{Name: "message", Length: 1, Fn: func(call goja.FunctionCall) goja.Value { return t.message(call.Argument(0).String()) }},
			engine.Func{Name: "error", Length: 1, Fn: func(call goja.FunctionCall) goja.Value { return t.errorInfo(call.Argument(0)) }},
		)).(*goja.Object)
	}
	return e.Call(t.js.Get(name), goja.Undefined(), arg)
}

// message is a message of a diagnostics channel from its JSON, the base64 of its bytes.
func (t *tailing) message(encoded string) goja.Value {
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err == nil {
		var v goja.Value
		if v, err = t.i.Platform.Clone.Deserialize(data, clone.Options{}); err == nil {
			return v
		}
	}
	t.i.Engine.Throw("DataCloneError", "a diagnostics channel's message: %s", err)
	return nil
}

// errorInfo is what a log keeps of an error; null for anything else.
func (t *tailing) errorInfo(v goja.Value) goja.Value {
	obj, ok := v.(*goja.Object)
	if !ok || !t.i.Engine.Errors.Is(v) || t.i.Platform.IsDOMException(obj) {
		return goja.Null()
	}
	ev := t.i.Engine.Errors.ToEvent(v)
	info := t.i.vm.NewObject()
	info.Set("name", ev.Name)
	info.Set("message", ev.Message)
	info.Set("stack", framesOf(ev.Stack, ev.Name, ev.Message))
	return info
}

// text is a value's text, also a symbol's.
func (t *tailing) text(v goja.Value) string {
	if _, is := v.(*goja.Symbol); is {
		return t.i.Platform.Clone.Describe(v)
	}
	return t.i.Engine.Text(v)
}

// thrown is what a trace says of a thrown value: of an object its name, message and stack,
// if these are texts.
func (t *tailing) thrown(v goja.Value) event.TraceException {
	x := event.TraceException{Name: "Error"}
	obj, ok := v.(*goja.Object)
	if !ok || engine.IsCallable(obj) {
		x.Message = t.text(v)
		return x
	}
	read := func(name string) (text string, found bool) {
		t.i.Engine.Try(func() {
			if s, is := obj.Get(name).(goja.String); is {
				text, found = s.String(), true
			}
		})
		return text, found
	}
	if name, found := read("name"); found {
		x.Name = name
	}
	message, found := read("message")
	if !found {
		message = t.i.Platform.Clone.Describe(v)
	}
	x.Message = message
	if stack, found := read("stack"); found && !t.i.Platform.IsDOMException(obj) {
		if t.i.Engine.Errors.Is(v) {
			stack = t.i.Engine.Errors.Stack(v) // at the source's places
		}
		x.Stack = framesOf(stack, x.Name, x.Message)
	}
	return x
}

// framesOf is a stack without what it says of the error, as traces have it. The name may
// have been another one when the error was made.
func framesOf(stack, name, message string) string {
	rest := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(stack, name), ": "), message)
	if strings.HasPrefix(rest, "\n") || rest == "" {
		return strings.TrimPrefix(rest, "\n")
	}
	if first, frames, found := strings.Cut(stack, "\n    at "); found && !strings.Contains(first, "\n") && strings.HasSuffix(first, message) {
		return "    at " + frames
	}
	return rest
}

// describe is the JSON of the arguments of a console method, and of the errors
// among them. It never throws.
func (t *tailing) describe(args []goja.Value) (message, errs string) {
	list := make([]any, len(args))
	for i, v := range args {
		list[i] = v
	}
	thrown := t.i.Engine.Try(func() {
		made := t.call("describe", t.i.vm.NewArray(list...)).(*goja.Object)
		message, errs = made.Get("message").String(), made.Get("errors").String()
	})
	if thrown != nil {
		return "[]", ""
	}
	return message, errs
}

// Tail delivers events of other workers to the default entrypoint's tail handler.
// done gets what the handler threw, nil if it succeeded. Safe for concurrent use.
func (i *Isolate) Tail(list []*event.Trace, done func(error)) {
	(&entrypoint{i: i, name: defaultEntrypoint}).Tail(list, done)
}

// Tailed is a target that takes the events of other workers: an entrypoint with a tail
// handler. Safe for concurrent use.
type Tailed interface {
	cfapi.Target
	// Tail is Isolate.Tail for the entrypoint.
	Tail(list []*event.Trace, done func(error))
	// TailStream is Isolate.TailStream for the entrypoint.
	TailStream(e event.TailEvent)
}

var _ Tailed = (*entrypoint)(nil)

// Tail implements Tailed.
func (t *entrypoint) Tail(list []*event.Trace, done func(error)) {
	i := t.i
	finished := false
	finish := func(err error) {
		if !finished {
			finished = true
			done(err)
		}
	}
	consumed := event.TraceEvent{Type: "trace"}
	for _, one := range list {
		consumed.Consumed = append(consumed.Consumed, event.TraceSource{ScriptName: one.ScriptName})
	}
	begin := func() *Invocation { return i.Invoked(t.name, "", consumed, nil) }
	i.dispatch(i.Engine.NewContext(engine.RequestContext, ""), begin, "tail", func(ctx *engine.Context, end func()) {
		inv := i.current()
		forget := ctx.AtDeath(finish)
		over := func(err error) { forget(); inv.Returned(); finish(err); end() }
		failed := func(reason goja.Value) {
			inv.Failed(reason)
			i.Engine.Uncaught.Tell(reason)
			over(i.Engine.Errors.ToEvent(reason))
		}
		thrown := i.Engine.Try(func() {
			receiver, fn, args := t.handler(ctx, "tail", "trace")
			events := i.tail.call("events", i.vm.ToValue(traces(list)))
			i.Engine.Await(i.Engine.Call(fn, receiver, append([]goja.Value{events}, args...)...), func(goja.Value) { over(nil) }, failed)
		})
		if thrown != nil {
			failed(thrown)
		}
	}, finish)
}

// tailKey is an invocation, and the entrypoint that follows it.
type tailKey struct{ invocation, entrypoint, props string }

// tailStream is an invocation that a streaming tail worker follows. Loop-confined.
type tailStream struct {
	context *engine.Context
	end     func()
	handler goja.Value // nil until tailStream() has returned
	waiting []event.TailEvent
}

// TailStream delivers what another worker's event does, in order: its onset to the
// tailStream handler of the default entrypoint, the rest to what that has returned.
// Safe for concurrent use.
func (i *Isolate) TailStream(e event.TailEvent) {
	(&entrypoint{i: i, name: defaultEntrypoint}).TailStream(e)
}

// TailStream implements Tailed.
func (t *entrypoint) TailStream(e event.TailEvent) {
	i := t.i
	if e.Type == "onset" {
		t.openTailStream(e)
		return
	}
	// An engine that has ended has ended the stream too.
	_ = i.Engine.PostLoop(func() {
		s := i.tail.streams[t.stream(e)]
		if s == nil {
			return // it never began, or has failed
		}
		_ = i.Engine.Post(s.context.Frame(), "tail", func() { i.tail.next(s, e) })
	})
}

// stream names what follows an invocation: several entrypoints may follow one.
func (t *entrypoint) stream(e event.TailEvent) tailKey {
	key := tailKey{e.Invocation, t.name, ""}
	if t.props != nil {
		key.props = string(t.props.Bytes)
	}
	return key
}

func (t *entrypoint) openTailStream(onset event.TailEvent) {
	i, key := t.i, t.stream(onset)
	s := &tailStream{context: i.Engine.NewContext(engine.RequestContext, "")}
	// Registered at once: what follows the onset comes before its handler has returned.
	_ = i.Engine.PostLoop(func() { i.tail.streams[key] = s })
	i.dispatch(s.context, nil, "tail", func(ctx *engine.Context, end func()) {
		// What comes next comes from outside: the handler has not hung.
		next := i.Engine.StartOp("tail stream")
		s.end = func() { next.Drop(); end() }
		ctx.AtDeath(func(error) { delete(i.tail.streams, key) })
		stop := func() { delete(i.tail.streams, key); s.end() }
		failed := func(reason goja.Value) { i.Engine.Uncaught.Tell(reason); stop() }
		thrown := i.Engine.Try(func() {
			receiver, _ := i.exports.Get(t.name).(*goja.Object)
			if receiver == nil || !engine.IsCallable(receiver) && !engine.IsCallable(receiver.Get("tailStream")) {
				i.Engine.Log(engine.Warn, "A worker configured to act as a streaming tail worker does not export a tailStream() handler.")
				stop()
				return
			}
			receiver, fn, args := t.handler(ctx, "tailStream")
			returned := i.Engine.Call(fn, receiver, append([]goja.Value{i.tail.streamed(onset)}, args...)...)
			i.Engine.Await(returned, func(handler goja.Value) {
				if _, ok := handler.(*goja.Object); !ok {
					if !goja.IsUndefined(handler) {
						i.Engine.Log(engine.Warn, "A worker configured to act as a streaming tail worker did not return a valid tailStream() handler.")
					}
					stop()
					return
				}
				s.handler = handler
				waiting := s.waiting
				s.waiting = nil
				for _, e := range waiting {
					i.tail.next(s, e)
				}
			}, failed)
		})
		if thrown != nil {
			failed(thrown)
		}
	}, func(error) {
		_ = i.Engine.PostLoop(func() { delete(i.tail.streams, key) }) // an engine that has ended has forgotten it
	})
}

func (t *tailing) streamed(e event.TailEvent) goja.Value {
	b, err := json.Marshal(e)
	if err != nil {
		panic("a tail event is no JSON: " + err.Error()) // it consists of text that is
	}
	return t.call("streamed", t.i.vm.ToValue(string(b)))
}

// next hands an event to the handler: a function gets all, an object's methods those
// of their names. The outcome is the last one.
func (t *tailing) next(s *tailStream, e event.TailEvent) {
	if s.handler == nil {
		s.waiting = append(s.waiting, e)
		return
	}
	i := t.i
	last := func() {
		if e.Type == "outcome" && s.end != nil {
			end := s.end
			s.end = nil
			end()
		}
	}
	failed := func(reason goja.Value) { i.Engine.Uncaught.Tell(reason); last() }
	thrown := i.Engine.Try(func() {
		fn, this := s.handler, goja.Undefined()
		if !engine.IsCallable(fn) {
			this = s.handler
			if fn = s.handler.(*goja.Object).Get(e.Type); !engine.IsCallable(fn) {
				last()
				return
			}
		}
		i.Engine.Await(i.Engine.Call(fn, this, t.streamed(e)), func(goja.Value) { last() }, failed)
	})
	if thrown != nil {
		failed(thrown)
	}
}

// RedactURL replaces what may be an id or a secret (workerd: api/trace.c++,
// redactUrl): a run of 32 hexadecimal digits or more, dashes not counted, and a run
// of 21 characters or more of base64 with two capitals, two small letters and two
// digits at least. Safe for concurrent use.
func RedactURL(url string) string {
	var b strings.Builder
	inRun := func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '+'
	}
	for len(url) > 0 {
		n := slices.IndexFunc([]byte(url), func(c byte) bool { return !inRun(c) })
		if n < 0 {
			n = len(url)
		}
		if run := url[:n]; secretRun(run) {
			b.WriteString("REDACTED")
		} else {
			b.WriteString(run)
		}
		url = url[n:]
		if url != "" {
			b.WriteByte(url[0])
			url = url[1:]
		}
	}
	return b.String()
}

// SecretHeader reports whether the value of a header, by its name in small letters, is
// not shown to tail workers (workerd: api/trace.c++, FetchEventInfo::Request). Safe for
// concurrent use.
func SecretHeader(name string) bool {
	return name == "cookie" || name == "set-cookie" ||
		slices.ContainsFunc([]string{"auth", "jwt", "key", "secret", "token"}, func(part string) bool { return strings.Contains(name, part) })
}

func secretRun(run string) bool {
	upper, lower, digits, hex, others := 0, 0, 0, 0, 0
	for _, c := range run {
		switch {
		case c >= '0' && c <= '9':
			digits++
			hex++
		case c >= 'a' && c <= 'z':
			lower++
		case c >= 'A' && c <= 'Z':
			upper++
		}
		switch {
		case c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
			hex++
		case c >= 'g' && c <= 'z', c >= 'G' && c <= 'Z':
			others++
		}
	}
	return others == 0 && hex >= 32 || len(run) >= 21 && upper >= 2 && lower >= 2 && digits >= 2
}
