package durableobject_test

import (
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

// rowOf reads the alarm of Clock/a from the object's own file in dir, in
// milliseconds; 0 for none.
func rowOf(t *testing.T, dir string) int64 {
	t.Helper()
	// A copy: opening the file would finish what the dead left half done.
	work := t.TempDir()
	minidotest.CopyState(t, dir, work)
	id := objectid.NewNamespace("test-Clock").FromName("a").String()
	path := filepath.Join(work, "v3", "do", "test-Clock", id+".sqlite")
	if _, err := os.Stat(path); err != nil {
		return 0
	}
	return number(t, path, "SELECT value FROM _cf_METADATA WHERE key = 1 AND value IS NOT NULL") / int64(time.Millisecond)
}

// number is the result of a query on a database; 0 if there is no row, or no
// table.
func number(t *testing.T, path, sql string) int64 {
	t.Helper()
	c, err := sqlite.Open(sqlite.Options{Path: path, Now: time.Now, Rand: entropy.NewSeeded(1)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	st, _, err := c.Prepare(sql, false)
	if err != nil {
		return 0
	}
	defer st.Finalize()
	if row, err := st.Step(); err != nil || !row {
		return 0
	}
	return st.ColumnInt64(0)
}

// wantNoLater holds the index that a death left against the row: for those who
// trust it, as workerd does, it is there and not later.
func wantNoLater(t *testing.T, where, dir string, row int64) {
	t.Helper()
	work := t.TempDir()
	minidotest.CopyState(t, dir, work)
	path := filepath.Join(work, "v3", "do", "test-Clock", "metadata.sqlite")
	var at int64
	if _, err := os.Stat(path); err == nil {
		at = number(t, path, "SELECT scheduled_time FROM _cf_ALARM") / int64(time.Millisecond)
	}
	if row != 0 && (at == 0 || at > row) {
		t.Errorf("%s: the row is %d, the index has %d", where, row, at)
	}
}

// moments lists the numbers of the points at which deaths differ. Of the process
// they differ at the effects' before-sides: a death at an after-side leaves what
// one at the next before-side leaves. Of the machine they differ at all, for
// syncs are no effects.
func moments(w *minidotest.World, d minidotest.Death) (numbers []int) {
	for i, line := range w.Logged(" point ") {
		if d.LosesPower() || !strings.Contains(line, ":after(") || strings.Contains(line, " wake:") {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

// wantFired holds the alarms that fired after a death against the row that the
// death left: exactly that one, not early, and without any request. Calls that
// the death cut off count, too.
func wantFired(t *testing.T, where string, w *minidotest.World, row, since int64, calls int) {
	t.Helper()
	var fired []int64
	r := reportOf(w, "a").OK
	for _, f := range r.Fired {
		if f.At >= since {
			fired = append(fired, f.Scheduled)
		}
		if f.At < f.Scheduled {
			t.Errorf("%s: fired early: %+v", where, f)
		}
	}
	slices.Sort(fired)
	if n := len(fired); row == 0 && n > 0 || row != 0 && (n == 0 || n > calls || fired[0] != row || fired[n-1] != row) {
		t.Errorf("%s: the row was %d, what fired after the death %v", where, row, fired)
	}
	if r.Alarm != nil || len(indexed(w, "Clock")) > 0 {
		t.Errorf("%s: an alarm is left: row %v, index %v", where, r.Alarm, indexed(w, "Clock"))
	}
}

// Exactly the alarm of the object's row fires after a death at any effect point
// of moving an alarm earlier, later, and clearing it.
func TestRowFiresAfterDeathAtEveryPoint(t *testing.T) {
	minidotest.EachDeath(t, testRowFiresAfterDeath)
}

func testRowFiresAfterDeath(t *testing.T, d minidotest.Death) {
	for _, name := range []string{"earlier", "later", "clear"} {
		t.Run(name, func(t *testing.T) {
			var steps []step
			for _, s := range scenarios[name] {
				if s.method != "" {
					steps = append(steps, s) // no alarm fires before the death
				}
			}
			w := minidotest.NewWorker(t, clockwork, d.With(minidotest.Options{}))
			play(w, steps)
			for _, n := range moments(w, d) {
				w := w.Again(d.With(minidotest.Options{Kill: func(p killpoint.Point) bool { return p.Number == n }}))
				play(w, steps)
				if !w.Dead() {
					w.Stop()
					continue
				}
				where, row, since := w.Logged("killed at")[0], rowOf(t, w.Wreck()), w.Now().UnixMilli()
				wantNoLater(t, where, w.Wreck(), row)
				w = w.Revive()
				w.Advance(time.Hour)
				wantFired(t, where, w, row, since, 1)
				w.Stop()
			}
		})
	}
}

// An alarm that was moved later wakes its object too early if the process died
// before the index heard of it. A second death at any effect point of that
// wake-up loses nothing.
func TestEarlyWakeUpSurvivesDeathAtEveryPoint(t *testing.T) {
	minidotest.EachDeath(t, testEarlyWakeUpSurvivesDeath)
}

func testEarlyWakeUpSurvivesDeath(t *testing.T, d minidotest.Death) {
	steps := scenarios["later"]
	var between killpoint.Point
	w := minidotest.NewWorker(t, clockwork, d.With(minidotest.Options{}))
	first := w
	play(w, steps)
	for _, line := range w.Logged("index:before(Clock/a)") {
		_, label, _ := strings.Cut(line, " point ")
		p, err := killpoint.ParseLabel(label)
		if err != nil {
			t.Fatal(err)
		}
		between = p // the last one moves the index later
	}
	firstDeath := func() *minidotest.World {
		w := first.Again(d.With(minidotest.Options{Kill: func(p killpoint.Point) bool { return p.Label() == between.Label() }}))
		play(w, steps)
		if !w.Dead() {
			t.Fatalf("did not die at %s", between.Label())
		}
		return w
	}
	w = firstDeath()
	row, since := rowOf(t, w.Wreck()), w.Now().UnixMilli()
	w = w.Revive()
	w.Advance(time.Hour)
	numbers := moments(w, d)
	wantFired(t, "one death", w, row, since, 1)
	deaths := 0
	for _, n := range numbers {
		w := firstDeath()
		w = w.ReviveTo(func(p killpoint.Point) bool { return p.Number == n })
		over := false
		w.Clock().AfterFunc(time.Hour, func() { over = true })
		if w.Until(func() bool { return over }) == nil {
			w.Stop()
			continue
		}
		deaths++
		where := w.Logged("killed at")[0]
		w = w.Revive()
		w.Advance(time.Hour)
		wantFired(t, where, w, row, since, 2) // a death in the middle of the call repeats it
		w.Stop()
	}
	if deaths < 8 {
		t.Errorf("%d deaths at %d points", deaths, len(numbers))
	}
}

// What the index lacks after an unclean stop is found in the objects' files at
// the next start, without a request: the rows of open objects if only entries
// are missing, all rows if the index is gone.
func TestUncleanStartFindsAlarms(t *testing.T) {
	for _, damage := range []string{"entry", "later", "index"} {
		t.Run(damage, func(t *testing.T) {
			w := minidotest.NewWorker(t, clockwork, minidotest.Options{Kill: func(p killpoint.Point) bool { return p.Cause == "rpc" && strings.Contains(p.Object, "witness") }})
			w.Want(`{"ok":1}`, "Clock/a/arm", 1, 60000)
			r := w.Post("Clock/witness/saw", 1)
			if w.Until(r.Done) == nil {
				t.Fatal("the world did not die")
			}
			row, since := rowOf(t, w.Wreck()), w.Now().UnixMilli()
			index := filepath.Join(w.Wreck(), "v3", "do", "test-Clock", "metadata.sqlite")
			c, err := sqlite.Open(sqlite.Options{Path: index, Now: time.Now, Rand: entropy.NewSeeded(1)})
			if err != nil {
				t.Fatal(err)
			}
			sql := "DELETE FROM _cf_ALARM"
			if damage == "later" {
				sql = "UPDATE _cf_ALARM SET scheduled_time = scheduled_time + 3600000000000"
			}
			if err := c.Exec("PRAGMA journal_mode=WAL; " + sql); err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(index+"-wal", nil, 0o600); err != nil { // it was not closed in good order
				t.Fatal(err)
			}
			if damage == "index" {
				for _, suffix := range []string{"", "-wal"} {
					if err := os.Remove(index + suffix); err != nil {
						t.Fatal(err)
					}
				}
			}
			w = w.Revive()
			w.Advance(30 * time.Minute)
			wantFired(t, damage, w, row, since, 1)
		})
	}
}
