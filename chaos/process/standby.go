package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/durableobject/pool"
)

// Order is a line that the harness writes to a standby's standard input.
type Order struct {
	// Do is DoServe, DoPending, DoWake or DoStop.
	Do string `json:"do"`
	// Persist is the directory of the state, Arm the point to die at ("" for
	// none), Points the file that gets a line for each point ("" for none).
	Persist string `json:"persist,omitempty"`
	Arm     string `json:"arm,omitempty"`
	Points  string `json:"points,omitempty"`
	// Checkpoint is that of fault.Fault, in place of Arm.
	Checkpoint int `json:"checkpoint,omitempty"`
	// Acts are faults that are no kill, as package fault writes them; Acted is the file
	// that gets a line for each.
	Acts  []string `json:"acts,omitempty"`
	Acted string   `json:"acted,omitempty"`
	// ClockMs is how far the child's clock is ahead of the machine's.
	ClockMs int64 `json:"clock_ms,omitempty"`
	// Skews are how far the machines of objects, by their labels, and with "" that of the
	// worker are ahead of the child's clock.
	Skews map[string]time.Duration `json:"skews,omitempty"`
	// HorizonMs, of DoPending: an alarm that is due later is not work.
	HorizonMs int64 `json:"horizon_ms,omitempty"`
}

// Acted is a line of the file: an act that has come to its end.
type Acted struct {
	Fault string `json:"fault"`
	// Refused says why production would not have done it then, Error why it failed.
	Refused string `json:"refused,omitempty"`
	Error   string `json:"error,omitempty"`
	AtNs    int64  `json:"t"`
}

// NewActed says what became of a fault at a moment.
func NewActed(fault string, at time.Time, err error) Acted {
	line := Acted{Fault: fault, AtNs: at.UnixNano()}
	var refused *pool.RefusedError
	switch {
	case errors.As(err, &refused), errors.Is(err, pool.ErrNotRunning), errors.Is(err, pool.ErrNoObject), errors.Is(err, pool.ErrNoIsolate):
		line.Refused = err.Error()
	case err != nil:
		line.Error = err.Error()
	}
	return line
}

// The orders.
const (
	DoServe   = "serve"   // open the state and listen; once
	DoPending = "pending" // say what is still to be done
	DoWake    = "wake"    // construct every object that is stored
	DoStop    = "stop"    // end in good order
)

// Reply is a line that a standby writes to its standard output.
type Reply struct {
	// Say is SayPrepared, SayReady, SayPending, SayWoken or SayFailed.
	Say string `json:"say"`
	// URL is where a ready server answers.
	URL string `json:"url,omitempty"`
	// Text is what is pending ("" for nothing), or why it failed.
	Text string `json:"text,omitempty"`
	// Unborn are the objects whose constructors failed, each with why.
	Unborn []string `json:"unborn,omitempty"`
	// Usage says that the failure is the project's or the caller's.
	Usage bool `json:"usage,omitempty"`
	// Ms is how long it took.
	Ms float64 `json:"ms,omitempty"`
}

// The replies.
const (
	SayPrepared = "prepared" // the bundle is evaluated; nothing else has happened
	SayReady    = "ready"
	SayPending  = "pending"
	SayWoken    = "woken"
	SayFailed   = "failed"
)

// ErrRefused is returned, wrapped, when a standby says that it cannot serve
// because of the project or its configuration.
var ErrRefused = errors.New("the project cannot be served")

// Standby is a server that was started ahead of time: its bundle is evaluated,
// and it waits to be told which state to serve. It is safe for concurrent use;
// questions are answered one after the other.
type Standby struct {
	*Child
	stdin   *os.File
	replies chan Reply

	asking sync.Mutex // one question at a time
}

// StartStandby starts o.Command, which must speak Order and Reply. It returns
// at once; Prepared waits.
func StartStandby(o Options) (*Standby, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("process: standby: %w", err)
	}
	s := &Standby{stdin: ours, replies: make(chan Reply, 8)}
	o.Stdin, o.Stdout = theirs, &replyReader{out: s.replies}
	s.Child, err = Start(o)
	if closeErr := theirs.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	return s, nil
}

// replyReader cuts a child's output into replies. What is no reply goes nowhere:
// a worker's console goes to standard error.
type replyReader struct {
	rest []byte
	out  chan<- Reply
}

