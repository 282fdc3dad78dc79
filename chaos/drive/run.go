package drive

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"minido.dev/minido/chaos/agentrpc"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/sched"
)

// maxBody bounds how much of an answer is kept, in bytes.
const maxBody = 1 << 20

// Session drives one server after another, as the lives of one system. Its
// clients are new in every life. Safe for concurrent use.
type Session struct {
	history   *history.Recorder
	scheduler sched.Scheduler
	limit     time.Duration

	dial     agentrpc.Dialer
	exchange func(*http.Request) (Result, error)

	dies func(context.Context) // see Await; nil where nothing need be awaited
	lose func(Step) *Loss      // nil but for Lose
	pace time.Duration         // see Pace

	ranks []int // see Stagger
	apart time.Duration
	sent  int // steps but questions that are asked again; guarded by mu

	breaks     Breaks // see Break; After is guarded by mu
	operations int    // see Breaks; guarded by mu
	dialled    int    // sockets that were opened; guarded by mu
	hold       int    // see Hold; guarded by mu, as what follows
	begun      int    // steps, but those that were not sent
	ended      int    // those of them that were answered
	held       bool

	dialing sync.Mutex // one at a time, so that an agent gets one client

	mu      sync.Mutex // guards everything below
	url     string
	life    context.Context    // of the pauses in the present life; nil before the first
	endLife context.CancelFunc // of life
	clients map[string]*agentrpc.Client
	opened  []*agentrpc.Client // in order
	sockets []*Socket          // in order
	count   int                // clients and requests so far
	done    int                // steps that came to an end
	paced   time.Duration      // see Paced
	granted time.Duration      // see Granted
	passing time.Time          // when the last of it will have passed
}

// Granted is how much virtual time the driver has let pass so far. A life's
// limit is for what nobody asked for, so it does not count there.
func (s *Session) Granted() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.granted
}

// Grant adds time that the driver lets pass from now on.
func (s *Session) Grant(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.granted += d
	if end := s.scheduler.Clock().Now().Add(d); end.After(s.passing) {
		s.passing = end
	}
}

// spent is how much of the granted time has passed.
func (s *Session) spent() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.granted - max(0, s.passing.Sub(s.scheduler.Clock().Now()))
}

// limited bounds a step by the session's limit, beside which the time does not
// count that the driver lets pass meanwhile. The caller must call cancel.
func (s *Session) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	began := s.spent()
	return wait.WithLimitBeside(ctx, s.scheduler.Clock(), s.limit, func() time.Duration { return s.spent() - began })
}

// Driver does what the clients of one case do, over as many lives of the server
// as there are.
type Driver interface {
	// Run goes on where the life before ended, until everything is done or this
	// life is over: then it returns ErrUnsent or agentrpc.ErrLost. It must return
	// when ctx ends. A *Failure is what the driver itself calls wrong.
	Run(ctx context.Context, s *Session) error
	// Finished says that nothing is left to do.
	Finished() bool
}

// Failure is an error of what drives, not of what is driven: a step that fails
// without any fault, a scenario that throws.
type Failure struct {
	Text string
	// Refused says that a step was answered with an error, and no more.
	Refused bool
}

// Error implements error.
func (e *Failure) Error() string { return e.Text }

// Steps drives a list of steps, one after the other. An answer that a death has
// cut is not asked for again; a step that was never sent is done in the next life.
type Steps struct {
	list    []Step
	next    int
	strict  bool
	recover bool
	lives   int
}

// StepOptions configure Steps.
type StepOptions struct {
	// Strict makes an answer that is an error a Failure.
	Strict bool
	// Touch connects to the agents of the steps that are done, at the begin of
	// each life but the first.
	Touch bool
}

// NewSteps returns a Driver for list.
func NewSteps(list []Step, o StepOptions) *Steps {
	return &Steps{list: list, strict: o.Strict, recover: o.Touch}
}

// Finished implements Driver.
func (d *Steps) Finished() bool { return d.next == len(d.list) }

