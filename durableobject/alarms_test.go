package durableobject_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/minidotest"
)

// alarmWorker asks what docs/semantics.md 19 to 21 say of alarms.
const alarmWorker = `
const wait = (ms) => scheduler.wait(ms);
const faulty = { built: [], left: 0 };
export class Faulty extends DurableObject {
  constructor(ctx, env) { super(ctx, env); faulty.built.push("built"); if (faulty.left-- > 0) { if (ctx.id.name === "block") ctx.blockConcurrencyWhile(async () => { throw new TypeError("block"); }); else throw new TypeError("constructor"); } }
  arm() { return this.ctx.storage.setAlarm(Date.now() + 30); }
  die() { this.ctx.abort("die"); }
  alarm(i) { faulty.built.push("alarm " + i.retryCount + " " + i.isRetry); }
}
export class A extends DurableObject {
  st = this.ctx.storage;
  log(...x) { const l = this.ctx.storage.kv.get("log") ?? []; l.push(x.join(" ")); this.ctx.storage.kv.put("log", l); }
  take() { const l = this.ctx.storage.kv.get("log") ?? []; this.ctx.storage.kv.put("log", []); return l; }
  async start(mode, ms = 20) { globalThis.modes ??= {}; globalThis.modes[this.ctx.id.toString()] = { mode, n: 0 }; this.mode = mode; const at = Date.now() + ms; await this.st.setAlarm(at); return (await this.st.getAlarm()) === at; }
  async getAlarm() { const a = await this.st.getAlarm(); return a === null ? null : Math.round((a - Date.now()) / 1000) }
  async setAlarm(ms) { await this.st.setAlarm(Date.now() + ms); }
  async deleteAlarm() { await this.st.deleteAlarm(); }
  async alarm(info) {
    const m = globalThis.modes[this.ctx.id.toString()]; m.n++;
    this.log("alarm", m.n, info.isRetry, info.retryCount, Object.keys(info).join(), Object.prototype.toString.call(info), typeof info.scheduledTime, this.ctx.id.name, await this.st.getAlarm());
    switch (m.mode) {
      case "ok": return;
      case "throwOnce": if (m.n === 1) throw new Error("once"); return;
      case "setAndThrow": if (m.n === 1) { await this.st.setAlarm(Date.now() + 100); throw new Error("x"); } return;
      case "setInHandler": if (m.n < 3) { await this.st.setAlarm(Date.now() + 50); this.log("set", (await this.st.getAlarm()) !== null); } return;
      case "setPast": if (m.n < 3) await this.st.setAlarm(1); return;
      case "delInHandler": await this.st.deleteAlarm(); this.log("after", await this.st.getAlarm()); return;
      case "delThenThrow": if (m.n === 1) { await this.st.deleteAlarm(); throw new Error("x"); } return;
      case "setDel": if (m.n === 1) { await this.st.setAlarm(Date.now() + 50); await this.st.deleteAlarm(); this.log("gone", await this.st.getAlarm()); } return;
      case "setDelThrow": if (m.n === 1) { await this.st.setAlarm(Date.now() + 50); await this.st.deleteAlarm(); throw new Error("x"); } return;
      case "abortOnce": if (m.n === 1) { this.ctx.abort("a"); } return;
      case "abortNoRetry": if (m.n === 1) { this.ctx.abort("a", { retryAlarm: false }); } return;
      case "deleteAll": if (m.n === 1) { await this.st.deleteAll(); this.log("after", await this.st.getAlarm()); } return;
      case "deleteAllThrow": if (m.n === 1) { await this.st.deleteAll(); throw new Error("x"); } return;
      case "setDeleteAll": if (m.n === 1) { await this.st.setAlarm(Date.now() + 50); await this.st.deleteAll(); this.log("after", await this.st.getAlarm()); } return;
      case "slow": await wait(300); this.log("end", (await this.st.getAlarm()) !== null); return;
      case "slowThrow": await wait(300); if (m.n === 1) throw new Error("x"); return;
      case "blockFail": if (m.n === 1) await this.ctx.blockConcurrencyWhile(async () => { throw new Error("b") }); return;
      case "badCommit": if (m.n === 1) { this.st.sql.exec("CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED); INSERT INTO c VALUES (1)"); } return;
      case "txn": if (m.n === 1) { await this.st.transaction(async (t) => { await t.setAlarm(Date.now() + 50); this.log("in", (await t.getAlarm()) !== null); t.rollback(); }); this.log("out", (await this.st.getAlarm()) !== null); } return;
      case "waitUntil": this.ctx.waitUntil(Promise.reject(new Error("w"))); return;
    }
  }
}
export class NoAlarm extends DurableObject { async set() { return [await attempt(() => this.ctx.storage.setAlarm(Date.now() + 100)), await attempt(() => this.ctx.storage.getAlarm()), await attempt(() => this.ctx.storage.deleteAlarm())]; } }
const of = (env, n) => env.A.getByName(n);
export default serve({
  async run(env, ctx, mode, ms = 400) { const s = of(env, mode); const out = [await attempt(() => s.start(mode))]; await wait(ms); out.push(await attempt(() => of(env, mode).take()), await attempt(() => of(env, mode).getAlarm())); return out; },
  async runSlow(env, ctx, mode, how) { const s = of(env, mode + how); const out = [await s.start(mode)]; await wait(150); out.push(await s.getAlarm()); if (how === "set") await s.setAlarm(1000); if (how === "delete") await s.deleteAlarm(); if (how === "setDelete") { await s.setAlarm(1000); await s.deleteAlarm(); } out.push(await s.getAlarm()); await wait(3300); out.push(await of(env, mode + how).take(), await of(env, mode + how).getAlarm()); return out; },
  async between(env, ctx, how) { const n = "between" + how; const s = of(env, n); const out = [await s.start("throwOnce")]; await wait(200); out.push(await s.getAlarm()); if (how === "set") await s.setAlarm(300); if (how === "delete") await s.deleteAlarm(); if (how === "later") await s.setAlarm(3300); out.push(await s.getAlarm()); await wait(3200); out.push(await of(env, n).take(), await s.getAlarm()); await wait(1000); out.push(await s.take()); return out; },
  async faulty(env, ctx, n) { const s = env.Faulty.getByName(n); faulty.left = 0; await s.arm(); await attempt(() => s.die()); faulty.built = []; faulty.left = 2; await wait(9000); return faulty.built; },
  async no(env) { return await env.NoAlarm.getByName("x").set(); },
  async replace(env) { const s = of(env, "replace"); await s.start("ok", 1000); await s.setAlarm(50); await wait(200); const out = [await s.take()]; await s.setAlarm(50); await s.setAlarm(400); await wait(200); out.push(await s.take()); await wait(400); out.push(await s.take()); await s.setAlarm(50); await s.deleteAlarm(); await wait(200); out.push(await s.take(), await s.getAlarm()); return out; },
});
`

