// Package feed is what happens in a running server, as a list that any number of
// observers follow while it grows: what workers log, what the listener answers,
// what happens to the server, and the effect points that its objects pass.
package feed

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/killpoint"
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
	// TookUs is the time from the request's head to the response's, or that of a turn, in
	// microseconds; ComputedUs is the part of a turn before its commits.
	TookUs     int64 `json:"took_us,omitempty"`
	ComputedUs int64 `json:"computed_us,omitempty"`

	// Effect and Side name a point, Cause what started the turn.
	Effect string `json:"effect,omitempty"`
	Side   string `json:"side,omitempty"`
	Cause  string `json:"cause,omitempty"`
}

// Kept is how many entries a feed holds: what an observer finds when it comes, and
// how far it may fall behind before entries are lost to it. maxText bounds the text
// of each, in bytes.
const (
	Kept    = 8192
	maxText = 8 << 10
)

// Feed is the list. Safe for concurrent use.
type Feed struct {
	clock  clock.Clock
	points *killpoint.Points

	mu    sync.Mutex    // guards the next three
	ring  []Entry       // entry n is at (n-1) % Kept
	last  int64         // the Seq of the last entry
	grown chan struct{} // closed by the next entry; nil if nobody waits

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
	e.AtMs = f.clock.Now().UnixMilli()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	e.Seq = f.last
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
var frame = regexp.MustCompile(`^\s*at (?:.*\()?([^()\s]+:\d+:\d+)\)?$`)

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
	f.add(Entry{Kind: Request, Method: r.Method, Path: r.Path, Status: r.Status, TookUs: max(1, r.Duration.Microseconds()), Record: r.Record})
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
// has called stop. Effects of the process are one after another for that time.
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
func (f *Feed) Turn(label, cause string, computed, took time.Duration) {
	f.add(Entry{Kind: Turn, Object: label, Cause: cause, ComputedUs: max(1, computed.Microseconds()), TookUs: max(1, took.Microseconds())})
}

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
