package durableobject_test

import (
	"fmt"
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

// rowWorker has an object for each way in which its alarm's row, its state in memory and the index
// meet.
const rowWorker = `
const said = [];
const fired = {};
export class R extends DurableObject {
  st = this.ctx.storage;
  name = this.ctx.id.name;
  said() { return said.splice(0); }
  fired(name) { return fired[name] ?? 0; }
  nothing() { return "nothing"; }
  set(ms) { return this.st.setAlarm(Date.now() + ms); }
  setTwice(ms) { this.st.setAlarm(Date.now() + ms); return this.st.setAlarm(Date.now() + ms); }
  unset() { return this.st.deleteAlarm(); }
  async past() { this.st.setAlarm(Date.now() - 5000); return (await this.st.getAlarm()) - Date.now(); }
  async armed() { const a = await this.st.getAlarm(); return a === null ? null : a - Date.now(); }
  async looks() { await this.st.getAlarm(); this.st.put("looked", 1); return "looked"; }
  put(v) { this.st.put("k", v); return v; }
  async tries(how) {
    try { await (how === "get" ? this.st.getAlarm() : how === "set" ? this.st.setAlarm(Date.now() + 1000) : this.st.deleteAlarm()); return "done"; } catch (e) { return e.message; }
  }
  async alarm({ retryCount }) {
    const n = fired[this.name] = (fired[this.name] ?? 0) + 1;
    if (this.name === "same" && n < 4) await this.st.setAlarm(Date.now());
    if (this.name === "aborts") { if (retryCount === 6) { await this.st.setAlarm(Date.now() + 3600e3); await scheduler.wait(5); } this.ctx.abort("no"); }
    if (this.name === "slow") await scheduler.wait(10_000);
    if (this.name === "givesUp") { await scheduler.wait(10_000); this.ctx.abort("no", { retryAlarm: false }); }
    if (this.name === "full") { await scheduler.wait(1500); this.ctx.abort("no"); }
    if (this.name === "constraint") this.st.sql.exec("CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED); INSERT INTO c VALUES (1)");
    if (this.name.startsWith("outlived") && n === 1) {
      await new Promise((begun) => this.st.transaction(async (t) => { begun(); await scheduler.wait(50); said.push(await t.getAlarm() === null); t.rollback(); said.push(((a) => a !== null && a <= Date.now())(await this.st.getAlarm())); }));
      if (this.name === "outlivedThrows") throw new Error("as asked");
    }
  }
}
export default serve({});
`

// pointsOf are the numbers of effects of each kind that fn has, of object R/name and the index.
func pointsOf(w *minidotest.World, name string, fn func()) map[string]int {
	begin := len(w.History)
	fn()
	n := map[string]int{}
	for _, line := range w.History[begin:] {
		for _, kind := range []string{"commit", "index"} {
			if strings.Contains(line, fmt.Sprintf("%s:after(R/%s)", kind, name)) {
				n[kind]++
			}
		}
	}
	return n
}

// The index hears of a change of the alarm and of nothing else: not of a time that stands there, nor of other
// writes after that, in this life of the object or the next.
func TestIndexHearsOfChanges(t *testing.T) {
	w := minidotest.NewWorker(t, rowWorker, minidotest.Options{})
	for _, step := range []struct {
		call           string
		arg            any
		commits, index int
	}{
		{"set", 60_000, 1, 1}, {"set", 60_000, 1, 0}, {"setTwice", 60_000, 1, 0}, {"put", 1, 1, 0}, {"looks", nil, 1, 0}, {"set", 90_000, 1, 1}, {"set", 30_000, 1, 1}, {"put", 2, 1, 0},
		{"unset", nil, 1, 1}, {"unset", nil, 0, 0}, {"put", 3, 1, 0}, {"set", 60_000, 1, 1}, {"evict", nil, 0, 0}, {"looks", nil, 1, 0}, {"armed", nil, 0, 0},
		{"evict", nil, 0, 0}, {"unset", nil, 1, 1}, {"armed", nil, 0, 0},
	} {
		got := pointsOf(w, "a", func() {
			if step.call == "evict" {
				if err := w.Evict("R", "a"); err != nil {
					t.Fatal(err)
				}
			} else if text := w.Call("R/a/"+step.call, step.arg); strings.Contains(text, "err") {
				t.Errorf("%s: %s", step.call, text)
			}
		})
		if got["commit"] != step.commits || got["index"] != step.index {
			t.Errorf("%s(%v): %v, want %d commits and %d writes of the index", step.call, step.arg, got, step.commits, step.index)
		}
	}
	w.Want(`{"ok":null}`, "R/a/armed")
	if names := indexed(w, "R"); len(names) > 0 {
		t.Errorf("the index has %q", names)
	}
	w.Advance(time.Hour)
	w.Want(`{"ok":0}`, "R/a/fired", "a")
}

// An object that is in memory, and was only looked at, keeps its alarm.
func TestLookingKeepsTheAlarm(t *testing.T) {
	w := minidotest.NewWorker(t, rowWorker, minidotest.Options{})
	w.Want(`{"ok":null}`, "R/a/set", 60_000)
	w = w.Restart()
	w.Want(`{"ok":"nothing"}`, "R/a/nothing")
	w.Want(`{"ok":"looked"}`, "R/a/looks")
	if names := indexed(w, "R"); !slices.Equal(names, []string{"a"}) {
		t.Errorf("the index has %q", names)
	}
	w.Advance(time.Hour)
	w.Want(`{"ok":1}`, "R/a/fired", "a")
}

// A handler that writes nothing deletes its row with a commit of its own; one that sets the time which is now
// is called again.
func TestHandlersEndWithACommit(t *testing.T) {
	w := minidotest.NewWorker(t, rowWorker, minidotest.Options{})
	w.Want(`{"ok":null}`, "R/a/set", 1000)
	if got := pointsOf(w, "a", func() { w.Advance(time.Minute) }); got["commit"] != 1 {
		t.Errorf("%v, want a commit", got)
	}
	w.Want(`{"ok":1}`, "R/a/fired", "a")
	w.Want(`{"ok":null}`, "R/same/set", 1000)
	w.Advance(time.Minute)
	w.Want(`{"ok":4}`, "R/a/fired", "same")
	w.Want(`{"ok":null}`, "R/same/armed")
	w.Want(`{"ok":0}`, "R/past/past") // a time in the past means now
}

// The last try of an alarm may set another one, which stays though the object ends.
func TestLastTrySetsAnotherAlarm(t *testing.T) {
	w := minidotest.NewWorker(t, rowWorker, minidotest.Options{})
	w.Want(`{"ok":null}`, "R/aborts/set", 1)
	w.Advance(10 * time.Minute)
	w.Want(`{"ok":7}`, "R/a/fired", "aborts")
	if got := w.Call("R/aborts/armed"); !strings.Contains(got, `{"ok":3`) {
		t.Errorf("the new alarm: %s", got)
	}
}

// An alarm whose handler cannot commit is given up after the last try, for good.
func TestAlarmThatCannotCommitIsDropped(t *testing.T) {
	w := minidotest.NewWorker(t, rowWorker, minidotest.Options{})
	w.Want(`{"ok":null}`, "R/constraint/set", 1)
	w.Advance(10 * time.Minute)
	w.Want(`{"ok":7}`, "R/a/fired", "constraint")
	w.Want(`{"ok":null}`, "R/constraint/armed")
	w = w.Restart()
	w.Want(`{"ok":null}`, "R/constraint/armed")
	w.Advance(10 * time.Minute)
	w.Want(`{"ok":0}`, "R/a/fired", "constraint")
}

// An alarm that is given up while the disk is full keeps its row, the log tells, and it is tried again
// when its object is next opened.
func TestDroppedAlarmOnAFullDisk(t *testing.T) {
	var fault error
	w := minidotest.NewWorker(t, rowWorker, minidotest.Options{Disk: func() error { return fault }})
	w.Want(`{"ok":null}`, "R/full/set", 1)
	for w.Call("R/a/fired", "full") != `{"ok":7}` {
		w.Advance(time.Second)
		if w.Now().Sub(minidotest.Epoch) > time.Hour {
			t.Fatal("no seventh try")
		}
	}
	fault = sqlite.ErrDiskFull
	w.Advance(10 * time.Second)
	fault = nil
	if lines := w.Logged("R/full: delete a dropped alarm: "); len(lines) != 1 {
		t.Errorf("the log has %q", lines)
	}
	w.Want(`{"ok":"nothing"}`, "R/full/nothing")
	w.Advance(10 * time.Second)
	if got := w.Call("R/a/fired", "full"); got == `{"ok":7}` {
		t.Error("it is not tried again")
	}
}

// An alarm whose deletion is undone, by a transaction that outlives the handler, is there again, and
// fires; one whose handler threw is only tried again, after its pause.
func TestTransactionOutlivesTheHandler(t *testing.T) {
	w := minidotest.NewWorker(t, rowWorker, minidotest.Options{})
	for name, pause := range map[string]time.Duration{"outlived": 50 * time.Millisecond, "outlivedThrows": 2 * time.Second} { // order-independent: each has an object of its own
		w.Want(`{"ok":null}`, "R/"+name+"/set", 1)
		w.Advance(pause - 5*time.Millisecond)
		w.Want(`{"ok":1}`, "R/a/fired", name)
		w.Advance(time.Minute)
		w.Want(fmt.Sprintf(`{"ok":[%v,true]}`, name == "outlived"), "R/a/said")
		w.Want(`{"ok":2}`, "R/a/fired", name)
		w.Want(`{"ok":null}`, "R/"+name+"/armed")
		if names := indexed(w, "R"); len(names) > 0 {
			t.Errorf("the index has %q", names)
		}
	}
}

// fileOf opens the database of object R/name beside the server.
func fileOf(t *testing.T, w *minidotest.World, name string) *sqlite.Conn {
	t.Helper()
	id := objectid.NewNamespace("test-R").FromName(name).String()
	c, err := sqlite.Open(sqlite.Options{Path: filepath.Join(w.Dir(), "v3", "do", "test-R", id+".sqlite"), Now: w.Clock().Now, Rand: entropy.NewSeeded(1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Code hears of a row that cannot be read or written, here because the table is another one.
func TestAlarmRowThatCannotBeUsed(t *testing.T) {
	const other = "ALTER TABLE _cf_METADATA RENAME COLUMN value TO other"
	for _, how := range []string{"get", "set", "unset"} {
		for _, loaded := range []bool{false, true} {
			w := minidotest.NewWorker(t, rowWorker, minidotest.Options{})
			w.Want(`{"ok":null}`, "R/a/set", 60_000)
			if !loaded {
				if err := w.Evict("R", "a"); err != nil {
					t.Fatal(err)
				}
				w.Want(`{"ok":"nothing"}`, "R/a/nothing")
			}
			if err := fileOf(t, w, "a").Exec(other); err != nil {
				t.Fatal(err)
			}
			want := `{"ok":"no such column: value`
			if how == "get" && loaded {
				want = `{"ok":"done"}` // known
			}
			if how == "set" && loaded {
				want = `{"ok":"no such column: excluded.value`
			}
			if got := w.Call("R/a/tries", how); !strings.HasPrefix(got, want) {
				t.Errorf("%s, loaded %v: %s, want %s", how, loaded, got, want)
			}
		}
	}
}

// A turn that only read lets go of the file, and so does the start of an object: another process can
// empty the log.
func TestReadsLetGoOfTheFile(t *testing.T) {
	w := minidotest.NewWorker(t, rowWorker, minidotest.Options{})
	w.Want(`{"ok":null}`, "R/a/set", 60_000)
	if err := w.Evict("R", "a"); err != nil {
		t.Fatal(err)
	}
	for _, call := range []string{"nothing", "armed"} {
		w.Call("R/a/" + call)
		c := fileOf(t, w, "a")
		if err := c.Exec("PRAGMA user_version = 1; PRAGMA user_version = 0"); err != nil { // so that there is something to empty
			t.Fatal(err)
		}
		st, _, err := c.Prepare("PRAGMA wal_checkpoint(TRUNCATE)", false)
		if err != nil {
			t.Fatal(err)
		}
		if row, err := st.Step(); !row || err != nil || st.ColumnInt64(0) != 0 {
			t.Errorf("after %s the file is busy: %v, %v", call, st.Column(0), err)
		}
		st.Finalize()
	}
}

// Effects say which statement wrote: setting an alarm is one.
func TestAlarmsSayWhereTheyWereSet(t *testing.T) {
	var sites []string
	w := minidotest.NewWorker(t, rowWorker, minidotest.Options{Explains: true, Kill: func(p killpoint.Point) bool {
		if p.Kind == killpoint.Commit && p.Object == "R/a" {
			sites = append(sites, p.Site)
		}
		return false
	}})
	w.Want(`{"ok":null}`, "R/a/set", 60_000)
	if len(sites) == 0 || !strings.HasPrefix(sites[0], "setAlarm at ") || strings.Count(sites[0], "\n") > 0 {
		t.Errorf("written at %q", sites)
	}
}

// A delivery that comes before the time of the row corrects the index, and is tried again while that
// cannot be written.
func TestEarlyDelivery(t *testing.T) {
	for _, gone := range []bool{false, true} {
		w := minidotest.NewWorker(t, rowWorker, minidotest.Options{})
		w.Want(`{"ok":null}`, "R/a/set", 60_000)
		if err := w.Evict("R", "a"); err != nil {
			t.Fatal(err)
		}
		w.Want(`{"ok":"nothing"}`, "R/a/nothing")
		if err := fileOf(t, w, "a").Exec("UPDATE _cf_METADATA SET value = value + 3600000000000 WHERE key = 1"); err != nil {
			t.Fatal(err)
		}
		if gone {
			if err := os.Remove(filepath.Join(w.Dir(), "v3", "do", "test-R", "metadata.sqlite")); err != nil {
				t.Skip("the system does not let go of the name: ", err)
			}
		}
		w.Advance(10 * time.Minute)
		if n := len(w.Logged("alarm:before(R/a)")); (n > 1) != gone {
			t.Errorf("without an index %v: %d deliveries", gone, n)
		}
		if w.Want(`{"ok":0}`, "R/b/fired", "a"); gone {
			continue
		}
		w.Advance(time.Hour)
		w.Want(`{"ok":1}`, "R/b/fired", "a")
	}
}

// A handler whose row cannot be deleted has not succeeded: its object is reset, and the alarm tried again
// until it is given up, also where the handler itself gives up.
func TestRowThatCannotBeDeleted(t *testing.T) {
	for _, name := range []string{"slow", "givesUp"} {
		w := minidotest.NewWorker(t, rowWorker, minidotest.Options{})
		w.Want(`{"ok":null}`, "R/"+name+"/set", 1000)
		w.Advance(5 * time.Second)
		if err := fileOf(t, w, name).Exec("CREATE TRIGGER tr BEFORE UPDATE ON _cf_METADATA BEGIN SELECT raise(ABORT, 'read only'); END"); err != nil {
			t.Fatal(err)
		}
		w.Advance(time.Hour)
		w.Want(`{"ok":7}`, "R/a/fired", name)
		if names := indexed(w, "R"); len(names) > 0 || len(w.Logged("R/"+name+": delete a dropped alarm: read only")) != 1 {
			t.Errorf("%s: the index has %q; %q", name, names, w.Logged("log "))
		}
	}
}

// A row that has gone without the index's knowledge is corrected there when its object starts, and when
// it is delivered; a new alarm is delivered after that.
func TestRowThatHasGone(t *testing.T) {
	for _, started := range []bool{false, true} {
		w := minidotest.NewWorker(t, rowWorker, minidotest.Options{})
		w.Want(`{"ok":null}`, "R/a/set", 60_000)
		if err := w.Evict("R", "a"); err != nil {
			t.Fatal(err)
		}
		if started {
			w.Want(`{"ok":"nothing"}`, "R/a/nothing")
		}
		if err := fileOf(t, w, "a").Exec("UPDATE _cf_METADATA SET value = NULL WHERE key = 1"); err != nil {
			t.Fatal(err)
		}
		if !started {
			w.Want(`{"ok":"nothing"}`, "R/a/nothing")
		} else {
			w.Advance(10 * time.Minute)
		}
		if names := indexed(w, "R"); len(names) > 0 {
			t.Errorf("started %v: the index has %q", started, names)
		}
		w.Want(`{"ok":null}`, "R/a/set", 60_000)
		w.Advance(10 * time.Minute)
		w.Want(`{"ok":1}`, "R/b/fired", "a")
	}
}

// The last try sets another alarm, and the index cannot be written: the object ends, and the new alarm,
// which is committed, stays in the row.
func TestLastTryWithoutAnIndex(t *testing.T) {
	w := minidotest.NewWorker(t, rowWorker, minidotest.Options{})
	w.Want(`{"ok":null}`, "R/aborts/set", 1)
	for w.Call("R/a/fired", "aborts") != `{"ok":6}` {
		w.Advance(time.Second)
		if w.Now().Sub(minidotest.Epoch) > time.Hour {
			t.Fatal("no sixth try")
		}
	}
	if err := os.Remove(filepath.Join(w.Dir(), "v3", "do", "test-R", "metadata.sqlite")); err != nil {
		t.Skip("the system does not let go of the name: ", err)
	}
	w.Advance(5 * time.Minute)
	w.Want(`{"ok":7}`, "R/a/fired", "aborts")
	st, _, err := fileOf(t, w, "aborts").Prepare("SELECT value FROM _cf_METADATA WHERE key = 1", false)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Finalize()
	if row, err := st.Step(); err != nil || !row || time.Unix(0, st.ColumnInt64(0)).Before(w.Now()) {
		t.Errorf("the row has %v, %v", st.Column(0), err)
	}
}
