package netx

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/coder/websocket"
	"github.com/klauspost/compress/gzip"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/event"
)

const patience = 20 * time.Second

func wait[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("%s did not happen", what)
		panic("unreachable")
	}
}

// upstream is a server for h and a dialer that trusts it; at the end of the
// test nothing of either may run.
func upstream(t *testing.T, secure bool, points *killpoint.Points, h http.HandlerFunc) (*Real, string) {
	t.Helper()
	before := runtime.NumGoroutine()
	s := sched.NewThreads(clock.Real{})
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	var conf *tls.Config
	if secure {
		srv.EnableHTTP2 = true
		srv.StartTLS()
		roots := x509.NewCertPool()
		roots.AddCert(srv.Certificate())
		conf = &tls.Config{RootCAs: roots}
	} else {
		srv.Start()
	}
	d := NewReal(RealOptions{Scheduler: s, Entropy: entropy.NewSeeded(1), TLS: conf, Points: points})
	t.Cleanup(func() {
		d.Close()
		srv.CloseClientConnections()
		srv.Close()
		noneLeft(t, s, before)
	})
	return d, srv.URL
}

// noneLeft closes the scheduler and sees to it that no more goroutines run than before.
func noneLeft(t *testing.T, s *sched.Threads, before int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
	for n := 0; runtime.NumGoroutine() > before; n++ {
		if n > 5_000_000 {
			buf := make([]byte, 1<<16)
			t.Fatalf("goroutines are left:\n%s", buf[:runtime.Stack(buf, true)])
		}
		runtime.Gosched()
	}
}

type answer struct {
	resp *event.Response
	err  error
}

func do(t *testing.T, d Dialer, req *event.Request) (*event.Response, error) {
	t.Helper()
	if req.Method == "" {
		req.Method = "GET"
	}
	c := make(chan answer, 2)
	d.Do(req, func(r *event.Response, err error) { c <- answer{r, err} })
	a := wait(t, "the answer", c)
	return a.resp, a.err
}

func readAll(t *testing.T, b event.Body) (string, error) {
	t.Helper()
	type whole struct {
		data []byte
		err  error
	}
	c := make(chan whole, 1)
	event.ReadAll(b, 0, func(data []byte, err error) { c <- whole{data, err} })
	w := wait(t, "the body", c)
	return string(w.data), w.err
}

// An exchange carries method, header and body both ways, does not follow
// redirects, and speaks h2 where the server does.
func TestRealExchange(t *testing.T) {
	for _, secure := range []bool{false, true} {
		d, base := upstream(t, secure, nil, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			w.Header().Add("Set-Cookie", "a=1")
			w.Header().Add("Set-Cookie", "b=2")
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(302)
			fmt.Fprintf(w, "%s %s %s %q %q %q %s", r.Proto, r.Method, r.URL, r.Header["X-A"], r.Header["User-Agent"], r.Header["Accept-Encoding"], body)
		})
		pipe := event.NewPipe(-1)
		pipe.Write([]byte("str"), func(error) { pipe.Write([]byte("eam"), func(error) { pipe.Close(nil) }) })
		resp, err := do(t, d, &event.Request{Method: "POST", URL: base + "/p?q=1", Body: pipe,
			Header: event.Header{{Name: "x-a", Value: "1"}, {Name: "X-A", Value: "2"}, {Name: "connection", Value: "close"}}})
		if err != nil {
			t.Fatal(err)
		}
		proto := map[bool]string{false: "HTTP/1.1", true: "HTTP/2.0"}[secure]
		if body, err := readAll(t, resp.Body); err != nil || body != proto+` POST /p?q=1 ["1" "2"] [] [] stream` {
			t.Errorf("%q %v", body, err)
		}
		if resp.Status != 302 || resp.StatusText != "Found" || resp.Header.Get("Location") != "/elsewhere" {
			t.Errorf("%+v", resp)
		}
		if cookies := fmt.Sprint(resp.Header); !strings.Contains(cookies, "{Set-Cookie a=1} {Set-Cookie b=2}") {
			t.Errorf("%v", cookies)
		}
	}
}

