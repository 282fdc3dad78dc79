package durableobject_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/minidotest"
)

const socketWorker = `
const born = {};
export class Room extends DurableObject {
  constructor(ctx, env) { super(ctx, env); born[ctx.id] = (born[ctx.id] ?? 0) + 1; this.found = ctx.getWebSockets().map((w) => w.readyState); }
  fetch(req) {
    const [, what = "", tags = ""] = req.url.split("/").slice(5);
    const [a, b] = Object.values(new WebSocketPair());
    if (what === "accept") { b.accept(); b.addEventListener("message", (e) => b.send("echo " + e.data)); return new Response(null, { status: 101, webSocket: a }); }
    this.ctx.acceptWebSocket(b, tags ? tags.split(",") : undefined);
    b.serializeAttachment({ what, n: 1 });
    if (what === "greet") b.send("welcome");
    return new Response(null, { status: 101, webSocket: a });
  }
  async webSocketMessage(ws, m) {
    if (typeof m !== "string") return ws.send(new Uint8Array([...new Uint8Array(m), m.byteLength]));
    const [cmd, ...rest] = m.split(" ");
    switch (cmd) {
      case "life": return ws.send(String(born[this.ctx.id]));
      case "att": return ws.send(JSON.stringify(ws.deserializeAttachment()));
      case "set": return ws.serializeAttachment(JSON.parse(rest.join(" ")));
      case "tags": return ws.send(JSON.stringify(this.ctx.getTags(ws)));
      case "same": return ws.send(String(this.ctx.getWebSockets().includes(ws) && this.ctx.getWebSockets()[0] === this.ctx.getWebSockets()[0]));
      case "all": return ws.send(this.ctx.getWebSockets(...rest).map((w) => w.deserializeAttachment()?.what).join());
      case "cast": for (const w of this.ctx.getWebSockets()) w.send("cast"); return;
      case "close": return ws.close(Number(rest[0]), rest.slice(1).join(" "));
      case "throw": throw new Error("in handler");
      case "put": this.ctx.storage.put("k", rest[0]); ws.send("put " + rest[0]); return;
      case "slow": await scheduler.wait(50); return ws.send("slow done");
      case "auto": this.ctx.setWebSocketAutoResponse(rest.length ? new WebSocketRequestResponsePair(rest[0], rest[1]) : undefined); return ws.send("set");
      case "stamp": return ws.send(String(this.ctx.getWebSocketAutoResponseTimestamp(ws)?.getTime() ?? null));
      case "sendAfterClose": ws.close(1000, "x"); try { ws.send("no"); } catch (e) { this.ctx.storage.kv.put("err", show(e)); } return;
      case "state": return ws.send(String(ws.readyState));
      case "timer": setTimeout(() => {}, Number(rest[0])); return ws.send("ok");
      case "abort": return this.ctx.abort("socket abort");
      default: return ws.send("? " + m);
    }
  }
  webSocketClose(ws, code, reason, wasClean) {
    const l = this.ctx.storage.kv.get("closes") ?? [];
    l.push([code, reason, wasClean, ws.readyState, this.ctx.getWebSockets().includes(ws), ws.deserializeAttachment()?.what]);
    this.ctx.storage.kv.put("closes", l);
    if (ws.deserializeAttachment()?.what === "answers") ws.close(code === 1005 ? 1000 : code, "answered");
    if (ws.deserializeAttachment()?.what === "closeThrows") throw new Error("in close");
    if (ws.deserializeAttachment()?.what === "late") return scheduler.wait(5).then(() => {
      this.ctx.storage.kv.put("late", [this.ctx.getWebSockets().length, ws.readyState].join());
      ws.close(4003, "later");
    });
  }
  webSocketError(ws, e) { this.ctx.storage.kv.put("error", [String(e), ws.readyState, this.ctx.getWebSockets().includes(ws)].join()); }
  closes() { const l = this.ctx.storage.kv.get("closes") ?? []; this.ctx.storage.kv.put("closes", []); return l; }
  woken() { return this.found; }
  count() { return this.ctx.getWebSockets().length; }
  async arguments() {
    const out = [], t = async (f) => out.push(await attempt(f)), p = () => Object.values(new WebSocketPair())[1], c = this.ctx;
    const ws = p(), many = Array.from({ length: 11 }, (_, i) => "t" + i);
    c.acceptWebSocket(ws, ["t"]); ws.serializeAttachment("att");
    for (const f of [() => c.acceptWebSocket(p(), many), () => c.acceptWebSocket(p(), ["x".repeat(257)]), () => c.acceptWebSocket(p(), [""]), () => c.acceptWebSocket(p(), "text"), () => c.acceptWebSocket({}), () => c.acceptWebSocket(), () => c.acceptWebSocket(ws),
      () => c.acceptWebSocket(p(), null), () => c.acceptWebSocket(p(), [1, null]), () => c.acceptWebSocket(p(), many.concat(many).slice(0, 10)),
      () => c.getTags(p()), () => c.getTags({}), () => c.getTags(), () => c.getTags(ws), () => ws.serializeAttachment("x".repeat(16384)), () => ws.serializeAttachment("x".repeat(16370)), () => ws.serializeAttachment(), () => ws.serializeAttachment(() => 1), () => ws.accept(),
      () => ws.close(1005), () => ws.close(999), () => ws.close(5000), () => ws.close(1006), () => ws.close(1015), () => ws.close(1000, "r".repeat(124)), () => ws.close(undefined, "x"), () => ws.send(), () => ws.send({}),
      () => new WebSocketRequestResponsePair("a"), () => new WebSocketRequestResponsePair("a".repeat(2048), "b").request.length, () => c.setWebSocketAutoResponse("x"), () => c.getWebSocketAutoResponse(),
      () => c.setWebSocketAutoResponse(new WebSocketRequestResponsePair("a".repeat(2049), "b")), () => c.setWebSocketAutoResponse(new WebSocketRequestResponsePair("a", "b".repeat(2049))),
      () => c.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong")), () => c.getWebSocketAutoResponse().request, () => c.getWebSocketAutoResponse().response, () => c.getWebSocketAutoResponseTimestamp(ws), () => c.setWebSocketAutoResponse(), () => c.getWebSocketAutoResponse(),
      () => c.setHibernatableWebSocketEventTimeout(5), () => c.getHibernatableWebSocketEventTimeout(), () => c.setHibernatableWebSocketEventTimeout(-1), () => c.setHibernatableWebSocketEventTimeout(604800001), () => c.setHibernatableWebSocketEventTimeout(), () => c.getHibernatableWebSocketEventTimeout(),
      () => c.getWebSockets("nope").length, () => c.getWebSockets("t").length, () => ws.deserializeAttachment().length,
      () => { const q = p(); c.acceptWebSocket(q, ["d", "d", "e"]); return [c.getTags(q), q.deserializeAttachment(), q.readyState]; }, () => { const r = p(); r.serializeAttachment({ a: 1 }); c.acceptWebSocket(r); return r.deserializeAttachment(); },
      () => { const r = p(); r.accept(); c.acceptWebSocket(r); }, () => { const r = p(); r.accept(); r.accept(); return "twice"; }, () => { const v = { a: [1] }; ws.serializeAttachment(v); v.a.push(2); return ws.deserializeAttachment(); }, () => ws.deserializeAttachment() === ws.deserializeAttachment(),
      () => { const r = p(); c.acceptWebSocket(r); return new Response(null, { status: 101, webSocket: r }).status; }, () => new Response(null, { status: 101 }), () => { const r = p(); c.acceptWebSocket(r); r.close(1000, "x"); r.close(3000, "y"); return r.readyState; },
      () => { const [a, b] = Object.values(new WebSocketPair()); a.accept(); c.acceptWebSocket(b); }, () => { const [a, b] = Object.values(new WebSocketPair()); c.acceptWebSocket(b); c.acceptWebSocket(a); },
      () => { const [a, b] = Object.values(new WebSocketPair()); c.acceptWebSocket(b); a.accept(); return c.getTags(b).length; }, () => { const [a, b] = Object.values(new WebSocketPair()); new Response(null, { status: 101, webSocket: a }); c.acceptWebSocket(b); return b.readyState; },
    ]) await t(f);
    return out;
  }
  get(k) { return this.ctx.storage.kv.get(k); }
  poke() { return "poked"; }
}
export default serve({});
`

