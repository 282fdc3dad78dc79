package engine

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/insides"
	"minido.dev/minido/internal/insides/interrupts"
)

// Resource is what a limit bounds.
type Resource int

// The resources that turns use up.
const (
	CPUTime Resource = iota
	Memory
)

// LimitError condemns an isolate: a turn took too much of something. Its text
// is for who runs the server; Text is for callers. Immutable.
type LimitError struct {
	Resource Resource
	// Detail says how much was used and allowed; Who whose turn is the suspect.
	Detail, Who string
}

// Error implements error.
func (e *LimitError) Error() string {
	if e.Who == "" {
		return e.Detail
	}
	return e.Detail + " during " + e.Who
}

// Text is what production tells callers: of a Durable Object, or of the worker.
func (e *LimitError) Text(object bool) string {
	switch {
	case e.Resource == CPUTime && object:
		return "Durable Object exceeded its CPU time limit and was reset."
	case e.Resource == CPUTime:
		return "Worker exceeded CPU time limit."
	case object:
		return "Durable Object's isolate exceeded its memory limit and was reset."
	}
	return "Worker exceeded memory limit."
}

// in names the turn that the engine runs now.
func (e *LimitError) in(eng *Engine, where string) *LimitError {
	who := "a request to the worker"
	switch c := eng.Turns.context(); {
	case c == nil:
		who = "the evaluation of module code"
	case c.Kind == ObjectContext:
		who = "an event of " + c.Label
	}
	return &LimitError{e.Resource, e.Detail, fmt.Sprintf("%s (%s)%s", who, eng.Turns.cause, where)}
}

// tickTime is how often a turn that goes on is looked at.
const tickTime = 10 * time.Millisecond

// suddenTime is how long two looks in a row may be apart.
const suddenTime = 3 * tickTime

// blockedTimes is how many times the limit a turn may take that uses no CPU time.
const blockedTimes = 10

// Watchdog interrupts a turn that computes for longer than the limit, and has
// the heap looked at meanwhile. On a machine that others keep busy a turn takes longer
// than it computes: it is not stopped before the process has used as much CPU time, or
// blockedTimes the limit is over. It arms one clock timer at a time, only while
// turns run, so that a turn costs two atomic stores.
type Watchdog struct {
	engine *Engine
	clock  clock.Clock
	limit  time.Duration
	tick   time.Duration
	heap   *HeapWatch
	turn   atomic.Uint64 // odd while a turn runs
	armed  atomic.Bool
	closed atomic.Bool
	cpu    func() (time.Duration, error) // CPU time of the process; nil if the clock is not the machine's
	native atomic.Pointer[func()]        // interrupts what the turn may wait for outside JavaScript

	patience   *Patience // nil: a turn is stopped at the limit alone
	interrupts *interrupts.Interrupts
}

// Patience has a turn that computes for long fail instead of the isolate: an error is
// thrown where it computes, and again each time that it has gone on for as long. Code that
// catches it goes on until the limit.
type Patience struct {
	After time.Duration
	// Text is the error's; it is called on the loop.
	Text func() string
}

func (w *Watchdog) init(e *Engine, c clock.Clock, limit time.Duration, heap *HeapWatch) {
	if c == nil {
		c = e.clock
	}
	w.engine, w.clock, w.limit, w.heap = e, c, limit, heap
	w.interrupts = insides.NewInterrupts(e.vm)
	if real, ok := c.(clock.Real); ok {
		w.cpu = real.CPU
	}
	w.tick = max(min(limit/8, tickTime), time.Millisecond)
}

func (w *Watchdog) begin() {
	w.interrupts.Drop() // the turn that it was meant for is over
	w.turn.Add(1)
	if !w.armed.Load() && w.armed.CompareAndSwap(false, true) {
		w.arm(look{})
	}
}

func (w *Watchdog) end() { w.turn.Add(1) }

// look is what the watchdog saw when it last looked.
type look struct {
	turn   uint64 // that ran; 0 before the first look
	since  moment // when it was first seen
	failed moment // when its patience ended last, or since
}

// moment is a time, and the CPU time of the process then.
type moment struct {
	at   time.Time
	used time.Duration
}

func (w *Watchdog) first(turn uint64, at time.Time) look {
	m := w.moment(at)
	return look{turn: turn, since: m, failed: m}
}