// A header that workerd knows is not sent when it is empty, others are; a "%" that
// begins no escape sequence goes out as it is. A server sees what was written.
func TestRealWritten(t *testing.T) {
	d, base := upstream(t, false, nil, func(w http.ResponseWriter, r *http.Request) {
		_, accept := r.Header["Accept"]
		fmt.Fprintf(w, "%s %v %q", r.RequestURI, accept, r.Header["X-Empty"])
	})
	for path, want := range map[string]string{"/100%25?q": `/100%25?q false [""]`, "/plain": `/plain false [""]`} {
		resp, err := do(t, d, &event.Request{Method: "GET", URL: base + path, Header: event.Header{{Name: "accept"}, {Name: "x-empty"}}})
		if err != nil {
			t.Fatal(err)
		}
		if body, err := readAll(t, resp.Body); err != nil || body != want {
			t.Errorf("%s: %q %v, want %q", path, body, err, want)
		}
	}
	// What the URL says of the host holds; names are spelled as workerd spells them.
	spelled, err := d.request(context.Background(), &event.Request{Method: "GET", URL: "http://a.test/", Header: event.Header{{Name: "host", Value: "b.test"},
		{Name: "x-mY", Value: "1"}, {Name: "X-my", Value: "2"}, {Name: "accept", Value: "a"}, {Name: "Accept", Value: "b"}, {Name: "etag", Value: "e"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(spelled.Host, spelled.Header); got != "a.testmap[Accept:[a, b] ETag:[e] User-Agent:[] x-mY:[1 2]]" {
		t.Error(got)
	}
	// net/http's own server would refuse this path.
	hr, err := d.request(context.Background(), &event.Request{Method: "GET", URL: "http://a.test:1/100%?a=%zz"})
	if err != nil || hr.Host != "a.test:1" || hr.URL.RequestURI() != "/100%?a=%zz" {
		t.Errorf("%v %+v", err, hr)
	}
	for _, bad := range []string{"http://%zz/", "http:///%zz", "//x/%zz"} {
		if _, err := d.request(context.Background(), &event.Request{Method: "GET", URL: bad}); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

// A request without a body says so with all methods but GET and HEAD, and a response that came
// in chunks says that (compared with wrangler dev).
func TestRealFraming(t *testing.T) {
	d, base := upstream(t, false, nil, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		fmt.Fprint(w, r.Header["Content-Length"])
	})
	for _, method := range []string{"GET", "DELETE", "OPTIONS", "POST", "FOO"} {
		resp, err := do(t, d, &event.Request{Method: method, URL: base + "/"})
		if err != nil || resp.Header.Get("transfer-encoding") != "chunked" {
			t.Fatalf("%s: %+v %v", method, resp, err)
		}
		want := "[0]"
		if method == "GET" {
			want = "[]"
		}
		if body, err := readAll(t, resp.Body); err != nil || body != want {
			t.Errorf("%s: Content-Length %q %v, want %q", method, body, err, want)
		}
	}
}

// What a server compressed arrives plain, and its header stays.
func TestRealContentEncoding(t *testing.T) {
	pack := map[string]func(io.Writer) io.WriteCloser{
		"gzip": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"br":   func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) },
	}
	asked := ""
	d, base := upstream(t, false, nil, func(w http.ResponseWriter, r *http.Request) {
		asked = r.Header.Get("Accept-Encoding")
		kind := strings.TrimPrefix(r.URL.Path, "/")
		encoding, _, _ := strings.Cut(kind, ",")
		w.Header().Set("Content-Encoding", encoding)
		if pack[kind] == nil {
			io.WriteString(w, "not really")
			return
		}
		p := pack[kind](w)
		io.WriteString(p, strings.Repeat("plain ", 1000))
		p.Close()
	})
	for kind := range pack {
		resp, err := do(t, d, &event.Request{URL: base + "/" + strings.ReplaceAll(kind, " ", "%20")})
		if err != nil {
			t.Fatal(err)
		}
		if body, err := readAll(t, resp.Body); err != nil || body != strings.Repeat("plain ", 1000) || resp.Body.Length() != -1 || !resp.Header.Has("Content-Encoding") {
			t.Errorf("%s: %d bytes, %v", kind, len(body), err)
		}
	}
	if resp, err := do(t, d, &event.Request{URL: base + "/gzip", Raw: true}); err != nil { // encodeResponseBody: "manual"
		t.Error(err)
	} else if body, err := readAll(t, resp.Body); err != nil || !strings.HasPrefix(body, "\x1f\x8b") {
		t.Errorf("the body that was wanted as it travels: %q, %v", body, err)
	}
	if resp, err := do(t, d, &event.Request{URL: base + "/br", NoBrotli: true}); err != nil { // before brotli_content_encoding
		t.Error(err)
	} else if body, err := readAll(t, resp.Body); err != nil || body == "" || strings.HasPrefix(body, "plain") || asked != "" {
		t.Errorf("brotli where nobody knows it: %d bytes, %v; asked for %q", len(body), err, asked)
	}
	for _, kind := range []string{"zstd", "deflate", "GZIP", "x-gzip"} { // which workerd does not know
		if resp, _ := do(t, d, &event.Request{URL: base + "/" + kind}); resp == nil {
			t.Errorf("the encoding %s failed", kind)
		} else if body, _ := readAll(t, resp.Body); body != "not really" {
			t.Errorf("the encoding %s became %q", kind, body)
		}
	}
	resp, err := do(t, d, &event.Request{URL: base + "/gzip%20"})
	if err == nil {
		_, err = readAll(t, resp.Body)
	}
	var lost *event.Error
	if !errors.As(err, &lost) || lost.Name != "TypeError" || lost.Message != "Gzip decompression failed." {
		t.Errorf("a damaged body: %v", err)
	}
	short, _ := decode(io.NopCloser(strings.NewReader("not gzip")), "gzip") // shorter than a header
	if _, err := io.ReadAll(short); err == nil || err.Error() != "TypeError: Gzip decompression failed." {
		t.Errorf("a short body: %v", err)
	}
}

// Failures have workerd's words: a refused connection, a cut head, a cut body;
// and a cancellation has its own reason at every stage.
func TestRealFailures(t *testing.T) {
	release := make(chan struct{})
	entered := make(chan struct{}, 1)
	d, base := upstream(t, false, nil, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/cut-body":
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "only this")
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		case "/cut-head":
			panic(http.ErrAbortHandler)
		case "/body":
			http.NewResponseController(w).Flush()
		}
		entered <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	isLost := func(what string, err error) {
		var e *event.Error
		if !errors.As(err, &e) || e.Message != "Network connection lost." || !e.Retryable {
			t.Errorf("%s: %v", what, err)
		}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + ln.Addr().String() + "/"
	ln.Close()
	_, err = do(t, d, &event.Request{URL: nobody})
	isLost("refused", err)
	_, err = do(t, d, &event.Request{URL: base + "/cut-head"})
	isLost("cut head", err)
	resp, err := do(t, d, &event.Request{URL: base + "/cut-body"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = readAll(t, resp.Body)
	isLost("cut body", err)
	for _, bad := range []string{"ftp://x/", "http:///x", "://"} {
		if _, err := do(t, d, &event.Request{URL: bad}); err == nil || !strings.Contains(err.Error(), "TypeError") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	reason := errors.New("no longer wanted")
	answers := make(chan answer, 2)
	cancel := d.Do(&event.Request{Method: "GET", URL: base + "/head"}, func(r *event.Response, err error) { answers <- answer{r, err} })
	wait(t, "the request", entered)
	cancel(reason)
	cancel(reason)
	if a := wait(t, "the cancellation", answers); a.err != reason {
		t.Errorf("cancelled in the head: %v", a.err)
	}
	cancel = d.Do(&event.Request{Method: "GET", URL: base + "/body"}, func(r *event.Response, err error) { answers <- answer{r, err} })
	a := wait(t, "the head", answers)
	wait(t, "the request", entered)
	broken := make(chan error, 1)
	a.resp.Body.Read(func(_ []byte, err error) { broken <- err })
	cancel(reason)
	if err := wait(t, "the body's end", broken); err != reason {
		t.Errorf("cancelled in the body: %v", err)
	}
}

// A kept-alive connection that dies under a request: it is repeated if its method
// is safe, as in workerd, and else the worker is told, whatever its header says.
func TestRealRepeats(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	used := map[string]bool{} // connections, by the client's port
	d, base := upstream(t, false, nil, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path == "/keep" {
			used[r.RemoteAddr] = true
			return
		}
		asked = append(asked, r.Method+r.Header.Get("Idempotency-Key")+r.Header.Get("X-Idempotency-Key"))
		if used[r.RemoteAddr] {
			panic(http.ErrAbortHandler)
		}
	})
	for _, c := range []struct {
		method, key, want string
		lost              bool
	}{
		{"GET", "", "GET GET", false}, {"POST", "", "POST", true}, {"POST", "idempotency-key", "POST1", true},
		{"PUT", "X-Idempotency-Key", "PUT1", true},
	} {
		mu.Lock()
		asked = nil
		mu.Unlock()
		if _, err := do(t, d, &event.Request{Method: "GET", URL: base + "/keep"}); err != nil {
			t.Fatal(err)
		}
		req := &event.Request{Method: c.method, URL: base + "/die"}
		if c.method != "GET" {
			req.Body = event.Bytes([]byte("x"))
		}
		if c.key != "" {
			req.Header = event.Header{{Name: c.key, Value: "1"}}
		}
		_, err := do(t, d, req)
		mu.Lock()
		if got := strings.Join(asked, " "); got != c.want || (err != nil) != c.lost {
			t.Errorf("%s %s: the server was asked %q, error %v", c.method, c.key, got, err)
		}
		mu.Unlock()
	}
}

// A WebSocket to a server crosses messages and the two Close frames; a server
// that declines is an ordinary response; over TLS it does not try h2.
func TestRealWebSocket(t *testing.T) {
	for _, secure := range []bool{false, true} {
		closed := make(chan error, 1)
		d, base := upstream(t, secure, nil, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/no" {
				http.Error(w, "no", http.StatusForbidden)
				return
			}
			c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"p"}})
			if err != nil {
				closed <- err
				return
			}
			for {
				kind, data, err := c.Read(context.Background())
				if err != nil {
					closed <- err
					return
				}
				c.Write(context.Background(), kind, append(data, '!'))
			}
		})
		if resp, err := do(t, d, &event.Request{URL: base + "/no", Upgrade: true}); err != nil || resp.Status != 403 || resp.Socket != nil {
			t.Errorf("%+v %v", resp, err)
		} else {
			readAll(t, resp.Body)
		}
		resp, err := do(t, d, &event.Request{URL: strings.Replace(base, "http", "ws", 1) + "/", Upgrade: true,
			Header: event.Header{{Name: "Upgrade", Value: "websocket"}, {Name: "Sec-WebSocket-Protocol", Value: "p"}}})
		if err != nil || resp.Status != 101 || resp.Socket == nil || resp.Header.Get("sec-websocket-protocol") != "p" {
			t.Fatalf("%+v %v", resp, err)
		}
		h := heard{make(chan string, 10)}
		resp.Socket.Bind(h)
		long := strings.Repeat("x", 20_000)
		resp.Socket.Send(event.Message{Data: []byte("hi")})
		resp.Socket.Send(event.Message{Binary: true, Data: []byte(long)})
		if got := wait(t, "a message", h.said); got != "false hi!" {
			t.Errorf("%q", got)
		}
		if got := wait(t, "a message", h.said); got != "true "+long+"!" {
			t.Errorf("%d bytes", len(got))
		}
		resp.Socket.Close(4000, "done")
		if got := wait(t, "the close", h.said); got != `close 4000 "done" true` {
			t.Errorf("%s", got)
		}
		if err := wait(t, "the server's end", closed); websocket.CloseStatus(err) != 4000 {
			t.Errorf("%v", err)
		}
	}
}

