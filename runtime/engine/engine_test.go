package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
)

// world is an engine on a seeded scheduler: a test drives it step by step.
type world struct {
	t     testing.TB
	sched *sched.Seeded
	clock *clock.Virtual
	e     *Engine
	logs  []string
	out   []string
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, clock: clock.NewVirtual(time.Unix(1000, 0))}
	w.sched = sched.NewSeeded(w.clock, entropy.NewSeeded(1))
	w.e = New(Options{Name: "test", Scheduler: w.sched, Entropy: entropy.NewSeeded(1),
		Logger: func(l Level, c *Context, text string) { w.logs = append(w.logs, text) }})
	vm := w.e.VM()
	w.e.Global("say", w.e.Func("say", 1, func(c goja.FunctionCall) goja.Value {
		w.out = append(w.out, c.Argument(0).String())
		return goja.Undefined()
	}))
	w.e.Global("setTimeout", w.e.Func("setTimeout", 2, func(c goja.FunctionCall) goja.Value {
		fn := c.Argument(0)
		return vm.ToValue(w.e.Timers.Set(Milliseconds(c.Argument(1).ToFloat()), false, func() { w.e.Call(fn, goja.Undefined()) }))
	}))
	w.e.Global("op", w.e.Func("op", 1, func(c goja.FunctionCall) goja.Value {
		v := c.Argument(0)
		op := w.e.StartOp("op")
		p := op.Promise()
		op.Resolve("op", func() goja.Value { return v })
		return p
	}))
	return w
}

// script runs source as one turn of context c.
func (w *world) script(c *Context, source string) {
	f := GlobalFrame
	if c != nil {
		f = c.Frame()
	}
	w.e.Post(f, "test", func() {
		if _, err := w.e.VM().RunString(source); err != nil {
			w.e.Rethrow(err)
		}
	})
	w.run()
}

func (w *world) run() {
	for w.sched.Step() {
	}
}

func (w *world) said(want ...string) {
	w.t.Helper()
	if fmt.Sprint(w.out) != fmt.Sprint(want) {
		w.t.Fatalf("said %q, want %q (log %q)", w.out, want, w.logs)
	}
	w.out = nil
}

// Microtasks drain before the turn ends; timers fire by deadline, then in the
// order in which they were set; Date stands still within a turn.
func TestTurnsAndTimers(t *testing.T) {
	w := newWorld(t)
	c := w.e.NewContext(RequestContext, "")
	w.script(c, `
		setTimeout(() => say("10b"), 10); setTimeout(() => say("0"), 0); setTimeout(() => say("10c"), 10);
		Promise.resolve().then(() => say("micro"));
		op("io").then(say);
		say("sync");
		const t0 = Date.now(); for (let i = 0; i < 1e4; i++); say(Date.now() - t0);
		setTimeout(() => say(Date.now() - t0), 1800000);
	`)
	w.said("sync", "0", "micro", "io", "0", "10b", "10c", "1800000")
}

// A clock that is set moves no timer: neither one that waits, nor one that is set
// afterwards and due before it.
func TestTimersAndAClockThatIsSet(t *testing.T) {
	w := newWorld(t)
	set := &clock.Shifted{Clock: w.e.clock}
	w.e.clock = set
	w.e.Global("jump", w.e.Func("jump", 0, func(goja.FunctionCall) goja.Value {
		set.Jump(10 * time.Minute)
		return goja.Undefined()
	}))
	w.script(w.e.NewContext(RequestContext, ""), `
		const began = Date.now(), passed = () => Date.now() - began;
		setTimeout(() => say("before " + passed()), 1000);
		setTimeout(() => { jump(); setTimeout(() => say("after " + passed()), 60) }, 100);`)
	w.said("after 600160", "before 601000")
}