func room(w *minidotest.World, path string) *minidotest.Client {
	w.T().Helper()
	c := w.Dial("http://localhost/fetch/Room/" + path)
	if c.Response.Status != 101 {
		w.T().Fatalf("%s: %+v", path, c.Response)
	}
	return c
}

// Sockets, tags and attachments outlive the object's incarnations; the
// constructor runs again on wake (docs/semantics.md 24, 25).
func TestHibernation(t *testing.T) {
	w := minidotest.NewWorker(t, socketWorker, minidotest.Options{Idle: 10 * time.Second})
	a, b, c := room(w, "a/one/x,y"), room(w, "a/two/y"), room(w, "a/greet/x,z,x")
	if got := c.Next(1); !slices.Equal(got, []string{"welcome"}) {
		t.Fatalf("%q", got)
	}
	check := func() {
		t.Helper()
		a.Want(`["x","y"]`, "tags")
		c.Want(`["x","z"]`, "tags")
		a.Want("greet,two,one", "all")
		a.Want("one,greet", "all x")
		a.Want("one,two", "all y")
		a.Want("", "all nobody")
		a.Want("true", "same")
		b.Want(`1`, "state")
	}
	check()
	a.Want("1", "life")
	b.Send(`set {"what":"changed","n":[1,2,{"x":null}]}`)
	b.Want(`{"what":"changed","n":[1,2,{"x":null}]}`, "att")
	b.Send(`set {"what":"two","n":2}`)
	w.Advance(30 * time.Second)
	if n := w.Server.LiveObjects(); n != 0 {
		t.Fatalf("%d objects are in memory after 30 s without events", n)
	}
	a.Want("2", "life")
	check()
	b.Want(`{"what":"two","n":2}`, "att")
	c.Want(`{"what":"greet","n":1}`, "att")
	c.SendBytes([]byte{7, 8})
	if got := c.Next(1); !slices.Equal(got, []string{"bytes:070802"}) {
		t.Errorf("%q", got)
	}
	// Messages that arrive while it sleeps come in order.
	w.Advance(30 * time.Second)
	for _, m := range []string{"one", "two", "three"} {
		a.Send(m)
	}
	if got := a.Next(3); !slices.Equal(got, []string{"? one", "? two", "? three"}) {
		t.Errorf("%q", got)
	}
	w.Advance(30 * time.Second)
	b.Send("cast")
	for _, x := range []*minidotest.Client{a, b, c} {
		if got := x.Next(1); !slices.Equal(got, []string{"cast"}) {
			t.Errorf("%q", got)
		}
	}
	a.Want("4", "life")
}

