package durableobject_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/runtime/minidotest"
)

const gatesWorker = `
export class Gate extends DurableObject {
  log = [];
  sql = this.ctx.storage.sql;
  constructor(ctx, env) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS parent (id INTEGER PRIMARY KEY); CREATE TABLE IF NOT EXISTS child (p INTEGER REFERENCES parent(id) DEFERRABLE INITIALLY DEFERRED)");
  }
  async onlyStorage(tag) {
    for (let i = 0; i < 3; i++) { this.log.push(tag + i); await this.ctx.storage.get("x"); await this.ctx.storage.put("x", i); }
  }
  async withTimer(tag) {
    for (let i = 0; i < 3; i++) { this.log.push(tag + i); await new Promise((r) => setTimeout(r, 1)); }
  }
  async timerAgainstGet() {
    const log = [];
    setTimeout(() => log.push("timer"), 0);
    for (let i = 0; i < 5; i++) { await this.ctx.storage.get("x"); log.push("get"); }
    await new Promise((r) => setTimeout(r, 1));
    return log;
  }
  take() { const l = this.log; this.log = []; return l.join(" "); }
  async broken() {
    try {
      this.ctx.storage.put("k", "lost");
      this.sql.exec("INSERT INTO child VALUES (42)");
      await this.ctx.storage.get("k");
    } catch {}
    return "must not be seen";
  }
  brokenFrame(n) {
    for (const ws of this.ctx.getWebSockets()) ws.send("before " + n);
    this.sql.exec("INSERT INTO child VALUES (42)");
    for (const ws of this.ctx.getWebSockets()) ws.send("after " + n);
  }
  async callsOut() {
    this.ctx.storage.put("called", true);
    this.sql.exec("INSERT INTO child VALUES (42)");
    await this.env.Gate.getByName("witness").set("seen", 1);
  }
  lend(to, cut) {
    this.ctx.storage.put("before", to);
    return this.ctx.storage.transaction(async (txn) => {
      await txn.put("lent", to);
      const answer = await this.env.Gate.getByName(to).set("borrowed", 1);
      if (cut) throw new Error("cut");
      return answer;
    });
  }
  set(k, v) { this.ctx.storage.put(k, v); return "set"; }
  get(k) { return this.ctx.storage.get(k); }
  boom(k) { this.ctx.storage.put(k, 1); throw new TypeError("ordinary"); }
  die(k) { this.ctx.storage.put(k, 1); this.ctx.abort("enough"); }
  dieError() { const e = new RangeError("why"); e.code = "E7"; this.ctx.abort(e); }
  dieCaught() { this.ctx.storage.put("caught", 1); try { this.ctx.abort("caught"); } catch (e) {} return "still here"; }
  stream() {
    const { readable, writable } = new TransformStream();
    const writer = writable.getWriter();
    const enc = { encode: (s) => Uint8Array.from([...s].map((c) => c.charCodeAt(0))) };
    (async () => {
      await writer.write(enc.encode("one "));
      await new Promise((r) => setTimeout(r, 10));
      this.sql.exec("INSERT INTO child VALUES (42)");
      await writer.write(enc.encode("two "));
      await writer.close();
    })().catch(() => {});
    return readable;
  }
  async fetch(req) {
    const what = req.url.split("/")[6];
    if (what === "stream") return new Response(this.stream());
    if (what === "broken") { this.sql.exec("INSERT INTO child VALUES (42)"); return new Response("must not be seen"); }
    if (what === "ws") {
      const [a, b] = Object.values(new WebSocketPair());
      this.ctx.acceptWebSocket(b);
      return new Response(null, { status: 101, webSocket: a });
    }
    return new Response("?");
  }
}
export default serve({
  async stubs(env) {
    const stub = env.Gate.getByName("s");
    const out = [];
    out.push(await attempt(() => stub.set("k", "kept")));
    out.push(await attempt(() => stub.broken()));
    out.push(await attempt(() => stub.get("k")));
    out.push(await attempt(() => env.Gate.getByName("s").get("k")));
    return out;
  },
  async aborts(env, ctx, method) {
    const stub = env.Gate.getByName("a");
    const out = [];
    out.push(await attempt(() => stub[method]("p")));
    out.push(await attempt(() => stub.get("p")));
    out.push(await attempt(() => env.Gate.getByName("a").get("p")));
    return out;
  },
  async order(env) {
    const stub = env.Gate.getByName("o");
    const tags = ["a", "b", "c", "d", "e", "f"];
    await Promise.all(tags.map((t) => stub.onlyStorage(t)));
    return stub.take();
  },
  async throwKeeps(env) {
    const stub = env.Gate.getByName("t");
    await stub.onlyStorage("x");
    const out = [await attempt(() => stub.boom("k"))];
    out.push(await stub.get("k"), await stub.take());
    return out;
  },
});
`

