package events_test

import (
	"errors"
	"testing"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/webapitest"
)

// The signal of an incoming request aborts when its client has gone; it is that of
// copies, too (workerd: enable_request_signal); a subrequest ends with it
// only under request_signal_passthrough.
func TestRequestSignal(t *testing.T) {
	w := webapitest.New(t)
	var incoming *goja.Object
	arrive := func() {
		w.Turn(func() {
			incoming = w.Platform.Fetch.RequestFromEvent(&event.Request{Method: "GET", URL: "http://x/"})
			w.Platform.VM.Set("request", incoming)
		})
	}
	leave := func() {
		w.Turn(func() { w.Platform.Fetch.ClientGone(incoming); w.Platform.Fetch.ClientGone(incoming) })
	}
	arrive()
	w.Run(`globalThis.seen = request; const copies = { c: request.clone(), n: new Request(request), i: new Request("http://y", request), none: new Request(request, { signal: null }) };
		say([request.signal === seen.signal, request.signal.aborted, copies.c.signal === request.signal].join());
		for (const [k, r] of Object.entries({ request, ...copies })) r.signal.addEventListener("abort", (e) => say(k + " " + r.signal.reason.name + " " + r.signal.reason.message + " " + e.isTrusted))`)
	leave()
	const reason = " AbortError The client has disconnected true"
	w.Said("true,false,true", "request"+reason, "c"+reason, "n"+reason, "i"+reason)
	arrive()
	leave()
	w.Run(`say(request.signal.aborted + " " + request.clone().signal.aborted + " " + request.signal.reason.message)`)
	w.Said("true true The client has disconnected")

	w.Net = func(_ *event.Request, done func(*event.Response, error)) func(error) {
		return func(reason error) { w.Out = append(w.Out, "cancelled: "+reason.Error()) }
	}
	const send = `fetch(request).catch(e => say(e.message)); 0`
	arrive()
	w.Run(send)
	leave()
	w.Said("cancelled: AbortError: The client has disconnected", "The client has disconnected")
	w.Off[compat.RequestSignalPassthrough] = true
	arrive()
	w.Run(send)
	leave()
	w.Said()
	w.Off[compat.EnableRequestSignal] = true
	arrive()
	w.Run(`request.signal.onabort = () => say("aborted")`)
	leave()
	w.Said()
}

// As in workerd, the signal of a Request is the one that it was given.
func TestSignalsOfRequests(t *testing.T) {
	w := webapitest.New(t)
	w.Net = func(_ *event.Request, done func(*event.Response, error)) func(error) {
		done(nil, errors.New("unreachable"))
		return func(error) {}
	}
	w.Tries([][2]string{
		{`(() => { const c = new AbortController(), r = new Request("http://x", { signal: c.signal }); const l = [r.signal === c.signal, r.signal === r.signal]; c.abort("why"); return [...l, r.signal.aborted, r.signal.reason] })()`, `[true,true,true,"why"]`},
		{`(() => { const c = new AbortController(), r = new Request(new Request("http://x", { signal: c.signal }), { method: "POST" }).clone(); c.abort("why"); return r.signal.reason })()`, "why"},
		{`new Request("http://x", { signal: {} })`, "TypeError: Incorrect type for the 'signal' field on 'RequestInitializerDict': the provided value is not of type 'AbortSignal'."},
		{`new Request(new Request("http://x", { signal: AbortSignal.abort() }), { signal: null }).signal.aborted`, "false"},
		{`fetch("http://x", { signal: AbortSignal.abort(new RangeError("before")) })`, "RangeError: before"},
		{`structuredClone(AbortSignal.abort())`, "DataCloneError: AbortSignal can only be serialized for RPC."},
	})
	w.Off[compat.EnableAbortsignalRpc] = true
	w.Tries([][2]string{{`structuredClone(AbortSignal.abort())`, "DataCloneError: AbortSignal serialization is not enabled."}})
}