// How a connection ends reaches webSocketClose, in memory or not, and the
// socket is listed until its handler has run (docs/semantics.md 25).
func TestSocketCloses(t *testing.T) {
	w := minidotest.NewWorker(t, socketWorker, minidotest.Options{Idle: 10 * time.Second})
	for _, sleeps := range []bool{false, true} {
		open := func(path string) *minidotest.Client {
			c := room(w, path)
			if sleeps {
				w.Advance(time.Minute)
			}
			return c
		}
		open("a/x").Close(1001, "going")
		w.Advance(time.Second)
		w.Want(`{"ok":[[1001,"going",true,2,true,"x"]]}`, "Room/a/closes")
		open("a/x").Close(0, "")
		w.Advance(time.Second)
		w.Want(`{"ok":[[1005,"",true,2,true,"x"]]}`, "Room/a/closes")
		open("a/x").Drop()
		w.Advance(time.Second)
		w.Want(`{"ok":[[1006,"WebSocket disconnected without sending Close frame.",false,2,true,"x"]]}`, "Room/a/closes")
		open("a/closeThrows").Close(1000, "")
		w.Advance(time.Second)
		w.Want(`{"ok":[[1000,"",true,2,true,"closeThrows"]]}`, "Room/a/closes")
		w.Want(`{"ok":0}`, "Room/a/count")
		c := open("a/answers")
		c.Close(3001, "bye")
		w.Advance(time.Second)
		w.Call("Room/a/closes")
		if c.Closed == nil || c.Closed.Code != 3001 || !c.Closed.Clean {
			t.Errorf("the client saw %+v", c.Closed)
		}
		c = open("a/x")
		c.Send("close 4000 reason")
		if err := w.Until(func() bool { return c.Closed != nil }); err != nil {
			t.Fatal(err)
		}
		if *c.Closed != (minidotest.Closed{Code: 4000, Reason: "reason", Clean: true}) {
			t.Errorf("%+v", c.Closed)
		}
		c = open("a/x")
		c.Send("sendAfterClose")
		w.Advance(time.Second)
		w.Want(`{"ok":{"name":"TypeError","message":"Can't call WebSocket send() after close()."}}`, "Room/a/get", "err")
		w.Call("Room/a/closes")
	}
}

