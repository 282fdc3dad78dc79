package e2e

import (
	"context"
	"net/http"
	"net/http/httptest"
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
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
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

// crash kills the sandbox, with what runs in it, and starts an empty one.
func (s *sandbox) crash() {
	s.t.Helper()
	u, err := url.Parse(s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.child.Kill(); err != nil {
		s.t.Fatal(err)
	}
	s.start(u.Port())
}

type boot struct {
	Boot string
	Runs int
	Tmp  []string
}

func (s *sandbox) boot() (b boot) {
	s.t.Helper()
	get(s.t, s.url+"/boot", &b)
	return b
}

// outside counts what arrives at the world outside, by path and idempotency key.
type outside struct {
	server *httptest.Server
	mu     sync.Mutex
	keys   map[string][]string // guarded by mu
}

func startOutside(t *testing.T) *outside {
	o := &outside{keys: map[string][]string{}}
	o.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.keys[r.URL.Path] = append(o.keys[r.URL.Path], r.Header.Get("Idempotency-Key"))
		w.WriteHeader(http.StatusOK)
	}))
	t.Cleanup(o.server.Close)
	return o
}

// check holds what arrived for a session: what has a key always has the same, what
// has none arrived at most once. It returns how many webhooks there were.
func (o *outside) check(t *testing.T, session string) (hooks int) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for path, keys := range o.keys {
		if !strings.HasPrefix(path, "/"+session+"-") {
			continue
		}
		if strings.Contains(path, "-hook-") {
			if hooks += len(keys); len(keys) > 1 {
				t.Errorf("%s arrived %d times", path, len(keys))
			}
			continue
		}
		for _, key := range keys {
			if key == "" || key != keys[0] {
				t.Errorf("%s arrived with the keys %q", path, keys)
			}
		}
	}
	return hooks
}
