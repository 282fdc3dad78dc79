package control

import (
	"net/http"
	"time"

	"minido.dev/minido/internal/clock"
)

// Clock is GET /v1/clock and the answer of POST /v1/clock and
// /v1/clock/advance.
type Clock struct {
	NowMs int64 `json:"now_ms"`
	// Mode is real, virtual (time stands still until it is advanced) or auto (time
	// jumps to the next timer when nothing is left to do).
	Mode clock.Mode `json:"mode"`
	// NextMs is the deadline of the next timer of any kind, absent without one.
	NextMs *int64 `json:"next_ms,omitempty"`
}

func (c *Control) now(w http.ResponseWriter, _ *http.Request) {
	out := Clock{NowMs: c.clock().Now().UnixMilli(), Mode: clock.Running}
	if p := c.opts.Pacer; p != nil {
		out.Mode = p.Clock().Mode()
		if at, ok := p.Clock().Next(); ok {
			ms := at.UnixMilli()
			out.NextMs = &ms
		}
	}
	reply(w, http.StatusOK, out)
}

// steerable fails a request to a server whose clock is only shown.
func (c *Control) steerable(w http.ResponseWriter) bool {
	if c.opts.Pacer == nil {
		fail(w, http.StatusConflict, "real_clock", "this server's clock is the machine's, and cannot be steered")
	}
	return c.opts.Pacer != nil
}

// ModeRequest is the body of POST /v1/clock.
type ModeRequest struct {
	Mode string `json:"mode"`
}

func (c *Control) setMode(w http.ResponseWriter, r *http.Request) {
	var req ModeRequest
	if !read(w, r, &req) || !c.steerable(w) {
		return
	}
	mode, err := clock.ParseMode(req.Mode)
	if err != nil {
		fail(w, http.StatusBadRequest, "bad_request", err.Error())
		return
	}
	c.opts.Pacer.Clock().SetMode(mode)
	c.now(w, r)
}

// AdvanceRequest is the body of POST /v1/clock/advance.
type AdvanceRequest struct {
	Ms int64 `json:"ms"`
}

func (c *Control) advance(w http.ResponseWriter, r *http.Request) {
	var req AdvanceRequest
	if !read(w, r, &req) || !c.steerable(w) {
		return
	}
	if req.Ms <= 0 || req.Ms > maxAdvance.Milliseconds() {
		fail(w, http.StatusBadRequest, "bad_request", "ms must be positive, and no more than ten years")
		return
	}
	if err := c.opts.Pacer.Advance(r.Context(), time.Duration(req.Ms)*time.Millisecond); err != nil {
		failWith(w, err)
		return
	}
	c.now(w, r)
}

// maxAdvance keeps moments within what JavaScript's Date and the alarms can hold.
const maxAdvance = 10 * 365 * 24 * time.Hour
