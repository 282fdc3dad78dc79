package e2e

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"minido.dev/minido/chaos/process"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
)

// sandbox is the process of fixtures/session/sandbox in which commands run. It
// keeps its port when it is started again.
type sandbox struct {
	t     *testing.T
	dir   string
	url   string
	child *process.Child
	dead  sync.RWMutex // held from its death until the next one listens
}

func startSandbox(t *testing.T) *sandbox {
	t.Helper()
	s := &sandbox{t: t, dir: t.TempDir()}
	s.start("0")
	return s
}

func (s *sandbox) start(port string) {
	s.t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		s.t.Fatalf("the sandbox needs Node: %v", err)
	}
	threads := sched.NewThreads(clock.Real{})
	child, err := process.Start(process.Options{Scheduler: threads, Dir: s.dir,
		Command: []string{node, filepath.Join(fixture(s.t, "session"), "sandbox", "sandbox.mjs"), s.dir, port}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := child.Close(); err != nil {
			s.t.Error(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := threads.Close(ctx); err != nil {
			s.t.Errorf("left running: %v", err)
		}
	})
	if s.url, err = child.Ready(context.Background(), readyLimit); err != nil {
		s.t.Fatal(err)
	}
	s.child = child
}

// crash kills the sandbox, with what runs in it, and starts an empty one. What
// is asked of it in between waits: a session gives up after a few attempts.
func (s *sandbox) crash() {
	s.t.Helper()
	port := s.address().Port()
	s.dead.Lock()
	defer s.dead.Unlock()
	if err := s.child.Kill(); err != nil {
		s.t.Fatal(err)
	}
	s.start(port)
}

type boot struct {
	Boot string
	Runs int
	Tmp  []string
}

// boot is what a session's box says of itself.
func (s *sandbox) boot(session string) (b boot) {
	s.t.Helper()
	get(s.t, s.url+"/"+session+"/boot", &b)
	return b
}

// address is that of the sandbox that lives, or of the one that starts.
func (s *sandbox) address() *url.URL {
	s.dead.RLock()
	defer s.dead.RUnlock()
	u, err := url.Parse(s.url)
	if err != nil {
		panic(err) // Ready gave it
	}
	return u
}

// behind puts the tool before the sandbox: a request has the label
// SESSION/VERB on its way there, and SESSION/VERB/done on its way back.
func (s *sandbox) behind(o *tool) (address string) {
	s.t.Helper()
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(s.address()) }}
	proxy.ModifyResponse = func(r *http.Response) error {
		o.pass(r.Request, strings.TrimPrefix(r.Request.URL.Path, "/")+"/done")
		return nil
	}
	// Whoever asked is gone, or the sandbox is.
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body) // a server notices that a client leaves once it has read the request
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		o.pass(r, strings.TrimPrefix(r.URL.Path, "/"))
		if r.Context().Err() != nil {
			return // nothing of a caller that left reaches the sandbox
		}
		proxy.ServeHTTP(w, r)
	}))
	s.t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
	return front.URL
}
