package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"time"

	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/chaos/wait"
)

const (
	// fiberStep is how long one step of the fiber takes, in milliseconds.
	fiberStep = "400"
	// heartbeat is the interval of the agent's alarm: a crash is noticed at the
	// next one.
	heartbeat = 2 * time.Second
	// recoveryLimit bounds the wait for a recovery, fiberLimit that for the
	// fiber's first checkpoint.
	recoveryLimit = 15 * time.Second
	fiberLimit    = 10 * time.Second
	recoveryRuns  = 3
)

// recoveryCase says when the killed server is started again.
type recoveryCase int

const (
	atOnce  recoveryCase = iota // the alarm lies ahead, by up to a heartbeat
	overdue                     // the alarm should have fired meanwhile
)

// recoveryRow kills the server in the middle of a fiber's step and starts it
// again. Nobody asks it anything: the agent's alarm has to find the fiber. The
// time is the one that the hook wrote into the agent's database; that the row
// can be read there shows that it was committed.
func recoveryRow(when recoveryCase) func(context.Context, *bench, *target) (cell, error) {
	return func(ctx context.Context, b *bench, t *target) (cell, error) {
		cache := b.freshDir()
		var times []float64
		for range recoveryRuns {
			o := b.fresh(b.fibers)
			o.cache = cache
			took, err := b.recovery(ctx, t, o, when)
			if err != nil {
				return cell{}, err
			}
			times = append(times, ms(took))
		}
		return spread(times), nil
	}
}

func (b *bench) recovery(ctx context.Context, t *target, o startOptions, when recoveryCase) (took time.Duration, err error) {
	const agent = "/agents/research-agent/mid-fiber/"
	s, _, err := b.startAndAsk(ctx, t, o, agent+"done", 200)
	if err != nil {
		return 0, err
	}
	// Kill is idempotent: this is for the ways out before it.
	defer func() { err = errors.Join(err, s.close()) }()
	status, body, err := roundTrip(ctx, http.MethodPost, s.url+agent+"start?topic=tides")
	if err != nil {
		return 0, err
	}
	if status != http.StatusOK {
		return 0, fmt.Errorf("start of the fiber: status %d: %.200s", status, body)
	}
	dir := t.layout(o.state, "fibers-ResearchAgent")
	_, err = b.rowInDatabase(ctx, dir, fiberLimit, "the fiber's first checkpoint", "SELECT at FROM research_log WHERE event = 'stash'")
	if err != nil {
		return 0, err
	}
	from := b.clock.Now()
	if err := s.child.Kill(); err != nil {
		return 0, err
	}
	if when == overdue {
		if err := b.pace(ctx, heartbeat+100*time.Millisecond); err != nil {
			return 0, err
		}
	}
	again, err := b.start(t, o)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, again.close()) }()
	if when == overdue {
		from = again.began
	}
	at, err := b.rowInDatabase(ctx, dir, recoveryLimit, "the recovery hook's row", "SELECT at FROM research_interruptions")
	if err != nil {
		return 0, fmt.Errorf("%w; the server wrote:\n%s", err, again.child.Output())
	}
	return at.Sub(from), nil
}

// rowInDatabase waits until one of the databases in dir has a row, whose column
// "at" is a time in milliseconds, and returns that time.
func (b *bench) rowInDatabase(ctx context.Context, dir string, limit time.Duration, what, query string) (at time.Time, err error) {
	stamp := ""
	err = wait.Until(ctx, b.clock, limit, what, func() (bool, error) {
		files, err := filepath.Glob(filepath.Join(dir, "*.sqlite"))
		if err != nil {
			return false, err
		}
		now := evidence.Stamp(files)
		if now == stamp {
			return false, nil
		}
		for _, file := range files {
			rows, err := queryCopy(file, query)
			if errors.Is(err, evidence.ErrUnsteady) || errors.Is(err, fs.ErrNotExist) {
				return false, nil
			}
			if err != nil {
				return false, err
			}
			if len(rows) > 0 {
				at = time.UnixMilli(rows[0].Int("at"))
				return true, nil
			}
		}
		stamp = now
		return false, nil
	})
	return at, err
}

// queryCopy asks a copy of the database; no rows if its agent has not made its
// tables yet.
func queryCopy(file, query string) (rows []evidence.Row, err error) {
	db, err := evidence.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	columns, err := db.Columns("research_interruptions") // the last of them
	if err != nil || len(columns) == 0 {
		return nil, err
	}
	return db.Query(query)
}
