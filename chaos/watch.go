package chaos

import (
	"fmt"
	"time"

	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/chaos/fibers"
	"minido.dev/minido/internal/clock"
)

// watcher follows an agent through its files alone: it never sends a request,
// so that what recovers has recovered by itself. Confined to one goroutine.
type watcher struct {
	clock   clock.Clock
	dir     string // the namespace's folder
	id      string
	tell    func(c colour, what, format string, args ...any)
	stamp   string
	state   fibers.State
	changed time.Time // when the files last changed
	// checkpoints counts, for each fiber, the snapshots seen since the last reset.
	checkpoints map[string]int
	// recovered is when the hook was first seen to have run since the last reset.
	recovered time.Time
}

func newWatcher(c clock.Clock, dir, id string, tell func(colour, string, string, ...any)) *watcher {
	return &watcher{clock: c, dir: dir, id: id, tell: tell, changed: c.Now(), checkpoints: map[string]int{}}
}

// reset starts the counts of a new life.
func (w *watcher) reset() {
	w.checkpoints, w.recovered = map[string]int{}, time.Time{}
	w.changed = w.clock.Now()
}

// look reads the files if they have changed, and tells what is new.
func (w *watcher) look() error {
	paths, err := evidence.Databases(w.dir, w.id)
	if err != nil {
		return err
	}
	stamp := evidence.Stamp(paths)
	if stamp == w.stamp {
		return nil
	}
	state, err := fibers.Read(paths)
	if err != nil {
		return fmt.Errorf("the agent's files: %w", err)
	}
	// The stamp is older than what was read: a change in between is read again.
	w.stamp, w.changed = stamp, w.clock.Now()
	w.compare(w.state, state)
	w.state = state
	return nil
}

// compare tells the difference between two states.
func (w *watcher) compare(before, after fibers.State) {
	if known, now := len(before.Hooks()), after.Hooks(); len(now) > known {
		if w.recovered.IsZero() {
			w.recovered = w.clock.Now()
		}
		for _, h := range now[known:] {
			w.tell(green, "recovered", "onFiberRecovered ran for fiber %s with %s", h.Fiber, shorten(h.Snapshot))
		}
	}
	old := map[string]fibers.Run{}
	for _, r := range allRuns(before) {
		old[r.ID] = r
	}
	for _, r := range allRuns(after) {
		was, known := old[r.ID]
		delete(old, r.ID)
		if !known {
			w.tell(plain, "fiber", "%s begins (%s)", r.Name, r.ID)
		}
		if r.Snapshot != was.Snapshot {
			w.checkpoints[r.ID]++
			w.tell(plain, "checkpoint", "%s", shorten(r.Snapshot))
		}
	}
	for _, r := range allRuns(before) {
		if _, gone := old[r.ID]; gone {
			w.tell(plain, "fiber", "%s is gone from cf_agents_runs (%s)", r.Name, r.ID)
		}
	}
}

func allRuns(s fibers.State) []fibers.Run {
	var out []fibers.Run
	for _, d := range s.Databases {
		out = append(out, d.Runs...)
	}
	return out
}

// mostCheckpoints is the greatest number of snapshots that one fiber stored.
func (w *watcher) mostCheckpoints() int {
	most := 0
	for _, n := range w.checkpoints { // order-independent: a maximum
		most = max(most, n)
	}
	return most
}

// atRest says whether the agent has nothing left to do and has changed nothing
// for a while; if not, why says what is left.
func (w *watcher) atRest() (rest bool, why string) {
	rest, why = w.state.AtRest(w.clock.Now())
	if rest && w.clock.Now().Sub(w.changed) < Quiet {
		return false, "its files changed a moment ago"
	}
	return rest, why
}
