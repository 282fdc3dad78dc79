package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"minido.dev/minido/chaos/cut"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/oracle"
)

// breakRest is a driver for when the clients are done: those whose connections a death
// has cut after that lose them.
type breakRest struct{}

// Finished implements drive.Driver.
func (breakRest) Finished() bool { return true }

// Run implements drive.Driver.
func (breakRest) Run(ctx context.Context, s *drive.Session) error { return s.BreakRest(ctx) }

// paces are those at which what clients are told otherwise must be told otherwise, too:
// what a recovery has not done after a minute it may do in an hour.
var paces = []time.Duration{Patience, 20 * Patience}

// maxPassing is how often a difference of what clients are told may turn out to pass before
// nobody looks at it any more.
const maxPassing = 3

// lasts reports whether clients that wait are told otherwise, too: the run is repeated in
// a simulation with such clients, and compared with theirs without a fault. A difference
// that time mends is none: the answer was asked for while the recovery went on.
func (r *caseRun) lasts(ctx context.Context, found []oracle.Difference) (bool, error) {
	if r.asking {
		r.told = found
		return false, nil
	}
	c := r.camp
	known := func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return !slices.ContainsFunc(found, func(d oracle.Difference) bool { return c.passing[d.Place] < maxPassing })
	}
	if known() {
		return false, nil
	}
	asked := false
	for _, pace := range paces {
		if pace == r.pace {
			continue
		}
		told, reached, err := r.askAt(ctx, pace, found)
		if err != nil {
			return false, err
		}
		if !reached {
			continue
		}
		asked = true
		if !slices.ContainsFunc(told, func(d oracle.Difference) bool {
			return slices.ContainsFunc(found, func(f oracle.Difference) bool { return f.Place == d.Place })
		}) {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.passing == nil {
				c.passing = map[string]int{}
			}
			for _, d := range found {
				c.passing[d.Place]++
			}
			return false, nil
		}
	}
	return asked, nil
}

// askAt is what clients with that pace are told otherwise, and whether the plan's deaths
// come about then, cut the same requests, and leave clients one of the answers that were found to differ.
func (r *caseRun) askAt(ctx context.Context, pace time.Duration, found []oracle.Difference) (told []oracle.Difference, reached bool, err error) {
	dir, err := os.MkdirTemp(r.camp.workshop.Room(r.camp.dir), "asking-")
	if err != nil {
		return nil, false, fmt.Errorf("campaign: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Mkdir(filepath.Join(dir, "state"), 0o700); err != nil {
		return nil, false, fmt.Errorf("campaign: %w", err)
	}
	twin := &caseRun{camp: r.camp, slot: r.slot, plan: r.plan, lives: r.lives, dir: dir, pace: pace, asking: true, events: io.Discard,
		result: began(r.result.Name)}
	if err := twin.simulateOnce(ctx, r.camp.Seed); err != nil {
		return nil, false, err
	}
	// A death at the end of an answer may cut it in one world and come behind it in the other.
	alike := slices.Equal(cut.Calls(twin.history.Events(), -1), cut.Calls(r.evidence.Events, -1))
	reached = alike && len(twin.missed) == 0 && twin.state != nil && slices.ContainsFunc(found, func(d oracle.Difference) bool { return twin.state.Has(d) })
	return twin.told, reached, nil
}
