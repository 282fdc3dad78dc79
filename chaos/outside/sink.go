// Package outside has the services that a case's server talks to and that outlive it:
// the effect sink and a scripted model. Both write into the history of the case that
// runs.
package outside

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
	"minido.dev/minido/chaos/upstream"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
)

// Sink is a server on which side effects arrive: a request to URL/NAME is the
// effect NAME, its header Idempotency-Key says which other requests are the same
// one. It remembers nothing itself: each arrival goes into the history of the
// case that runs, for the checker to count. Safe for concurrent use.
type Sink struct {
	URL    string       // "" for one that serves on no socket
	server *http.Server // nil for one that serves on no socket
	clock  clock.Clock

	mu      sync.Mutex
	history *history.Recorder // of the case that runs; nil between cases
	keys    map[string]bool   // seen in this case
	faults  upstream.Faults   // of this case
}

// maxEffect bounds the body of an effect that is kept, in bytes.
const maxEffect = 64 << 10

// NewSink is a sink on a loopback socket. Close must be called.
func NewSink(s sched.Scheduler) (*Sink, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("outside: effect sink: %w", err)
	}
	k := &Sink{URL: "http://" + listener.Addr().String(), clock: s.Clock()}
	k.server = &http.Server{Handler: k}
	s.Go("effect sink", func() {
		// It ends when Close is called; until then it has nothing to report.
		_ = k.server.Serve(listener)
	})
	return k, nil
}

// SinkAt is a sink for a network that is none, such as a simulation's.
func SinkAt(c clock.Clock) *Sink { return &Sink{clock: c} }

// Begin names the history of the next case, and what is done to its requests.
func (k *Sink) Begin(h *history.Recorder, faults []upstream.Fault) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.history, k.keys, k.faults = h, map[string]bool{}, upstream.NewFaults(faults)
}

// Arrived is how many requests came since Begin.
func (k *Sink) Arrived() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.faults.Arrived()
}

// ServeHTTP implements http.Handler. The answer says whether the key was known,
// as an idempotent service would. A request that a fault refuses, or answers with
// a status, has no effect; every other fault spoils the answer alone.
func (k *Sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxEffect))
	if err != nil {
		return // cut before it was complete: it has not arrived
	}
	key := r.Header.Get("Idempotency-Key")
	k.mu.Lock()
	h, fault := k.history, k.faults.Next()
	none := fault.Is(upstream.Refuse) || fault.Is(upstream.Status)
	again := key != "" && k.keys[key]
	k.keys[key] = again || !none
	k.mu.Unlock()
	if h != nil && fault != nil {
		h.Add(history.Event{Kind: history.Note, Who: history.ByFault, Text: "sink." + fault.String()})
	}
	w = fault.Apply(w)
	switch {
	case fault.Is(upstream.Refuse):
		return
	case fault.Is(upstream.Status):
		http.Error(w, "refused by a fault", fault.Status)
		return
	}
	if h != nil {
		h.Add(history.Event{Kind: history.Effect, Who: "sink", Text: strings.TrimPrefix(r.URL.Path, "/"), Op: key, Data: body})
	}
	if fault != nil && wait.Pause(r.Context(), k.clock, fault.For) != nil {
		return // the client is gone
	}
	w.Header().Set("Content-Type", "application/json")
	// A client that is gone has had its effect all the same.
	_, _ = fmt.Fprintf(w, "{\"ok\":true,\"again\":%v}\n", again)
}

// Close ends the server.
func (k *Sink) Close() error {
	if err := k.server.Close(); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("outside: effect sink: %w", err)
	}
	return nil
}
