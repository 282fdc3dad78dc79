package durableobject_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/minidotest"
)

// blockWorker asks what becomes of sections that never end and of rejections
// that nobody handles (docs/semantics.md 6, 30).
const blockWorker = `
const full = (e) => ({ name: e.name, message: e.message, ...Object.fromEntries(Object.entries(e)) });
const tell = async (fn) => { try { return { ok: (await fn()) ?? null }; } catch (e) { return full(e); } };
export class A extends DurableObject {
  constructor(ctx, env) { super(ctx, env); if (ctx.id.name === "ctor") ctx.blockConcurrencyWhile(() => new Promise(() => {})); }
  block() { return this.ctx.blockConcurrencyWhile(() => new Promise(() => {})); }
  async caught() { try { await this.ctx.blockConcurrencyWhile(() => new Promise(() => {})); } catch (e) { return "caught " + e.message; } }
  ping() { return "pong"; }
  deep(n) { return n === 0 ? "bottom" : this.ctx.blockConcurrencyWhile(() => this.deep(n - 1)); }
}
export default serve({
  async t(env) { const A = env.A; const one = A.getByName("a"); const r = await Promise.all([tell(() => one.block()), tell(() => one.ping()), tell(() => A.getByName("b").caught()), tell(() => A.getByName("ctor").ping())]); return [...r, await tell(() => one.ping()), await tell(() => A.getByName("a").ping())]; },
  async deep(env) { const out = []; for (const n of [60, 63, 64, 65, 66, 70]) out.push([n, await tell(() => env.A.getByName("d" + n).deep(n)), await tell(() => env.A.getByName("d" + n).ping())]); return out; },
  async rej() {
    const log = []; const h = (e) => { log.push(e.type + " " + String(e.reason?.message ?? e.reason)); }; addEventListener("unhandledrejection", h); addEventListener("rejectionhandled", h);
    const p1 = Promise.reject(new Error("same turn")); p1.catch(() => {});
    const p2 = Promise.reject(new Error("microtask later")); await null; p2.catch(() => {});
    const p3 = Promise.reject(new Error("late")); await scheduler.wait(5); p3.catch(() => {}); await scheduler.wait(5);
    (async () => { throw new Error("async fn"); })(); await scheduler.wait(5);
    const p4 = Promise.reject(new Error("timer")); setTimeout(() => p4.catch(() => {}), 0); await scheduler.wait(10);
    new Promise((_, r) => r(new Error("never"))); await scheduler.wait(5);
    const p5 = new Promise((_, r) => setTimeout(() => r(new Error("handled in then")), 1)); p5.then(() => {}).catch(() => {}); await scheduler.wait(5);
    Promise.all([Promise.reject(new Error("all1")), Promise.reject(new Error("all2"))]).catch(() => {}); await scheduler.wait(5);
    return log; },
});
`

// overflowWorker has objects that overflow the stack wherever code runs, and one
// whose call never ends.
const overflowWorker = `
let born = 0, module = 0;
export class Loop extends DurableObject {
  constructor(ctx, env) { super(ctx, env); born++; if (ctx.id.name === "ctor" || ctx.id.name === "block" && !globalThis.blocked) { const f = () => f() + 1; if (ctx.id.name === "ctor") f(); else ctx.blockConcurrencyWhile(async () => { await null; f(); }); } }
  recurse() { this.ctx.storage.kv.put("lost", 1); const f = () => f() + 1; return f(); }
  catches() { this.ctx.storage.kv.put("lost", 1); const f = () => f() + 1; try { return f(); } catch (e) { return e.name; } finally { module = 1; } }
  async arm() { await this.ctx.storage.setAlarm(Date.now() + 10); }
  alarm() { const n = (this.ctx.storage.kv.get("n") ?? 0) + 1; this.ctx.storage.kv.put("n", n); if (n < 3) this.recurse(); }
  get(k) { return this.ctx.storage.kv.get(k); }
  put(k, v) { this.ctx.storage.kv.put(k, v); return "put"; }
  never() { return new Promise(() => {}); }
  born() { return born; }
  fetch() { const [a, b] = Object.values(new WebSocketPair()); this.ctx.acceptWebSocket(b); return new Response(null, { status: 101, webSocket: a }); }
  webSocketMessage(ws, m) { if (m === "recurse") this.recurse(); ws.send(m); }
}
export default serve({});
`

