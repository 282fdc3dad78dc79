package debugport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/devregistry/capnp"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/streams"
)

// worker is an entrypoint made of functions.
type worker struct {
	fetch func(req *event.Request, done func(*event.Response, error)) (cancel func(error))
	call  func(c *event.Call, done func(*event.Payload, error))

	mu   sync.Mutex
	refs int
	gone chan bool
}

func (w *worker) Dup() event.Capability {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refs++
	return w
}

func (w *worker) Release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refs--; w.refs == 0 && w.gone != nil {
		w.gone <- true
	}
}

func (w *worker) Call(c *event.Call, done func(*event.Payload, error)) { w.call(c, done) }

// asTarget is a worker that answers requests, too.
type asTarget struct{ *worker }

func (w asTarget) Fetch(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	return w.fetch(req, done)
}

// local is the workers of the far end; it notes what is asked for.
type local struct {
	asked string
	w     *worker
}

func (l *local) Entrypoint(service, entrypoint string, props *event.Payload) (cfapi.Target, error) {
	if service != "known" {
		return nil, fmt.Errorf("no service %q", service)
	}
	l.asked = entrypoint
	if props != nil {
		l.asked += " " + string(props.Bytes)
	}
	return asTarget{l.w}, nil
}

func (l *local) Object(service, class, id, name string) (cfapi.Target, error) {
	l.asked = strings.Join([]string{service, class, id, name}, " ")
	return asTarget{l.w}, nil
}

