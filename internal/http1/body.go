package http1

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// What a chunked body may have beside its data, in bytes, as in workerd's server.
const (
	chunkLineBytes = 16 << 10
	trailerBytes   = 16 << 10
)

var (
	errChunk     = errors.New("http1: the chunked body is malformed")
	errTruncated = errors.New("http1: the client ended the connection within the body")
)

// body is a request's body on its connection. Safe for concurrent use; one Read
// at a time.
type body struct {
	c       *conn
	chunked bool

	mu      sync.Mutex // guards everything below but what a Read in progress owns
	settled *sync.Cond
	reading bool
	closed  bool // further reads fail
	cut     bool // a deadline was set to end a read

	// Owned by the Read in progress, else guarded by mu.
	left     int64 // of the body, or of the chunk
	started  bool  // a chunk has been read, whose line's end comes first
	trailing int   // bytes of trailers so far; -1: not there yet
	ended    error // io.EOF or what is wrong
}

func newBody(c *conn, length int64) *body {
	b := &body{c: c, chunked: length < 0, left: max(length, 0), trailing: -1}
	b.settled = sync.NewCond(&b.mu)
	return b
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	switch {
	case b.closed:
		b.mu.Unlock()
		return 0, http.ErrBodyReadAfterClose
	case b.reading:
		b.mu.Unlock()
		return 0, errors.New("http1: a second read of a body while one is in progress")
	}
	b.reading = true
	b.mu.Unlock()
	n, err := 0, b.c.resp.goOn()
	if err == nil {
		n, err = b.take(p)
	}
	b.mu.Lock()
	b.reading = false
	over := b.ended != nil
	b.mu.Unlock()
	b.settled.Broadcast()
	if over {
		b.c.bodyOver()
	}
	return n, err
}

// take reads what is next. A deadline that has passed leaves everything as it is.
func (b *body) take(p []byte) (int, error) {
	if b.ended != nil {
		return 0, b.ended
	}
	n, err := b.next(p)
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	switch {
	case err == io.EOF && b.c.in.err == io.EOF && !b.done():
		err = errTruncated
	case err != io.EOF && b.c.in.err != nil && b.c.in.err != io.EOF:
		b.c.cancel() // the connection has broken
	}
	b.ended = err
	return n, err
}

// done reports whether the whole body has been read.
func (b *body) done() bool { return b.left == 0 && (!b.chunked || b.trailing >= 0) }

func (b *body) next(p []byte) (int, error) {
	if b.chunked && b.left == 0 {
		if err := b.chunk(); err != nil {
			return 0, err
		}
	}
	if b.left == 0 {
		b.ended = io.EOF
		return 0, io.EOF
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.c.in.read(p)
	b.left -= int64(n)
	if !b.chunked && b.left == 0 && err == nil {
		b.ended = io.EOF
		return n, io.EOF
	}
	return n, err
}

// chunk reads up to the next chunk's data, or the end (RFC 9112, 7.1).
func (b *body) chunk() error {
	if b.started {
		line, err := b.c.in.line(2)
		if err != nil {
			return malformed(err)
		}
		if string(line) != "\r\n" {
			return errChunk
		}
		b.started = false
	}
	if b.trailing < 0 {
		line, err := b.c.in.line(chunkLineBytes)
		if err != nil {
			return malformed(err)
		}
		text, ok := strings.CutSuffix(string(line), "\r\n")
		if !ok {
			return errChunk
		}
		text, _, _ = strings.Cut(text, ";")
		text = strings.TrimRight(text, " \t")
		size, err := strconv.ParseUint(text, 16, 63)
		if err != nil {
			return errChunk
		}
		if size > 0 {
			b.left, b.started = int64(size), true
			return nil
		}
		b.trailing = 0
	}
	for {
		line, err := b.c.in.line(trailerBytes)
		if err != nil {
			b.trailing = -1
			return malformed(err)
		}
		if b.trailing += len(line); b.trailing > trailerBytes {
			return errChunk
		}
		if text := strings.TrimRight(string(line), "\r\n"); text == "" {
			return nil
		}
	}
}

// malformed makes a line that is too long a fault of the body.
func malformed(err error) error {
	if err == errTooLong {
		return errChunk
	}
	return err
}

// Close ends the reading of the body, one in progress too. It does not wait.
func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	b.closed = true
	if b.reading {
		b.cut = true
		b.c.deadline(past)
	}
	return nil
}

// How much of a body nobody wants is read to keep its connection, and for how long.
const (
	drainMost     = 256 << 10
	drainPatience = time.Second
)

// drain reads what the handler left of the body, and reports whether the next
// request can follow on the connection. Called by the connection's goroutine
// when the response has been written.
func (b *body) drain() bool {
	b.Close()
	b.mu.Lock()
	for b.reading {
		b.settled.Wait()
	}
	if b.cut {
		b.c.deadline(time.Time{})
	}
	b.mu.Unlock()
	if b.ended == nil && (b.left > drainMost || !b.c.resp.continued()) {
		return false
	}
	if b.ended == nil {
		b.c.deadline(b.c.srv.Clock.Now().Add(drainPatience))
		var scrap [4 << 10]byte
		for n := 0; b.ended == nil && n <= drainMost; {
			more, err := b.take(scrap[:])
			n += more
			if err != nil {
				break
			}
		}
	}
	return b.ended == io.EOF
}
