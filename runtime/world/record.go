package world

import (
	"fmt"
	"slices"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/server"
)

// door is where clients reach a server: the server itself, one that is recorded,
// or a recording.
type door interface {
	// Fetch is server.Fetch; the socket of a response is given beside it.
	Fetch(req *event.Request, done func(*event.Response, *clientEnd, error))
	// Pending is server.Pending.
	Pending(horizon time.Duration, fn func(why string))
}

// wire is a client's end of a WebSocket.
type wire interface {
	Bind(r event.Receiver)
	Send(m event.Message) error
	Close(code int, reason string) error
	Drop(code int, reason string, err error)
	Sent() bool
}

// clientEnd is a client's end of a WebSocket, and the object that answered with it.
type clientEnd struct {
	wire
	object string
}

// front is the door of a server that runs.
type front struct{ *server.Server }

// Fetch implements door.
func (f front) Fetch(req *event.Request, done func(*event.Response, *clientEnd, error)) {
	f.Server.Fetch(req, func(resp *event.Response, err error) {
		if resp == nil || resp.Socket == nil {
			done(resp, nil, err)
			return
		}
		resp.Socket.Connect()
		done(resp, &clientEnd{resp.Socket, resp.Socket.Object}, err)
	})
}

// recorder stands between a server and its outside, and writes down what passes.
// It belongs to the simulation's goroutine.
type recorder struct {
	world  *World
	rec    *Recording
	inside bool // what runs at the moment is the server
	over   bool // what follows is nobody's concern
	taker  taker

	// How many of each there are.
	tasks, loops, callbacks, bodies, sources, sockets, dials, taken int
}

func (r *recorder) add(o op) {
	if r.rec.unfit == "" && !r.over {
		r.rec.ops = append(r.rec.ops, o)
		r.rec.hold(o.bytes())
	}
}

// enter runs fn, which is the server's, for the outside.
func (r *recorder) enter(o op, fn func() error) {
	if r.inside {
		_ = fn() // the server asks itself: who reads the recording would not know of it
		if !r.over {
			r.rec.spoil("the server entered itself")
		}
		return
	}
	o.d = r.world.Now().Sub(Epoch)
	r.add(o)
	r.inside = true
	err := fn()
	r.inside = false
	r.add(op{kind: leave, value: err})
}

// run is enter for what returns nothing.
func (r *recorder) run(o op, fn func()) {
	r.enter(o, func() error { fn(); return nil })
}

// act runs fn, which is the outside's, for the server.
func (r *recorder) act(o op, fn func()) {
	if !r.inside {
		if !r.over {
			r.rec.spoil("the server was entered unseen")
		}
		fn()
		return
	}
	r.add(o)
	r.inside = false
	fn()
	r.inside = true
}

// tell notes what the server was told of what it did.
func (r *recorder) tell(ok bool) {
	if r.inside {
		r.add(op{kind: told, n: asNumber(ok)})
	}
}

func asNumber(ok bool) int {
	if ok {
		return 1
	}
	return 0
}

func next(count *int) int {
	*count++
	return *count - 1
}

// files takes the state of an effect point.
func (r *recorder) files() {
	if r.over {
		return
	}
	f, fresh, err := r.taker.take(r.world.options.Dir)
	if err != nil {
		r.world.fail("read the files at an effect point", err)
		r.rec.spoil("the files could not be read")
	}
	r.rec.hold(fresh)
	if r.rec.unfit != "" {
		r.rec.states, f = nil, &saved{sum: f.sum} // the hash alone, of this point alone
	}
	r.rec.states = append(r.rec.states, f)
}

// note is World.Note for the server.
func (r *recorder) note(text string) {
	r.act(op{kind: doNote, text: text}, func() { r.world.Note("%s", text) })
}

// drive is World.Until for the server.
func (r *recorder) drive(done func() bool) (err error) {
	r.act(op{kind: doDrive}, func() {
		err = r.world.Until(func() bool {
			over := done()
			if over {
				r.add(op{kind: driven})
			}
			return over
		})
	})
	return err
}

// recordedDoor is the door of a server that is recorded.
type recordedDoor struct {
	*recorder
	server front
}

// Fetch implements door.
func (d recordedDoor) Fetch(req *event.Request, done func(*event.Response, *clientEnd, error)) {
	cb := next(&d.callbacks)
	if isStream(req.Body) {
		req.Body = d.source(req.Body)
	}
	d.run(op{kind: enterFetch, text: asked(req)}, func() {
		d.server.Fetch(req, func(resp *event.Response, socket *clientEnd, err error) {
			a := answer{socket: -1, err: err}
			if resp != nil {
				own, bare := *resp, *resp
				own.Body, a.content = d.body(resp.Body)
				resp = &own
				bare.Body, bare.Socket = nil, nil
				a.response = &bare
			}
			if socket != nil {
				a.socket, a.object = next(&d.sockets), socket.object
				socket = &clientEnd{&recordedWire{socket.wire, d.recorder, a.socket}, a.object}
			}
			d.act(op{kind: doCall, n: cb, value: a}, func() { done(resp, socket, err) })
		})
	})
}

