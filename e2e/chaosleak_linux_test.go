package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
)

// children lists the live processes whose command line names dir: the chaos
// children of one campaign.
func children(t *testing.T, dir string) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err == nil && strings.Contains(string(line), "chaos-child") && strings.Contains(string(line), dir) {
			out = append(out, pid)
		}
	}
	return out
}

// eventually waits for a condition of other processes, which tell nobody.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	err := wait.Until(context.Background(), clock.Real{}, time.Minute, what, func() (bool, error) { return ok(), nil })
	if err != nil {
		t.Fatal(err)
	}
}

// A campaign that is interrupted ends with 128 + the signal's number, and one
// whose harness is killed just ends; neither leaves a child behind.
func TestCampaignLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"interrupted": syscall.SIGINT, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.Command(minido, "chaos", "replay", fixture(t, "planted"), "--dir", dir, "--fetch", "POST /job", "--var", "BUG:never-rests", "--var", "MARK:"+dir,
				"--plan", "none", "--runs", "1000", "--timeout", "30s")
			var out strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "a case", func() bool {
				found, err := filepath.Glob(filepath.Join(dir, "case-*", "points-1.ndjson"))
				return err == nil && len(found) > 0 && len(children(t, dir)) > 1
			})
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			err := cmd.Wait()
			if sig == syscall.SIGINT && cmd.ProcessState.ExitCode() != 128+int(syscall.SIGINT) {
				t.Errorf("exit: %v\n%s", err, out.String())
			}
			eventually(t, "the children's end", func() bool { return len(children(t, dir)) == 0 })
		})
	}
}
