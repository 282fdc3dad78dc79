// Package webidltest is an isolate for the tests of one part of the platform:
// the realm, and what the test installs in it.
package webidltest

import (
	"strings"
	"testing"
	"time"

	"minido.dev/minido/runtime/ecma"
	"minido.dev/minido/runtime/ecma/buffers"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// World is an isolate on a seeded scheduler and a virtual clock, with a global
// function say(text). Loop-confined.
type World struct {
	T       testing.TB
	Sched   *sched.Seeded
	Realm   *webidl.Realm
	Context *engine.Context
	Out     []string             // what the script said
	Logs    []string             // what the engine logged
	Off     map[compat.Flag]bool // compatibility flags that are off
}

// New makes a world. install defines the globals that the test needs; it may
// be nil, and it may set Realm.Clone, which is that of plain values otherwise.
func New(t testing.TB, install func(*webidl.Realm)) *World {
	return NewWith(t, func(e *engine.Engine, enabled func(compat.Flag) bool) *webidl.Realm {
		r := webidl.New(e, webidl.Options{Compat: enabled})
		r.Clone = clone.New(r.VM, clone.Config{Registry: r.Hosts, Resizable: buffers.Runtime{Engine: e}, Shared: buffers.Runtime{Engine: e}})
		if install != nil {
			install(r)
		}
		return r
	})
}

// NewWith makes a world whose realm define makes; enabled tells of a
// compatibility flag that it is not Off.
func NewWith(t testing.TB, define func(e *engine.Engine, enabled func(compat.Flag) bool) *webidl.Realm) *World {
	w := &World{T: t, Off: map[compat.Flag]bool{}}
	w.Sched = sched.NewSeeded(clock.NewVirtual(time.Unix(1000, 0)), entropy.NewSeeded(1))
	e := ecma.New(engine.Options{Name: "test", Scheduler: w.Sched, Entropy: entropy.NewSeeded(1),
		Logger: func(_ engine.Level, _ *engine.Context, text string) { w.Logs = append(w.Logs, text) }})
	w.Realm = define(e, func(flag compat.Flag) bool { return !w.Off[flag] })
	e.Global("say", e.Func("say", 1, func(c goja.FunctionCall) goja.Value {
		w.Out = append(w.Out, c.Argument(0).String())
		return goja.Undefined()
	}))
	w.Context = e.NewContext(engine.RequestContext, "")
	return w
}

// Run runs source as the body of an async function in a turn of the context,
// until the world has nothing left to do.
func (w *World) Run(source string) {
	w.T.Helper()
	w.Turn(func() {
		if _, err := w.Realm.VM.RunString("(async () => {" + source + "\n})().catch(e => say('THROWN ' + (e && e.stack || e)))"); err != nil {
			w.Realm.Engine.Rethrow(err)
		}
	})
}

// Turn runs fn in a turn of the context, then everything that follows from it.
func (w *World) Turn(fn func()) {
	w.Realm.Engine.Post(w.Context.Frame(), "test", fn)
	for w.Sched.Step() {
	}
	if err := w.Realm.Engine.Health.CondemnedBy(); err != nil {
		w.T.Fatal(err)
	}
}

// Said checks what the script said, one line each, and forgets it.
func (w *World) Said(want ...string) {
	w.T.Helper()
	got := w.Out
	w.Out = nil
	for i := 0; i < len(want) || i < len(got); i++ {
		g, x := "(nothing)", "(nothing)"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			x = want[i]
		}
		if g != x {
			w.T.Errorf("line %d: said %q, want %q", i+1, g, x)
		}
	}
	w.quiet()
}

// Tries runs each expression and compares its value, or the error it throws.
func (w *World) Tries(cases [][2]string) {
	w.T.Helper()
	for _, c := range cases {
		w.Run("try { const v = await (async () => (" + c[0] + "))(); say(typeof v === 'string' ? v : JSON.stringify(v) ?? String(v)) } catch (e) { say(e.name + ': ' + e.message) }")
		got := strings.Join(w.Out, "|")
		w.Out = nil
		if got != c[1] {
			w.T.Errorf("%s\n gave %s\n want %s", c[0], got, c[1])
		}
	}
	w.quiet()
}

// quiet fails for what was logged, and forgets it.
func (w *World) quiet() {
	w.T.Helper()
	if len(w.Logs) > 0 {
		w.T.Errorf("logged: %s", strings.Join(w.Logs, "\n"))
		w.Logs = nil
	}
}