// Run implements Driver.
func (d *Steps) Run(ctx context.Context, s *Session) error {
	d.lives++
	if d.lives > 1 && d.recover {
		for _, step := range d.list[:d.next] {
			if err := s.Touch(ctx, step); err != nil {
				return err
			}
		}
	}
	for d.next < len(d.list) {
		step := d.list[d.next]
		_, err := s.Do(ctx, step)
		if errors.Is(err, ErrUnsent) {
			return err
		}
		d.next++
		if errors.Is(err, ErrRefused) {
			if d.strict {
				return &Failure{fmt.Sprintf("%s fails: %v", step, err), true}
			}
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// NewSession returns a session without a server. limit bounds each step.
func NewSession(h *history.Recorder, s sched.Scheduler, limit time.Duration) *Session {
	return &Session{history: h, scheduler: s, limit: limit, dial: agentrpc.DialTCP,
		exchange: func(r *http.Request) (Result, error) { return exchange(s, r) }}
}

// Over has the session use another network than that of this machine. It comes
// before Connect.
func (s *Session) Over(dial agentrpc.Dialer, exchange func(*http.Request) (Result, error)) {
	s.dial, s.exchange = dial, exchange
}

// Loss is a step whose answer the client does not get.
type Loss struct {
	// Delivered is whether the server gets the step.
	Delivered bool
}

// Lose has the answers of steps be lost, as if the server had died: fn returns nil for
// a step that goes its way. It comes before Connect.
func (s *Session) Lose(fn func(Step) *Loss) { s.lose = fn }

// Pace has the clients wait so long before each step but the first, and not before a
// question that is asked again. It comes before Connect.
func (s *Session) Pace(d time.Duration) { s.pace = d }

// Stagger has the nth step wait ranks[n] times apart, so that what clients do at once is
// done one after the other, in that order; steps beyond ranks do not wait. It comes before
// Connect.
func (s *Session) Stagger(ranks []int, apart time.Duration) { s.ranks, s.apart = ranks, apart }

// Hold has the nth step, counted from 1 over all lives, and those behind it not be sent
// in the present life; 0 ends that. Pauses end when the step would be sent.
func (s *Session) Hold(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hold, s.held = n, false
}

// Held reports whether a step was not sent for that.
func (s *Session) Held() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

// begin counts a step that is to be sent, and reports whether it may.
func (s *Session) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hold > 0 && s.begun >= s.hold-1 {
		s.held = true
		if s.endLife != nil {
			s.endLife() // the life ends here, whatever clients wait for beside the step
		}
		return false
	}
	s.begun++
	return true
}

// end counts how a step ended that has begun.
func (s *Session) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case errors.Is(err, ErrUnsent):
		s.begun--
	case !errors.Is(err, agentrpc.ErrLost):
		s.ended++
	}
}

// Steps is how many steps clients have sent so far, over all lives, and how many of them
// were answered. Questions that are asked again do not count.
func (s *Session) Steps() (sent, answered int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun, s.ended
}

// pause is how long a step waits.
func (s *Session) pause(step Step) (d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if step.Again {
		return 0
	}
	if s.done > 0 {
		d = s.pace
	}
	if s.sent < len(s.ranks) {
		d += time.Duration(s.ranks[s.sent]) * s.apart
	}
	s.sent++
	return d
}

// wait lets the pause before a step pass.
func (s *Session) wait(ctx context.Context, step Step) error { return s.pass(ctx, s.pause(step)) }

// waitToOpen lets the pause before a socket opens pass.
func (s *Session) waitToOpen(ctx context.Context) error {
	s.mu.Lock()
	pause := s.pace
	if s.done == 0 {
		pause = 0
	}
	s.mu.Unlock()
	return s.pass(ctx, pause)
}

func (s *Session) pass(ctx context.Context, pause time.Duration) error {
	if pause == 0 {
		return nil
	}
	s.Grant(pause)
	began := s.scheduler.Clock().Now()
	err := s.Pause(ctx, s.scheduler.Clock(), pause)
	s.mu.Lock()
	s.paced += s.scheduler.Clock().Now().Sub(began)
	s.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%w: its life ended while the client waited", ErrUnsent)
	}
	return nil
}

// Pause lets d of c's time pass. The error says that the present life is over: Drain has
// begun, or ctx has ended.
func (s *Session) Pause(ctx context.Context, c clock.Clock, d time.Duration) error {
	s.mu.Lock()
	life := s.life
	s.mu.Unlock()
	if life == nil {
		return wait.Pause(ctx, c, d)
	}
	return wait.PauseWithin(ctx, life, c, d)
}

