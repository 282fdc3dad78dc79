// Package pool decides which durable objects live in this process: it finds or
// starts the incarnation that an event goes to, evicts idle ones, and keeps
// what outlives incarnations (sockets, the alarm index, files).
package pool

import (
	"errors"
	"fmt"
	"path/filepath"
	"sort"
	"sync"
	"time"

	"minido.dev/minido/alarms"
	"minido.dev/minido/durableobject"
	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/durableobject/pool/tickets"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/disk"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/sqlstore"
)

// Options configure a Pool. Clock and Entropy are required.
type Options struct {
	Clock   clock.Clock
	Entropy entropy.Source
	Points  *killpoint.Points
	// Dir is the directory of the namespaces, <persist>/v3/do; other folders of
	// namespaces (OpenIn) are beside it. "" leaves it to
	// Locate: until then no file is touched, and no event may come.
	Dir    string
	Sync   sqlite.Sync
	Limits sqlstore.LimitsProfile
	// Disk, if set, is asked before each write to an object's database and makes
	// it fail with its error (sqlstore.Options.BeforeWrite).
	Disk func() error
	// Files, if set, is the disk that all files are on: one that records what has
	// been synced.
	Files *disk.Disk
	// Policy says when objects leave memory by themselves.
	Policy Policy
	// Skew is engine.Options.Skew, for what databases see of the time; nil: all have one
	// clock.
	Skew func(label string) time.Duration
	// Report gets errors for which no caller waits.
	Report func(error)
	// Opened, if set, is called on the loop for each object that comes into memory.
	Opened func()
}

// Pool is safe for concurrent use. It starts no goroutine: its work runs on the
// isolate's loop and in clock functions.
type Pool struct {
	opts   Options
	alarms *alarms.Scheduler
	chance entropy.Source // of eviction times
	opened openStores     // loop-confined

	mu         sync.Mutex // guards everything below, and the fields of namespaces and entries
	realm      *durableobject.Realm
	waiting    tickets.Queue[*delivery] // events that came before the realm
	tickets    uint64                   // of the last delivery
	namespaces map[string]*Namespace
	closed     bool
	opens      int // databases so far
}

// ErrClosed is what events get once the pool is closed.
var ErrClosed = errors.New("the server is shutting down")

// New returns a pool without namespaces and without a realm.
func New(o Options) *Pool {
	p := &Pool{opts: o, namespaces: map[string]*Namespace{}, chance: o.Entropy.Fork("eviction")}
	p.alarms = alarms.New(alarms.Options{
		Clock: o.Clock, Entropy: o.Entropy.Fork("alarms"), Deliver: p.deliverAlarm, Report: o.Report, Points: o.Points, Skew: o.Skew,
		MaxWait: time.Minute, Sync: o.Sync, Disk: o.Files,
	})
	return p
}

// Namespace is the objects of one class. It implements cfapi.Namespace.
type Namespace struct {
	pool    *Pool
	class   string
	key     string // the unique key
	folder  string // below <persist>/v3: "do", or where the platform's own objects are
	ids     *objectid.Namespace
	dir     string
	entries map[objectid.ID]*entry // by id without its name; guarded by pool.mu
}

var _ cfapi.Namespace = (*Namespace)(nil)

// Folder is where the objects of workers are, below <persist>/v3.
const Folder = "do"

