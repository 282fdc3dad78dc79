// Package alarms wakes Durable Objects at the time they asked for, across
// restarts. It keeps an index of all alarms of each namespace on disk, in the
// layout of workerd's alarm scheduler (src/workerd/server/alarm-scheduler.c++),
// waits for the earliest of them on one timer, and calls an injected function
// to have an object's handler run.
//
// The index is a hint, the object's own row is the truth. The object keeps the
// index never later than its row: it calls Set before it commits an earlier
// time, and Set or Clear after it committed a later one or none. A delivery may
// therefore come early, or for nothing; the object then calls Reconcile with
// what its row says, and answers Finished if it has no alarm, else Early.
//
// Delivery is at least once: a row leaves the index only after the handler's
// success was reported. Retry counts live in memory and start again at 0 after
// a restart, as they do there.
package alarms

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/disk"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/heap"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/planted"
	"minido.dev/minido/internal/sqlite"
)

// ErrClosed is returned by every call after Close.
var ErrClosed = errors.New("alarms: the scheduler is closed")

// ErrNamespace is returned for a namespace that was not opened.
var ErrNamespace = errors.New("alarms: the namespace is not open")

// Object names the owner of an alarm.
type Object struct {
	Namespace string // the unique key, see config.UniqueKey
	ID        string // 64 lower-case hexadecimal digits
	Name      string // as in ctx.id.name; "" if unknown, which keeps a stored one
}

// Outcome is what became of a delivery.
type Outcome int

const (
	// Finished: the handler succeeded, or there was nothing to do, or the object
	// gave the alarm up (ctx.abort with retryAlarm: false). Not delivered again.
	Finished Outcome = iota
	// Failed: the handler threw. Delivered again, at most MaxRetries times.
	Failed
	// Interrupted: the platform failed (the object was reset, or could not
	// start). Delivered again, without being counted.
	Interrupted
	// Early: the object's alarm is still to come, say because the clock was set
	// back. Delivered at its time, as if this delivery had not been.
	Early
)

// MaxRetries is how often a throwing handler is called again before its alarm
// is dropped (worker-interface.h, ALARM_RETRY_MAX_TRIES).
const MaxRetries = 6

const (
	retryStart    = 2 * time.Second // ALARM_RETRY_START_SECONDS
	maxBackoff    = 9               // RETRY_BACKOFF_MAX: 2 s << 9, 17 minutes
	jitterPercent = 25              // RETRY_JITTER_FACTOR
)

// Delivery asks for one call of an object's alarm handler.
type Delivery struct {
	Object
	// ScheduledMs is the time that was set, in milliseconds since the epoch.
	ScheduledMs int64
	// RetryCount counts the earlier calls for this alarm whose failure counts.
	RetryCount int
	// Done reports the outcome. It is called exactly once, from anywhere, after
	// the object committed what the handler wrote. More calls do nothing.
	Done func(Outcome)
}

// Options are a scheduler's surroundings. Clock, Entropy and Deliver are
// required.
type Options struct {
	Clock   clock.Clock
	Entropy entropy.Source // the jitter of retries, and SQLite's
	// Deliver has a handler run. It is called from a function of the clock
	// without the scheduler's lock, must not block, and posts to the object's
	// loop. Calls come in the order of due time, then namespace and id.
	Deliver func(Delivery)
	// Report gets errors for which no caller waits: writes of the index after
	// a delivery, and alarms that are dropped. It must not block or call back.
	Report func(error)
	// Points, if not nil, are hit around each write of the index and delivery.
	Points *killpoint.Points
	// Skew is how far the clock of the machine which an object runs on, by its label
	// "Class/name", is ahead of Clock; nil: all have one clock.
	Skew func(label string) time.Duration
	// MaxRunning bounds the deliveries without an answer (default 256).
	MaxRunning int
	// MaxWait bounds one wait on the clock, after which the time is looked at
	// again: a machine that slept, or whose clock was set, is noticed that late.
	// 0 means no bound, which is right where time cannot jump.
	MaxWait time.Duration
	// Sync is the durability of each write.
	Sync sqlite.Sync
	// Disk, if set, is where the indexes are: one that records what has been synced.
	Disk *disk.Disk
}

// Namespace says where one namespace's index is.
type Namespace struct {
	Key   string // the unique key
	Class string // the class's name, for the labels of kill points
	Dir   string // the folder with the namespace's databases; made if missing
}

type namespace struct {
	class string
	index *index
}

// Scheduler is safe for concurrent use. It has no goroutine: its state changes
// in calls and in functions of the clock, under mu.
type Scheduler struct {
	opts Options

	mu         sync.Mutex
	namespaces map[string]*namespace
	entries    map[key]*entry
	queue      heap.Queue[*entry] // entries that wait for their due time
	busy       int                // deliveries without an answer
	started    bool
	closed     bool
	timer      clock.Timer
	timerNs    int64  // what timer waits for
	generation uint64 // counts timers
}

