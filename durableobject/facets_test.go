package durableobject_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/minidotest"
)

// facetWorker asks what docs/semantics.md 29 says of ctx.facets.
const facetWorker = `
let trace = [];
export class Child extends DurableObject {
  constructor(ctx, env) { super(ctx, env); trace.push("built " + ctx.id.name + " " + String(ctx.id).slice(0, 4) + " " + JSON.stringify(ctx.props)); }
  set(k, v) { this.ctx.storage.kv.put(k, v); return "set"; }
  get(k) { return this.ctx.storage.kv.get(k); }
  who() { const id = this.ctx.id; return [id.name, id.toString(), typeof id, this.ctx.props, Object.keys(this.ctx.exports).sort(), typeof this.env.P]; }
  setAlarm() { return attempt(() => this.ctx.storage.setAlarm(Date.now() + 100)); }
  getAlarm() { return attempt(() => this.ctx.storage.getAlarm()); }
  deleteAlarm() { return attempt(() => this.ctx.storage.deleteAlarm()); }
  alarmInTransaction() { return attempt(() => this.ctx.storage.transaction(async (t) => { await t.setAlarm(Date.now() + 1000); })); }
  alarm() {}
  boom() { const e = new RangeError("child"); e.code = "C"; throw e; }
  die() { this.ctx.abort("child abort"); }
  block() { return this.ctx.blockConcurrencyWhile(async () => { throw new Error("block"); }); }
  nest(n) { return this.ctx.facets.get(n, () => ({ class: this.ctx.exports.Child })).set("nested", n); }
  nestGet(n) { return this.ctx.facets.get(n, () => ({ class: this.ctx.exports.Child })).get("nested"); }
  fetch(req) { return new Response("child " + new URL(req.url).pathname); }
  badCommit() { this.ctx.storage.sql.exec("CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED); INSERT INTO c VALUES (1)"); return "no"; }
  async slow() { await scheduler.wait(50); return "slow"; }
  accept() { const [a, b] = Object.values(new WebSocketPair()); this.ctx.acceptWebSocket(b); return this.ctx.getWebSockets().length; }
  deleteAll() { return this.ctx.storage.deleteAll(); }
  callParent() { return this.env.P.getByName("other").plain(); }
}
export class Other extends DurableObject { who() { return "other"; } get(k) { return this.ctx.storage.kv.get(k); } }
export class NoAlarm extends DurableObject { setAlarm() { return attempt(() => this.ctx.storage.setAlarm(Date.now() + 100)); } }
export class BadChild extends DurableObject { constructor(ctx, env) { super(ctx, env); throw new TypeError("no child"); } get() {} }
export class P extends DurableObject {
  f(n, o = {}) { return this.ctx.facets.get(n, () => { trace.push("start " + n); return { class: this.ctx.exports.Child, ...o }; }); }
  take() { const t = trace; trace = []; return t; }
  plain() { return "plain"; }
  async basic() { this.take(); const out = []; const a = this.f("a"); out.push(Object.keys(a), Object.prototype.toString.call(a), this.take(), await a.set("k", 1), this.take(), await this.f("a").get("k"), await this.f("b").get("k"), this.ctx.storage.kv.get("k"), this.take());
    this.ctx.storage.kv.put("k", "parent"); out.push(await a.get("k"), this.f("a") === this.f("a"), await this.f("a").callParent(), await attempt(() => a.dup().get("k")), Object.prototype.toString.call(this.ctx.facets)); this.f("unused"); await scheduler.wait(5); out.push(this.take()); return out; }
  async who() { const w = await this.f("w").who(); const mine = this.ctx.id; return [w[0], w[0] === mine.name, w[1] === mine.toString(), ...w.slice(2)]; }
  async ids() { const out = [], P = this.env.P; for (const id of [P.idFromName("other"), "text", undefined, null, 5, P.newUniqueId(), this.env.Child.idFromName("c"), P.idFromString(P.idFromName("n").toString()), {}, "", Symbol()]) out.push(await attempt(async () => { const w = await this.f("i" + out.length, { id }).who(); return [w[0], w[1] === String(id), w[1] === this.ctx.id.toString(), w[2]]; })); return out; }
  async alarms() { const out = []; for (const [n, m] of [["a", "setAlarm"], ["a", "getAlarm"], ["b", "getAlarm"], ["b", "deleteAlarm"], ["c", "alarmInTransaction"], ["c", "getAlarm"]]) out.push(await attempt(() => this.f(n)[m]())); out.push(await attempt(() => this.ctx.facets.get("na", () => ({ class: this.ctx.exports.NoAlarm })).setAlarm())); return out; }
  async errors() { return [await attempt(() => this.f("a").boom()), await attempt(() => this.f("a").nope()), await attempt(() => this.f("a").get("k")), await attempt(() => this.f("a").block()), await attempt(() => this.f("a").get("k"))]; }
  async die() { const a = this.f("d"); await a.set("x", 1); this.take(); return [await attempt(() => a.die()), await attempt(() => a.get("x")), await attempt(() => this.f("d").get("x")), this.take()]; }
  async badCommit() { const a = this.f("bad"); return [await attempt(() => a.badCommit()), await attempt(() => a.get("k")), await attempt(() => this.f("bad").get("k"))]; }
  async abort() { const a = this.f("ab"); await a.set("x", 1); this.take(); const out = [await attempt(() => this.ctx.facets.abort("ab", new RangeError("why")))]; out.push(await attempt(() => a.get("x")), await attempt(() => this.f("ab").get("x")), this.take());
    const p = attempt(() => this.f("ab").slow()); await scheduler.wait(10); this.ctx.facets.abort("ab", "text"); out.push(await p, await attempt(() => this.ctx.facets.abort("nothing", new Error("x"))), await attempt(() => this.ctx.facets.abort("ab")));
    const unbound = this.f("ab"); this.ctx.facets.abort("ab", new Error("before its first use")); out.push(await attempt(() => unbound.get("x"))); return out; }
  async delete() { const a = this.f("de"); await a.set("x", 1); await a.nest("n"); const out = [await attempt(() => this.ctx.facets.delete("de"))]; out.push(await attempt(() => a.get("x")), await attempt(() => this.f("de").get("x")), await attempt(() => this.f("de").nestGet("n")), await attempt(() => this.ctx.facets.delete("none")));
    const p = attempt(() => this.f("de").slow()); await scheduler.wait(10); this.ctx.facets.delete("de"); out.push(await p); return out; }
  async nested() { return [await this.f("ne").nest("in"), await this.f("ne").nestGet("in"), await this.f("in").get("nested"), await this.f("ne").get("nested")]; }
  async callbacks() { const out = []; const E = this.ctx.exports; const g = (n, cb) => attempt(() => this.ctx.facets.get(n, cb).get("k")); const good = () => ({ class: E.Child });
    for (const cb of [() => { throw new RangeError("cb") }, async () => { await scheduler.wait(1); return good(); }, () => ({}), () => ({ class: Child }), () => 5, () => "x", () => ({ class: this.env.P }), () => undefined, () => null, undefined, {}, () => ({ class: E.default }), () => ({ class: E.BadChild }), async () => { throw new Error("async cb"); }]) { const n = "c" + out.length / 2; out.push(await g(n, cb), await g(n, good)); }
    out.push(await g("c0", good)); this.ctx.facets.abort("c0", new Error("freed")); out.push(await g("c0", good)); const s = this.ctx.facets.get("z", () => { throw new RangeError("z"); }); out.push(await attempt(() => s.get("k")), await attempt(() => s.get("k"))); this.ctx.facets.delete("z"); out.push(await g("z", good)); return out; }
  async arguments() { const F = this.ctx.facets, out = []; for (const f of [() => F.get(), () => F.get("x"), () => F.get("x", 5), () => F.abort(), () => F.abort("x"), () => F.delete(), () => F.delete("x".repeat(257)), () => F.abort("x".repeat(257), 1), () => F.abort("", 1), () => F.abort("none", undefined)]) out.push(await attempt(f)); for (const n of ["x/y", "é", "a".repeat(256), "a".repeat(257), "é".repeat(129), 5, undefined, null, "a\u0000b"]) out.push(await attempt(() => this.f(n).set("k", 1))); return out; }
  async concurrent() { this.take(); const a = this.f("co"); const r = await Promise.all([a.set("k", 1), a.get("k"), this.f("co").get("k"), a.set("k", 2), this.f("co").get("k")]); return [...r, this.take()]; }
  async fetches() { const r = await this.f("a").fetch("http://x/path"); return [r.status, await r.text()]; }
  async deleteAll() { await this.f("da").set("k", 1); const s = this.f("da"); await this.ctx.storage.deleteAll(); const out = [await attempt(() => s.get("k"))]; await s.set("k", 2); await this.f("da").nest("n"); await this.f("da").deleteAll(); out.push(await attempt(() => s.get("k")), await attempt(() => s.nestGet("n"))); return out; }
  async changesClass() { await this.f("x").set("k", 1); const o = () => this.ctx.facets.get("x", () => ({ class: this.ctx.exports.Other })); const out = [await attempt(() => o().who())]; this.ctx.facets.abort("x", new Error("switch")); out.push(await attempt(() => o().who()), await attempt(() => o().get("k"))); return out; }
  async blocked() { this.take(); const r = await this.ctx.blockConcurrencyWhile(async () => { return (await this.f("bl").get("k")) ?? "none"; }); return [r, this.take()]; }
  async sends() { const s = this.f("a"); return [await attempt(() => this.env.P.getByName("z").uses(s)), await attempt(() => this.ctx.storage.put("s", s)), await this.f("a").accept()]; }
  uses(s) { return s.get("k"); }
  gives() { return this.f("a"); }
  async parentAborts() { await this.f("pa").set("k", 7); this.ctx.abort("parent"); }
  async after() { this.take(); return [await this.f("pa").get("k"), this.take()]; }
}
const of = (env, n) => env.P.getByName(n);
export default serve({
  async parent(env) { return [await attempt(() => of(env, "q").parentAborts()), await attempt(() => of(env, "q").after())]; },
  async given(env) { return [await attempt(() => of(env, "q").gives()), await attempt(async () => (await of(env, "q").gives()).get("k"))]; },
});
`

