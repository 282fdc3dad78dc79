// Package feed is the list of events of a running server, which any number of
// observers follow while it grows: logs of workers, requests, events of the server,
// and the effect points of its objects.
package feed

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/gateway"
	"minido.dev/minido/runtime/isolate"
	"minido.dev/minido/runtime/server"
)

// Kind says what an Entry is about.
type Kind string

// The kinds of entries.
const (
	Log     Kind = "log"     // a line that a worker logged
	Request Kind = "request" // a request that the listener has answered
	Event   Kind = "event"   // something happened to the server: a reload, a warning, an error
	Point   Kind = "point"   // an effect point (internal/killpoint)
	Fetch   Kind = "fetch"   // a request of a worker was answered, while exchanges are recorded
	Turn    Kind = "turn"    // a turn of an isolate: one event, until its outputs have left
	Sync    Kind = "sync"    // what an object has committed is safe on disk
	Message Kind = "frame"   // a message of a WebSocket
)

// Entry is one thing that happened. Members that its kind does not have are absent.
type Entry struct {
	// Seq counts from 1.
	Seq int64 `json:"seq"`
	// AtMs is the machine's time, in milliseconds since the epoch.
	AtMs int64 `json:"at_ms"`
	Kind Kind  `json:"kind"`
	// Object is "Class/name", absent for a stateless worker.
	Object string `json:"object,omitempty"`
	// Level is debug, info, log, warn or error.
	Level string `json:"level,omitempty"`
	Text  string `json:"text,omitempty"`
	// Where is the position of a log in the sources, "src/worker.ts:12:5", Stack the whole
	// stack; both are there while somebody watches logs.
	Where string `json:"where,omitempty"`
	Stack string `json:"stack,omitempty"`
	// Values are what console was given, while an inspector wants them.
	Values []isolate.Remote `json:"-"`

	Method string `json:"method,omitempty"`
	Path   string `json:"path,omitempty"`
	Status int    `json:"status,omitempty"`
	// Record is the number of a request's record, if there is one.
	Record int64 `json:"record,omitempty"`
	// TookUs is the time from the request's head to the response's, or that of a turn or a
	// sync, in microseconds; ComputedUs is the part of a turn before its commits.
	TookUs     int64 `json:"took_us,omitempty"`
	ComputedUs int64 `json:"computed_us,omitempty"`
	// Held is how many outputs have waited for the commits of a turn, or for a sync.
	Held int `json:"held,omitempty"`
	// Statements are what a turn has asked of its object's storage first, Unlisted is how
	// much it has asked after that.
	Statements []StorageCall `json:"statements,omitempty"`
	Unlisted   int           `json:"unlisted,omitempty"`

	// From is who has sent a frame, "client", "worker" or "upstream"; Out says that a worker
	// has opened its socket, and Bytes is the frame's size.
	From  string `json:"from,omitempty"`
	Out   bool   `json:"out,omitempty"`
	Bytes int    `json:"bytes,omitempty"`

	// Effect and Side name a point, Cause what started the turn.
	Effect string `json:"effect,omitempty"`
	Side   string `json:"side,omitempty"`
	Cause  string `json:"cause,omitempty"`

	// Skipped is how many points, turns, syncs and frames came before this entry, too fast
	// to be kept.
	Skipped int64 `json:"skipped,omitempty"`
}

// StorageCall is SQL, or a verb of ctx.storage with a key.
type StorageCall struct {
	Text  string `json:"text"`            // in one line, cut where it is long
	Where string `json:"where,omitempty"` // "at function (src/worker.ts:12:5)"
	// TookUs is in microseconds; rows are counted until the turn has ended.
	TookUs  int64  `json:"took_us"`
	Read    int64  `json:"rows_read,omitempty"`
	Written int64  `json:"rows_written,omitempty"`
	Failed  string `json:"failed,omitempty"`
}

// Kept is how many entries a feed holds: what an observer finds when it comes, and
// how far it may fall behind before entries are lost to it. maxText bounds the text
// of each, in bytes.
const (
	Kept    = 8192
	maxText = 8 << 10
)

