// Package history records what is observable of a run from outside: calls and returns
// of clients, frames, starts, kills, recoveries, states of files. It is the evidence
// that checkers judge and that a failed run leaves behind, as one JSON object a line
// (NDJSON).
package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"minido.dev/minido/internal/clock"
)

// Kind says what an event is.
type Kind string

// The kinds of events.
const (
	Start   Kind = "start"   // a server process was started
	Ready   Kind = "ready"   // it answers
	Kill    Kind = "kill"    // it died by SIGKILL
	Stop    Kind = "stop"    // it was asked to end, and ended
	Call    Kind = "call"    // a client asks
	Return  Kind = "return"  // it has the answer
	Fail    Kind = "fail"    // it was refused, or the server answered with an error
	Unknown Kind = "unknown" // the answer was lost: the call may or may not have had its effect
	Send    Kind = "send"    // a frame from a client
	Receive Kind = "receive" // a frame to a client
	Connect Kind = "connect" // a socket opened
	Close   Kind = "close"   // a socket closed
	Point   Kind = "point"   // an effect point that a server passed or died at
	Effect  Kind = "effect"  // something that must happen once arrived at a sink: Text names it, Op is its idempotency key
	Fetch   Kind = "fetch"   // a request arrived at an upstream: Text is its path, Op its generation, Data what it asked and what it is answered
	Note    Kind = "note"    // what the harness saw or did otherwise
)

// SocketPrefix begins the Who of the events of a socket that a driver has opened.
const SocketPrefix = "socket-"

// ByClient begins the text of a Close that the client asked for.
const ByClient = "the client closed it"

// GivenUp begins the text of a Close on which a client waited for a frame until its time was over.
const GivenUp = ByClient + " when it no longer waited"

// ByFault is the Who of a Note on a fault that happened.
const ByFault = "fault"

// ByHarness and ByChecker are the Who of Notes that are no observations: what the
// harness and a checker say to them.
const (
	ByHarness = "harness"
	ByChecker = "checker"
)

// AtRest is the text of a Kill of a life that had come to rest, so that the next one has
// every object constructed.
const AtRest = "rest"

// Event is one line of a history. Immutable once recorded.
type Event struct {
	// N counts from 1; the order of N is the order of recording.
	N int `json:"n"`
	// AtMs is the time since the recorder was made, in milliseconds.
	AtMs float64 `json:"at_ms"`
	Kind Kind    `json:"kind"`
	// Who is the client, process or object that the event belongs to.
	Who string `json:"who,omitempty"`
	// Op ties a Call to its Return, Fail or Unknown.
	Op string `json:"op,omitempty"`
	// Text is for people: a method, a reason, a path.
	Text string `json:"text,omitempty"`
	// Until says of a Call that the client sends it again until it has an answer.
	Until bool `json:"until,omitempty"`
	// Data is the frame, the arguments or the result.
	Data json.RawMessage `json:"data,omitempty"`
}

// Asked is the Data of a Fetch at a scripted model.
type Asked struct {
	// Turns is how many messages the conversation has, User the last one of a user.
	Turns int    `json:"turns"`
	User  string `json:"user,omitempty"`
	// Reply is the text that the model answers if nothing cuts it, Tool the tool
	// that it calls instead.
	Reply string `json:"reply,omitempty"`
	Tool  string `json:"tool,omitempty"`
	// Fault is what the plan does to the answer.
	Fault string `json:"fault,omitempty"`
}

// Blow is the Data of a Note by ByFault: what a plan did to a server that lived on.
type Blow struct {
	// AtMs is when it happened, which is before it was recorded.
	AtMs float64 `json:"at_ms"`
	// Ends says that objects lost their memory and their sockets by it.
	Ends bool `json:"ends,omitempty"`
	// Cuts says that a client lost its socket by it.
	Cuts bool `json:"cuts,omitempty"`
}

// Passed is the Data of a Point: when it was passed, which is before it was recorded.
type Passed struct {
	AtMs float64 `json:"at_ms"`
	// After is how many events the history had then; nil where nobody counted.
	After *int `json:"after,omitempty"`
}

// Recorder collects the events of one run. It is safe for concurrent use.
type Recorder struct {
	clock clock.Clock
	start time.Time

	mu     sync.Mutex // guards everything below
	out    io.Writer
	events []Event
	err    error
	told   func(Event)
}

// NewRecorder returns an empty history whose time starts now. Each event is
// also written to out, unless out is nil, with one Write per line: nothing is
// buffered, so that a harness that dies leaves its history behind.
func NewRecorder(c clock.Clock, out io.Writer) *Recorder {
	return &Recorder{clock: c, start: c.Now(), out: out}
}

// Elapsed is the time since the recorder was made.
func (r *Recorder) Elapsed() time.Duration { return r.clock.Now().Sub(r.start) }

// Len is how many events there are.
func (r *Recorder) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.events)
}

// Add appends an event, whose N and AtMs it sets, and returns it. Data that is
// not valid JSON is kept as a JSON string.
func (r *Recorder) Add(e Event) Event {
	if len(e.Data) > 0 && !json.Valid(e.Data) {
		quoted, err := json.Marshal(string(e.Data))
		if err != nil {
			panic(fmt.Sprintf("history: a string did not marshal: %v", err))
		}
		e.Data = quoted
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e.N = len(r.events) + 1
	e.AtMs = float64(r.Elapsed().Microseconds()) / 1000
	r.events = append(r.events, e)
	if r.out != nil && r.err == nil {
		line, err := json.Marshal(e)
		if err == nil {
			_, err = r.out.Write(append(line, '\n'))
		}
		r.err = err
	}
	if r.told != nil {
		r.told(e)
	}
	return e
}

// Observe has fn told each event that is recorded from now on, in their order. fn
// must not record one.
func (r *Recorder) Observe(fn func(Event)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = fn
}

// Events returns a copy of what was recorded so far, in order.
func (r *Recorder) Events() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Event(nil), r.events...)
}

// Err is the first error of writing the history out, if any.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return fmt.Errorf("history: write: %w", r.err)
	}
	return nil
}

// ReadFile reads the events that a Recorder has written to a file. A line that was cut is
// left out.
//
// # Errors
//
// fs.ErrNotExist, wrapped; those of reading.
func ReadFile(path string) (events []Event, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	in := bufio.NewReader(f)
	for {
		line, readErr := in.ReadBytes('\n')
		var e Event
		if len(line) > 0 && json.Unmarshal(line, &e) == nil {
			events = append(events, e)
		}
		if errors.Is(readErr, io.EOF) {
			return events, nil
		}
		if readErr != nil {
			return nil, fmt.Errorf("history: %w", readErr)
		}
	}
}