// Calls that await nothing but storage run one after another, also when they
// arrive together; calls that await timers interleave (docs/semantics.md 1).
func TestInputGate(t *testing.T) {
	for seed := range uint64(5) {
		w := minidotest.NewWorker(t, gatesWorker, minidotest.Options{Seed: seed})
		var rs []*minidotest.Response
		for _, tag := range []string{"a", "b", "c", "d"} {
			rs = append(rs, w.Post("Gate/x/onlyStorage", tag))
		}
		w.All(rs...)
		log := strings.Fields(strings.Trim(w.Call("Gate/x/take"), `{"ok:}`))
		if len(log) != 12 {
			t.Fatalf("log %q", log)
		}
		for i := 0; i < 12; i += 3 {
			if c := log[i][:1]; log[i] != c+"0" || log[i+1] != c+"1" || log[i+2] != c+"2" {
				t.Fatalf("storage calls interleave: %q", log)
			}
		}
		w.All(w.Post("Gate/x/withTimer", "a"), w.Post("Gate/x/withTimer", "b"))
		log = strings.Fields(strings.Trim(w.Call("Gate/x/take"), `{"ok:}`))
		if len(log) != 6 || log[1][1] != '0' {
			t.Fatalf("calls that await timers do not interleave: %q", log)
		}
		w.Want(`{"ok":["get","get","get","get","get","timer"]}`, "Gate/x/timerAgainstGet")
		w.Want(`{"ok":"a0 a1 a2 b0 b1 b2 c0 c1 c2 d0 d1 d2 e0 e1 e2 f0 f1 f2"}`, "!order")
	}
}

// A commit that fails makes the call reject although the code caught
// everything; its stub stays broken, a new one sees what was committed before
// (docs/semantics.md 2).
func TestFailedCommit(t *testing.T) {
	w := minidotest.NewWorker(t, gatesWorker, minidotest.Options{})
	const failed = `{"err":{"name":"Error","message":"Durable Object was reset and rolled back to its last known good state because the application left the database in a state where constraints were violated: FOREIGN KEY constraint failed: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_FOREIGNKEY)"}}`
	w.Want(`{"ok":[{"ok":"set"},`+failed+`,`+failed+`,{"ok":"kept"}]}`, "!stubs")
	w.Want(failed, "Gate/w/callsOut")
	w.Want(`{"ok":null}`, "Gate/witness/get", "seen")
	w.Want(`{"ok":null}`, "Gate/w/get", "called")
	if r := w.Do("GET", "http://localhost/fetch/Gate/f/broken", ""); strings.Contains(r.Body, "must not") || r.Status == 200 {
		t.Errorf("a response left before its commit failed: %d %q", r.Status, r.Body)
	}
}

// What leaves while a transaction is open does not wait for its commit: its closure may call another
// object, and what that has done stays when the transaction is rolled back (docs/semantics.md 11).
func TestCallInTransaction(t *testing.T) {
	w := minidotest.NewWorker(t, gatesWorker, minidotest.Options{})
	w.Want(`{"ok":"set"}`, "Gate/w/lend", "ann", false)
	w.Want(`{"ok":"ann"}`, "Gate/w/get", "lent")
	w.Want(`{"err":{"name":"Error","message":"cut","remote":true}}`, "Gate/w/lend", "bob", true)
	w.Want(`{"ok":"ann"}`, "Gate/w/get", "lent")
	w.Want(`{"ok":"bob"}`, "Gate/w/get", "before")
	w.Want(`{"ok":1}`, "Gate/bob/get", "borrowed")
}

