// Package agentrpc is a client of the agents SDK (npm agents, agents/client):
// it connects to one agent over WebSocket and speaks its JSON frames, as a
// browser would. Every frame in either direction, and every call with its
// outcome, goes into a history, so that a checker can compare what a client was
// told with what the server later remembers.
//
// Protocol: agents 0.32 (src/client.ts, src/chat/wire-types.ts):
// {type:"rpc", id, method, args} is answered by {type:"rpc", id, success,
// result, done?} or {success:false, error}; cf_agent_state carries state,
// cf_agent_identity names the agent, cf_agent_use_chat_* carry a chat turn.
package agentrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"minido.dev/minido/chaos/history"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/sched"
)

// MaxFrame is the largest frame that a client accepts, in bytes: the limit of
// Cloudflare's side.
const MaxFrame = 32 << 20

// maxQueued bounds the frames that a call has received and not yet looked at.
const maxQueued = 1 << 16

// ErrLost is returned, wrapped, when the connection ended before the answer
// came. Whether the call had its effect is unknown.
var ErrLost = errors.New("the connection ended before the answer")

// RemoteError is an answer that says that the call failed.
type RemoteError struct {
	Method  string
	Message string
}

// Error implements error.
func (e *RemoteError) Error() string { return e.Method + ": " + e.Message }

// Options say what to connect to.
type Options struct {
	// URL is the server, such as http://127.0.0.1:8787.
	URL string
	// Agent is the class in kebab-case, as in the path; Name the instance.
	Agent, Name string
	// Who names the client in the history; ids of its calls begin with it, so
	// two clients of one run need two names. Default "client".
	Who string
	// History gets every frame and call. Required.
	History *history.Recorder
	// Scheduler runs the goroutine that reads. Required.
	Scheduler sched.Scheduler
	// Dial opens the connection; nil is websocket.Dial.
	Dial Dialer
}

// Dialer opens a WebSocket, as websocket.Dial does.
type Dialer func(ctx context.Context, url string, header http.Header) (Conn, *http.Response, error)

// Conn is a WebSocket as *websocket.Conn is one.
type Conn interface {
	Read(ctx context.Context) (websocket.MessageType, []byte, error)
	Write(ctx context.Context, kind websocket.MessageType, data []byte) error
	Close(code websocket.StatusCode, reason string) error
	CloseNow() error
	SetReadLimit(bytes int64)
}

// DialTCP is the Dialer of the real network.
func DialTCP(ctx context.Context, url string, header http.Header) (Conn, *http.Response, error) {
	conn, response, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		return nil, response, err
	}
	return conn, response, nil
}

// Path is the agent's path at any server.
func (o Options) Path() string {
	return "/agents/" + url.PathEscape(o.Agent) + "/" + url.PathEscape(o.Name)
}

// Client is one connection. It is safe for concurrent use. It does not
// reconnect: a harness wants to know that the connection ended.
type Client struct {
	options Options
	conn    Conn
	ctx     context.Context // ends the reader
	cancel  context.CancelFunc
	done    chan struct{} // closed when the reader has ended

	mu      sync.Mutex // guards everything below
	calls   int
	pending map[string]*pending // by id of the call or chat request
	resume  []*pending          // waiting for the answer to a resume request, oldest first
	state   json.RawMessage
	chat    json.RawMessage // messages as last broadcast
	lost    error           // why the reader ended
}

// pending is a call that waits for frames. Its members are guarded by Client.mu; one
// goroutine waits.
type pending struct {
	frames []frame       // received and not yet looked at
	lost   bool          // the connection is: no more will come
	more   chan struct{} // has an element when either has changed
}

func newPending() *pending { return &pending{more: make(chan struct{}, 1)} }

// changed wakes who waits. Called with Client.mu held.
func (p *pending) changed() {
	select {
	case p.more <- struct{}{}:
	default:
	}
}

// frame is what the client needs of a frame. Raw is all of it.
type frame struct {
	Type     string          `json:"type"`
	ID       string          `json:"id"`
	Success  *bool           `json:"success"`
	Result   json.RawMessage `json:"result"`
	Done     *bool           `json:"done"`
	Error    json.RawMessage `json:"error"` // a text (rpc) or true (chat)
	State    json.RawMessage `json:"state"`
	Messages json.RawMessage `json:"messages"`
	Body     string          `json:"body"`
}

// Who is the client's name in the history.
func (c *Client) Who() string { return c.options.Who }

// Dial connects. ctx bounds the handshake alone.
func Dial(ctx context.Context, o Options) (*Client, error) {
	if o.History == nil || o.Scheduler == nil {
		return nil, errors.New("agentrpc: dial: Options need History and Scheduler")
	}
	if o.Who == "" {
		o.Who = "client"
	}
	target := "ws" + strings.TrimPrefix(strings.TrimRight(o.URL, "/"), "http") + o.Path()
	if o.Dial == nil {
		o.Dial = DialTCP
	}
	conn, response, err := o.Dial(ctx, target, nil)
	if err != nil {
		err = withBody(err, response)
		o.History.Add(history.Event{Kind: history.Fail, Who: o.Who, Text: "connect: " + err.Error()})
		return nil, fmt.Errorf("agentrpc: dial: %w", err)
	}
	conn.SetReadLimit(MaxFrame)
	o.History.Add(history.Event{Kind: history.Connect, Who: o.Who, Text: o.Path()})
	c := &Client{options: o, conn: conn, done: make(chan struct{}), pending: map[string]*pending{}}
	// The reader lives as long as the connection, not as long as the handshake.
	c.ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	o.Scheduler.Go("agentrpc "+o.Who, c.read)
	return c, nil
}