// The runtime does not answer the Close frame of a hibernatable socket (compared with workerd at
// a date after 2026-04-07): where webSocketClose does not, the client waits until the object
// ends. The socket is listed until the turn is over, and can be answered later.
func TestUnansweredClose(t *testing.T) {
	w := minidotest.NewWorker(t, socketWorker, minidotest.Options{Idle: 10 * time.Second})
	c := room(w, "a/x")
	c.Close(3001, "bye")
	w.Advance(5 * time.Second)
	if c.Closed != nil {
		t.Fatalf("somebody answered: %+v", c.Closed)
	}
	w.Want(`{"ok":[[3001,"bye",true,2,true,"x"]]}`, "Room/a/closes")
	w.Advance(time.Minute)
	if c.Closed == nil || c.Closed.Clean || c.Closed.Code != 1006 {
		t.Errorf("after the object has hibernated: %+v", c.Closed)
	}
	late := room(w, "a/late")
	late.Close(3001, "bye")
	w.Advance(time.Second)
	if late.Closed == nil || late.Closed.Code != 4003 || late.Closed.Reason != "later" {
		t.Errorf("an answer after an await: %+v", late.Closed)
	}
	w.Want(`{"ok":"0,2"}`, "Room/a/get", "late")
}

// After a violation of the protocol the object hears of an error and of no close, and the
// socket is no longer its own (compared with workerd). Text that is not UTF-8 is none.
func TestSocketViolation(t *testing.T) {
	w := minidotest.NewWorker(t, socketWorker, minidotest.Options{Idle: 10 * time.Second})
	c := room(w, "a/x")
	c.Want("? \ufffd\ufffd", "\xff\xe2\x82")
	w.Advance(time.Minute)
	c.Fail(&event.ProtocolError{Code: 1002, Description: "Unknown opcode 3"})
	w.Advance(time.Second)
	w.Want(`{"ok":"Error: WebSocket protocol error; protocolError.statusCode = 1002; protocolError.description = Unknown opcode 3,2,true"}`, "Room/a/get", "error")
	w.Want(`{"ok":[]}`, "Room/a/closes")
	w.Want(`{"ok":0}`, "Room/a/count")
}

