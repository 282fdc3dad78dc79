package fault

import (
	"slices"
	"strings"
	"time"

	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/killpoint"
)

// Kind is one kind of fault that happens within a process which lives on: what it is
// called, where it can happen and what it does. Immutable.
type Kind struct {
	Verb Verb
	// Forms are its text forms without a point; Does says what happens, for
	// docs/chaos.md.
	Forms []string
	Does  string
	// Draws are the forms that random draws, each with the same chance; Weight is how
	// often it draws the kind, where that of all kills is 10.
	Draws  []string
	Weight int
	// Takes reports whether arg, what stands in parentheses, is one of its arguments.
	Takes func(arg string) bool
	// Happens reports whether it can be done at a point. Where, unless empty, says at
	// which points, to a user who has named another one.
	Happens func(arg string, at killpoint.Point) bool
	Where   string
	// EndsObjects reports whether objects lose their memory and their sockets by it.
	EndsObjects func(arg string) bool
	// Do does it when its point is passed, under the lock of all effects. It calls done
	// once, then or later, with what became of it; an error that it returns takes the
	// place of the effect.
	Do func(m Machine, arg string, at killpoint.Point, done func(error)) (fails error)
	// Stand, of a kind without Do, begins a fault that lasts when its point is passed. What
	// it returns is asked of that point and of each one behind it, under the lock of all
	// effects, for an error that takes the place of the effect.
	Stand func(m Machine, arg string, done func(error)) func(killpoint.Point) error
}

// Machine is what faults can be done to: a server and what it runs on. Its methods may
// be called under the lock of killpoint.Points.
type Machine interface {
	// Object acts on the object of that label, "Class/name".
	Object(label string, a pool.Action, done func(error))
	// Isolate acts on the whole isolate.
	Isolate(a pool.Action, done func(error))
	// Pause lets nothing happen for so long; Jump sets the clock.
	Pause(d time.Duration) error
	// Later calls fn after so long, unless the server has died by then. Until then the
	// server is not at rest.
	Later(d time.Duration, fn func())
	Jump(d time.Duration)
}

// Kinds are all of them. A new one is a file of its own and a name here.
func Kinds() []Kind {
	return []Kind{evict, hibernate, reset, abort, crash, fail, slow, jump, refuse, delay, drop, twice, partition}
}

func kindOf(v Verb) *Kind {
	all := Kinds()
	if i := slices.IndexFunc(all, func(k Kind) bool { return k.Verb == v }); i >= 0 {
		return &all[i]
	}
	return nil
}

// verbs are those of all kinds.
func verbs() (out []string) {
	for _, k := range Kinds() {
		out = append(out, string(k.Verb))
	}
	return out
}

// forms are those of all kinds.
func forms() (out []string) {
	for _, k := range Kinds() {
		out = append(out, k.Forms...)
	}
	return out
}

// oneOf is Kind.Takes for a few words.
func oneOf(words ...string) func(string) bool {
	return func(arg string) bool { return slices.Contains(words, arg) }
}

// anywhere is Kind.Happens for what needs nothing of its point, never EndsObjects for
// what leaves objects alone, always for what does not.
func anywhere(string, killpoint.Point) bool { return true }
func never(string) bool                     { return false }
func always(string) bool                    { return true }

// isFetch is Kind.Happens for what keeps an exchange with a server from beginning.
func isFetch(_ string, at killpoint.Point) bool {
	return at.Kind == killpoint.Fetch && at.Side == killpoint.Before
}

// hasObject reports whether a point is one of an object.
func hasObject(at killpoint.Point) bool {
	// What a store's label has in this place is a bucket or a cache.
	return at.Kind != killpoint.Store && strings.Contains(at.Object, "/")
}
