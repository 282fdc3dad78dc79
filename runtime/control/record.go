package control

import (
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"unicode/utf8"

	"minido.dev/minido/durableobject"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/feed"
)

// RecordRequest is the body of POST /v1/record.
type RecordRequest struct {
	Record int64 `json:"record"`
}

// Exchange is its answer: an HTTP exchange that was recorded while somebody watched the
// feed with records.
type Exchange struct {
	Record int64 `json:"record"`
	// From is "client", or "worker" for requests that workers send.
	From    string     `json:"from"`
	AtMs    int64      `json:"at_ms"`
	Method  string     `json:"method"`
	URL     string     `json:"url"`
	Headers [][]string `json:"headers"` // pairs of name and value
	Body    Content    `json:"body"`
	// Status is 0 until there is an answer.
	Status          int        `json:"status"`
	ResponseHeaders [][]string `json:"response_headers"`
	Response        Content    `json:"response"`
	Object          string     `json:"object,omitempty"` // that answered
	// When the request's body had been read, and the response's head, first byte and
	// end came, in microseconds from the beginning; 0: not, or not yet.
	SentUs  int64       `json:"sent_us"`
	HeadUs  int64       `json:"head_us"`
	FirstUs int64       `json:"first_us"`
	EndUs   int64       `json:"end_us"`
	Failure string      `json:"failure,omitempty"`
	Socket  *SocketInfo `json:"socket,omitempty"`
}

// Content is the beginning of a body or a frame: Text if it is UTF-8, else Base64.
type Content struct {
	Text   string `json:"text"`
	Base64 string `json:"base64,omitempty"`
	Bytes  int64  `json:"bytes"` // of the whole
	// Truncated says that there was more than what is here.
	Truncated bool `json:"truncated"`
}

// SocketInfo is what went over a WebSocket.
type SocketInfo struct {
	Open   bool          `json:"open"`
	Code   int           `json:"code,omitempty"` // with which it was closed
	Reason string        `json:"reason,omitempty"`
	Frames []SocketFrame `json:"frames"`
	Lost   int64         `json:"lost"` // older frames that are not kept
}

// SocketFrame is a message; Sent is true for those of the side that opened the socket.
type SocketFrame struct {
	Content
	AtMs int64 `json:"at_ms"`
	Sent bool  `json:"sent"`
}

// Sockets is GET /v1/sockets: those that are open and the last ones that were, without
// their frames.
type Sockets struct {
	Sockets []Exchange `json:"sockets"`
}

func content(data []byte, total int64) Content {
	c := Content{Bytes: total, Truncated: int64(len(data)) < total}
	text := data
	if c.Truncated { // a character may be cut
		for n := 0; n < utf8.UTFMax && len(text) > 0 && !utf8.Valid(text); n++ {
			text = text[:len(text)-1]
		}
	}
	if utf8.Valid(text) {
		c.Text = string(text)
	} else {
		c.Base64 = base64.StdEncoding.EncodeToString(data)
	}
	return c
}

func pairs(h event.Header) [][]string {
	out := [][]string{}
	for _, f := range h {
		out = append(out, []string{f.Name, f.Value})
	}
	return out
}

func exchange(r feed.Record, frames bool) Exchange {
	x := Exchange{Record: r.ID, From: "client", AtMs: r.AtMs, Method: r.Method, URL: r.URL, Headers: pairs(r.Header), Body: content(r.Body.Data, r.Body.Total), Status: r.Status,
		ResponseHeaders: pairs(r.ResponseHeader), Response: content(r.Response.Data, r.Response.Total), Object: r.Object, SentUs: r.SentUs, HeadUs: r.HeadUs, FirstUs: r.FirstUs, EndUs: r.EndUs, Failure: r.Failure}
	if r.Out {
		x.From = "worker"
	}
	if r.Socket != nil {
		x.Socket = &SocketInfo{Open: r.Socket.Open, Code: r.Socket.Code, Reason: r.Socket.Reason, Frames: []SocketFrame{}, Lost: r.Socket.Lost}
		for _, f := range r.Socket.Frames {
			if frames {
				x.Socket.Frames = append(x.Socket.Frames, SocketFrame{content(f.Data, int64(f.Total)), f.AtMs, f.Sent})
			}
		}
	}
	return x
}

func (c *Control) record(w http.ResponseWriter, r *http.Request) {
	var ask RecordRequest
	if !read(w, r, &ask) {
		return
	}
	found, ok := c.opts.Recorder.Find(ask.Record)
	if !ok {
		fail(w, http.StatusNotFound, "not_found", "this exchange is not kept: the last 512 are, up to 32 MB")
		return
	}
	reply(w, http.StatusOK, exchange(found, true))
}

func (c *Control) sockets(w http.ResponseWriter, _ *http.Request) {
	answer := Sockets{[]Exchange{}}
	for _, r := range c.opts.Recorder.Sockets() {
		answer.Sockets = append(answer.Sockets, exchange(r, false))
	}
	reply(w, http.StatusOK, answer)
}

// ObjectSockets is the answer of POST /v1/object/sockets.
type ObjectSockets struct {
	Sockets []ObjectSocket `json:"sockets"`
}

// ObjectSocket is a hibernatable WebSocket of an object.
type ObjectSocket struct {
	Tags []string `json:"tags"`
	// Attachment is what serializeAttachment() has stored, as console.log shows it.
	Attachment string `json:"attachment,omitempty"`
	// AutoAtMs is when the auto-response last answered.
	AutoAtMs int64 `json:"auto_at_ms,omitempty"`
}

// objectSockets answers POST /v1/object/sockets; it does not wake the object.
func (c *Control) objectSockets(w http.ResponseWriter, r *http.Request) {
	var req ObjectRequest
	ref, ok := c.find(w, r, &req, &req.Class, &req.Object)
	if !ok {
		return
	}
	found := make(chan []durableobject.SocketStatus, 1)
	err := c.wait(r, answerTime, func(done func(error)) {
		ref.Sockets(func(list []durableobject.SocketStatus, err error) {
			found <- list
			done(err)
		})
	})
	if err != nil {
		failWith(w, err)
		return
	}
	out := ObjectSockets{[]ObjectSocket{}}
	for _, s := range <-found {
		out.Sockets = append(out.Sockets, ObjectSocket{append([]string{}, s.Tags...), s.Attachment, s.AutoAtMs})
	}
	reply(w, http.StatusOK, out)
}

// SourceRequest is the body of POST /v1/source: a file as stacks name it.
type SourceRequest struct {
	File string `json:"file"`
}

// Source is its answer. Path is where the file lies, for editors; "" if its text lies in
// a source map alone.
type Source struct {
	File string `json:"file"`
	Path string `json:"path"`
	Text string `json:"text"`
}

func (c *Control) source(w http.ResponseWriter, r *http.Request) {
	var ask SourceRequest
	if !read(w, r, &ask) {
		return
	}
	text, ok := c.opts.Server.Sources().Text(ask.File)
	if !ok {
		fail(w, http.StatusNotFound, "not_found", "the worker has no source of this name")
		return
	}
	path := ask.File
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.opts.Server.Project().Dir, filepath.FromSlash(path))
	}
	if _, err := os.Stat(path); err != nil {
		path = ""
	}
	reply(w, http.StatusOK, Source{ask.File, path, text})
}
