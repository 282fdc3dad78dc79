package world

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/event"
)

// playback does what a recorded server did, for an outside that runs as it did
// then. It belongs to the simulation's goroutine.
type playback struct {
	world *World
	rec   *Recording
	at    int // the next line
	way   *dialer

	loops     []sched.Loop
	timers    map[int]clock.Timer
	callbacks []func(value any)
	sources   []event.Body
	wires     []*playedWire
	aborts    map[int]func(error)
}

// ErrAstray says that an outside did something else than it had in the recording:
// then the run says nothing. The world is dead.
var ErrAstray = errors.New("the outside of the server did something else than in the recording")

// Astray is an ErrAstray once a recording could not be gone on with.
func (w *World) Astray() error { return w.astray }

// stray ends a world whose outside leaves the recording.
func (p *playback) stray(format string, args ...any) {
	w := p.world
	w.astray = fmt.Errorf("%w: at line %d of %d, %s", ErrAstray, p.at, len(p.rec.ops), fmt.Sprintf(format, args...))
	w.dead = true
	panic(killed{w})
}

func (p *playback) next() op {
	if p.at == len(p.rec.ops) {
		p.stray("it goes on after the end")
	}
	p.at++
	return p.rec.ops[p.at-1]
}

// enter is what came of an event that entered the server.
func (p *playback) enter(kind opKind, n int, text string) error {
	if p.world.dead {
		return nil // nobody is there
	}
	at := p.world.Now().Sub(Epoch)
	if o := p.next(); o.kind != kind || o.n != n || o.text != text || o.d != at {
		p.stray("%d/%d (%.100q) enters at %v, not %d/%d (%.100q) at %v", kind, n, text, at, o.kind, o.n, o.text, o.d)
	}
	for {
		o := p.next()
		if o.kind == leave {
			err, _ := o.value.(error)
			return err
		}
		p.do(o)
	}
}

// told compares what the server was told of what it did.
func (p *playback) told(ok bool) {
	if o := p.next(); o.kind != told || o.n != asNumber(ok) {
		p.stray("what the server did has another result: %v", ok)
	}
}

// task is a function that the server had queued.
func (p *playback) task(n int) func() { return func() { _ = p.enter(enterTask, n, "") } } // returns none

// do is one thing that the server did.
func (p *playback) do(o op) {
	w := p.world
	switch o.kind {
	case doLoop:
		p.loops = append(p.loops, w.scope.NewLoop(o.text))
	case doPost:
		p.told(p.loops[o.n].Post(p.task(o.m)) == nil)
	case doCloseLoop:
		p.loops[o.n].Close()
	case doDrain:
		p.loops[o.n].Drain()
	case doGo:
		w.scope.Go(o.text, p.task(o.n))
	case doTimer:
		p.timers[o.n] = w.scope.Clock().AfterFunc(o.d, p.task(o.n))
	case doStop:
		p.told(p.timers[o.n].Stop())
	case doPoint:
		at := o.value.(killpoint.Point)
		w.points.Repeat(at)
	case doNote:
		w.Note("%s", o.text)
	case doDial:
		p.dial(o)
	case doAbort:
		reason, _ := o.value.(error)
		p.aborts[o.n](reason)
	case doRead:
		p.sources[o.n].Read(func(chunk []byte, err error) { _ = p.enter(enterTaken, o.m, taken(chunk, err)) }) // returns none
	case doCancelSource:
		reason, _ := o.value.(error)
		p.sources[o.n].Cancel(reason)
	case doCall:
		p.callbacks[o.n](o.value)
	case doMessage:
		m := o.value.(event.Message)
		m.Data = append([]byte(nil), m.Data...)
		p.wires[o.n].to.OnMessage(m)
	case doHangUp:
		h := o.value.(hangUp)
		p.wires[o.n].to.OnClose(h.code, h.reason, h.clean)
	case doFail:
		err, _ := o.value.(error)
		p.wires[o.n].to.OnError(err)
	case doDrive:
		if err := w.Until(func() bool { return p.at < len(p.rec.ops) && p.rec.ops[p.at].kind == driven }); err != nil {
			if !w.dead {
				p.stray("%v", err)
			}
			panic(killed{w})
		}
		p.at++
	default:
		p.stray("a line of kind %d is none that a server does", o.kind)
	}
}

