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
	run := func(source string) {
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
