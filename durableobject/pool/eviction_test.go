package pool_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/runtime/minidotest"
)

// evictionWorker counts the lives of objects in module state, and has objects
// do what keeps them awake.
const evictionWorker = `
let module = 0;
const lives = {};
export class E extends DurableObject {
  constructor(ctx, env) { super(ctx, env); lives[ctx.id.name] = (lives[ctx.id.name] ?? 0) + 1; }
  lives() { return lives[this.ctx.id.name]; }
  bump() { return ++module; }
  timer() { setTimeout(() => {}, 1e9); }
  hold() { this.ctx.waitUntil(new Promise(() => {})); }
  async long(s) { await scheduler.wait(s * 1000); return "done"; }
  async store(s) { await scheduler.wait(s * 1000); await this.ctx.storage.put("k", 1); await scheduler.wait(1); return "stored"; }
  async put(k) { await this.ctx.storage.put(k, 1); }
  async uncommitted() { this.ctx.storage.transaction(async (t) => { await t.put("lost", 1); await scheduler.wait(1e6); }); }
  get(k) { return this.ctx.storage.get(k); }
  fetch() {
    let told = 0;
    return new Response(new ReadableStream({ async pull(c) { await scheduler.wait(20_000); told++ ? c.close() : c.enqueue(new TextEncoder().encode("told")); } }));
  }
  arm(ms) { return this.ctx.storage.setAlarm(Date.now() + ms); }
  async alarm() { await this.ctx.storage.put("fired", ((await this.ctx.storage.get("fired")) ?? 0) + 1); }
}
const kept = {};
export default serve({
  async hold(env, ctx, name) { kept[name] = env.E.getByName(name); return kept[name].lives(); },
  async again(env, ctx, name) { return kept[name].lives(); },
  async listen(env, ctx, name) { return (await env.E.getByName(name).fetch("http://e/")).text(); },
});
`

// Which policy evicts what, and when: idle objects after 10 s; what keeps an
// object awake keeps it for ever locally, and for 70 to 140 s in production;
// work in progress keeps it always.
func TestEvictionPolicies(t *testing.T) {
	prod := pool.ProdPolicy()
	local := pool.LocalPolicy()
	for _, c := range []struct {
		name   string
		policy *pool.Policy
		after  time.Duration
		want   string // lives of idle, timer, hold, long
	}{
		{"local", &local, 9 * time.Second, "1 1 1 1"},
		{"local later", &local, 12 * time.Second, "2 1 1 1"},
		{"local much later", &local, 200 * time.Second, "2 1 1 1"},
		{"prod", &prod, 12 * time.Second, "2 1 1 1"},
		{"prod 69 s", &prod, 69 * time.Second, "2 1 1 1"},
		{"prod later", &prod, 155 * time.Second, "2 2 2 1"},
		{"off", &pool.Policy{}, 300 * time.Second, "1 1 1 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := minidotest.NewWorker(t, evictionWorker, minidotest.Options{Eviction: c.policy})
			w.Call("E/idle/lives")
			w.Call("E/timer/timer")
			w.Call("E/hold/hold")
			w.Post("E/long/long", 1000)
			w.Advance(c.after)
			var got []string
			for _, name := range strings.Fields("idle timer hold long") {
				got = append(got, strings.Trim(w.Call("E/"+name+"/lives"), `{"ok:}`))
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("lives %s, want %s", s, c.want)
			}
		})
	}
}

// With durable_object_io_tasks_prevent_eviction what an object waits for keeps
// it for 15 minutes in production's policy, and no longer.
func TestPendingIOKeepsObjects(t *testing.T) {
	prod := pool.ProdPolicy()
	for _, c := range []struct {
		date string
		want string // lives of idle, timer, hold after 155 s, after 12 min more and after 15 min more
	}{
		{"2026-10-01", "2 1 1, 3 1 1, 4 2 2"},
		{"2026-09-30", "2 2 2, 3 3 3, 4 4 4"},
	} {
		w := minidotest.NewWorker(t, evictionWorker, minidotest.Options{Eviction: &prod, Date: c.date})
		names := strings.Fields("idle timer hold")
		w.Call("E/idle/lives")
		w.Call("E/timer/timer")
		w.Call("E/hold/hold")
		var got []string
		for _, after := range []time.Duration{155 * time.Second, 12 * time.Minute, 15 * time.Minute} {
			w.Advance(after)
			var lives []string
			for _, name := range names {
				lives = append(lives, strings.Trim(w.Call("E/"+name+"/lives"), `{"ok:}`))
			}
			got = append(got, strings.Join(lives, " "))
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s: lives %s, want %s", c.date, s, c.want)
		}
	}
}

