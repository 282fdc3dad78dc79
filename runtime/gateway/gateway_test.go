package gateway

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/event"
)

// world is a gateway on a loopback port, its scheduler, and a client.
type world struct {
	t      *testing.T
	g      *Gateway
	addr   string
	client *http.Client
}

const patience = 2 * time.Minute

// start serves o until the test ends; then everything must have ended.
func start(t *testing.T, o Options) *world {
	t.Helper()
	before := runtime.NumGoroutine()
	s := sched.NewThreads(clock.Real{})
	o.Scheduler = s
	g := New(o)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- g.Serve(ln) }()
	tr := &http.Transport{DisableCompression: true}
	w := &world{t: t, g: g, addr: ln.Addr().String(), client: &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := g.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		if err := s.Close(ctx); err != nil {
			t.Errorf("scheduler: %v", err)
		}
		for n := 0; runtime.NumGoroutine() > before; n++ {
			if n > 5_000_000 {
				buf := make([]byte, 1<<16)
				t.Fatalf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
			}
			runtime.Gosched()
		}
	})
	return w
}

// answer is a handler that responds at once.
func answer(f func(*event.Request) (*event.Response, error)) netx.Handler {
	return func(req *event.Request, done func(*event.Response, error)) func(error) {
		done(f(req))
		return nil
	}
}

func text(s string) (*event.Response, error) {
	return &event.Response{Status: 200, Header: event.Header{{Name: "content-type", Value: "text/plain"}}, Body: event.Bytes([]byte(s))}, nil
}

func (w *world) do(method, path string, body io.Reader, header ...string) (*http.Response, string) {
	w.t.Helper()
	req, err := http.NewRequest(method, "http://"+w.addr+path, body)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
		req.Header.Add(header[i], header[i+1])
	}
	resp, err := w.client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp, string(all)
}

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

// A request arrives with its method, absolute URL, sorted fields, the client's
// address and the edge's Accept-Encoding; a response leaves with its status,
// every Set-Cookie, an exact length; both without headers that workerd knows and that
// are empty.
func TestRequestAndResponse(t *testing.T) {
	var got *event.Request
	w := start(t, Options{Handler: answer(func(r *event.Request) (*event.Response, error) {
		got = r
		return &event.Response{Status: 201, Header: event.Header{{Name: "set-cookie", Value: "a=1"}, {Name: "Set-Cookie", Value: "b=2"}, {Name: "content-length", Value: "999"},
			{Name: "etag"}, {Name: "X-Empty"}}, Body: event.Bytes([]byte("made"))}, nil
	})})
	resp, body := w.do("PUT", "/a%20b/../c?q=%2F&x", nil, "X-B", "2", "X-A", "1", "X-A", "one", "Referer", "")
	if resp.StatusCode != 201 || body != "made" || resp.ContentLength != 4 || strings.Join(resp.Header["Set-Cookie"], ",") != "a=1,b=2" {
		t.Errorf("response: %v %q %d %v", resp.Status, body, resp.ContentLength, resp.Header)
	}
	if _, ok := resp.Header["Etag"]; ok || fmt.Sprintf("%q", resp.Header["X-Empty"]) != `[""]` {
		t.Errorf("empty headers: %q", resp.Header)
	}
	if _, ok := resp.Header["Content-Type"]; ok {
		t.Errorf("a content type was guessed: %v", resp.Header)
	}
	if got.Method != "PUT" || got.URL != "http://"+w.addr+"/a%20b/../c?q=%2F&x" || got.Upgrade {
		t.Errorf("request: %+v", got)
	}
	if want := "[{Content-Length 0} {User-Agent Go-http-client/1.1} {X-A 1} {X-A one} {X-B 2} {CF-Connecting-IP 127.0.0.1} {Accept-Encoding br, gzip} {Host " + w.addr + "}]"; fmt.Sprint(got.Header) != want {
		t.Errorf("header: %v", got.Header)
	}
}

