package fibers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// Violation is an invariant that does not hold, with the facts that prove it.
// Immutable.
type Violation struct {
	// Invariant is its short name; see Check.
	Invariant string
	// Text says in one or two lines what happened instead.
	Text string
}

// String is the violation on one line.
func (v Violation) String() string { return v.Invariant + ": " + v.Text }

// The invariants, by name.
const (
	// HookOnce: the hook runs once for each fiber that a death cut, before the
	// next death or the end, and for no other. (A fiber whose recovery was cut by
	// the next death is recovered again after it.)
	HookOnce = "hook-once"
	// HookSnapshot: the hook gets the last snapshot that stash() made durable.
	HookSnapshot = "hook-snapshot"
	// NoOrphan: at rest neither table of the SDK holds a fiber that is not ended.
	NoOrphan = "no-orphan"
	// AlarmWhileRunning: while a fiber of the agent itself runs, an alarm is set;
	// without one nothing would recover it until somebody happens to ask.
	AlarmWhileRunning = "alarm-while-running"
	// EndsOnce: every job ends, and none is completed twice.
	EndsOnce = "ends-once"
	// NothingForgotten: entries that were written before a death exist after it.
	NothingForgotten = "nothing-forgotten"
)

// Check compares the agent's state at each death of the process, in order, with
// its state at rest after the last recovery, and returns what does not hold.
// unseen is how often the agent has ended beside that, in a process that lived on:
// of such an end there are no files, so that the hook may have run for it.
func Check(deaths []State, rest State, unseen int) []Violation {
	var out []Violation
	add := func(invariant, format string, args ...any) {
		out = append(out, Violation{invariant, fmt.Sprintf(format, args...)})
	}
	states := append(append([]State{}, deaths...), rest)
	for life, end := range states {
		// The first life begins with nothing on disk that a death could have cut.
		var begin State
		if life > 0 {
			begin = states[life-1]
		}
		for _, d := range end.Databases {
			checkLife(add, life, life == len(states)-1, unseen, begin.database(d.File), d)
		}
		for _, d := range begin.Databases {
			if !end.has(d.File) && (len(d.Runs) > 0 || len(d.Hooks) > 0) {
				add(NothingForgotten, "%s, which held fibers at death %d, is gone", d.File, life)
			}
		}
		if life < len(states)-1 && len(end.Databases) > 0 {
			if own := end.Databases[0]; !own.AlarmSet && len(own.Interrupted()) > 0 {
				add(AlarmWhileRunning, "at death %d no alarm was set, and %s was running: only a request could bring it back", life+1, describeRuns(own.Interrupted()))
			}
		}
	}
	checkRest(add, rest)
	return out
}

func (s State) has(file string) bool {
	for _, d := range s.Databases {
		if d.File == file {
			return true
		}
	}
	return false
}

// database is the state's database of that name, empty if it has none.
func (s State) database(file string) Database {
	for _, d := range s.Databases {
		if d.File == file {
			return d
		}
	}
	return Database{File: file}
}

// checkLife judges the hook calls of one life, number life from 0, of which the
// files said begin when it started and end when it ended.
func checkLife(add func(invariant, format string, args ...any), life int, last bool, unseen int, begin, end Database) {
	if !end.HasHooks {
		if begin.HasHooks {
			add(NothingForgotten, "%s: the table of hook calls is gone after death %d", end.File, life)
		}
		return
	}
	if len(end.Hooks) < len(begin.Hooks) || !slices.Equal(end.Hooks[:len(begin.Hooks)], begin.Hooks) {
		add(NothingForgotten, "%s: hook calls that were on disk at death %d are not there later: %v, then %v", end.File, life, begin.Hooks, end.Hooks)
		return
	}
	calls := end.Hooks[len(begin.Hooks):]
	cut := map[string]bool{}
	for _, run := range begin.Interrupted() {
		if run.internal() {
			continue
		}
		cut[run.ID] = true
		n := 0
		for _, h := range calls {
			if h.Fiber != run.ID {
				continue
			}
			n++
			first := unseen == 0 || n == 1
			if first && !sameJSON(h.Snapshot, run.Snapshot) {
				add(HookSnapshot, "%s (%s), cut by death %d: stash() had returned with %s, the hook got %s", run.Name, run.ID, life, orNone(run.Snapshot), orNone(h.Snapshot))
			}
		}
		switch {
		case n > 1+unseen:
			add(HookOnce, "%s (%s), cut by death %d: the hook ran %d times", run.Name, run.ID, life, n)
		case n == 0 && (last || !end.holds(run.ID)):
			add(HookOnce, "%s (%s), cut by death %d: the hook never ran", run.Name, run.ID, life)
		}
	}
	uncut := map[string]int{}
	for _, h := range calls {
		uncut[h.Fiber]++
		if !cut[h.Fiber] && uncut[h.Fiber] > unseen {
			add(HookOnce, "the hook ran for fiber %s, which death %d had not cut (snapshot %s)", h.Fiber, life, orNone(h.Snapshot))
		}
	}
}

// holds says that the fiber's row is still there, so that its recovery is not over.
func (d Database) holds(id string) bool {
	for _, r := range d.Runs {
		if r.ID == id {
			return true
		}
	}
	return false
}

func checkRest(add func(invariant, format string, args ...any), rest State) {
	for _, d := range rest.Databases {
		if len(d.Runs) > 0 {
			add(NoOrphan, "%s: cf_agents_runs still holds %s", d.File, describeRuns(d.Runs))
		}
		for _, m := range d.Managed {
			if m.live() {
				add(NoOrphan, "%s: cf_agents_fibers still calls %s (%s) %s", d.File, m.Name, m.ID, m.Status)
			}
		}
		for _, j := range d.Jobs {
			switch {
			case j.Status == "running":
				add(EndsOnce, "job %s is 'running' and no fiber is left to finish it", j.ID)
			case j.Completions > 1:
				add(EndsOnce, "job %s was completed %d times", j.ID, j.Completions)
			case j.Status == "done" && j.Completions != 1:
				add(EndsOnce, "job %s is 'done' with %d completions", j.ID, j.Completions)
			}
		}
	}
}

func orNone(snapshot string) string {
	if snapshot == "" {
		return "no snapshot"
	}
	return snapshot
}

// sameJSON compares two snapshots by value: an agent may note one with other
// white space than stash() wrote. JSON null and none are the same: the SDK hands
// both to the hook as null.
func sameJSON(a, b string) bool {
	x, errA := parse(a)
	y, errB := parse(b)
	if errA != nil || errB != nil {
		return a == b
	}
	return reflect.DeepEqual(x, y)
}

func parse(text string) (v any, err error) {
	if text == "" {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}