// Pending implements door.
func (d recordedDoor) Pending(horizon time.Duration, fn func(why string)) {
	cb := next(&d.callbacks)
	d.run(op{kind: enterPending, text: horizon.String()}, func() {
		d.server.Pending(horizon, func(why string) {
			d.act(op{kind: doCall, n: cb, value: why}, func() { fn(why) })
		})
	})
}

// recordedWire is a client's end of a socket.
type recordedWire struct {
	wire
	r *recorder
	n int
}

// Bind implements wire.
func (w *recordedWire) Bind(to event.Receiver) {
	w.r.run(op{kind: enterBind, n: w.n}, func() { w.wire.Bind(&recordedReceiver{to, w.r, w.n}) })
}

// Send implements wire.
func (w *recordedWire) Send(m event.Message) (err error) {
	w.r.enter(op{kind: enterSend, n: w.n, text: sent(m)}, func() error { err = w.wire.Send(m); return err })
	return err
}

// Close implements wire.
func (w *recordedWire) Close(code int, reason string) (err error) {
	w.r.enter(op{kind: enterClose, n: w.n, text: fmt.Sprint(code, reason)}, func() error { err = w.wire.Close(code, reason); return err })
	return err
}

// Drop implements wire.
func (w *recordedWire) Drop(code int, reason string, err error) {
	w.r.run(op{kind: enterDrop, n: w.n, text: fmt.Sprint(code, reason, err)}, func() { w.wire.Drop(code, reason, err) })
}

// recordedReceiver gets what arrives for a client on a socket.
type recordedReceiver struct {
	to event.Receiver
	r  *recorder
	n  int
}

// OnMessage implements event.Receiver.
func (x *recordedReceiver) OnMessage(m event.Message) {
	kept := m
	kept.Data = slices.Clone(m.Data)
	x.r.act(op{kind: doMessage, n: x.n, value: kept}, func() { x.to.OnMessage(m) })
}

// OnClose implements event.Receiver.
func (x *recordedReceiver) OnClose(code int, reason string, clean bool) {
	x.r.act(op{kind: doHangUp, n: x.n, value: hangUp{code, reason, clean}}, func() { x.to.OnClose(code, reason, clean) })
}

// OnError implements event.Receiver.
func (x *recordedReceiver) OnError(err error) {
	x.r.act(op{kind: doFail, n: x.n, value: err}, func() { x.to.OnError(err) })
}

// asked, answered, sent and taken tell what enters a server, as far as it is there
// at once.
func asked(r *event.Request) string {
	return fmt.Sprintf("%s %q %q %q %v %q %s", r.Method, r.URL, r.Header, r.CF, r.Upgrade, r.Cause, event.Peek(r.Body))
}

func answered(r *event.Response, err error) string {
	if r == nil {
		return fmt.Sprint(err)
	}
	return fmt.Sprintf("%d %q %q %q %v %q %s %v", r.Status, r.StatusText, r.Header, r.URL, r.Redirected, r.CF, event.Peek(r.Body), err)
}

func sent(m event.Message) string { return fmt.Sprintf("%v %q %s", m.Binary, m.Cause, m.Data) }

func taken(chunk []byte, err error) string { return fmt.Sprintf("%v %s", err, chunk) }

// isStream reports whether a body is read bit by bit.
func isStream(b event.Body) bool { return b != nil && !event.IsBytes(b) }

// body is a body of the server's, as the outside reads it.
func (r *recorder) body(b event.Body) (event.Body, content) {
	switch {
	case b == nil:
		return nil, content{}
	case !isStream(b):
		all := event.Peek(b)
		return b, content{kind: someBytes, bytes: slices.Clone(all)}
	}
	n := next(&r.bodies)
	return &recordedBody{b, r, n}, content{kind: stream, n: n, length: b.Length()}
}

// recordedBody is a body of the server's.
type recordedBody struct {
	event.Body
	r *recorder
	n int
}

// Read implements event.Body.
func (b *recordedBody) Read(cb func([]byte, error)) {
	r := b.r
	c := next(&r.callbacks)
	r.run(op{kind: enterRead, n: b.n}, func() {
		b.Body.Read(func(chunk []byte, err error) {
			r.act(op{kind: doCall, n: c, value: piece{slices.Clone(chunk), err}}, func() { cb(chunk, err) })
		})
	})
}