// clockwork is an object whose alarms leave a trace: what fired, when, under
// which name.
const clockwork = `
export class Clock extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS fired (scheduled INTEGER, at INTEGER, name TEXT, retry INTEGER); CREATE TABLE IF NOT EXISTS acked (n INTEGER)");
  }
  get #sql() { return this.ctx.storage.sql; }
  async arm(n, ms, chain = 0, fail = 0) {
    this.#sql.exec("INSERT INTO acked VALUES (?)", n);
    this.ctx.storage.kv.put("chain", chain);
    this.ctx.storage.kv.put("fail", fail);
    await this.ctx.storage.setAlarm(Date.now() + ms);
    return n;
  }
  async clear(n) { this.#sql.exec("INSERT INTO acked VALUES (?)", n); await this.ctx.storage.deleteAlarm(); return n; }
  async wipe(n) { await this.ctx.storage.deleteAll(); return n; }
  async alarm(info) {
    const fail = this.ctx.storage.kv.get("fail") ?? 0, chain = this.ctx.storage.kv.get("chain") ?? 0;
    this.#sql.exec("INSERT INTO fired VALUES (?, ?, ?, ?)", info.scheduledTime, Date.now(), this.ctx.id.name, info.retryCount);
    if (fail > 0) { this.ctx.storage.kv.put("fail", fail - 1); throw new Error("as asked"); }
    if (chain > 0) { this.ctx.storage.kv.put("chain", chain - 1); await this.ctx.storage.setAlarm(Date.now() + 1000); }
    await this.env.Clock.getByName("witness").saw(info.scheduledTime);
  }
  async disarmed() { return (await this.ctx.storage.getAlarm()) === null ? 1 : 0; }
  saw(x) { this.ctx.storage.put("saw", x); }
  async report() {
    const alarm = await this.ctx.storage.getAlarm();
    return { fired: this.#sql.exec("SELECT * FROM fired").toArray(), acked: this.#sql.exec("SELECT n FROM acked").toArray().map((r) => r.n), alarm, chain: this.ctx.storage.kv.get("chain") ?? 0 };
  }
}
export default serve({});
`