// Of points, turns, syncs and frames, which can be more than anybody reads, maxBurst are
// taken in each period; the others are counted alone. A busy server then spends no more
// on them than one that has ten thousand of them a second.
const (
	maxBurst = 1000
	period   = 100 * time.Millisecond
)

// Feed is the list. Safe for concurrent use.
type Feed struct {
	clock  clock.Clock
	points *killpoint.Points

	mu      sync.Mutex    // guards the rest of this paragraph
	ring    []Entry       // entry n is at (n-1) % Kept
	last    int64         // the Seq of the last entry
	grown   chan struct{} // closed by the next entry; nil if nobody waits
	since   time.Time     // the beginning of the present period
	burst   int           // what was taken in it
	skipped int64         // what was not taken since the last entry

	watch    sync.Mutex // guards the next two; taken before mu
	watching int        // how many want points
	unwatch  func()

	turns  atomic.Int64 // how many want turns
	stacks atomic.Int64 // how many want the stacks of logs
	values atomic.Int64 // how many want the values in them
}

// New returns an empty feed. Its times are those of the clock; nil points are
// never reported.
func New(c clock.Clock, points *killpoint.Points) *Feed {
	return &Feed{clock: c, points: points}
}

func (f *Feed) add(e Entry) {
	if len(e.Text) > maxText {
		e.Text = e.Text[:maxText] + "…"
	}
	now := f.clock.Now()
	e.AtMs = now.UnixMilli()
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Kind == Point || e.Kind == Turn || e.Kind == Sync || e.Kind == Message {
		if now.Sub(f.since) >= period {
			f.since, f.burst = now, 0
		}
		if f.burst == maxBurst {
			f.skipped++
			return
		}
		f.burst++
	}
	f.last++
	e.Seq, e.Skipped, f.skipped = f.last, f.skipped, 0
	if len(f.ring) < Kept {
		f.ring = append(f.ring, e)
	} else {
		f.ring[(e.Seq-1)%Kept] = e
	}
	if f.grown != nil {
		close(f.grown)
		f.grown = nil
	}
}

var levelNames = map[engine.Level]string{engine.Debug: "debug", engine.Info: "info", engine.Log: "log", engine.Warn: "warn", engine.Error: "error"}

// Wants implements isolate.LogObserver.
func (f *Feed) Wants() isolate.LogDetails {
	return isolate.LogDetails{Stack: f.stacks.Load() > 0, Values: f.values.Load() > 0}
}

// frame is a position of the sources in a line of a stack.
var frame = lazyregexp.New(`^\s*at (?:.*\()?([^()\s]+:\d+:\d+)\)?$`)

// Logged implements isolate.LogObserver.
func (f *Feed) Logged(l isolate.Logged) {
	e := Entry{Kind: Log, Level: l.Level, Object: l.Object, Text: l.Text, Stack: l.Stack, Values: l.Values}
	first, _, _ := strings.Cut(l.Stack, "\n")
	if m := frame.FindStringSubmatch(first); m != nil {
		e.Where = m[1]
	}
	f.add(e)
}

// WatchLogs has logs say where they came from, and with values keep what console was
// given, until stop was called.
func (f *Feed) WatchLogs(values bool) (stop func()) {
	f.stacks.Add(1)
	if values {
		f.values.Add(1)
	}
	return sync.OnceFunc(func() {
		f.stacks.Add(-1)
		if values {
			f.values.Add(-1)
		}
	})
}

// Request is told each request that was answered.
func (f *Feed) Request(r gateway.RequestLog) {
	f.add(Entry{Kind: Request, Method: r.Method, Path: r.Path, Status: r.Status, TookUs: micros(r.Duration), Record: r.Record})
}