// Workers see a body of every request that may have one, an empty one too, a field that
// tells of it, and none of those that concern the connection alone.
func TestFraming(t *testing.T) {
	var got *event.Request
	w := start(t, Options{Handler: answer(func(r *event.Request) (*event.Response, error) { got = r; return text("") })})
	for _, c := range []struct {
		method string
		body   io.Reader
		framed string
	}{
		{"GET", nil, ""},
		{"POST", nil, "Content-Length: 0"},
		{"DELETE", nil, "Content-Length: 0"},
		{"POST", strings.NewReader("abc"), "Content-Length: 3"},
		{"POST", io.MultiReader(strings.NewReader("abc")), "Transfer-Encoding: chunked"},
	} {
		w.do(c.method, "/", c.body, "Connection", "keep-alive", "Keep-Alive", "timeout=5", "TE", "trailers", "Trailer", "X-Sum", "User-Agent", "")
		framed := ""
		for _, f := range got.Header {
			if f.Name != "CF-Connecting-IP" && f.Name != "Accept-Encoding" && f.Name != "Host" {
				framed += f.Name + ": " + f.Value
			}
		}
		if framed != c.framed || (got.Body != nil) != (c.framed != "") {
			t.Errorf("%s: %q, body %v; want %q", c.method, framed, got.Body, c.framed)
		}
	}
}

// HEAD, 204 and 304 carry no body, and the length that GET would have.
func TestNullBodies(t *testing.T) {
	w := start(t, Options{Handler: answer(func(r *event.Request) (*event.Response, error) {
		resp, _ := text("hello")
		fmt.Sscan(r.URL[strings.LastIndex(r.URL, "/")+1:], &resp.Status)
		return resp, nil
	})})
	for _, c := range []struct {
		method string
		status int
		length int64
	}{{"HEAD", 200, 5}, {"GET", 204, 0}, {"GET", 304, 0}, {"GET", 200, 5}} {
		resp, body := w.do(c.method, fmt.Sprint("/", c.status), nil)
		if resp.StatusCode != c.status || resp.ContentLength != c.length || (body != "") != (c.method == "GET" && c.status == 200) {
			t.Errorf("%+v: %v, length %d, body %q", c, resp.Status, resp.ContentLength, body)
		}
	}
}

// The body of a response to HEAD is read, though nobody gets it (workerd 1.20261117.1): who writes it
// is not interrupted, and the client does not wait for it.
func TestHeadReadsTheBody(t *testing.T) {
	pipe := event.NewPipe(-1)
	w := start(t, Options{Handler: answer(func(*event.Request) (*event.Response, error) {
		return &event.Response{Status: 200, Body: pipe}, nil
	})})
	if resp, _ := w.do("HEAD", "/", nil); resp.StatusCode != 200 {
		t.Error(resp.Status)
	}
	for i := range 3 {
		taken := make(chan error, 1)
		pipe.Write([]byte("chunk"), func(err error) { taken <- err })
		if err := <-taken; err != nil {
			t.Errorf("chunk %d: %v", i, err)
		}
	}
	pipe.Close(nil)
	endless := event.NewPipe(-1)
	w = start(t, Options{Handler: answer(func(*event.Request) (*event.Response, error) {
		return &event.Response{Status: 200, Body: endless}, nil
	})})
	w.do("HEAD", "/", nil)
	for written := 0; ; written += 1 << 20 {
		taken := make(chan error, 1)
		endless.Write(make([]byte, 1<<20), func(err error) { taken <- err })
		if <-taken != nil {
			break // it was canceled
		}
		if written > 2*drainMost {
			t.Fatal("an endless body is read for ever")
		}
	}
}

// The status line has the response's phrase, if only an empty one; what is no ASCII
// leaves it empty. The log has the phrase, or the usual one.
func TestReasonPhrase(t *testing.T) {
	logged := make(chan string, 3)
	w := start(t, Options{Log: func(r RequestLog) { logged <- r.Reason }, Handler: answer(func(r *event.Request) (*event.Response, error) {
		phrase, err := url.PathUnescape(r.URL[strings.LastIndex(r.URL, "/")+1:])
		return &event.Response{Status: 299, StatusText: phrase}, err
	})})
	for _, c := range []struct{ path, status, log string }{{"/Fine%20so", "299 Fine so", "Fine so"}, {"/", "299 ", "Successful"}, {"/caf%C3%A9", "299 ", "café"}} {
		if resp, _ := w.do("GET", c.path, nil); resp.Status != c.status {
			t.Errorf("%s: %q, want %q", c.path, resp.Status, c.status)
		}
		if got := <-logged; got != c.log {
			t.Errorf("%s is logged as %q", c.path, got)
		}
	}
}

