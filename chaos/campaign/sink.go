package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"

	"minido.dev/minido/chaos/history"
	"minido.dev/minido/internal/sched"
)

// sink is a server on which side effects arrive: a request to URL/NAME is the
// effect NAME, its header Idempotency-Key says which other requests are the same
// one. It remembers nothing itself: each arrival goes into the history of the
// case that runs, for the checker to count. Safe for concurrent use.
type sink struct {
	url    string
	server *http.Server

	mu      sync.Mutex
	history *history.Recorder // of the case that runs; nil between cases
	keys    map[string]bool   // seen in this case
}

// maxEffect bounds the body of an effect that is kept, in bytes.
const maxEffect = 64 << 10

func newSink(s sched.Scheduler) (*sink, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("campaign: effect sink: %w", err)
	}
	k := &sink{url: "http://" + listener.Addr().String()}
	k.server = &http.Server{Handler: k}
	s.Go("effect sink", func() {
		// It ends when close is called; until then it has nothing to report.
		_ = k.server.Serve(listener)
	})
	return k, nil
}

// begin names the history of the next case.
func (k *sink) begin(h *history.Recorder) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.history, k.keys = h, map[string]bool{}
}

// ServeHTTP implements http.Handler. The answer says whether the key was known,
// as an idempotent service would.
func (k *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxEffect))
	if err != nil {
		return // cut before it was complete: it has not arrived
	}
	key := r.Header.Get("Idempotency-Key")
	k.mu.Lock()
	h, again := k.history, key != "" && k.keys[key]
	k.keys[key] = true
	k.mu.Unlock()
	if h != nil {
		h.Add(history.Event{Kind: history.Effect, Who: "sink", Text: strings.TrimPrefix(r.URL.Path, "/"), Op: key, Data: body})
	}
	w.Header().Set("Content-Type", "application/json")
	// A client that is gone has had its effect all the same.
	_, _ = fmt.Fprintf(w, "{\"ok\":true,\"again\":%v}\n", again)
}

func (k *sink) close() error {
	if err := k.server.Close(); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("campaign: effect sink: %w", err)
	}
	return nil
}