// New returns a scheduler without namespaces.
func New(o Options) *Scheduler {
	if o.MaxRunning <= 0 {
		o.MaxRunning = 256
	}
	if o.Report == nil {
		o.Report = func(error) {}
	}
	return &Scheduler{opts: o, namespaces: map[string]*namespace{}, entries: map[key]*entry{}}
}

// Open opens a namespace's index, if there is one, and loads its alarms. Make, or
// the namespace's first alarm, makes one.
//
// # Errors
//
// An index that cannot be opened or read is named in the error, a *DamageError if
// it is damaged; the other namespaces go on. changed says that the rows are not
// those of the last Close: another program has written them, or they are damaged.
func (s *Scheduler) Open(n Namespace) (changed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false, ErrClosed
	}
	if s.namespaces[n.Key] != nil {
		return false, fmt.Errorf("alarms: open %s: it is open already", n.Key)
	}
	x, err := openIndex(indexOptions{
		dir: n.Dir, disk: s.opts.Disk, sync: s.opts.Sync, now: s.opts.Clock.Now, rand: s.opts.Entropy.Fork("alarms/" + n.Key),
		create: func(cause string, fn func() error) error {
			return s.opts.Points.Effect(killpoint.File, n.Class, cause, fn)
		},
	})
	if err != nil {
		return false, err
	}
	rows, err := x.load()
	if err == nil && x.conn != nil {
		changed, err = x.verify(rows)
	}
	if err != nil {
		return false, errors.Join(x.damaged(err), x.close((*sqlite.Conn).Close))
	}
	s.namespaces[n.Key] = &namespace{class: n.Class, index: x}
	if planted.ForgetAlarms {
		rows = nil
	}
	for _, r := range rows {
		s.wait(&entry{key: key{n.Key, r.id}, name: r.name}, r.atNs)
	}
	s.arm()
	return changed, nil
}

// Make makes a namespace's index, if there is none. It comes before the
// namespace's first database: where there are databases and no index, a start has
// to look for alarms in all of them.
func (s *Scheduler) Make(namespace string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	ns := s.namespaces[namespace]
	switch {
	case s.closed:
		return ErrClosed
	case ns == nil:
		return fmt.Errorf("%w: %s", ErrNamespace, namespace)
	}
	return ns.index.exist("start")
}

// Start begins to deliver: what is overdue at once, the rest in its time.
func (s *Scheduler) Start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = true
	s.arm()
}

// Set makes atMs, in milliseconds since the epoch, the object's alarm,
// replacing one that waits. If the object's handler runs now, or is to be called
// again because it failed, the new alarm follows that call; a retry finds it in
// the object's row and may take it over, if it is due. The index is durable when
// Set returns. cause says what started the turn, for the label of the kill point.
func (s *Scheduler) Set(o Object, atMs int64, cause string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set(o, toNs(atMs), cause)
}

// CauseFire is the cause of a Set by which a developer makes an alarm due now:
// it does not wait for a retry.
const CauseFire = "fire"

func (s *Scheduler) set(o Object, atNs int64, cause string) error {
	e, err := s.entryOf(o)
	if err != nil {
		return err
	}
	if o.Name != "" {
		e.name = o.Name
	}
	if err := s.namespaces[e.namespace].index.exist(cause); err != nil {
		return err
	}
	if err := s.write(e, cause, func(x *index) error { return x.put(record{e.id, e.name, atNs}) }); err != nil {
		return err
	}
	if e.status == running || e.status == retrying && cause != CauseFire {
		e.queued, e.queuedNs = true, atNs
		return nil
	}
	s.wait(e, atNs)
	s.arm()
	return nil
}

// Clear removes the object's alarm from the index, durably. If its handler runs
// now, that goes on: only an alarm set since is removed.
func (s *Scheduler) Clear(o Object, cause string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clear(o, cause)
}

func (s *Scheduler) clear(o Object, cause string) error {
	e, err := s.entryOf(o)
	if err != nil {
		return err
	}
	if s.entries[e.key] == nil {
		return nil // what memory does not know is not in the index
	}
	if err := s.write(e, cause, func(x *index) error { return x.remove(e.id) }); err != nil {
		return err
	}
	e.queued = false
	if e.status != running {
		s.forget(e)
		s.arm()
	}
	return nil
}

// Get returns the time of the alarm that waits for its time, for a retry, or
// for the running handler to end, in milliseconds since the epoch.
func (s *Scheduler) Get(o Object) (atMs int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[key{o.Namespace, o.ID}]
	switch {
	case e == nil, e.status == running && !e.queued:
		return 0, false
	case e.queued:
		return e.queuedNs / int64(time.Millisecond), true
	}
	return e.scheduledNs / int64(time.Millisecond), true
}

