package webapi_test

import (
	"fmt"
	"strings"
	"testing"

	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/webapitest"
)

// events answers requests with these streams, one after the other, then 204.
func events(w *webapitest.World, streams ...string) (requests *[]*event.Request) {
	requests = new([]*event.Request)
	w.Net = func(req *event.Request, done func(*event.Response, error)) func(error) {
		*requests = append(*requests, req)
		if len(*requests) > len(streams) {
			done(&event.Response{Status: 204, Header: event.Header{{Name: "Content-Type", Value: "text/event-stream"}}}, nil)
			return func(error) {}
		}
		done(&event.Response{Status: 200, URL: req.URL, Header: event.Header{{Name: "Content-Type", Value: "text/event-stream; charset=utf-8"}},
			Body: event.Bytes([]byte(streams[len(*requests)-1]))}, nil)
		return func(error) {}
	}
	return requests
}

const listen = `
	const log = (ev) => say([ev.type, ev.data, ev.lastEventId, ev.origin, es.readyState, ev instanceof MessageEvent, ev.isTrusted].join());
	for (const type of ["open", "message", "x"]) es.addEventListener(type, log);
	es.onerror = (ev) => say("error " + ev.error.message + " " + es.readyState);
`

// As workerd: connecting, the events of a chunk in one turn, reconnection with the last
// event ID, after no less than a second, and the end: the second response without a body.
func TestEventSource(t *testing.T) {
	w := webapitest.New(t)
	requests := events(w, "retry: 50\nid: é1\ndata: a\n\nevent: x\ndata: b\n\nid: 2\ndata:\n\n", "data: c\n\nid: 3\ndata: not complete")
	w.Run(`const es = new EventSource("http://a.test/b/../c?d#e"); say(es.url + " " + es.readyState + " " + es.withCredentials); const began = performance.now();` + listen +
		`es.addEventListener("message", (ev) => queueMicrotask(() => say("microtask of " + ev.data))); es.addEventListener("error", () => say(Math.round(performance.now() - began) / 1000 + " s"));`)
	w.Said("http://a.test/c?d#e 0 false",
		"open,,,,1,false,true", "message,a,é1,http://a.test,1,true,true", "x,b,é1,http://a.test,1,true,true", "microtask of a", "error The server disconnected. 0", "0 s",
		"open,,,,1,false,true", "message,c,2,http://a.test,1,true,true", "microtask of c", "error The server disconnected. 0", "1 s",
		"error The server provided no content. Will try reconnecting. 0", "2 s", "error The server provided no content. 2", "3 s")
	for i, want := range []string{"text/event-stream,no-cache,", "text/event-stream,no-cache,2", "text/event-stream,no-cache,3", "text/event-stream,no-cache,3"} {
		h := (*requests)[i].Header
		if got := h.Get("accept") + "," + h.Get("cache-control") + "," + h.Get("last-event-id"); got != want {
			t.Errorf("request %d: %s, want %s", i+1, got, want)
		}
	}
	if len(*requests) != 4 {
		t.Errorf("%d requests", len(*requests))
	}
}

