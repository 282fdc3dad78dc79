package http1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// Response is the http.ResponseWriter of a request. It belongs to the handler's
// goroutine, but for the 100 Continue that a body's reader asks for.
type Response struct {
	c      *conn
	req    *http.Request
	header http.Header
	close  bool
	reason *string

	mu      sync.Mutex // guards everything below
	waits   bool       // the client waits for 100 Continue
	status  int        // 0: nothing has been written
	chunked bool
	bare    bool  // no body may be written
	left    int64 // announced and not written; -1: not announced
	ended   bool
	taken   bool // the connection is the handler's
	err     error
}

var errTaken = errors.New("http1: the connection has been taken over")

// Header implements http.ResponseWriter.
func (w *Response) Header() http.Header { return w.header }

// CloseAfter makes the connection end with this response.
func (w *Response) CloseAfter() { w.close = true }

// SetReason says the status line's phrase, which is otherwise the status's own. What is
// no printable ASCII makes it empty, as workerd sends it.
func (w *Response) SetReason(text string) {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			text = ""
			break
		}
	}
	w.reason = &text
}

// goOn tells a client that waits for it to send its body.
func (w *Response) goOn() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.waits || w.status != 0 || w.taken {
		return nil
	}
	w.waits = false
	_, err := w.c.out.WriteString("HTTP/1.1 100 Continue\r\n\r\n")
	return errors.Join(err, w.c.out.Flush())
}

// continued reports whether the client sends its body: it need not if it waits.
func (w *Response) continued() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.waits
}

// WriteHeader implements http.ResponseWriter.
func (w *Response) WriteHeader(status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writeHead(status)
}

func (w *Response) writeHead(status int) {
	if w.status != 0 || w.taken {
		return
	}
	w.status, w.left = status, -1
	out := w.c.out
	out.WriteString("HTTP/1.")
	out.WriteByte('0' + byte(w.req.ProtoMinor))
	out.WriteByte(' ')
	out.WriteString(strconv.Itoa(status))
	out.WriteByte(' ')
	if w.reason != nil {
		out.WriteString(*w.reason)
	} else {
		out.WriteString(http.StatusText(status))
	}
	out.WriteString("\r\n")
	null := status == http.StatusNoContent || status == http.StatusNotModified
	w.bare = null || w.req.Method == http.MethodHead
	if given := w.header["Content-Length"]; len(given) > 0 && !w.bare {
		if n, err := strconv.ParseInt(given[0], 10, 64); err == nil && n >= 0 {
			w.left = n
		} else {
			delete(w.header, "Content-Length")
		}
	}
	delete(w.header, "Transfer-Encoding")
	if w.left < 0 && !w.bare {
		if w.req.ProtoMinor == 0 {
			w.close = true // the end of the connection is the body's
		} else {
			w.chunked = true
		}
	}
	if w.waits {
		w.close = true // a client may send the body all the same, or not
	}
	w.keep(w.header.Write(out))
	switch {
	case w.close && w.req.ProtoMinor == 1:
		out.WriteString("Connection: close\r\n")
	case !w.close && w.req.ProtoMinor == 0:
		out.WriteString("Connection: keep-alive\r\n")
	}
	if w.chunked {
		out.WriteString("Transfer-Encoding: chunked\r\n")
	}
	_, err := out.WriteString("\r\n")
	w.keep(err)
}

// keep remembers the first failure of the connection.
func (w *Response) keep(err error) {
	if w.err == nil {
		w.err = err
	}
}

// Write implements http.ResponseWriter. Each call is a chunk where the length
// was not announced.
func (w *Response) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.taken {
		return 0, errTaken
	}
	w.writeHead(http.StatusOK)
	switch {
	case w.err != nil:
		return 0, w.err
	case len(p) == 0:
		return 0, nil
	case w.bare:
		return 0, http.ErrBodyNotAllowed
	case w.left >= 0 && int64(len(p)) > w.left:
		return 0, http.ErrContentLength
	}
	out := w.c.out
	if w.chunked {
		out.WriteString(strconv.FormatInt(int64(len(p)), 16))
		out.WriteString("\r\n")
	}
	n, err := out.Write(p)
	if w.chunked {
		_, err = out.WriteString("\r\n") // tells of an earlier failure too
	}
	if w.left >= 0 {
		w.left -= int64(n)
	}
	w.keep(err)
	return n, err
}

// FlushError sends what has been written; see http.ResponseController.
func (w *Response) FlushError() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.taken {
		return errTaken
	}
	w.writeHead(http.StatusOK)
	w.keep(w.c.out.Flush())
	return w.err
}

// Finish ends the body and sends what is left of it. The server calls it when
// the handler returns, if the handler has not.
func (w *Response) Finish() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended || w.taken || w.status == 0 {
		return w.err
	}
	w.ended = true
	if w.chunked {
		w.c.out.WriteString("0\r\n\r\n")
	}
	w.keep(w.c.out.Flush())
	return w.err
}

// whole reports whether a complete response has been written.
func (w *Response) whole() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status != 0 && w.err == nil && w.ended && w.left <= 0
}

// Hijack implements http.Hijacker: the connection becomes the caller's, with
// what has been received of it. A body that was not read is read first.
func (w *Response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if b := w.c.body; b != nil && !b.drain() {
		return nil, nil, errors.New("http1: the request has a body that does not end")
	}
	w.c.stopWatch()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.taken || w.status != 0 {
		return nil, nil, errors.New("http1: a response has begun")
	}
	w.taken = true
	rest := bytes.Clone(w.c.in.rest())
	var from io.Reader = w.c.net
	if len(rest) > 0 {
		from = io.MultiReader(bytes.NewReader(rest), w.c.net)
	}
	br := bufio.NewReaderSize(from, max(len(rest), 1<<10))
	if len(rest) > 0 {
		_, _ = br.Peek(len(rest)) // they are there
	}
	return w.c.net, bufio.NewReadWriter(br, w.c.out), nil
}

// refuse writes a whole answer to something that is not a request.
func (c *conn) refuse(e *refusal) {
	var b strings.Builder
	b.WriteString("HTTP/1.1 " + strconv.Itoa(e.status) + " " + http.StatusText(e.status) + "\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: " +
		strconv.Itoa(len(e.text)) + "\r\n\r\n" + e.text)
	_, _ = io.WriteString(c.net, b.String()) // a client that is gone needs no answer
}