// ends is the two ends of a connection to a debug port.
func ends(t *testing.T, l Local) (*Client, *capnp.Conn) {
	threads := sched.NewThreads(clock.Real{})
	near, far := net.Pipe()
	server := Serve(far, threads, l, nil)
	client := NewClient(near, threads, nil)
	t.Cleanup(func() {
		if !t.Failed() && client.Err() == nil && server.Err() == nil {
			client.port.Release()
			nothingLeft(t, client, server)
		}
		client.Close()
		server.Close()
		if err := threads.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return client, server
}

// nothingLeft waits until neither side holds anything.
func nothingLeft(t *testing.T, client *Client, server *capnp.Conn) {
	for range 1000 {
		if client.conn.Open() == 0 && server.Open() == 0 {
			return
		}
		done, port := make(chan bool), client.conn.Bootstrap()
		port.Call(capnp.Method{}, nil, func(capnp.Struct, *capnp.Results, error) { close(done) }).Release()
		port.Release()
		<-done
	}
	t.Errorf("%d and %d things are left", client.conn.Open(), server.Open())
}

func none(error) {}

type response struct {
	*event.Response
	err error
}

func fetch(t cfapi.Target, req *event.Request) (chan response, func(error)) {
	got := make(chan response, 1)
	return got, t.Fetch(req, func(resp *event.Response, err error) { got <- response{resp, err} })
}

func whole(t *testing.T, b event.Body) string {
	t.Helper()
	type read struct {
		text []byte
		err  error
	}
	done := make(chan read, 1)
	event.ReadAll(b, 0, func(text []byte, err error) { done <- read{text, err} })
	r := <-done
	if r.err != nil {
		t.Error(r.err)
	}
	return string(r.text)
}

// A request travels whole, and so does its response; who is asked gets the entrypoint,
// the props, the object.
func TestFetch(t *testing.T) {
	l := &local{w: &worker{}}
	l.w.fetch = func(req *event.Request, done func(*event.Response, error)) func(error) {
		event.ReadAll(req.Body, 0, func(text []byte, err error) {
			if err != nil {
				done(nil, err)
				return
			}
			head := fmt.Sprint(req.Method, " ", req.URL, " ", req.Header, " ", string(req.CF), " ", len(text), " ", req.Body == nil)
			p := event.NewPipe(-1)
			done(&event.Response{Status: 299, StatusText: "Odd", Header: event.Header{{Name: "X-A", Value: "1"}, {Name: "x-a", Value: "2"}}, Body: p}, nil)
			p.Write([]byte(head), func(error) { p.Close(nil) })
		})
		return none
	}
	client, _ := ends(t, l)
	for _, body := range []event.Body{nil, event.Bytes([]byte(strings.Repeat("x", 3<<20)))} {
		length := int64(0)
		if body != nil {
			length = body.Length()
		}
		got, _ := fetch(client.Entrypoint("known", "Api", []byte("props")), &event.Request{Method: "PUT", URL: "http://w/p?q", Header: event.Header{{Name: "B", Value: "c"}}, CF: []byte(`{"a":1}`), Body: body})
		r := <-got
		if r.err != nil {
			t.Fatal(r.err)
		}
		if want := fmt.Sprintf(`PUT http://w/p?q [{B c}] {"a":1} %d %v`, length, body == nil); whole(t, r.Body) != want || l.asked != "Api props" {
			t.Errorf("not %s; %s", want, l.asked)
		}
		if r.Status != 299 || r.StatusText != "Odd" || fmt.Sprint(r.Header) != "[{X-A 1} {x-a 2}]" {
			t.Errorf("%+v", r.Response)
		}
	}
	got, _ := fetch(client.Object("s", "C", "id", "n"), &event.Request{Method: "HEAD", URL: "http://w/"})
	if r := <-got; r.err != nil || r.Body != nil || l.asked != "s C id n" {
		t.Errorf("%+v, %q", r, l.asked)
	}
	got, _ = fetch(client.Entrypoint("other", "", nil), &event.Request{Method: "GET", URL: "http://w/"})
	if r := <-got; r.err == nil || r.err.Error() != `no service "other"` {
		t.Error(r.err)
	}
}

// A worker that throws, a body that breaks, a caller that leaves: each side is told.
func TestBroken(t *testing.T) {
	l := &local{w: &worker{}}
	client, _ := ends(t, l)
	at := client.Entrypoint("known", "", nil)
	l.w.fetch = func(_ *event.Request, done func(*event.Response, error)) func(error) {
		done(nil, &event.Error{Name: "RangeError", Message: "no", Remote: true, Overloaded: true, Thrown: &event.Payload{Bytes: []byte("\xff\x0fo{\x00")}})
		return none
	}
	got, _ := fetch(at, &event.Request{Method: "GET", URL: "http://w/"})
	var e *event.Error
	if r := <-got; !errors.As(r.err, &e) || e.Name != "RangeError" || e.Message != "no" || !e.Remote || !e.Overloaded || e.Retryable || e.Thrown == nil || string(e.Thrown.Bytes) != "\xff\x0fo{\x00" {
		t.Errorf("%+v", r.err)
	}
	p := event.NewPipe(-1)
	l.w.fetch = func(_ *event.Request, done func(*event.Response, error)) func(error) {
		done(&event.Response{Status: 200, Body: p}, nil)
		return none
	}
	got, _ = fetch(at, &event.Request{Method: "GET", URL: "http://w/"})
	r := <-got
	failed := make(chan error, 1)
	r.Body.Read(func(_ []byte, err error) { failed <- err })
	p.Close(errors.New("halfway"))
	if err := <-failed; err == nil || err == io.EOF {
		t.Error(err)
	}
	left := make(chan error, 1)
	here := make(chan bool, 1)
	l.w.fetch = func(_ *event.Request, done func(*event.Response, error)) func(error) {
		here <- true
		return func(err error) { left <- err; done(nil, err) }
	}
	got, cancel := fetch(at, &event.Request{Method: "GET", URL: "http://w/"})
	<-here
	why := errors.New("gone")
	cancel(why)
	if r := <-got; r.err != why || <-left == nil {
		t.Error(r.err)
	}
	got, _ = fetch(at, &event.Request{Method: "GET", URL: "http://w/"})
	<-here
	client.Close()
	if r := <-got; r.err == nil {
		t.Error("no error of a connection that has ended")
	}
	<-left
}

// A WebSocket carries messages and its end both ways; who loses the connection is told.
func TestSocket(t *testing.T) {
	l := &local{w: &worker{}}
	far := make(chan *event.Socket, 2)
	l.w.fetch = func(req *event.Request, done func(*event.Response, error)) func(error) {
		a, b := event.NewSocketPair()
		if !req.Upgrade {
			t.Error("it is no upgrade")
		}
		far <- b
		done(&event.Response{Status: 101, Header: event.Header{{Name: "Sec-WebSocket-Protocol", Value: "p"}}, Socket: a}, nil)
		return none
	}
	client, server := ends(t, l)
	for _, loses := range []bool{false, true} {
		got, _ := fetch(client.Entrypoint("known", "", nil), &event.Request{Method: "GET", URL: "http://w/", Upgrade: true})
		r, theirs := <-got, <-far
		if r.err != nil || r.Status != 101 || r.Header.Get("sec-websocket-protocol") != "p" {
			t.Fatalf("%+v", r)
		}
		near, there := make(chan string, 10), make(chan string, 10)
		r.Socket.Bind(heard(near))
		theirs.Bind(heard(there))
		for _, m := range []event.Message{{Data: []byte("text")}, {Binary: true, Data: []byte{1, 2}}} {
			if err := errors.Join(r.Socket.Send(m), theirs.Send(m)); err != nil {
				t.Fatal(err)
			}
		}
		for _, want := range []string{"false text", "true \x01\x02"} {
			if a, b := <-near, <-there; a != want || b != want {
				t.Errorf("%q, %q, not %q", a, b, want)
			}
		}
		if loses {
			server.Close()
			if a, b := <-near, <-there; !strings.HasPrefix(a, "closed 1006") || !strings.HasPrefix(b, "closed 1006") {
				t.Errorf("%q, %q", a, b)
			}
			return
		}
		if err := r.Socket.Close(4000, "enough"); err != nil {
			t.Fatal(err)
		}
		if b := <-there; b != "closed 4000 enough true" {
			t.Error(b)
		}
		if err := theirs.Close(4001, "too"); err != nil {
			t.Fatal(err)
		}
		if a := <-near; a != "closed 4001 too true" {
			t.Error(a)
		}
	}
}

// heard writes down what arrives at a socket.
type heard chan string

func (h heard) OnMessage(m event.Message) { h <- fmt.Sprint(m.Binary, " ", string(m.Data)) }
func (h heard) OnClose(code int, reason string, clean bool) {
	h <- fmt.Sprint("closed ", code, " ", reason, " ", clean)
}
func (h heard) OnError(error) {}

type result struct {
	*event.Payload
	err error
}

func call(c event.Capability, in *event.Call) chan result {
	got := make(chan result, 1)
	c.Call(in, func(p *event.Payload, err error) { got <- result{p, err} })
	return got
}

// Calls carry stubs and streams both ways; a stub that comes home works, one that was kept
// does after the call, and the last one to give it up ends it.
func TestCall(t *testing.T) {
	l := &local{w: &worker{}}
	var kept event.Capability
	l.w.call = func(c *event.Call, done func(*event.Payload, error)) {
		switch path := strings.Join(c.Path, "."); path {
		case "echo":
			caps := append([]any(nil), c.Args.Caps...)
			for i, held := range caps {
				if held, ok := held.(event.Capability); ok {
					caps[i] = held.Dup()
				}
			}
			done(&event.Payload{Bytes: c.Args.Bytes, Caps: caps}, nil)
		case "keep":
			kept = c.Args.Caps[0].(event.Capability).Dup()
			done(&event.Payload{Bytes: []byte("kept")}, nil)
		case "fill": // a WritableStream of the caller's
			pipe := c.Args.Caps[0].(*event.Pipe)
			pipe.Write([]byte("written"), func(error) { pipe.Close(nil) })
			done(&event.Payload{}, nil)
		default:
			done(&event.Payload{Bytes: fmt.Append(nil, path, " ", c.Get, " ", c.Args == nil)}, nil)
		}
	}
	client, _ := ends(t, l)
	at := client.Entrypoint("known", "", nil)
	if r := <-call(at, &event.Call{Path: []string{"a", "b"}, Get: true}); r.err != nil || string(r.Bytes) != "a.b true true" {
		t.Errorf("%+v", r)
	}
	mine := &worker{refs: 1, gone: make(chan bool, 1), call: func(c *event.Call, done func(*event.Payload, error)) {
		done(&event.Payload{Bytes: []byte("mine " + c.Path[0])}, nil)
	}}
	stream := event.NewPipe(-1)
	args := &event.Payload{Bytes: []byte("value"), Caps: []any{mine, pushed{stream}}}
	r := <-call(at, &event.Call{Path: []string{"echo"}, Args: args})
	if r.err != nil || string(r.Bytes) != "value" || len(r.Caps) != 2 {
		t.Fatalf("%+v", r)
	}
	back := r.Caps[0].(event.Capability)
	if r := <-call(back, &event.Call{Path: []string{"again"}}); r.err != nil || string(r.Bytes) != "mine again" {
		t.Errorf("%+v", r)
	}
	back.Release()
	stream.Write([]byte("flows"), func(error) { stream.Close(nil) })
	if text := whole(t, r.Caps[1].(event.Body)); text != "flows" {
		t.Error(text)
	}

	if r := <-call(at, &event.Call{Path: []string{"keep"}, Args: &event.Payload{Caps: []any{mine}}}); r.err != nil {
		t.Fatal(r.err)
	}
	mine.Release() // the caller's own
	if r := <-call(kept, &event.Call{Path: []string{"later"}}); r.err != nil || string(r.Bytes) != "mine later" {
		t.Errorf("%+v", r)
	}
	select {
	case <-mine.gone:
		t.Error("it was ended while it was kept")
	default:
	}
	kept.Release()
	<-mine.gone

	broken := event.NewPipe(-1)
	r = <-call(at, &event.Call{Path: []string{"echo"}, Args: &event.Payload{Caps: []any{pushed{broken}}}})
	if r.err != nil {
		t.Fatal(r.err)
	}
	broken.Close(errors.New("halfway"))
	failed := make(chan error, 1)
	r.Caps[0].(event.Body).Read(func(_ []byte, err error) { failed <- err })
	if err := <-failed; err != streams.ErrPrematurely {
		t.Error(err)
	}

	into := event.NewPipe(-1)
	if r := <-call(at, &event.Call{Path: []string{"fill"}, Args: &event.Payload{Caps: []any{into}}}); r.err != nil {
		t.Fatal(r.err)
	}
	if text := whole(t, into); text != "written" {
		t.Error(text)
	}
	for _, c := range []any{&event.Abort{}, &event.Socket{}, asTarget{l.w}} {
		var e *event.Error
		if r := <-call(at, &event.Call{Path: []string{"echo"}, Args: &event.Payload{Caps: []any{c}}}); !errors.As(r.err, &e) || e.Name != "DataCloneError" {
			t.Errorf("%T: %v", c, r.err)
		}
	}
}

// streamClient calls the methods of a ByteStream and waits for them.
func streamClient(t *testing.T, to *capnp.Ref, m capnp.Method, chunk string) {
	t.Helper()
	done := make(chan error, 1)
	to.Call(m, func(p capnp.Payload) {
		if m == write {
			p.Content(0, 1).PutData(0, []byte(chunk))
		}
	}, func(_ capnp.Struct, _ *capnp.Results, err error) { done <- err }).Release()
	if err := <-done; err != nil {
		t.Errorf("%v %q: %v", m, chunk, err)
	}
}

// A part of a stream ends without the stream; what is past its limit goes where its
// callback says.
func TestSubstream(t *testing.T) {
	whole, next := newSink(-1, errors.New("lost")), newSink(-1, errors.New("lost"))
	threads := sched.NewThreads(clock.Real{})
	x, y := net.Pipe()
	far := capnp.New(x, capnp.Options{Scheduler: threads, Bootstrap: whole, Lost: lost})
	near := capnp.New(y, capnp.Options{Scheduler: threads, Lost: lost})
	defer func() {
		near.Close()
		far.Close()
		if err := threads.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	told := make(chan uint64, 1)
	callback := &notified{told, next}
	stream := near.Bootstrap()
	part := func(limit uint64) *capnp.Ref {
		p := stream.Call(getSubstream, func(p capnp.Payload) {
			o := p.Content(1, 1)
			o.PutServer(0, callback)
			o.PutUint64(0, ^limit)
		}, ignore)
		defer p.Release()
		return p.Field(0)
	}
	var got, past []byte
	var reading sync.WaitGroup
	for _, r := range []struct {
		from *sink
		into *[]byte
	}{{whole, &got}, {next, &past}} {
		reading.Add(1)
		event.ReadAll(r.from.pipe, 0, func(text []byte, err error) {
			*r.into = text
			if err != nil {
				t.Error(err)
			}
			reading.Done()
		})
	}
	first := part(1 << 63)
	streamClient(t, first, write, "abc")
	streamClient(t, first, end, "")
	first.Release()
	if n := <-told; n != 3 {
		t.Errorf("it ended after %d bytes", n)
	}
	second := part(5)
	streamClient(t, second, write, "def")
	streamClient(t, second, write, "ghij")
	streamClient(t, second, write, "kl")
	streamClient(t, second, end, "")
	second.Release()
	streamClient(t, stream, write, "!")
	streamClient(t, stream, end, "")
	stream.Release()
	reading.Wait()
	if string(got) != "abcdefgh!" || string(past) != "ijkl" {
		t.Errorf("%q, %q", got, past)
	}
}

// notified is a SubstreamCallback.
type notified struct {
	ended chan uint64
	next  *sink
}

func (s *notified) Call(c *capnp.Call) {
	if c.Method == ended {
		s.ended <- c.Params.Uint64(0)
		c.Return(func(p capnp.Payload) { p.Content(0, 0) })
		return
	}
	returnObject(c, s.next)
}

func (s *notified) Close() {}

// Props travel as a clone, or as JSON; those with more in them are refused by name.
func TestProps(t *testing.T) {
	for _, x := range []struct {
		fill func(o capnp.Object)
		want string
	}{
		{func(o capnp.Object) {}, "Api"},
		{func(o capnp.Object) {
			o.PutUint16(0, propsJSON)
			o.PutText(0, `{"a":1}`)
		}, "Api \xff\x0fo\"\x01aI\x02{\x01"},
		{func(o capnp.Object) {
			o.PutUint16(0, propsSerialized)
			o.PutData(0, []byte("clone"))
		}, "Api clone"},
		{func(o capnp.Object) { o.PutUint32(4, 1) }, "props that are put together, or have bindings in them, do not reach minido"},
		{func(o capnp.Object) { o.PutUint16(0, 4) }, "minido does not know props of the kind 4"},
	} {
		l := &local{w: &worker{}}
		client, _ := ends(t, l)
		done := make(chan error, 1)
		client.port.Call(getEntrypoint, func(p capnp.Payload) {
			o := p.Content(0, 3)
			o.PutText(0, "known")
			o.PutText(1, "Api")
			x.fill(o.Struct(2, 2, 4))
		}, func(_ capnp.Struct, _ *capnp.Results, err error) { done <- err }).Release()
		err := <-done
		got := l.asked
		if err != nil {
			got = err.Error()
		}
		if got != x.want {
			t.Errorf("%q, not %q", got, x.want)
		}
	}
}

// Errors cross by their class and text; what was thrown crosses with them if it is an
// object.
func TestErrors(t *testing.T) {
	for _, x := range []struct {
		in   event.Error
		text string
		out  string
	}{
		{event.Error{Message: "m"}, "remote.jsg.Error: m", "Error m"},
		{event.Error{Name: "TypeError", Message: "a: b; c"}, "remote.jsg.TypeError: a: b; c", "TypeError a: b; c"},
		{event.Error{Name: "Own", Message: "m"}, "remote.jsg.Error: Own: m", "Error Own: m"},
		{event.Error{Name: "AbortError", Message: "m", Thrown: &event.Payload{Bytes: []byte("\xff\x0f\\\x08...")}}, "remote.jsg.DOMException(AbortError): m", "AbortError m thrown"},
		{event.Error{Name: "Error", Message: "m", Told: &event.Told{Name: "RangeError", Message: "told"}}, "remote.jsg.RangeError: told", "RangeError told"},
		{event.Error{Name: "Error", Message: "7", Thrown: &event.Payload{Bytes: []byte("\xff\x0fI\x0e")}}, "remote.jsg.Error: 7", "Error 7"},
		{event.Error{Message: "m", ObjectReset: true}, "remote.broken.exceptionThrown; jsg.Error: m", "Error m reset"},
	} {
		e := x.in
		e.Remote = true
		sent := toException(&e).(*capnp.Exception)
		got := fromException(sent).(*event.Error)
		out := got.Name + " " + got.Message
		if got.Thrown != nil {
			out += " thrown"
		}
		if got.ObjectReset {
			out += " reset"
		}
		if sent.Reason != x.text || out != x.out || !got.Remote {
			t.Errorf("%q, %q, not %q, %q", sent.Reason, out, x.text, x.out)
		}
	}
	if got := fromException(&capnp.Exception{Type: capnp.Disconnected, Reason: "no prefix: here"}).(*event.Error); got.Message != "no prefix: here" || !got.Retryable || got.Remote {
		t.Errorf("%+v", got)
	}
}

// cutter answers as workerd does when a response's body breaks: it ends the body as if it
// were whole, and fails the request.
type cutter struct{ fails bool }

func (s *cutter) Call(c *capnp.Call) {
	if c.Method != request {
		returnObject(c, s)
		return
	}
	back := c.Ref(c.Params, 1)
	p := back.Call(startResponse, func(p capnp.Payload) { p.Content(0, 1).Struct(0, 2, 2).PutUint16(0, 200) }, ignore)
	body := p.Field(0)
	p.Release()
	body.Call(write, func(p capnp.Payload) { p.Content(0, 1).PutData(0, []byte("half")) }, ignore).Release()
	body.Call(end, nil, func(capnp.Struct, *capnp.Results, error) {
		if s.fails {
			c.Fail(&capnp.Exception{Reason: "remote.jsg.Error: cut"})
		} else {
			c.Return(func(p capnp.Payload) { p.Content(0, 1) })
		}
	}).Release()
	body.Release()
	back.Release()
}

func (s *cutter) Close() {}

// The end of a response's body counts only when the request has succeeded.
func TestCut(t *testing.T) {
	for _, fails := range []bool{true, false} {
		threads := sched.NewThreads(clock.Real{})
		near, far := net.Pipe()
		server := capnp.New(far, capnp.Options{Scheduler: threads, Bootstrap: &cutter{fails}, Lost: lost})
		client := NewClient(near, threads, nil)
		got, _ := fetch(client.Entrypoint("s", "", nil), &event.Request{Method: "GET", URL: "http://w/"})
		r := <-got
		if r.err != nil {
			t.Fatal(r.err)
		}
		ended := make(chan error, 1)
		event.ReadAll(r.Body, 0, func(_ []byte, err error) { ended <- err })
		if err := <-ended; fails && (err == nil || err.Error() != "cut") || !fails && err != nil {
			t.Errorf("%v: %v", fails, err)
		}
		client.Close()
		server.Close()
		if err := threads.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// A session that was killed is lost in the reference's words, whether its end of the connection
// was closed or, since it had not read everything, reset.
func TestKilledPeer(t *testing.T) {
	for name, linger := range map[string]int{"closed": -1, "reset": 0} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			near, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			far, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			client := NewClient(near, sched.NewThreads(clock.Real{}), nil)
			got, _ := fetch(client.Entrypoint("known", "", nil), &event.Request{Method: "GET", URL: "http://x/"})
			if _, err := far.Read(make([]byte, 1)); err != nil { // the request is on its way
				t.Fatal(err)
			}
			if linger < 0 {
				if err := far.(*net.TCPConn).CloseWrite(); err != nil {
					t.Fatal(err)
				}
				defer far.Close()
			} else if err := errors.Join(far.(*net.TCPConn).SetLinger(linger), far.Close()); err != nil {
				t.Fatal(err)
			}
			if r := <-got; r.err == nil || r.err.Error() != "Network connection lost." {
				t.Errorf("%v", r.err)
			}
		})
	}
}