// report is what a Clock object says of itself.
type report struct {
	OK struct {
		Fired []struct {
			Scheduled, At int64
			Name          string
			Retry         int
		}
		Acked []int
		Alarm *int64
		Chain int
	}
}

func reportOf(w *minidotest.World, name string) report {
	w.T().Helper()
	var r report
	text := w.Call("Clock/" + name + "/report")
	if err := json.Unmarshal([]byte(text), &r); err != nil || strings.Contains(text, `"err"`) {
		w.T().Fatalf("report: %s", text)
	}
	return r
}

// step is one request of a scenario, or, without a method, time that passes.
type step struct {
	method string
	args   []any
	pause  time.Duration
}

// scenarios move an alarm in each way in which row and index must agree.
var scenarios = map[string][]step{
	"set":     {{method: "arm", args: []any{1, 1000}}, {pause: 2 * time.Second}},
	"past":    {{method: "arm", args: []any{1, -5000}}, {pause: 2 * time.Second}},
	"earlier": {{method: "arm", args: []any{1, 60000}}, {method: "arm", args: []any{2, 1000}}, {pause: 2 * time.Second}},
	"later":   {{method: "arm", args: []any{1, 1000}}, {method: "arm", args: []any{2, 60000}}},
	"clear":   {{method: "arm", args: []any{1, 60000}}, {method: "clear", args: []any{2}}},
	"again":   {{method: "arm", args: []any{1, 60000}}, {method: "clear", args: []any{2}}, {method: "arm", args: []any{3, 30000}}},
	"chain":   {{method: "arm", args: []any{1, 1000, 3}}, {pause: 10 * time.Second}},
	"retry":   {{method: "arm", args: []any{1, 1000, 1, 2}}, {pause: 30 * time.Second}},
	"wipe":    {{method: "arm", args: []any{1, 60000}}, {method: "wipe", args: []any{2}}},
}

// play performs a scenario until it ends or the world dies. acked is the number
// of steps whose answer arrived.
func play(w *minidotest.World, steps []step) (acked int) {
	for _, s := range steps {
		if s.method == "" {
			over := false
			w.Clock().AfterFunc(s.pause, func() { over = true })
			if w.Until(func() bool { return over }) != nil {
				return acked
			}
			continue
		}
		r := w.Post("Clock/a/"+s.method, s.args...)
		if w.Until(r.Done) != nil && r.Status != 200 {
			return acked
		}
		acked++
	}
	return acked
}

// Whatever effect point a process dies at, with the next start and no request:
// what was acknowledged is there, an alarm that was acknowledged fires, not
// early, under the object's name, and in the end neither row nor index holds an
// alarm.
func TestAlarmsSurviveDeathAtEveryPoint(t *testing.T) {
	minidotest.EachDeath(t, testAlarmsSurviveDeath)
}

