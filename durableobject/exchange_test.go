package durableobject_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/internal/golden"
	"minido.dev/minido/internal/reference"
	"minido.dev/minido/runtime/minidotest"
)

// exchangeWorker stores values of every type under one tool, and tells under
// the other what it finds.
const exchangeWorker = `
export class X extends DurableObject {
  st = this.ctx.storage; sql = this.ctx.storage.sql;
  async write(at) {
    const cyc = { n: 1 }; cyc.self = cyc;
    const shared = { s: 1 };
    await this.st.put({
      undef: [undefined], nul: null, yes: true, no: false, zero: 0, neg0: -0, int: 123456789, negative: -1, real: 1.5, nan: NaN, inf: -Infinity, big: 123456789012345678901234567890n, bigneg: -5n,
      text: "text", latin: "caf\u00e9", wide: "\u4f60\u597d \u{1F600}", lone: "\ud800x", empty: "", long: "0123456789".repeat(2000),
      date: new Date(1234567890123), re: /a+\/b/giu, arr: [1, "two", [3]], holes: [1, , 3], obj: { a: 1, b: { c: [] } }, cyc, twice: [shared, shared],
      map: new Map([["k", new Map([[1, new Set([2])]])], [{ o: 1 }, "v"]]), set: new Set(["a", 1, null]),
      buf: new Uint8Array([1, 2, 3]).buffer, u8: new Uint8Array([1, 2, 3]), i16: new Int16Array([-1, 2]), f32: new Float32Array([0.5]), f64: new Float64Array([1e300]), b64: new BigInt64Array([-1n]), dv: new DataView(new ArrayBuffer(4), 1, 2), sub: new Uint8Array([1, 2, 3, 4]).subarray(1, 3),
      err: new TypeError("wrong", { cause: { why: 1 } }), headers: new Headers({ a: "b", c: "d" }), boxed: [Object(1), Object("s"), Object(true), Object(5n)],
    });
    this.st.kv.put("sync", "kv"); await this.st.put("\u00e9\u{1F600} key", 1); await this.st.put("", "the empty key");
    this.sql.exec("CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, i, r REAL, s TEXT, b BLOB, n, d DEFAULT (unixepoch() > 0)); CREATE INDEX ti ON t(s); CREATE VIEW tv AS SELECT s FROM t; CREATE TABLE log (what); CREATE TRIGGER tt AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.s); END; CREATE TABLE w (k TEXT PRIMARY KEY, v) WITHOUT ROWID; CREATE VIRTUAL TABLE f USING fts5(body)");
    this.sql.exec("INSERT INTO t (i, r, s, b, n) VALUES (9007199254740993, ?, ?, ?, ?)", 1.25, "s\u00e9", new Uint8Array([0, 255]), null);
    this.sql.exec("INSERT INTO t (i, r, s, b, n) VALUES (?, ?, ?, ?, ?)", 7, 2, "\u{1F600}", new ArrayBuffer(0), true);
    this.sql.exec("INSERT INTO w VALUES ('k', '{\"a\":[1]}')"); this.sql.exec("INSERT INTO f VALUES ('the quick brown fox')");
    await this.st.setAlarm(at);
  }
  async more() { await this.st.put("more", [await this.st.get("more"), 1]); this.sql.exec("INSERT INTO t (s) VALUES ('more')"); this.sql.exec("INSERT INTO f VALUES ('quick again')"); }
  async read() {
    const seen = new Map();
    const show = (v) => {
      if (v === undefined) return "undefined"; if (Object.is(v, -0)) return "-0"; if (typeof v === "bigint") return v + "n";
      if (typeof v === "string") return v.length > 100 ? "text of " + v.length : JSON.stringify(v);
      if (v === null || typeof v !== "object") return String(v);
      if (seen.has(v)) return "#" + seen.get(v); seen.set(v, seen.size);
      const name = v.constructor?.name ?? "null";
      if (v instanceof Date) return "Date " + v.getTime(); if (v instanceof RegExp) return "RegExp " + v; if (v instanceof Map) return "Map{" + [...v].map(([a, b]) => show(a) + "=>" + show(b)) + "}"; if (v instanceof Set) return "Set{" + [...v].map(show) + "}";
      if (v instanceof ArrayBuffer) return "ArrayBuffer[" + new Uint8Array(v) + "]"; if (ArrayBuffer.isView(v)) return name + "[" + new Uint8Array(v.buffer, v.byteOffset, v.byteLength) + "]";
      if (v instanceof Error) return name + " " + v.name + ": " + v.message + " cause " + show(v.cause) + " stack " + typeof v.stack; if (v instanceof Headers) return "Headers " + JSON.stringify([...v]);
      if (v instanceof Number || v instanceof String || v instanceof Boolean || v instanceof BigInt) return name + "(" + String(v) + ")";
      if (Array.isArray(v)) return "[" + Array.from(v, (x, i) => i in v ? show(x) : "hole") + "]";
      return name + "{" + Object.keys(v).map((k) => k + ":" + show(v[k])) + "}";
    };
    const out = [this.ctx.id.name, await this.st.getAlarm()];
    for (const [k, v] of await this.st.list()) { seen.clear(); out.push(k + " = " + show(v)); }
    const rows = (q) => { seen.clear(); out.push(q + " = " + show([...this.sql.exec(q).raw()])); };
    rows("SELECT name, type FROM sqlite_schema WHERE substr(name, 1, 1) <> '_' ORDER BY name"); rows("SELECT *, typeof(i), typeof(r), typeof(b), typeof(n) FROM t"); rows("SELECT * FROM tv"); rows("SELECT * FROM log"); rows("SELECT k, v ->> '$.a[0]' FROM w"); rows("SELECT body FROM f WHERE f MATCH 'quick' ORDER BY rowid"); rows("SELECT seq FROM sqlite_sequence");
    return out;
  }
  alarm() {}
}
export default serve({});
`