// Paced is how long the clients have waited before their steps so far.
func (s *Session) Paced() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paced
}

// Scheduler is where the session's clients run.
func (s *Session) Scheduler() sched.Scheduler { return s.scheduler }

// Connect names the server of the next life.
func (s *Session) Connect(url string) {
	s.Disconnect()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.url = url
	if s.endLife != nil {
		s.endLife()
	}
	s.life, s.endLife = context.WithCancel(context.Background())
}

// Drain has the clients of a server that has died read what it had sent before: an answer
// that has reached the client's machine is not lost. Nothing new is sent, and pauses end.
// It returns when no agent's client has a connection any more, or ctx has ended: what else
// the driver waits for then ends with its connection, which the dead cannot keep open.
func (s *Session) Drain(ctx context.Context) {
	s.mu.Lock()
	s.url = ""
	if s.endLife != nil {
		s.endLife()
	}
	opened := slices.Clone(s.opened)
	s.mu.Unlock()
	for _, c := range opened {
		select {
		case <-c.Lost():
		case <-ctx.Done():
		}
	}
}

// Disconnect ends the clients of this life.
func (s *Session) Disconnect() {
	s.mu.Lock()
	s.url = ""
	s.mu.Unlock()
	s.hangUp()
}

// hangUp ends the connections that there are.
func (s *Session) hangUp() {
	s.mu.Lock()
	opened, sockets := s.opened, s.sockets
	s.opened, s.sockets, s.clients = nil, nil, map[string]*agentrpc.Client{}
	s.mu.Unlock()
	for _, c := range opened {
		c.Close()
	}
	for _, k := range sockets {
		k.cut()
	}
}

// number names the next client or request; url is "" between two lives.
func (s *Session) number() (n int, url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	return s.count, s.url
}

// Result is how a step ended. Immutable.
type Result struct {
	// Data is the answer as JSON.
	Data json.RawMessage
	// Status of a request.
	Status int
}

// ErrUnsent is returned, wrapped, by a step that never reached the server: it
// has had no effect, and may be done again.
var ErrUnsent = errors.New("the server could not be reached")

// ErrRefused is returned, wrapped, by a step that the server answered with an
// error.
var ErrRefused = errors.New("the server answered with an error")

// StatusError is an ErrRefused that has a status: the answer to a request, or to a handshake.
type StatusError struct {
	Status int
	Text   string // what was asked, and the answer
}

// Error implements error.
func (e *StatusError) Error() string {
	return fmt.Sprintf("%v: %s", ErrRefused, e.Text)
}

// Unwrap is ErrRefused.
func (*StatusError) Unwrap() error { return ErrRefused }

// Do does one step and waits for its answer.
//
// # Errors
//
// ErrUnsent; ErrRefused; agentrpc.ErrLost, where the effect is unknown; the
// cause of ctx's end.
func (s *Session) Do(ctx context.Context, step Step) (result Result, err error) {
	if !step.Again {
		if !s.begin() {
			return Result{}, fmt.Errorf("%w: it belongs to the next life", ErrUnsent)
		}
		defer func() { s.end(err) }()
	}
	if err := s.wait(ctx, step); err != nil {
		return Result{}, err
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.done++
	}()
	if !step.Until {
		if err := s.operate(ctx, true); err != nil {
			return Result{}, fmt.Errorf("%w: %w", ErrUnsent, err)
		}
	}
	ctx, cancel := s.limited(ctx)
	defer cancel()
	if s.lose == nil {
		return s.do(ctx, step)
	}
	loss := s.lose(step)
	if loss == nil {
		return s.do(ctx, step)
	}
	if loss.Delivered {
		if _, err := s.do(ctx, step); err != nil {
			return Result{}, err
		}
	} else {
		s.unknown(step)
	}
	return Result{}, fmt.Errorf("%w: as the case has it that this run is compared with", agentrpc.ErrLost)
}

// unknown notes a step that was lost before it reached the server, as one that a death
// cuts is noted.
func (s *Session) unknown(step Step) {
	n, _ := s.number()
	e := history.Event{Kind: history.Call, Who: "client", Op: fmt.Sprintf("lost-%d", n), Text: step.Method, Data: step.Args, Until: step.Until}
	if step.Kind == Fetch {
		e.Text, e.Data = step.Method+" "+step.Path, asJSON([]byte(step.Text))
	}
	s.history.Add(e)
	e.Kind, e.Data = history.Unknown, nil
	s.history.Add(e)
}

