package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/chaos/agentrpc"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
)

// engine is one evaluation of a scenario. Confined to one goroutine at a time:
// operations run elsewhere and hand their end over through the channel done.
type engine struct {
	scenario   *Scenario
	vm         *goja.Runtime
	prelude    *goja.Object
	definition *goja.Object

	started, settled bool
	returned         goja.Value // by drive(); nil before it has come to its end
	failure          error
	refused          bool // failure is a RefusedError that left drive
	open             map[int]*operation
	count            int
	done             chan *operation
	// session and ctx are those of the present life; starting runs an operation
	// on a goroutine of its own.
	session *drive.Session
	ctx     context.Context
	sockets []*drive.Socket // of all lives, by the number that drive() knows
	asking  *asking         // what the code that runs now belongs to
	rounds  map[int]int     // by question: its first round in this life

	questions, lastRound int
}

// operation is something that drive() waits for.
type operation struct {
	id              int
	kind            string
	step            drive.Step
	asking          *asking
	milliseconds    int64
	due             int64 // of a sleep or an advance, set when it starts
	path            string
	header          map[string]string
	socket          *drive.Socket // of an operation on one; or opened by it
	text            string
	code            int
	resolve, reject func(args ...goja.Value)
	cancel          context.CancelCauseFunc // of a sleep that has begun
	stopped         bool                    // by clearTimeout

	// The end, written before it is sent to done.
	result drive.Result
	err    error
}

// maxOpen bounds the operations that a scenario may have open at a time.
const maxOpen = 10000

func (s *Scenario) newEngine() (*engine, error) {
	e := &engine{scenario: s, vm: goja.New(), open: map[int]*operation{}, done: make(chan *operation, maxOpen)}
	e.vm.SetAsyncContextTracker(e)
	// A run is compared with others of the same clients: what these draw is the same.
	e.vm.SetRandSource(entropy.NewSeeded(1).Float64)
	e.vm.SetTimeSource(func() time.Time { return e.timeOfClients().Now() })
	made, err := e.vm.RunProgram(s.prelude)
	if err != nil {
		return nil, fmt.Errorf("the prelude: %w", err)
	}
	construct, ok := goja.AssertFunction(made)
	if !ok {
		return nil, errors.New("the prelude is no function")
	}
	native := e.vm.NewObject()
	for name, fn := range map[string]any{ // order-independent: properties of one object
		"start":    e.start,
		"stop":     e.stop,
		"duration": e.duration,
		"now":      e.now,
		"paced":    e.paced,
		"virtual":  func() bool { return clock.IsVirtual(e.timeOfClients()) },
		"question": e.question,
		"ask":      e.ask,
	} {
		if err := native.Set(name, fn); err != nil {
			return nil, err
		}
	}
	v, err := construct(goja.Undefined(), native)
	if err != nil {
		return nil, fmt.Errorf("the prelude: %w", err)
	}
	e.prelude = v.ToObject(e.vm)
	if err := e.vm.Set("__minidoChaos", e.prelude.Get("module")); err != nil {
		return nil, err
	}
	if _, err := e.vm.RunProgram(s.program); err != nil {
		return nil, err
	}
	exports, ok := e.vm.Get("__scenario").(*goja.Object)
	if !ok {
		return nil, errors.New("it exports nothing; write export default scenario(name, {...})")
	}
	e.definition, ok = exports.Get("default").(*goja.Object)
	if !ok || e.definition.Get("drive") == nil {
		return nil, errors.New("its default export is no scenario; write export default scenario(name, {...})")
	}
	return e, nil
}

// timeOfClients is the clock where the clients are.
func (e *engine) timeOfClients() clock.Clock {
	if e.session == nil {
		return e.scenario.clock
	}
	return e.session.Scheduler().Clock()
}

// paced is how many milliseconds the clients have waited before their steps.
func (e *engine) paced() int64 {
	if e.session == nil {
		return 0
	}
	return e.session.Paced().Milliseconds()
}

func (e *engine) now() int64 { return e.timeOfClients().Now().UnixMilli() }

