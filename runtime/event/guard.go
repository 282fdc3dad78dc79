package event

import (
	"io"
	"sync"
)

// Guarded is a body that can be read until End. Safe for concurrent use, as a Body is.
type Guarded struct {
	body Body

	mu      sync.Mutex // guards the rest
	reason  error      // why nothing more is read; nil before End
	over    bool       // it was read to its end
	reading func([]byte, error)
}

// Guard guards a body, which belongs to the guard from then on.
func Guard(b Body) *Guarded { return &Guarded{body: b} }

// Inner is the body that is guarded.
func (g *Guarded) Inner() Body { return g.body }

// Read implements Body.
func (g *Guarded) Read(cb func([]byte, error)) {
	g.mu.Lock()
	if reason := g.reason; reason != nil {
		g.mu.Unlock()
		cb(nil, reason)
		return
	}
	g.reading = cb
	g.mu.Unlock()
	g.body.Read(func(chunk []byte, err error) {
		g.mu.Lock()
		cb := g.reading
		g.reading = nil
		g.over = g.over || err == io.EOF
		g.mu.Unlock()
		if cb != nil { // nil: End has told it
			cb(chunk, err)
		}
	})
}

// Cancel implements Body.
func (g *Guarded) Cancel(reason error) { g.body.Cancel(reason) }

// Length implements Body.
func (g *Guarded) Length() int64 { return g.body.Length() }

// End has each later read fail with reason, and one that is outstanding. A body that was
// read to its end stays so. It reports whether anything was left.
func (g *Guarded) End(reason error) (left bool) {
	g.mu.Lock()
	if g.over || g.reason != nil {
		g.mu.Unlock()
		return false
	}
	g.reason = reason
	cb := g.reading
	g.reading = nil
	g.mu.Unlock()
	if cb != nil {
		cb(nil, reason)
	}
	return true
}

// Over reports whether it was read to its end.
func (g *Guarded) Over() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.over
}

// finish notes that it was taken as a whole.
func (g *Guarded) finish() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
}

// bytes is the body of Bytes below the guard, nil if it has another or has ended.
func (g *Guarded) bytes() *bytesBody {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reason != nil {
		return nil
	}
	b, _ := bytesOf(g.body)
	return b
}

// bytesOf is the body of Bytes that b is, or guards.
func bytesOf(b Body) (*bytesBody, bool) {
	switch b := b.(type) {
	case *bytesBody:
		return b, true
	case *Guarded:
		inner := b.bytes()
		return inner, inner != nil
	}
	return nil, false
}

// Then calls fn once when b has been read to its end, has failed or was given up.
func Then(b Body, fn func()) Body { return Ended(b, func(error) { fn() }) }

// Ended is Then with what the body failed with, nil if it was read to its end or cancelled.
func Ended(b Body, fn func(failure error)) Body { return &followed{Body: b, fn: fn} }

type followed struct {
	Body
	once sync.Once
	fn   func(failure error)
}

func (f *followed) end(failure error) { f.once.Do(func() { f.fn(failure) }) }

func (f *followed) Read(cb func([]byte, error)) {
	f.Body.Read(func(chunk []byte, err error) {
		cb(chunk, err)
		switch err {
		case nil:
		case io.EOF:
			f.end(nil)
		default:
			f.end(err)
		}
	})
}

func (f *followed) Cancel(reason error) {
	f.Body.Cancel(reason)
	f.end(nil)
}