// Write implements io.Writer.
func (r *replyReader) Write(p []byte) (int, error) {
	r.rest = append(r.rest, p...)
	for {
		line, rest, found := bytes.Cut(r.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		r.rest = rest
		var reply Reply
		if json.Unmarshal(line, &reply) != nil {
			continue
		}
		select {
		case r.out <- reply:
		default:
			return 0, io.ErrShortWrite // nobody asked for so many: the child is out of order
		}
	}
}

// expect waits for one reply.
func (s *Standby) expect(ctx context.Context, limit time.Duration, say string) (Reply, error) {
	late := make(chan struct{})
	timer := s.options.Scheduler.Clock().AfterFunc(limit, func() { close(late) })
	defer timer.Stop()
	select {
	case r := <-s.replies:
		return s.judge(r, say)
	case <-s.Exited():
		select {
		case r := <-s.replies: // its last words
			if _, err := s.judge(r, say); err != nil {
				return Reply{}, err
			}
		default:
		}
		return Reply{}, fmt.Errorf("process: %w", s.ExitError())
	case <-late:
		return Reply{}, fmt.Errorf("process: the child's %q: %w after %v; it wrote:\n%s", say, wait.ErrTimeout, limit, s.Tail())
	case <-ctx.Done():
		return Reply{}, fmt.Errorf("process: %w", context.Cause(ctx))
	}
}

func (s *Standby) judge(r Reply, say string) (Reply, error) {
	switch {
	case r.Say == say:
		return r, nil
	case r.Say == SayFailed && r.Usage:
		return Reply{}, fmt.Errorf("%w: %s", ErrRefused, r.Text)
	case r.Say == SayFailed:
		return Reply{}, fmt.Errorf("process: the child failed: %s", r.Text)
	}
	return Reply{}, fmt.Errorf("process: the child said %q instead of %q", r.Say, say)
}

// Prepared waits until the bundle is evaluated.
//
// # Errors
//
// ErrRefused, an *ExitError, wait.ErrTimeout.
func (s *Standby) Prepared(ctx context.Context, limit time.Duration) error {
	_, err := s.expect(ctx, limit, SayPrepared)
	return err
}

// Serve puts a prepared child to work and returns its URL. A child that is armed
// may die at its point before it is ready: an *ExitError then.
func (s *Standby) Serve(ctx context.Context, limit time.Duration, o Order) (url string, err error) {
	s.asking.Lock()
	defer s.asking.Unlock()
	o.Do = DoServe
	if o.Points != "" {
		s.options.PointLog = o.Points
	}
	if err := s.order(o); err != nil {
		return "", err
	}
	r, err := s.expect(ctx, limit, SayReady)
	return r.URL, err
}

// Pending asks what is still to be done; "" is nothing. A child that does not
// answer within limit is stuck: its loop does not come back.
func (s *Standby) Pending(ctx context.Context, limit, horizon time.Duration) (why string, err error) {
	s.asking.Lock()
	defer s.asking.Unlock()
	if err := s.order(Order{Do: DoPending, HorizonMs: horizon.Milliseconds()}); err != nil {
		return "", err
	}
	r, err := s.expect(ctx, limit, SayPending)
	return r.Text, err
}

// Wake has every stored object constructed and returns those that could not be, each
// with why.
func (s *Standby) Wake(ctx context.Context, limit time.Duration) (unborn []string, err error) {
	s.asking.Lock()
	defer s.asking.Unlock()
	if err := s.order(Order{Do: DoWake}); err != nil {
		return nil, err
	}
	r, err := s.expect(ctx, limit, SayWoken)
	return r.Unborn, err
}

// order writes a line. A child that is gone is for expect to notice.
func (s *Standby) order(o Order) error {
	line, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("process: order: %w", err)
	}
	if _, err := s.stdin.Write(append(line, '\n')); err != nil {
		if wait.Channel(context.Background(), s.options.Scheduler.Clock(), time.Second, "the child's end", s.Exited()) == nil {
			return fmt.Errorf("process: order: %w", s.ExitError())
		}
		return fmt.Errorf("process: order: %w", err)
	}
	return nil
}

// Close kills the child, waits for its end and closes the pipe.
func (s *Standby) Close() error {
	err := s.Child.Close()
	if closeErr := s.stdin.Close(); closeErr != nil && !errors.Is(closeErr, os.ErrClosed) {
		err = errors.Join(err, closeErr)
	}
	return err
}
