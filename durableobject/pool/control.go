package pool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"

	"minido.dev/minido/alarms"
	"minido.dev/minido/durableobject"
	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/internal/killpoint"
)

// Verb is something that is done to an object from outside.
type Verb string

// The verbs. Each is a failure of its own, with the errors that production
// gives to callers (docs/control.md has the table).
const (
	Evict     Verb = "evict"     // out of memory, as after a long idle time
	Hibernate Verb = "hibernate" // out of memory, sockets stay; only if it may
	Reset     Verb = "reset"     // code update: in-flight work stops at its next storage access
	Abort     Verb = "abort"     // ctx.abort(reason)
	Crash     Verb = "crash"     // as if its process died now
	FireAlarm Verb = "alarm"     // its alarm becomes due now
	LosePower Verb = "power"     // as if the machine of all objects lost its power: see Pool.LosePower
)

// Errors of Act and Find, for people.
var (
	ErrNoClass    = errors.New("no such Durable Object class")
	ErrNoObject   = errors.New("no such object")
	ErrNotRunning = errors.New("the object is not in memory")
	// ErrNoIsolate says that no worker is loaded at the moment.
	ErrNoIsolate = errors.New("no isolate is running: the project has only assets, or its worker is being replaced")
)

// RefusedError says why production would not do now what was asked.
type RefusedError struct{ Reason string }

// Error implements error.
func (e *RefusedError) Error() string { return e.Reason }

// Action is what Act does.
type Action struct {
	Verb Verb
	// Force evicts also what is busy: callers of events in flight lose their
	// connection.
	Force bool
	// CloseSockets lets an eviction end the sockets that could hibernate, too, without a
	// Close frame.
	CloseSockets bool
	// Reason is the message of Abort, "" for its default.
	Reason string
}

// State says where an object is.
type State string

// The states of objects.
const (
	Running    State = "running"    // events are in progress
	Idle       State = "idle"       // in memory, nothing in progress
	Hibernated State = "hibernated" // not in memory; clients are connected
	Stored     State = "stored"     // on disk alone
)

// ObjectInfo is one object, in memory or not.
type ObjectInfo struct {
	Class string
	ID    string
	Name  string // "" if it is not known
	State State
	// Sockets are the hibernatable WebSockets that are open.
	Sockets int
	// Alarm is the alarm index's time in milliseconds since the epoch, nil for none.
	Alarm *int64
	// Live describes an object in memory, nil for others.
	Live *durableobject.Status
}

// Ref is one object of a pool. Immutable.
type Ref struct{ e *entry }

// Wake has the object in memory, its constructor called. done may be told on any goroutine.
func (r Ref) Wake(done func(error)) {
	r.e.with(nil, func(*durableobject.Object) { done(nil) }, done)
}

// ArmCrash lets the object crash, once, at one of its effect points: a label as
// killpoint.ParseTarget reads it, whose occurrences count from now. What was not
// durable at that point is lost; what comes after it does not happen. It may be
// armed while the object is not in memory. Safe for concurrent use.
func (r Ref) ArmCrash(at string) error {
	e := r.e
	return e.ns.pool.opts.Points.Arm(e.label(), at, func(killpoint.Point) {
		// Effects on the loop have the object crash by themselves; those of the
		// gateway and the alarm index do not know it.
		o := e.current()
		if o == nil {
			return
		}
		_ = o.Realm().Isolate().Engine.PostLoop(func() { // a closed loop has ended its objects
			if e.current() == o {
				o.Crash()
			}
		})
	})
}

// Unborn is an object whose constructor has failed.
type Unborn struct {
	Label string
	Err   error
}

// String is both.
func (u Unborn) String() string { return u.Label + ": " + u.Err.Error() }

// Wake constructs every object that has a database and is not in memory, as its next
// event would. done is called once, with those that failed, when all have been
// constructed. Safe for concurrent use.
func (p *Pool) Wake(done func([]Unborn, error)) {
	var asleep []*entry
	err := func() error {
		p.mu.Lock()
		var spaces []*Namespace
		for _, n := range p.namespaces { // order-independent: sorted below
			spaces = append(spaces, n)
		}
		p.mu.Unlock()
		sort.Slice(spaces, func(i, j int) bool { return spaces[i].key < spaces[j].key })
		for _, n := range spaces {
			ids, err := n.objects()
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			for _, text := range ids {
				id, err := n.ids.Parse(text)
				if err != nil {
					return fmt.Errorf("pool: %w", err)
				}
				if e := n.entry(id); e.current() == nil {
					asleep = append(asleep, e)
				}
			}
		}
		return nil
	}()
	if err != nil || len(asleep) == 0 {
		done(nil, err)
		return
	}
	var mu sync.Mutex
	var failed []Unborn
	left := len(asleep)
	for _, e := range asleep {
		note := func(err error) {
			mu.Lock()
			if err != nil {
				failed = append(failed, Unborn{e.label(), err})
			}
			left--
			last := left == 0
			mu.Unlock()
			if last {
				done(failed, nil)
			}
		}
		e.with(nil, func(o *durableobject.Object) { o.Born(note) }, note)
	}
}

