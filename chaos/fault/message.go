package fault

import (
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/netx"
)

// The verbs of what happens to messages: calls between objects and workers and their
// results, answers of objects and upstreams, alarms, batches of queues.
const (
	Delay     Verb = "delay"
	Drop      Verb = "drop"
	Twice     Verb = "twice"
	Partition Verb = "partition"
)

var delay = Kind{
	Verb:  Delay,
	Forms: []string{"delay(1ms)"},
	Does: "the message of that point, and later messages of the same stub or socket, arrive that much later; in a simulation, " +
		"`delay(1ms)` lets everything else that can happen go first",
	Draws: []string{"delay(1ms)", "delay(1s)", "delay(2m)"}, Weight: 1,
	Takes: func(arg string) bool {
		d, err := time.ParseDuration(arg)
		return err == nil && d > 0
	},
	Happens:     func(_ string, at killpoint.Point) bool { return isMessage(at) || isFrame(at) },
	Where:       "write delay with the before-side of an rpc, a response of an object, a frame, an alarm or a queue, or with fetch:after",
	EndsObjects: never,
	Do: func(m Machine, arg string, _ killpoint.Point, done func(error)) error {
		d, err := time.ParseDuration(arg)
		if err != nil {
			done(err)
			return nil
		}
		return detour(done, func(message killpoint.Message) {
			m.Later(d, message.Send)
			done(nil)
		})
	},
}

var drop = Kind{
	Verb:  Drop,
	Forms: []string{"drop"},
	Does: "the connection is lost with the message: its sender, or the waiting caller, gets `Network connection lost.`, and so does the stub's next call; " +
		"an alarm is delivered again. A frame's socket is closed",
	Draws: []string{"drop"}, Weight: 2,
	Takes: oneOf(""),
	Happens: func(_ string, at killpoint.Point) bool {
		return isMessage(at) || at.Kind == killpoint.Fetch || isFrame(at)
	},
	Where:       "write drop with the before-side of an rpc, a response of an object, a frame, an alarm or a queue, or with either side of a fetch",
	EndsObjects: never,
	Do: func(_ Machine, _ string, at killpoint.Point, done func(error)) error {
		if at.Kind == killpoint.Fetch && at.Side == killpoint.Before || isFrame(at) {
			done(nil)
			return netx.ErrLost // nothing was sent
		}
		return detour(done, func(message killpoint.Message) {
			message.Lose(netx.ErrLost)
			done(nil)
		})
	},
}

var twice = Kind{
	Verb:  Twice,
	Forms: []string{"twice"},
	Does:  "the batch of a queue is delivered, its result is lost, and it is delivered again, as at-least-once delivery allows",
	Draws: []string{"twice"}, Weight: 1,
	Takes: oneOf(""),
	Happens: func(_ string, at killpoint.Point) bool {
		return at.Kind == killpoint.Queue && at.Side == killpoint.Before
	},
	Where:       "write twice with queue:before: all other messages arrive at most once, but for alarms, which kill and crash at their commits deliver twice",
	EndsObjects: never,
	Do: func(_ Machine, _ string, _ killpoint.Point, done func(error)) error {
		return detour(done, func(message killpoint.Message) {
			message.Again()
			done(nil)
		})
	},
}

// healing is how long a partition lasts that does not say it.
const healing = 10 * time.Second

var partition = Kind{
	Verb:  Partition,
	Forms: []string{"partition(A|B)", "partition(A|B,10s)"},
	Does:  "for this time (10 s) all calls between A and B, and their results, are lost with their connections. A side is a class, an object, `worker`, or `*`",
	Takes: func(arg string) bool {
		_, _, _, err := sides(arg)
		return err == nil
	},
	Happens: anywhere, EndsObjects: never,
	Stand: func(m Machine, arg string, done func(error)) func(killpoint.Point) error {
		a, b, d, err := sides(arg)
		if err != nil {
			done(err)
			return func(killpoint.Point) error { return nil }
		}
		var healed atomic.Bool
		m.Later(d, func() { healed.Store(true) })
		done(nil)
		return func(at killpoint.Point) error {
			between := at.Kind == killpoint.RPC && at.Side == killpoint.Before &&
				(isSide(a, at.Object) && isSide(b, at.To) || isSide(b, at.Object) && isSide(a, at.To))
			if !between || healed.Load() {
				return nil
			}
			return &killpoint.Detour{Take: func(message killpoint.Message) { message.Lose(netx.ErrLost) }}
		}
	},
}

// sides reads the argument of a partition.
func sides(arg string) (a, b string, d time.Duration, err error) {
	names, text, timed := strings.Cut(arg, ",")
	if d = healing; timed {
		d, err = time.ParseDuration(text)
	}
	a, b, two := strings.Cut(names, "|")
	if err == nil && (!two || a == "" || b == "" || d <= 0) {
		err = errors.New("write partition(A|B) or partition(A|B,10s)")
	}
	return a, b, d, err
}

// isSide reports whether the object with that label, "" for a worker, is on a side.
func isSide(side, label string) bool {
	class, _, _ := strings.Cut(label, "/")
	return side == "*" || side == label || side == class && label != "" || side == "worker" && label == ""
}

// detour has a message take another way. done is told where its point is one of no message.
func detour(done func(error), take func(killpoint.Message)) error {
	return &killpoint.Detour{Take: take, None: func() {
		done(&pool.RefusedError{Reason: "what passes this point is no message that can take another way: an answer to a client outside, or with real processes one of another server"})
	}}
}

// isMessage reports whether a message leaves at a point that can take another way.
func isMessage(at killpoint.Point) bool {
	switch at.Kind {
	case killpoint.RPC, killpoint.Alarm, killpoint.Queue:
		return at.Side == killpoint.Before
	case killpoint.Response:
		return at.Side == killpoint.Before && at.Object != ""
	case killpoint.Fetch:
		return at.Side == killpoint.After
	}
	return false
}

// isFrame reports whether a frame is sent to a client at a point.
func isFrame(at killpoint.Point) bool {
	return at.Kind == killpoint.Frame && at.Side == killpoint.Before && at.Object != ""
}

// CutsSocket reports whether a client loses its socket by the fault, and the object does not
// lose its memory.
func (f Fault) CutsSocket() bool {
	at, err := killpoint.ParseLabel(f.Point)
	return f.Verb == Drop && err == nil && isFrame(at)
}

// DelaysFrame reports whether a frame comes later by the fault, and nothing else happens.
func (f Fault) DelaysFrame() bool {
	at, err := killpoint.ParseLabel(f.Point)
	return f.Verb == Delay && err == nil && isFrame(at)
}

// Held is for how long the plan's delays hold messages up in all: what waits for them is
// to be as much more patient.
func (p Plan) Held() (sum time.Duration) {
	for _, f := range p {
		if d, err := time.ParseDuration(f.Arg); f.Verb == Delay && err == nil {
			sum += d
		}
	}
	return sum
}
