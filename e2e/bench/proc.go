package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"minido.dev/minido/chaos/wait"
)

// errNoProc says that this system does not tell what a process uses.
var errNoProc = errors.New("needs Linux's /proc")

// usage is what the processes of a group use together.
type usage struct {
	processes int
	rss       int64         // bytes of resident memory; what they share counts for each
	peak      int64         // the sum of each one's own peak
	cpu       time.Duration // user and system time
}

// ticks is the unit of CPU times in /proc: 10 ms on every Linux that Go runs on.
const ticks = 10 * time.Millisecond

// groupUsage sums over the process group: wrangler is several processes.
func groupUsage(group int) (usage, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return usage{}, errNoProc
	}
	var sum usage
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if gone(err) {
			continue
		}
		if err != nil {
			return usage{}, err
		}
		// The name, in parentheses, may contain anything; what follows may not.
		fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		if len(fields) < 13 || fields[2] != strconv.Itoa(group) {
			continue
		}
		user, err1 := strconv.Atoi(fields[11])
		system, err2 := strconv.Atoi(fields[12])
		rss, peak, err3 := memory(filepath.Dir(path))
		if gone(err3) {
			continue
		}
		if err := errors.Join(err1, err2, err3); err != nil {
			return usage{}, fmt.Errorf("%s: %w", path, err)
		}
		sum.processes++
		sum.rss, sum.peak = sum.rss+rss, sum.peak+peak
		sum.cpu += time.Duration(user+system) * ticks
	}
	if sum.processes == 0 {
		return usage{}, fmt.Errorf("process group %d has ended", group)
	}
	return sum, nil
}

// gone tells that a process ended while it was looked at.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || err != nil && strings.Contains(err.Error(), "no such process")
}

// memory reads VmRSS and VmHWM; a process that has ended and was not reaped has
// neither.
func memory(dir string) (rss, peak int64, err error) {
	data, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(line, ":")
		if name != "VmRSS" && name != "VmHWM" {
			continue
		}
		kB, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
		if err != nil {
			return 0, 0, err
		}
		if name == "VmRSS" {
			rss = kB << 10
		} else {
			peak = kB << 10
		}
	}
	return rss, peak, nil
}

// The memory of a server counts as settled when it has moved by less than 1 %
// for settleSpan, which is longer than minido takes to see that it is idle; it is read at
// settleLimit in any case.
const (
	settleSpan  = 4 * time.Second
	settleLimit = 15 * time.Second
	settleStep  = 100 * time.Millisecond
)

// settled waits until the group's memory stands still, and returns it.
func (b *bench) settled(ctx context.Context, s *server) (usage, error) {
	u, err := groupUsage(s.child.Pid())
	if err != nil {
		return u, err
	}
	begin := b.clock.Now()
	since, base := begin, u.rss
	for b.clock.Now().Sub(since) < settleSpan && b.clock.Now().Sub(begin) < settleLimit {
		if err := wait.Pause(ctx, b.clock, settleStep); err != nil {
			return u, err
		}
		if u, err = groupUsage(s.child.Pid()); err != nil {
			return u, err
		}
		if moved := u.rss - base; moved > base/100 || moved < -base/100 {
			since, base = b.clock.Now(), u.rss
		}
	}
	return u, nil
}

// machine describes where the figures come from.
func machine() string {
	load := ""
	if data, err := os.ReadFile("/proc/loadavg"); err == nil {
		if f := strings.Fields(string(data)); len(f) > 0 {
			load = ", load average " + f[0]
		}
	}
	return fmt.Sprintf("%s/%s, %d processors%s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), load)
}