// Each chunk of a stream arrives before the next one is made (server-sent
// events), and a stream that breaks does not look complete.
func TestStreaming(t *testing.T) {
	pipe := event.NewPipe(-1)
	w := start(t, Options{Handler: answer(func(*event.Request) (*event.Response, error) {
		return &event.Response{Status: 200, Header: event.Header{{Name: "Content-Type", Value: "text/event-stream"}}, Body: pipe}, nil
	})})
	resp, err := w.client.Get("http://" + w.addr + "/") // returns with the head alone
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for i := range 3 {
		want := fmt.Sprintf("data: %d\n\n", i)
		pipe.Write([]byte(want), func(error) {})
		got := make([]byte, len(want))
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != want {
			t.Fatalf("chunk %d: %q, %v", i, got, err)
		}
	}
	pipe.Close(errors.New("the stream broke"))
	if rest, err := io.ReadAll(resp.Body); err == nil {
		t.Fatalf("a broken stream ended cleanly, after %q", rest)
	}
}

// A client whose connection breaks cancels the request while the worker thinks;
// one that hangs up is noticed when something is written to it, as in workerd:
// until then it may have closed its sending side alone.
func TestDisconnect(t *testing.T) {
	canceled := make(chan error, 2)
	entered := make(chan func(*event.Response, error), 1)
	w := start(t, Options{Handler: func(_ *event.Request, done func(*event.Response, error)) func(error) {
		entered <- done
		return func(err error) { canceled <- err }
	}})
	for _, streaming := range []bool{false, true} {
		c, err := net.Dial("tcp", w.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		done := wait(t, "the request", entered)
		pipe, broken := event.NewPipe(-1), make(chan error, 1)
		pipe.OnCancel(func(err error) { broken <- err })
		if streaming {
			done(&event.Response{Status: 200, Body: pipe}, nil)
			if _, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
				t.Fatal(err)
			}
			c.Close()
			var more func(error)
			more = func(err error) {
				if err == nil {
					go pipe.Write([]byte("more"), more)
				}
			}
			more(nil)
		} else {
			c.(*net.TCPConn).SetLinger(0) // a reset instead of the end of sending
			c.Close()
		}
		if err := wait(t, "cancel", canceled); err != errGone {
			t.Errorf("cancelled with %v", err)
		}
		if !streaming {
			done(&event.Response{Status: 200, Body: pipe}, nil) // too late
		}
		wait(t, "the body's cancel", broken)
	}
}

// A large upload to a slow worker waits on the network: what is read ahead is
// bounded, the bytes arrive whole, and the answer may begin before they end.
func TestUploadWithBackPressure(t *testing.T) {
	const total = 8 << 20
	bodies := make(chan event.Body, 1)
	reply := event.NewPipe(-1)
	w := start(t, Options{Handler: answer(func(r *event.Request) (*event.Response, error) {
		bodies <- r.Body
		return &event.Response{Status: 200, Body: reply}, nil
	})})
	var mu sync.Mutex
	written := 0
	payload := bytes.Repeat([]byte("0123456789abcdef"), total/16)
	src := &countingReader{r: bytes.NewReader(payload), count: func(n int) { mu.Lock(); written += n; mu.Unlock() }}
	req, _ := http.NewRequest("POST", "http://"+w.addr+"/", src)
	req.ContentLength = total
	resp, err := w.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body := wait(t, "the body", bodies)
	if body.Length() != total {
		t.Errorf("length %d", body.Length())
	}
	sum, received := sha256.New(), 0
	for {
		got := make(chan error, 1)
		body.Read(func(chunk []byte, err error) {
			if len(chunk) > netx.ChunkBytes {
				t.Errorf("a chunk of %d bytes", len(chunk))
			}
			sum.Write(chunk)
			received += len(chunk)
			got <- err
		})
		if err := wait(t, "a chunk", got); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if received < 1<<20 {
			mu.Lock()
			if ahead := written - received; ahead > 7<<20 { // the kernel's socket buffers are in this
				t.Errorf("%d bytes were taken ahead of demand", ahead)
			}
			mu.Unlock()
		}
	}
	if want := sha256.Sum256(payload); received != total || !bytes.Equal(sum.Sum(nil), want[:]) {
		t.Errorf("received %d bytes, or other ones", received)
	}
	reply.Close(nil)
	io.Copy(io.Discard, resp.Body)
}

type countingReader struct {
	r     io.Reader
	count func(int)
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.count(n)
	return n, err
}