// What ends an EventSource for good, and what it refuses.
func TestEventSourceEnds(t *testing.T) {
	w := webapitest.New(t)
	requests := events(w, "data: a\n\ndata: b\n\n")
	w.Run(`const es = new EventSource("http://a.test/");` + listen + `es.onmessage = () => es.close();`)
	w.Said("open,,,,1,false,true", "message,a,,http://a.test,1,true,true", "message,b,,http://a.test,2,true,true") // b was there already
	if len(*requests) != 1 {
		t.Errorf("%d requests after close()", len(*requests))
	}

	w.Net = func(_ *event.Request, done func(*event.Response, error)) func(error) {
		done(&event.Response{Status: 200, Header: event.Header{{Name: "Content-Type", Value: "text/plain"}}, Body: event.Bytes([]byte("data: a\n\n"))}, nil)
		return func(error) {}
	}
	w.Run(`const es = new EventSource("http://a.test/");` + listen)
	w.Said("error The content type 'text/plain' is invalid. 2")

	tries := 0
	w.Net = func(_ *event.Request, done func(*event.Response, error)) func(error) {
		tries++
		done(nil, &event.Error{Name: "Error", Message: fmt.Sprint("unreachable ", tries)})
		return func(error) {}
	}
	w.Run(`const es = new EventSource("http://a.test/");` + listen)
	w.Said("error unreachable 1 2")
	if tries != 1 {
		t.Errorf("%d tries", tries)
	}

	events(w, "data: a\n\ndata: b\n\n")
	w.Run(`const es = new EventSource("http://a.test/");` + listen + `es.onmessage = (ev) => { throw new Error("thrown at " + ev.data); };`)
	if got := strings.Join(w.Logs, ";"); !strings.HasPrefix(got, "Uncaught Error: thrown at a") || len(w.Logs) != 1 {
		t.Errorf("logged %q", w.Logs)
	}
	w.Logs = nil
	w.Said("open,,,,1,false,true", "message,a,,http://a.test,1,true,true", "error thrown at a 2")

	w.Net = func(req *event.Request, done func(*event.Response, error)) func(error) {
		if req.URL == "http://a.test/" {
			done(&event.Response{Status: 302, Header: event.Header{{Name: "Location", Value: "http://b.test/c"}}}, nil)
		} else {
			done(&event.Response{Status: 201, Header: event.Header{{Name: "Content-Type", Value: "text/event-stream"}}, Body: event.Bytes([]byte("data: a\n\n"))}, nil)
		}
		return func(error) {}
	}
	w.Run(`const es = new EventSource("http://a.test/");` + listen + `es.addEventListener("message", () => { say(es.url); es.close(); });`)
	w.Said("open,,,,1,false,true", "message,a,,http://b.test,1,true,true", "http://b.test/c")

	w.Tries([][2]string{
		{`new EventSource("nonsense")`, "SyntaxError: Cannot open an EventSource to 'nonsense'. The URL is invalid."},
		{`new EventSource("http://a.test", { withCredentials: true })`, "NotSupportedError: The init.withCredentials option is not supported. It must be false or undefined."},
		{`new EventSource()`, "TypeError: Failed to construct 'EventSource': constructor parameter 1 is not of type 'string'."},
		{`[EventSource.CONNECTING, EventSource.OPEN, EventSource.prototype.CLOSED, EventSource.length]`, "[0,1,2,0]"},
		{`(() => { const r = new ReadableStream(); r.getReader(); return EventSource.from(r) })()`, "TypeError: This ReadableStream is locked."},
		{`EventSource.from({})`, "TypeError: Failed to execute 'from' on 'EventSource': parameter 1 is not of type 'ReadableStream'."},
	})
}

// EventSource.from(stream) reads a stream of bytes, once; a fetcher is asked
// in place of the global fetch.
func TestEventSourceFrom(t *testing.T) {
	w := webapitest.New(t)
	w.Run(`let c; const es = EventSource.from(new ReadableStream({ type: "bytes", start(x) { c = x }, cancel(r) { say("cancelled " + r.name) } })); say(JSON.stringify(es.url) + es.readyState);` + listen + `
		c.enqueue(new TextEncoder().encode("id: 4\nda")); await scheduler.wait(1);
		c.enqueue(new TextEncoder().encode("ta: a\n\ndata: b\n\n")); await scheduler.wait(1);
		es[Symbol.dispose](); es.close(); say(es.readyState)`)
	w.Said(`""1`, "message,a,4,,1,true,true", "message,b,4,,1,true,true", "cancelled AbortError", "2")
	w.Run(`const es = EventSource.from(new Response("data: a\n\n").body);` + listen)
	w.Said("message,a,,,1,true,true", "error The server disconnected. 2")
	w.Run(`const es = new EventSource("http://a.test/", { fetcher: { fetch: async (url, init) => { say(url + init.headers.accept); return Response.json({}) } } });` + listen)
	w.Said("http://a.test/text/event-stream", "error The content type 'application/json' is invalid. 2")
}