func testAlarmsSurviveDeath(t *testing.T, d minidotest.Death) {
	names := []string{"earlier", "chain", "set", "past", "later", "clear", "again", "retry", "wipe"}
	switch {
	case testing.Short():
		names = names[:2]
	case d.LosesPower(): // at twice as many moments
		names = []string{"earlier", "chain", "wipe"}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			steps := scenarios[name]
			w := minidotest.NewWorker(t, clockwork, d.With(minidotest.Options{}))
			play(w, steps)
			numbers := moments(w, d)
			if len(numbers) < 4 {
				t.Fatalf("only %d effects", len(numbers))
			}
			first, deaths := w, 0
			for _, n := range numbers {
				w := first.Again(d.With(minidotest.Options{Kill: func(p killpoint.Point) bool { return p.Number == n }}))
				acked := play(w, steps)
				if !w.Dead() {
					w.Stop()
					continue
				}
				deaths++
				where := w.Logged("killed at")[0]
				w = w.Revive()
				w.Advance(time.Hour)
				checkAlarms(t, where, steps, acked, w)
				w.Stop()
			}
			if deaths < len(numbers)/2 {
				t.Errorf("%d deaths at %d effects", deaths, len(numbers))
			}
		})
	}
}

// A handler that always throws is called seven times: after 2 s, doubling, with
// at most a quarter more; then the alarm is dropped. Never early (docs/semantics.md 20, 21).
func TestAlarmRetries(t *testing.T) {
	w := minidotest.NewWorker(t, clockwork, minidotest.Options{})
	w.Want(`{"ok":1}`, "Clock/a/arm", 1, 1000, 0, 100)
	began := w.Now()
	w.Advance(time.Hour)
	fired := reportOf(w, "a").OK.Fired
	if len(fired) != 7 {
		t.Fatalf("%d calls: %+v", len(fired), fired)
	}
	wait, last := time.Second, began
	for i, f := range fired {
		at := time.UnixMilli(f.At)
		if got := at.Sub(last); got < wait || got > wait+wait/4+time.Millisecond || f.Retry != i || f.Name != "a" {
			t.Errorf("call %d came %v after the one before, want %v; %+v", i, got, wait, f)
		}
		wait, last = 2*time.Second<<i, at
	}
	w.Want(`{"ok":1}`, "Clock/a/disarmed")
	w = w.Restart() // what was dropped stays so when the object is opened again
	w.Want(`{"ok":1}`, "Clock/a/disarmed")
	w.Advance(time.Hour)
	if n := len(reportOf(w, "a").OK.Fired); n != 7 {
		t.Errorf("%d calls after a restart", n)
	}
}

// An alarm whose handler aborts the object each time is dropped, too.
func TestAlarmRetriesOfAborts(t *testing.T) {
	w := minidotest.NewWorker(t, `
export class A extends DurableObject {
  arm() { return this.ctx.storage.setAlarm(Date.now() + 1); }
  async alarm(i) { await this.env.W.getByName("w").saw(i.retryCount); this.ctx.abort("no"); }
  async armed() { return await this.ctx.storage.getAlarm() !== null; }
}
export class W extends DurableObject { all = []; saw(x) { this.all.push(x); } seen() { return this.all; } }
export default serve({});
`, minidotest.Options{})
	w.Call("A/a/arm")
	w.Advance(time.Hour)
	w.Want(`{"ok":[0,1,2,3,4,5,6]}`, "W/w/seen")
	w.Want(`{"ok":false}`, "A/a/armed")
}

