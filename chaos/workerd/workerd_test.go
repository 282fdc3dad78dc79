package workerd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
)

// write makes files below dir.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
}

// The wrangler of a project is that of the nearest node_modules; another one is named by its
// folder or itself. What is missing is said with how to install it.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"node_modules/.bin/" + program():        "",
		"node_modules/workerd/package.json":     `{"version": "1.2"}`,
		"packages/app/wrangler.json":            "{}",
		"other/node_modules/.bin/" + program():  "",
		"none/node_modules/workerd/README":      "",
		"broken/node_modules/.bin/" + program(): "", "broken/node_modules/workerd/package.json": "{",
	})
	at := func(path string) string { return filepath.Join(dir, filepath.FromSlash(path)) }
	for _, x := range []struct{ project, given, want, name string }{
		{"packages/app", ByName, "node_modules/.bin", "workerd 1.2"},
		{"packages/app", at("other"), "other/node_modules/.bin", "workerd 1.2"},
		{"packages/app", at("other/node_modules"), "other/node_modules/.bin", "workerd 1.2"},
		{"packages/app", at("node_modules/.bin/" + program()), "node_modules/.bin", "workerd 1.2"},
	} {
		got, err := Find(at(x.project), x.given)
		if err != nil || got.Bin != at(x.want) || got.Wrangler != filepath.Join(got.Bin, program()) || got.Name() != x.name {
			t.Errorf("%s: %+v %q, %v", x.given, got, got.Name(), err)
		}
	}
	_, err := Find(at("packages/app"), at("none"))
	if !chaos.IsUsage(err) || !strings.Contains(err.Error(), "npm install --save-dev wrangler") || !strings.Contains(err.Error(), at("none")) {
		t.Errorf("none: %v", err)
	}
	if _, err := Find("/", ByName); !chaos.IsUsage(err) {
		t.Errorf("a project without node_modules: %v", err)
	}
	if _, err := Find(at("broken"), ByName); err == nil {
		t.Error("a broken package.json is taken")
	}
}

// database makes the database of an object with a table t of these values, in a state directory.
func database(t *testing.T, persist string, values ...string) {
	t.Helper()
	dir := filepath.Join(persist, "v3", "do", "app-Room")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	conn, err := sqlite.Open(sqlite.Options{Path: filepath.Join(dir, strings.Repeat("a", 64)+".sqlite"), Now: clock.Real{}.Now, Rand: entropy.System{}})
	if err != nil {
		t.Fatal(err)
	}
	err = conn.Exec("CREATE TABLE IF NOT EXISTS t (v TEXT)")
	for _, v := range values {
		err = errors.Join(err, conn.Exec("INSERT INTO t VALUES ('"+v+"')"))
	}
	if err := errors.Join(err, conn.Close()); err != nil {
		t.Fatal(err)
	}
}

func call(op string) history.Event { return history.Event{Kind: history.Call, Who: "client", Op: op} }
func answer(op string) history.Event {
	return history.Event{Kind: history.Return, Who: "client", Op: op}
}

// numbered gives events their numbers and times, 10 ms apart.
func numbered(events ...history.Event) []history.Event {
	for i := range events {
		events[i].N, events[i].AtMs = i+1, float64(10*i)
	}
	return events
}

// A moment has what was seen before the death's point: not what clients learnt of the death,
// not questions, not what never reached the server.
func TestMomentOf(t *testing.T) {
	dir := t.TempDir()
	events := numbered(call("a"), answer("a"), history.Event{Kind: history.Call, Who: "client", Op: "q", Until: true}, answer("q"), call("b"),
		history.Event{Kind: history.Unknown, Who: "client", Op: "b"}, history.Event{Kind: history.Effect, Who: "sink"}, call("c"), history.Event{Kind: history.Fail, Who: "client", Op: "c", Text: "not sent: refused"},
		history.Event{Kind: history.Point, Who: "server-1", Text: "commit:before(A/a)/rpc#1", Data: []byte(`{"at_ms":40,"after":5}`)},
		history.Event{Kind: history.Kill, Who: "server-1"}, call("d"), history.Event{Kind: history.Kill, Who: "server-2"})
	m, err := MomentOf(events, 0, dir)
	if err != nil || len(m.seen) != 2 || m.seen["call client"] != 2 || m.seen["return client"] != 1 || !sent(m.last) {
		t.Errorf("%+v, %v", m.seen, err)
	}
	if m, err = MomentOf(events, 1, dir); err != nil || m.seen["call client"] != 1 || len(m.seen) != 1 {
		t.Errorf("the second: %+v, %v", m.seen, err)
	}
	if _, err = MomentOf(events, 2, dir); err == nil {
		t.Error("there is a third")
	}
	if got := Recovery(events); got != 0 {
		t.Errorf("recovery %v", got)
	}
	if got := Recovery(events[:12]); got != 10*time.Millisecond {
		t.Errorf("recovery %v", got)
	}
	clean := numbered(call("a"), answer("a"), call("b"), call("x"), answer("b"))
	if got := (Moment{seen: map[string]int{"call client": 2, "return client": 1}}).Gap(clean, time.Hour); got != 20*time.Millisecond {
		t.Errorf("gap %v", got)
	}
	if got := (Moment{seen: map[string]int{"return client": 2}}).Gap(clean, time.Hour); got != time.Hour {
		t.Errorf("behind the last: %v", got)
	}
}

