package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/runtime/config"
	servers "minido.dev/minido/runtime/server"
	"minido.dev/minido/runtime/world"
)

// bundles are shared by the tests that simulate: each project is bundled once.
var bundles servers.Bundles

// simulation starts a project in a world of its own.
func simulation(t testing.TB, project string, o world.Options) *world.World {
	t.Helper()
	o.Config.Dir, o.Dir, o.CacheDir, o.Bundles = project, t.TempDir(), t.TempDir(), &bundles
	o.Limit = 48 * time.Hour
	w, err := world.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Stop(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// askWorld does a request to its end.
func askWorld(t testing.TB, w *world.World, method, path string, into any) {
	t.Helper()
	r := w.Send(world.Request(method, "http://localhost"+path, ""))
	if err := w.Until(r.Done); err != nil || r.Status != 200 {
		t.Fatalf("%s %s: %d %s %v %v", method, path, r.Status, r.Body, r.Err, err)
	}
	if into != nil {
		if err := json.Unmarshal(r.Body, into); err != nil {
			t.Fatalf("%s %s: %s: %v", method, path, r.Body, err)
		}
	}
}

// logged are the lines of the history that contain part.
func logged(w *world.World, part string) []string {
	return slices.DeleteFunc(slices.Clone(w.History), func(line string) bool { return !strings.Contains(line, part) })
}

// realTime is how long the machine's clock went on since began.
func realTime(began time.Time) time.Duration { return clock.Real{}.Now().Sub(began) }

// loseIsolate throws the goja runtime away, with whatever it does.
func loseIsolate(t testing.TB, w *world.World) {
	t.Helper()
	var result error
	done := false
	w.Server.ActOnIsolate(pool.Action{Verb: pool.Evict, Force: true}, func(err error) { result, done = err, true })
	if err := w.Until(func() bool { return done }); err != nil || result != nil {
		t.Fatal(err, result)
	}
}

// A research agent works for half an hour, one topic after the other, and loses
// its isolate every 100 s. Each topic ends with the whole answer, once; the
// fibers that were cut were recovered by their own heartbeat.
func TestHalfAnHourOfResearchWithEvictions(t *testing.T) {
	t.Parallel()
	w := simulation(t, fixture(t, "fibers"), world.Options{Config: config.Options{Vars: []string{"STEP_MS:60000", "KEEP_ALIVE_MS:30000"}}})
	const agent = "/agents/research-agent/r1"
	askWorld(t, w, "GET", agent+"/done", nil)
	began, realBegan := w.Now(), clock.Real{}.Now()
	topics, evictions := 0, 0
	for ; topics < 5; topics++ {
		askWorld(t, w, "POST", agent+"/start?topic=tides", nil)
		for done := false; !done; askWorld(t, w, "GET", agent+"/done", &done) {
			if err := w.Advance(100 * time.Second); err != nil {
				t.Fatal(err)
			}
			loseIsolate(t, w)
			evictions++
			if err := w.Advance(30 * time.Second); err != nil { // until the heartbeat
				t.Fatal(err)
			}
		}
	}
	took, real := w.Now().Sub(began), realTime(realBegan)
	var found struct {
		Jobs []struct {
			Status      string
			Completions int
			Answer      string
		}
		Interruptions []any
		Runs          []any
	}
	askWorld(t, w, "GET", agent+"/inspect", &found)
	for _, j := range found.Jobs {
		if j.Status != "done" || j.Completions != 1 || strings.Count(j.Answer, ";") != 4 {
			t.Errorf("%+v", j)
		}
	}
	if len(found.Jobs) != topics || len(found.Runs) != 0 || len(found.Interruptions) < 10 || evictions < 10 || took < 25*time.Minute {
		t.Errorf("%d jobs, %d runs, %d interruptions, %d evictions in %v", len(found.Jobs), len(found.Runs), len(found.Interruptions), evictions, took)
	}
	t.Logf("%v of virtual time with %d evictions took %v", took, evictions, real)
}

// An agent that does something every ten minutes does it 144 times a day, and is
// out of memory in between.
func TestOneDayOfSchedules(t *testing.T) {
	t.Parallel()
	w := simulation(t, schedules(t), world.Options{Eviction: pool.ProdPolicy()})
	askWorld(t, w, "GET", "/every?seconds=600", nil)
	began := clock.Real{}.Now()
	if err := w.Advance(24*time.Hour + time.Second); err != nil {
		t.Fatal(err)
	}
	real := realTime(began)
	var notes []int64
	askWorld(t, w, "GET", "/notes", &notes)
	if len(notes) != 144 {
		t.Errorf("%d notes in a day", len(notes))
	}
	if woke := len(logged(w, "log constructed")); woke < 140 {
		t.Errorf("constructed %d times", woke)
	}
	t.Logf("24 h took %v", real)
}

// schedules is a project whose object does something again and again.
func schedules(t testing.TB) string {
	return oneClass(t, `
import { DurableObject } from "cloudflare:workers";
export class Planner extends DurableObject {
  constructor(ctx, env) { super(ctx, env); console.log("constructed"); ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS notes (at INTEGER)"); }
  async every(seconds) { await this.ctx.storage.put("every", seconds * 1000); await this.ctx.storage.setAlarm(Date.now() + seconds * 1000); }
  notes() { return this.ctx.storage.sql.exec("SELECT at FROM notes ORDER BY rowid").toArray().map((r) => r.at); }
  async alarm() {
    this.ctx.storage.sql.exec("INSERT INTO notes (at) VALUES (?)", Date.now());
    await this.ctx.storage.setAlarm(Date.now() + await this.ctx.storage.get("every"));
  }
}
export default { async fetch(req, env) {
  const url = new URL(req.url), p = env.DO.getByName("p");
  if (url.pathname === "/every") { await p.every(Number(url.searchParams.get("seconds"))); return Response.json(true); }
  return Response.json(await p.notes());
} };`, "Planner")
}

// oneClass writes a worker with one class, bound as DO.
func oneClass(t testing.TB, code, class string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"worker.js": code, "wrangler.json": fmt.Sprintf(`{"name": "long", "main": "worker.js",
		"compatibility_date": "2026-08-01", "compatibility_flags": ["nodejs_compat"],
		"durable_objects": {"bindings": [{"name": "DO", "class_name": %q}]}, "migrations": [{"tag": "1", "new_sqlite_classes": [%q]}]}`, class, class)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const slowAlarm = `
import { DurableObject } from "cloudflare:workers";
export class Slow extends DurableObject {
  async go(ms, fail) { this.ctx.storage.kv.put("ms", ms); this.ctx.storage.kv.put("fail", fail); await this.ctx.storage.setAlarm(Date.now() + 1000); }
  async alarm(info) {
    console.log("alarm begins, retry " + info.retryCount);
    const ms = this.ctx.storage.kv.get("ms");
    if (ms) await new Promise((r) => setTimeout(r, ms));
    if (this.ctx.storage.kv.get("fail")) throw new Error("on purpose");
    console.log("alarm ends");
  }
}
export default { async fetch(req, env) {
  const q = new URL(req.url).searchParams;
  await env.DO.getByName("s").go(Number(q.get("ms")), q.get("fail") === "1");
  return Response.json(true);
} };`

// An alarm handler that has run for 15 minutes is cut, and the alarm is tried
// again; one of 14 minutes ends by itself.
func TestAlarmIsCutAfterAQuarterOfAnHour(t *testing.T) {
	t.Parallel()
	dir := oneClass(t, slowAlarm, "Slow")
	for _, c := range []struct {
		minutes      int
		begins, ends bool
	}{{14, false, true}, {20, true, false}} {
		w := simulation(t, dir, world.Options{})
		askWorld(t, w, "POST", fmt.Sprintf("/?ms=%d", c.minutes*60_000), nil)
		if err := w.Advance(16 * time.Minute); err != nil {
			t.Fatal(err)
		}
		again, ended := len(logged(w, "alarm begins")) > 1, len(logged(w, "alarm ends")) == 1
		if again != c.begins || ended != c.ends {
			t.Errorf("%d minutes: begins again %v, ends %v\n%s", c.minutes, again, ended, strings.Join(logged(w, "alarm"), "\n"))
		}
	}
}

// A handler that always throws is tried six more times, after 2, 4, 8, 16, 32
// and 64 s, and then no more.
func TestAlarmRetriesAreExhausted(t *testing.T) {
	t.Parallel()
	w := simulation(t, oneClass(t, slowAlarm, "Slow"), world.Options{})
	askWorld(t, w, "POST", "/?fail=1", nil)
	if err := w.Advance(24 * time.Hour); err != nil {
		t.Fatal(err)
	}
	var at []time.Duration
	for _, line := range logged(w, "alarm begins") {
		text, _, _ := strings.Cut(line, " ")
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, d)
	}
	if len(at) != 7 {
		t.Fatalf("%d tries: %v", len(at), at)
	}
	for i, want := 1, 2*time.Second; i < len(at); i, want = i+1, 2*want {
		if gap := at[i] - at[i-1]; gap < want || gap > want+want/2 {
			t.Errorf("try %d came after %v, want %v and up to half as much for chance", i, gap, want)
		}
	}
}

// Under production's policy an agent that keeps itself alive goes on for ten
// minutes in one life; the same work without it is cut after 70 to 140 s.
func TestKeepAliveAgainstProductionsEviction(t *testing.T) {
	t.Parallel()
	dir := oneClass(t, `
import { DurableObject } from "cloudflare:workers";
export class Worker extends DurableObject {
  constructor(ctx, env) { super(ctx, env); console.log("constructed"); }
  // keepAlive of the agents SDK: an alarm every 30 s.
  async work(keep) {
    this.ctx.storage.kv.put("keep", keep);
    if (keep) await this.ctx.storage.setAlarm(Date.now() + 30_000);
    setTimeout(async () => { await this.ctx.storage.deleteAlarm(); console.log("work is done"); }, 600_000);
  }
  async alarm() { await this.ctx.storage.setAlarm(Date.now() + 30_000); }
}
export default { async fetch(req, env) { await env.DO.getByName("w").work(new URL(req.url).searchParams.has("keep")); return Response.json(true); } };`, "Worker")
	for _, keep := range []bool{true, false} {
		w := simulation(t, dir, world.Options{Eviction: pool.ProdPolicy()})
		path := "/"
		if keep {
			path = "/?keep"
		}
		askWorld(t, w, "POST", path, nil)
		if err := w.Advance(20 * time.Minute); err != nil {
			t.Fatal(err)
		}
		if done := len(logged(w, "work is done")) == 1; done != keep {
			t.Errorf("keep %v: done %v", keep, done)
		}
		if lives := len(logged(w, "log constructed")); lives != 1 {
			t.Errorf("keep %v: constructed %d times", keep, lives)
		}
	}
}