// OpenIn is Open for objects of the platform's own (driver.Class), which are in
// another folder below <persist>/v3.
func (p *Pool) OpenIn(folder, class, uniqueKey string) (*Namespace, error) {
	if uniqueKey != filepath.Base(uniqueKey) || uniqueKey == "." || uniqueKey == ".." {
		return nil, fmt.Errorf("pool: open %s: %q cannot be a directory name", class, uniqueKey)
	}
	n := &Namespace{pool: p, class: class, key: uniqueKey, folder: folder, ids: objectid.NewNamespace(uniqueKey), entries: map[objectid.ID]*entry{}}
	if p.opts.Dir != "" {
		if err := n.openFiles(); err != nil {
			return nil, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.namespaces[uniqueKey] = n
	return n, nil
}

// openFiles makes the namespace's directory and loads its alarms.
func (n *Namespace) openFiles() error {
	n.dir = filepath.Join(filepath.Dir(n.pool.opts.Dir), n.folder, n.key)
	if err := n.pool.opts.Files.MkdirAll(n.dir, 0o700); err != nil {
		return fmt.Errorf("pool: open %s: %w", n.class, err)
	}
	was := n.look()
	if err := n.openAlarms(&was); err != nil {
		return fmt.Errorf("pool: open %s: %w", n.class, err)
	}
	return n.scan(was)
}

// Locate gives a pool that was made without Options.Dir its directory, and
// opens the namespaces. It comes before the first event, and once.
func (p *Pool) Locate(dir string) error {
	p.opts.Dir = dir
	p.mu.Lock()
	var all []*Namespace
	for _, n := range p.namespaces { // order-independent: sorted below
		all = append(all, n)
	}
	p.mu.Unlock()
	sort.Slice(all, func(i, j int) bool { return all[i].key < all[j].key })
	for _, n := range all {
		if err := n.openFiles(); err != nil {
			return err
		}
	}
	return nil
}

// Class implements cfapi.Namespace.
func (n *Namespace) Class() string { return n.class }

// IDs implements cfapi.Namespace.
func (n *Namespace) IDs() *objectid.Namespace { return n.ids }

// Stub implements cfapi.Namespace.
func (n *Namespace) Stub(id objectid.ID) cfapi.Target { return &stub{entry: n.address(id), id: id} }

// SetRealm sets where objects run from now on: after the isolate has loaded
// its bundle. Objects of an earlier realm must have been ended. Events that
// waited are delivered, before any that come later.
func (p *Pool) SetRealm(r *durableobject.Realm) {
	p.mu.Lock()
	p.realm = r
	waiting := p.waiting.Take()
	var refused []*delivery
	for _, d := range waiting {
		if d.post(r) != nil {
			refused = append(refused, d)
		}
	}
	p.mu.Unlock()
	for _, d := range refused {
		d.failed(ErrClosed)
	}
}

// isCurrent reports whether objects may be started in r.
func (p *Pool) isCurrent(r *durableobject.Realm) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.realm == r && !p.closed
}

// ClearRealm makes events wait until the next SetRealm.
func (p *Pool) ClearRealm() {
	p.mu.Lock()
	p.realm = nil
	p.mu.Unlock()
}

// FailWaiting answers the events that wait for a realm with err: the worker
// could not be loaded.
func (p *Pool) FailWaiting(err error) {
	p.mu.Lock()
	waiting := p.waiting.Take()
	p.mu.Unlock()
	for _, d := range waiting {
		d.failed(err)
	}
}

// Start delivers alarms from now on: overdue ones at once.
func (p *Pool) Start() { p.alarms.Start() }

// Close refuses new events, ends the alarms' deliveries and closes the objects'
// databases, on the loop. done is called when that has happened.
func (p *Pool) Close(done func(error)) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		done(nil)
		return
	}
	p.closed = true
	r := p.realm
	p.mu.Unlock()
	p.FailWaiting(ErrClosed)
	closeAll := func() {
		for _, e := range p.all() {
			if o := e.current(); o != nil {
				o.Evict()
			}
			e.sockets.DropAll(1001, "the server is shutting down")
		}
		done(p.alarms.Close())
	}
	if r == nil {
		done(p.alarms.Close())
		return
	}
	if err := r.Isolate().Engine.PostLoop(closeAll); err != nil {
		done(p.alarms.Close())
	}
}

// EndAll ends every incarnation with the error that why gives: their isolate
// was condemned. It must run on the loop of the present realm.
func (p *Pool) EndAll(why func(o *durableobject.Object) *event.Error) {
	for _, e := range p.all() {
		if o := e.current(); o != nil {
			o.Reset(why(o))
		}
	}
}

