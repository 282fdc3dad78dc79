package feed

import (
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/runtime/event"
)

// Limits of what is recorded. The oldest records go when there are more, or when what
// they hold is more than maxRecorded bytes.
const (
	maxRecords   = 512
	maxRecorded  = 32 << 20
	maxBody      = 256 << 10 // of a body's beginning
	maxFrames    = 500       // of a socket, the newest
	maxFrame     = 16 << 10  // of a frame's beginning
	recordedHead = 1 << 10   // what a record counts for besides its bodies

	// Of exchanges, but for WebSockets, so many are recorded in each period: more would
	// push each other out before anybody has seen them.
	maxExchanges = 40
)

// Record is one HTTP exchange: a request of a client, or one that a worker made.
type Record struct {
	ID int64
	// Out says that a worker sent it.
	Out    bool
	AtMs   int64
	Method string
	URL    string
	Header event.Header
	Body   Captured

	Status         int // 0: no answer yet
	ResponseHeader event.Header
	Response       Captured
	// Object is "Class/name" of the object that answered, "" if none did.
	Object string
	// SentUs, HeadUs, FirstUs and EndUs are when the request's body had been read, and
	// when the response's head, first byte and end came, from the beginning, in
	// microseconds; 0: not yet, or never.
	SentUs, HeadUs, FirstUs, EndUs int64
	// Failure says why there is no whole answer.
	Failure string
	// Socket is there for WebSockets.
	Socket *SocketRecord

	size  int
	began time.Time
}

// Captured is the beginning of a body.
type Captured struct {
	Data  []byte
	Total int64 // of what was read
}

// SocketRecord is what went over a WebSocket while somebody watched.
type SocketRecord struct {
	Open   bool
	Code   int
	Reason string
	Frames []Frame
	Lost   int64 // older frames that are not kept
}

// Frame is one message of a socket.
type Frame struct {
	AtMs int64
	// Sent is true from the side that opened the socket to the other.
	Sent   bool
	Binary bool
	Data   []byte // its beginning
	Total  int
}

// Stage is what has become of a record.
type Stage int

// The stages, in their order. Ended comes once.
const (
	Began Stage = iota
	Answered
	Ended
)

// Recorder records HTTP exchanges and the frames of sockets while somebody watches.
// Sockets are known from their opening on, watched or not. Safe for concurrent use.
type Recorder struct {
	clock    clock.Clock
	feed     *Feed // is told of the answers to workers' requests, and of frames; may be nil
	watching atomic.Int64

	mu        sync.Mutex // guards the rest
	periodAt  time.Time  // the beginning of the present period
	burst     int        // exchanges that were recorded in it
	last      int64
	records   map[int64]*Record
	order     []int64 // of what may be dropped, the oldest first
	size      int
	observers map[*func(Stage, Record)]struct{}
}

// NewRecorder records in the machine's time. The answers to requests of workers are told
// to f, which may be nil, and frames while it watches turns.
func NewRecorder(c clock.Clock, f *Feed) *Recorder {
	return &Recorder{clock: c, feed: f, records: map[int64]*Record{}, observers: map[*func(Stage, Record)]struct{}{}}
}

// fetched tells of the answer to a worker's request. mu is held.
func (r *Recorder) fetched(rec *Record) {
	if r.feed != nil {
		r.feed.add(Entry{Kind: Fetch, Method: rec.Method, Path: rec.URL, Status: rec.Status, TookUs: rec.HeadUs, Record: rec.ID, Text: rec.Failure})
	}
}

// Watch records until stop was called. observe, which may be nil, is told how each
// record goes on; it must be fast.
func (r *Recorder) Watch(observe func(Stage, Record)) (stop func()) {
	if r == nil {
		return func() {}
	}
	r.watching.Add(1)
	if observe != nil {
		r.mu.Lock()
		r.observers[&observe] = struct{}{}
		r.mu.Unlock()
	}
	return sync.OnceFunc(func() {
		r.watching.Add(-1)
		r.mu.Lock()
		delete(r.observers, &observe)
		r.mu.Unlock()
	})
}

