package minidotest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/world"
)

// testTurnLimit is the limit of turns where one is exceeded.
const testTurnLimit = 200 * time.Millisecond

func TestMain(m *testing.M) {
	engine.BoundMatches(testTurnLimit)
	m.Run()
}

// hostileWorker has an object do what would take the host down.
const hostileWorker = `
const kept = [];
export class H extends DurableObject {
  ok() { return "ok"; }
  async spin() { await this.ctx.storage.put("lost", 1); for (;;); }
  async spinLater() { await scheduler.wait(1); for (;;); }
  async spinSQL() { this.ctx.storage.sql.exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n").toArray(); }
  async wait(s) { await scheduler.wait(s * 1000); return "waited"; }
  get(k) { return this.ctx.storage.get(k); }
  async alarm() { for (;;); }
  backtrack(how) {
    const s = "a".repeat(60) + "!";
    switch (how) {
      case "literal": return /(?!b)(a|aa)+$/.test(s);
      case "constructed": return new RegExp("(?=a)(a+)+b").exec(s);
      case "replaced": return s.replace(/(?!b)(a|aa)+$/g, "");
      case "split": return s.split(/(?!b)(a|aa)+$/);
    }
  }
  bomb(name) {
    const S = "x".repeat(1e6), BEFORE = "\x60";
    const bombs = {
      repeat: () => "x".repeat(1e9), repeatObject: () => "x".repeat({ valueOf: () => 1e9 }), repeatThis: () => String.prototype.repeat.call({ toString: () => S }, 1e6),
      padStart: () => "x".padStart(1e10), padEnd: () => "x".padEnd(1e9, "ab"),
      buffer: () => new ArrayBuffer(1e10), bytes: () => new Uint8Array(1e10), floats: () => new Float64Array(1e9), like: () => new Uint8Array({ length: 1e10 }),
      fill: () => new Array(4e9).fill(0), join: () => new Array(5e7).join("xxxx"), joinLong: () => Array(1e5).fill(S).join(), joinNested: () => { const a = Array(100).fill(S); return Array(1e6).fill(a).join(); },
      from: () => Array.from({ length: 1e9 }), replaceAll: () => S.replaceAll("", S), replaceRegExp: () => S.replace(/x/g, S),
      replaceBefore: () => "x".repeat(1e5).replaceAll("x", "$" + BEFORE), replaceAfter: () => "x".repeat(1e5).replace(/x/g, "$'"), replaceFlagV: () => "x".repeat(1e5).replace(/x/gv, "$" + BEFORE),
      replaceWhole: () => S.replace(/.+/, "$&".repeat(500)), replaceGroup: () => S.replace(/(.+)/, "$1".repeat(500)), replaceText: () => S.replace(S, "$&".repeat(500)),
      replaceCalls: () => S.replaceAll("x", () => S), replaceObject: () => String.prototype.replaceAll.call({ toString: () => S }, "x", "$" + BEFORE),
      encoded: () => encodeURIComponent("€".repeat(5e7)), escaped: () => escape("€".repeat(5e7)), raw: () => String.raw({ raw: Array(1e4).fill(S) }),
      params: () => { const p = new URLSearchParams(); for (let i = 0; i < 200; i++) p.append("a", S); return String(p); },
      form: () => { const f = new FormData(); for (let i = 0; i < 200; i++) f.append("a", S); return new Response(f); },
      matches: () => "x".repeat(1e8).match(/x/g), parts: () => "x".repeat(1e8).split(/x/),
      concat: () => Array(5e7).concat(Array(5e7)), sort: () => Array(4e9).sort(), reverse: () => Array.prototype.reverse.call({ length: 2 ** 53 - 1 }),
      many: () => { const all = []; for (;;) all.push(new ArrayBuffer(1e8)); },
    };
    try { bombs[name](); return "went off"; } catch (e) { return e.name + ": " + e.message; }
  }
}
export default serve({
  spin() { for (;;); },
  harmless() {
    class Mine extends Uint8Array { twice() { return this.length * 2; } }
    const v = new Mine([1, 2, 3]);
    return [v.twice(), v instanceof Uint8Array, Uint8Array.from([1, 2]).constructor === Uint8Array, new Uint8Array(4).map((x) => x + 1).length, new ArrayBuffer(8).constructor === ArrayBuffer,
      Uint8Array.name, Object.prototype.toString.call(new Float64Array(2)), "ab".repeat(2), "a".padStart(3, "-"), [1, [2, [3]], null].join("-"), [3, 1, 2].sort().join(""),
      Array.from({ length: 2 }, (_, i) => i), "aXbX".replaceAll("X", (m, i) => i), "x".repeat.length, "x".repeat.name, new Uint16Array(new ArrayBuffer(8), 2, 1).byteOffset, [..."é"].join("").length,
      structuredClone(new Mine([7])).constructor === Uint8Array, Array.from(new Set([1, 2])).length, [1, 2].concat([3], 4).length];
  },
});
`

