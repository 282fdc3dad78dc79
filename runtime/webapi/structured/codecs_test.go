package structured_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/structured"
	"minido.dev/minido/runtime/webapi/webapitest"
)

// stored writes the value of source as objects store it, expects the bytes golden,
// and reads them back as a global variable.
func stored(w *webapitest.World, name, source, golden string) {
	w.T.Helper()
	w.Turn(func() {
		v, err := w.Platform.VM.RunString(source)
		if err != nil {
			w.T.Fatal(err)
		}
		data, err := w.Platform.Clone.Serialize(v, clone.Options{})
		if err != nil || hex.EncodeToString(data) != golden {
			w.T.Errorf("%x, %v", data, err)
		}
		again, err := w.Platform.Clone.Deserialize(data, clone.Options{})
		if err != nil {
			w.T.Fatal(err)
		}
		w.Platform.VM.Set(name, again)
	})
}

// Resizable buffers are stored as workerd's bytes (the golden file of package
// clone), the flags of their views too, and come back resizable (V8,
// value-serializer.cc: WriteJSArrayBuffer, WriteJSArrayBufferView).
func TestResizableBuffersCodec(t *testing.T) {
	w := webapitest.New(t)
	stored(w, "views", `const b = new ArrayBuffer(4, { maxByteLength: 16 }); new Uint8Array(b).set([1, 2, 3, 4]); [new Uint8Array(b), new Uint8Array(b, 1, 2)]`,
		"ff0f41027e04100102030456420000035e015642010202240002")
	w.Run(`const { buffer } = views[0]; buffer.resize(16); say([buffer.maxByteLength, views[1].buffer === buffer, views[0].length, views[1].length])`)
	w.Said("16,true,16,2")
}

// Stored Headers are workerd's bytes (the golden file of package clone), and
// come back as they were.
func TestHeadersCodec(t *testing.T) {
	w := webapitest.New(t)
	stored(w, "h", `new Headers([["a", "1"], ["b", "2"], ["set-cookie", "x=1"], ["set-cookie", "y=2"]])`,
		"ff0f5c0403042903783d312903793d3200016101310001620132")
	w.Run(`say(JSON.stringify([...h])); h.set("a", "3"); say(h.get("a"))`)
	w.Said(`[["a","1"],["b","2"],["set-cookie","x=1"],["set-cookie","y=2"]]`, "3")
	w.Tries([][2]string{
		{`structuredClone(new Response(null, {status: 404, headers: {a: "b"}})).status`, `404`},
		{`structuredClone(new Request("http://x/", {method: "PUT"})).method`, `PUT`},
		{`structuredClone(new Response("x"))`, `DataCloneError: ReadableStream can only be serialized for RPC.`},
		{`structuredClone(new ReadableStream())`, `DataCloneError: ReadableStream can only be serialized for RPC.`},
		{`structuredClone(new WritableStream())`, `DataCloneError: WritableStream can only be serialized for RPC.`},
		{`structuredClone(new Proxy({}, {get() { throw new Error("a trap ran") }}))`, `DataCloneError: #<Object> could not be cloned.`},
	})
}

