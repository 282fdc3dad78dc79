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

	"minido.dev/minido/internal/killpoint"
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