// A turn without end is stopped, and its caller gets production's text; other
// objects of the isolate lose their connection, and all go on afterwards.
func TestCPULimit(t *testing.T) {
	const cpu = `{"err":{"name":"Error","message":"Durable Object exceeded its CPU time limit and was reset.","durableObjectReset":true}}`
	const lost = `{"err":{"name":"Error","message":"Network connection lost.","retryable":true}}`
	w := NewWorker(t, hostileWorker, Options{TurnLimit: 200 * time.Millisecond})
	for _, method := range []string{"spin", "spinLater"} {
		bystander := w.Post("H/b/wait", 1)
		object := w.Post("H/a/" + method)
		got := w.All(object, bystander)
		// The stateless request that called the object runs in the same isolate.
		if got[0] != "failed: Network connection lost." && got[0] != cpu {
			t.Errorf("%s: %s", method, got[0])
		}
		if got[1] != "failed: Network connection lost." && got[1] != lost {
			t.Errorf("%s: a bystander got %s", method, got[1])
		}
	}
	if r := w.Do("POST", "http://localhost/!spin", "[]"); r.Err == nil || r.Err.Error() != "Worker exceeded CPU time limit." {
		t.Errorf("the worker itself: %+v", r)
	}
	w.Want(`{"ok":null}`, "H/a/get", "lost")
	w.Want(`{"ok":"ok"}`, "H/b/ok")
	logged := strings.Join(w.Logged("was exceeded"), "\n")
	for _, want := range []string{"during an event of H/a (rpc)", "worker.ts:", "during a request to the worker"} {
		if !strings.Contains(logged, want) {
			t.Errorf("the log does not say %q:\n%s", want, logged)
		}
	}
}

// A match that backtracks without end is stopped, wherever a pattern can stand.
func TestCPULimitOfRegExp(t *testing.T) {
	how := []string{"literal", "constructed", "replaced", "split"}
	if testing.Short() {
		how = how[:1]
	}
	w := NewWorker(t, hostileWorker, Options{TurnLimit: testTurnLimit})
	for _, how := range how {
		if got := w.Call("H/a/backtrack", how); strings.HasPrefix(got, `{"ok"`) {
			t.Errorf("%s: got %s", how, got)
		}
	}
	w.Want(`{"ok":"ok"}`, "H/a/ok")
	if logged := strings.Join(w.Logged("was exceeded"), "\n"); !strings.Contains(logged, "worker.ts:") {
		t.Errorf("the log does not say where:\n%s", logged)
	}
}

// Code that never ends while the worker loads, or while an object is
// constructed, is stopped with its place.
func TestCPULimitOfStart(t *testing.T) {
	w := NewWorker(t, `
export class C extends DurableObject {
  constructor(ctx, env) { super(ctx, env); if (ctx.id.name === "spins") for (;;); }
  ok() { return "ok"; }
}
export default serve({});`, Options{TurnLimit: testTurnLimit})
	if got := w.Call("C/spins/ok"); strings.HasPrefix(got, `{"ok"`) {
		t.Errorf("got %s", got)
	}
	logged := strings.Join(w.Logged("was exceeded"), "\n")
	for _, want := range []string{"during an event of C/spins (start)", "worker.ts:5:"} {
		if !strings.Contains(logged, want) {
			t.Errorf("the log does not say %q:\n%s", want, logged)
		}
	}
	w.Want(`{"ok":"ok"}`, "C/other/ok")
}