// send carries a value from one isolate's script to another's, as RPC does.
func send(t *testing.T, from, to *webapitest.World, source, name string) {
	t.Helper()
	payload := &event.Payload{}
	from.Turn(func() {
		v, err := from.Platform.VM.RunString(source)
		if err == nil {
			payload.Bytes, err = from.Platform.Clone.Serialize(v, clone.Options{Mode: clone.RPC, ClassInstances: clone.Refused, External: payload})
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	to.Turn(func() {
		v, err := to.Platform.Clone.Deserialize(payload.Bytes, clone.Options{Mode: clone.RPC, External: structured.Read(payload)})
		if err != nil {
			t.Fatal(err)
		}
		to.Platform.VM.Set(name, v)
	})
}

// settleBoth steps two worlds until neither has anything to do.
func settleBoth(a, b *webapitest.World) {
	for a.Sched.Step() || b.Sched.Step() {
	}
}

// Requests, responses and streams cross isolates with their bodies; a body at
// hand makes no stream on either side.
func TestRPCCodecs(t *testing.T) {
	a, b := webapitest.New(t), webapitest.New(t)
	send(t, a, b, `new Response("hello", {status: 201, statusText: "Made", headers: {x: "1"}, cf: {k: [1]}})`, "r")
	if a.Platform.Streams.Loaded() || b.Platform.Streams.Loaded() {
		t.Error("a stream was made for a body at hand")
	}
	b.Run(`say([r instanceof Response, r.status, r.statusText, r.headers.get("x"), r.cf.k[0], await r.text()])`)
	b.Said("true,201,Made,1,1,hello")
	send(t, a, b, `new Request("http://x/p", {method: "POST", body: "b", redirect: "manual", headers: {y: "2"}})`, "q")
	b.Run(`say([q.method, q.url, q.redirect, q.headers.get("y"), await q.text()])`)
	b.Said("POST,http://x/p,manual,2,b")
	send(t, a, b, `new Response(new ReadableStream({start(c) { c.enqueue(new Uint8Array([72, 105])); c.close() }}))`, "s")
	b.Run(`s.text().then(say)`)
	settleBoth(a, b)
	b.Said("Hi")
	send(t, a, b, `({deep: [new Response("in").body]})`, "o")
	b.Run(`say(await new Response(o.deep[0]).text())`)
	b.Said("in")
	if a.Context.Held() != 0 {
		t.Errorf("%d holds", a.Context.Held())
	}
}

// A WritableStream that crossed isolates writes into the original one.
func TestRPCWritable(t *testing.T) {
	a, b := webapitest.New(t), webapitest.New(t)
	send(t, a, b, `new WritableStream({write(v) { say([v instanceof ArrayBuffer, ...new Uint8Array(v)]) }, close() { say("closed") }, abort(e) { say("aborted " + e.message) }})`, "w")
	b.Run(`const x = w.getWriter(); x.write(new Uint8Array([1, 2])); x.write(new Uint8Array([3])).then(() => say("written")); x.close().then(() => say("done")); x.closed.catch(() => {})`)
	settleBoth(a, b)
	a.Said("true,1,2", "true,3", "closed")
	b.Said("written", "done")
	if a.Context.Held() != 0 {
		t.Errorf("%d holds", a.Context.Held())
	}
	send(t, a, b, `new WritableStream({write(v) { throw new RangeError("full") }, abort(e) { say("never") }})`, "w")
	b.Run(`globalThis.x = w.getWriter(); x.closed.catch(() => {}); x.write(new Uint8Array([1, 2])).catch(() => {})`)
	settleBoth(a, b)
	b.Run(`await x.write(new Uint8Array([1])).catch(e => say(e.message))`)
	settleBoth(a, b)
	b.Said("full")
	send(t, a, b, `new WritableStream({abort(e) { say("aborted " + e.message) }})`, "w")
	b.Run(`await w.abort(new Error("enough"))`)
	settleBoth(a, b)
	a.Said("aborted WritableStream received over RPC was disconnected because the remote execution context has ended.")
}

// Damaged bytes of host objects are refused with an error, not a crash.
func TestDamagedCodecs(t *testing.T) {
	w := webapitest.New(t)
	for _, text := range []string{"ff0f5c0403", "ff0f5c04030130", "ff0f5c0403017f0161", "ff0f5c0300", "ff0f5c050161", "ff0f5c06", "ff0f5c0600"} {
		data, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		w.Turn(func() {
			var v goja.Value
			if v, err = w.Platform.Clone.Deserialize(data, clone.Options{Mode: clone.RPC, External: structured.Read(&event.Payload{})}); err == nil {
				t.Errorf("%s gave %v", text, v)
			} else if strings.Contains(err.Error(), "goroutine") {
				t.Errorf("%s: %v", text, err)
			}
		})
	}
}