// Reconcile makes the index say what the object's own row says: its time in
// milliseconds since the epoch, or nil if the object has no alarm. It writes
// nothing, and resets no retry count, where they agree. An object calls it when
// it is opened, and when it is woken at a time that is not its row's.
func (s *Scheduler) Reconcile(o Object, rowMs *int64, cause string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[key{o.Namespace, o.ID}]
	if rowMs == nil {
		return s.clear(o, cause)
	}
	indexed := func() bool {
		switch {
		case e == nil:
			return false
		case e.queued:
			return e.queuedNs == toNs(*rowMs)
		}
		return e.scheduledNs == toNs(*rowMs)
	}
	if indexed() {
		return nil
	}
	return s.set(o, toNs(*rowMs), cause)
}

// Next is the earliest time at which an alarm is due, in nanoseconds since the
// epoch, and how many alarms there are; ok is false if none waits.
func (s *Scheduler) Next() (dueNs int64, count int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue.Len() == 0 {
		return 0, len(s.entries), false
	}
	return s.queue.First().dueNs, len(s.entries), true
}

// Ahead is the number of deliveries whose handler has not answered, and the
// earliest alarm, at one moment: asked one after the other, an alarm that
// becomes due in between is in neither answer.
func (s *Scheduler) Ahead() (running int, dueNs int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue.Len() == 0 {
		return s.busy, 0, false
	}
	return s.busy, s.queue.First().dueNs, true
}

// Close stops delivering and closes the indexes. Handlers that run go on; their
// outcome is not recorded, so that their alarms are delivered after the next
// start.
func (s *Scheduler) Close() error { return s.end((*index).conclude) }

// Drop is Close, and leaves the indexes' files as the death of the process does.
func (s *Scheduler) Drop() error {
	return s.end(func(x *index) error { return x.close((*sqlite.Conn).Drop) })
}

func (s *Scheduler) end(how func(*index) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.stopTimer()
	var errs []error
	for _, k := range sortedKeys(s.namespaces) {
		errs = append(errs, how(s.namespaces[k].index))
	}
	return errors.Join(errs...)
}

// entryOf finds or makes an object's entry; a new one waits for nothing yet and
// is not kept until wait is called.
func (s *Scheduler) entryOf(o Object) (*entry, error) {
	if s.closed {
		return nil, ErrClosed
	}
	if s.namespaces[o.Namespace] == nil {
		return nil, fmt.Errorf("%w: %s", ErrNamespace, o.Namespace)
	}
	k := key{o.Namespace, o.ID}
	if e := s.entries[k]; e != nil {
		return e, nil
	}
	return &entry{key: k, name: o.Name}, nil
}

// write changes the index of e's namespace, between two kill points.
func (s *Scheduler) write(e *entry, cause string, fn func(*index) error) error {
	ns := s.namespaces[e.namespace]
	return s.opts.Points.Effect(killpoint.Index, s.label(e), cause, func() error { return fn(ns.index) })
}

// label names an object as users do, or by its id where no name is known.
func (s *Scheduler) label(e *entry) string {
	name := e.name
	if name == "" {
		name = e.id
	}
	return s.namespaces[e.namespace].class + "/" + name
}

// wait makes e a fresh alarm for atNs.
func (s *Scheduler) wait(e *entry, atNs int64) {
	e.scheduledNs, e.dueNs, e.status = atNs, atNs, waiting
	e.queued, e.counted, e.backoff, e.lastCounted = false, 0, 0, false
	s.entries[e.key] = e
	s.queue.Put(e)
}

func (s *Scheduler) forget(e *entry) {
	s.queue.Remove(e)
	delete(s.entries, e.key)
}

func (s *Scheduler) stopTimer() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}

// arm sets the timer for the earliest alarm. A timer that fires too soon only
// arms the next one, so none is early.
func (s *Scheduler) arm() {
	if !s.started || s.closed || s.queue.Len() == 0 || s.busy >= s.opts.MaxRunning {
		s.stopTimer()
		return
	}
	due := s.queue.First().dueNs
	if s.timer != nil && s.timerNs == due {
		return
	}
	s.stopTimer()
	// Sub saturates where the difference does not fit.
	d := max(time.Unix(0, due).Sub(s.opts.Clock.Now()), 0)
	if s.opts.MaxWait > 0 {
		d = min(d, s.opts.MaxWait)
	}
	s.timerNs = due
	s.generation++
	generation := s.generation
	s.timer = s.opts.Clock.AfterFunc(d, func() { s.fire(generation) })
}
