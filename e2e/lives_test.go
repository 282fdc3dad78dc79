package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"minido.dev/minido/chaos/agentrpc"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
)

// lives is a project that is started, killed and started again on the same
// files. Confined to its test's goroutine.
type lives struct {
	t       *testing.T
	state   string
	flags   []string
	start   func(t *testing.T, flags ...string) server
	server  server
	history *history.Recorder
	seen    *seen // what the history was told
	clients *int  // that were dialled, by copies of this too
}

// seen collects text that other goroutines write. Guarded by mu.
type seen struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (s *seen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *seen) has(check func(text string) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return check(s.text.String())
}

// begin starts a fixture's first life. The fixture's packages must be there.
func begin(t *testing.T, name string, vars ...string) *lives {
	t.Helper()
	return beginWith(t, name, nil, vars...)
}

// beginWith is begin with further flags.
func beginWith(t *testing.T, name string, flags []string, vars ...string) *lives {
	t.Helper()
	return beginOn(t, dev, name, flags, vars...)
}

// beginOn is beginWith on any server that reads wrangler's flags.
func beginOn(t *testing.T, start func(*testing.T, ...string) server, name string, flags []string, vars ...string) *lives {
	t.Helper()
	if _, err := os.Stat(filepath.Join(fixture(t, name), "package.json")); err == nil {
		if _, err := os.Stat(filepath.Join(fixture(t, name), "node_modules")); err != nil {
			t.Fatalf("fixtures/%s is not installed: run `make npm` first", name)
		}
	}
	l := &lives{t: t, state: t.TempDir(), seen: &seen{}, start: start, clients: new(int)}
	l.history = history.NewRecorder(clock.Real{}, l.seen)
	l.flags = []string{"--config", filepath.Join(fixture(t, name), "wrangler.jsonc"), "--port", "0", "--persist-to", l.state}
	l.flags = append(l.flags, flags...)
	for _, v := range vars {
		l.flags = append(l.flags, "--var", v)
	}
	l.server = l.start(t, l.flags...)
	return l
}

// crash ends this life by SIGKILL and begins the next. Nobody sends a request.
func (l *lives) crash() {
	l.t.Helper()
	l.kill()
	l.server = l.start(l.t, l.flags...)
}

func (l *lives) kill() {
	l.t.Helper()
	if err := l.server.Kill(); err != nil {
		l.t.Fatal(err)
	}
}

// dial connects a client to an agent, given as in the URL: research-agent/r1.
func (l *lives) dial(agent string) *agentrpc.Client {
	l.t.Helper()
	*l.clients++
	class, name := filepath.Split(agent)
	threads := sched.NewThreads(clock.Real{})
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c, err := agentrpc.Dial(ctx, agentrpc.Options{
		URL: l.server.url, Agent: filepath.Clean(class), Name: name, Who: fmt.Sprintf("client-%d", *l.clients),
		History: l.history, Scheduler: threads,
	})
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		c.Close()
		if err := threads.Close(ctx); err != nil {
			l.t.Error(err)
		}
	})
	return c
}

// limit bounds every single wait of these tests.
const limit = 90 * time.Second

// call calls a method and reads its result into v, unless v is nil.
func call(t *testing.T, c *agentrpc.Client, v any, method string, args ...any) {
	t.Helper()
	if err := tryCall(c, v, method, args...); err != nil {
		t.Fatal(err)
	}
}

func tryCall(c *agentrpc.Client, v any, method string, args ...any) error {
	data, err := json.Marshal(append([]any{}, args...))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	result, err := c.Call(ctx, method, data)
	if err != nil || v == nil || len(result) == 0 {
		return err
	}
	return json.Unmarshal(result, v)
}

// until waits until check is true; it is for conditions that the test can only
// ask for.
func until(t *testing.T, what string, check func() bool) {
	t.Helper()
	err := wait.Until(t.Context(), clock.Real{}, limit, what, func() (bool, error) { return check(), nil })
	if err != nil {
		t.Fatal(err)
	}
}

// untilCall calls a method until its result is as wanted, and returns it.
func untilCall[T any](t *testing.T, c *agentrpc.Client, method string, wanted func(T) bool, args ...any) T {
	t.Helper()
	var last T
	var callErr error
	err := wait.Until(t.Context(), clock.Real{}, limit, method, func() (bool, error) {
		var v T
		if callErr = tryCall(c, &v, method, args...); callErr != nil {
			return false, callErr
		}
		last = v
		return wanted(v), nil
	})
	if err != nil {
		t.Fatalf("%v; the last answer was %+v", err, last)
	}
	return last
}