// Await has the client of a step whose answer was lost wait with dies before it goes on:
// a process that dies closes its connections before it closes its listener, and what is
// sent between the two is lost as well.
func (s *Session) Await(dies func(context.Context)) { s.dies = dies }

func (s *Session) do(ctx context.Context, step Step) (Result, error) {
	r, err := s.ask(ctx, step)
	if s.dies != nil && errors.Is(err, agentrpc.ErrLost) {
		s.dies(ctx)
	}
	return r, err
}

func (s *Session) ask(ctx context.Context, step Step) (Result, error) {
	if step.Kind == Fetch {
		return s.fetch(ctx, step)
	}
	client, err := s.client(ctx, step)
	if err != nil {
		return Result{}, err
	}
	var r Result
	switch {
	case step.Kind == Chat:
		r.Data, err = chat(ctx, client, step)
	case step.Kind == Resume:
		r.Data, err = resume(ctx, client)
	case step.Again:
		r.Data, err = client.Ask(ctx, step.Method, step.Args)
	case step.Until:
		r.Data, err = client.AskFirst(ctx, step.Method, step.Args)
	default:
		r.Data, err = client.Call(ctx, step.Method, step.Args)
	}
	var remote *agentrpc.RemoteError
	if errors.As(err, &remote) {
		err = fmt.Errorf("%w: %w", ErrRefused, remote)
	}
	return r, lostIfEnded(ctx, err)
}

// chat is one turn; its result is the answer's text.
func chat(ctx context.Context, client *agentrpc.Client, step Step) (json.RawMessage, error) {
	var body map[string]any
	if len(step.Body) > 0 {
		if err := json.Unmarshal(step.Body, &body); err != nil {
			return nil, fmt.Errorf("drive: the body of a chat request: %w", err)
		}
	}
	answer, err := client.ChatWith(ctx, step.Text, body)
	text, marshalErr := json.Marshal(answer.Text)
	return text, errors.Join(err, marshalErr)
}

// resume follows the answer that is under way; its result is the answer's text,
// or null if there is none.
func resume(ctx context.Context, client *agentrpc.Client) (json.RawMessage, error) {
	answer, err := client.Resume(ctx)
	if errors.Is(err, agentrpc.ErrNothingToResume) {
		return json.RawMessage("null"), nil
	}
	text, marshalErr := json.Marshal(answer.Text)
	return text, errors.Join(err, marshalErr)
}

// lostIfEnded makes what was cut by ctx's end a lost answer: it may have had its
// effect.
func lostIfEnded(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && !errors.Is(err, agentrpc.ErrLost) && !errors.Is(err, ErrUnsent) && !errors.Is(err, ErrRefused) {
		return fmt.Errorf("%w: %w", agentrpc.ErrLost, err)
	}
	return err
}

// Touch opens a connection to the step's agent, as somebody who comes back.
func (s *Session) Touch(ctx context.Context, step Step) error {
	ctx, cancel := s.limited(ctx)
	defer cancel()
	if step.Kind == Fetch {
		return nil
	}
	_, err := s.client(ctx, step)
	return err
}