// facetFamily is a parent whose alarm carries on what its facets have begun.
const facetFamily = `
export class Step extends DurableObject {
  begin(n) { this.ctx.storage.kv.put("n", n); return n; }
  n() { return this.ctx.storage.kv.get("n") ?? 0; }
  nested(v) { const f = this.ctx.facets.get("inner", () => ({ class: this.ctx.exports.Step })); return v === undefined ? f.n() : f.begin(v); }
}
export class Parent extends DurableObject {
  f(n) { return this.ctx.facets.get(n, () => ({ class: this.ctx.exports.Step })); }
  async start() { await this.ctx.storage.setAlarm(Date.now() + 1000); await this.f("one").begin(1); await this.f("one").nested(3); await this.f("two").begin(2); return "started"; }
  async alarm() { this.ctx.storage.kv.put("seen", [await this.f("one").n(), await this.f("two").n(), await this.f("one").nested()]); await this.f("two").begin(20); }
  async seen() { return [this.ctx.storage.kv.get("seen") ?? null, await this.f("two").n()]; }
  alive() { return "alive"; }
  async wipe() { await this.ctx.storage.deleteAll(); return "wiped"; }
  async forget() { this.ctx.facets.delete("one"); return "forgotten"; }
  async left() { return [await this.f("one").n(), await this.f("two").n(), await this.f("one").nested()]; }
}
export default serve({});
`