func (w *Watchdog) moment(at time.Time) moment {
	m := moment{at: at}
	if w.cpu != nil {
		m.used, _ = w.cpu() // without it the wall clock decides, as over says
	}
	return m
}

// over says whether a turn that has gone on since a moment has computed for longer than limit.
func (w *Watchdog) over(limit time.Duration, since moment, at time.Time) bool {
	wall := at.Sub(since.at)
	if w.cpu == nil || wall < limit || wall >= blockedTimes*limit {
		return wall >= limit
	}
	used, err := w.cpu()
	return err != nil || used-since.used >= limit
}

// arm looks again in a moment.
func (w *Watchdog) arm(l look) {
	if l.turn == 0 {
		l = w.first(w.turn.Load(), w.clock.Now())
	}
	w.clock.AfterFunc(w.tick, func() {
		now, at := w.turn.Load(), w.clock.Now()
		switch {
		case w.closed.Load(), now%2 == 0:
			w.armed.Store(false)
			return
		case now != l.turn:
			l = w.first(now, at)
		case w.over(w.limit, l.since, at):
			w.interrupt(w.exceeded())
			w.armed.Store(false)
			return
		case w.patience != nil && w.over(w.patience.After, l.failed, at):
			l.failed = w.moment(at)
			w.fail()
		}
		w.arm(l)
		if w.heap != nil {
			w.heap.look(w.engine)
		}
	})
}

// fail has the turn throw an error. Where none can be thrown it is stopped.
func (w *Watchdog) fail() {
	w.interrupts.Ask(&LimitError{Resource: CPUTime, Detail: fmt.Sprintf("a turn computed for more than %v", w.patience.After)}, true)
}

// failure is the error that the turn is to throw now, while goja captures a stack; nil for
// none.
func (w *Watchdog) failure() goja.Value {
	if !w.interrupts.TakeBack() {
		return nil
	}
	return w.engine.Errors.New("Error", w.patience.Text())
}

// interrupt stops JavaScript and what it waits for.
func (w *Watchdog) interrupt(reason *LimitError) {
	w.interrupts.Ask(reason, false)
	if fn := w.native.Load(); fn != nil {
		(*fn)()
	}
}

// Elsewhere is for what a turn has others compute: on any goroutine, over says whether that
// has taken as long by now as a turn may. Whoever hears of it gives up, and has a turn call
// Exceeded.
func (w *Watchdog) Elsewhere() (over func() bool) {
	since := w.moment(w.clock.Now())
	return func() bool { return w.over(w.limit, since, w.clock.Now()) }
}

// Exceeded stops the present turn, as if it had computed for longer than the limit.
func (w *Watchdog) Exceeded() {
	w.interrupt(w.exceeded())
	w.engine.Natives.Pause()
}

func (w *Watchdog) exceeded() *LimitError {
	return &LimitError{Resource: CPUTime, Detail: fmt.Sprintf("the CPU time limit of a turn, %v, was exceeded", w.limit)}
}

func (w *Watchdog) close() { w.closed.Store(true) }

// Interruptible tells the watchdog how to stop what natives of the present turn
// do outside JavaScript, such as a statement of SQLite: *fn is called from
// another goroutine when the turn exceeds a limit.
func (w *Watchdog) Interruptible(fn *func()) { w.native.Store(fn) }

// HeapWatch bounds the memory of the process that JavaScript fills. goja's
// objects live in Go's heap, which knows no owners: what the heap grew by while
// turns went on is shared out among the isolates whose turns they were, and what
// a collection frees is taken from all in proportion. When the limit is exceeded
// and a collection does not help, the isolate that grew most is condemned if it
// grew by a quarter of the limit or more, whether or not it runs a turn at the
// moment: an isolate that computes while another one fills the heap is not to
// blame. Safe for concurrent use.
type HeapWatch struct {
	limit uint64
	heap  func() uint64 // what objects occupy, in bytes; safe for concurrent use

	mu    sync.Mutex         // guards everything below
	last  uint64             // the heap at the last look
	at    time.Time          // of the last look
	grown map[*Engine]*share // what each is thought to occupy

	collecting bool
	collected  time.Time // when the limit was last reached and a collection helped
	repeated   int       // how many did with no rest between them
}

// collectRest is the time between two collections that the limit asks for, after
// which the second one is a new beginning; collectMost is how many may follow each
// other faster: the process does nothing else by then.
const (
	collectRest = 300 * time.Millisecond
	collectMost = 5
)