// The moment of eviction is the seed's: the same in every run, within 70 to
// 140 s, and not the same for every object.
func TestEvictionTimesAreDrawn(t *testing.T) {
	prod := pool.ProdPolicy()
	var moments [2][]int
	for run := range moments {
		w := minidotest.NewWorker(t, evictionWorker, minidotest.Options{Eviction: &prod, Seed: 7})
		for _, n := range []string{"a", "b", "c"} {
			w.Call("E/" + n + "/timer")
		}
		for range 160 {
			w.Advance(time.Second)
			moments[run] = append(moments[run], w.Server.LiveObjects())
		}
		if moments[run][68] != 3 || moments[run][155] != 0 {
			t.Errorf("%d objects before 70 s, %d after 155 s", moments[run][68], moments[run][155])
		}
		steps := map[int]bool{}
		for _, n := range moments[run] {
			steps[n] = true
		}
		if len(steps) < 3 {
			t.Error("all objects were evicted in the same instant")
		}
	}
	for i := range moments[0] {
		if moments[0][i] != moments[1][i] {
			t.Fatalf("second %d: %d objects in one run, %d in another of the same seed", i, moments[0][i], moments[1][i])
		}
	}
}

// What each verb says and does: who is refused and why, what callers get, and
// what becomes of stubs.
func TestVerbs(t *testing.T) {
	const lost = `{"err":{"name":"Error","message":"Network connection lost.","retryable":true}}`
	w := minidotest.NewWorker(t, evictionWorker, minidotest.Options{})
	w.Want(`{"ok":1}`, "!hold", "a")
	if err := w.Act("E", "a", pool.Action{Verb: pool.Evict}); err != nil {
		t.Error("evict an idle object:", err)
	}
	if err := w.Act("E", "a", pool.Action{Verb: pool.Evict}); !errors.Is(err, pool.ErrNotRunning) {
		t.Error("evict what is not there:", err)
	}
	w.Want(`{"ok":2}`, "!again", "a") // the stub goes on
	w.Call("E/a/timer")
	refused := func(verb pool.Verb, object, want string) {
		t.Helper()
		err := w.Act("E", object, pool.Action{Verb: verb})
		var r *pool.RefusedError
		if !errors.As(err, &r) || !strings.Contains(r.Reason, want) {
			t.Errorf("%s %s: %v, want a refusal: %s", verb, object, err, want)
		}
	}
	refused(pool.Hibernate, "a", "1 timers are pending")
	long := w.Post("E/busy/long", 50)
	w.Advance(time.Second)
	refused(pool.Evict, "busy", "1 events are in progress")
	refused(pool.Hibernate, "busy", "1 events are in progress")
	if err := w.Act("E", "busy", pool.Action{Verb: pool.Evict, Force: true}); err != nil {
		t.Error("forced:", err)
	}
	if got := w.All(long)[0]; got != lost {
		t.Errorf("the caller of a forced eviction got %s", got)
	}
	w.Want(`{"ok":2}`, "E/busy/lives")

	told := w.Post("!listen", "s")
	w.Advance(time.Second)
	refused(pool.Evict, "s", "1 bodies are being streamed")
	if got := w.All(told)[0]; got != `{"ok":"told"}` {
		t.Errorf("the listener got %s", got)
	}
	if err := w.Act("E", "s", pool.Action{Verb: pool.Evict}); err != nil {
		t.Error("evict after the body:", err)
	}

	w.Call("E/c/put", "kept")
	w.Call("E/c/uncommitted")
	long = w.Post("E/c/long", 50)
	w.Advance(time.Second)
	if err := w.Act("E", "c", pool.Action{Verb: pool.Crash}); err != nil {
		t.Error("crash:", err)
	}
	if got := w.All(long)[0]; got != lost {
		t.Errorf("the caller of a crash got %s", got)
	}
	w.Want(`{"ok":1}`, "E/c/get", "kept")
	w.Want(`{"ok":null}`, "E/c/get", "lost")

	w.Want(`{"ok":1}`, "!hold", "d")
	long = w.Post("E/d/long", 50)
	w.Advance(time.Second)
	if err := w.Act("E", "d", pool.Action{Verb: pool.Abort, Reason: "because"}); err != nil {
		t.Error("abort:", err)
	}
	const because = `{"err":{"name":"Error","message":"because","durableObjectReset":true}}`
	if got := w.All(long)[0]; got != because {
		t.Errorf("the caller of an abort got %s", got)
	}
	w.Want(because, "!again", "d") // that stub is broken for ever
	w.Want(`{"ok":2}`, "E/d/lives")
}