// Whoever answers a handshake in another way than it has to gets KJ's 502 (compared with workerd).
func TestRealWebSocketFaults(t *testing.T) {
	d, base := upstream(t, false, nil, func(w http.ResponseWriter, r *http.Request) {
		conn, buffer, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		lines, _ := url.QueryUnescape(r.URL.RawQuery)
		fmt.Fprintf(buffer, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n%s\r\n", lines)
		buffer.Flush()
	})
	for lines, want := range map[string]string{
		"":                       "missing Upgrade header.",
		"Upgrade: other\r\n":     "incorrect Upgrade header: expected 'websocket', got 'other'.",
		"Upgrade: websocket\r\n": "missing Sec-WebSocket-Accept header.",
		"Upgrade: WebSocket\r\nSec-WebSocket-Accept: xxx\r\n": "incorrect Sec-WebSocket-Accept header: expected '",
	} {
		resp, err := do(t, d, &event.Request{URL: base + "/?" + url.QueryEscape(lines), Upgrade: true})
		if err != nil || resp.Status != 502 || resp.Socket != nil || resp.StatusText != "Bad Gateway" {
			t.Errorf("%q: %+v %v", lines, resp, err)
			continue
		}
		if text, err := readAll(t, resp.Body); err != nil || !strings.HasPrefix(text, "Server failed WebSocket handshake: "+want) {
			t.Errorf("%q: %q %v", lines, text, err)
		}
	}
}

type heard struct{ said chan string }

func (h heard) OnMessage(m event.Message) { h.said <- fmt.Sprintf("%v %s", m.Binary, m.Data) }
func (h heard) OnClose(code int, reason string, clean bool) {
	h.said <- fmt.Sprintf("close %d %q %v", code, reason, clean)
}
func (h heard) OnError(err error) { h.said <- "error " + err.Error() }

// A certificate that nobody signed is named as the reason.
func TestRealUntrusted(t *testing.T) {
	d, base := upstream(t, true, nil, func(http.ResponseWriter, *http.Request) {})
	stranger := NewReal(RealOptions{Scheduler: d.opts.Scheduler, Entropy: entropy.NewSeeded(1)})
	defer stranger.Close()
	if _, err := do(t, stranger, &event.Request{URL: base}); err == nil || !strings.Contains(err.Error(), "TLS peer's certificate is not trusted") {
		t.Errorf("%v", err)
	}
}

// The in-memory network runs on a seeded scheduler: no goroutine, the same
// history for the same seed, hosts by name, cancellation with its reason.
func TestMemory(t *testing.T) {
	history := func(seed uint64) string {
		s := sched.NewSeeded(clock.NewVirtual(time.Unix(0, 0)), entropy.NewSeeded(seed))
		m := NewMemory(s)
		for _, host := range []string{"a.example", "B.example:81"} {
			m.Handle(host, func(req *event.Request, done func(*event.Response, error)) func(error) {
				s.Go("reply", func() { done(&event.Response{Status: 200, URL: req.URL}, nil) })
				return func(error) {}
			})
		}
		var log []string
		note := func(r *event.Response, err error) {
			if err != nil {
				log = append(log, err.Error())
			} else {
				log = append(log, r.URL)
			}
		}
		for i := range 4 {
			m.Do(&event.Request{URL: fmt.Sprintf("http://a.example/%d", i)}, note)
			m.Do(&event.Request{URL: fmt.Sprintf("https://b.example:81/%d", i)}, note)
		}
		m.Do(&event.Request{URL: "http://c.example/"}, note)
		m.Do(&event.Request{URL: "http://a.example/cancelled"}, note)(errors.New("cancelled"))
		if len(log) != 1 || log[0] != "cancelled" {
			t.Errorf("before any step: %q", log)
		}
		for s.Step() {
		}
		if len(log) != 10 {
			t.Errorf("%d answers: %q", len(log), log)
		}
		return strings.Join(log, "\n")
	}
	before := runtime.NumGoroutine()
	one := history(1)
	if one != history(1) {
		t.Error("the same seed gave another history")
	}
	if one == history(2) && one == history(3) {
		t.Error("the seed does not choose")
	}
	if !strings.Contains(one, `"c.example" is not on the simulated network (it has: a.example, b.example:81)`) {
		t.Errorf("history:\n%s", one)
	}
	// Those of earlier tests may have ended meanwhile.
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, before %d", n, before)
	}
}

