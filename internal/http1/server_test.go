package http1

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
)

const patience = time.Minute

// world is a server on a loopback port. Its warnings fail the test.
type world struct {
	t    *testing.T
	s    *Server
	addr string
}

func start(t *testing.T, s *Server) *world {
	t.Helper()
	threads := sched.NewThreads(clock.Real{})
	s.Spawn, s.Clock = threads.Go, clock.Real{}
	if s.Warn == nil {
		s.Warn = func(text string) { t.Errorf("warning: %s", text) }
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		if err := <-served; err != http.ErrServerClosed {
			t.Errorf("Serve: %v", err)
		}
		if err := threads.Close(ctx); err != nil {
			t.Errorf("a goroutine is left: %v", err)
		}
	})
	return &world{t, s, ln.Addr().String()}
}

func (w *world) dial() *net.TCPConn {
	w.t.Helper()
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(patience))
	w.t.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn)
}

// readers handles what the tests of framing send.
func readers(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/unread":
		io.WriteString(w, "unread\n")
	case "/throw":
		w.Header().Set("Content-Length", "5")
		w.WriteHeader(500)
		io.WriteString(w, "boom\n")
	default:
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		text := fmt.Sprintf("%s %s %q\n", r.Method, r.RequestURI, body)
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		io.WriteString(w, text)
	}
}

