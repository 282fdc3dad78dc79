// Package fibers judges whether an agent's fibers survived the faults of a run. It
// reads the database of an agent (npm agents) as it was at each death of the process
// and at the end, and holds it against what a correct recovery means (see Check).
//
// What the SDK writes is read from its own tables, cf_agents_runs and
// cf_agents_fibers. What the recovery hook was given is known to the agent alone;
// an agent that wants this checked too writes it down in the hook, in a table of
// its own whose name ends in "_interruptions" and that has the columns fiber (the
// id) and snapshot (JSON text, or NULL). In the same spirit a table whose name
// ends in "_jobs", with the columns id, status and completions, says what the
// fibers were for: at rest no job may be 'running', and none may have been
// completed twice.
package fibers

import (
	"fmt"
	"strings"
	"time"

	"minido.dev/minido/chaos/evidence"
)

// Run is a row of cf_agents_runs: a fiber that runs or was interrupted.
type Run struct {
	ID   string
	Name string
	// Snapshot is the JSON that stash() wrote last, "" if it never did.
	Snapshot string
	// Ended says that the fiber's function has returned or thrown and only the
	// row is left: the SDK deletes such a row without calling the hook.
	Ended bool
}

// internal says that the SDK handles the fiber itself, without the user's hook.
func (r Run) internal() bool { return strings.HasPrefix(r.Name, "__cf_internal") }

// Managed is a row of cf_agents_fibers, the ledger of startFiber.
type Managed struct {
	ID, Name, Status string
}

// live says that the ledger still expects the fiber to go on.
func (m Managed) live() bool { return m.Status == "pending" || m.Status == "running" }

// Hook is one call of onFiberRecovered, as the agent noted it.
type Hook struct {
	Fiber    string
	Snapshot string // "" for none
}

// Job is one row of the agent's table of jobs.
type Job struct {
	ID, Status  string
	Completions int64
}

// Database is what one SQLite file says: the agent's own, or a sub-agent's.
type Database struct {
	// File is the name of the file.
	File    string
	Runs    []Run
	Managed []Managed
	// HasHooks says that the agent notes the calls of its hook.
	HasHooks bool
	Hooks    []Hook // in the order of the calls
	Jobs     []Job
	// AlarmSet and Alarm are the object's alarm. Sub-agents have none.
	AlarmSet bool
	Alarm    time.Time
}

// State is what an agent's files say at one moment. Databases begins with the
// agent's own; it is empty if the agent has stored nothing yet. Immutable.
type State struct {
	Databases []Database
}

// Read reads the databases of one agent, its own first (evidence.Databases).
func Read(dbs []*evidence.DB) (State, error) {
	var s State
	for _, db := range dbs {
		d, err := readDatabase(db)
		if err != nil {
			return State{}, fmt.Errorf("fibers: %s: %w", db.File, err)
		}
		s.Databases = append(s.Databases, d)
	}
	return s, nil
}

func readDatabase(db *evidence.DB) (d Database, err error) {
	d.File = db.File
	tables, err := db.Tables()
	if err != nil {
		return Database{}, err
	}
	for _, table := range tables {
		if err := d.readTable(db, table); err != nil {
			return Database{}, err
		}
	}
	d.Alarm, d.AlarmSet, err = db.Alarm()
	return d, err
}

func (d *Database) readTable(db *evidence.DB, table string) error {
	var rows []evidence.Row
	var err error
	var columns map[string]bool
	hooks, jobs := strings.HasSuffix(table, "_interruptions"), strings.HasSuffix(table, "_jobs")
	if hooks || jobs {
		if columns, err = db.Columns(table); err != nil {
			return err
		}
	}
	switch {
	case table == "cf_agents_runs":
		rows, err = db.Query("SELECT * FROM cf_agents_runs ORDER BY rowid")
		for _, r := range rows {
			// completed_at came with agents 0.2x; a missing column reads as nil.
			d.Runs = append(d.Runs, Run{ID: r.Text("id"), Name: r.Text("name"), Snapshot: r.Text("snapshot"), Ended: r["completed_at"] != nil})
		}
	case table == "cf_agents_fibers":
		rows, err = db.Query("SELECT * FROM cf_agents_fibers ORDER BY rowid")
		for _, r := range rows {
			d.Managed = append(d.Managed, Managed{ID: r.Text("fiber_id"), Name: r.Text("name"), Status: r.Text("status")})
		}
	case hooks && columns["fiber"] && columns["snapshot"]:
		d.HasHooks = true
		rows, err = db.Query("SELECT fiber, snapshot FROM " + evidence.QuoteName(table) + " ORDER BY rowid")
		for _, r := range rows {
			d.Hooks = append(d.Hooks, Hook{Fiber: r.Text("fiber"), Snapshot: r.Text("snapshot")})
		}
	case jobs && columns["id"] && columns["status"] && columns["completions"]:
		rows, err = db.Query("SELECT id, status, completions FROM " + evidence.QuoteName(table) + " ORDER BY rowid")
		for _, r := range rows {
			d.Jobs = append(d.Jobs, Job{ID: r.Text("id"), Status: r.Text("status"), Completions: r.Int("completions")})
		}
	}
	return err
}

// Interrupted lists the fibers that a death at this state has cut: those that
// neither their own row nor the ledger calls ended.
func (d Database) Interrupted() []Run {
	var out []Run
	for _, r := range d.Runs {
		if !r.Ended && !d.settled(r.ID) {
			out = append(out, r)
		}
	}
	return out
}

// settled says that the ledger of startFiber calls the fiber ended.
func (d Database) settled(id string) bool {
	for _, m := range d.Managed {
		if m.ID == id {
			return !m.live()
		}
	}
	return false
}

// Interrupted lists the fibers of the agent and its sub-agents that a death at
// this state has cut.
func (s State) Interrupted() []Run {
	var out []Run
	for _, d := range s.Databases {
		out = append(out, d.Interrupted()...)
	}
	return out
}

// Hooks are all calls of the hook that were noted so far.
func (s State) Hooks() []Hook {
	var out []Hook
	for _, d := range s.Databases {
		out = append(out, d.Hooks...)
	}
	return out
}

func describeRuns(runs []Run) string {
	var parts []string
	for _, r := range runs {
		parts = append(parts, fmt.Sprintf("%s (%s)", r.Name, r.ID))
	}
	return strings.Join(parts, ", ")
}