// Event is told what happens to the server.
func (f *Feed) Event(ev server.Event) {
	level, text := engine.Info, ev.Text
	switch ev.Kind {
	case server.EventReloading:
		text = "Files changed, reloading..."
	case server.EventReloaded:
		text = "Reloaded."
	case server.EventBuildFailed:
		level, text = engine.Error, "The change cannot be loaded; the earlier code goes on answering.\n"
		explained, _ := server.Explain(ev.Err, false)
		text += explained
	case server.EventNote:
	case server.EventWarning:
		level = engine.Warn
	default:
		level = engine.Error
	}
	if ev.Worker != "" {
		text = "[" + ev.Worker + "] " + text
	}
	f.add(Entry{Kind: Event, Level: levelNames[level], Text: text})
}

// WatchPoints reports effect points, too, until the last of those who asked for it
// has called stop. Effects go on as if nobody watched.
func (f *Feed) WatchPoints() (stop func()) {
	f.watch.Lock()
	defer f.watch.Unlock()
	if f.watching++; f.watching == 1 {
		f.unwatch = f.points.Watch(func(p killpoint.Point) {
			f.add(Entry{Kind: Point, Object: p.Object, Effect: string(p.Kind), Side: string(p.Side), Cause: p.Cause})
		})
	}
	return sync.OnceFunc(func() {
		f.watch.Lock()
		defer f.watch.Unlock()
		if f.watching--; f.watching == 0 {
			f.unwatch()
		}
	})
}

// WatchTurns reports turns, too, until stop was called.
func (f *Feed) WatchTurns() (stop func()) {
	f.turns.Add(1)
	return sync.OnceFunc(func() { f.turns.Add(-1) })
}

// Watching implements engine.TurnObserver.
func (f *Feed) Watching() bool { return f.turns.Load() > 0 }

// Turn implements engine.TurnObserver.
func (f *Feed) Turn(r *engine.TurnReport) {
	e := Entry{Kind: Turn, Object: r.Label, Cause: r.Cause, ComputedUs: micros(r.Computed), TookUs: micros(r.Took), Held: r.Held, Unlisted: r.Unlisted}
	for i := range r.Statements {
		s := &r.Statements[i]
		e.Statements = append(e.Statements, StorageCall{s.Text, s.Where, micros(s.Took), s.Read, s.Written, s.Failed})
	}
	f.add(e)
}

// Synced implements engine.TurnObserver.
func (f *Feed) Synced(label string, took time.Duration, released int) {
	f.add(Entry{Kind: Sync, Object: label, TookUs: micros(took), Held: released})
}

// micros is a duration in microseconds, at least one.
func micros(d time.Duration) int64 { return max(1, d.Microseconds()) }

// LastLogs are the last lines that workers logged, at most limit, oldest first.
func (f *Feed) LastLogs(limit int) (lines []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	oldest := f.last - int64(len(f.ring))
	for n := f.last; n > oldest && len(lines) < limit; n-- {
		if e := &f.ring[(n-1)%Kept]; e.Kind == Log {
			lines = append(lines, e.Level+": "+e.Text)
		}
	}
	slices.Reverse(lines)
	return lines
}

// After gives the entries behind seq, at most limit, oldest first, and how many of
// them were overwritten before they could be read. Where there is none, more is
// closed when there is one.
func (f *Feed) After(seq int64, limit int) (entries []Entry, lost int64, more <-chan struct{}) {
	return f.AppendAfter(nil, seq, limit)
}

// AppendAfter is After for who reads often: the entries are appended to a list.
func (f *Feed) AppendAfter(entries []Entry, seq int64, limit int) (_ []Entry, lost int64, more <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if seq > f.last { // of an earlier life of the server
		seq = 0
	}
	if oldest := f.last - int64(len(f.ring)); seq < oldest {
		lost, seq = oldest-seq, oldest
	}
	for n := seq + 1; n <= f.last && len(entries) < limit; n++ {
		entries = append(entries, f.ring[(n-1)%Kept])
	}
	if len(entries) == 0 {
		if f.grown == nil {
			f.grown = make(chan struct{})
		}
		more = f.grown
	}
	return entries, lost, more
}
