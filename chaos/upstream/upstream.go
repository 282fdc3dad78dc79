// Package upstream is a scripted model provider on this machine: the wire formats that
// agents use, with the faults that a test needs and without a key or a network.
//
// It speaks OpenAI Responses (POST /v1/responses, streamed or not; a stored
// response goes on when its caller is gone, and GET /v1/responses/{id} retrieves
// it), Anthropic Messages (POST /v1/messages) and Workers AI
// (POST /ai/run/{model}, what env.AI.run becomes). The formats follow the
// providers' API references as the AI SDK's clients read them (npm ai 7,
// @ai-sdk/openai 4, @ai-sdk/anthropic 4, workers-ai-provider 4).
package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"minido.dev/minido/internal/sched"
)

// Options say what the provider is like.
type Options struct {
	// Scheduler runs the listener and the generations. Required.
	Scheduler sched.Scheduler
	// Address is where to listen, default 127.0.0.1:0.
	Address string
	// Script decides what the model says, default Words(40).
	Script Script
	// Pace is the time before each piece of an answer, default none.
	Pace time.Duration
	// Observe, when set, gets each request, on the goroutine that serves it.
	Observe func(Request)
}

// Server is a provider. It is safe for concurrent use.
type Server struct {
	options Options
	http    *http.Server
	url     string
	served  chan struct{}      // closed when the listener has ended
	ctx     context.Context    // of stored generations; ends with Close
	cancel  context.CancelFunc // ends ctx

	mu       sync.Mutex // guards everything below
	made     int        // generations so far
	stored   map[string]*generation
	requests []Request
	held     *Hold
	refusals []int
	faults   Faults // of the answers asked for since Begin
	pace     time.Duration
}

// Request is one call that the provider got.
type Request struct {
	// Path is the request's path.
	Path string
	// Conversation is what was asked; empty for a retrieval.
	Conversation Conversation
	// Generation names the answer, Reply is what it will be; empty for a
	// retrieval and for a request that is refused.
	Generation string
	Reply      Reply
	// Fault is what is done to the answer, if anything.
	Fault *Fault
}

// New makes a provider that does not listen; Handler answers for it.
func New(o Options) (*Server, error) {
	if o.Scheduler == nil {
		return nil, errors.New("upstream: Options need a Scheduler")
	}
	if o.Script == nil {
		o.Script = Words(40)
	}
	s := &Server{options: o, served: make(chan struct{}), stored: map[string]*generation{}, pace: o.Pace}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/responses", s.answer(openAI{}))
	mux.HandleFunc("GET /v1/responses/{id}", s.retrieve)
	mux.HandleFunc("POST /v1/messages", s.answer(anthropic{}))
	mux.HandleFunc("POST /ai/run/{model...}", s.answer(workersAI{}))
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	return s, nil
}

// Handler answers the provider's requests.
func (s *Server) Handler() http.Handler { return s.http.Handler }

// Start makes a provider and listens.
func Start(o Options) (*Server, error) {
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	s, err := New(o)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", o.Address)
	if err != nil {
		return nil, fmt.Errorf("upstream: %w", err)
	}
	s.url = "http://" + listener.Addr().String()
	o.Scheduler.Go("upstream", func() {
		defer close(s.served)
		// Serve ends with Close, whose error is the one that counts.
		_ = s.http.Serve(listener)
	})
	return s, nil
}

// URL is the provider's address, such as http://127.0.0.1:40123.
func (s *Server) URL() string { return s.url }

// End ends every answer, of a provider that does not listen.
func (s *Server) End() { s.cancel() }

// Close ends every answer and the listener.
func (s *Server) Close() error {
	s.End()
	err := s.http.Close()
	<-s.served
	if err != nil {
		return fmt.Errorf("upstream: close: %w", err)
	}
	return nil
}

// Requests lists the calls so far, in the order of their arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Refuse answers the next calls with the given statuses, such as 429 or 500.
func (s *Server) Refuse(statuses ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals = append(s.refusals, statuses...)
}