// share is an isolate's part of the heap.
type share struct {
	bytes  float64
	turn   uint64  // of the isolate, at the last look
	weight float64 // of its turns since then
}

// NewHeapWatch returns a watch with a limit in bytes.
func NewHeapWatch(limit uint64) *HeapWatch {
	return newHeapWatch(limit, HeapBytes)
}

func newHeapWatch(limit uint64, heap func() uint64) *HeapWatch {
	return &HeapWatch{limit: limit, heap: heap, last: heap(), grown: map[*Engine]*share{}}
}

// HeapBytes is what objects occupy in the process's heap, those of all engines and Go's own,
// garbage that is not collected yet included. Safe for concurrent use.
func HeapBytes() uint64 {
	sample := [1]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample[:])
	return sample[0].Value.Uint64()
}

// look is called while a turn of e goes on. A collection takes time, in which
// looks go on.
func (h *HeapWatch) look(e *Engine) {
	h.mu.Lock()
	now := h.heap()
	// Between two looks in a row nothing but huge values grows so much. After longer,
	// between two turns or on a busy machine, it may be garbage.
	at := e.Watchdog.clock.Now()
	sudden := now > h.last && now-h.last >= h.limit/4 && at.Sub(h.at) <= suddenTime
	h.at = at
	h.account(e, now)
	switch {
	case now <= h.limit:
	case sudden || now > 2*h.limit:
		h.blame(now)
	case !h.collecting:
		h.collecting = true
		h.mu.Unlock()
		runtime.GC()
		h.mu.Lock()
		h.collecting = false
		if h.repeated++; at.Sub(h.collected) > collectRest {
			h.repeated = 0
		}
		h.collected = at
		// A heap that has to be collected all the time is full.
		if now = h.heap(); now > h.limit || h.repeated >= collectMost {
			h.account(e, now)
			h.blame(now)
		}
	}
	h.mu.Unlock()
}

// account shares out what the heap has grown or shrunk by since the last look,
// among e and the isolates that have run turns since: a turn that has gone on all
// the time counts most. Call it with mu held.
func (h *HeapWatch) account(e *Engine, now uint64) {
	if h.grown[e] == nil {
		h.grown[e] = &share{}
	}
	last := h.last
	h.last = now
	if now < last {
		for _, s := range h.grown { // order-independent: each shrinks alike
			s.bytes *= float64(now) / float64(last)
		}
		return
	}
	var total float64
	for x, s := range h.grown { // order-independent: each gets the same
		turn := x.Watchdog.turn.Load()
		switch {
		case turn%2 == 1 && turn == s.turn:
			s.weight = 1
		case turn%2 == 1:
			s.weight = 0.3 // it may have begun at any time
		case turn != s.turn:
			s.weight = 0.1
		default:
			s.weight = 0
		}
		s.turn = turn
		total += s.weight
	}
	for _, s := range h.grown { // order-independent: each has its own
		if total > 0 {
			s.bytes += float64(now-last) * s.weight / total
		}
	}
}

// blame condemns the isolate that grew most, if it grew by much. Call it with mu
// held.
func (h *HeapWatch) blame(now uint64) {
	var worst *Engine
	for e, s := range h.grown { // order-independent: equal growth makes either a suspect
		if worst == nil || s.bytes > h.grown[worst].bytes {
			worst = e
		}
	}
	grown := uint64(h.grown[worst].bytes)
	if grown < h.limit/4 {
		return
	}
	delete(h.grown, worst)
	reason := &LimitError{Resource: Memory, Detail: fmt.Sprintf("the heap grew to %d MB, over its limit of %d MB, by %d MB", now>>20, h.limit>>20, grown>>20)}
	if worst.Watchdog.turn.Load()%2 == 1 {
		worst.Watchdog.interrupt(reason)
		return
	}
	// It is between two turns. An error says that it has ended already.
	_ = worst.loop.Post(func() { worst.Health.Condemn(reason) })
}

// over reports, without waiting for the next look, whether the limit is
// exceeded and a collection does not help.
func (h *HeapWatch) over(more uint64) bool {
	if h == nil || h.heap()+more <= h.limit {
		return false
	}
	if more > h.limit {
		return true
	}
	runtime.GC()
	return h.heap()+more > h.limit
}

// forget drops an isolate that has ended.
func (h *HeapWatch) forget(e *Engine) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.grown, e)
}