// Alarms fire after a restart with no request, overdue ones at once and under
// the object's name; retry counts begin anew (docs/semantics.md 22, 35).
func TestAlarmsAfterRestart(t *testing.T) {
	w := minidotest.NewWorker(t, clockwork, minidotest.Options{})
	w.Want(`{"ok":1}`, "Clock/a/arm", 1, 5000, 1)
	w.Want(`{"ok":1}`, "Clock/b/arm", 1, 100000)
	w.Want(`{"ok":1}`, "Clock/c/arm", 1, 10, 0, 1)
	w.Advance(time.Second)
	w.Stop()
	o := w.Options()
	o.Start = w.Now().Add(time.Minute) // nothing ran for a minute
	w = minidotest.NewWorld(t, o)
	w.Advance(5 * time.Second)
	a, b, c := reportOf(w, "a").OK, reportOf(w, "b").OK, reportOf(w, "c").OK
	if len(a.Fired) != 2 || a.Fired[0].Name != "a" || a.Fired[0].At != o.Start.UnixMilli() || a.Chain != 0 {
		t.Errorf("a: %+v", a)
	}
	if len(b.Fired) != 0 || b.Alarm == nil {
		t.Errorf("b: %+v", b)
	}
	// An ordinary throw keeps what was written before it.
	if len(c.Fired) != 2 || c.Fired[1].Retry != 0 {
		t.Errorf("c: %+v", c)
	}
	w.Advance(time.Minute)
	if b := reportOf(w, "b").OK; len(b.Fired) != 1 || b.Fired[0].Name != "b" {
		t.Errorf("b: %+v", b)
	}
}

// A handler is cut off after 15 minutes and called again.
func TestAlarmTimeLimit(t *testing.T) {
	w := minidotest.NewWorker(t, `
let calls = 0;
export class Slow extends DurableObject {
  arm() { return this.ctx.storage.setAlarm(Date.now() + 1); }
  async alarm() { calls++; this.ctx.storage.put("n", calls); if (calls === 1) await new Promise(() => {}); }
  n() { return this.ctx.storage.get("n"); }
}
export default serve({});
`, minidotest.Options{})
	w.Call("Slow/a/arm")
	w.Advance(14 * time.Minute)
	w.Want(`{"ok":1}`, "Slow/a/n")
	w.Advance(2 * time.Minute)
	w.Want(`{"ok":2}`, "Slow/a/n")
}

// checkAlarms judges the state an hour after the last life began.
func checkAlarms(t *testing.T, where string, steps []step, acked int, w *minidotest.World) {
	t.Helper()
	indexed := indexed(w, "Clock")
	r := reportOf(w, "a").OK
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s, %d steps acknowledged: %s\n%+v", where, acked, fmt.Sprintf(format, args...), r)
	}
	// The step after the last acknowledged one may or may not have happened.
	var applied int // steps that the object remembers
	for _, n := range r.Acked {
		applied = max(applied, n)
	}
	wiped := steps[max(acked-1, 0)].method == "wipe" || acked < len(steps) && steps[acked].method == "wipe" && len(r.Acked) == 0
	if applied < acked && !wiped {
		fail("an acknowledged write is lost")
	}
	if r.Alarm != nil || len(indexed) > 0 {
		fail("an alarm is left: row %v, index %v", r.Alarm, indexed)
	}
	var last step
	if applied > 0 {
		last = steps[applied-1]
	}
	if last.method == "arm" && !wiped {
		if len(r.Fired) == 0 {
			fail("the alarm did not fire")
		}
		if r.Chain != 0 {
			fail("the chain of alarms broke")
		}
	}
	for _, f := range r.Fired {
		if f.At < f.Scheduled || f.Name != "a" {
			fail("fired early or without its name: %+v", f)
		}
	}
}

// indexed lists the alarm index of a class, from its file.
func indexed(w *minidotest.World, class string) (names []string) {
	w.T().Helper()
	path := filepath.Join(w.Dir(), "v3", "do", "test-"+class, "metadata.sqlite")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil // the class never had an object
	}
	c, err := sqlite.Open(sqlite.Options{Path: path, Now: w.Clock().Now, Rand: entropy.NewSeeded(1)})
	if err != nil {
		w.T().Fatal(err)
	}
	defer c.Close()
	st, _, err := c.Prepare("SELECT actor_name FROM _cf_ALARM ORDER BY actor_id", false)
	if err != nil {
		w.T().Fatal(err)
	}
	defer st.Finalize()
	for {
		row, err := st.Step()
		if err != nil {
			w.T().Fatal(err)
		}
		if !row {
			return names
		}
		names = append(names, st.ColumnText(0))
	}
}
