package fibers

import (
	"path/filepath"
	"testing"
	"time"

	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
)

// own is an agent with one database.
func own(d Database) State {
	d.File, d.HasHooks = "a.sqlite", true
	return State{Databases: []Database{d}}
}

var (
	cut      = Run{ID: "f1", Name: "research:job-1", Snapshot: `{"n":2}`}
	retried  = Run{ID: "f2", Name: "research:job-1", Snapshot: `{"n":4}`}
	gotTwo   = Hook{Fiber: "f1", Snapshot: `{ "n": 2 }`}
	gotFour  = Hook{Fiber: "f2", Snapshot: `{"n":4}`}
	finished = []Job{{ID: "job-1", Status: "done", Completions: 1}}
)

// dead is the state at a death with the alarm set, as it should be.
func dead(runs []Run, hooks ...Hook) State {
	return own(Database{Runs: runs, Hooks: hooks, AlarmSet: true, Jobs: []Job{{ID: "job-1", Status: "running"}}})
}

func rested(hooks ...Hook) State { return own(Database{Hooks: hooks, Jobs: finished}) }

// A correct recovery passes: one kill, two kills, a kill before the hook, a kill
// between the hook and the deletion of the row, and a kill that cut nothing.
func TestCheckAcceptsRecoveries(t *testing.T) {
	for name, c := range map[string]struct {
		deaths []State
		rest   State
	}{
		"one kill":                 {[]State{dead([]Run{cut})}, rested(gotTwo)},
		"two kills":                {[]State{dead([]Run{cut}), dead([]Run{retried}, gotTwo)}, rested(gotTwo, gotFour)},
		"a kill before the hook":   {[]State{dead([]Run{cut}), dead([]Run{cut})}, rested(gotTwo)},
		"a kill inside the hook":   {[]State{dead([]Run{cut}), dead([]Run{cut, retried}, gotTwo)}, rested(gotTwo, gotTwo, gotFour)},
		"nothing on disk yet":      {[]State{{}}, rested()},
		"nothing was running":      {[]State{rested()}, rested()},
		"only the row was left":    {[]State{dead([]Run{{ID: "f1", Ended: true}})}, rested()},
		"handled by the SDK":       {[]State{dead([]Run{{ID: "f1", Name: "__cf_internal_chat_turn:x"}})}, rested()},
		"the ledger calls it done": {[]State{own(Database{Runs: []Run{cut}, Managed: []Managed{{ID: "f1", Status: "completed"}}})}, rested()},
		"no snapshot yet":          {[]State{dead([]Run{{ID: "f1"}})}, rested(Hook{Fiber: "f1", Snapshot: "null"})},
	} {
		if got := Check(c.deaths, c.rest, 0); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Each invariant can fail: one planted bug each, named by exactly its invariant.
func TestCheckFindsPlantedBugs(t *testing.T) {
	noAlarm := dead([]Run{cut})
	noAlarm.Databases[0].AlarmSet = false
	twiceDone := rested(gotTwo)
	twiceDone.Databases[0].Jobs = []Job{{ID: "job-1", Status: "done", Completions: 2}}
	stranded := rested(gotTwo)
	stranded.Databases[0].Jobs = []Job{{ID: "job-1", Status: "running"}}
	orphan := rested(gotTwo)
	orphan.Databases[0].Runs = []Run{{ID: "f9", Name: "research:job-9"}}
	ledger := rested(gotTwo)
	ledger.Databases[0].Managed = []Managed{{ID: "f9", Status: "running"}}
	for name, c := range map[string]struct {
		deaths []State
		rest   State
		want   string
	}{
		"an older snapshot":             {[]State{dead([]Run{cut})}, rested(Hook{"f1", `{"n":1}`}), HookSnapshot},
		"no snapshot":                   {[]State{dead([]Run{cut})}, rested(Hook{"f1", ""}), HookSnapshot},
		"the hook never ran":            {[]State{dead([]Run{cut})}, rested(), HookOnce},
		"the hook ran twice":            {[]State{dead([]Run{cut})}, rested(gotTwo, gotTwo), HookOnce},
		"the hook ran for nothing":      {[]State{dead([]Run{cut})}, rested(gotTwo, gotFour), HookOnce},
		"forgotten in the second life":  {[]State{dead([]Run{cut}), dead([]Run{retried})}, rested(gotFour), HookOnce},
		"an orphan row":                 {[]State{dead([]Run{cut})}, orphan, NoOrphan},
		"the ledger never ends":         {[]State{dead([]Run{cut})}, ledger, NoOrphan},
		"no alarm":                      {[]State{noAlarm}, rested(gotTwo), AlarmWhileRunning},
		"completed twice":               {[]State{dead([]Run{cut})}, twiceDone, EndsOnce},
		"never completed":               {[]State{dead([]Run{cut})}, stranded, EndsOnce},
		"a hook call was rolled back":   {[]State{dead([]Run{cut}), dead([]Run{retried}, gotTwo)}, rested(gotFour), NothingForgotten},
		"the file is gone":              {[]State{dead([]Run{cut})}, State{}, NothingForgotten},
		"the table of calls is dropped": {[]State{dead([]Run{cut})}, State{Databases: []Database{{File: "a.sqlite"}}}, NothingForgotten},
	} {
		got := Check(c.deaths, c.rest, 0)
		if len(got) != 1 || got[0].Invariant != c.want {
			t.Errorf("%s: got %v, want one violation of %s", name, got, c.want)
		}
	}
}

// Read finds the SDK's tables and, by their shape, the agent's own.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sqlite")
	conn, err := sqlite.Open(sqlite.Options{Path: path, Now: clock.Real{}.Now, Rand: entropy.System{}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Exec(`PRAGMA journal_mode = WAL;
		CREATE TABLE cf_agents_runs (id TEXT, name TEXT, snapshot TEXT, completed_at INTEGER);
		INSERT INTO cf_agents_runs VALUES ('f1', 'a', '{"n":1}', NULL), ('f2', 'b', NULL, 17.0);
		CREATE TABLE cf_agents_fibers (fiber_id TEXT, name TEXT, status TEXT);
		INSERT INTO cf_agents_fibers VALUES ('f1', 'a', 'running');
		CREATE TABLE my_interruptions (seq INTEGER PRIMARY KEY, fiber TEXT, snapshot TEXT);
		INSERT INTO my_interruptions (fiber, snapshot) VALUES ('f0', NULL);
		CREATE TABLE other_interruptions (unrelated);
		CREATE TABLE my_jobs (id TEXT, status TEXT, completions REAL);
		INSERT INTO my_jobs VALUES ('j', 'done', 1.0);
		CREATE TABLE _cf_METADATA (key INTEGER PRIMARY KEY, value BLOB);
		INSERT INTO _cf_METADATA VALUES (1, 1000000000)`); err != nil {
		t.Fatal(err)
	}
	dbs, err := evidence.OpenAll([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := evidence.CloseAll(dbs); err != nil {
			t.Error(err)
		}
	}()
	s, err := Read(dbs)
	if err != nil {
		t.Fatal(err)
	}
	d := s.Databases[0]
	if len(d.Runs) != 2 || d.Runs[0] != (Run{ID: "f1", Name: "a", Snapshot: `{"n":1}`}) || !d.Runs[1].Ended {
		t.Errorf("runs %+v", d.Runs)
	}
	if len(d.Managed) != 1 || !d.Managed[0].live() || len(d.Interrupted()) != 1 {
		t.Errorf("managed %+v, interrupted %+v", d.Managed, d.Interrupted())
	}
	if !d.HasHooks || len(d.Hooks) != 1 || d.Hooks[0].Fiber != "f0" || len(d.Jobs) != 1 || d.Jobs[0].Completions != 1 {
		t.Errorf("hooks %+v, jobs %+v", d.Hooks, d.Jobs)
	}
	if !d.AlarmSet || !d.Alarm.Equal(time.Unix(1, 0)) {
		t.Errorf("alarm %v %v", d.AlarmSet, d.Alarm)
	}
}