// A worker's error is the stack for a program, JSON for who asks for it, and for a
// browser a page with the place in the source, with everything that it says escaped. The
// conditions are miniflare's.
func TestErrorPage(t *testing.T) {
	const title = "TypeError: <b> is not a function"
	thrown := error(&event.Error{Name: "TypeError", Message: "<b> is not a function", Stack: title + "\n    at fetch (node_modules/x.js:1:1)\n    at fetch (src/index.ts:3:7)"})
	around := Surroundings{
		Sources: func() map[string][]byte {
			return map[string][]byte{"src/index.ts": []byte("one\ntwo\nlet a = <i>;\nfour\n")}
		},
		Logs:      func() []string { return []string{"warn: <u>"} },
		Dashboard: func() string { return "http://127.0.0.1:1/dashboard/" },
	}
	w := start(t, Options{Around: around, Handler: answer(func(*event.Request) (*event.Response, error) { return nil, thrown })})
	stack := title + "\n    at fetch (node_modules/x.js:1:1)\n    at fetch (src/index.ts:3:7)"
	for _, header := range [][]string{{}, {"Accept", "application/json"}, {"Accept", "*/*", "User-Agent", "curl/8.1"}} {
		resp, body := w.do("GET", "/", nil, header...)
		if resp.StatusCode != 500 || body != stack || resp.Header.Get("Content-Type") != "text/plain;charset=UTF-8" {
			t.Errorf("%v: %v %q", header, resp.Status, body)
		}
	}
	for _, accept := range []string{"text/html,*/*;q=0.8", "*/*", "text/*"} {
		resp, body := w.do("GET", "/%3Cs%3E?a=%22%3Cs%3E", nil, "Accept", accept, "X-Note", "<em>", "Cookie", "sid=1")
		for _, want := range []string{"&lt;b&gt; is not a function</h1>", "<code>src/index.ts:3:7</code>", "&gt; 3 | let a = &lt;i&gt;;", "warn: &lt;u&gt;", "&lt;em&gt;",
			`href="http://127.0.0.1:1/dashboard/"`, "<dt>Cookie</dt><dd>(not shown)</dd>"} {
			if !strings.Contains(body, want) {
				t.Errorf("the page lacks %s: %s", want, body)
			}
		}
		if resp.StatusCode != 500 || resp.Header.Get("Content-Type") != "text/html;charset=utf-8" || !strings.Contains(resp.Header.Get("Content-Security-Policy"), "default-src 'none'") ||
			regexp.MustCompile("<(b|i|u|s|em)>").MatchString(body) {
			t.Errorf("%v %q", resp.Header, body)
		}
	}
	resp, body := w.do("GET", "/", nil, "Accept", "text/html", "MF-Disable-Pretty-Error", "1")
	if want := `{"name":"TypeError","message":"<b> is not a function","stack":"` + strings.ReplaceAll(stack, "\n", `\n`) + `"}`; body != want ||
		resp.Header.Get("Content-Type") != "application/json" || resp.Header.Get("MF-Experimental-Error-Stack") != "true" {
		t.Errorf("%v %q", resp.Header, body)
	}
	if payload, err := url.PathUnescape(resp.Header.Get("MF-Experimental-Error-Stack-Payload")); err != nil || payload != body {
		t.Errorf("the payload is %q: %v", payload, err)
	}
	thrown = &event.Error{Message: "a string"} // throw "a string"
	if _, body := w.do("GET", "/", nil); body != "Error: a string" {
		t.Errorf("%q", body)
	}
	if _, body := w.do("GET", "/", nil, "MF-Disable-Pretty-Error", "1"); body != `{"message":"a string"}` {
		t.Errorf("%q", body)
	}
}

// Only local names reach the worker: the others are what DNS rebinding looks like.
func TestHostCheck(t *testing.T) {
	w := start(t, Options{AllowedHosts: []string{"dev.example", ".wild.example"}, Handler: answer(func(*event.Request) (*event.Response, error) { return text("in") })})
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST:8787": true, "127.0.0.1": true, "[::1]:8787": true, "a.localhost": true, "dev.example": true,
		"x.wild.example:80": true, "wild.example": true,
		"evil.example": false, "localhost.evil.example": false, "127.0.0.1.evil.example": false, "x.dev.example": false, "evillocalhost": false,
		"notwild.example": false, "10.1.2.3": false, "localhost:80@evil.example": false, "[::1": false, "[::1]x": false, "localhost:http": false, "localhost/": false,
	} {
		c, err := net.Dial("tcp", w.addr)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", host)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(host, err)
		}
		body, _ := io.ReadAll(resp.Body)
		c.Close()
		if want != (resp.StatusCode == 200 && string(body) == "in") {
			t.Errorf("%s: %v", host, resp.Status)
		}
		if !want && resp.StatusCode == 403 && !strings.Contains(string(body), "--allowed-hosts") {
			t.Errorf("%s: the refusal does not say what to do: %q", host, body)
		}
	}
}