// A body over a reader reads only on demand, and Cancel ends it.
func TestReaderBody(t *testing.T) {
	var spawned []func()
	src := &source{data: bytes.Repeat([]byte("x"), 3*ChunkBytes)}
	b := NewReaderBody(src, -1, func(_ string, fn func()) { spawned = append(spawned, fn) })
	got := 0
	read := func() (err error) {
		b.Read(func(chunk []byte, e error) { got += len(chunk); err = e })
		for _, fn := range spawned {
			fn()
		}
		spawned = nil
		return err
	}
	if src.reads != 0 {
		t.Error("read before demand")
	}
	if err := read(); err != nil || got > ChunkBytes || src.reads != 1 {
		t.Errorf("%v, %d bytes, %d reads", err, got, src.reads)
	}
	b.Read(func([]byte, error) {})
	var second error
	b.Read(func(_ []byte, err error) { second = err })
	if second == nil {
		t.Error("two reads at once were allowed")
	}
	reason := errors.New("enough")
	b.Cancel(reason)
	for _, fn := range spawned {
		fn()
	}
	spawned = nil
	if err := read(); err != reason || !src.closed {
		t.Errorf("after Cancel: %v, closed %v", err, src.closed)
	}
}

type source struct {
	data   []byte
	reads  int
	closed bool
}

func (s *source) Read(p []byte) (int, error) {
	s.reads++
	n := copy(p, s.data)
	s.data = s.data[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
func (s *source) Close() error { s.closed = true; return nil }

// The close codes that may be sent are those that close() takes.
func TestOnWire(t *testing.T) {
	for code, want := range map[int]bool{999: false, 1000: true, 1003: true, 1004: false, 1005: false, 1006: false, 1007: true, 1014: true, 1015: false, 1016: true, 2999: true, 3000: true, 4999: true, 5000: false, 0: false} {
		if onWire(code) != want {
			t.Errorf("%d: %v", code, !want)
		}
	}
}
