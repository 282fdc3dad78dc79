package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"minido.dev/minido/chaos/process"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
)

// harness starts `minido chaos`, which starts a server of its own.
func harness(t *testing.T, args ...string) *process.Child {
	t.Helper()
	return child(t, process.Options{Command: append([]string{minido, "chaos"}, args...)})
}

// ends waits for the harness's end and returns its exit code.
func ends(t *testing.T, h *process.Child) int {
	t.Helper()
	if err := wait.Channel(t.Context(), clock.Real{}, 90*time.Second, "the end of minido chaos", h.Exited()); err != nil {
		t.Fatal(err)
	}
	exit, _ := h.Exit()
	return exit.Code
}

// run of the fiber agent that is to be killed when it is told so.
func fiberRun(t *testing.T, more ...string) []string {
	return append([]string{fixture(t, "fibers"), "--call", `ResearchAgent/r1.startResearch("tides")`,
		"--var", "STEP_MS:200", "--var", "KEEP_ALIVE_MS:1000", "--dir", filepath.Join(t.TempDir(), "out")}, more...)
}

// The command's exit codes say how a run went, and its last words what to do.
func TestChaosCommand(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		code int
		want []string
	}{
		"it passes":          {fiberRun(t), 0, []string{"SIGKILL", "onFiberRecovered ran", "PASS"}},
		"points are listed":  {fiberRun(t, "--list-points"), 0, []string{"commit:after(ResearchAgent/r1)/"}},
		"no such method":     {fiberRun(t, "--call", "ResearchAgent/r1.nonsense()", "--list-points"), 2, []string{"nonsense"}},
		"no such agent":      {fiberRun(t, "--call", "Nobody/r1.m()", "--list-points"), 2, []string{"Nobody/r1"}},
		"no such project":    {[]string{"nowhere", "--call", "A/b.x()"}, 2, []string{"nowhere"}},
		"the moment is past": {fiberRun(t, "--kill-at-checkpoint", "9"), 5, []string{"did not happen", "replay with:\nminido chaos "}},
	} {
		t.Run(name, func(t *testing.T) {
			h := harness(t, c.args...)
			if code := ends(t, h); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			contains(t, h.Output(), c.want...)
		})
	}
}

var startedPid = regexp.MustCompile(`start +pid (\d+), ready`)

// serverOf waits until the harness has started its server, and returns its pid.
func serverOf(t *testing.T, h *process.Child) int {
	t.Helper()
	pid := 0
	err := wait.Until(t.Context(), clock.Real{}, readyLimit, "the start of the server", func() (bool, error) {
		m := startedPid.FindStringSubmatch(h.Output())
		if m == nil {
			return false, h.ExitError()
		}
		var err error
		pid, err = strconv.Atoi(m[1])
		return true, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// gone waits until no process has the pid.
func gone(t *testing.T, pid int) {
	t.Helper()
	err := wait.Until(t.Context(), clock.Real{}, 20*time.Second, fmt.Sprintf("the end of server %d", pid), func() (bool, error) {
		p, err := os.FindProcess(pid)
		if err != nil {
			return true, nil
		}
		if err := p.Signal(syscall.Signal(0)); err != nil {
			return true, nil
		}
		// A zombie that init has not reaped yet is dead too.
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err == nil && strings.Contains(string(stat), ") Z "), nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Ctrl-C ends a run with code 130; SIGKILL of the harness ends its server too
// (where the kernel can do that). Neither leaves anything running.
func TestChaosCommandIsStopped(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no signals")
	}
	t.Run("SIGINT", func(t *testing.T) {
		h := harness(t, fiberRun(t, "--kill-after", "1h")...)
		pid := serverOf(t, h)
		if err := h.Stop(t.Context(), 20*time.Second); err != nil {
			t.Fatal(err)
		}
		if code := ends(t, h); code != 130 {
			t.Errorf("exit code %d, want 130", code)
		}
		gone(t, pid)
	})
	t.Run("SIGKILL", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("no parent-death signal")
		}
		h := harness(t, fiberRun(t, "--kill-after", "1h")...)
		pid := serverOf(t, h)
		if err := h.Kill(); err != nil {
			t.Fatal(err)
		}
		gone(t, pid)
	})
}

// A newcomer's way: init, then enumerate, with nothing edited in between.
func TestChaosInitThenEnumerate(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{
		"wrangler.jsonc": `{ "name": "tally", "main": "tally.ts", "compatibility_date": "2026-01-01",
			"durable_objects": { "bindings": [{ "name": "TALLY", "class_name": "Tally" }] },
			"migrations": [{ "tag": "v1", "new_sqlite_classes": ["Tally"] }] }`,
		"tally.ts": `import { DurableObject } from "cloudflare:workers";
export class Tally extends DurableObject {
  async add() { await this.ctx.storage.put("n", ((await this.ctx.storage.get<number>("n")) ?? 0) + 1); }
}
export default {
  async fetch(request: Request, env: any) {
    await env.TALLY.getByName("a1").add();
    return new Response("added");
  },
};`,
	})
	first := harness(t, "init", dir)
	if code := ends(t, first); code != 0 {
		t.Fatalf("init ends with %d:\n%s", code, first.Output())
	}
	second := harness(t, "enumerate", dir)
	if code := ends(t, second); code != 0 {
		t.Errorf("enumerate ends with %d", code)
	}
	contains(t, second.Output(), "PASS", "visited")
}