// facetFiles lists the files of the Parent objects without their ids, and not
// those that belong to a database file.
func facetFiles(w *minidotest.World, t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(w.Dir(), "v3", "do", "test-Parent"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		_, suffix, ok := strings.Cut(e.Name(), ".")
		if ok && len(e.Name()) > 64 && !strings.Contains(suffix, "sqlite-") {
			out = append(out, suffix)
		}
	}
	return out
}

// The files of facets have the names that wrangler gives them, deletion
// removes them, and the index keeps the numbers.
func TestFacetFiles(t *testing.T) {
	w := minidotest.NewWorker(t, facetFamily, minidotest.Options{})
	want := func(names ...string) {
		t.Helper()
		if got := facetFiles(w, t); !slices.Equal(got, names) {
			t.Errorf("files %q, want %q", got, names)
		}
	}
	w.Want(`{"ok":"started"}`, "Parent/a/start")
	want("1.sqlite", "2.sqlite", "3.sqlite", "facets", "facets-sum", "sqlite")
	w.Want(`{"ok":"forgotten"}`, "Parent/a/forget")
	want("3.sqlite", "facets", "facets-sum", "sqlite")
	w.Want(`{"ok":[0,2,0]}`, "Parent/a/left")
	want("1.sqlite", "2.sqlite", "3.sqlite", "facets", "facets-sum", "sqlite")
	w = w.Restart()
	w.Want(`{"ok":[0,2,0]}`, "Parent/a/left")
	w.Want(`{"ok":"wiped"}`, "Parent/a/wipe")
	want("facets", "facets-sum", "sqlite")
	w.Want(`{"ok":[0,0,0]}`, "Parent/a/left")
}