// client is this life's connection to an agent: the one that is there, or another
// if that has ended while the server lived, as when its object was reset.
func (s *Session) client(ctx context.Context, step Step) (*agentrpc.Client, error) {
	sched.Lock(s.scheduler, &s.dialing)
	defer s.dialing.Unlock()
	key := step.Agent() + "/" + step.Name
	s.mu.Lock()
	known := s.clients[key]
	s.mu.Unlock()
	if known != nil {
		select {
		case <-known.Lost():
		default:
			return known, nil
		}
	}
	n, url := s.number()
	if url == "" {
		return nil, ErrUnsent
	}
	c, err := agentrpc.Dial(ctx, agentrpc.Options{URL: url, Agent: step.Agent(), Name: step.Name,
		Who: fmt.Sprintf("client-%d", n), History: s.history, Scheduler: s.scheduler, Dial: s.dial})
	if err != nil {
		var answered *agentrpc.HandshakeError
		if errors.As(err, &answered) {
			return nil, &StatusError{answered.Status, err.Error()}
		}
		return nil, fmt.Errorf("%w: %w", ErrUnsent, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.url != url { // the life ended meanwhile
		c.Close()
		return nil, ErrUnsent
	}
	s.clients[key] = c
	s.opened = append(s.opened, c)
	return c, nil
}

// fetch does an HTTP request on a connection of its own: a kept connection of an
// earlier life would make the first request of the next one fail.
func (s *Session) fetch(ctx context.Context, step Step) (Result, error) {
	n, url := s.number()
	if url == "" {
		return Result{}, ErrUnsent
	}
	op := fmt.Sprintf("fetch-%d", n)
	request, err := http.NewRequestWithContext(ctx, step.Method, url+step.Path, strings.NewReader(step.Text))
	if err != nil {
		return Result{}, fmt.Errorf("drive: %w", err)
	}
	if json.Valid([]byte(step.Text)) {
		request.Header.Set("Content-Type", "application/json")
	}
	if step.Again {
		request.Header.Set(killpoint.QuestionMark, "1")
	}
	request.Close = true
	s.history.Add(history.Event{Kind: history.Call, Who: "client", Op: op, Text: step.Method + " " + step.Path, Data: asJSON([]byte(step.Text)), Until: step.Until})
	result, err := s.exchange(request)
	e := history.Event{Kind: history.Return, Who: "client", Op: op, Text: step.Method + " " + step.Path, Data: result.Data}
	var refused *net.OpError
	switch {
	case errors.As(err, &refused) && refused.Op == "dial":
		e.Kind, e.Text = history.Fail, "not sent: "+err.Error()
		err = fmt.Errorf("%w: %w", ErrUnsent, err)
	case err != nil:
		e.Kind, e.Text = history.Unknown, err.Error()
		err = fmt.Errorf("%w: %w", agentrpc.ErrLost, err)
	case result.Status >= 400:
		e.Kind, e.Text = history.Fail, fmt.Sprintf("%s %s: status %d", step.Method, step.Path, result.Status)
		err = &StatusError{result.Status, fmt.Sprintf("%s %s: status %d: %s", step.Method, step.Path, result.Status, result.Data)}
	}
	s.history.Add(e)
	return result, err
}

// exchange sends a request on a connection of its own and reads the answer to the
// end of the connection, which the server closes last: when it returns, the server
// has passed every effect point of the answer. A client that goes on as soon as it
// has the body would race with the last of them.
func exchange(scheduler sched.Scheduler, request *http.Request) (r Result, err error) {
	ctx := request.Context()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", request.URL.Host)
	if err != nil {
		return Result{}, err
	}
	over := make(chan struct{})
	scheduler.Go("exchange", func() {
		select {
		case <-ctx.Done():
			_ = conn.Close() // what waits for the server then fails
		case <-over:
		}
	})
	defer func() {
		close(over)
		if ctx.Err() != nil {
			err = errors.Join(err, context.Cause(ctx))
		}
		if closeErr := conn.Close(); !errors.Is(closeErr, net.ErrClosed) {
			err = errors.Join(err, closeErr)
		}
	}()
	if err := request.Write(conn); err != nil {
		return Result{}, err
	}
	in := bufio.NewReader(conn)
	response, err := http.ReadResponse(in, request)
	for err == nil && response.StatusCode < http.StatusOK && response.StatusCode != http.StatusSwitchingProtocols {
		response, err = http.ReadResponse(in, request)
	}
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err == nil && len(body) < maxBody {
		_, _ = io.Copy(io.Discard, in) // the answer is whole; how the connection ends says nothing more
	}
	return Result{Data: asJSON(body), Status: response.StatusCode}, err
}

// asJSON is text as JSON: itself if it is, else as a string; nil if empty.
func asJSON(text []byte) json.RawMessage {
	if len(text) == 0 {
		return nil
	}
	if json.Valid(text) {
		return text
	}
	quoted, err := json.Marshal(strings.ToValidUTF8(string(text), string(utf8.RuneError)))
	if err != nil {
		return nil // a string always marshals
	}
	return quoted
}

// Go runs fn on the session's scheduler: a driver's calls that go on at the same
// time.
func (s *Session) Go(name string, fn func()) { s.scheduler.Go(name, fn) }
