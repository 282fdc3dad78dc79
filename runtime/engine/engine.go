// Package engine owns a goja runtime and the one event loop that may touch it.
//
// Everything that happens in an isolate happens in turns. A turn starts with
// one event (a request, a timer, a completed operation), runs JavaScript until
// its microtasks are drained, then commits what the contexts it touched have
// written, and only then releases what they want to show the outside world.
//
// The engine knows nothing of Workers: contexts are told apart by what they
// hang on themselves, and their durability by the Gate they bring.
package engine

import (
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/insides"
	"minido.dev/minido/internal/sched"
)

// SourceMapper maps positions of compiled code to the user's source. It is
// safe for concurrent use.
type SourceMapper interface {
	// MapPosition takes and gives 1-based lines and columns.
	MapPosition(file string, line, column int) (source string, sourceLine, sourceColumn int, ok bool)
}

// Level is the severity of a log line.
type Level int

// The levels of console methods, least severe first.
const (
	Debug Level = iota
	Info
	Log
	Warn
	Error
)

// Logger receives what JavaScript logs. It is called on the loop.
type Logger func(level Level, c *Context, text string)

// Options configure an Engine. Scheduler and Entropy are required.
type Options struct {
	Name      string
	Scheduler sched.Scheduler
	Entropy   entropy.Source
	Language  Language     // nil: JavaScript is what goja makes of it
	Mapper    SourceMapper // nil: positions are shown as compiled
	Logger    Logger       // nil: nothing is logged
	// TurnLimit is how long one turn may compute before it is interrupted and
	// the isolate condemned. 0 means DefaultTurnLimit.
	TurnLimit time.Duration
	// Patience, if not nil, has turns that compute for long fail before that.
	Patience *Patience
	// CallDepth is the deepest JavaScript stack, in frames. 0 means DefaultCallDepth.
	CallDepth int
	// Subrequests bounds the requests that one event makes; 0 does not.
	Subrequests int
	// Untagged classes of the platform have no Symbol.toStringTag, as in workerd before
	// the flag set_tostring_tag.
	Untagged bool
	// PromisesOnly takes thenables that are no promises for values where the platform
	// awaits what it is given, as workerd before the flag unwrap_custom_thenables.
	PromisesOnly bool
	// Unowned promises belong to no context: what waits for one goes on in the context
	// that settles it, as in workerd before the flag
	// handle_cross_request_promise_resolution.
	Unowned bool
	// Watch is the clock that limits are measured by; nil is the scheduler's. A
	// simulation hands in a real one: virtual time stands still within a turn.
	Watch clock.Clock
	// Heap bounds the memory of the process; nil does not.
	Heap *HeapWatch
	// Turns is told of turns; nil: nobody.
	Turns TurnObserver
	// Skew is how far the clock of the machine that a context with that label runs on is ahead
	// of the isolate's, for Context.Ahead; nil: all have one clock.
	Skew func(label string) time.Duration
	// Condemned is called once, on the loop, when the isolate must not be used
	// any more: after an interrupt, a stack overflow or a bug in a native.
	Condemned func(reason error)
}

// Language makes goja's built-ins those of V8. It is immutable.
type Language interface {
	// Prepare replaces built-ins before they are captured as primordials.
	Prepare(e *Engine)
	// Install does the rest, before any code of a program has run.
	Install(e *Engine)
}

// Defaults of Options.
const (
	DefaultTurnLimit = 30 * time.Second // production's CPU limit per request
	DefaultCallDepth = 9000
)

// slowdown is how much longer computation takes here than in V8, at worst (docs/benchmarks.md).
const slowdown = 100

// TurnLimitFor is the limit of a turn for one of production's, which counts V8's time: the
// same work is to fit into it here. Limits above DefaultTurnLimit are kept; 0 is none.
func TurnLimitFor(production time.Duration) time.Duration {
	return max(production, min(slowdown*production, DefaultTurnLimit))
}

// Engine is one isolate's runtime. Unless a method says otherwise it is
// loop-confined: call it on the loop, or before the first Post.
type Engine struct {
	vm      *goja.Runtime
	loop    sched.Loop
	spawn   func(name string, fn func())
	clock   clock.Clock
	entropy entropy.Source
	logger  Logger

	// The parts, each with a noun of its own. Nobody sets them.

	Turns    Turns
	Health   Health
	Errors   Errors
	Timers   Timers
	Uncaught Uncaught
	Hangs    Hangs
	Memory   MemoryLimit
	Natives  Natives
	Builtins Builtins
	Lazies   Lazies
	Watchdog Watchdog
	Promises Promises
	Sites    Sites

	overflow  overflow
	thenables thenables
	owners    owners
	prims     *goja.Object
	classes   classSlots
	scope     *goja.Object // see Scope
	maker     *insides.Maker
	appends   insides.Appends
	iterating insides.Iterating
	numbers   insides.Numbers
	locals    map[any]any  // by *Local
	settling  *goja.Object // see Settling

	maxSubrequests int // 0: no limit
	untagged       bool
	promisesOnly   bool
	observer       TurnObserver
	skew           func(label string) time.Duration
}

