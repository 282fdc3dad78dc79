package minidotest

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
)

const garbageWorker = `
class Target extends RpcTarget { one() { return 1; } }
const uses = {
  call: (stub) => stub.one(),
  property: async (stub) => { await stub.values.n; },
  pipelined: (stub) => stub.target().one(),
  target: async (stub) => { using target = await stub.target(); await target.one(); },
  callback: (stub) => stub.callBack(() => 1),
  dup: async (stub) => { using target = await stub.target(); using other = target.dup(); await other.one(); },
  fetch: async (stub) => { await (await stub.fetch("http://x/", { method: "POST", body: "b" })).text(); },
  failing: (stub) => stub.fail().catch(() => {}),
  proxy: () => { const p = new Proxy(function () {}, { apply: (t, self, args) => args.length, get: () => p }); p(1); p.x(2); },
  timer: () => new Promise((r) => setTimeout(r, 1)),
  aborted: () => { const c = new AbortController(); AbortSignal.any([c.signal]); c.abort(); },
  events: () => { const t = new EventTarget(); t.addEventListener("x", () => t); t.dispatchEvent(new Event("x")); },
  stream: async () => { await new Response(new Blob(["b"]).stream().pipeThrough(new TransformStream())).text(); },
  storage: (stub) => stub.store(),
};
export class G extends DurableObject {
  one() { return 1; }
  get values() { return { n: 1 }; }
  target() { return new Target(); }
  async callBack(fn) { return await fn(); }
  async fetch(req) { return new Response(await req.text()); }
  fail() { throw new TypeError("as meant"); }
  async store() {
    const { storage } = this.ctx;
    await storage.put("key", { value: 1 });
    await storage.transaction(async (txn) => { await txn.get("key"); });
    storage.transactionSync(() => [...storage.kv.list()]);
    for (const row of storage.sql.exec("SELECT 1 UNION SELECT 2")) break;
    await storage.list();
  }
}
export default serve({ async use(env, ctx, name, times) { for (let i = 0; i < times; i++) await uses[name](env.G.getByName("a")); } });
`

// What a worker no longer uses is collected: nothing of the platform's keeps an
// object for each call that was ever made.
func TestWhatIsUsedIsCollected(t *testing.T) {
	w := NewWorker(t, garbageWorker, Options{})
	w.History = nil // it grows with each call
	live := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapObjects)
	}
	const times = 200
	for _, use := range []string{"call", "property", "pipelined", "target", "callback", "dup", "fetch", "failing", "proxy", "timer", "aborted",
		"events", "stream", "storage"} {
		w.Want(`{"ok":null}`, "!use", use, times)
		before := live()
		w.Want(`{"ok":null}`, "!use", use, times)
		grown := live() - before
		// What has cleanups takes more than one collection, and an abandoned cursor a turn.
		for range 20 {
			if grown <= times {
				break
			}
			w.Want(`{"ok":null}`, "!use", use, 1)
			w.History = nil
			grown = live() - before
		}
		if grown > times {
			t.Errorf("%s: %d uses leave %d objects behind", use, times, grown)
		}
	}
}

// A turn that only reads holds nothing of its object's file when it has ended:
// another tool may shorten the log, and the next turn writes.
func TestReadsLetGoOfTheFile(t *testing.T) {
	w := NewWorker(t, `
export class G extends DurableObject {
  write() { this.ctx.storage.kv.put("key", 1); }
  read() { return [this.ctx.storage.kv.get("key"), this.ctx.storage.sql.exec("SELECT 2 AS n").one().n]; }
  async alarmAt() { return await this.ctx.storage.getAlarm(); }
  nothing() {}
}
export default serve();`, Options{})
	w.Want(`{"ok":null}`, "G/a/write")
	shorten := func() {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(w.Dir(), "v3", "do", "test-G", strings.Repeat("?", 64)+".sqlite"))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		other, err := sqlite.Open(sqlite.Options{Path: files[0], MustExist: true, Now: time.Now, Rand: entropy.NewSeeded(1)})
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		if err := other.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			t.Fatal(err)
		}
	}
	for _, read := range []struct{ method, answer string }{{"read", `{"ok":[1,2]}`}, {"alarmAt", `{"ok":null}`}, {"nothing", `{"ok":null}`}} {
		w.Want(read.answer, "G/a/"+read.method)
		shorten()
		w.Want(`{"ok":null}`, "G/a/write")
	}
	w = w.Restart() // starting reads
	w.Want(`{"ok":null}`, "G/a/nothing")
	shorten()
	w.Want(`{"ok":null}`, "G/a/write")
}
