package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"minido.dev/minido/internal/lazyregexp"
)

// campaignRow measures how long `minido chaos enumerate` takes in simulation for
// every point of a fixture. A campaign that finds a violation counts: fixtures of
// older packages have bugs that it is meant to find.
func campaignRow(fixture string) func(context.Context, *bench, *target) (cell, error) {
	return func(ctx context.Context, b *bench, t *target) (cell, error) {
		var times []float64
		var note string
		for range agentRuns {
			begin := b.clock.Now()
			out, err := b.chaos(ctx, "enumerate", filepath.Join(b.top, "fixtures", fixture), "--mode", "sim")
			if err != nil {
				return cell{}, err
			}
			times = append(times, ms(b.clock.Now().Sub(begin)))
			if m := visited.FindString(out); m != "" {
				note = m
			}
		}
		c := spread(times)
		c.Note = note
		return c, nil
	}
}

// cycleRow measures how many real processes die by SIGKILL and recover in a minute.
func cycleRow(ctx context.Context, b *bench, t *target) (cell, error) {
	out, err := b.chaos(ctx, "enumerate", filepath.Join(b.top, "fixtures", "fibers", "cycles"))
	if err != nil {
		return cell{}, err
	}
	m := cycles.FindStringSubmatch(out)
	if m == nil {
		return cell{}, fmt.Errorf("it told no cycles: %s", out)
	}
	rate, err := strconv.ParseFloat(m[1], 64)
	return cell{Value: rate, Note: m[2]}, err
}

var (
	visited = lazyregexp.New(`visited \d+ of \d+ points`)
	cycles  = lazyregexp.New(`(\d+) cycles a minute, (.*)`)
)

// chaos runs `minido chaos`; exit codes 0 and 1 are results.
func (b *bench) chaos(ctx context.Context, arguments ...string) (string, error) {
	cmd := exec.CommandContext(ctx, b.binary, append([]string{"chaos"}, arguments...)...)
	cmd.Dir, cmd.Env = b.freshDir(), os.Environ()
	if err := os.MkdirAll(cmd.Dir, 0o700); err != nil {
		return "", err
	}
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return string(out), err
}