// A body that the worker does not read to its end neither blocks its
// connection nor is taken for the next request.
func TestUnreadUpload(t *testing.T) {
	w := start(t, Options{Handler: answer(func(r *event.Request) (*event.Response, error) {
		if r.Body != nil {
			r.Body.Read(func([]byte, error) {})
			r.Body.Read(func([]byte, error) {})
		}
		return text("early")
	})})
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n")
	br := bufio.NewReader(c)
	resp, err := http.ReadResponse(br, nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "early" {
		t.Fatalf("%q %v", body, err)
	}
	fmt.Fprintf(c, "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if rest, _ := io.ReadAll(br); len(rest) > 0 {
		t.Errorf("the body was answered as a request: %q", rest)
	}
}

// A short body that nobody reads costs no connection, and the server no panic: the
// next request on it is answered, however the body and the response are framed.
func TestUnreadBodyKeepsConnection(t *testing.T) {
	w := start(t, Options{Handler: answer(func(r *event.Request) (*event.Response, error) {
		if strings.Contains(r.URL, "chunked") {
			return &event.Response{Status: 200, Body: netx.NewReaderBody(io.NopCloser(strings.NewReader("early")), -1, func(_ string, fn func()) { go fn() })}, nil
		}
		return text("early")
	})})
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	br := bufio.NewReader(c)
	for i, path := range []string{"/", "/chunked", "/", "/chunked"} {
		head := "Content-Length: 100\r\n\r\n" + strings.Repeat("b", 100)
		if i >= 2 {
			head = "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
		}
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\n%s", path, head)
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			t.Fatal(i, err)
		}
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "early" {
			t.Fatalf("%d: %q %v", i, body, err)
		}
	}
}

