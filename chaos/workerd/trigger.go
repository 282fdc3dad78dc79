package workerd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/oracle"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
)

// Way is how a try places its death.
type Way struct {
	// ByState waits until what is stored is what the finding's death had left. Otherwise, and
	// where that does not tell moments apart, the death comes Part (0 to 1) of the Gap after the
	// last that was seen before it.
	ByState bool
	Part    float64
}

// WayOf is that of the nth try, counted from 1: by what is stored and by time in turn, the
// times spread ever more closely.
func WayOf(n int) Way {
	w := Way{ByState: n%2 == 1}
	step := 0.5
	for i := (n + 1) / 2; i > 0; i /= 2 { // van der Corput's sequence
		if i%2 == 1 {
			w.Part += step
		}
		step /= 2
	}
	return w
}

// Trigger kills a server at a Moment. Safe for concurrent use.
type Trigger struct {
	o TriggerOptions

	mu      sync.Mutex // guards everything below
	seen    map[string]int
	hidden  map[string]bool // questions, whose answers are not counted either
	reached time.Time       // when all that the moment has seen was seen; zero before
	looked  string          // the stamp of the files that were looked at last
	timer   clock.Timer     // nil without one
	ended   bool            // no kill comes any more
	how     string          // "" before the kill
	err     error           // of the kill, or of the last look at files that were being written
	fired   chan struct{}
}

// TriggerOptions say when, and what to kill.
type TriggerOptions struct {
	Moment  Moment
	Way     Way
	Gap     time.Duration // see Moment.Gap
	Mask    oracle.Mask   // what of the state is not compared
	Persist string        // the state directory
	Clock   clock.Clock
	// Kill returns when the server is dead. It must not wait for whoever records events.
	Kill func() error
}

// Arm sets a trigger whose server is ready. Stop must be called.
func Arm(o TriggerOptions) *Trigger {
	t := &Trigger{o: o, seen: map[string]int{}, hidden: map[string]bool{}, fired: make(chan struct{})}
	t.mu.Lock()
	defer t.mu.Unlock()
	if o.Moment.After > 0 {
		t.in(o.Moment.After, fmt.Sprintf("%v after the server was ready", o.Moment.After))
	} else if len(o.Moment.seen) == 0 {
		t.arrive("")
	}
	return t
}

// in kills after a time. t.mu is held.
func (t *Trigger) in(d time.Duration, how string) {
	t.timer = t.o.Clock.AfterFunc(d, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.kill(how)
	})
}

// kill kills now, unless that has happened. t.mu is held.
func (t *Trigger) kill(how string) {
	if t.how != "" || t.ended {
		return
	}
	t.how = how
	t.err = t.o.Kill()
	close(t.fired)
}

// Event takes what was seen. It is for history.Recorder.Observe: whoever records the event
// goes on after it returns, so that a death follows it at once.
func (t *Trigger) Event(e history.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.Kind == history.Call && e.Until {
		t.hidden[e.Op] = true
	}
	kind := visible(e)
	if kind == "" || e.Op != "" && t.hidden[e.Op] || t.o.Moment.After > 0 || t.how != "" {
		return
	}
	t.seen[kind]++
	switch {
	case !t.reached.IsZero():
		if !sent(kind) {
			t.kill("as soon as the moment was over") // it was missed
		}
	case t.o.Moment.passed(t.seen):
		t.arrive(kind)
	}
}

// arrive notes that all that the moment has seen was seen. t.mu is held.
func (t *Trigger) arrive(kind string) {
	t.reached = t.o.Clock.Now()
	same := t.matches()
	switch {
	case t.o.Way.ByState && same && !sent(kind):
		t.kill("when what was stored was the finding's")
	case !t.o.Way.ByState || same: // the server has not begun what the death cuts
		d := time.Duration(t.o.Way.Part * float64(t.o.Gap))
		t.in(d, fmt.Sprintf("%v after what was seen last before it", d.Round(time.Millisecond)))
	}
}

// Poll looks at what is stored, if that may have become the moment's.
func (t *Trigger) Poll() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.how != "" || t.ended || !t.o.Way.ByState || t.reached.IsZero() || t.timer != nil {
		return
	}
	if t.matches() {
		t.kill("when what was stored became the finding's")
	}
}

// matches reports whether what is stored is the moment's. Files that cannot be read
// while they are written are not. t.mu is held.
func (t *Trigger) matches() bool {
	stamp, err := Stamp(t.o.Persist)
	if err != nil || stamp == t.looked && t.err == nil {
		t.err = err
		return false
	}
	t.looked = stamp
	state, err := oracle.Read(t.o.Persist, nil)
	if t.err = err; err != nil {
		return false
	}
	return len(oracle.Differences(state, t.o.Moment.State, t.o.Mask)) == 0
}

// Fired is closed after the kill; nil, of no trigger, never is.
func (t *Trigger) Fired() <-chan struct{} {
	if t == nil {
		return nil
	}
	return t.fired
}

// Killed reports whether the kill has come.
func (t *Trigger) Killed() bool {
	select {
	case <-t.Fired():
		return true
	default:
		return false
	}
}

// Await waits for the kill, or for so long.
func (t *Trigger) Await(ctx context.Context, limit time.Duration) {
	_ = wait.Channel(ctx, t.o.Clock, limit, "the server's death", t.Fired()) // both ends are fine
}

// How says when the kill came, "" if it did not; the error is the kill's.
func (t *Trigger) How() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.how == "" {
		return "", nil
	}
	return t.how, t.err
}

// Stop has no kill come any more. Its error is why the files could not be read, if it was for
// that. nil takes it, as it takes Poll.
func (t *Trigger) Stop() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	if t.timer != nil {
		t.timer.Stop()
	}
	if t.how == "" && t.err != nil {
		return errors.Join(errors.New("workerd: what is stored could not be read"), t.err)
	}
	return nil
}
