package control

import (
	"encoding/json"
	"errors"
	"net/http"

	"minido.dev/minido/runtime/binding/queue"
	"minido.dev/minido/runtime/server"
)

// QueueRequest is POST /v1/queue/pause and /v1/queue/resume.
type QueueRequest struct {
	Queue string `json:"queue"`
}

// maxPull is how many messages one pull gives, as in production.
const maxPull = 100

// pause answers POST /v1/queue/pause and /v1/queue/resume.
func (c *Control) pause(op string) http.HandlerFunc {
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

func (c *Control) askQueue(r *http.Request, name string, ask queue.Ask) (answer json.RawMessage, err error) {
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
func (c *Control) pull(op string) http.HandlerFunc {
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