// Find looks an object up by the name of its class (or its unique key) and its
// name or id: in memory, in the alarm index or on disk.
//
// # Errors
//
// ErrNoClass and ErrNoObject, wrapped with what there is.
func (p *Pool) Find(class, object string) (Ref, error) {
	ref, err := p.Address(class, object)
	if err != nil {
		return Ref{}, err
	}
	e := ref.e
	e.ns.pool.mu.Lock()
	known := e.addressed
	e.ns.pool.mu.Unlock()
	if !known {
		if _, err := os.Stat(e.ns.file(e.identity())); err != nil {
			return Ref{}, fmt.Errorf("%w: %s/%s", ErrNoObject, e.ns.class, object)
		}
	}
	return ref, nil
}

// Address is Find for objects that need not exist yet. The error is ErrNoClass.
func (p *Pool) Address(class, object string) (Ref, error) {
	p.mu.Lock()
	var n *Namespace
	var classes []string
	for key, candidate := range p.namespaces { // order-independent: sorted below; keys are unique
		classes = append(classes, candidate.class)
		if key == class || candidate.class == class && n == nil {
			n = candidate
		}
	}
	p.mu.Unlock()
	if n == nil {
		sort.Strings(classes)
		return Ref{}, fmt.Errorf("%w: %q; there are: %s", ErrNoClass, class, strings.Join(classes, ", "))
	}
	id, err := n.ids.Parse(object)
	if err != nil {
		id = n.ids.FromName(object)
	}
	return Ref{n.entry(id)}, nil
}

func (n *Namespace) file(id objectid.ID) string { return filepath.Join(n.dir, id.String()+".sqlite") }

// File is the path of the object's database.
func (r Ref) File() string { return r.e.ns.file(r.e.identity()) }

// Label is "Class/name".
func (r Ref) Label() string { return r.e.label() }

// Act does something to an object, on its loop, behind what was posted there
// before: an object that is being started then runs. done is called exactly
// once; for Reset when the object can be entered anew, not when old work has
// ended. Only FireAlarm starts an object that is not in memory: the others report
// ErrNotRunning. The error is a *RefusedError where production would not. Safe
// for concurrent use, also under the lock of killpoint.Points.
func (r Ref) Act(a Action, done func(error)) {
	if a.Verb == FireAlarm {
		r.e.with(nil, func(o *durableobject.Object) { o.FireAlarm(done) }, done)
		return
	}
	was, realm := r.e.whereabouts()
	if realm == nil {
		done(ErrNotRunning)
		return
	}
	err := realm.Isolate().Engine.PostLoop(func() {
		o := r.e.current()
		if o == nil || was != nil && o != was || o.Realm() != realm {
			done(ErrNotRunning)
			return
		}
		done(r.e.act(o, a))
	})
	if err != nil {
		done(ErrNotRunning)
	}
}

func (e *entry) act(o *durableobject.Object, a Action) error {
	switch a.Verb {
	case Evict:
		if why := o.Busy(); why != "" && !a.Force {
			return &RefusedError{why}
		}
		o.Drop()
		if a.CloseSockets {
			e.sockets.DropAll(1006, "")
		}
	case Hibernate:
		if why := o.Hibernatable(); why != "" {
			return &RefusedError{why}
		}
		o.Evict()
	case Reset:
		e.supersede(o)
	case Abort:
		o.Abort(a.Reason)
	case Crash:
		o.Crash()
	default:
		return fmt.Errorf("unknown verb %q", a.Verb)
	}
	return nil
}

// supersede replaces an incarnation by new code. On its loop.
func (e *entry) supersede(o *durableobject.Object) {
	e.sockets.DropAll(updateCode, updateReason)
	o.Supersede()
	p := e.ns.pool
	p.mu.Lock()
	if e.object == o {
		e.object = nil
	}
	p.mu.Unlock()
	if o.Ended() {
		return
	}
	p.opts.Clock.AfterFunc(Grace, func() {
		// A closed loop has ended its objects.
		_ = o.Realm().Isolate().Engine.PostLoop(func() { o.Reset(durableobject.CodeUpdated()) })
	})
}

// Sockets describes the object's hibernatable sockets, whether it is in memory or not.
// done is called exactly once; the error is ErrNotRunning where there is no isolate that
// could decode what is attached to them. Safe for concurrent use.
func (r Ref) Sockets(done func([]durableobject.SocketStatus, error)) {
	_, realm := r.e.whereabouts()
	if realm == nil {
		done(nil, ErrNotRunning)
		return
	}
	realm.Sockets(r.e.sockets, done)
}