// HandshakeError says that the server answered, but not with a socket.
type HandshakeError struct {
	Status int
	Body   string
	Err    error
}

// Error implements error.
func (e *HandshakeError) Error() string {
	if e.Body == "" {
		return e.Err.Error()
	}
	return e.Err.Error() + ": " + e.Body
}

// Unwrap is the library's error.
func (e *HandshakeError) Unwrap() error { return e.Err }

// withBody adds what the server said instead of accepting the socket; the
// library keeps the first kilobyte of it.
func withBody(err error, response *http.Response) error {
	if response == nil || response.Body == nil {
		return err
	}
	h := &HandshakeError{Status: response.StatusCode, Err: err}
	if body, readErr := io.ReadAll(response.Body); readErr == nil {
		h.Body = strings.TrimSpace(string(body))
	}
	return h
}

func (c *Client) read() {
	defer close(c.done)
	for {
		_, data, err := c.conn.Read(c.ctx)
		if err != nil {
			c.end(err)
			return
		}
		c.options.History.Add(history.Event{Kind: history.Receive, Who: c.options.Who, Data: data})
		c.take(data)
	}
}

// take hands a frame to whoever waits for it. What is no JSON object, or no
// frame of the protocol, was recorded and is otherwise the application's.
func (c *Client) take(data []byte) {
	var f frame
	if json.Unmarshal(data, &f) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch f.Type {
	case "cf_agent_state":
		c.state = f.State
	case "cf_agent_chat_messages":
		c.chat = f.Messages
	case "rpc", "cf_agent_use_chat_response":
		c.deliver(c.pending[f.ID], f)
	case "cf_agent_stream_resuming", "cf_agent_stream_resume_none":
		if len(c.resume) > 0 {
			c.deliver(c.resume[0], f)
			c.resume = c.resume[1:]
		}
	}
}

func (c *Client) deliver(p *pending, f frame) {
	if p == nil {
		return // another tab's call, or one that was given up
	}
	if len(p.frames) == maxQueued {
		c.cancel() // the reader ends, and with it every call: ErrLost
		return
	}
	p.frames = append(p.frames, f)
	p.changed()
}

// end tells every waiting call that its answer will not come.
func (c *Client) end(err error) {
	text := err.Error()
	if c.ctx.Err() != nil { // what the library says then depends on where the reader stood
		text = history.ByClient + ": " + text
	}
	c.cancel()
	// The socket is gone or of no use any more; how it ended is in text.
	_ = c.conn.CloseNow()
	c.options.History.Add(history.Event{Kind: history.Close, Who: c.options.Who, Text: text})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = err
	for _, p := range c.pending { // order-independent: each has a waiter of its own
		p.lost = true
		p.changed()
	}
	for _, p := range c.resume {
		p.lost = true
		p.changed()
	}
	c.pending, c.resume = map[string]*pending{}, nil
}

// begin registers a call and returns its id.
func (c *Client) begin(kind string) (id string, p *pending, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost != nil {
		return "", nil, fmt.Errorf("agentrpc: %w: %w", ErrLost, c.lost)
	}
	c.calls++
	id = c.options.Who + "-" + kind + "-" + strconv.Itoa(c.calls)
	p = newPending()
	c.pending[id] = p
	return id, p, nil
}

func (c *Client) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, id)
}

// send writes a frame, unless ctx has ended. A frame that was begun is ended by
// Close alone: to give up one call must not cost the others their connection.
func (c *Client) send(ctx context.Context, data []byte) error {
	if ctx.Err() != nil {
		return fmt.Errorf("agentrpc: %w", context.Cause(ctx))
	}
	c.options.History.Add(history.Event{Kind: history.Send, Who: c.options.Who, Data: data})
	if err := c.conn.Write(c.ctx, websocket.MessageText, data); err != nil {
		return fmt.Errorf("agentrpc: %w: %w", ErrLost, err)
	}
	return nil
}

// next is the next frame of a call.
func (c *Client) next(ctx context.Context, p *pending) (frame, error) {
	sched.Wait(c.options.Scheduler, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(p.frames) > 0 || p.lost || ctx.Err() != nil
	})
	for {
		if f, ok, err := c.received(p); ok || err != nil { // what has come goes before an end of ctx
			return f, err
		}
		select {
		case <-p.more:
		case <-ctx.Done():
			return frame{}, fmt.Errorf("agentrpc: %w", context.Cause(ctx))
		}
	}
}

