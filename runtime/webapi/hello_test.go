package webapi_test

import (
	"context"
	"testing"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/ecma"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi"
)

// A hello worker, on real threads: event in, Request, handler, Response, event out.
func BenchmarkHello(b *testing.B) {
	th := sched.NewThreads(clock.Real{})
	e := ecma.New(engine.Options{Name: "bench", Scheduler: th, Entropy: entropy.System{}})
	p := webapi.Install(e, webapi.Options{})
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
