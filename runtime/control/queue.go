package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/runtime/binding/queue"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/server"
)

// QueueRequest is POST /v1/queue/pause, /v1/queue/resume and /v1/queue/purge.
type QueueRequest struct {
	Queue string `json:"queue"`
}

// Queues is GET /v1/queues.
type Queues struct {
	Queues []Queue `json:"queues"`
}

// Queue is a queue of the session and what waits in it.
type Queue struct {
	queue.Info
	Backlog      int64  `json:"backlog"` // messages that are not acknowledged
	BacklogBytes int64  `json:"backlog_bytes"`
	PausedMs     *int64 `json:"paused_since_ms"` // null while it delivers
}

// queueRoutes answer what concerns queues.
type queueRoutes struct{ *Control }

// queues answers GET /v1/queues.
func (c queueRoutes) queues(w http.ResponseWriter, r *http.Request) {
	projects := []*config.Project{c.opts.Server.Project()}
	for _, o := range c.opts.Server.Others() {
		projects = append(projects, o.Project())
	}
	out := Queues{[]Queue{}}
	for _, info := range queue.List(projects) {
		one := 1
		q := Queue{Info: info}
		b, err := c.askQueue(r, info.Name, queue.Ask{Op: "list", BatchSize: &one})
		if err == nil {
			err = json.Unmarshal(b, &q)
		}
		if err != nil {
			failWith(w, fmt.Errorf("queue %s: %w", info.Name, err))
			return
		}
		out.Queues = append(out.Queues, q)
	}
	reply(w, http.StatusOK, out)
}

// MessagesRequest is the body of POST /v1/queue/messages.
type MessagesRequest struct {
	Queue string `json:"queue"`
	After int64  `json:"after,omitempty"` // lists what came behind the message with this seq
	Limit int    `json:"limit,omitempty"` // default 100, at most 1,000
}

// Messages is its answer, in the order in which the messages came.
type Messages struct {
	Messages []Message `json:"messages"`
	More     bool      `json:"more"`
}

// Message is a message that waits in a queue.
type Message struct {
	Seq         int64  `json:"seq"`
	ID          string `json:"id"`
	TimestampMs int64  `json:"timestamp_ms"`
	ContentType string `json:"content_type"`
	// Text is the body, its first 16,384 characters: bytes in base64, values of the type
	// v8 as console.log shows them.
	Text     string `json:"text"`
	Bytes    int64  `json:"bytes"`
	Attempts int    `json:"attempts"`
	DueMs    int64  `json:"due_ms"` // not delivered before
	// Dead says that it was given up and is on its way to the dead letter queue.
	Dead bool `json:"dead"`
	// LeasedUntilMs is when the lease of who pulled it ends; null without one.
	LeasedUntilMs *int64 `json:"leased_until_ms"`
}

// messages answers POST /v1/queue/messages.
func (c queueRoutes) messages(w http.ResponseWriter, r *http.Request) {
	var req MessagesRequest
	if !read(w, r, &req) {
		return
	}
	if req.Limit <= 0 {
		req.Limit = 100
	}
	limit, out := min(req.Limit, 1000), Messages{}
	b, err := c.askQueue(r, req.Queue, queue.Ask{Op: "list", BatchSize: &limit, Seq: req.After})
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		failWith(w, err)
		return
	}
	reply(w, http.StatusOK, out)
}

// MessageRequest is the body of POST /v1/queue/remove and /v1/queue/deliver.
type MessageRequest struct {
	Queue string `json:"queue"`
	Seq   int64  `json:"seq"`
}

// onMessage answers POST /v1/queue/remove and /v1/queue/deliver.
func (c queueRoutes) onMessage(op string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var req MessageRequest
		if !read(w, r, &req) {
			return
		}
		var did struct{ Rows bool }
		b, err := c.askQueue(r, req.Queue, queue.Ask{Op: op, Seq: req.Seq})
		if err == nil {
			err = json.Unmarshal(b, &did)
		}
		if err == nil && !did.Rows {
			err = &pool.RefusedError{Reason: "the message is not there any more"}
		}
		if err != nil {
			failWith(w, err)
			return
		}
		reply(w, http.StatusOK, Done{op})
	}
}

// maxPull is how many messages one pull gives, as in production.
const maxPull = 100

// pause answers POST /v1/queue/pause, /v1/queue/resume and /v1/queue/purge.
func (c queueRoutes) pause(op string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var ask QueueRequest
		if !read(w, r, &ask) {
			return
		}
		if _, err := c.askQueue(r, ask.Queue, queue.Ask{Op: op}); err != nil {
			failWith(w, err)
			return
		}
		reply(w, http.StatusOK, Done{op})
	}
}

func (c queueRoutes) askQueue(r *http.Request, name string, ask queue.Ask) (answer json.RawMessage, err error) {
	err = c.wait(r, answerTime, func(done func(error)) {
		server.AskQueue(c.opts.Server, name, ask, func(b []byte, err error) {
			answer = b
			done(err)
		})
	})
	if errors.Is(err, queue.ErrNoQueue) {
		err = &InputError{Text: err.Error()}
	}
	return answer, err
}

// pullPaths are those of Cloudflare's API, under which pull consumers find a queue;
// any account will do, and a queue's id is its name.
const pullPaths = "POST /client/v4/accounts/{account}/queues/{queue}/messages/"

// apiAnswer is the envelope of Cloudflare's API.
type apiAnswer struct {
	Success  bool            `json:"success"`
	Errors   []apiError      `json:"errors"`
	Messages []string        `json:"messages"`
	Result   json.RawMessage `json:"result"`
}

type apiError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// pull answers what pull consumers ask: op is "pull" or "ack".
func (c queueRoutes) pull(op string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			BatchSize  *int            `json:"batch_size"`
			Visibility *int64          `json:"visibility_timeout_ms"`
			Acks       json.RawMessage `json:"acks"`
			Retries    json.RawMessage `json:"retries"`
		}
		refuse := func(status int, text string) {
			reply(w, status, apiAnswer{Errors: []apiError{{Code: 10000 + status, Message: text}}, Messages: []string{}, Result: json.RawMessage("null")})
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			refuse(http.StatusBadRequest, "the body is no JSON: "+err.Error())
			return
		}
		if n := body.BatchSize; n != nil && (*n < 1 || *n > maxPull) {
			refuse(http.StatusBadRequest, "batch_size must be between 1 and 100")
			return
		}
		answer, err := c.askQueue(r, r.PathValue("queue"), queue.Ask{Op: op, BatchSize: body.BatchSize, VisibilityTimeoutMs: body.Visibility, Acks: body.Acks, Retries: body.Retries})
		var input *InputError
		if errors.As(err, &input) {
			refuse(http.StatusNotFound, err.Error())
			return
		}
		if err != nil {
			refuse(http.StatusInternalServerError, err.Error())
			return
		}
		reply(w, http.StatusOK, apiAnswer{Success: true, Errors: []apiError{}, Messages: []string{}, Result: answer})
	}
}
