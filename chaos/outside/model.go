package outside

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/upstream"
	"minido.dev/minido/internal/sched"
)

// Model is a scripted provider: each request goes into the history
// of the case that runs. Safe for concurrent use.
type Model struct {
	ai     upstream.Model
	server *upstream.Server

	mu      sync.Mutex
	history *history.Recorder // of the case that runs; nil between cases
}

// NewModel is a provider on a loopback socket. Close must be called.
func NewModel(s sched.Scheduler, ai upstream.Model) (*Model, error) {
	return newModel(s, ai, upstream.Start)
}

// ModelAt is a provider for a network that is none, such as a simulation's.
func ModelAt(s sched.Scheduler, ai upstream.Model) (*Model, error) {
	return newModel(s, ai, upstream.New)
}

func newModel(s sched.Scheduler, ai upstream.Model, start func(upstream.Options) (*upstream.Server, error)) (*Model, error) {
	m := &Model{ai: ai}
	var err error
	if m.server, err = start(upstream.Options{Scheduler: s, Script: upstream.Words(ai.Words), Pace: ai.Pace, Observe: m.observe}); err != nil {
		return nil, fmt.Errorf("outside: %w", err)
	}
	return m, nil
}

// Close ends the server.
func (m *Model) Close() error { return m.server.Close() }

// Arrived is how many requests came since Begin.
func (m *Model) Arrived() int { return m.server.Arrived() }

// Handler serves the provider's requests.
func (m *Model) Handler() http.Handler { return m.server.Handler() }

// Begin names the history of the next case, and what is done to its answers.
func (m *Model) Begin(h *history.Recorder, faults []upstream.Fault) {
	m.mu.Lock()
	m.history = h
	m.mu.Unlock()
	m.server.Begin(m.ai.Pace, faults)
}

// observe notes a request.
func (m *Model) observe(r upstream.Request) {
	m.mu.Lock()
	h := m.history
	m.mu.Unlock()
	if h == nil {
		return
	}
	asked := history.Asked{Turns: len(r.Conversation.Turns), Reply: strings.Join(r.Reply.Text, "")}
	for _, t := range r.Conversation.Turns {
		if t.Role == "user" {
			asked.User = t.Text
		}
	}
	if r.Reply.Tool != nil {
		asked.Tool = r.Reply.Tool.Name
	}
	if r.Fault != nil {
		asked.Fault = string(r.Fault.Verb)
	}
	data, err := json.Marshal(asked)
	if err != nil {
		return // texts always marshal
	}
	h.Add(history.Event{Kind: history.Fetch, Who: "model", Op: r.Generation, Text: r.Path, Data: data})
}

// URL is where it answers; "" for a network that is none.
func (m *Model) URL() string { return m.server.URL() }

// Flags are what a child needs to know of the provider. A variable of the
// project's own flags comes after these, and wins.
func (m *Model) Flags() []string {
	flags := []string{"--ai-url", m.server.URL()}
	for _, v := range ModelVars(m.server.URL()) {
		flags = append(flags, "--var", v)
	}
	return flags
}

// ModelVars are the variables that name the provider at url to the providers'
// packages.
func ModelVars(url string) []string {
	base := url + "/v1"
	return []string{"OPENAI_BASE_URL:" + base, "OPENAI_API_KEY:mock", "ANTHROPIC_BASE_URL:" + base, "ANTHROPIC_API_KEY:mock"}
}
