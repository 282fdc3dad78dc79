package drive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"minido.dev/minido/chaos/agentrpc"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/sched"
)

// maxBody bounds how much of an answer is kept, in bytes.
const maxBody = 1 << 20

// Session drives one server after another, as the lives of one system. Its
// clients are new in every life. Confined to one goroutine at a time.
type Session struct {
	history   *history.Recorder
	scheduler sched.Scheduler
	limit     time.Duration
	url       string
	clients   map[string]*agentrpc.Client
	opened    []*agentrpc.Client // in order
	count     int                // clients and requests so far
}

// NewSession returns a session without a server. limit bounds each step.
func NewSession(h *history.Recorder, s sched.Scheduler, limit time.Duration) *Session {
	return &Session{history: h, scheduler: s, limit: limit}
}

// Connect names the server of the next life.
func (s *Session) Connect(url string) {
	s.Disconnect()
	s.url, s.clients = url, map[string]*agentrpc.Client{}
}

// Disconnect ends the clients of this life.
func (s *Session) Disconnect() {
	for _, c := range s.opened {
		c.Close()
	}
	s.opened, s.clients = nil, map[string]*agentrpc.Client{}
}

// Result is how a step ended. Immutable.
type Result struct {
	// Data is the answer as JSON.
	Data json.RawMessage
	// Status of a request.
	Status int
}

// ErrUnsent is returned, wrapped, by a step that never reached the server: it
// has had no effect, and may be done again.
var ErrUnsent = errors.New("the server could not be reached")

// ErrRefused is returned, wrapped, by a step that the server answered with an
// error.
var ErrRefused = errors.New("the server answered with an error")

// Do does one step and waits for its answer.
//
// # Errors
//
// ErrUnsent; ErrRefused; agentrpc.ErrLost, where the effect is unknown; the
// cause of ctx's end.
func (s *Session) Do(ctx context.Context, step Step) (Result, error) {
	ctx, cancel := wait.WithLimit(ctx, s.scheduler.Clock(), s.limit)
	defer cancel()
	if step.Kind == Fetch {
		return s.fetch(ctx, step)
	}
	client, err := s.client(ctx, step)
	if err != nil {
		return Result{}, err
	}
	var r Result
	if step.Kind == Chat {
		answer, chatErr := client.Chat(ctx, step.Text)
		r.Data, err = json.Marshal(answer.Text)
		err = errors.Join(chatErr, err)
	} else {
		r.Data, err = client.Call(ctx, step.Method, step.Args)
	}
	var remote *agentrpc.RemoteError
	if errors.As(err, &remote) {
		err = fmt.Errorf("%w: %w", ErrRefused, remote)
	}
	return r, err
}

// Touch opens a connection to the step's agent, as somebody who comes back.
func (s *Session) Touch(ctx context.Context, step Step) error {
	ctx, cancel := wait.WithLimit(ctx, s.scheduler.Clock(), s.limit)
	defer cancel()
	if step.Kind == Fetch {
		return nil
	}
	_, err := s.client(ctx, step)
	return err
}

// client is this life's connection to an agent.
func (s *Session) client(ctx context.Context, step Step) (*agentrpc.Client, error) {
	key := step.Agent() + "/" + step.Name
	if c := s.clients[key]; c != nil {
		return c, nil
	}
	s.count++
	c, err := agentrpc.Dial(ctx, agentrpc.Options{URL: s.url, Agent: step.Agent(), Name: step.Name,
		Who: fmt.Sprintf("client-%d", s.count), History: s.history, Scheduler: s.scheduler})
	if err != nil {
		var answered *agentrpc.HandshakeError
		if errors.As(err, &answered) {
			return nil, fmt.Errorf("%w: %w", ErrRefused, err)
		}
		return nil, fmt.Errorf("%w: %w", ErrUnsent, err)
	}
	s.clients[key] = c
	s.opened = append(s.opened, c)
	return c, nil
}

// fetch does an HTTP request on a connection of its own: a kept connection of an
// earlier life would make the first request of the next one fail.
func (s *Session) fetch(ctx context.Context, step Step) (Result, error) {
	s.count++
	op := fmt.Sprintf("fetch-%d", s.count)
	request, err := http.NewRequestWithContext(ctx, step.Method, s.url+step.Path, strings.NewReader(step.Text))
	if err != nil {
		return Result{}, fmt.Errorf("drive: %w", err)
	}
	if json.Valid([]byte(step.Text)) {
		request.Header.Set("Content-Type", "application/json")
	}
	request.Close = true
	s.history.Add(history.Event{Kind: history.Call, Who: "client", Op: op, Text: step.Method + " " + step.Path, Data: asJSON([]byte(step.Text))})
	result, err := exchange(request)
	e := history.Event{Kind: history.Return, Who: "client", Op: op, Text: step.Method + " " + step.Path, Data: result.Data}
	switch {
	case err != nil:
		e.Kind, e.Text = history.Unknown, err.Error()
		err = fmt.Errorf("%w: %w", agentrpc.ErrLost, err)
	case result.Status >= 400:
		e.Kind, e.Text = history.Fail, fmt.Sprintf("%s %s: status %d", step.Method, step.Path, result.Status)
		err = fmt.Errorf("%w: %s %s: status %d: %s", ErrRefused, step.Method, step.Path, result.Status, result.Data)
	}
	s.history.Add(e)
	return result, err
}

func exchange(request *http.Request) (r Result, err error) {
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	return Result{Data: asJSON(body), Status: response.StatusCode}, err
}

// asJSON is text as JSON: itself if it is, else as a string; nil if empty.
func asJSON(text []byte) json.RawMessage {
	if len(text) == 0 {
		return nil
	}
	if json.Valid(text) {
		return text
	}
	quoted, err := json.Marshal(strings.ToValidUTF8(string(text), string(utf8.RuneError)))
	if err != nil {
		return nil // a string always marshals
	}
	return quoted
}