// Cancel implements event.Body.
func (b *recordedBody) Cancel(reason error) {
	b.r.run(op{kind: enterCancel, n: b.n, text: fmt.Sprint(reason)}, func() { b.Body.Cancel(reason) })
}

// source is a body of the outside's, as the server reads it.
func (r *recorder) source(b event.Body) event.Body {
	return &recordedSource{b, r, next(&r.sources)}
}

type recordedSource struct {
	event.Body
	r *recorder
	n int
}

// Read implements event.Body.
func (s *recordedSource) Read(cb func([]byte, error)) {
	r := s.r
	t := next(&r.taken)
	r.act(op{kind: doRead, n: s.n, m: t}, func() {
		s.Body.Read(func(chunk []byte, err error) {
			r.run(op{kind: enterTaken, n: t, text: taken(chunk, err)}, func() { cb(chunk, err) })
		})
	})
}

// Cancel implements event.Body.
func (s *recordedSource) Cancel(reason error) {
	s.r.act(op{kind: doCancelSource, n: s.n, value: reason}, func() { s.Body.Cancel(reason) })
}

// recordedDialer is the server's way out.
type recordedDialer struct {
	*recorder
	way netx.Dialer
}

// Do implements netx.Dialer.
func (d recordedDialer) Do(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	n := next(&d.dials)
	own, q := *req, question{request: *req}
	own.Body, q.content = d.body(req.Body)
	q.request.Body = nil
	var stop func(error)
	d.act(op{kind: doDial, n: n, value: q}, func() {
		stop = d.way.Do(&own, func(resp *event.Response, err error) {
			if resp != nil && isStream(resp.Body) {
				own := *resp
				own.Body = d.source(resp.Body)
				resp = &own
			}
			if resp != nil && resp.Socket != nil {
				d.rec.spoil("the server holds a socket to an upstream")
			}
			d.run(op{kind: enterAnswer, n: n, text: answered(resp, err)}, func() { done(resp, err) })
		})
	})
	return func(reason error) {
		d.act(op{kind: doAbort, n: n, value: reason}, func() { stop(reason) })
	}
}

// recordedScheduler is where the server's code runs.
type recordedScheduler struct {
	*scope
	r *recorder
}

// Clock implements sched.Scheduler.
func (s recordedScheduler) Clock() clock.Clock { return recordedClock{scopedClock{s.scope}, s.r} }

// Go implements sched.Scheduler.
func (s recordedScheduler) Go(name string, fn func()) {
	n := next(&s.r.tasks)
	s.r.act(op{kind: doGo, n: n, text: name}, func() {
		s.scope.Go(name, func() { s.r.run(op{kind: enterTask, n: n}, fn) })
	})
}

// NewLoop implements sched.Scheduler.
func (s recordedScheduler) NewLoop(name string) (l sched.Loop) {
	n := next(&s.r.loops)
	s.r.act(op{kind: doLoop, text: name}, func() { l = s.scope.NewLoop(name) })
	return recordedLoop{l, s.r, n}
}

type recordedLoop struct {
	sched.Loop
	r *recorder
	n int
}

// Post implements sched.Loop.
func (l recordedLoop) Post(fn func()) (err error) {
	n := next(&l.r.tasks)
	l.r.act(op{kind: doPost, n: l.n, m: n}, func() {
		err = l.Loop.Post(func() { l.r.run(op{kind: enterTask, n: n}, fn) })
	})
	l.r.tell(err == nil)
	return err
}

// Close implements sched.Loop.
func (l recordedLoop) Close() { l.r.act(op{kind: doCloseLoop, n: l.n}, l.Loop.Close) }

// Drain implements sched.Loop.
func (l recordedLoop) Drain() { l.r.act(op{kind: doDrain, n: l.n}, l.Loop.Drain) }

type recordedClock struct {
	scopedClock
	r *recorder
}

// AfterFunc implements clock.Clock.
func (c recordedClock) AfterFunc(d time.Duration, f func()) clock.Timer {
	n := next(&c.r.tasks)
	t := &recordedTimer{r: c.r, n: n}
	c.r.act(op{kind: doTimer, n: n, d: d}, func() {
		t.timer = c.scopedClock.AfterFunc(d, func() { c.r.run(op{kind: enterTask, n: n}, f) })
	})
	return t
}

type recordedTimer struct {
	timer clock.Timer
	r     *recorder
	n     int
}

// Stop implements clock.Timer.
func (t *recordedTimer) Stop() (stopped bool) {
	t.r.act(op{kind: doStop, n: t.n}, func() { stopped = t.timer.Stop() })
	t.r.tell(stopped)
	return stopped
}
