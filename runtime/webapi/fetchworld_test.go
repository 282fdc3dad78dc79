package webapi

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/runtime/ecma"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

// fetchWorld is an isolate on a seeded scheduler, with a network that the test
// answers for.
type fetchWorld struct {
	t     testing.TB
	sched *sched.Seeded
	p     *Platform
	c     *engine.Context
	out   []string
	logs  []string
	net   func(req *event.Request, done func(*event.Response, error)) func(error)
	flags map[compat.Flag]bool // compatibility flags that are off
}

func newFetchWorld(t testing.TB) *fetchWorld {
	w := &fetchWorld{t: t, flags: map[compat.Flag]bool{}}
	w.sched = sched.NewSeeded(clock.NewVirtual(time.Unix(1000, 0)), entropy.NewSeeded(1))
	e := ecma.New(engine.Options{Name: "test", Scheduler: w.sched, Entropy: entropy.NewSeeded(1),
		Logger: func(l engine.Level, c *engine.Context, text string) { w.logs = append(w.logs, text) }})
	w.p = Install(e, Options{
		Fetch: func(req *event.Request, done func(*event.Response, error)) func(error) {
			if w.net == nil {
				done(nil, errors.New("no network"))
				return func(error) {}
			}
			return w.net(req, done)
		},
		Compat: func(flag compat.Flag) bool { return !w.flags[flag] },
	})
	e.Global("say", e.Func("say", 1, func(c goja.FunctionCall) goja.Value {
		w.out = append(w.out, c.Argument(0).String())
		return goja.Undefined()
	}))
	w.c = e.NewContext(engine.RequestContext, "")
	return w
}

// run runs source as the body of an async function in a turn of the context,
// until the world has nothing left to do.
func (w *fetchWorld) run(source string) {
	w.t.Helper()
	w.turn(func() {
		if _, err := w.p.VM.RunString("(async () => {" + source + "\n})().catch(e => say('THROWN ' + (e && e.stack || e)))"); err != nil {
			w.p.Engine.Rethrow(err)
		}
	})
}

func (w *fetchWorld) turn(fn func()) {
	w.p.Engine.Post(w.c.Frame(), "test", fn)
	for w.sched.Step() {
	}
	if err := w.p.Engine.Health.CondemnedBy(); err != nil {
		w.t.Fatal(err)
	}
}

// said checks what the script said, one line each, and forgets it.
func (w *fetchWorld) said(want ...string) {
	w.t.Helper()
	got := w.out
	w.out = nil
	for i := 0; i < len(want) || i < len(got); i++ {
		g, x := "(nothing)", "(nothing)"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			x = want[i]
		}
		if g != x {
			w.t.Errorf("line %d: said %q, want %q", i+1, g, x)
		}
	}
	if len(w.logs) > 0 {
		w.t.Errorf("logged: %s", strings.Join(w.logs, "\n"))
		w.logs = nil
	}
}

// tries runs each expression and says its value, or the error it throws.
func (w *fetchWorld) tries(cases [][2]string) {
	w.t.Helper()
	for _, c := range cases {
		w.run("try { const v = await (async () => (" + c[0] + "))(); say(typeof v === 'string' ? v : JSON.stringify(v) ?? String(v)) } catch (e) { say(e.name + ': ' + e.message) }")
		got := strings.Join(w.out, "|")
		w.out = nil
		if got != c[1] {
			w.t.Errorf("%s\n gave %s\n want %s", c[0], got, c[1])
		}
	}
	if len(w.logs) > 0 {
		w.t.Errorf("logged: %s", strings.Join(w.logs, "\n"))
		w.logs = nil
	}
}

// A hello worker, on real threads: event in, Request, handler, Response, event out.
func BenchmarkHello(b *testing.B) {
	th := sched.NewThreads(clock.Real{})
	e := ecma.New(engine.Options{Name: "bench", Scheduler: th, Entropy: entropy.System{}})
	p := Install(e, Options{})
	var handler goja.Value
	done := make(chan *event.Response)
	e.Post(engine.GlobalFrame, "load", func() {
		handler, _ = p.VM.RunString(`(async function fetch(request, env, ctx) { return new Response("hello") })`)
		done <- nil
	})
	<-done
	req := &event.Request{Method: "GET", URL: "http://localhost/", Header: event.Header{{Name: "Host", Value: "localhost"}, {Name: "Accept", Value: "*/*"}}}
	b.ReportAllocs()
	for b.Loop() {
		c := e.NewContext(engine.RequestContext, "")
		e.Post(c.Frame(), "fetch", func() {
			v := e.Call(handler, goja.Undefined(), p.Fetch.RequestFromEvent(req))
			e.Await(v, func(v goja.Value) {
				ev, err := p.Fetch.ResponseToEvent(v, nil)
				if err != nil {
					b.Error(err)
				}
				done <- ev
			}, nil)
		})
		if ev := <-done; ev.Status != 200 {
			b.Fatal(ev.Status)
		}
	}
	th.Close(context.Background())
}