// With points on, each effect has its two sides, and the end of a chunked body
// is on the wire when its after-side is hit.
func TestKillPoints(t *testing.T) {
	var mu sync.Mutex
	var labels []string
	closed := make(chan struct{}, 10)
	points := killpoint.New(killpoint.Options{Record: func(p killpoint.Point) {
		mu.Lock()
		labels = append(labels, string(p.Kind)+":"+string(p.Side))
		mu.Unlock()
		if p.Kind == killpoint.Close && p.Side == killpoint.After {
			closed <- struct{}{}
		}
	}})
	w := start(t, Options{Points: points, Handler: answer(func(r *event.Request) (*event.Response, error) {
		if strings.HasSuffix(r.URL, "/text") {
			return text("hi")
		}
		pipe := event.NewPipe(-1)
		pipe.Write([]byte("a"), func(error) { pipe.Write([]byte("b"), func(error) { pipe.Close(nil) }) })
		return &event.Response{Status: 200, Body: pipe}, nil
	})})
	check := func(path, body, want string) {
		mu.Lock()
		labels = nil
		mu.Unlock()
		if _, got := w.do("GET", path, nil); got != body {
			t.Errorf("%s: %q", path, got)
		}
		wait(t, "close:after", closed)
		mu.Lock()
		defer mu.Unlock()
		if got := strings.Join(labels, " "); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
	check("/stream", "ab", "response:before response:after chunk:before chunk:after chunk:before chunk:after close:before close:after")
	check("/text", "hi", "response:before response:after chunk:before chunk:after close:before close:after")
}

// A worker that says Content-Encoding: gzip gives plain bytes; the client's
// Accept-Encoding decides in the end; encodeBody: "manual" is left alone.
func TestContentEncoding(t *testing.T) {
	var resp event.Response
	w := start(t, Options{Handler: answer(func(*event.Request) (*event.Response, error) {
		out := resp
		out.Body = event.Bytes([]byte("plain"))
		return &out, nil
	})})
	gz := event.Field{Name: "Content-Encoding", Value: "gzip"}
	for _, c := range []struct {
		header  event.Header
		manual  string
		accept  string
		want    string
		encoded bool
	}{
		{event.Header{gz}, "", "", "gzip", true},
		{event.Header{gz}, "", "br;q=0.5, gzip;q=0.1", "br", true},
		{event.Header{gz}, "", "identity", "", false},
		{event.Header{gz}, "manual", "br", "gzip", false},
		{event.Header{{Name: "Content-Type", Value: "text/plain; charset=utf-8"}}, "", "gzip, deflate, br", "gzip", true},
		{event.Header{{Name: "Content-Type", Value: "image/png"}}, "", "gzip", "", false},
		{event.Header{{Name: "Content-Type", Value: "text/event-stream"}}, "", "gzip", "", false},
	} {
		resp = event.Response{Status: 200, Header: c.header, EncodeBody: c.manual}
		var header []string
		if c.accept != "" {
			header = []string{"Accept-Encoding", c.accept}
		}
		got, body := w.do("GET", "/", nil, header...)
		if got.Header.Get("Content-Encoding") != c.want || (body != "plain") != c.encoded {
			t.Errorf("%+v: %q, body %q", c, got.Header.Get("Content-Encoding"), body)
		}
	}
}

// What comes above the limit is refused at once, and the place of a finished
// request is free again.
func TestMaxInFlight(t *testing.T) {
	entered := make(chan func(*event.Response, error), 4)
	w := start(t, Options{MaxInFlight: 1, Handler: func(_ *event.Request, done func(*event.Response, error)) func(error) {
		entered <- done
		return nil
	}})
	for range 2 {
		first := make(chan string, 1)
		go func() {
			resp, err := w.client.Get("http://" + w.addr + "/")
			if err != nil {
				first <- err.Error()
				return
			}
			defer resp.Body.Close()
			all, _ := io.ReadAll(resp.Body)
			first <- string(all)
		}()
		done := wait(t, "the request", entered)
		if resp, body := w.do("GET", "/", nil); resp.StatusCode != 503 || !strings.Contains(body, "Too many") {
			t.Errorf("%v %q", resp.Status, body)
		}
		done(text("first"))
		if got := wait(t, "the answer", first); got != "first" {
			t.Errorf("%q", got)
		}
		for w.g.inFlight.Load() != 0 { // the handler returns after its answer has arrived
			runtime.Gosched()
		}
	}
}

// Close lets a request in progress finish, and cuts what outlasts its context.
func TestClose(t *testing.T) {
	entered := make(chan func(*event.Response, error), 1)
	canceled := make(chan error, 1)
	w := start(t, Options{Handler: func(_ *event.Request, done func(*event.Response, error)) func(error) {
		entered <- done
		return func(err error) { canceled <- err }
	}})
	answers := make(chan error, 1)
	go func() {
		resp, err := w.client.Get("http://" + w.addr + "/")
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		answers <- err
	}()
	done := wait(t, "the request", entered)
	pipe := event.NewPipe(-1)
	done(&event.Response{Status: 200, Body: pipe}, nil) // a stream without an end
	ctx, expire := context.WithCancel(context.Background())
	expire()
	if err := w.g.Close(ctx); err != nil {
		t.Error(err)
	}
	if err := wait(t, "the client's end", answers); err == nil {
		t.Error("a stream that was cut looked complete")
	}
	if err := wait(t, "cancel", canceled); err != errGone {
		t.Error(err)
	}
}

// A request whose body breaks off has no answer when that is what the worker
// fails with, and the worker's own otherwise.
func TestBodyBreaksOff(t *testing.T) {
	w := start(t, Options{Handler: func(r *event.Request, done func(*event.Response, error)) func(error) {
		r.Body.Read(func(_ []byte, err error) {
			if strings.HasSuffix(r.URL, "/own") {
				err = errors.New("the worker's own")
			}
			done(nil, err)
		})
		return nil
	}})
	for path, want := range map[string]string{"/": "", "/own": "the worker's own"} {
		for _, framing := range []string{"Content-Length: 3\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nzz\r\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n"} {
			c, err := net.Dial("tcp", w.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\n%s", path, framing)
			c.(*net.TCPConn).CloseWrite()
			all, err := io.ReadAll(c)
			_, body, _ := strings.Cut(string(all), "\r\n\r\n")
			if err != nil || body != want || (want == "") != (len(all) == 0) {
				t.Errorf("%s %q: %q %v", path, framing, all, err)
			}
		}
	}
}
