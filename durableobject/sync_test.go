package durableobject_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/minidotest"
)

const syncWorker = `
export class Counter extends DurableObject {
  sql = this.ctx.storage.sql;
  constructor(ctx, env) { super(ctx, env); ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY)"); }
  add() { this.sql.exec("INSERT INTO t DEFAULT VALUES"); return this.peek(); }
  async quietly() {
    await this.ctx.storage.put("quiet", 1, { allowUnconfirmed: true });
    return 0;
  }
  peek() { return this.sql.exec("SELECT count(*) AS n FROM t").one().n; }
  async addAndSync() {
    const n = this.add();
    await this.ctx.storage.sync();
    return n;
  }
  async addInTransaction() { return this.ctx.storage.transaction(async () => { await null; return this.add(); }); }
}
export default serve();
`

// after reports where in the history, behind index i, a line contains text; -1
// if none does.
func after(w *minidotest.World, i int, text string) int {
	for j := i + 1; j < len(w.History); j++ {
		if strings.Contains(w.History[j], text) {
			return j
		}
	}
	return -1
}

// With full syncs no client sees a value before a sync that followed its
// commit, not even one that a turn without writes has read; and one sync serves
// several commits.
func TestOutputsWaitForTheSync(t *testing.T) {
	for seed := range uint64(8) {
		w := minidotest.NewWorker(t, syncWorker, minidotest.Options{Seed: seed, SyncFull: true})
		w.Want(`{"ok":0}`, "Counter/a/peek")
		begin := len(w.History) - 1
		var rs []*minidotest.Response
		for range 10 {
			rs = append(rs, w.Post("Counter/a/add"), w.Post("Counter/a/peek"))
		}
		rs = append(rs, w.Post("Counter/a/addInTransaction"))
		w.All(rs...)
		commits := []int{begin}
		for i := begin; ; {
			if i = after(w, i, "commit:after(Counter/a)"); i < 0 {
				break
			}
			commits = append(commits, i)
		}
		if len(commits) != 12 {
			t.Fatalf("seed %d: %d commits", seed, len(commits)-1)
		}
		for i, line := range w.History[begin+1:] {
			_, answer, isAnswer := strings.Cut(line, `{"ok":`)
			var n int
			if _, err := fmt.Sscanf(answer, "%d}", &n); !isAnswer || err != nil || n == 0 {
				continue
			}
			if sync := after(w, commits[n], "step sync Counter/a"); sync < 0 || sync > begin+1+i {
				t.Errorf("seed %d: commit %d was seen before it was synced:\n%s", seed, n, strings.Join(w.History[begin:], "\n"))
			}
		}
		if syncs := len(w.Logged("step sync Counter/a")); syncs >= 11 {
			t.Errorf("seed %d: %d syncs of 11 commits", seed, syncs)
		}
	}
}

// Frames leave after a sync that began when their own commit was done: one that began before
// lets out those of its commits alone.
func TestFramesWaitForTheSync(t *testing.T) {
	between := 0 // commits between the begin of a sync and the frames that it lets out
	for seed := range uint64(6) {
		w := minidotest.NewWorker(t, socketWorker, minidotest.Options{Seed: seed, SyncFull: true})
		c := room(w, "a/x")
		c.Want("put 0", "put 0")
		begin := len(w.History) - 1
		const messages = 12
		for i := range messages {
			c.Send(fmt.Sprint("put ", i))
		}
		c.Next(messages)
		commits, synced, frames := 0, 0, 0
		for _, line := range w.History[begin+1:] {
			switch {
			case strings.Contains(line, "commit:after(Room/a)"):
				commits++
			case strings.Contains(line, "step sync Room/a"):
				synced = commits
			case strings.Contains(line, "frame:before(Room/a)"):
				if frames++; frames > synced {
					t.Errorf("seed %d: frame %d leaves when %d commits are synced", seed, frames, synced)
				}
				if commits > synced {
					between++
				}
			}
		}
		if commits != messages || frames != messages {
			t.Errorf("seed %d: %d commits, %d frames:\n%s", seed, commits, frames, strings.Join(w.History[begin:], "\n"))
		}
	}
	if between == 0 {
		t.Error("no commit came while a sync ran")
	}
}

// syncsSeen is a TurnObserver.
type syncsSeen struct{ released []int }

func (*syncsSeen) Watching() bool          { return true }
func (*syncsSeen) Turn(*engine.TurnReport) {}
func (s *syncsSeen) Synced(_ string, _ time.Duration, released int) {
	s.released = append(s.released, released)
}