// Frames and chunks of a body that follow a write wait for its commit, too
// (docs/semantics.md 35); the socket of the object that was reset is lost.
func TestFailedCommitDropsFramesAndChunks(t *testing.T) {
	w := minidotest.NewWorker(t, gatesWorker, minidotest.Options{})
	c := w.Dial("http://localhost/fetch/Gate/f/ws")
	if c.Response.Status != 101 {
		t.Fatalf("%+v", c.Response)
	}
	w.Call("Gate/f/brokenFrame", 1)
	if err := w.Until(func() bool { return c.Closed != nil }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Messages, []string{"before 1"}) || c.Closed.Clean {
		t.Errorf("got %q, %+v", c.Messages, c.Closed)
	}
	r := w.Do("GET", "http://localhost/fetch/Gate/g/stream", "")
	if strings.Contains(r.Body, "two") || r.Err == nil {
		t.Errorf("a chunk left before its commit failed: %+v", r)
	}
}

// An unawaited put is lost with ctx.abort() and kept with an ordinary throw,
// which does not reset the object either (docs/semantics.md 3, 4).
func TestAbort(t *testing.T) {
	w := minidotest.NewWorker(t, gatesWorker, minidotest.Options{})
	for _, c := range []struct{ method, reason string }{
		{"die", `{"err":{"name":"Error","message":"enough","durableObjectReset":true}}`},
		{"dieError", `{"err":{"name":"Error","message":"RangeError: why","durableObjectReset":true}}`},
		{"dieCaught", `{"err":{"name":"Error","message":"caught","durableObjectReset":true}}`},
	} {
		w.Want(fmt.Sprintf(`{"ok":[%s,%s,{"ok":null}]}`, c.reason, c.reason), "!aborts", c.method)
	}
	w.Want(`{"ok":null}`, "Gate/a/get", "caught")
	w.Want(`{"ok":[{"err":{"name":"TypeError","message":"ordinary","remote":true}},1,"x0 x1 x2"]}`, "!throwKeeps")
}

// A promise of one object that settles another's: each writes and sends in its
// own name, and what the other loses is not lost with it.
func TestPromiseAcrossObjects(t *testing.T) {
	w := minidotest.NewWorker(t, `
let settle;
export class P extends DurableObject {
  async waits() {
    const v = await new Promise((r) => { settle = r; });
    this.ctx.storage.put("got", v);
    for (const ws of this.ctx.getWebSockets()) ws.send("B got " + v);
    return "B answered " + v;
  }
  settles() {
    this.ctx.storage.put("mine", 1);
    settle("it");
    queueMicrotask(() => queueMicrotask(() => queueMicrotask(() => { try { this.ctx.abort("A is gone"); } catch {} })));
    return "A must not answer";
  }
  get(k) { return this.ctx.storage.get(k); }
  foreign() { globalThis.stolen ??= this.ctx.storage; return attempt(() => globalThis.stolen.get("x")); }
  foreignSync() { try { globalThis.stolen.sql.exec("SELECT 1"); return "allowed"; } catch (e) { return e.message; } }
  fetch() {
    const [a, b] = Object.values(new WebSocketPair());
    this.ctx.acceptWebSocket(b);
    return new Response(null, { status: 101, webSocket: a });
  }
}
export default serve({
  // A request that has ended must not be able to touch anything.
  async late(env) { return attempt(() => globalThis.stolen.get("x")); },
});
`, minidotest.Options{})
	c := w.Dial("http://localhost/fetch/P/b/ws")
	b := w.Post("P/b/waits")
	w.Advance(time.Second)
	if b.Done() {
		t.Fatal("B did not wait: " + b.Text())
	}
	w.Want(`{"err":{"name":"Error","message":"A is gone","durableObjectReset":true}}`, "P/a/settles")
	if got := w.All(b)[0]; got != `{"ok":"B answered it"}` {
		t.Error(got)
	}
	if got := c.Next(1); !slices.Equal(got, []string{"B got it"}) {
		t.Errorf("%q", got)
	}
	w.Want(`{"ok":"it"}`, "P/b/get", "got")
	w.Want(`{"ok":null}`, "P/a/get", "mine")
	w.Want(`{"ok":{"ok":null}}`, "P/a/foreign")
	const denied = `Cannot perform I/O on behalf of a different Durable Object. I/O objects (such as streams, request/response bodies, and others) created in the context of one Durable Object cannot be accessed from a different Durable Object in the same isolate. This is a limitation of Cloudflare Workers which allows us to improve overall performance.`
	w.Want(`{"ok":{"err":{"name":"Error","message":"`+denied+`"}}}`, "P/b/foreign")
	w.Want(`{"ok":"`+denied+`"}`, "P/b/foreignSync")
	if got := w.Call("!late"); !strings.Contains(got, "Cannot perform I/O on behalf of a different") {
		t.Error(got)
	}
}