// What is sent on one connection, up to the end of sending, has these answers
// and no others: the statuses and texts are those that workerd 2026-11-17 gave to
// the same bytes, whose answers were looked at one by one.
func TestAnswers(t *testing.T) {
	w := start(t, &Server{Handler: http.HandlerFunc(readers)})
	const next = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n"
	const ok, gotABC, gotNext = "HTTP/1.1 200 OK|", "POST /echo \"abc\"\n", "GET /next \"\"\n"
	post := func(path, fields, body string) string {
		return "POST " + path + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n" + body
	}
	bad := func(status, text string) string {
		return fmt.Sprintf("HTTP/1.1 %s|Content-Type: text/plain|Connection: close|Content-Length: %d||%s", status, len(text), text)
	}
	answer := func(text string) string { return fmt.Sprintf("%sContent-Length: %d||%s", ok, len(text), text) }
	last := func(text string) string {
		return fmt.Sprintf("%sContent-Length: %d|Connection: close||%s", ok, len(text), text)
	}
	chunked := func(text string) string {
		return ok + "Transfer-Encoding: chunked||" + fmt.Sprintf("%x|%s|0||", len(text), text)
	}
	const threw = "HTTP/1.1 500 Internal Server Error|Content-Length: 5||boom\n"
	big := strings.Repeat("b", drainMost+1)
	for _, c := range []struct{ name, send, want string }{
		{"one", next, answer(gotNext)},
		{"nothing", "", ""},
		{"a part of a head", "GET / HTTP/1.1\r\nHo", ""},
		{"pipelined", next + post("/echo", "Content-Length: 3\r\n", "abc") + next, answer(gotNext) + answer(gotABC) + answer(gotNext)},
		{"empty lines before a head", "\r\n\n" + next + "\r\n" + next, answer(gotNext) + answer(gotNext)},
		{"line feeds alone", "GET /next HTTP/1.1\nHost: a\n\n", answer(gotNext)},
		{"HEAD", strings.Replace(next, "GET", "HEAD", 1) + next, ok + "Content-Length: 14||" + answer(gotNext)},
		{"closing", "GET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" + next, last(gotNext)},
		{"1.0", "GET /next HTTP/1.0\r\n\r\n" + next, "HTTP/1.0 200 OK|Content-Length: 13||" + gotNext},
		{"1.0 kept", "GET /next HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n" + next, "HTTP/1.0 200 OK|Content-Length: 13|Connection: keep-alive||" + gotNext + answer(gotNext)},

		{"unread", post("/unread", "Content-Length: 3\r\n", "abc") + next, chunked("unread\n") + answer(gotNext)},
		{"unread and chunked", post("/unread", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n") + next, chunked("unread\n") + answer(gotNext)},
		{"thrown, unread", post("/throw", "Content-Length: 3\r\n", "abc") + next, threw + answer(gotNext)},
		{"thrown, unread and long", post("/throw", fmt.Sprintf("Content-Length: %d\r\n", len(big)), big) + next, threw},
		{"unread, long and chunked", post("/throw", "Transfer-Encoding: chunked\r\n", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(big), big)) + next, threw},
		{"unread and short", post("/throw", "Content-Length: 30\r\n", "abc"), threw},

		{"100 Continue", post("/echo", "Content-Length: 3\r\nExpect: 100-continue\r\n", "abc") + next, "HTTP/1.1 100 Continue||" + answer(gotABC) + answer(gotNext)},
		{"100 Continue not asked for", post("/throw", "Content-Length: 3\r\nExpect: 100-continue\r\n", "") + next, strings.Replace(threw, "||", "|Connection: close||", 1)},
		{"another expectation", post("/echo", "Content-Length: 3\r\nExpect: x\r\n", "abc"), answer(gotABC)},

		{"two framings", post("/echo", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n") + next, last(gotABC)},
		{"two framings, turned around", post("/echo", "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "3\r\nabc\r\n0\r\n\r\n") + next, last(gotABC)},
		{"lengths that differ", post("/echo", "Content-Length: 3\r\nContent-Length: 4\r\n", "abcd"), bad("400 Bad Request", "invalid content-length parsed")},
		{"lengths alike", post("/echo", "Content-Length: 3\r\nContent-Length: 3\r\n", "abc"), answer(gotABC)},
		{"a signed length", post("/echo", "Content-Length: +3\r\n", "abc"), bad("400 Bad Request", "invalid content-length parsed")},
		{"a huge length", post("/echo", "Content-Length: 99999999999999999999\r\n", "abc"), bad("400 Bad Request", "invalid content-length parsed")},
		{"no length", post("/echo", "Content-Length:\r\n", "abc"), bad("400 Bad Request", "invalid content-length parsed")},
		{"another coding", post("/echo", "Transfer-Encoding: gzip\r\n", "abc"), bad("400 Bad Request", "invalid transfer-encoding parsed")},
		{"nearly chunked", post("/echo", "Transfer-Encoding: xchunked\r\n", "abc"), bad("400 Bad Request", "invalid transfer-encoding parsed")},
		{"two codings", post("/echo", "Transfer-Encoding: gzip, Chunked\r\n", "3\r\nabc\r\n0\r\n\r\n"), answer(gotABC)},
		{"a coding in 1.0", "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", bad("400 Bad Request", "unexpected transfer-encoding parsed")},

		{"chunks", post("/echo", "Transfer-Encoding: chunked\r\n", "1;a=b\r\na\r\n02 \r\nbc\r\n0\r\nX: y\r\n\r\n") + next, answer(gotABC) + answer(gotNext)},
		{"a bad chunk", post("/echo", "Transfer-Encoding: chunked\r\n", "zz\r\nabc\r\n0\r\n\r\n") + next, ""},
		{"a second bad chunk", post("/echo", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\nQ\r\n") + next, ""},
		{"a bad chunk, unread", post("/throw", "Transfer-Encoding: chunked\r\n", "zz\r\nabc\r\n0\r\n\r\n") + next, threw},
		{"a chunk without its end", post("/echo", "Transfer-Encoding: chunked\r\n", "3\r\nabcXX0\r\n\r\n") + next, ""},
		{"a huge chunk", post("/echo", "Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\nabc\r\n") + next, ""},
		{"a negative chunk", post("/echo", "Transfer-Encoding: chunked\r\n", "-3\r\nabc\r\n") + next, ""},
		{"a long chunk extension", post("/echo", "Transfer-Encoding: chunked\r\n", "3;"+strings.Repeat("x", 2*chunkLineBytes)+"\r\nabc\r\n0\r\n\r\n") + next, ""},
		{"long trailers", post("/echo", "Transfer-Encoding: chunked\r\n", "0\r\n"+strings.Repeat("X: yyyyyyyyyyyyy\r\n", trailerBytes/16)+"\r\n") + next, ""},
		{"a short body", post("/echo", "Content-Length: 30\r\n", "abc"), ""},
		{"a short chunked body", post("/echo", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n"), ""},

		{"no host", "GET / HTTP/1.1\r\n\r\n", bad("400 Bad Request", "Bad Request")},
		{"two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", bad("400 Bad Request", "Bad Request")},
		{"an unknown method", "FOO / HTTP/1.1\r\nHost: a\r\n\r\n", bad("501 Not Implemented", "ERROR: Unrecognized request method.")},
		{"a method in lower case", "get / HTTP/1.1\r\nHost: a\r\n\r\n", bad("501 Not Implemented", "ERROR: Unrecognized request method.")},
		{"another version", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", bad("400 Bad Request", "invalid HTTP version parsed")},
		{"a space in the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", bad("400 Bad Request", "invalid HTTP version parsed")},
		{"a control character in the target", "GET /a\x01 HTTP/1.1\r\nHost: a\r\n\r\n", bad("400 Bad Request", "invalid URI")},
		{"0.9", "GET /\r\n\r\n", bad("400 Bad Request", "invalid URI")},
		{"a bad escape in the target", "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", answer("GET /%zz \"\"\n")},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", bad("400 Bad Request", "invalid HTTP method parsed")},
		{"a space before the colon", "GET / HTTP/1.1\r\nHost: a\r\nX : 1\r\n\r\n", bad("400 Bad Request", "invalid HTTP header parsed")},
		{"a folded field", "GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n 2\r\n\r\n", bad("400 Bad Request", "invalid HTTP header parsed")},
		{"NUL in a field", "GET / HTTP/1.1\r\nHost: a\r\nX: 1\x002\r\n\r\n", bad("400 Bad Request", "invalid HTTP header parsed")},
		{"a field without a colon", "GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n", bad("400 Bad Request", "invalid HTTP header parsed")},
		{"a field without a name", "GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n", bad("400 Bad Request", "invalid HTTP header parsed")},
		{"a large head", "GET /next HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 300_000) + "\r\n\r\n" + next, answer(gotNext) + answer(gotNext)},
		{"too large a head", "GET /next HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 2*headBytes) + "\r\n\r\n" + next, bad("431 Request Header Fields Too Large", "message head is too large")},
		{"many fields", "GET /next HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("X: y\r\n", 5000) + "\r\n", answer(gotNext)},
		{"a long target", "GET /" + strings.Repeat("x", 70_000) + " HTTP/1.1\r\nHost: a\r\n\r\n", bad("414 Request URI Too Long", "URI too long")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn := w.dial()
			go func() {
				io.WriteString(conn, c.send)
				conn.CloseWrite()
			}()
			got, err := io.ReadAll(conn)
			if err != nil {
				t.Fatalf("%v, after %q", err, got)
			}
			if got := strings.ReplaceAll(string(got), "\r\n", "|"); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// With EndIsLoss it has gone.
func TestEndIsLoss(t *testing.T) {
	given := make(chan struct{})
	w := start(t, &Server{EndIsLoss: true, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		close(given)
	})})
	c := w.dial()
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	c.CloseWrite()
	<-given
}

// A client that only ends its sending side, before the handler answers or
// while it streams, gets the whole answer.
func TestHalfClose(t *testing.T) {
	work := make(chan struct{})
	w := start(t, &Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		io.WriteString(rw, "begun ")
		rw.(*Response).FlushError()
		select {
		case <-work:
		case <-r.Context().Done():
			t.Error("the request was given up")
		}
		io.WriteString(rw, "done")
	})})
	c := w.dial()
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	first := make([]byte, 10)
	io.ReadFull(c, first)
	c.CloseWrite()
	// The server has seen the end when its watch has ended.
	until(t, func() bool {
		w.s.mu.Lock()
		defer w.s.mu.Unlock()
		for c := range w.s.conns {
			c.mu.Lock()
			due := c.due
			c.mu.Unlock()
			c.watch.mu.Lock()
			defer c.watch.mu.Unlock()
			return due && !c.watch.running && c.in.err == io.EOF
		}
		return false
	})
	close(work)
	rest, err := io.ReadAll(c)
	if want := "6\r\nbegun \r\n4\r\ndone\r\n0\r\n\r\n"; err != nil || !strings.HasSuffix(string(rest), want) {
		t.Errorf("%q %v", rest, err)
	}
}

func until(t *testing.T, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatal("it did not happen")
		}
		yield()
	}
}

func yield() {
	var b [1]byte
	r, w, _ := os.Pipe()
	w.Write(b[:])
	r.Read(b[:])
	r.Close()
	w.Close()
}

// A connection that breaks ends the request's context, also after a body.
func TestReset(t *testing.T) {
	entered, gone := make(chan struct{}), make(chan struct{})
	w := start(t, &Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		entered <- struct{}{}
		<-r.Context().Done()
		gone <- struct{}{}
		panic(http.ErrAbortHandler)
	})})
	for _, send := range []string{"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx"} {
		c := w.dial()
		io.WriteString(c, send)
		<-entered
		c.SetLinger(0)
		c.Close()
		select {
		case <-gone:
		case <-time.After(patience):
			t.Fatal("nobody noticed")
		}
	}
}

// A head that comes too slowly ends its connection, however it drips; so does an
// idle connection. A body has no such limit.
func TestSlowHead(t *testing.T) {
	w := start(t, &Server{Handler: http.HandlerFunc(readers), Patience: 100 * time.Millisecond})
	for _, begin := range []string{"", "GET / HTTP/1.1\r\nHost: a\r\nX: ", "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET "} {
		c := w.dial()
		io.WriteString(c, begin)
		over := make(chan struct{})
		go func() {
			for begin != "" {
				if _, err := io.WriteString(c, "a"); err != nil {
					break
				}
				select {
				case <-over:
					return
				default:
					yield()
				}
			}
		}()
		got, _ := io.ReadAll(c) // a reset is an end too: bytes were under way
		close(over)
		if want := strings.Count(begin, "\r\n\r\n"); bytes.Count(got, []byte("HTTP/1.1 ")) != want {
			t.Errorf("%q: %q", begin, got)
		}
	}
	c := w.dial()
	io.WriteString(c, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nConnection: close\r\n\r\n")
	idle := w.dial()
	io.ReadAll(idle) // more than the patience passes
	io.WriteString(c, "abc")
	if got, err := io.ReadAll(c); err != nil || !strings.Contains(string(got), `"abc"`) {
		t.Errorf("a slow body: %q %v", got, err)
	}
}

// A read of the body in progress when the handler returns ends, and the
// connection goes on with the next request.
func TestPendingRead(t *testing.T) {
	read := make(chan error, 1)
	w := start(t, &Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Length", "2")
		if r.Body != http.NoBody {
			b := r.Body.(*body)
			go func() {
				_, err := b.Read(make([]byte, 10))
				read <- err
			}()
			until(t, func() bool { b.mu.Lock(); defer b.mu.Unlock(); return b.reading })
		}
		io.WriteString(rw, "hi")
	})})
	c := w.dial()
	io.WriteString(c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n")
	if err := <-read; err == nil {
		t.Error("the read went on")
	}
	io.WriteString(c, "abcGET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
	got, err := io.ReadAll(c)
	if err != nil || strings.Count(string(got), "200 OK") != 2 {
		t.Errorf("%q %v", got, err)
	}
}

// A handler that panics costs its connection and nothing else, and says so.
func TestPanic(t *testing.T) {
	var mu sync.Mutex
	var warned string
	w := start(t, &Server{Warn: func(s string) { mu.Lock(); warned += s; mu.Unlock() }, Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			panic("a bug")
		}
		readers(rw, r)
	})})
	c := w.dial()
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n")
	if got, err := io.ReadAll(c); err != nil || len(got) > 0 {
		t.Errorf("%q %v", got, err)
	}
	mu.Lock()
	defer mu.Unlock()
	if !strings.Contains(warned, "a bug") || !strings.Contains(warned, "server_test.go") {
		t.Errorf("%q", warned)
	}
}

// FuzzConnection: whatever is sent, the server answers in HTTP or not at all, and ends.
func FuzzConnection(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
	f.Add([]byte("POST /unread HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nA: b\r\n\r\nGET / HTTP/1.0\r\n\r\n"))
	f.Add([]byte("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabc"))
	f.Fuzz(func(t *testing.T, send []byte) {
		var out bytes.Buffer
		warned := ""
		s := &Server{Handler: http.HandlerFunc(readers), Clock: clock.Real{}, Spawn: func(_ string, fn func()) { go fn() }, Warn: func(text string) { warned = text }}
		c := newConn(s, &memory{in: bytes.NewReader(send), out: &out})
		s.add(c)
		c.serve()
		if warned != "" {
			t.Error(warned)
		}
		if text := out.String(); text != "" && !strings.HasPrefix(text, "HTTP/1.") {
			t.Errorf("%q", text)
		}
	})
}

// memory is a connection whose client has sent everything.
type memory struct {
	in  io.Reader
	out io.Writer
	net.Conn
}

func (m *memory) Read(p []byte) (int, error)      { return m.in.Read(p) }
func (m *memory) Write(p []byte) (int, error)     { return m.out.Write(p) }
func (m *memory) Close() error                    { return nil }
func (m *memory) SetReadDeadline(time.Time) error { return nil }
func (m *memory) RemoteAddr() net.Addr            { return &net.TCPAddr{} }