func (e *engine) duration(text string) int64 {
	d, err := parseDuration(text)
	if err != nil {
		panic(e.vm.NewTypeError(err.Error()))
	}
	return d.Milliseconds()
}

// start is native.start(kind, args, resolve, reject), and gives the operation's number.
func (e *engine) start(kind string, args []goja.Value, resolve, reject goja.Callable) int {
	text := func(i int) string { return args[i].String() }
	op := &operation{id: e.count, kind: kind, asking: e.asking}
	call := func(fn goja.Callable) func(...goja.Value) {
		return func(values ...goja.Value) {
			if _, err := fn(goja.Undefined(), values...); err != nil && e.failure == nil {
				e.failure = err
			}
		}
	}
	op.resolve, op.reject = call(resolve), call(reject)
	switch kind {
	case "call":
		op.step = drive.Step{Kind: drive.Call, Class: text(0), Name: text(1), Method: text(2), Args: json.RawMessage(text(3))}
	case "chat":
		op.step = drive.Step{Kind: drive.Chat, Class: text(0), Name: text(1), Text: text(2), Body: json.RawMessage(text(3))}
	case "resume":
		op.step = drive.Step{Kind: drive.Resume, Class: text(0), Name: text(1)}
	case "fetch":
		op.step = drive.Step{Kind: drive.Fetch, Method: text(0), Path: text(1), Text: text(2)}
	case "sleep":
		op.milliseconds = args[0].ToInteger()
	case "advance":
		op.milliseconds = args[0].ToInteger()
		if !clock.IsVirtual(e.timeOfClients()) {
			panic(e.vm.NewTypeError("advance() needs virtual time, which real processes do not have: run the scenario with --mode sim, or let it sleep()"))
		}
	default:
		e.startSocket(op, args)
	}
	if len(e.open) >= maxOpen {
		panic(e.vm.NewTypeError("a scenario may wait for %d things at a time", maxOpen))
	}
	switch {
	case e.session == nil && kind == "sleep":
		panic(e.vm.NewTypeError("setTimeout: only drive() can wait"))
	case e.session == nil:
		panic(e.vm.NewTypeError("only drive() can reach the server"))
	}
	e.count++ // not before: one that was refused is nothing to wait for
	e.open[op.id] = op
	e.begin(op)
	return op.id
}

// errStopped ends a sleep that nobody waits for any more.
var errStopped = errors.New("scenario: the timer was cleared")

// stop is native.stop(id): the sleep with that number ends, and nobody is told. There may
// be none any more.
func (e *engine) stop(id int) {
	op := e.open[id]
	if op == nil || op.kind != "sleep" {
		return
	}
	op.stopped = true
	delete(e.open, id)
	if op.cancel != nil {
		op.cancel(errStopped)
	}
}

// begin runs an operation against the present life.
func (e *engine) begin(op *operation) {
	session, ctx, c := e.session, e.ctx, e.session.Scheduler().Clock()
	if op.kind == "sleep" {
		ctx, op.cancel = context.WithCancelCause(ctx)
	}
	op.step.Again, op.step.Until = e.again(op.asking), op.asking != nil
	session.Go("scenario", func() {
		switch op.kind {
		case "sleep", "advance":
			op.err = nil
			if op.due == 0 {
				op.due = c.Now().UnixMilli() + op.milliseconds
			}
			left := op.due - c.Now().UnixMilli()
			if op.kind == "advance" && left > 0 {
				session.Grant(durationMs(left))
			}
			if left > 0 && session.Pause(ctx, c, durationMs(left)) != nil && !errors.Is(context.Cause(ctx), errStopped) {
				op.err = drive.ErrUnsent // the life is over; what is left is slept in the next
			}
		case "call", "chat", "resume", "fetch":
			op.result, op.err = session.Do(ctx, op.step)
		default:
			op.onSocket(ctx, session)
		}
		e.done <- op
	})
}

// Finished implements drive.Driver.
func (e *engine) Finished() bool { return e.settled }

