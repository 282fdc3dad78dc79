package vitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"minido.dev/minido/chaos/sim"
	"minido.dev/minido/chaos/upstream"
	"minido.dev/minido/runtime/world"
)

const (
	// modelHost is where a world's scripted model answers.
	modelHost = "model.minido.test"
	// modelPace is the virtual time before each piece of its answers.
	modelPace = 5 * time.Millisecond
)

// scripted is what a test has the model answer to one request: a reply, or a
// refusal with an HTTP status.
type scripted struct {
	Text, Reasoning []string
	Tool            *struct {
		Name      string
		Arguments json.RawMessage
	}
	Status int
}

// model is the scripted model of one world. It gives the scripted answers in their
// order, and refuses what comes after them. It belongs to its world's goroutine.
type model struct {
	note   func(kind, text string)
	server *upstream.Server
	queue  []scripted
	rest   upstream.Script // answers what queue does not; nil refuses it
	reply  upstream.Reply  // to the request that is being served
}

// serve puts the model on a world's network.
func (m *model) serve(w *world.World) error {
	var err error
	m.server, err = upstream.New(upstream.Options{Scheduler: w.Sim.Scheduler(), Pace: modelPace,
		Script: m.answer})
	if err != nil {
		return fmt.Errorf("vitest: %w", err)
	}
	w.Net.Handle(modelHost, sim.Handler(w.Sim, m))
	return nil
}

// answer is the upstream's script.
func (m *model) answer(c upstream.Conversation) upstream.Reply {
	if m.reply.Text == nil && m.reply.Reasoning == nil && m.reply.Tool == nil && m.rest != nil {
		return m.rest(c)
	}
	return m.reply
}

// ServeHTTP implements http.Handler. Nothing waits between the choice of the answer
// and the provider's look at it.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.note("model", r.Method+" "+r.URL.Path)
	if r.Method == http.MethodPost {
		if len(m.queue) == 0 && m.rest == nil {
			http.Error(w, `{"error":{"message":"the model has no answer left: a test scripts them with model.reply(...) of minido:test"}}`, http.StatusNotImplemented)
			return
		}
		m.take()
	}
	m.server.Handler().ServeHTTP(w, r)
}

// take makes the next scripted answer the one to be given; there may be none left.
func (m *model) take() {
	m.reply = upstream.Reply{}
	if len(m.queue) == 0 {
		return
	}
	next := m.queue[0]
	m.queue = m.queue[1:]
	if next.Status != 0 {
		m.server.Refuse(next.Status)
	}
	m.reply = upstream.Reply{Text: next.Text, Reasoning: next.Reasoning}
	if next.Tool != nil {
		m.reply.Tool = &upstream.Call{Name: next.Tool.Name, Arguments: next.Tool.Arguments}
	}
}

// count has the model count n words to everything that is not scripted, and go on
// where its words in the conversation end.
func (m *model) count(n int) error {
	if n < 1 {
		return fmt.Errorf("model.words: %d is no number of words; use 1 or more", n)
	}
	m.rest = upstream.Words(n)
	return nil
}

// script adds answers, as JSON.
func (m *model) script(text string) error {
	var more []scripted
	if err := json.Unmarshal([]byte(text), &more); err != nil {
		return fmt.Errorf("model.reply: %w", err)
	}
	for _, s := range more {
		if s.Status != 0 && (s.Status < 400 || s.Status > 599) {
			return fmt.Errorf("model.reply: status %d is no refusal; use 400 to 599", s.Status)
		}
	}
	m.queue = append(m.queue, more...)
	return nil
}

// asked is one request to the model, as a test sees it.
type asked struct {
	Path     string   `json:"path"`
	Model    string   `json:"model"`
	Messages []said   `json:"messages"`
	Tools    []string `json:"tools"`
}

// said is a message of a conversation.
type said struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// requests lists what the model was asked, in order. Those that found no answer are
// not among them.
func (m *model) requests() []asked {
	all := []asked{}
	for _, r := range m.server.Requests() {
		a := asked{Path: r.Path, Model: r.Conversation.Model, Messages: []said{}, Tools: append([]string{}, r.Conversation.Tools...)}
		for _, t := range r.Conversation.Turns {
			a.Messages = append(a.Messages, said{t.Role, t.Text})
		}
		all = append(all, a)
	}
	return all
}