// Hold stops the next generation before its piece n, counted from 0: with 0
// nothing of the answer has left the provider, with the number of its pieces
// everything but the frame that ends it. One that is shorter is not stopped.
func (s *Server) Hold(n int) *Hold {
	h := &Hold{at: n, reached: make(chan struct{}), released: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = h
	return h
}

// Hold is a stop that a test has asked for. It is safe for concurrent use.
type Hold struct {
	at       int
	reached  chan struct{}
	released chan struct{}
	once     sync.Once
}

// Reached is closed when the generation stands still.
func (h *Hold) Reached() <-chan struct{} { return h.reached }

// Release lets it go on.
func (h *Hold) Release() { h.once.Do(func() { close(h.released) }) }

// format is one provider's wire format.
type format interface {
	// read understands a request's body.
	read(body []byte) (c Conversation, stream, store bool, err error)
	// begin, piece and end write one part of a streamed answer.
	begin(w *events, a *answer)
	piece(w *events, a *answer, p piece)
	end(w *events, a *answer)
	// whole is the answer of a call that does not stream.
	whole(a *answer) any
}

// answer is what a format needs to know of a generation. Immutable.
type answer struct {
	id    string
	model string
	reply Reply
}

const maxBody = 32 << 20 // bytes of a request

func (s *Server) answer(f format) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body json.RawMessage
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&body); err != nil {
			refuse(w, http.StatusBadRequest, "the body is no JSON: "+err.Error())
			return
		}
		c, stream, store, err := f.read(body)
		if err != nil {
			refuse(w, http.StatusBadRequest, err.Error())
			return
		}
		if model := r.PathValue("model"); model != "" {
			c.Model = model
		}
		g, status, fault := s.generate(r.Context(), r.URL.Path, c, store)
		if status != 0 {
			refuse(w, status, "refused by the test")
			return
		}
		w = fault.Apply(w)
		if g == nil {
			return // cut before any answer
		}
		if stream {
			s.stream(r.Context(), w, f, g)
			return
		}
		if g.wait(r.Context()) != nil {
			return // the caller is gone
		}
		writeJSON(w, f.whole(g.answer))
	}
}

// generate starts a generation, unless the call is to be refused with a status,
// or cut: then g is nil.
func (s *Server) generate(ctx context.Context, path string, c Conversation, store bool) (g *generation, refusal int, fault *Fault) {
	request := Request{Path: path, Conversation: c}
	defer func() {
		if s.options.Observe != nil {
			s.options.Observe(request)
		}
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
	fault = s.faults.Next()
	request.Fault = fault
	defer func() { s.requests = append(s.requests, request) }()
	switch {
	case len(s.refusals) > 0:
		refusal, s.refusals = s.refusals[0], s.refusals[1:]
		return nil, refusal, fault
	case fault.Is(Status):
		return nil, fault.Status, fault
	case fault.Is(Refuse):
		return nil, 0, fault
	}
	s.made++
	a := &answer{id: strconv.Itoa(s.made), model: c.Model, reply: s.options.Script(c)}
	request.Generation, request.Reply = a.id, a.reply
	g = newGeneration(a, s.held, fault, s.options.Scheduler)
	s.held = nil
	if store {
		ctx = s.ctx
		s.stored["resp_"+a.id] = g
	}
	pace := s.pace
	if fault.Is(Slow) {
		pace = fault.For
	}
	s.options.Scheduler.Go("upstream generation "+a.id, func() { g.run(ctx, s.options.Scheduler.Clock(), pace) })
	return g, 0, fault
}

func (s *Server) stream(ctx context.Context, w http.ResponseWriter, f format, g *generation) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := &events{w: w, flush: http.NewResponseController(w)}
	f.begin(out, g.answer)
	for n := 0; out.err == nil; n++ {
		p, ok, err := g.next(ctx, n)
		if err != nil {
			return // cut: the caller is gone, or the provider stops
		}
		if !ok {
			f.end(out, g.answer)
			return
		}
		f.piece(out, g.answer, p)
	}
}

// retrieve is GET /v1/responses/{id}: what a stored response has become.
func (s *Server) retrieve(w http.ResponseWriter, r *http.Request) {
	request := Request{Path: r.URL.Path}
	if s.options.Observe != nil {
		s.options.Observe(request)
	}
	s.mu.Lock()
	s.requests = append(s.requests, request)
	g := s.stored[r.PathValue("id")]
	s.mu.Unlock()
	if g == nil {
		refuse(w, http.StatusNotFound, "there is no response "+r.PathValue("id"))
		return
	}
	said, done := g.said()
	writeJSON(w, openAI{}.retrieved(g.answer, said, done))
}

func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	writeJSON(w, map[string]any{"type": "error", "error": map[string]any{"type": "api_error", "message": text}})
}

// writeJSON writes v; a caller that is gone does not get it.
func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// events writes server-sent events. After an error it writes nothing more.
type events struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	err   error
}

// send writes one event, named unless name is empty, and flushes it.
func (e *events) send(name string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		e.err = errors.Join(e.err, err)
		return
	}
	e.raw(name, string(text))
}

func (e *events) raw(name, data string) {
	if e.err != nil {
		return
	}
	if name != "" {
		name = "event: " + name + "\n"
	}
	if _, e.err = fmt.Fprintf(e.w, "%sdata: %s\n\n", name, data); e.err == nil {
		e.err = e.flush.Flush()
	}
}
