package campaign

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/upstream"
	"minido.dev/minido/internal/sched"
)

// model is the scripted provider of one slot: each request goes into the history
// of the case that runs. Safe for concurrent use.
type model struct {
	ai     upstream.Model
	server *upstream.Server

	mu      sync.Mutex
	history *history.Recorder // of the case that runs; nil between cases
}

func newModel(s sched.Scheduler, ai upstream.Model) (*model, error) {
	m := &model{ai: ai}
	var err error
	m.server, err = upstream.Start(upstream.Options{Scheduler: s, Script: upstream.Words(ai.Words), Pace: ai.Pace, Observe: m.observe})
	if err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	return m, nil
}

// begin names the history of the next case, and what is done to its answers.
func (m *model) begin(h *history.Recorder, faults []upstream.Fault) {
	m.mu.Lock()
	m.history = h
	m.mu.Unlock()
	m.server.Begin(m.ai.Pace, faults)
}

// observe notes a request.
func (m *model) observe(r upstream.Request) {
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

// flags are what a child needs to know of the provider. A variable of the
// project's own flags comes after these, and wins.
func (m *model) flags() []string {
	flags := []string{"--ai-url", m.server.URL()}
	for _, v := range modelVars(m.server.URL()) {
		flags = append(flags, "--var", v)
	}
	return flags
}

// modelVars are the variables that name the provider at url to the providers'
// packages.
func modelVars(url string) []string {
	base := url + "/v1"
	return []string{"OPENAI_BASE_URL:" + base, "OPENAI_API_KEY:mock", "ANTHROPIC_BASE_URL:" + base, "ANTHROPIC_API_KEY:mock"}
}