// Run implements drive.Driver.
func (e *engine) Run(ctx context.Context, s *drive.Session) error {
	e.session, e.ctx, e.rounds = s, ctx, map[int]int{}
	running := 0
	var unsent error
	if !e.started {
		e.started = true
		if err := e.begun(); err != nil {
			return &drive.Failure{Text: err.Error()}
		}
		running = len(e.open)
	} else {
		for id := range e.count {
			if op := e.open[id]; op != nil {
				e.begin(op)
				running++
			}
		}
	}
	for running > 0 {
		sched.Wait(s.Scheduler(), func() bool { return len(e.done) > 0 })
		op := <-e.done
		running--
		if errors.Is(op.err, drive.ErrUnsent) {
			unsent = op.err // it stays open, for the next life
			continue
		}
		before := e.count
		delete(e.open, op.id)
		e.finish(op)
		running += e.count - before
	}
	switch {
	case e.failure != nil:
		return &drive.Failure{Text: describe(e.failure), Refused: e.refused}
	case e.settled:
		return nil
	case unsent != nil:
		return unsent
	}
	return &drive.Failure{Text: "drive() waits for something that never comes"}
}

// begun calls drive.
func (e *engine) begun() error {
	run, ok := goja.AssertFunction(e.prelude.Get("drive"))
	if !ok {
		return errors.New("the prelude has no drive")
	}
	lost, ok := goja.AssertFunction(e.prelude.Get("isLost"))
	refused, also := goja.AssertFunction(e.prelude.Get("isRefused"))
	if !ok || !also {
		return errors.New("the prelude has no isLost or no isRefused")
	}
	_, err := run(goja.Undefined(), e.definition, e.vm.ToValue(func(v goja.Value) { e.settled, e.returned = true, v }),
		e.vm.ToValue(func(reason goja.Value) {
			e.settled = true
			// A call that a kill has cut ends the clients' work, and is no failure.
			if is, err := lost(goja.Undefined(), reason); err == nil && is.ToBoolean() {
				return
			}
			e.failure = errors.New("drive() threw " + stackOf(reason))
			is, err := refused(goja.Undefined(), reason)
			e.refused = err == nil && is.ToBoolean()
		}))
	return err
}

// finish settles an operation's promise; goja drains the microtasks before it
// returns.
func (e *engine) finish(op *operation) {
	if op.cancel != nil {
		op.cancel(nil)
	}
	switch {
	case op.stopped:
	case errors.Is(op.err, drive.ErrRefused):
		status := goja.Undefined()
		var answer *drive.StatusError
		if errors.As(op.err, &answer) {
			status = e.vm.ToValue(answer.Status)
		}
		op.reject(e.vm.ToValue("refused"), e.vm.ToValue(op.err.Error()), status)
	case errors.Is(op.err, agentrpc.ErrLost), op.err != nil:
		op.reject(e.vm.ToValue("lost"), e.vm.ToValue(op.err.Error()))
	case op.kind == "open":
		e.sockets = append(e.sockets, op.socket)
		op.resolve(e.vm.ToValue(len(e.sockets) - 1))
	default:
		op.resolve(e.parse(op.result.Data))
	}
}

// parse is JSON as a value of the engine; none is undefined.
func (e *engine) parse(data json.RawMessage) goja.Value {
	if len(data) == 0 {
		return goja.Undefined()
	}
	parse, ok := goja.AssertFunction(e.vm.Get("JSON").ToObject(e.vm).Get("parse"))
	if !ok {
		return goja.Undefined()
	}
	v, err := parse(goja.Undefined(), e.vm.ToValue(string(data)))
	if err != nil {
		return e.vm.ToValue(string(data))
	}
	return v
}

func stackOf(v goja.Value) string {
	if o, ok := v.(*goja.Object); ok {
		if stack := o.Get("stack"); stack != nil && !goja.IsUndefined(stack) {
			return strings.TrimSpace(stack.String())
		}
	}
	return v.String()
}

func describe(err error) string {
	var ex *goja.Exception
	if errors.As(err, &ex) {
		return ex.String()
	}
	return err.Error()
}