// callback keeps a callback of the outside's.
func (p *playback) callback(fn func(any)) { p.callbacks = append(p.callbacks, fn) }

// body is a body of the server's.
func (p *playback) body(c content) event.Body {
	switch c.kind {
	case someBytes:
		return event.Bytes(append([]byte(nil), c.bytes...))
	case stream:
		return &playedBody{p, c.n, c.length}
	}
	return nil
}

func (p *playback) dial(o op) {
	q := o.value.(question)
	req := q.request
	req.Header, req.Body = slices.Clone(req.Header), p.body(q.content)
	p.aborts[o.n] = p.way.Do(&req, func(resp *event.Response, err error) {
		if resp != nil && isStream(resp.Body) {
			p.sources = append(p.sources, resp.Body)
		}
		_ = p.enter(enterAnswer, o.n, answered(resp, err)) // returns none
	})
}

// Fetch implements door.
func (p *playback) Fetch(req *event.Request, done func(*event.Response, *clientEnd, error)) {
	if isStream(req.Body) {
		p.sources = append(p.sources, req.Body)
	}
	p.callback(func(value any) {
		a := value.(answer)
		if a.response == nil {
			done(nil, nil, a.err)
			return
		}
		resp := *a.response
		resp.Header, resp.Body = slices.Clone(resp.Header), p.body(a.content)
		if a.socket < 0 {
			done(&resp, nil, a.err)
			return
		}
		socket := &playedWire{p: p, n: a.socket}
		p.wires = append(p.wires, socket)
		done(&resp, &clientEnd{socket, a.object}, a.err)
	})
	_ = p.enter(enterFetch, 0, asked(req)) // returns none
}

// Pending implements door.
func (p *playback) Pending(horizon time.Duration, fn func(why string)) {
	p.callback(func(value any) { fn(value.(string)) })
	_ = p.enter(enterPending, 0, horizon.String()) // returns none
}

// playedBody is a body of the server's.
type playedBody struct {
	p      *playback
	n      int
	length int64
}

// Read implements event.Body.
func (b *playedBody) Read(cb func([]byte, error)) {
	b.p.callback(func(value any) { value.(piece).call(cb) })
	_ = b.p.enter(enterRead, b.n, "") // returns none
}

// Cancel implements event.Body.
func (b *playedBody) Cancel(reason error) {
	_ = b.p.enter(enterCancel, b.n, fmt.Sprint(reason)) // returns none
}

// Length implements event.Body.
func (b *playedBody) Length() int64 { return b.length }

// playedWire is a client's end of a socket.
type playedWire struct {
	p    *playback
	n    int
	to   event.Receiver
	sent bool
}

// Bind implements wire.
func (w *playedWire) Bind(to event.Receiver) {
	w.to = to
	_ = w.p.enter(enterBind, w.n, "") // returns none
}

// Send implements wire.
func (w *playedWire) Send(m event.Message) error { return w.p.enter(enterSend, w.n, sent(m)) }

// Close implements wire.
func (w *playedWire) Close(code int, reason string) error {
	w.sent = true // also if it was before
	return w.p.enter(enterClose, w.n, fmt.Sprint(code, reason))
}

// Drop implements wire.
func (w *playedWire) Drop(code int, reason string, err error) {
	w.sent = true
	_ = w.p.enter(enterDrop, w.n, fmt.Sprint(code, reason, err)) // returns none
}

// Sent implements wire.
func (w *playedWire) Sent() bool { return w.sent }
