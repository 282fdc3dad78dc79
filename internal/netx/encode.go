package netx

import (
	"bytes"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"

	"minido.dev/minido/runtime/event"
)

// Encoder compresses a body as it passes. One goroutine may use it at a time.
type Encoder struct {
	out bytes.Buffer
	w   interface {
		io.WriteCloser
		Flush() error
	}
}

// NewEncoder makes one for gzip or br.
func NewEncoder(coding string) *Encoder {
	e := &Encoder{}
	if coding == "br" {
		e.w = brotli.NewWriterLevel(&e.out, 4)
	} else {
		e.w = gzip.NewWriter(&e.out)
	}
	return e
}

// Chunk returns everything that data compresses to: nothing lingers inside.
func (e *Encoder) Chunk(data []byte) []byte {
	e.must(e.w.Write(data))
	e.must(0, e.w.Flush())
	return e.take()
}

// Finish returns the end of the stream.
func (e *Encoder) Finish() []byte {
	e.must(0, e.w.Close())
	return e.take()
}

// All compresses a whole body.
func (e *Encoder) All(data []byte) []byte {
	e.must(e.w.Write(data))
	return e.Finish()
}

func (e *Encoder) take() []byte {
	out := bytes.Clone(e.out.Bytes())
	e.out.Reset()
	return out
}

// must: a compressor that writes to memory cannot fail.
func (e *Encoder) must(_ int, err error) {
	if err != nil {
		panic("netx: compressing into memory: " + err.Error())
	}
}

// EncodedBody compresses a body as it is read, with the content coding gzip or br.
func EncodedBody(b event.Body, coding string) event.Body {
	return &encodedBody{from: b, e: NewEncoder(coding)}
}

// encodedBody is read by one consumer, one Read at a time, so that its fields need no
// lock.
type encodedBody struct {
	from  event.Body
	e     *Encoder
	ended bool
}

// Length implements event.Body.
func (b *encodedBody) Length() int64 { return -1 }

// Cancel implements event.Body.
func (b *encodedBody) Cancel(reason error) { b.from.Cancel(reason) }

// Read implements event.Body.
func (b *encodedBody) Read(cb func([]byte, error)) {
	if b.ended {
		cb(nil, io.EOF)
		return
	}
	b.from.Read(func(chunk []byte, err error) {
		switch {
		case err == io.EOF:
			b.ended = true
			cb(b.e.Finish(), nil)
		case err != nil:
			cb(nil, err)
		default:
			cb(b.e.Chunk(chunk), nil)
		}
	})
}

// DecodedBody undoes a content coding of a body as it is read; spawn runs what blocks.
// ok is false for a coding that is left as it is: all but gzip and br.
func DecodedBody(b event.Body, coding string, spawn func(name string, fn func())) (decoded event.Body, ok bool) {
	if coding != "gzip" && coding != "br" {
		return nil, false
	}
	r, _ := decode(NewBodyReader(b), coding)
	return NewReaderBody(r, -1, spawn), true
}
