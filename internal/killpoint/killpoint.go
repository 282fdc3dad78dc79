// Package killpoint names the effect points: the moments at which a crash can matter.
// An effect (a commit, a write of the alarm index, a frame to a client, ...) has two
// points, before and after; between two points a crash is indistinguishable from a
// crash at the first of them, so visiting every point visits every crash state.
//
// A nil *Points is switched off for good, one made with Options.Off until a
// crash is armed; both cost one predictable branch.
package killpoint

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Kind says what becomes durable or visible at a point.
type Kind string

// The kinds of effects, as in the labels that users see.
const (
	Commit   Kind = "commit"   // an object's implicit transaction
	Index    Kind = "index"    // a write of the alarm index
	File     Kind = "file"     // a database or facet file created or deleted
	Store    Kind = "store"    // a write to another store (cache, R2, KV)
	Alarm    Kind = "alarm"    // delivery of an alarm, or its acknowledgement
	Wake     Kind = "wake"     // a constructor has finished
	Response Kind = "response" // the head of a response
	Chunk    Kind = "chunk"    // a chunk of a body
	Frame    Kind = "frame"    // a WebSocket frame
	Close    Kind = "close"    // the end of a body or a socket
	Fetch    Kind = "fetch"    // an outbound request
	RPC      Kind = "rpc"      // a call to another object, or its result
	Queue    Kind = "queue"    // a batch of a queue is handed to its consumer, or has been
)

// Side is before or after the effect.
type Side string

// The two sides of an effect.
const (
	Before Side = "before"
	After  Side = "after"
)

// Point is one hit of a label.
type Point struct {
	Kind       Kind
	Side       Side
	Object     string // "Class/name", or "" for the stateless worker
	Cause      string // what started the turn: "fetch", "rpc", "alarm", "message", "timer", ...
	Occurrence int    // counts from 1 within one process and label; 0 where somebody only watches
	Number     int    // counts from 1 within one process; 0 where somebody only watches
	To         string // whom a message goes to, "Class/name"; "" for others. No part of the label
	Site       string // where in the source it comes from, a line for each write; "" if not known. No part of the label
	Departed   int    // at the after-side of a message, the Number of its before-side; 0 for others
}

// Label is the point's text form, kind:side(object)/cause#occurrence.
func (p Point) Label() string {
	return string(p.Kind) + ":" + string(p.Side) + "(" + p.Object + ")/" + p.Cause + "#" + strconv.Itoa(p.Occurrence)
}

// Points numbers the effects of a process. It is safe for concurrent use:
// while it is on, one lock orders every effect of the process.
type Points struct {
	on     atomic.Bool // recorded, aimed at, or armed
	always bool        // on also without what is armed; guarded by mu
	armed  []*armed    // guarded by mu

	mu     sync.Mutex
	number int
	seen   map[string]int
	record func(Point)
	target func(Point) bool
	die    func(Point)
	sites  sites

	interfere func(Point) error              // guarded by mu
	watchers  atomic.Pointer[[]*func(Point)] // the list is replaced under mu; nil: nobody watches
}

// Options says what a Points does with the points it sees.
type Options struct {
	// Record, when set, is told each point, under the lock.
	Record func(Point)
	// Target, when set, picks the point to die at. See ParseTarget.
	Target func(Point) bool
	// Die, when set, replaces the real death of the process: a simulation
	// drops its world there. It must not return to the effect; it may panic with a
	// Death.
	Die func(Point)
	// Explains has those who cause effects tell where in the source they come from.
	Explains bool
	// Off leaves Points off until Begin or Arm.
	Off bool
}

// Death is what Options.Die panics with in place of the process's end: whoever
// recovers it must panic with it again, for nothing happens after a death.
type Death interface{ Died() }

// New returns a Points that is on. Use a nil *Points for off.
func New(o Options) *Points {
	p := &Points{seen: map[string]int{}, record: o.Record, target: o.Target, die: o.Die, always: !o.Off}
	p.on.Store(p.always)
	p.sites.explains = o.Explains
	if p.die == nil {
		p.die = KillSelf
	}
	return p
}

// Begin starts counting anew with another record and target: a standby process
// learns only when it is put to work what it records and where it dies. Die is
// left as New set it.
func (p *Points) Begin(record func(Point), target func(Point) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.number, p.seen = 0, map[string]int{}
	p.record, p.target = record, target
	p.always = true
	p.on.Store(true)
}