// machine is what a test's trigger kills, and its clock.
type machine struct {
	clock *clock.Virtual
	kills int
	o     TriggerOptions
}

// newMachine has the state of a death in which t holds one, and one that lives.
func newMachine(t *testing.T, way Way, seen map[string]int, stored ...string) *machine {
	t.Helper()
	death, live := t.TempDir(), t.TempDir()
	database(t, death, "one")
	if stored != nil {
		database(t, live, stored...)
	}
	m := &machine{clock: clock.NewVirtual(time.Unix(0, 0))}
	moment, err := MomentOf([]history.Event{{Kind: history.Kill}}, 0, death)
	if err != nil {
		t.Fatal(err)
	}
	moment.seen = seen
	m.o = TriggerOptions{Moment: moment, Way: way, Gap: 100 * time.Millisecond, Persist: live, Clock: m.clock, Kill: func() error { m.kills++; return nil }}
	return m
}

// By its state a death comes when that is stored, and at once if that is so when the
// moment's last event is seen; where the event is not news of the server, after a time; and
// when the moment is over, if it was not met.
func TestTrigger(t *testing.T) {
	byState, byTime := Way{ByState: true, Part: 0.5}, Way{Part: 0.5}
	t.Run("stored later", func(t *testing.T) {
		m := newMachine(t, byState, map[string]int{"call client": 1})
		k := Arm(m.o)
		k.Event(call("a"))
		k.Poll()
		if m.kills != 0 {
			t.Fatal("killed before it was stored")
		}
		database(t, m.o.Persist, "one")
		k.Poll()
		if how, err := k.How(); m.kills != 1 || how != "when what was stored became the finding's" || err != nil || !k.Killed() {
			t.Errorf("%d kills, %q, %v", m.kills, how, err)
		}
		k.Event(answer("a"))
		if k.Poll(); m.kills != 1 {
			t.Error("killed twice")
		}
	})
	t.Run("stored already", func(t *testing.T) {
		m := newMachine(t, byState, map[string]int{"call client": 1, "return client": 1}, "one")
		k := Arm(m.o)
		if k.Event(call("a")); m.kills != 0 {
			t.Fatal("killed at the call")
		}
		if k.Event(answer("a")); m.kills != 1 {
			t.Error("not killed at the answer")
		}
	})
	t.Run("stored before the call", func(t *testing.T) {
		m := newMachine(t, byState, map[string]int{"call client": 1}, "one")
		k := Arm(m.o)
		k.Event(call("a"))
		if k.Poll(); m.kills != 0 {
			t.Fatal("killed before the server can have the call")
		}
		if m.clock.Advance(50 * time.Millisecond); m.kills != 1 {
			t.Error("not killed after the time")
		}
	})
	t.Run("too late", func(t *testing.T) {
		m := newMachine(t, byState, map[string]int{"call client": 1}, "one", "two")
		k := Arm(m.o)
		k.Event(call("a"))
		if k.Event(call("b")); m.kills != 0 {
			t.Fatal("killed at a call")
		}
		if k.Event(answer("a")); m.kills != 1 {
			t.Error("not killed when the moment was over")
		}
	})
	t.Run("by time", func(t *testing.T) {
		m := newMachine(t, byTime, map[string]int{"effect sink": 1}, "two")
		k := Arm(m.o)
		k.Event(history.Event{Kind: history.Effect, Who: "sink"})
		if m.clock.Advance(49 * time.Millisecond); m.kills != 0 {
			t.Fatal("killed early")
		}
		if m.clock.Advance(time.Millisecond); m.kills != 1 {
			t.Error("not killed")
		}
	})
	t.Run("stopped", func(t *testing.T) {
		m := newMachine(t, byTime, nil, "two")
		k := Arm(m.o)
		if err := k.Stop(); err != nil {
			t.Fatal(err)
		}
		if m.clock.Advance(time.Second); m.kills != 0 || k.Killed() {
			t.Error("killed after Stop")
		}
	})
	t.Run("after the start", func(t *testing.T) {
		m := newMachine(t, byState, nil, "two")
		m.o.Moment.After = 30 * time.Millisecond
		k := Arm(m.o)
		k.Event(call("a"))
		if m.clock.Advance(30 * time.Millisecond); m.kills != 1 {
			t.Error("not killed")
		}
	})
}

