package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/internal/killpoint"
)

// bury takes down what a death left behind.
func (r *caseRun) bury(life int) error {
	r.died = r.camp.clock.Now()
	if err := r.child.Close(); err != nil {
		return err
	}
	points, err := r.readPoints(life)
	if err != nil {
		return err
	}
	if err := r.readActs(life); err != nil {
		return err
	}
	f := r.lives[life].Kill()
	if f.Point != "" {
		if err := diedWhereAimed(f.Point, points); err != nil {
			return err
		}
	}
	k := Kill{AtMs: float64(r.history.Elapsed().Microseconds()) / 1000}
	if n := len(points); n > 0 {
		k.Point = points[n-1].Label
		if f.Point != "" { // else it may have done nothing for long
			r.died = time.Unix(0, points[n-1].AtNs)
		}
	}
	r.history.Add(history.Event{Kind: history.Kill, Who: fmt.Sprintf("server-%d", life+1), Text: k.Point})
	// The copy is read when the case is over: the next server must not wait for it.
	copied, err := r.preserve(fmt.Sprintf("death-%d", life+1))
	if err != nil {
		return err
	}
	r.copies = append(r.copies, copied)
	r.result.Kills = append(r.result.Kills, k)
	r.child = nil
	return nil
}

// readPoints reads the points of a life into the history, and completes the
// times of the death before it.
func (r *caseRun) readPoints(life int) ([]process.Point, error) {
	points, err := process.ReadPoints(r.pointLog(life))
	if err != nil {
		return nil, err
	}
	began := r.camp.clock.Now().Add(-r.history.Elapsed())
	for _, p := range points {
		at, err := json.Marshal(map[string]float64{"at_ms": msBetween(began, time.Unix(0, p.AtNs))})
		if err != nil {
			return nil, fmt.Errorf("campaign: %w", err)
		}
		r.history.Add(history.Event{Kind: history.Point, Who: fmt.Sprintf("server-%d", life+1), Text: p.Label, Data: at})
	}
	if p, recovered := firstCommit(points); recovered && life > 0 {
		r.result.Kills[life-1].RecoveredMs = msBetween(r.died, time.Unix(0, p.AtNs))
	}
	r.points = points
	return points, nil
}

func msBetween(from, to time.Time) float64 { return float64(to.Sub(from).Microseconds()) / 1000 }

// diedWhereAimed checks that the target was met at the last point, not before.
func diedWhereAimed(target string, points []process.Point) error {
	hits, err := killpoint.ParseTarget(target)
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	for i, p := range points {
		at, err := killpoint.ParseLabel(p.Label)
		if err != nil {
			return fmt.Errorf("campaign: the server recorded a point that is none: %w", err)
		}
		at.Number = p.N
		if hits(at) != (i == len(points)-1) {
			return fmt.Errorf("campaign: the server died by SIGKILL, but not at %s: its last point is %d, %s", target, len(points), points[len(points)-1].Label)
		}
	}
	if len(points) == 0 {
		return errors.New("campaign: the server died by SIGKILL before it recorded a point")
	}
	return nil
}