// The parent's alarm finds what its facets had committed, whatever effect point
// the process died at; deleteAll() is all or nothing, its facets' files
// included.
func TestFacetsSurviveDeathAtEveryPoint(t *testing.T) {
	minidotest.EachDeath(t, testFacetsSurviveDeath)
}

func testFacetsSurviveDeath(t *testing.T, d minidotest.Death) {
	scenario := func(w *minidotest.World) (acked int) {
		for _, method := range []string{"start", "wipe"} {
			r := w.Post("Parent/a/" + method)
			if w.Until(r.Done) != nil || r.Status != 200 {
				return acked
			}
			acked++
			if method == "start" {
				over := false
				w.Clock().AfterFunc(5*time.Second, func() { over = true })
				if w.Until(func() bool { return over }) != nil {
					return acked
				}
			}
		}
		return acked
	}
	w := minidotest.NewWorker(t, facetFamily, d.With(minidotest.Options{}))
	scenario(w)
	for i, n := range moments(w, d) {
		if testing.Short() && i%7 > 0 {
			continue
		}
		w := w.Again(d.With(minidotest.Options{Kill: func(p killpoint.Point) bool { return p.Number == n }}))
		acked := scenario(w)
		if !w.Dead() {
			w.Stop()
			continue
		}
		where := w.Logged("killed at")[0]
		w = w.Revive()
		w.Advance(time.Minute)
		var answer struct{ OK [2]json.RawMessage }
		if err := json.Unmarshal([]byte(w.Call("Parent/a/seen")), &answer); err != nil {
			t.Fatal(err)
		}
		seen, two := string(answer.OK[0]), string(answer.OK[1])
		wiped := seen == "null" && two == "0" && w.Call("Parent/a/left") == `{"ok":[0,0,0]}`
		if acked == 1 && !wiped && (seen != "[1,2,3]" && seen != "[1,20,3]" || two != "20") || acked == 2 && !wiped {
			t.Errorf("%s: after %d steps the alarm saw %s, facet two has %s", where, acked, seen, two)
		}
		w.Stop()
	}
}

