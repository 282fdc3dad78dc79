package netx

import (
	"errors"
	"io"
	"sync"

	"minido.dev/minido/runtime/event"
)

// ChunkBytes is the most that is read ahead of demand: one chunk.
const ChunkBytes = 64 << 10

// ReaderBody makes an event.Body of a blocking reader: each Read of the body is
// one read of at most ChunkBytes, on a function started through spawn. Nothing
// is read before it is asked for. Safe for concurrent use.
type ReaderBody struct {
	spawn  func(name string, fn func())
	length int64
	r      io.ReadCloser
	// Fail rewords an error before the consumer sees it; nil leaves it. It is
	// set before the body is handed on.
	Fail func(error) error
	// Unblock ends a read in progress when the body is cancelled; nil closes
	// the reader, which for most readers does so. It is set before the body is
	// handed on.
	Unblock func()

	mu       sync.Mutex // guards everything below
	reading  bool
	ended    error // what further reads get
	canceled error
}

// NewReaderBody returns a body that reads r, which it closes at the end or when
// it is cancelled. length is the number of bytes to come, -1 if unknown.
func NewReaderBody(r io.ReadCloser, length int64, spawn func(name string, fn func())) *ReaderBody {
	return &ReaderBody{spawn: spawn, length: length, r: r}
}

// Length implements event.Body.
func (b *ReaderBody) Length() int64 { return b.length }

// Read implements event.Body.
func (b *ReaderBody) Read(cb func([]byte, error)) {
	b.mu.Lock()
	switch {
	case b.ended != nil:
		err := b.ended
		b.mu.Unlock()
		cb(nil, err)
		return
	case b.reading:
		b.mu.Unlock()
		cb(nil, errors.New("netx: a second read of a body while one is outstanding"))
		return
	}
	b.reading = true
	b.mu.Unlock()
	b.spawn("body reader", func() { cb(b.pull()) })
}

// pull reads one chunk, blocking.
func (b *ReaderBody) pull() ([]byte, error) {
	size := int64(ChunkBytes)
	if b.length >= 0 && b.length < size {
		size = b.length + 1 // the end is seen with the last byte
	}
	chunk := make([]byte, size)
	n, err := 0, error(nil)
	for n == 0 && err == nil {
		n, err = b.r.Read(chunk)
	}
	b.mu.Lock()
	b.reading = false
	if b.canceled != nil {
		err, n = b.canceled, 0
	} else if err != nil && err != io.EOF && b.Fail != nil {
		err = b.Fail(err)
	}
	if err != nil && b.ended == nil {
		b.ended = err
	}
	b.mu.Unlock()
	if err != nil {
		b.r.Close() // its error adds nothing to the end or to the failure
	}
	switch {
	case n == 0:
		return nil, err
	case n < len(chunk)/4:
		return append([]byte(nil), chunk[:n]...), nil // a small chunk holds no large buffer
	}
	return chunk[:n:n], nil
}

// Cancel implements event.Body.
func (b *ReaderBody) Cancel(reason error) {
	if reason == nil {
		reason = event.ErrCanceled
	}
	b.mu.Lock()
	if b.ended != nil {
		b.mu.Unlock()
		return
	}
	b.ended, b.canceled = reason, reason
	b.mu.Unlock()
	if b.Unblock != nil {
		b.Unblock()
		return
	}
	b.r.Close() // nobody is left to be told of a failure
}

// BodyReader makes a blocking reader of an event.Body, for code that writes to
// the network. One goroutine reads; Close may come from another.
type BodyReader struct {
	body   event.Body
	rest   []byte
	chunks chan bodyChunk
	closed chan struct{}
	once   sync.Once
	err    error
}

type bodyChunk struct {
	data []byte
	err  error
}

// NewBodyReader returns a reader of b.
func NewBodyReader(b event.Body) *BodyReader {
	return &BodyReader{body: b, chunks: make(chan bodyChunk, 1), closed: make(chan struct{})}
}

// Read implements io.Reader.
func (r *BodyReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.body.Read(func(data []byte, err error) { r.chunks <- bodyChunk{data, err} })
		select {
		case c := <-r.chunks:
			r.rest, r.err = c.data, c.err
		case <-r.closed:
			r.err = io.ErrClosedPipe
		}
		if r.err != nil {
			return 0, r.err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Close cancels the body unless it has been read to its end.
func (r *BodyReader) Close() error {
	r.once.Do(func() {
		close(r.closed)
		r.body.Cancel(event.ErrCanceled)
	})
	return nil
}