// An overflow of the stack is an error like others, in whatever handler it
// happens: it can be caught, what the turn wrote is kept, and nobody else
// notices.
func TestStackOverflows(t *testing.T) {
	w := minidotest.NewWorker(t, overflowWorker, minidotest.Options{})
	w.Want(`{"ok":"put"}`, "Loop/other/put", "k", 7)
	for _, call := range []string{"a/recurse", "ctor/get", "block/get", "a/recurse"} {
		got := w.Call("Loop/" + call)
		if !strings.Contains(got, `"name":"RangeError","message":"Maximum call stack size exceeded"`) {
			t.Errorf("%s: %s", call, got)
		}
	}
	w.Want(`{"ok":"RangeError"}`, "Loop/b/catches")
	for _, name := range []string{"a", "b"} {
		w.Want(`{"ok":1}`, "Loop/"+name+"/get", "lost")
	}
	c := w.Dial("http://localhost/fetch/Loop/s/ws")
	c.Send("recurse")
	c.Send("next")
	if err := w.Until(func() bool { return len(c.Messages) > 0 }); err != nil {
		t.Fatal(err)
	}
	// The alarm is tried again.
	w.Call("Loop/al/arm")
	w.Advance(time.Hour)
	w.Want(`{"ok":3}`, "Loop/al/get", "n")
	w.Want(`{"ok":7}`, "Loop/other/get", "k")
	w.Want(`{"ok":7}`, "Loop/other/born") // no isolate was replaced
	if lines := w.Logged("internal error"); len(lines) > 0 {
		t.Error(lines)
	}
}

// A call whose promise never settles keeps its object in memory, and does not
// keep the server from stopping; its caller gets no answer.
func TestNeverSettled(t *testing.T) {
	w := minidotest.NewWorker(t, overflowWorker, minidotest.Options{Idle: 10 * time.Second})
	w.Want(`{"ok":"put"}`, "Loop/a/put", "k", 1)
	r := w.Post("Loop/a/never")
	w.Advance(5 * time.Minute)
	if n := w.Server.LiveObjects(); n != 1 || r.Done() {
		t.Fatalf("%d objects in memory; the call is done: %v", n, r.Done())
	}
	w = w.Restart()
	if r.Done() && r.Err == nil {
		t.Errorf("the caller got %+v", r)
	}
	w.Want(`{"ok":1}`, "Loop/a/get", "k")
}

// Outputs that follow nothing but allowUnconfirmed writes need no commit: a
// write that they tell of may be lost. All others wait (docs/semantics.md 2).
func TestAllowUnconfirmed(t *testing.T) {
	const source = `
export class U extends DurableObject {
  async go(first, second) {
    await this.ctx.storage.put("a", 1, { allowUnconfirmed: first });
    if (second === "sql") this.ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS t (x)");
    else if (second !== null) await this.ctx.storage.put("b", 2, { allowUnconfirmed: second });
    await this.env.U.getByName("witness").saw();
    return "told";
  }
  saw() {}
  async both() { return [await this.ctx.storage.get("a"), await this.ctx.storage.get("b")]; }
}
export default serve({});
`
	for _, c := range []struct {
		args  []any
		early bool // the call to the witness leaves before the commit
	}{{[]any{true, nil}, true}, {[]any{true, true}, true}, {[]any{true, false}, false}, {[]any{true, "sql"}, false}, {[]any{false, true}, false}, {[]any{false, nil}, false}} {
		w := minidotest.NewWorker(t, source, minidotest.Options{})
		w.Want(`{"ok":"told"}`, "U/a/go", c.args...)
		commit, call := -1, -1
		for i, line := range w.History {
			if commit < 0 && strings.Contains(line, "commit:after(U/a)") && !strings.Contains(line, "/start") {
				commit = i
			}
			if call < 0 && strings.Contains(line, "rpc:before(U/a)") {
				call = i
			}
		}
		if commit < 0 || call < 0 || call < commit != c.early {
			t.Errorf("%v: the commit is event %d, the output event %d\n%s", c.args, commit, call, strings.Join(w.Logged("point"), "\n"))
		}
		w.Want(fmt.Sprintf(`{"ok":[1,%s]}`, map[bool]string{true: "2", false: "null"}[c.args[1] != nil && c.args[1] != "sql"]), "U/a/both")
	}
	// Death between the output and the commit loses the write.
	w := minidotest.NewWorker(t, source, minidotest.Options{Kill: func(p killpoint.Point) bool {
		return p.Kind == killpoint.Commit && p.Side == killpoint.Before && p.Object == "U/a" && p.Cause == "rpc"
	}})
	r := w.Post("U/a/go", true, nil)
	if w.Until(r.Done) == nil {
		t.Fatal("the world did not die")
	}
	w = w.Revive()
	w.Want(`{"ok":[null,null]}`, "U/a/both")
}