// Find is a copy of a record; ok is false if it is not kept.
func (r *Recorder) Find(id int64) (rec Record, ok bool) {
	if r == nil {
		return rec, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	found := r.records[id]
	if found == nil {
		return rec, false
	}
	return found.copied(), true
}

// Sockets are copies of the records of sockets, without their frames, in the order in
// which they were opened.
func (r *Recorder) Sockets() (list []Record) {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range r.order {
		if rec := r.records[id]; rec != nil && rec.Socket != nil {
			list = append(list, rec.copied())
		}
	}
	return list
}

func (rec *Record) copied() Record {
	out := *rec
	if rec.Socket != nil {
		s := *rec.Socket
		s.Frames = append([]Frame(nil), s.Frames...)
		out.Socket = &s
	}
	return out
}

// Dialer records what workers send through d.
func (r *Recorder) Dialer(d netx.Dialer) netx.Dialer { return recorded{r, d} }

type recorded struct {
	r *Recorder
	d netx.Dialer
}

// Do implements netx.Dialer.
func (d recorded) Do(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	return d.r.exchange(true, d.d.Do, req, done)
}

// Incoming records what clients send to next.
func (r *Recorder) Incoming(next netx.Handler) netx.Handler {
	return func(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
		return r.exchange(false, next, req, done)
	}
}

func (r *Recorder) exchange(out bool, next netx.Handler, req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	watched := r.watching.Load() > 0
	if !watched && !req.Upgrade {
		return next(req, done)
	}
	now := r.clock.Now()
	if watched && !req.Upgrade && !r.admit(now) {
		return next(req, done)
	}
	rec := &Record{Out: out, AtMs: now.UnixMilli(), Method: req.Method, URL: req.URL, Header: append(event.Header(nil), req.Header...), began: now, size: recordedHead}
	for _, f := range rec.Header {
		rec.size += len(f.Name) + len(f.Value)
	}
	if watched {
		r.begin(rec)
		req.Record = rec.ID
		if req.Body != nil {
			copied := *req
			copied.Body = r.capture(rec, req.Body, &rec.Body, func(error) { rec.SentUs = r.since(rec) })
			req = &copied
		}
	}
	return next(req, func(resp *event.Response, err error) {
		if resp != nil && resp.Socket != nil {
			r.begin(rec) // sockets that open unwatched are known, too
		}
		if rec.ID != 0 {
			r.answered(rec, resp, err)
		}
		done(resp, err)
	})
}

// admit reports whether one more exchange is recorded now.
func (r *Recorder) admit(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.periodAt) >= period {
		r.periodAt, r.burst = now, 0
	}
	r.burst++
	return r.burst <= maxExchanges
}

// begin keeps a record, once.
func (r *Recorder) begin(rec *Record) {
	r.mu.Lock()
	if rec.ID != 0 {
		r.mu.Unlock()
		return
	}
	r.last++
	rec.ID = r.last
	r.records[rec.ID] = rec
	r.order = append(r.order, rec.ID)
	r.size += rec.size
	r.trim()
	r.mu.Unlock()
	r.tell(Began, rec)
}

// trim drops the oldest records, but for sockets that are open. mu is held.
func (r *Recorder) trim() {
	open := 0
	for len(r.order)-open > maxRecords || r.size > maxRecorded && open < len(r.order) {
		id := r.order[open]
		rec := r.records[id]
		if rec.Socket != nil && rec.Socket.Open {
			open++
			continue
		}
		r.size -= rec.size
		rec.size = 0
		delete(r.records, id)
		r.order = append(r.order[:open], r.order[open+1:]...)
	}
}

// grow counts n more bytes of a record. mu is held.
func (r *Recorder) grow(rec *Record, n int) {
	if r.records[rec.ID] == rec {
		rec.size += n
		r.size += n
		r.trim()
	}
}

func (r *Recorder) since(rec *Record) int64 {
	return max(1, r.clock.Now().Sub(rec.began).Microseconds())
}

func (r *Recorder) tell(s Stage, rec *Record) {
	r.mu.Lock()
	if len(r.observers) == 0 {
		r.mu.Unlock()
		return
	}
	told, list := rec.copied(), make([]func(Stage, Record), 0, len(r.observers))
	for o := range r.observers { // order-independent: observers do not know of each other
		list = append(list, *o)
	}
	r.mu.Unlock()
	for _, o := range list {
		o(s, told)
	}
}