// Objects lists what is in memory, has sockets or alarms, or is on disk, by
// class and id. done is called exactly once.
func (p *Pool) Objects(done func([]ObjectInfo, error)) {
	p.mu.Lock()
	r := p.realm
	p.mu.Unlock()
	collect := func() {
		list, err := p.objects()
		done(list, err)
	}
	if r == nil {
		collect()
		return
	}
	if err := r.Isolate().Engine.PostLoop(collect); err != nil {
		collect()
	}
}

// Look is Objects at once, for who runs on the realm's loop, or in a simulation
// between two steps.
func (p *Pool) Look() ([]ObjectInfo, error) { return p.objects() }

// objects lists the objects; those of the present realm with what they do, so
// it runs on its loop if there is one.
func (p *Pool) objects() ([]ObjectInfo, error) {
	var out []ObjectInfo
	seen := map[string]bool{}
	for _, e := range p.all() {
		info := e.info()
		if info.State == Stored {
			if _, err := os.Stat(e.ns.file(e.identity())); errors.Is(err, fs.ErrNotExist) {
				continue // addressed, and never started
			}
		}
		seen[e.ns.ids.UniqueKey()+"/"+info.ID] = true
		out = append(out, info)
	}
	p.mu.Lock()
	var spaces []*Namespace
	for _, n := range p.namespaces { // order-independent: the result is sorted
		spaces = append(spaces, n)
	}
	p.mu.Unlock()
	for _, n := range spaces {
		files, err := os.ReadDir(n.dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("pool: list %s: %w", n.class, err)
		}
		for _, f := range files {
			id, err := n.ids.Parse(strings.TrimSuffix(f.Name(), ".sqlite"))
			if err != nil || !strings.HasSuffix(f.Name(), ".sqlite") || seen[n.ids.UniqueKey()+"/"+id.String()] {
				continue
			}
			info := ObjectInfo{Class: n.class, ID: id.String(), State: Stored}
			info.Alarm = p.alarmOf(n, info.ID)
			out = append(out, info)
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].Class != out[j].Class {
			return out[i].Class < out[j].Class
		}
		return out[i].ID < out[j].ID
	})
	return out, nil
}

func (p *Pool) alarmOf(n *Namespace, id string) *int64 {
	if ms, ok := p.alarms.Get(alarms.Object{Namespace: n.ids.UniqueKey(), ID: id}); ok {
		return &ms
	}
	return nil
}

func (e *entry) info() ObjectInfo {
	p := e.ns.pool
	p.mu.Lock()
	o, id, realm := e.object, e.id, p.realm
	p.mu.Unlock()
	info := ObjectInfo{Class: e.ns.class, ID: id.String(), State: Stored, Sockets: e.sockets.Len(), Alarm: p.alarmOf(e.ns, id.String())}
	info.Name, _ = id.Name()
	if info.Sockets > 0 {
		info.State = Hibernated
	}
	if o == nil || o.Realm() != realm {
		return info
	}
	s := o.Status()
	info.Live, info.State = &s, Idle
	if s.Events > 0 {
		info.State = Running
	}
	return info
}

// EvictAll ends all incarnations, as when their isolate is thrown away. Without
// force it does nothing and reports a *RefusedError if one of them is busy. It
// must run on the loop of the present realm.
func (p *Pool) EvictAll(force bool) error {
	var live []*durableobject.Object
	for _, e := range p.all() {
		o := e.current()
		if o == nil {
			continue
		}
		if why := o.Busy(); why != "" && !force {
			return &RefusedError{o.Label() + ": " + why}
		}
		live = append(live, o)
	}
	for _, o := range live {
		o.Drop()
	}
	return nil
}

// CrashAll ends all incarnations as the death of their process does. It must
// run on the loop of the present realm.
func (p *Pool) CrashAll() {
	for _, e := range p.all() {
		if o := e.current(); o != nil {
			o.Crash()
		}
		e.sockets.DropAll(1006, "")
	}
}

// LosePower ends all incarnations as a loss of power does: what their files held
// and was not synced is gone. What the alarm index holds was synced. It must run on
// the loop of the present realm, between two of its tasks, and needs Options.Files.
func (p *Pool) LosePower() error {
	if p.opts.Files == nil {
		return errors.New("a loss of power needs a disk that records what was synced: only simulations have one")
	}
	dirs := map[string]bool{}
	p.mu.Lock()
	for _, n := range p.namespaces { // order-independent: a set
		dirs[n.dir] = true
	}
	p.mu.Unlock()
	left := p.opts.Files.Freeze(func(path string) bool {
		return dirs[filepath.Dir(path)] && !strings.HasPrefix(filepath.Base(path), alarms.IndexFile)
	})
	p.CrashAll()
	return left.Restore()
}