// Grace is how long work in flight may go on after new code has taken over
// (production's documentation: shutdown behavior).
const Grace = 30 * time.Second

// What clients of WebSockets see when the code is updated.
const (
	updateCode   = 1012
	updateReason = "the worker's code was updated"
)

// SupersedeAll gives all incarnations' storage up to those of the next realm:
// work in flight stops at its next use of storage, at the latest after Grace;
// WebSockets are closed. It returns the incarnations that have work in flight.
// It must run on the loop of the present realm, before SetRealm.
func (p *Pool) SupersedeAll() (busy []*durableobject.Object) {
	for _, e := range p.all() {
		if o := e.current(); o != nil {
			if e.supersede(o); !o.Ended() {
				busy = append(busy, o)
			}
		} else {
			e.sockets.DropAll(updateCode, updateReason)
		}
	}
	return busy
}

// all lists the entries by namespace and id.
func (p *Pool) all() []*entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []*entry
	for _, n := range p.namespaces { // order-independent: sorted below
		for _, e := range n.entries { // order-independent: sorted below
			out = append(out, e)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].ns.class != out[j].ns.class {
			return out[i].ns.class < out[j].ns.class
		}
		return out[i].id.String() < out[j].id.String()
	})
	return out
}

// Live is the number of objects in memory.
func (p *Pool) Live() int {
	n := 0
	for _, e := range p.all() {
		if e.current() != nil {
			n++
		}
	}
	return n
}

// Pending says what is still to be done: an alarm that is due within horizon or
// whose handler runs, or what an object waits for; "" if nothing is. It must run
// on the loop of the present realm.
func (p *Pool) Pending(horizon time.Duration) string {
	for _, e := range p.all() {
		if o := e.current(); o != nil {
			if why := o.Hibernatable(); why != "" {
				return e.label() + ": " + why
			}
		}
	}
	// After the objects: the timer of the alarms runs elsewhere, and an alarm that
	// it has just taken is in no object yet.
	n, dueNs, ok := p.alarms.Ahead()
	if n > 0 {
		return fmt.Sprintf("%d alarm handlers run", n)
	}
	if ok {
		if in := time.Unix(0, dueNs).Sub(p.opts.Clock.Now()); in < horizon {
			return fmt.Sprintf("an alarm is due in %.1f s", in.Seconds())
		}
	}
	return ""
}

// deliverAlarm is called by the alarm index when an alarm is due.
func (p *Pool) deliverAlarm(d alarms.Delivery) {
	p.mu.Lock()
	n := p.namespaces[d.Namespace]
	p.mu.Unlock()
	if n == nil {
		d.Done(alarms.Interrupted)
		return
	}
	id, err := n.ids.Parse(d.ID)
	if err != nil {
		p.opts.Report(fmt.Errorf("alarm of %s: %w", n.class, err))
		d.Done(alarms.Finished)
		return
	}
	if d.Name != "" {
		id = id.WithName(d.Name)
	}
	e := n.address(id)
	var try func(attempt int)
	try = func(attempt int) {
		e.with(&stub{entry: e, id: id}, func(o *durableobject.Object) {
			o.Alarm(d.RetryCount, func(result durableobject.AlarmResult, err error) {
				if errors.Is(err, durableobject.ErrEvicted) && attempt < maxRedeliveries {
					try(attempt + 1)
					return
				}
				d.Done(outcomes[result])
			})
		}, func(error) { d.Done(alarms.Interrupted) })
	}
	try(0)
}

var outcomes = map[durableobject.AlarmResult]alarms.Outcome{
	durableobject.AlarmDone:        alarms.Finished,
	durableobject.AlarmFailed:      alarms.Failed,
	durableobject.AlarmInterrupted: alarms.Interrupted,
	durableobject.AlarmEarly:       alarms.Early,
}
