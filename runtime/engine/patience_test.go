package engine

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
)

// A turn that computes for too long fails with an error where it computes, in functions,
// callbacks of natives, generators and microtasks; the isolate stays well. Code that
// catches it goes on, until the limit ends it.
func TestPatience(t *testing.T) {
	th := sched.NewThreads(clock.Real{})
	var ended error
	e := New(Options{Name: "x", Scheduler: th, Entropy: entropy.NewSeeded(1), Condemned: func(r error) { ended = r }, TurnLimit: 10 * time.Second,
		Patience: &Patience{After: 100 * time.Millisecond, Text: func() string { return "too long" }}})
	var said []string
	e.Global("say", e.Func("say", 1, func(c goja.FunctionCall) goja.Value {
		said = append(said, c.Argument(0).String())
		return goja.Undefined()
	}))
	run := func(source string) { runSource(t, e, source) }
	for _, source := range []string{
		`for (;;);`,
		`let n = 0; while (true) n = [1, 2, 3].map((x) => x + n).length;`,
		`[1].forEach(() => { for (;;); });`,
		`[1, 2].sort(() => { for (;;); });`,
		`for (const x of (function* () { for (;;); })()) say(x);`,
		`new Proxy({}, { get() { for (;;); } }).x;`,
		`const f = (n) => { for (;;) JSON.parse("[1]"); }; f();`,
	} {
		for _, shape := range []string{
			`try { ` + source + ` } catch (e) { say(e.message); } finally { say("finally"); }`,
			`Promise.resolve().then(() => { ` + source + ` }).catch((e) => say(e.message)).finally(() => say("finally"));`,
			`(async () => { await null; ` + source + ` })().catch((e) => say(e.message)).finally(() => say("finally"));`,
		} {
			said = nil
			run(shape)
			if ended != nil || !slices.Equal(said, []string{"too long", "finally"}) {
				t.Fatalf("%s: said %q, condemned by %v", shape, said, ended)
			}
		}
	}
	said = nil
	run(`let n = 0; while (n < 3) try { for (;;); } catch (e) { n++; say(e.message); }`)
	if ended != nil || len(said) != 3 {
		t.Errorf("said %q, condemned by %v", said, ended)
	}
	e.Watchdog.limit = 500 * time.Millisecond // no turn runs
	run(`for (;;) try { for (;;); } catch {}`)
	var limit *LimitError
	if !errors.As(ended, &limit) || limit.Resource != CPUTime {
		t.Errorf("condemned by %v", ended)
	}
	if err := th.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// runSource runs a function's body in a turn.
func runSource(t *testing.T, e *Engine, source string) {
	t.Helper()
	done := make(chan struct{})
	program := instrumented(t, "(function () { \"use strict\"; "+source+" })()")
	if err := e.Post(e.NewContext(RequestContext, "").Frame(), "fetch", func() {
		if _, err := e.VM().RunProgram(program); err != nil {
			e.Rethrow(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := e.PostLoop(func() { close(done) }); err != nil {
		t.Fatal(err)
	}
	<-done
}

// Whenever a turn's patience ends the error is thrown, also while a stack is captured for
// another reason.
func TestPatienceEndsAtAnyTime(t *testing.T) {
	th := sched.NewThreads(clock.Real{})
	var ended error
	e := New(Options{Name: "x", Scheduler: th, Entropy: entropy.NewSeeded(1), Condemned: func(r error) { ended = r }, TurnLimit: time.Minute,
		Patience: &Patience{After: time.Minute, Text: func() string { return "too long" }}})
	asked, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for range asked {
			e.Watchdog.fail()
		}
	}()
	e.Global("ask", e.Func("ask", 0, func(goja.FunctionCall) goja.Value {
		asked <- struct{}{}
		return goja.Undefined()
	}))
	var thrown int64
	e.Global("thrown", e.Func("thrown", 1, func(c goja.FunctionCall) goja.Value {
		thrown = c.Argument(0).ToInteger()
		return goja.Undefined()
	}))
	runSource(t, e, `let n = 0; while (n < 3000) try { ask(); for (;;) new Error("x"); } catch (e) { if (e.message === "too long") n++; } thrown(n);`)
	close(asked)
	<-stopped
	if ended != nil || thrown != 3000 {
		t.Errorf("%d thrown, condemned by %v", thrown, ended)
	}
	if err := th.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}
