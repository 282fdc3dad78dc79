package http1

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// Sizes of a connection's buffer: to begin with, and at most, which is the
// longest head.
const (
	inputBytes = 4 << 10
	headBytes  = 1 << 20
)

// past is a deadline that ends a read in progress.
var past = time.Unix(1, 0)

// input is a connection's receiving side. One goroutine at a time reads: that
// of the connection for a head, a body's reader, or the watch. Each hands over
// to the next by a lock of its own (body.mu, watch).
type input struct {
	net  net.Conn
	buf  []byte
	r, w int   // buf[r:w] has been received and not taken
	err  error // what ended the receiving side; io.EOF: the client sends no more
}

// rest is what has been received and not taken.
func (in *input) rest() []byte { return in.buf[in.r:in.w] }

// fill receives more into the buffer. An error that is a passed deadline can be
// tried again; any other is final.
func (in *input) fill() error {
	if in.err != nil {
		return in.err
	}
	if in.r == in.w {
		in.r, in.w = 0, 0
	}
	if in.buf == nil {
		in.buf = make([]byte, inputBytes)
	}
	if in.w == len(in.buf) {
		if in.r > 0 {
			in.w = copy(in.buf, in.rest())
			in.r = 0
		} else {
			if len(in.buf) >= headBytes {
				return errTooLong
			}
			grown := make([]byte, min(2*len(in.buf), headBytes))
			copy(grown, in.buf)
			in.buf = grown
		}
	}
	n, err := in.net.Read(in.buf[in.w:])
	in.w += n
	if n > 0 {
		return nil // an error comes again
	}
	return in.failed(err)
}

// failed keeps a final error.
func (in *input) failed(err error) error {
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		in.err = err
	}
	return err
}

// read takes up to len(p) bytes, past the buffer where p is large.
func (in *input) read(p []byte) (int, error) {
	if in.r == in.w {
		if len(p) >= len(in.buf) && in.err == nil {
			n, err := in.net.Read(p)
			if n > 0 {
				return n, nil
			}
			return 0, in.failed(err)
		}
		if err := in.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, in.rest())
	in.r += n
	return n, nil
}

// line takes a line of at most limit bytes, with its end. What has come of it
// stays where it is until the whole line is there.
func (in *input) line(limit int) ([]byte, error) {
	for seen := 0; ; {
		rest := in.rest()
		if i := bytes.IndexByte(rest[seen:], '\n'); i >= 0 {
			in.r += seen + i + 1
			return rest[:seen+i+1], nil
		}
		if seen = len(rest); seen > limit {
			return nil, errTooLong
		}
		if err := in.fill(); err != nil {
			return nil, err
		}
	}
}

var errTooLong = errors.New("http1: a line is too long")

// watch is the state of the goroutine that waits for the client's end while a
// handler works. What arrives meanwhile, further requests, is kept.
type watch struct {
	mu      sync.Mutex // guards everything below
	ended   *sync.Cond
	running bool
	stopped bool
}

// allow lets a watch begin again.
func (w *watch) allow() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = false
}

// runWatch receives until the client has ended its sending side, the buffer is
// full or stopWatch is called. A client that only sends no more still waits for
// its answer, but for EndIsLoss; one whose connection has broken does not.
func (c *conn) runWatch() {
	for {
		err := c.in.err
		if err == nil && (c.in.buf == nil || c.in.w < len(c.in.buf)) {
			err = c.in.fill()
			if err == nil {
				continue
			}
		}
		c.watch.mu.Lock()
		c.watch.running = false
		c.watch.mu.Unlock()
		c.watch.ended.Broadcast()
		if err != nil && (err != io.EOF || c.srv.EndIsLoss) && !errors.Is(err, os.ErrDeadlineExceeded) {
			c.cancel()
		}
		return
	}
}

// startWatch lets the watch begin, unless the handler has returned.
func (c *conn) startWatch() {
	c.watch.mu.Lock()
	defer c.watch.mu.Unlock()
	if c.watch.stopped || c.watch.running {
		return
	}
	c.watch.running = true
	c.srv.Spawn("connection watch", c.runWatch)
}

// stopWatch returns when no watch reads any more, and none will begin.
func (c *conn) stopWatch() {
	c.watch.mu.Lock()
	defer c.watch.mu.Unlock()
	c.watch.stopped = true
	if !c.watch.running {
		return
	}
	c.deadline(past)
	for c.watch.running {
		c.watch.ended.Wait()
	}
	c.deadline(time.Time{})
}