// An interrupted turn condemns the isolate and names the place.
func TestCondemned(t *testing.T) {
	// The loop runs on this goroutine, so the clock moves from another.
	c := clock.NewVirtual(time.Unix(0, 0))
	th := sched.NewThreads(c)
	done := make(chan error, 1)
	e := New(Options{Name: "x", Scheduler: th, Entropy: entropy.NewSeeded(1), Condemned: func(r error) { done <- r }})
	started := make(chan struct{})
	e.Post(GlobalFrame, "test", func() {
		close(started)
		_, err := e.VM().RunString("for(;;);")
		e.Rethrow(err)
	})
	<-started
	c.Advance(DefaultTurnLimit)
	if err := <-done; !strings.Contains(err.Error(), "CPU time limit") {
		t.Fatal(err)
	}
	if err := th.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// A rejection without a handler is logged with its stack; one that is handled
// later in the same turn is not.
func TestUnhandledRejections(t *testing.T) {
	w := newWorld(t)
	w.script(w.e.NewContext(RequestContext, ""), `
		const late = Promise.reject(new Error("late")); Promise.resolve().then(() => {}).then(() => late.catch(() => say("caught")));
		Promise.reject(new TypeError("lost"));`)
	w.said("caught")
	if len(w.logs) != 1 || !strings.Contains(w.logs[0], "Uncaught (in promise) TypeError: lost") {
		t.Fatalf("log: %q", w.logs)
	}
}

// A rejection that is told early, as it is at older dates, and handled in the same turn is
// an event and no log.
func TestRejectionsToldEarly(t *testing.T) {
	w := newWorld(t)
	w.e.Uncaught.SetHooks(Hooks{Promptly: true, UnhandledRejection: func(_ *goja.Object, reason goja.Value) bool {
		w.out = append(w.out, "unhandled "+reason.String())
		return false
	}, RejectionHandled: func(*goja.Object, goja.Value) { w.out = append(w.out, "handled") }})
	w.script(w.e.NewContext(RequestContext, ""), `
		const ticks = async (n) => { for (let i = 0; i < n; i++) await null; };
		const late = Promise.reject("late"); ticks(10).then(() => late.catch(() => say("caught")));
		Promise.reject("lost");`)
	w.said("unhandled late", "unhandled lost", "handled", "caught")
	if len(w.logs) != 1 || !strings.Contains(w.logs[0], "Uncaught (in promise) lost") {
		t.Fatalf("log: %q", w.logs)
	}
}

// Of an exception with megabytes of text the log has the beginning, and the places at the end.
func TestLongException(t *testing.T) {
	w := newWorld(t)
	w.script(w.e.NewContext(RequestContext, ""), `function thrower() { return new Error("é".repeat(1e6)); } Promise.reject(thrower());`)
	if len(w.logs) != 1 || len(w.logs[0]) > maxLogged+100 || !utf8.ValidString(w.logs[0]) ||
		!strings.HasPrefix(w.logs[0], "Uncaught (in promise) Error: éé") || !strings.Contains(w.logs[0], "bytes left out") || !strings.Contains(w.logs[0], "thrower") {
		t.Fatalf("%d logs, the first of %d bytes, ends with %q", len(w.logs), len(w.logs[0]), w.logs[0][max(0, len(w.logs[0])-200):])
	}
}

// The log names an error by the name and the message that it has by now, above the
// calls of its stack, whatever else code has written there; as wrangler's does.
func TestChangedErrorsAreLogged(t *testing.T) {
	for source, want := range map[string]string{
		`const e = new Error("m"); e.stack; e.message = "changed"; return e`:               "Uncaught (in promise) Error: changed\n    at ",
		`const e = new Error("m"); e.stack; e.name = "Later"; return e`:                    "Uncaught (in promise) Later: m\n    at ",
		`return Object.assign(new Error("m"), { stack: "custom" })`:                        "Uncaught (in promise) Error: m",
		`return Object.assign(new TypeError("m"), { stack: "Oops\n    at f (x.js:1:2)" })`: "Uncaught (in promise) TypeError: m\n    at f (x.js:1:2)",
	} {
		w := newWorld(t)
		w.script(w.e.NewContext(RequestContext, ""), "Promise.reject((() => { "+source+" })())")
		if len(w.logs) != 1 || !strings.HasPrefix(w.logs[0], want) || !strings.HasSuffix(want, " ") && w.logs[0] != want {
			t.Errorf("%s: %q, want %q", source, w.logs, want)
		}
	}
}

// The log of an exception has the errors that caused it, as wrangler's has; a cycle ends.
// After the first rejection of a turn comes the last, as in workerd.
func TestCausesAreLogged(t *testing.T) {
	w := newWorld(t)
	w.script(w.e.NewContext(RequestContext, ""), `Promise.reject(new Error("a", { cause: new TypeError("b", { cause: "text" }) }));
		const e = new Error("c"); e.cause = e; Promise.reject(e);
		Promise.reject(Object.defineProperty(new Error("d"), "cause", { get() { throw 1 } }));`)
	if len(w.logs) != 3 || !strings.Contains(w.logs[0], "Error: a\n") || strings.Count(w.logs[0], "\nCaused by: ") != 2 || !strings.Contains(w.logs[0], "\nCaused by: TypeError: b\n") || !strings.HasSuffix(w.logs[0], "\nCaused by: Error: text") ||
		strings.Count(w.logs[2], "\nCaused by: Error: c\n") != maxCauses || strings.Contains(w.logs[1], "Caused") {
		t.Fatalf("%q", w.logs)
	}
	// Causes that are no errors: the lines are those of wrangler 4.
	for _, c := range [][2]string{{"{ code: 5 }", "Error: [object Object]"}, {`{ name: "N", message: "m" }`, "N: m"}, {"null", "Error: null"}, {"0", "Error: 0"}, {"[1, 2]", "Error: 1,2"}, {`""`, "Error"}, {"() => 1", "cause: () => 1"}} {
		w := newWorld(t)
		w.script(w.e.NewContext(RequestContext, ""), `Promise.reject(new Error("a", { cause: `+c[0]+` }));`)
		if len(w.logs) != 1 || !strings.HasSuffix(w.logs[0], "\nCaused by: "+c[1]) {
			t.Errorf("%s: %q", c[0], w.logs)
		}
	}
}

// I/O in the global scope is refused with workerd's text.
func TestGlobalScope(t *testing.T) {
	w := newWorld(t)
	w.script(nil, `try { setTimeout(() => {}, 1) } catch (e) { say(e.message.slice(0, 51)) }`)
	w.said("Disallowed operation called within global scope. As"[:51])
}

type testGate struct {
	c       *Context
	commits int
	fail    error
}

func (g *testGate) Admit(*Frame, func()) bool { return true }
func (g *testGate) Commit(string) bool {
	g.commits++
	if g.fail != nil {
		g.c.Kill(g.fail)
	}
	return true
}

// Outputs wait for the commit of their own context: a settles a promise that b
// awaits, b writes and sends, a dies; b's output survives, nothing of a's does.
func TestOutputsFollowTheirContext(t *testing.T) {
	w := newWorld(t)
	var sent []string
	a, b := w.e.NewContext(ObjectContext, "A"), w.e.NewContext(ObjectContext, "B")
	ga, gb := &testGate{c: a}, &testGate{c: b}
	a.Gate, b.Gate = ga, gb
	w.e.Global("write", w.e.Func("write", 0, func(goja.FunctionCall) goja.Value {
		w.e.IO("write").MarkDirty()
		return goja.Undefined()
	}))
	w.e.Global("send", w.e.Func("send", 1, func(c goja.FunctionCall) goja.Value {
		text := w.e.Current().Label + ":" + c.Argument(0).String()
		w.e.Current().Emit(func() { sent = append(sent, text) })
		return goja.Undefined()
	}))
	w.e.Global("abort", w.e.Func("abort", 0, func(goja.FunctionCall) goja.Value {
		w.e.Current().Kill(errors.New("aborted"))
		return goja.Undefined()
	}))
	w.script(b, `var settle; new Promise(r => settle = r).then(() => { write(); send("from b") })`)
	w.script(a, `write(); send("from a"); settle(); Promise.resolve().then(() => {}).then(() => abort())`)
	if fmt.Sprint(sent) != "[B:from b]" || ga.commits != 0 || gb.commits != 1 {
		t.Fatalf("sent %q, commits a %d b %d", sent, ga.commits, gb.commits)
	}
	gb.fail = errors.New("disk full")
	w.script(b, `write(); send("unseen")`)
	w.script(b, `send("never")`)
	if len(sent) != 1 {
		t.Fatalf("an output passed a failed commit: %q", sent)
	}
}

// A killed context's timers and operations do nothing any more.
func TestKillCancels(t *testing.T) {
	w := newWorld(t)
	c := w.e.NewContext(ObjectContext, "A")
	w.e.Post(c.Frame(), "test", func() {
		e := w.e
		e.VM().RunString(`setTimeout(() => say("timer"), 5); op(1).then(() => say("op"));`)
		if c.Timers() != 1 || len(c.Ops()) != 1 {
			t.Errorf("%d timers, %d ops", c.Timers(), len(c.Ops()))
		}
		c.Kill(errors.New("evicted"))
	})
	w.run()
	w.said()
}

// Frames carry AsyncLocalStorage values through await, then, timers and
// operations, and custom thenables run in the frame that awaited them.
func TestFrameLocals(t *testing.T) {
	w := newWorld(t)
	c := w.e.NewContext(RequestContext, "")
	key := new(int)
	w.e.Global("withLocal", w.e.Func("withLocal", 2, func(call goja.FunctionCall) goja.Value {
		fn := call.Argument(1)
		var v goja.Value
		w.e.In(w.e.Frame().WithLocal(key, call.Argument(0)), func() { v = w.e.Call(fn, goja.Undefined()) })
		return v
	}))
	w.e.Global("local", w.e.Func("local", 0, func(goja.FunctionCall) goja.Value {
		if v := w.e.Frame().Local(key); v != nil {
			return v
		}
		return w.e.VM().ToValue("none")
	}))
	w.script(c, `
		const thenable = { then(r) { say("thenable " + local()); r(1) } };
		async function f(n) { await 0; say(n + local()); await op(1); say(n + local()); await new Promise(r => setTimeout(r, n)); say(n + local()); await thenable; say(n + local()) }
		withLocal("x", () => f(1)); withLocal("y", () => f(2)); say(local());
	`)
	w.said("none", "1x", "2y", "1x", "2y", "1x", "thenable x", "1x", "2y", "thenable y", "2y")
}

// Classes written in Go can be subclassed and carry user properties; foreign
// receivers are refused.
func TestClass(t *testing.T) {
	w := newWorld(t)
	type counter struct{ n int64 }
	cls := DefineClass(w.e, ClassDef[*counter]{
		Name: "Counter", Length: 1,
		New: func(call goja.ConstructorCall) *counter { return &counter{call.Argument(0).ToInteger()} },
		Methods: []Method[*counter]{{Name: "add", Length: 1, Fn: func(c *counter, call goja.FunctionCall) goja.Value {
			c.n += call.Argument(0).ToInteger()
			return call.This
		}}},
		Accessors: []Accessor[*counter]{{Name: "value", Get: func(c *counter, _ *goja.Object) goja.Value { return w.e.VM().ToValue(c.n) }}},
	})
	w.e.Global("Counter", cls.Ctor)
	w.e.Lazies.Global("lazy", func() goja.Value { w.out = append(w.out, "made"); return w.e.VM().ToValue(42) })
	w.script(nil, `
		class Sub extends Counter { #p = 7; constructor() { super(5); this.extra = 1 } get p() { return this.#p } }
		const s = new Sub(); s.add(2).add(3);
		say([s.value, s.p, s.extra, s instanceof Counter, Counter.name, Counter.length, Object.keys(s), String(s)].join());
		try { Counter.prototype.add.call({}, 1) } catch (e) { say(e.name + e.message) }
		say(typeof lazy); say(lazy + lazy);
	`)
	w.said("10,7,1,true,Counter,1,extra,[object Counter]", "TypeError"+IllegalInvocation, "made", "number", "84")
}

func BenchmarkTurn(b *testing.B) {
	th := sched.NewThreads(clock.Real{})
	e := New(Options{Name: "bench", Scheduler: th, Entropy: entropy.System{}})
	c := e.NewContext(RequestContext, "")
	done := make(chan struct{})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e.Post(c.Frame(), "bench", func() { done <- struct{}{} })
		<-done
	}
	th.Close(context.Background())
}

// A limit that is meant for V8 leaves an interpreter time for the same work; no limit stays none.
func TestTurnLimitFor(t *testing.T) {
	for limit, want := range map[time.Duration]time.Duration{ // order-independent: each by itself
		0: 0, 10 * time.Millisecond: time.Second, 50 * time.Millisecond: 5 * time.Second, time.Second: DefaultTurnLimit, 5 * time.Minute: 5 * time.Minute,
	} {
		if got := TurnLimitFor(limit); got != want {
			t.Errorf("for %v: %v, want %v", limit, got, want)
		}
	}
}