// A socket whose Close has woken its object is OPEN until webSocketClose has it,
// in the constructor and in the handlers of others that left (compared with
// workerd).
func TestWakeByClose(t *testing.T) {
	w := minidotest.NewWorker(t, socketWorker, minidotest.Options{Idle: 10 * time.Second})
	a, b := room(w, "a/one"), room(w, "a/two")
	room(w, "a/three")
	w.Advance(time.Minute)
	if n := w.Server.LiveObjects(); n != 0 {
		t.Fatalf("%d objects are in memory", n)
	}
	a.Close(3001, "first")
	b.Close(3002, "second")
	w.Advance(time.Second)
	w.Want(`{"ok":[[3001,"first",true,2,true,"one"],[3002,"second",true,2,true,"two"]]}`, "Room/a/closes")
	w.Want(`{"ok":[1,1,1]}`, "Room/a/woken")
}

// A throw in a handler neither closes the socket nor resets the object; an
// abort does both (docs/semantics.md 25).
func TestSocketHandlersThatThrow(t *testing.T) {
	w := minidotest.NewWorker(t, socketWorker, minidotest.Options{})
	c := room(w, "a/x")
	c.Send("throw")
	c.Want("? still", "still")
	c.Want("1", "life")
	if len(w.Logged("Uncaught Error: in handler")) != 1 {
		t.Error("the throw was not logged")
	}
	c.Send("abort")
	if err := w.Until(func() bool { return c.Closed != nil }); err != nil {
		t.Fatal(err)
	}
	if c.Closed.Clean || c.Closed.Code != 1006 {
		t.Errorf("%+v", c.Closed)
	}
	w.Want(`{"ok":0}`, "Room/a/count")
}

// The auto-response answers without waking the object and leaves a timestamp
// (docs/semantics.md 26).
func TestAutoResponse(t *testing.T) {
	w := minidotest.NewWorker(t, socketWorker, minidotest.Options{Idle: 10 * time.Second})
	c := room(w, "a/x")
	c.Want("null", "stamp")
	c.Want("set", "auto ping pong")
	w.Advance(time.Minute)
	at := w.Now()
	c.Want("pong", "ping")
	w.Advance(time.Millisecond)
	if n := w.Server.LiveObjects(); n != 0 {
		t.Errorf("the auto-response woke the object")
	}
	c.Want("? ping ", "ping ")
	stamp := c.Ask("stamp")
	if want := at.UnixMilli(); stamp != strconv.FormatInt(want, 10) {
		t.Errorf("timestamp %s, want %d", stamp, want)
	}
	w.Advance(time.Minute)
	c.Want("pong", "ping") // it outlives incarnations
	c.Want("set", "auto")
	c.Want("? ping", "ping")
}

// What production does not let hibernate stays: timers, accepted sockets,
// work in progress (docs/semantics.md 23).
func TestNotHibernatable(t *testing.T) {
	w := minidotest.NewWorker(t, socketWorker, minidotest.Options{Idle: 10 * time.Second})
	c := room(w, "timer/x")
	c.Want("ok", "timer 60000")
	room(w, "accepted/accept")
	room(w, "idle/x")
	w.Advance(30 * time.Second)
	if n := w.Server.LiveObjects(); n != 2 {
		t.Errorf("%d objects in memory, want timer and accepted", n)
	}
	c.Want("1", "life")
	w.Advance(2 * time.Minute)
	if n := w.Server.LiveObjects(); n != 1 {
		t.Errorf("%d objects in memory, want accepted", n)
	}
}

// A message's writes are on disk before its frames are out; a client that saw
// the frame finds the write after the death of the process at any later point.
func TestFramesFollowCommits(t *testing.T) {
	w := minidotest.NewWorker(t, socketWorker, minidotest.Options{})
	c := room(w, "a/x")
	c.Want("put 1", "put 1")
	var order []string
	for _, line := range w.History {
		for _, mark := range []string{"commit:after(Room/a)/message", "frame:before(Room/a)/message", "client message put 1"} {
			if strings.Contains(line, mark) {
				order = append(order, mark)
			}
		}
	}
	if !slices.Equal(order, []string{"commit:after(Room/a)/message", "frame:before(Room/a)/message", "client message put 1"}) {
		t.Errorf("%q\n%s", order, strings.Join(w.History, "\n"))
	}
}
