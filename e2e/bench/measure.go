package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"minido.dev/minido/chaos/wait"
)

// startRuns is how often a start is repeated; slowStartRuns if one takes more
// than slowStart.
const (
	startRuns     = 7
	slowStartRuns = 3
	slowStart     = 1500 * time.Millisecond
)

// cacheState says what minido finds of earlier starts. The others keep nothing.
type cacheState int

const (
	coldCache cacheState = iota
	warmCache
)

// startRow measures from the start of the process to the first answer.
func startRow(of func(*bench) *project, path string, status int, cache cacheState) func(context.Context, *bench, *target) (cell, error) {
	return func(ctx context.Context, b *bench, t *target) (cell, error) {
		o := b.fresh(of(b))
		var times []float64
		if cache == warmCache {
			if _, err := b.oneStart(ctx, t, o, path, status); err != nil {
				return cell{}, err
			}
		}
		for runs := startRuns; len(times) < runs; {
			again := b.fresh(o.project)
			if cache == warmCache {
				again.cache = o.cache
			}
			took, err := b.oneStart(ctx, t, again, path, status)
			if err != nil {
				return cell{}, err
			}
			if took > slowStart {
				runs = slowStartRuns
			}
			times = append(times, ms(took))
		}
		return spread(times), nil
	}
}

func (b *bench) oneStart(ctx context.Context, t *target, o startOptions, path string, status int) (time.Duration, error) {
	s, took, err := b.startAndAsk(ctx, t, o, path, status)
	if err != nil {
		return 0, err
	}
	return took, s.close()
}

const (
	connections = 16
	warmUp      = 700 * time.Millisecond
)

// duration is how long a load lasts.
func (b *bench) duration() time.Duration { return time.Duration(b.seconds * float64(time.Second)) }

func (b *bench) helloLoad() (*project, load) {
	return b.hello, load{url: "/", conns: connections, warm: warmUp, seconds: b.duration()}
}

func (b *bench) helloAlone() (*project, load) {
	return b.hello, load{url: "/", conns: 1, warm: warmUp, seconds: b.duration()}
}

func (b *bench) noopLoad() (*project, load) {
	return b.objects, load{url: "/noop/one", conns: connections, warm: warmUp, seconds: b.duration()}
}

func (b *bench) insertLoad() (*project, load) {
	return b.objects, load{url: "/insert/one", conns: connections, warm: warmUp, seconds: b.duration()}
}

func (b *bench) socketLoad() (*project, load) {
	return b.objects, load{url: "/socket/one", sockets: true, conns: connections, warm: warmUp, seconds: b.duration()}
}

// loadRow measures how much of a load a server answers, each connection
// sending its next request when it has the last one's answer.
func loadRow(of func(*bench) (*project, load)) func(context.Context, *bench, *target) (cell, error) {
	return func(ctx context.Context, b *bench, t *target) (c cell, err error) {
		p, l := of(b)
		path, status := "/", 200
		if p != b.hello && t.name != "bare Go" {
			path, status = "/", 404 // the worker's usage text
		}
		s, _, err := b.startAndAsk(ctx, t, b.fresh(p), path, status)
		if err != nil {
			return cell{}, err
		}
		defer func() { err = errors.Join(err, s.close()) }()
		l.url = s.url + l.url
		before, beforeErr := groupUsage(s.child.Pid())
		got, own, err := b.generate(ctx, l)
		if err != nil {
			return cell{}, fmt.Errorf("%w; the server wrote:\n%s", err, s.child.Output())
		}
		c = cell{Value: float64(got.Requests) / got.Seconds}
		c.Note = fmt.Sprintf("p50 %.2f p99 %.2f max %.1f ms", got.P50, got.P99, got.Max)
		// Time of the processors depends less than the rate on what else the
		// machine does; and the generator's share says whether it was the limit.
		total := (b.duration() + warmUp).Seconds()
		if after, err := groupUsage(s.child.Pid()); err == nil && beforeErr == nil {
			cores := (after.cpu - before.cpu).Seconds() / total
			c.Note += fmt.Sprintf("; %.0f µs of CPU each, %.1f cores", cores/c.Value*1e6, cores)
		}
		c.Note += fmt.Sprintf("; load generator %.1f cores", own.Seconds()/total)
		return c, nil
	}
}

// generate runs a load in a process of its own; cpu is the time that this
// process used.
func (b *bench) generate(ctx context.Context, l load) (got loaded, cpu time.Duration, err error) {
	cmd := exec.CommandContext(ctx, b.self, l.arguments()...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return got, 0, fmt.Errorf("load on %s: %w", l.url, err)
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		return got, 0, fmt.Errorf("load on %s: its report: %w", l.url, err)
	}
	if got.Requests == 0 {
		return got, 0, fmt.Errorf("load on %s: no request was answered in time", l.url)
	}
	return got, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// memoryRow measures the resident memory of a server that has answered once
// and has nothing to do.
func memoryRow(of func(*bench) *project, path string, status int) func(context.Context, *bench, *target) (cell, error) {
	return func(ctx context.Context, b *bench, t *target) (c cell, err error) {
		s, _, err := b.startAndAsk(ctx, t, b.fresh(of(b)), path, status)
		if err != nil {
			return cell{}, err
		}
		defer func() { err = errors.Join(err, s.close()) }()
		u, err := b.settled(ctx, s)
		if err != nil {
			return cell{}, err
		}
		note := fmt.Sprintf("peak %.0f", megabytes(u.peak))
		if u.processes > 1 {
			note = fmt.Sprintf("%d processes", u.processes)
		}
		return cell{Value: megabytes(u.rss), Note: note}, nil
	}
}

func megabytes(n int64) float64 { return float64(n) / (1 << 20) }

// objectRow measures by how much memory grows for each of many objects that
// are alive at once.
func objectRow(verb string, count int, of func(*bench) *project) func(context.Context, *bench, *target) (cell, error) {
	path := "/" + verb + "/"
	if verb == "agent" {
		path = "/agents/research-agent/"
	}
	end := "{n}"
	if verb == "agent" {
		end += "/done"
	}
	return func(ctx context.Context, b *bench, t *target) (c cell, err error) {
		s, _, err := b.startAndAsk(ctx, t, b.fresh(of(b)), "/", 404)
		if err != nil {
			return cell{}, err
		}
		defer func() { err = errors.Join(err, s.close()) }()
		// One object beforehand: what the first one loads is not an object's.
		if _, err := b.firstAnswer(ctx, s, path+"first"+end[len("{n}"):], 200); err != nil {
			return cell{}, err
		}
		before, err := b.settled(ctx, s)
		if err != nil {
			return cell{}, err
		}
		got, _, err := b.generate(ctx, load{url: s.url + path + end, conns: connections, count: count})
		if err != nil {
			return cell{}, err
		}
		after, err := b.settled(ctx, s)
		if err != nil {
			return cell{}, err
		}
		perObject := float64(after.rss-before.rss) / 1024 / float64(count)
		return cell{Value: perObject, Note: fmt.Sprintf("%.0f created/s", float64(count)/got.Seconds)}, nil
	}
}

// pace waits for a time that is part of what is measured.
func (b *bench) pace(ctx context.Context, d time.Duration) error { return wait.Pause(ctx, b.clock, d) }
