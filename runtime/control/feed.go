package control

import (
	"net/http"
	"strconv"
	"time"

	"minido.dev/minido/runtime/feed"
)

// FeedLine is one line of GET /v1/feed: an entry, or how many were overwritten
// before this client had read them.
type FeedLine struct {
	*feed.Entry
	Lost int64 `json:"lost,omitempty"`
}

// feedBatch is how many entries are written at once, feedPause how long those that
// come are gathered.
const (
	feedBatch = 256
	feedPause = 100 * time.Millisecond
)

// follow answers GET /v1/feed?after=SEQ&points=true: what has happened and what
// happens, as lines of JSON, until the client leaves.
func (c *Control) follow(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	after, err := strconv.ParseInt(q.Get("after"), 10, 64)
	if q.Get("after") != "" && (err != nil || after < 0) {
		fail(w, http.StatusBadRequest, "bad_request", "after must be the seq of an entry, or 0")
		return
	}
	if c.opts.Feed == nil {
		fail(w, http.StatusNotFound, "not_found", "this server keeps no record of what happens")
		return
	}
	if q.Get("points") == "true" {
		defer c.opts.Feed.WatchPoints()()
	}
	if q.Get("records") == "true" {
		defer c.opts.Recorder.Watch(nil)()
		defer c.opts.Feed.WatchLogs(false)()
	}
	if q.Get("turns") == "true" {
		defer c.opts.Feed.WatchTurns()()
	}
	w.Header().Set("Content-Type", "application/x-ndjson; charset=utf-8")
	out, lines, batch := http.NewResponseController(w), []byte(nil), make([]feed.Entry, 0, feedBatch)
	headed := false // the client knows the response's head
	for once := q.Get("follow") == "false"; ; {
		entries, lost, more := c.opts.Feed.AppendAfter(batch[:0], after, feedBatch)
		lines = lines[:0]
		if lost > 0 && after > 0 {
			lines = append(strconv.AppendInt(append(lines, `{"lost":`...), lost, 10), "}\n"...)
		}
		for i := range entries {
			after = entries[i].Seq
			lines = append(entries[i].AppendJSON(lines), '\n')
		}
		if len(entries) > 0 {
			if _, err := w.Write(lines); err != nil {
				return // the client is gone
			}
		}
		if len(entries) == feedBatch || once && len(entries) > 0 {
			continue // there may be more at once
		}
		if len(entries) == 0 {
			if once || !headed && out.Flush() != nil {
				return
			}
			headed = true
			select {
			case <-more:
			case <-r.Context().Done():
				return
			case <-c.closing:
				return
			}
			continue
		}
		if headed = true; out.Flush() != nil {
			return
		}
		// What comes within feedPause is written at once: a busy server writes ten times
		// a second, not thousands of times, and wakes this up no more often.
		rested := make(chan struct{})
		pause := c.opts.Machine.AfterFunc(feedPause, func() { close(rested) })
		select {
		case <-rested:
		case <-r.Context().Done():
		case <-c.closing:
		}
		pause.Stop()
	}
}