// A code update stops work at its next storage access, and only there; a fresh
// instance answers meanwhile. What goes on for 30 s is cut.
func TestReset(t *testing.T) {
	const updated = `{"err":{"name":"Error","message":"Durable Object reset because its code was updated.","durableObjectReset":true}}`
	for _, scope := range []string{"object", "isolate"} {
		t.Run(scope, func(t *testing.T) {
			w := minidotest.NewWorker(t, evictionWorker, minidotest.Options{})
			finishing, storing, endless := w.Post("E/a/long", 20), w.Post("E/b/store", 20), w.Post("E/c/long", 1000)
			w.Call("E/d/put", "kept")
			w.Call("E/d/uncommitted")
			open := w.Post("E/d/long", 20)
			w.Advance(time.Second)
			if scope == "object" {
				for _, name := range []string{"a", "b", "c", "d"} {
					if err := w.Act("E", name, pool.Action{Verb: pool.Reset}); err != nil {
						t.Error(err)
					}
				}
			} else if err := w.ActOnIsolate(pool.Action{Verb: pool.Reset}); err != nil {
				t.Error(err)
			}
			if got := w.All(open)[0]; got != updated {
				t.Errorf("an object with an open transaction: %s", got)
			}
			fresh := map[string]string{"object": `{"ok":2}`, "isolate": `{"ok":1}`}[scope]
			w.Want(fresh, "E/a/lives")
			w.Want(fresh, "E/b/lives")
			w.Want(`{"ok":1}`, "E/d/get", "kept")
			w.Want(`{"ok":null}`, "E/d/get", "lost")
			if endless.Done() || storing.Done() {
				t.Error("work was stopped before it used storage")
			}
			w.Advance(25 * time.Second)
			for _, c := range []struct {
				r    *minidotest.Response
				want string
			}{{finishing, `{"ok":"done"}`}, {storing, updated}} {
				if got := w.All(c.r)[0]; got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
			}
			w.Want(`{"ok":null}`, "E/b/get", "k")
			w.Advance(10 * time.Second)
			if !endless.Done() || endless.Text() == `{"ok":"done"}` {
				t.Errorf("work went on after 30 s: %s", endless.Text())
			}
		})
	}
}

// State in a module variable survives an eviction of scope object, and is gone
// after one of scope isolate and after a kill of the process.
func TestScopes(t *testing.T) {
	w := minidotest.NewWorker(t, evictionWorker, minidotest.Options{})
	w.Want(`{"ok":1}`, "E/a/bump")
	if err := w.Act("E", "a", pool.Action{Verb: pool.Evict}); err != nil {
		t.Fatal(err)
	}
	w.Want(`{"ok":2}`, "E/a/bump")
	w.Want(`{"ok":2}`, "E/a/lives")
	busy := w.Post("E/b/long", 30)
	w.Advance(time.Second)
	var refused *pool.RefusedError
	if err := w.ActOnIsolate(pool.Action{Verb: pool.Evict}); !errors.As(err, &refused) {
		t.Fatalf("an isolate with requests in progress was evicted: %v", err)
	}
	w.All(busy)
	if err := w.ActOnIsolate(pool.Action{Verb: pool.Evict}); err != nil {
		t.Fatal(err)
	}
	w.Want(`{"ok":1}`, "E/a/bump")
	w.Want(`{"ok":1}`, "E/a/lives")
	busy = w.Post("E/b/long", 30)
	w.Advance(time.Second)
	if err := w.ActOnIsolate(pool.Action{Verb: pool.Crash}); err != nil {
		t.Fatal(err)
	}
	if got := w.All(busy)[0]; got != "failed: Network connection lost." {
		t.Errorf("a request in an isolate that crashed: %s", got)
	}
	w.Want(`{"ok":1}`, "E/a/bump")
	w = w.Restart()
	w.Want(`{"ok":1}`, "E/a/bump")
}

// An alarm that is fired from outside runs now, also of an object that is not
// in memory; one without an alarm says so.
func TestFireAlarm(t *testing.T) {
	w := minidotest.NewWorker(t, evictionWorker, minidotest.Options{})
	w.Call("E/a/arm", 3600e3)
	for _, evicted := range []bool{false, true} {
		if evicted {
			w.Call("E/a/arm", 3600e3)
			if err := w.Act("E", "a", pool.Action{Verb: pool.Evict}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Act("E", "a", pool.Action{Verb: pool.FireAlarm}); err != nil {
			t.Fatal(err)
		}
		w.Advance(time.Second)
	}
	w.Want(`{"ok":2}`, "E/a/get", "fired")
	if err := w.Act("E", "a", pool.Action{Verb: pool.FireAlarm}); err == nil {
		t.Error("an alarm was fired that is not set")
	}
}

// An isolate that new code has replaced goes as soon as nothing is in flight in
// it, not only when the time of grace is over: it holds a whole heap.
func TestReplacedIsolateGoesWhenIdle(t *testing.T) {
	w := minidotest.NewWorker(t, evictionWorker, minidotest.Options{})
	pending := func() (why string) {
		done := false
		w.Server.Pending(0, func(s string) { why, done = s, true })
		if err := w.Until(func() bool { return done }); err != nil {
			t.Fatal(err)
		}
		return why
	}
	w.Want(`{"ok":1}`, "E/a/lives")
	busy := w.Post("E/b/long", 5)
	w.Advance(time.Second)
	if err := w.ActOnIsolate(pool.Action{Verb: pool.Reset}); err != nil {
		t.Fatal(err)
	}
	w.Advance(3 * time.Second)
	if why := pending(); why != "an earlier worker has work in flight" || busy.Done() {
		t.Errorf("with work in flight: %q", why)
	}
	w.Advance(3 * time.Second)
	if why := pending(); why != "" || !busy.Done() {
		t.Errorf("when the work is done: %q", why)
	}
}