// Tries by time are spread over the gap, and take turns with those by state.
func TestWayOf(t *testing.T) {
	seen := map[float64]bool{}
	for n := 1; n <= 16; n++ {
		w := WayOf(n)
		if w.ByState != (n%2 == 1) || w.Part <= 0 || w.Part >= 1 {
			t.Errorf("%d: %+v", n, w)
		}
		if !w.ByState {
			seen[w.Part] = true
		}
	}
	if len(seen) != 8 {
		t.Errorf("%v", seen)
	}
}

// A system is at rest when its files, and what happens outside, have been still, no sooner
// than it was in minido; what wrangler writes by itself does not count.
func TestRest(t *testing.T) {
	r := Rest{Persist: t.TempDir(), Least: 3 * time.Second}
	now := time.Unix(0, 0)
	at := func(d time.Duration, events int) bool {
		t.Helper()
		reached, why, err := r.Reached(now.Add(d), events)
		if err != nil || reached != (why == "") {
			t.Fatalf("%v %q %v", reached, why, err)
		}
		return reached
	}
	if at(0, 0) || at(2*time.Second, 0) {
		t.Error("at rest sooner than in minido")
	}
	if !at(3*time.Second, 0) {
		t.Error("not at rest")
	}
	if at(4*time.Second, 1) || at(4*time.Second+Still-1, 1) {
		t.Error("at rest when something has just happened")
	}
	write(t, r.Persist, map[string]string{"v3/observability/x.sqlite": "x"})
	if !at(4*time.Second+Still, 1) {
		t.Error("what wrangler writes counts")
	}
	database(t, r.Persist, "one")
	if at(8*time.Second, 1) {
		t.Error("at rest when something was just stored")
	}
}

// An alarm that is due soon is work, one that is due later is not.
func TestRestWaitsForAlarms(t *testing.T) {
	r := Rest{Persist: t.TempDir()}
	now := time.Unix(1000, 0)
	database(t, r.Persist)
	dir := filepath.Join(r.Persist, "v3", "do", "app-Room")
	conn, err := sqlite.Open(sqlite.Options{Path: filepath.Join(dir, "metadata.sqlite"), Now: clock.Real{}.Now, Rand: entropy.System{}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	set := func(at time.Time) {
		t.Helper()
		if err := errors.Join(conn.Exec("CREATE TABLE IF NOT EXISTS _cf_ALARM (actor_id TEXT PRIMARY KEY, scheduled_time INTEGER)"),
			conn.Exec(fmt.Sprintf("INSERT OR REPLACE INTO _cf_ALARM VALUES ('%s', %d)", strings.Repeat("a", 64), at.UnixNano()))); err != nil {
			t.Fatal(err)
		}
	}
	ask := func() (bool, string) {
		t.Helper()
		if _, _, err := r.Reached(now, 0); err != nil {
			t.Fatal(err)
		}
		now = now.Add(Still)
		reached, why, err := r.Reached(now, 0)
		if err != nil {
			t.Fatal(err)
		}
		return reached, why
	}
	set(now.Add(20 * time.Second))
	if reached, why := ask(); reached || !strings.Contains(why, "alarm") {
		t.Errorf("%v %q", reached, why)
	}
	set(now.Add(10 * time.Minute))
	if reached, why := ask(); !reached {
		t.Error(why)
	}
}

// A result is one line that says what was seen and how often.
func TestResult(t *testing.T) {
	for want, r := range map[string]Result{
		"also on workerd 1 (try 3 of 10, killed by hand)": {By: "workerd 1", Reproduced: true, Try: 3, Tries: 10, Run: 3, How: "by hand"},
		"not reproduced on workerd 1 in 10 tries":         {By: "workerd 1", Tries: 10, Run: 10},
		"not reproduced on workerd 1 in 1 try, 1 of which came to rest before the moment of the death; then late; something else was violated: x": {
			By: "workerd 1", Tries: 10, Run: 1, Missed: 1, Why: "late", Other: []string{"x"}},
		"not tried on workerd: why": {By: "workerd 1", Why: "why"},
	} {
		if got := r.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