// parentFile opens the database of Parent/a, whose server has stopped.
func parentFile(t *testing.T, w *minidotest.World) (c *sqlite.Conn, base string) {
	t.Helper()
	base = filepath.Join(w.Dir(), "v3", "do", "test-Parent", objectid.NewNamespace("test-Parent").FromName("a").String())
	c, err := sqlite.Open(sqlite.Options{Path: base + ".sqlite", Now: w.Clock().Now, Rand: entropy.NewSeeded(1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, base
}

// A deletion of facets that a death has interrupted is finished when their object starts, once; one
// that cannot be finished is the reason why the object does not start.
func TestInterruptedDeletionIsFinished(t *testing.T) {
	const pending = "INSERT INTO _cf_METADATA VALUES (0x6d696e69646f01, 1)"
	for _, c := range []struct{ what, sql, refusal string }{
		{"it is finished", pending, ""},
		{"nothing is pending", "SELECT 1", ""},
		{"a facet's file cannot go", pending, "directory not empty"},
		{"the end cannot be written", pending + "; CREATE TRIGGER tr BEFORE UPDATE ON _cf_METADATA BEGIN SELECT raise(ABORT, 'read only'); END", "read only"},
		{"it cannot be committed", pending, "database or disk is full"},
		{"it cannot be read", "ALTER TABLE _cf_METADATA RENAME COLUMN value TO other", "no such column: value"},
		{"the alarm cannot be read", "DROP TABLE _cf_METADATA; CREATE TABLE _cf_METADATA (key INTEGER PRIMARY KEY, raw); INSERT INTO _cf_METADATA VALUES (1, 1); ALTER TABLE _cf_METADATA ADD COLUMN value AS (CASE WHEN key = 1 THEN abs(-9223372036854775807 - raw) END)", "integer overflow"},
	} {
		t.Run(c.what, func(t *testing.T) {
			var fault error
			w := minidotest.NewWorker(t, facetFamily, minidotest.Options{Disk: func() error { return fault }})
			w.Want(`{"ok":"started"}`, "Parent/a/start")
			w.Stop()
			conn, base := parentFile(t, w)
			if err := errors.Join(conn.Exec(c.sql), conn.Close()); err != nil {
				t.Fatal(err)
			}
			if c.what == "a facet's file cannot go" {
				if err := errors.Join(os.Remove(base+".1.sqlite"), os.MkdirAll(filepath.Join(base+".1.sqlite", "full"), 0o700)); err != nil {
					t.Fatal(err)
				}
			}
			w = minidotest.NewWorld(t, w.Options())
			if c.what == "it cannot be committed" {
				fault = sqlite.ErrDiskFull
			}
			begin := len(w.History)
			got := w.Call("Parent/a/alive")
			if c.refusal == "" {
				got = w.Call("Parent/a/left")
			} else {
				if !strings.Contains(got, c.refusal) {
					t.Fatalf("got %s, want %s", got, c.refusal)
				}
				if fault == nil {
					return
				}
				fault = nil
				got = w.Call("Parent/a/left")
			}
			want, commits := `{"ok":[0,0,0]}`, 1
			if c.what == "nothing is pending" {
				want, commits = `{"ok":[1,2,3]}`, 0
			}
			n := 0
			for _, line := range w.History[begin:] {
				if strings.Contains(line, "commit:after(Parent/a)/start") {
					n++
				}
			}
			if got != want || n != commits {
				t.Errorf("got %s, want %s; %d commits at the start, want %d", got, want, n, commits)
			}
			if err := w.Evict("Parent", "a"); err != nil {
				t.Fatal(err)
			}
			begin = len(w.History)
			w.Want(want, "Parent/a/left")
			if after(w, begin, "commit:after(Parent/a)/start") >= 0 {
				t.Error("the next start deletes again")
			}
		})
	}
}