// New creates a runtime with its loop. Close ends both.
func New(o Options) *Engine {
	e := &Engine{
		locals: map[any]any{},
		vm:     goja.New(), clock: o.Scheduler.Clock(), entropy: o.Entropy,
		logger: o.Logger, observer: o.Turns, skew: o.Skew, maxSubrequests: o.Subrequests, untagged: o.Untagged, promisesOnly: o.PromisesOnly,
	}
	depth, limit := o.CallDepth, o.TurnLimit
	if depth == 0 {
		depth = DefaultCallDepth
	}
	if limit == 0 {
		limit = DefaultTurnLimit
	}
	e.vm.SetMaxCallStackSize(depth)
	e.vm.SetParserOptions(parser.WithDisableSourceMaps)
	e.vm.SetRandSource(o.Entropy.Float64)
	e.Turns.now = e.clock.Now()
	e.vm.SetTimeSource(func() time.Time {
		if e.Current() == nil {
			return time.UnixMilli(0) // the global scope has no time, as in production
		}
		return e.Turns.now
	})
	e.vm.SetAsyncContextTracker(tracker{e})
	e.Builtins.init(e)
	e.vm.SetPromiseRejectionTracker(e.Uncaught.track)
	e.Turns.engine, e.Timers.engine, e.Uncaught.engine, e.Hangs.engine = e, e, e, e
	e.Health.engine, e.Health.tell = e, o.Condemned
	e.Errors.engine, e.Errors.mapper = e, o.Mapper
	e.Lazies.engine, e.Lazies.getters = e, map[*goja.Object]map[string]*goja.Object{}
	e.Memory.engine, e.Memory.heap = e, o.Heap
	e.maker = insides.NewMaker(e.vm)
	e.iterating = insides.IteratingOf(e.vm)
	e.Promises.engine, e.Sites.engine = e, e
	e.thenables.init(e)
	e.owners.init(e, o.Unowned)
	e.classes.init()
	e.Natives.init(e, depth)
	e.Watchdog.init(e, o.Watch, limit, o.Heap)
	e.Watchdog.patience = o.Patience
	if o.Language != nil {
		o.Language.Prepare(e)
	}
	e.prims = e.loadPrimordials()
	if o.Language != nil {
		o.Language.Install(e)
	}
	e.Lazies.install()
	e.Natives.bound(e, o.Language)
	e.Turns.enter = e.overflow.init(e, func(goja.FunctionCall) goja.Value {
		e.Turns.body()
		e.thenables.claim()
		return goja.Undefined()
	})
	e.loop, e.spawn = o.Scheduler.NewLoop(o.Name), o.Scheduler.Go
	return e
}

// VM is the goja runtime. Only the loop may touch it.
func (e *Engine) VM() *goja.Runtime { return e.vm }

// Clock is the clock that the isolate lives by. Safe for concurrent use.
func (e *Engine) Clock() clock.Clock { return e.clock }

// Entropy is the isolate's source of randomness.
func (e *Engine) Entropy() entropy.Source { return e.entropy }

// Now is the time that JavaScript sees: it stands still within a turn. It is that of the
// machine which the turn's context runs on (Context.Ahead).
func (e *Engine) Now() time.Time { return e.Turns.now }

// Cause names the event that started the turn, for kill points and messages, or
// the cause of the frame whose code runs now, if it has one.
func (e *Engine) Cause() string {
	if e.Turns.cur != nil && e.Turns.cur.Cause != "" {
		return e.Turns.cur.Cause
	}
	return e.Turns.cause
}

// Log passes a line to the logger, on behalf of the current context.
func (e *Engine) Log(level Level, text string) {
	if e.logger != nil {
		e.logger(level, e.Current(), text)
	}
}

// Post runs fn as a turn that belongs to frame, on the loop, if the frame's
// context then still lives; an input gate may delay it. It never blocks and is
// safe for concurrent use. The error is sched.ErrClosed.
func (e *Engine) Post(f *Frame, cause string, fn func()) error {
	return e.loop.Post(func() { e.Turns.Enter(f, cause, fn) })
}

// PostLoop runs fn on the loop outside any turn: fn must not run JavaScript.
// Safe for concurrent use.
func (e *Engine) PostLoop(fn func()) error {
	return e.loop.Post(func() {
		fn()
		e.Turns.runAfter()
	})
}

// Background runs fn off the loop, as sched.Scheduler's Go does; it gets back
// onto it with PostLoop or an Op. Safe for concurrent use.
func (e *Engine) Background(name string, fn func()) { e.spawn(name, fn) }

// Interrupt stops the JavaScript that runs now, within about 100 ms; catch and
// finally blocks are skipped and the isolate is condemned with reason. Safe for
// concurrent use; without running JavaScript the next turn is stopped.
func (e *Engine) Interrupt(reason error) { e.Watchdog.interrupts.Ask(reason, false) }

// Close stops the loop. Queued events are dropped. It does not wait for the
// function that runs at the moment: Done does. Safe for concurrent use.
func (e *Engine) Close() {
	e.loop.Close()
	e.Timers.close()
	e.Watchdog.close()
	e.Watchdog.heap.forget(e)
}

// Drain is Close for a loop whose queue still holds events: they run first, so
// that each can tell its caller that it came too late. Safe for concurrent use.
func (e *Engine) Drain() {
	e.loop.Drain()
	e.Timers.close()
	e.Watchdog.close()
	e.Watchdog.heap.forget(e)
}

// Beside is a scheduler for another engine that is to run on this one's loop, and to end
// with it. Safe for concurrent use.
func (e *Engine) Beside(s sched.Scheduler) sched.Scheduler { return sched.Beside(s, e.loop) }

// Done is closed when the loop has ended.
func (e *Engine) Done() <-chan struct{} { return e.loop.Done() }

// String is a string of valid UTF-8, as insides.Maker makes it.
func (e *Engine) String(s string) goja.String { return e.maker.String(s) }

// Maker makes values where goja's interface takes longer.
func (e *Engine) Maker() *insides.Maker { return e.maker }