// A write is synced once, a read not at all, and nothing is where commits sync by themselves; who
// watches is told of each sync and of the outputs that it lets out.
func TestSyncsAreForWrites(t *testing.T) {
	for _, full := range []bool{true, false} {
		var seen syncsSeen
		w := minidotest.NewWorker(t, socketWorker, minidotest.Options{SyncFull: full, Turns: &seen})
		c := room(w, "a/x")
		for _, step := range []struct {
			text  string
			syncs int
		}{{"put 0", 1}, {"life", 0}, {"put 1", 1}} {
			seen.released = nil
			begin := len(w.History)
			c.Ask(step.text)
			w.Advance(time.Second)
			syncs := 0
			for _, line := range w.History[begin:] {
				if strings.Contains(line, "step sync Room/a") {
					syncs++
				}
			}
			if want := step.syncs; !full && syncs > 0 || full && (syncs != want || !slices.Equal(seen.released, slices.Repeat([]int{1}, want))) {
				t.Errorf("full %v, %s: %d syncs, told of %v", full, step.text, syncs, seen.released)
			}
		}
	}
}

// A sync that fails is not told of, and an alarm that waited for it stays in the index.
func TestFailedSyncOfAnAlarm(t *testing.T) {
	for _, method := range []string{"unset", "put"} {
		var seen syncsSeen
		w := minidotest.NewWorker(t, rowWorker, minidotest.Options{SyncFull: true, Turns: &seen})
		w.Want(`{"ok":null}`, "R/a/set", 60_000)
		log := filepath.Join(w.Dir(), "v3", "do", "test-R", objectid.NewNamespace("test-R").FromName("a").String()+".sqlite-wal")
		if err := errors.Join(os.Rename(log, log+"-moved"), os.Mkdir(log, 0o700)); err != nil {
			t.Skip("the system does not let go of the name: ", err)
		}
		seen.released = nil
		if got := w.Call("R/a/"+method, 1); !strings.Contains(got, "sqlstore: sync") {
			t.Errorf("%s: %s", method, got)
		}
		if names := indexed(w, "R"); !slices.Equal(names, []string{"a"}) || len(seen.released) > 0 {
			t.Errorf("%s: the index has %q, %d syncs were told of", method, names, len(seen.released))
		}
	}
}

// What left after storage.sync() depends on nothing that is not committed, so that it is out although
// the rest of the turn is lost.
func TestOutputsAfterSync(t *testing.T) {
	w := minidotest.NewWorker(t, syncWorker+`
Counter.prototype.fetch = function () { const [a, b] = Object.values(new WebSocketPair()); this.ctx.acceptWebSocket(b); return new Response(null, { status: 101, webSocket: a }); };
Counter.prototype.webSocketMessage = async function (ws) { this.add(); await this.ctx.storage.sync(); ws.send("out"); this.add(); ws.send("lost"); this.ctx.abort("over"); };
`, minidotest.Options{Seed: 1})
	c := w.Dial("http://localhost/fetch/Counter/a/")
	c.Send("go")
	if err := w.Until(func() bool { return c.Closed != nil }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Messages, []string{"out"}) {
		t.Errorf("the client has %q", c.Messages)
	}
	w.Want(`{"ok":1}`, "Counter/a/peek")
}

// An object that crashes at its commit is lost to who called it, and not its last good state.
func TestCrashAtACommit(t *testing.T) {
	for at, kept := range map[string]string{"commit:before()/rpc": "1", "commit:after()/rpc": "2"} { // order-independent: each has a world of its own
		w := minidotest.NewWorker(t, syncWorker, minidotest.Options{Seed: 1})
		w.Want(`{"ok":1}`, "Counter/a/add")
		if err := w.Server.Points().Arm("Counter/a", at, func(killpoint.Point) {}); err != nil {
			t.Fatal(err)
		}
		w.Want(`{"err":{"name":"Error","message":"Network connection lost.","retryable":true}}`, "Counter/a/add")
		w.Want(`{"ok":`+kept+`}`, "Counter/a/peek")
	}
}

// What was written with allowUnconfirmed is synced soon, too, when a sync that began before
// its commit has ended and nothing else is written: it would be lost hours later.
func TestUnconfirmedWritesAreSynced(t *testing.T) {
	for seed := range uint64(12) {
		w := minidotest.NewWorker(t, syncWorker, minidotest.Options{Seed: seed, SyncFull: true})
		w.Want(`{"ok":0}`, "Counter/a/peek")
		w.All(w.Post("Counter/a/add"), w.Post("Counter/a/quietly"), w.Post("Counter/a/quietly"))
		w.Advance(time.Second)
		commit := -1
		for i := after(w, -1, "commit:after(Counter/a)"); i >= 0; i = after(w, i, "commit:after(Counter/a)") {
			commit = i
		}
		if after(w, commit, "step sync Counter/a") < 0 {
			t.Errorf("seed %d: the last commit was not synced:\n%s", seed, strings.Join(w.History, "\n"))
		}
	}
}