// A statement of SQL without end is stopped as JavaScript is.
func TestCPULimitOfSQL(t *testing.T) {
	w := NewWorker(t, hostileWorker, Options{TurnLimit: 200 * time.Millisecond})
	if got := w.Call("H/a/spinSQL"); strings.HasPrefix(got, `{"ok"`) {
		t.Errorf("got %s", got)
	}
	w.Want(`{"ok":"ok"}`, "H/a/ok")
}

// Built-ins that make something large from something small refuse it, as V8
// does where it cannot.
func TestSizeGuards(t *testing.T) {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	w := NewWorker(t, hostileWorker, Options{Heap: engine.NewHeapWatch(m.HeapAlloc + 300<<20)})
	// What is written piece by piece, up to the largest text, may fill the heap before it is refused.
	grows := map[string]bool{"joinNested": true, "replaceBefore": true, "replaceAfter": true, "replaceFlagV": true, "replaceWhole": true, "replaceGroup": true,
		"replaceText": true, "replaceCalls": true, "replaceObject": true}
	for _, name := range strings.Fields(`repeat repeatObject repeatThis padStart padEnd buffer bytes floats like fill join joinLong joinNested from
replaceAll replaceRegExp replaceBefore replaceAfter replaceFlagV replaceWhole replaceGroup replaceText replaceCalls replaceObject encoded escaped raw params form matches parts concat sort reverse many`) {
		runtime.GC() // what the one before has left is not this one's
		if got := w.Call("H/a/bomb", name); !strings.HasPrefix(got, `{"ok":"RangeError: `) && (!grows[name] || !strings.Contains(got, "memory limit")) {
			t.Errorf("%s: %s", name, got)
		}
	}
	w.Want(`{"ok":[6,true,true,4,true,"Uint8Array","[object Float64Array]","abab","--a","1-2,3-","123",[0,1],"a1b3",1,"repeat",2,1,true,2,4]}`, "!harmless")
}

// Module code that never ends is stopped, and its place is in the user's source.
func TestCPULimitOfModuleCode(t *testing.T) {
	dir := t.TempDir()
	WriteFiles(t, dir, map[string]string{
		"w.ts":          "interface A { n: number }\nconst a: A = { n: 1 };\nfunction never() {\n  for (;;) a.n++;\n}\nnever();\nexport default { fetch() { return new Response('ok'); } };\n",
		"wrangler.json": `{"name": "p", "main": "w.ts", "compatibility_date": "2026-08-01"}`,
	})
	w, err := world.Open(world.Options{Config: config.Options{Dir: dir}, Dir: t.TempDir(), CacheDir: t.TempDir(), TurnLimit: testTurnLimit})
	if err == nil {
		t.Error("it loaded", w.Stop())
	}
	for _, want := range []string{"the CPU time limit of a turn, 200ms, was exceeded during the evaluation of module code", "at never (w.ts:4:"} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("the error does not say %q:\n%v", want, err)
		}
	}
}

// What crypto.subtle derives and generates is stopped at the CPU limit, in the turn of an
// object and, for a request, off the loop, where other requests go on meanwhile.
func TestCPULimitOfSubtleCrypto(t *testing.T) {
	w := NewWorker(t, `
const long = {
  async derive() {
    const key = await crypto.subtle.importKey("raw", new Uint8Array(8), "PBKDF2", false, ["deriveBits"]);
    await crypto.subtle.deriveBits({ name: "PBKDF2", hash: "SHA-512", salt: new Uint8Array(8), iterations: 100000 }, key, 8e7);
  },
  async generate() {
    await crypto.subtle.generateKey({ name: "RSASSA-PKCS1-v1_5", modulusLength: 16384, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" }, true, ["sign"]);
  },
};
export class C extends DurableObject {
  ok() { return "ok"; }
  run(name) { return long[name](); }
}
export default serve({ ...long, ok() { return "ok"; } });`, Options{TurnLimit: testTurnLimit})
	for _, name := range []string{"derive", "generate"} {
		if got := w.Call("C/a/run", name); !strings.Contains(got, "CPU time limit") && got != "failed: Network connection lost." {
			t.Errorf("%s in an object: %s", name, got)
		}
		request := w.Post("!" + name)
		w.Want(`{"ok":"ok"}`, "!ok")
		if got := w.All(request)[0]; got != "failed: Worker exceeded CPU time limit." {
			t.Errorf("%s in a request: %s", name, got)
		}
		w.Want(`{"ok":"ok"}`, "C/a/ok")
	}
}