func (r *Recorder) answered(rec *Record, resp *event.Response, err error) {
	r.mu.Lock()
	rec.HeadUs = r.since(rec)
	over := true
	switch {
	case err != nil:
		rec.Failure = err.Error()
	case resp == nil:
		rec.Failure = "no response"
	default:
		rec.Status, rec.Object = resp.Status, resp.Object
		rec.ResponseHeader = append(event.Header(nil), resp.Header...)
		if resp.Socket != nil {
			rec.Status, rec.Object, over = 101, resp.Socket.Object, false
			rec.Socket = &SocketRecord{Open: true}
		} else if resp.Body != nil {
			over = false
		}
	}
	if over {
		rec.EndUs = rec.HeadUs
	}
	if rec.Out {
		r.fetched(rec)
	}
	r.mu.Unlock()
	r.tell(Answered, rec)
	if resp != nil && resp.Socket != nil {
		resp.Socket.Tap(tap{r, rec})
	} else if resp != nil && resp.Body != nil {
		resp.Body = r.capture(rec, resp.Body, &rec.Response, func(err error) {
			rec.EndUs = r.since(rec)
			if err != nil && err != io.EOF {
				rec.Failure = err.Error()
			}
		})
	}
	if over {
		r.tell(Ended, rec)
	}
}

// capture keeps the beginning of a body. end is called with mu held, once. A body that
// is at hand stays what it is.
func (r *Recorder) capture(rec *Record, body event.Body, into *Captured, end func(error)) event.Body {
	response := into == &rec.Response
	add := func(chunk []byte) {
		r.mu.Lock()
		defer r.mu.Unlock()
		into.Total += int64(len(chunk))
		if response && rec.FirstUs == 0 {
			rec.FirstUs = r.since(rec)
		}
		if n := min(len(chunk), maxBody-len(into.Data)); n > 0 {
			into.Data = append(into.Data, chunk[:n]...)
			r.grow(rec, n)
		}
	}
	over := func(err error) {
		r.mu.Lock()
		end(err)
		r.mu.Unlock()
		if response {
			r.tell(Ended, rec)
		}
	}
	if event.IsBytes(body) {
		add(event.Peek(body))
		over(nil)
		return body
	}
	var once sync.Once
	return &capturing{body, add, func(err error) { once.Do(func() { over(err) }) }}
}

// capturing is a body that tells what is read from it.
type capturing struct {
	event.Body
	add func([]byte)
	end func(error)
}

// Read implements event.Body.
func (c *capturing) Read(cb func([]byte, error)) {
	c.Body.Read(func(chunk []byte, err error) {
		if len(chunk) > 0 {
			c.add(chunk)
		}
		if err != nil {
			c.end(err)
		}
		cb(chunk, err)
	})
}

// Cancel implements event.Body.
func (c *capturing) Cancel(reason error) {
	c.end(reason)
	c.Body.Cancel(reason)
}

// tap records what goes over a socket.
type tap struct {
	r   *Recorder
	rec *Record
}

// Frame implements event.Tap.
func (t tap) Frame(sent bool, m event.Message) {
	if t.r.watching.Load() == 0 {
		return
	}
	data := append([]byte(nil), m.Data[:min(len(m.Data), maxFrame)]...)
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	if f := t.r.feed; f != nil && f.Watching() {
		f.add(Entry{Kind: Message, Object: t.rec.Object, Path: t.rec.URL, Record: t.rec.ID, From: t.rec.sender(sent), Out: t.rec.Out, Bytes: len(m.Data), Text: beginning(m)})
	}
	s := t.rec.Socket
	s.Frames = append(s.Frames, Frame{t.r.clock.Now().UnixMilli(), sent, m.Binary, data, len(m.Data)})
	t.r.grow(t.rec, len(data))
	if len(s.Frames) > maxFrames {
		t.r.grow(t.rec, -len(s.Frames[0].Data))
		s.Frames = append(s.Frames[:0], s.Frames[1:]...)
		s.Lost++
	}
}

// sender says who sends the frames of a direction.
func (rec *Record) sender(sent bool) string {
	switch {
	case sent == rec.Out:
		return "worker"
	case rec.Out:
		return "upstream"
	}
	return "client"
}

// beginning is the first part of a frame of text.
func beginning(m event.Message) string {
	if m.Binary {
		return ""
	}
	return strings.ToValidUTF8(string(m.Data[:min(len(m.Data), 200)]), "")
}

// Closed implements event.Tap.
func (t tap) Closed(code int, reason string) {
	t.r.mu.Lock()
	s := t.rec.Socket
	first := s.Open
	if first {
		s.Open, s.Code, s.Reason = false, code, reason
		t.rec.EndUs = t.r.since(t.rec)
		t.r.trim()
	}
	t.r.mu.Unlock()
	if first {
		t.r.tell(Ended, t.rec)
	}
}
