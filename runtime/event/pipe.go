package event

import (
	"errors"
	"io"
	"sync"
)

// ErrCanceled is the error a writer gets once the reader has cancelled without
// giving a reason.
var ErrCanceled = errors.New("body canceled by its reader")

// Pipe is a Body fed by a writer elsewhere: a stream of JavaScript whose bytes
// leave the isolate, or a socket whose bytes come in. It holds at most one
// chunk; the writer is notified when the chunk has been taken. Safe for concurrent use.
type Pipe struct {
	length int64

	mu       sync.Mutex // guards everything below
	chunk    []byte
	taken    func(error) // the writer's callback for chunk
	reader   func([]byte, error)
	closed   bool
	err      error // what the reader gets after the last chunk; io.EOF for a clean end
	canceled error
	onCancel func(error)
}

// NewPipe returns an open pipe that will carry length bytes (-1: unknown).
func NewPipe(length int64) *Pipe { return &Pipe{length: length} }

// OnCancel sets what to call, once, when the reader cancels. If it already
// has, f is called before OnCancel returns.
func (p *Pipe) OnCancel(f func(error)) {
	p.mu.Lock()
	if p.canceled == nil {
		p.onCancel = f
		p.mu.Unlock()
		return
	}
	err := p.canceled
	p.mu.Unlock()
	f(err)
}

// Write hands a chunk over and calls taken once the reader has it, or with the
// error for which it never will. One Write may be outstanding at a time. The
// pipe keeps chunk. An empty chunk is taken at once.
func (p *Pipe) Write(chunk []byte, taken func(error)) {
	p.mu.Lock()
	switch {
	case p.canceled != nil:
		err := p.canceled
		p.mu.Unlock()
		taken(err)
	case p.closed:
		p.mu.Unlock()
		taken(errors.New("write to a closed body"))
	case len(chunk) == 0:
		p.mu.Unlock()
		taken(nil)
	case p.reader != nil:
		cb := p.reader
		p.reader = nil
		p.mu.Unlock()
		cb(chunk, nil)
		taken(nil)
	default:
		p.chunk, p.taken = chunk, taken
		p.mu.Unlock()
	}
}

// Close ends the stream, with err == nil cleanly. What was written before is
// still delivered.
func (p *Pipe) Close(err error) {
	if err == nil {
		err = io.EOF
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.closed, p.err = true, err
	cb := p.reader
	p.reader = nil
	p.mu.Unlock()
	if cb != nil {
		cb(nil, err)
	}
}

// Read implements Body.
func (p *Pipe) Read(cb func([]byte, error)) {
	p.mu.Lock()
	switch {
	case p.chunk != nil:
		chunk, taken := p.chunk, p.taken
		p.chunk, p.taken = nil, nil
		p.mu.Unlock()
		cb(chunk, nil)
		taken(nil)
	case p.canceled != nil:
		err := p.canceled
		p.mu.Unlock()
		cb(nil, err)
	case p.closed:
		err := p.err
		p.mu.Unlock()
		cb(nil, err)
	default:
		p.reader = cb
		p.mu.Unlock()
	}
}

// Cancel implements Body.
func (p *Pipe) Cancel(reason error) {
	if reason == nil {
		reason = ErrCanceled
	}
	p.mu.Lock()
	if p.canceled != nil || p.closed && p.chunk == nil {
		p.mu.Unlock()
		return
	}
	p.canceled = reason
	taken, reader, on := p.taken, p.reader, p.onCancel
	p.chunk, p.taken, p.reader, p.onCancel = nil, nil, nil, nil
	p.mu.Unlock()
	if taken != nil {
		taken(reason)
	}
	if reader != nil {
		reader(nil, reason)
	}
	if on != nil {
		on(reason)
	}
}

// Length implements Body.
func (p *Pipe) Length() int64 { return p.length }
