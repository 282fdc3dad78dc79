//go:build linux

package process

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
)

// stopped reads from /proc whether a process stands still.
func stopped(pid int) (bool, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false, err
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(state, "T"), nil
}

// While a server recovers, children in preparation stand still, also one that
// begins then; afterwards, or when it takes too long, they go on and are prepared.
func TestPreparationsStandStillForARecovery(t *testing.T) {
	sch := sched.NewThreads(clock.Real{})
	machine := clock.NewVirtual(time.Unix(0, 0)) // a recovery takes too long when the test says so
	n := NewNursery(machine, 2)
	dir := t.TempDir()
	begin := func(name string) (file string, done chan error) {
		file, done = filepath.Join(dir, name), make(chan error, 1)
		script := fmt.Sprintf(`until [ -e %s ]; do sleep 0.01; done; echo '{"say":"prepared"}'; cat`, file)
		sch.Go(name, func() {
			child, err := n.Prepare(t.Context(), Options{Command: []string{"sh", "-c", script}, Log: io.Discard, Scheduler: sch})
			if err == nil {
				err = child.Close()
			}
			done <- err
		})
		return file, done
	}
	until := func(still bool, count int) {
		t.Helper()
		err := wait.Until(t.Context(), clock.Real{}, 10*time.Second, fmt.Sprintf("%d children with still=%v", count, still), func() (bool, error) {
			n.mu.Lock()
			defer n.mu.Unlock()
			for child := range n.young {
				if is, err := stopped(child.Pid()); err != nil || is != still {
					return false, err
				}
			}
			return len(n.young) == count, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	finish := func(file string, done chan error) {
		t.Helper()
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	}

	first, firstDone := begin("first")
	until(false, 1)
	end, other := n.Quiet(), n.Quiet()
	second, secondDone := begin("second")
	until(true, 2)
	end()
	end()
	if n.mu.Lock(); n.holds != 1 {
		t.Errorf("after the end of one of two recoveries: %d holds", n.holds)
	}
	n.mu.Unlock()
	other()
	until(false, 2)
	finish(first, firstDone)

	n.Quiet() // one that is never ended
	until(true, 1)
	machine.Advance(quietLimit)
	until(false, 1)
	finish(second, secondDone)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n.room <- struct{}{}
	n.room <- struct{}{}
	if _, err := n.Prepare(ctx, Options{}); err == nil {
		t.Error("a child was prepared after its caller had gone")
	}
}
