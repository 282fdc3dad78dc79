package streams

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

// Drainer reads a stream of JavaScript from Go. Loop-confined.
type Drainer struct {
	r           *reader
	busy, again bool
	onChunk     func(goja.Value)
	onClose     func()
	onError     func(goja.Value)
}

// Drain locks a stream; each step asks for a chunk, of which the callbacks are
// told, perhaps before step returns. It throws if the stream is locked.
func (p *Streams) Drain(stream *goja.Object, onChunk func(goja.Value), onClose func(), onError func(goja.Value)) *Drainer {
	r := p.stream(stream).acquire(false)
	r.whole = true
	return &Drainer{r: r, onChunk: onChunk, onClose: onClose, onError: onError}
}

// Next asks for a chunk. It calls itself only when a chunk comes later.
func (d *Drainer) Next() {
	if d.busy {
		d.again = true
		return
	}
	d.busy = true
	for d.again = true; d.again; {
		d.again = false
		if d.r.stream != nil {
			d.r.read((*drainRead)(d))
		}
	}
	d.busy = false
}

// Stop cancels the stream.
func (d *Drainer) Stop(reason goja.Value) {
	if s := d.r.stream; s != nil {
		s.lost = true
	}
	d.r.cancel(reason).Handled()
}

// drainRead is a Drainer as who reads.
type drainRead Drainer

func (d *drainRead) chunk(v goja.Value)     { d.onChunk(v) }
func (d *drainRead) close(goja.Value)       { d.onClose() }
func (d *drainRead) fail(reason goja.Value) { d.onError(reason) }

// readStream collects a stream, whose chunks are bytes as bytesOf has it, and
// gives the promise of them all.
func (p *Streams) readStream(stream *goja.Object, bytesOf func(goja.Value) ([]byte, bool), convert func([]byte) goja.Value) goja.Value {
	promise, resolve, reject := p.Engine.NewPromise()
	var all pieces
	var d *Drainer
	ended := false
	fail := func(reason goja.Value) {
		ended = true
		reject(reason)
		d.Stop(reason)
	}
	d = p.Drain(stream, func(v goja.Value) {
		data, ok := bytesOf(v)
		switch {
		case ended:
		case !ok:
			fail(p.Engine.Errors.New("TypeError", TextNotBytes))
		case all.size+len(data) > MaxBufferedBytes:
			fail(p.Engine.Errors.New("TypeError", textTooLong))
		default:
			_, _ = all.Write(data) // which does not fail
			d.Next()
		}
	}, func() {
		if ended {
			return
		}
		ended = true
		var v goja.Value
		if ex := p.VM.Try(func() { v = convert(all.take(all.size)) }); ex != nil {
			reject(ex.Value())
			return
		}
		resolve(v)
	}, func(reason goja.Value) {
		if !ended {
			ended = true
			reject(reason)
		}
	})
	d.Next()
	return p.VM.ToValue(promise)
}

// lost is what a reader gets when who streamed to it ends before the body does.
func lost() error {
	return &event.Error{Name: "Error", Message: textLost}
}

// IsLost reports whether a stream has failed because its connection was lost, and not
// because its source says so.
func (p *Streams) IsLost(reason goja.Value) bool {
	obj, ok := reason.(*goja.Object)
	return ok && obj.ClassName() == "Error" && obj.Get("message").String() == textLost
}

// pump carries a stream of JavaScript out of the isolate, one chunk at a time:
// each leaves through the context's output gate, and the next is read when it
// has been taken. Loop-confined.
type pumping struct {
	p     *Streams
	c     *engine.Context
	frame *engine.Frame
	op    *engine.Op
	pipe  *event.Pipe
	d     *Drainer
	ended bool
	left  int64 // how many bytes may follow, -1 if no length was announced
	way   Way
}

// Way is what else a stream's way out of the isolate does. Both functions run in turns.
type Way struct {
	// Gone is called at most once, when nobody reads on; nil: nobody is told.
	Gone func()
	// Failed is called at most once, with what has broken the stream; its reader in another
	// context then gets it as what another worker threw (remote). nil: neither.
	Failed func(goja.Value)
}

func (p *Streams) pump(stream *goja.Object, way Way) event.Body {
	e := p.Engine
	length := p.stream(stream).fixed
	u := &pumping{p: p, c: e.IO("streaming a body"), frame: e.Frame(), pipe: event.NewPipe(length), left: length, way: way}
	u.op = e.StartOp("streaming a body").OnCancel(func(error) {
		u.ended = true
		u.pipe.Close(lost())
	})
	u.c.HoldBody()
	u.d = p.Drain(stream, u.chunk, func() { u.finish(nil) }, u.fail)
	u.pipe.OnCancel(func(reason error) {
		e.Post(u.frame, "body canceled", func() { u.abandon(reason) })
	})
	u.d.Next()
	return u.pipe
}

// ChunkBytes is what a chunk of a stream puts on the wire: a string is sent as
// UTF-8 (as in workerd, where the body mixin alone insists on bytes).
func (p *Streams) ChunkBytes(v goja.Value) ([]byte, bool) {
	if text, isText := v.(goja.String); isText {
		return []byte(text.String()), true
	}
	return p.BytesOf(v)
}

func (u *pumping) chunk(v goja.Value) {
	if u.ended {
		return
	}
	data, ok := u.p.ChunkBytes(v)
	if !ok {
		err := u.p.Engine.Errors.New("TypeError", TextNotBytes)
		u.fail(err)
		u.d.Stop(err)
		return
	}
	if u.left >= 0 {
		data = data[:min(int64(len(data)), u.left)]
		u.left -= int64(len(data))
	}
	if len(data) == 0 {
		u.d.Next()
		return
	}
	data = append([]byte(nil), data...)
	u.c.Emit(func() {
		u.pipe.Write(data, func(err error) {
			u.p.Engine.Post(u.frame, "body chunk taken", func() {
				switch {
				case u.ended:
				case err != nil:
					u.abandon(err)
				default:
					u.d.Next()
				}
			})
		})
	})
}

// abandon stops the stream because nobody reads on.
func (u *pumping) abandon(reason error) {
	if u.ended {
		return
	}
	u.ended = true
	u.d.Stop(u.p.bodyError(reason))
	if u.way.Gone != nil {
		u.way.Gone()
	}
	u.close(reason)
}

// fail breaks the body with what has broken the stream.
func (u *pumping) fail(reason goja.Value) {
	if u.ended {
		return
	}
	err := u.p.Engine.Errors.ToEvent(reason)
	if u.way.Failed != nil {
		err.Remote = true
		u.way.Failed(reason)
	}
	u.finish(err)
}

func (u *pumping) finish(err error) {
	if u.ended {
		return
	}
	u.ended = true
	if err == nil && u.left > 0 {
		err = lost()
	}
	u.close(err)
}

// close tells the reader, and lets the context go.
func (u *pumping) close(err error) {
	u.op.Drop()
	u.c.Emit(func() { u.pipe.Close(err) })
	u.c.ReleaseBody()
}
