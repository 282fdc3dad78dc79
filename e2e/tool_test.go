package e2e

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
)

// tool is what the work of the fixtures asks (their variable TOOL_URL), and the
// world outside that takes their payments and webhooks (SINK): it answers at once,
// but for labels that a test holds. It is safe for concurrent use.
type tool struct {
	t   *testing.T
	url string

	mu    sync.Mutex          // guards everything below
	asked map[string][]string // idempotency keys, by label
	gates map[string]*gate
}

// gate holds the next call with a label. Each channel is closed once.
type gate struct {
	reached, released, left chan struct{} // left: whoever called has closed the connection
	open                    sync.Once
}

func (g *gate) release() { g.open.Do(func() { close(g.released) }) }

// newTool starts a tool that ends with the test.
func newTool(t *testing.T) *tool {
	t.Helper()
	o := &tool{t: t, asked: map[string][]string{}, gates: map[string]*gate{}}
	s := httptest.NewServer(o)
	o.url = s.URL
	t.Cleanup(func() {
		s.CloseClientConnections() // a call that is still held has nobody who waits for it
		s.Close()
	})
	return o
}

// ServeHTTP answers POST /LABEL.
func (o *tool) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	o.pass(r, strings.TrimPrefix(r.URL.Path, "/"))
}

// pass counts a request, and lets it wait while its label is held.
func (o *tool) pass(r *http.Request, label string) {
	o.mu.Lock()
	o.asked[label] = append(o.asked[label], r.Header.Get("Idempotency-Key"))
	g := o.gates[label]
	delete(o.gates, label)
	o.mu.Unlock()
	if g == nil {
		return
	}
	close(g.reached)
	select {
	case <-g.released:
	case <-r.Context().Done():
		close(g.left)
	}
}

// hold makes the next call with a label wait.
func (o *tool) hold(label string) *gate {
	g := &gate{reached: make(chan struct{}), released: make(chan struct{}), left: make(chan struct{})}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gates[label] = g
	o.t.Cleanup(g.release)
	return g
}

// calls is how often a label was asked.
func (o *tool) calls(label string) int { return len(o.keys(label)) }

// keys are the idempotency keys with which a label was asked.
func (o *tool) keys(label string) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.asked[label])
}

// wait waits until the held call has come.
func (g *gate) wait(t *testing.T, what string) {
	t.Helper()
	if err := wait.Channel(t.Context(), clock.Real{}, limit, what, g.reached); err != nil {
		t.Fatal(err)
	}
}

// background does something that ends with the test at the latest: what the test
// cuts may never be answered.
func (l *lives) background(do func(ctx context.Context)) {
	l.t.Helper()
	threads := sched.NewThreads(clock.Real{})
	ctx, cancel := context.WithCancel(context.Background())
	threads.Go("background", func() { do(ctx) })
	l.t.Cleanup(func() {
		cancel()
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := threads.Close(ctx); err != nil {
			l.t.Error(err)
		}
	})
}