// A sync that fails resets the object: what waited for it is never seen.
func TestFailedSync(t *testing.T) {
	for _, method := range []string{"add", "addAndSync", "addInTransaction"} {
		dir := t.TempDir()
		w := minidotest.NewWorker(t, syncWorker, minidotest.Options{Seed: 1, Dir: dir, SyncFull: true})
		w.Want(`{"ok":1}`, "Counter/a/add")
		logs, err := filepath.Glob(filepath.Join(dir, "v3", "do", "test-Counter", "*.sqlite-wal"))
		logs = slices.DeleteFunc(logs, func(path string) bool { return strings.Contains(path, "metadata") })
		if err != nil || len(logs) != 1 {
			t.Fatalf("%v, %v", logs, err)
		}
		// SQLite keeps the log open; the name now belongs to what cannot be synced.
		if err := errors.Join(os.Rename(logs[0], logs[0]+"-moved"), os.Mkdir(logs[0], 0o700)); err != nil {
			t.Skip("the system does not let go of the name: ", err)
		}
		if got := w.Call("Counter/a/" + method); !strings.Contains(got, "sqlstore: sync") {
			t.Errorf("%s: got %s", method, got)
		}
	}
}

// burst writes five times, and says the largest number that a client has seen.
func burst(w *minidotest.World, enough func(seen int) bool) (seen int, err error) {
	var rs []*minidotest.Response
	for _, method := range []string{"add", "add", "addAndSync", "addInTransaction", "add"} {
		rs = append(rs, w.Post("Counter/a/"+method))
	}
	look := func() bool {
		done := true
		for _, r := range rs {
			var n int
			if _, err := fmt.Sscanf(r.Text(), `{"ok":%d}`, &n); err == nil {
				seen = max(seen, n)
			}
			done = done && r.Done()
		}
		return done || enough(seen)
	}
	err = w.Until(look)
	look()
	return seen, err
}

// keeps holds what the next life has against what was seen.
func keeps(t *testing.T, where string, w *minidotest.World, seen int) {
	t.Helper()
	var kept int
	next := w.Revive()
	defer next.Stop()
	if _, err := fmt.Sscanf(next.Call("Counter/a/peek"), `{"ok":%d}`, &kept); err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	if kept < seen {
		t.Errorf("%s: %d were acknowledged, %d are there", where, seen, kept)
	}
}

// Death at each effect point of a burst with full syncs loses no value that a
// client has seen.
func TestDeathBetweenCommitAndSync(t *testing.T) {
	minidotest.EachDeath(t, testDeathBetweenCommitAndSync)
}

func testDeathBetweenCommitAndSync(t *testing.T, d minidotest.Death) {
	all := func(int) bool { return false }
	w := minidotest.NewWorker(t, syncWorker, d.With(minidotest.Options{Seed: 3}))
	if seen, err := burst(w, all); err != nil || seen != 5 {
		t.Fatalf("%d, %v", seen, err)
	}
	points := len(w.Logged(" point "))
	for n := 1; n <= points; n++ {
		hits := 0
		w := w.Again(d.With(minidotest.Options{Seed: 3, Kill: func(killpoint.Point) bool { hits++; return hits == n }}))
		seen, err := burst(w, all)
		if err == nil {
			break // the points before the world was up are not visited
		}
		keeps(t, fmt.Sprintf("death at point %d", n), w, seen)
	}
}

// Death in the moment in which a client sees a value, whatever the order of
// syncs and answers, does not lose that value.
func TestDeathAtAcknowledgement(t *testing.T) {
	minidotest.EachDeath(t, func(t *testing.T, d minidotest.Death) {
		for seed := range uint64(2) {
			for n := 1; n <= 5; n++ {
				w := minidotest.NewWorker(t, syncWorker, d.With(minidotest.Options{Seed: seed}))
				seen, err := burst(w, func(seen int) bool { return seen >= n })
				if err != nil {
					t.Fatal(err)
				}
				w.Kill()
				keeps(t, fmt.Sprintf("seed %d, %d seen", seed, seen), w, seen)
			}
		}
	})
}