// received takes the next of the frames that have come for a call; ok is false if there
// is none, err that there will be none.
func (c *Client) received(p *pending) (f frame, ok bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case len(p.frames) > 0:
		f, p.frames = p.frames[0], p.frames[1:]
		return f, true, nil
	case p.lost:
		return frame{}, false, fmt.Errorf("agentrpc: %w: %w", ErrLost, c.lost)
	}
	return frame{}, false, nil
}

// Call calls a method that the agent exports with @callable. args is a JSON
// array; nil means none. For a streaming method the last value is returned.
//
// # Errors
//
// *RemoteError if the agent answered with an error; ErrLost if the outcome is
// unknown; the cause of ctx's end.
func (c *Client) Call(ctx context.Context, method string, args json.RawMessage) (json.RawMessage, error) {
	return c.CallStream(ctx, method, args, func(json.RawMessage) {})
}

// CallStream is Call for a method with @callable({streaming: true}): onChunk
// is called, on the caller's goroutine, for each chunk before the end.
func (c *Client) CallStream(ctx context.Context, method string, args json.RawMessage, onChunk func(json.RawMessage)) (json.RawMessage, error) {
	return c.call(ctx, "call", false, method, args, onChunk)
}

// Ask is Call for a question that is asked again and again, until it is answered
// as wished: effect points that come of it count apart.
func (c *Client) Ask(ctx context.Context, method string, args json.RawMessage) (json.RawMessage, error) {
	return c.call(ctx, killpoint.QuestionMark, true, method, args, func(json.RawMessage) {})
}

// AskFirst is Ask for the first time, whose effect points are those of a Call: the history
// says that it will be asked again.
func (c *Client) AskFirst(ctx context.Context, method string, args json.RawMessage) (json.RawMessage, error) {
	return c.call(ctx, "call", true, method, args, func(json.RawMessage) {})
}

func (c *Client) call(ctx context.Context, kind string, until bool, method string, args json.RawMessage, onChunk func(json.RawMessage)) (json.RawMessage, error) {
	if len(args) == 0 {
		args = json.RawMessage("[]")
	}
	id, p, err := c.begin(kind)
	if err != nil {
		return nil, err
	}
	defer c.forget(id)
	c.options.History.Add(history.Event{Kind: history.Call, Who: c.options.Who, Op: id, Text: method, Data: args, Until: until})
	result, err := c.exchange(ctx, p, id, method, args, onChunk)
	c.outcome(id, method, result, err)
	return result, err
}

func (c *Client) exchange(ctx context.Context, p *pending, id, method string, args json.RawMessage, onChunk func(json.RawMessage)) (json.RawMessage, error) {
	request, err := json.Marshal(map[string]any{"type": "rpc", "id": id, "method": method, "args": args})
	if err != nil {
		return nil, fmt.Errorf("agentrpc: call %s: %w", method, err)
	}
	if err := c.send(ctx, request); err != nil {
		return nil, err
	}
	for {
		f, err := c.next(ctx, p)
		if err != nil {
			return nil, err
		}
		if f.Success == nil || !*f.Success {
			return nil, &RemoteError{Method: method, Message: text(f.Error)}
		}
		if f.Done != nil && !*f.Done {
			onChunk(f.Result)
			continue
		}
		return f.Result, nil
	}
}

// outcome records how a call ended.
func (c *Client) outcome(id, method string, result json.RawMessage, err error) {
	e := history.Event{Kind: history.Return, Who: c.options.Who, Op: id, Text: method, Data: result}
	var remote *RemoteError
	switch {
	case errors.As(err, &remote):
		e.Kind, e.Text = history.Fail, err.Error()
	case err != nil:
		e.Kind, e.Text = history.Unknown, err.Error()
	}
	c.options.History.Add(e)
}

// text is a JSON string's value, or the JSON itself.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// State is the state that the agent sent last, nil before the first.
func (c *Client) State() json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// Lost is closed when the connection has ended, for whatever reason.
func (c *Client) Lost() <-chan struct{} { return c.done }

// Close ends the connection and waits for the reader. Closing twice is fine.
func (c *Client) Close() {
	select {
	case <-c.done:
	default:
		// A peer that was killed cannot answer a close frame, so this one is
		// not polite: a browser tab that is closed is not either.
		c.cancel()
		sched.Wait(c.options.Scheduler, func() bool {
			select {
			case <-c.done:
				return true
			default:
				return false
			}
		})
		<-c.done
	}
}

// Kebab turns a class's or binding's name into its part of an agent's URL, as
// the agents SDK does (agents 0.32, src/utils.ts): ResearchAgent and
// RESEARCH_AGENT are both research-agent.
func Kebab(s string) string {
	if s == strings.ToUpper(s) && s != strings.ToLower(s) {
		return strings.ReplaceAll(strings.ToLower(s), "_", "-")
	}
	var b strings.Builder
	for _, r := range s {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('-')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	out := strings.TrimPrefix(b.String(), "-")
	return strings.TrimSuffix(strings.ReplaceAll(out, "_", "-"), "-")
}
