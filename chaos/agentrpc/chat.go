package agentrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"minido.dev/minido/chaos/history"
)

// Answer is what a client saw of a chat turn.
type Answer struct {
	// Request is the id of the chat request.
	Request string
	// Text is the answer's text so far.
	Text string
	// Chunks are the stream's parts as they came (AI SDK UI message chunks).
	Chunks []json.RawMessage
	// Done says that the terminal frame has come.
	Done bool
}

// ErrNothingToResume says that the agent has no stream that a client could join.
var ErrNothingToResume = errors.New("agentrpc: the agent has no stream to resume")

// message is a UIMessage with text alone.
type message struct {
	ID    string `json:"id"`
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

type part struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// Messages are the conversation's messages as the agent last broadcast them;
// nil if it has not.
func (c *Client) Messages() json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.chat
}

// Chat sends a user's message to an AIChatAgent, after the messages that the
// agent broadcast last, and follows the answer until its end. What came before
// an error is in the Answer in any case.
//
// # Errors
//
// As Call; an error frame of the stream is a *RemoteError.
func (c *Client) Chat(ctx context.Context, text string) (Answer, error) {
	return c.ChatWith(ctx, text, nil)
}

// ChatWith is Chat with further fields in the request's body, which the agent
// gets as options.body; clientTools are the schemas of tools that a client runs.
func (c *Client) ChatWith(ctx context.Context, text string, body map[string]any) (Answer, error) {
	id, p, err := c.begin("chat")
	if err != nil {
		return Answer{}, err
	}
	defer c.forget(id)
	request, err := c.chatRequest(id, text, body)
	if err != nil {
		return Answer{}, err
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return Answer{}, fmt.Errorf("agentrpc: chat: %w", err)
	}
	c.options.History.Add(history.Event{Kind: history.Call, Who: c.options.Who, Op: id, Text: "chat", Data: quoted})
	answer := Answer{Request: id}
	err = c.send(ctx, request)
	if err == nil {
		err = c.follow(ctx, p, &answer)
	}
	c.chatOutcome(id, answer, err)
	return answer, err
}

func (c *Client) chatRequest(id, text string, more map[string]any) ([]byte, error) {
	var messages []json.RawMessage
	if before := c.Messages(); before != nil {
		if err := json.Unmarshal(before, &messages); err != nil {
			return nil, fmt.Errorf("agentrpc: chat: the agent's messages: %w", err)
		}
	}
	mine, err := json.Marshal(message{ID: id + "-user", Role: "user", Parts: []part{{"text", text}}})
	if err != nil {
		return nil, fmt.Errorf("agentrpc: chat: %w", err)
	}
	fields := map[string]any{"messages": append(messages, mine), "trigger": "submit-message"}
	for name, v := range more { // order-independent: the keys of a JSON object
		fields[name] = v
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("agentrpc: chat: %w", err)
	}
	request, err := json.Marshal(map[string]any{
		"type": "cf_agent_use_chat_request", "id": id,
		"init": map[string]string{"method": "POST", "body": string(body)},
	})
	if err != nil {
		return nil, fmt.Errorf("agentrpc: chat: %w", err)
	}
	return request, nil
}

// follow reads a stream's frames into answer until its terminal frame.
func (c *Client) follow(ctx context.Context, p *pending, answer *Answer) error {
	for {
		f, err := c.next(ctx, p)
		if err != nil {
			return err
		}
		if string(f.Error) == "true" {
			return &RemoteError{Method: "chat", Message: f.Body}
		}
		if body := strings.TrimSpace(f.Body); body != "" {
			chunk := json.RawMessage(body)
			answer.Chunks = append(answer.Chunks, chunk)
			answer.Text += delta(chunk)
		}
		if f.Done != nil && *f.Done {
			answer.Done = true
			return nil
		}
	}
}

// delta is the text that a chunk adds.
func delta(chunk json.RawMessage) string {
	var d struct {
		Type  string `json:"type"`
		Delta string `json:"delta"`
	}
	if json.Unmarshal(chunk, &d) != nil || d.Type != "text-delta" {
		return ""
	}
	return d.Delta
}

// Resume asks for the stream that is under way, as a client does that
// reconnects, acknowledges it and follows it to its end. The agent replays what
// it has stored of the stream, so the Answer begins at the beginning.
//
// # Errors
//
// ErrNothingToResume; otherwise as Chat.
func (c *Client) Resume(ctx context.Context) (Answer, error) {
	c.mu.Lock()
	if c.lost != nil {
		defer c.mu.Unlock()
		return Answer{}, fmt.Errorf("agentrpc: %w: %w", ErrLost, c.lost)
	}
	announced := newPending()
	c.resume = append(c.resume, announced)
	c.calls++
	probe := fmt.Sprintf("%s-resume-%d", c.options.Who, c.calls)
	c.mu.Unlock()
	request, err := json.Marshal(map[string]string{"type": "cf_agent_stream_resume_request", "probeId": probe})
	if err != nil {
		return Answer{}, fmt.Errorf("agentrpc: resume: %w", err)
	}
	if err := c.send(ctx, request); err != nil {
		return Answer{}, err
	}
	f, err := c.next(ctx, announced)
	if err != nil {
		return Answer{}, err
	}
	if f.Type == "cf_agent_stream_resume_none" {
		return Answer{}, ErrNothingToResume
	}
	return c.acknowledge(ctx, f.ID)
}

// acknowledge joins the stream with the given request id.
func (c *Client) acknowledge(ctx context.Context, id string) (Answer, error) {
	c.mu.Lock()
	p := c.pending[id]
	if p == nil {
		p = newPending()
		c.pending[id] = p
	}
	c.mu.Unlock()
	defer c.forget(id)
	ack, err := json.Marshal(map[string]string{"type": "cf_agent_stream_resume_ack", "id": id})
	if err != nil {
		return Answer{}, fmt.Errorf("agentrpc: resume: %w", err)
	}
	c.options.History.Add(history.Event{Kind: history.Call, Who: c.options.Who, Op: id, Text: "resume"})
	answer := Answer{Request: id}
	err = c.send(ctx, ack)
	if err == nil {
		err = c.follow(ctx, p, &answer)
	}
	c.chatOutcome(id, answer, err)
	return answer, err
}

func (c *Client) chatOutcome(id string, answer Answer, err error) {
	result, marshalErr := json.Marshal(answer.Text)
	if marshalErr != nil {
		result = nil // only the history's copy of the text is missing: the frames are there
	}
	c.outcome(id, "chat", result, err)
}