// Interfere has fn decide about each effect, under the lock, when one of its sides
// was hit: an error at the before-side takes the effect's place, as one of the
// machine's would; one at the after-side is reported though the effect has
// happened, as when a file was written and could not be synced.
func (p *Points) Interfere(fn func(Point) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.interfere = fn
}

// Effect runs fn, the effect, between its two points. While Points is on, no
// other effect of the process runs at the same time, so a death at a point
// leaves exactly the effects that came before it. fn must not cause another
// effect and must not wait for one.
//
// The after-side is hit only if fn succeeded: a failed effect has not happened.
// If the object was armed to crash at one of the points, the error is
// ErrCrashed; at the before-side fn has not run.
func (p *Points) Effect(kind Kind, object, cause string, fn func() error) error {
	if !p.On() {
		if !p.Heard() {
			return fn()
		}
		p.tell(Point{Kind: kind, Side: Before, Object: object, Cause: cause})
		err := fn()
		if err == nil {
			p.tell(Point{Kind: kind, Side: After, Object: object, Cause: cause})
		}
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	at, crashed := p.hit(kind, Before, object, cause)
	if crashed {
		return ErrCrashed
	}
	if err := p.barred(at); err != nil {
		return err
	}
	return p.perform(kind, object, cause, fn)
}

// perform runs an effect whose before-side was hit, and hits its after-side. p.mu is held.
func (p *Points) perform(kind Kind, object, cause string, fn func() error) error {
	if err := fn(); err != nil {
		return err
	}
	at, crashed := p.hit(kind, After, object, cause)
	if crashed {
		return ErrCrashed
	}
	return p.barred(at)
}

func (p *Points) interfered(at Point) error {
	if p.interfere == nil {
		return nil
	}
	return p.interfere(at)
}

// barred is interfered at a point of what is no message.
func (p *Points) barred(at Point) error {
	err := p.interfered(at)
	var d *Detour
	if errors.As(err, &d) && d.None != nil {
		d.None()
		return nil
	}
	return err
}

// Reach is the before-side of an effect that takes too long to be run between two
// points, such as an exchange with a server: an error takes its place.
func (p *Points) Reach(kind Kind, object, cause string) error {
	if !p.On() {
		p.tell(Point{Kind: kind, Side: Before, Object: object, Cause: cause})
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	at, crashed := p.hit(kind, Before, object, cause)
	if crashed {
		return ErrCrashed
	}
	return p.barred(at)
}

// Hit is a point without an effect of its own, such as the end of a
// constructor or the delivery of an alarm. It reports whether the object was
// armed to crash here, or whoever interferes says ErrCrashed: what follows the point
// must then not happen.
func (p *Points) Hit(kind Kind, side Side, object, cause string) (crashed bool) {
	if !p.On() {
		p.tell(Point{Kind: kind, Side: side, Object: object, Cause: cause})
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	at, crashed := p.hit(kind, side, object, cause)
	return crashed || errors.Is(p.barred(at), ErrCrashed)
}

// On reports whether points are being recorded or aimed at: every effect must then be
// one of its own.
func (p *Points) On() bool { return p != nil && p.on.Load() }

func (p *Points) hit(kind Kind, side Side, object, cause string) (pt Point, crashed bool) {
	return p.hitTo(kind, side, object, cause, "")
}

// hitTo is hit for a message to an object.
func (p *Points) hitTo(kind Kind, side Side, object, cause, to string) (pt Point, crashed bool) {
	return p.pass(Point{Kind: kind, Side: side, Object: object, Cause: cause, To: to})
}

// pass numbers a point and tells of it.
func (p *Points) pass(pt Point) (_ Point, crashed bool) {
	p.number++
	pt.Number = p.number
	key := string(pt.Kind) + string(pt.Side) + pt.Object + "/" + pt.Cause
	p.seen[key]++
	pt.Occurrence = p.seen[key]
	p.sites.explain(&pt)
	if p.record != nil {
		p.record(pt)
	}
	p.tell(pt)
	if p.target != nil && p.target(pt) {
		p.die(pt)
	}
	return pt, p.crashes(pt)
}

// KillSelf is the death at a point: it ends the process as abruptly as the system
// can and never returns. SIGKILL on Unix, TerminateProcess on Windows.
func KillSelf(Point) {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = Kill(self)
	}
	if err != nil {
		panic(fmt.Sprintf("killpoint: the process could not kill itself: %v", err))
	}
	select {}
}

// ParseTarget reads the text form of a point: a bare number (shorthand within
// one recorded history), or a label kind:side(object)/cause#occurrence.
// Object, cause and occurrence may be left out: "commit:after#3" is the third
// commit of any object, for any cause. An empty object, as in "rpc:before()/rpc#1",
// is that of the stateless worker.
func ParseTarget(text string) (func(Point) bool, error) {
	if n, err := strconv.Atoi(text); err == nil {
		if n < 1 {
			return nil, fmt.Errorf("kill point %q: points count from 1", text)
		}
		return func(p Point) bool { return p.Number == n }, nil
	}
	want, occurrence, err := parseLabel(text)
	if err != nil {
		return nil, err
	}
	anyObject := !strings.Contains(text, "(")
	seen := 0 // guarded by Points.mu: targets are only called under it
	return func(p Point) bool {
		if p.Kind != want.Kind || p.Side != want.Side ||
			!anyObject && p.Object != want.Object || want.Cause != "" && p.Cause != want.Cause {
			return false
		}
		seen++
		return seen == occurrence
	}, nil
}

// ParseLabel reads a label that Point.Label wrote. Number, which a label does
// not hold, is 0.
func ParseLabel(text string) (Point, error) {
	p, occurrence, err := parseLabel(text)
	p.Occurrence = occurrence
	return p, err
}

// KindDoc says for people which effect a kind names.
type KindDoc struct {
	Kind   Kind
	Effect string
}

// Kinds lists all kinds.
func Kinds() []KindDoc {
	return []KindDoc{
		{Commit, "an object's implicit transaction is committed to its database"},
		{Index, "a row of the namespace's alarm index is written"},
		{File, "a database or a facet's file is created or deleted"},
		{Store, "a write to another store: the cache, R2"},
		{Alarm, "an alarm is delivered (`before`), and its handler has ended (`after`)"},
		{Wake, "an object's constructor has finished; it has no `before`"},
		{Response, "the head of a response is sent"},
		{Chunk, "a chunk of a body is sent"},
		{Frame, "a WebSocket frame is sent"},
		{Close, "a body or a WebSocket is ended"},
		{Fetch, "a request leaves for another server (`before`), and the head of the answer has come (`after`)"},
		{RPC, "a call to another object, or its result, is sent"},
		{Queue, "a batch of messages goes to its queue handler (`before`), and the handler has ended (`after`)"},
	}
}

func parseLabel(text string) (want Point, occurrence int, err error) {
	bad := func(why string) (Point, int, error) {
		return Point{}, 0, fmt.Errorf("kill point %q: %s; write kind:side(object)/cause#occurrence, for example commit:after(Agent/a1)/alarm#2", text, why)
	}
	// Anything may stand in an object's name, so the occurrence is looked for behind it.
	behind := strings.LastIndexByte(text, ')') + 1
	tail, occ, found := strings.Cut(text[behind:], "#")
	rest := text[:behind] + tail
	occurrence = 1
	if found {
		if occurrence, err = strconv.Atoi(occ); err != nil || occurrence < 1 {
			return bad("the occurrence must be a number from 1")
		}
	}
	head := rest
	if open := strings.IndexByte(rest, '('); open >= 0 {
		end := strings.LastIndexByte(rest, ')')
		if end < open {
			return bad("a parenthesis is not closed")
		}
		want.Object = rest[open+1 : end]
		head, rest = rest[:open], rest[end+1:]
		if strings.HasPrefix(rest, "/") {
			want.Cause = rest[1:]
		} else if rest != "" {
			return bad("text after the object must be /cause")
		}
	} else if h, c, ok := strings.Cut(rest, "/"); ok {
		head, want.Cause = h, c
	}
	if strings.ContainsAny(want.Cause, "()") {
		return bad("a cause has no parenthesis")
	}
	kind, side, ok := strings.Cut(head, ":")
	want.Kind, want.Side = Kind(kind), Side(side)
	if !ok || want.Side != Before && want.Side != After {
		return bad("the side must be before or after")
	}
	if !slices.ContainsFunc(Kinds(), func(k KindDoc) bool { return k.Kind == want.Kind }) {
		return bad("unknown kind " + strconv.Quote(kind))
	}
	return want, occurrence, nil
}