// exchangeAlarm is a time that no test reaches.
const exchangeAlarm = 4_000_000_000_000

func lines(text string) string { return strings.ReplaceAll(text, `","`, "\",\n\"") }

// A directory that workerd was killed on opens in minido, which finds every
// value, row and alarm; what minido adds, workerd finds in turn.
func TestDifferentialStateExchange(t *testing.T) {
	state := t.TempDir()
	dir := filepath.Join(state, "v3", "do")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	theirs := func(path, body string) string {
		p := reference.Start(t, reference.Options{Name: "test", Classes: []string{"X"}, Dir: dir, Script: `import { DurableObject, RpcTarget, WorkerEntrypoint, RpcStub } from "cloudflare:workers";
` + strings.ReplaceAll(minidotest.Harness, "export ", "") + exchangeWorker})
		defer p.Kill()
		_, answer := p.Post(path, body)
		if path != "/X/a/read" {
			_, answer = p.Post("/X/a/read", "[]")
		}
		return answer
	}
	ours := func(calls ...string) string {
		w := minidotest.NewWorker(t, exchangeWorker, minidotest.Options{Dir: state})
		defer w.Stop()
		for _, c := range calls {
			w.Want(`{"ok":null}`, c)
		}
		return w.Call("X/a/read")
	}
	wrote := theirs("/X/a/write", "[4000000000000]")
	if !strings.Contains(wrote, "quick brown fox") {
		t.Fatalf("the reference: %s", wrote)
	}
	if got := ours(); got != wrote {
		t.Errorf("minido finds\n%s\nworkerd wrote\n%s", lines(got), lines(wrote))
	}
	added := ours("X/a/more", "X/a/more")
	if got := theirs("/X/a/read", "[]"); got != added {
		t.Errorf("workerd finds\n%s\nminido wrote\n%s", lines(got), lines(added))
	}
	again := theirs("/X/a/more", "[]")
	if got := ours(); got != again {
		t.Errorf("minido finds\n%s\nworkerd wrote\n%s", lines(got), lines(again))
	}
	// And from the start: a directory that minido made.
	state = t.TempDir()
	dir = filepath.Join(state, "v3", "do")
	w := minidotest.NewWorker(t, exchangeWorker, minidotest.Options{Dir: state})
	w.Want(`{"ok":null}`, "X/a/write", exchangeAlarm)
	mine := w.Call("X/a/read")
	w.Stop()
	if got := theirs("/X/a/read", "[]"); got != mine {
		t.Errorf("workerd finds\n%s\nminido wrote\n%s", lines(got), lines(mine))
	}
}

// Directories that the reference left behind, checked in, open here. They were
// made by exchangeWorker's write under workerd 1.20261117 and wrangler 4.164
// (which adds a table for its explorer, __miniflare_do_name), killed with
// SIGKILL: the rows are in the WAL.
func TestStateOfReference(t *testing.T) {
	for _, tool := range []string{"workerd", "wrangler"} {
		t.Run(tool, func(t *testing.T) {
			state := t.TempDir()
			if err := os.CopyFS(state, os.DirFS(filepath.Join("testdata", "state", tool))); err != nil {
				t.Fatal(err)
			}
			if err := filepath.WalkDir(state, func(path string, _ os.DirEntry, err error) error {
				if err != nil {
					return err
				}
				return os.Chmod(path, 0o700)
			}); err != nil {
				t.Fatal(err)
			}
			w := minidotest.NewWorker(t, exchangeWorker, minidotest.Options{Dir: state})
			got := lines(w.Call("X/a/read"))
			golden.Lines(t, filepath.Join("testdata", "state", "read.golden"), strings.Split(got, "\n"))
			w.Want(`{"ok":null}`, "X/a/more")
		})
	}
}
