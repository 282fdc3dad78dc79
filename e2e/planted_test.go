package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/campaign"
)

// enumerate runs `minido chaos enumerate` on the fixture "planted" with the given
// bug of the worker, and returns its exit code and report.
func enumerate(t *testing.T, bin string, env []string, flags ...string) (int, campaign.Report) {
	t.Helper()
	args := append([]string{"chaos", "enumerate", fixture(t, "planted"), "--timeout", "5s", "--effects", "SINK",
		"--model", "counter(POST /add,GET /sum)"}, flags...)
	cmd := exec.Command(bin, args...)
	cmd.Env = append(os.Environ(), env...)
	r, out := campaignBy(t, cmd)
	t.Logf("%d cases, %d visited, %d missed, code %d\n%s", len(r.Cases), r.Visited, len(r.Missed), r.Code, out)
	return cmd.ProcessState.ExitCode(), r
}

var adds = []string{"--fetch", "POST /add", "--fetch", "POST /add", "--fetch", "GET /sum"}
var job = []string{"--fetch", "POST /job"}

// Each bug that is planted into the worker is found by enumeration, in its first
// pass, and named by the invariant that it breaks; its replay line fails again.
// Without a bug nothing is found and no point is missed.
func TestPlantedBugsOfWorkers(t *testing.T) {
	for _, c := range []struct {
		bug   string
		steps []string
		want  string // "" for nothing
	}{
		{"none", append(append([]string{}, adds...), job...), ""},
		{"ack-early", adds, "linearizable/counter"},
		{"module-state", adds, "linearizable/counter"},
		{"no-key", job, "effects/effect-once"},
		{"fresh-key", job, "effects/effect-one-key"},
		{"timer", job, "fibers/ends-once"},
		{"complete-twice", job, "fibers/ends-once"},
		{"never-rests", job, "restless"},
	} {
		t.Run(c.bug, func(t *testing.T) {
			code, r := enumerate(t, minido, nil, append([]string{"--var", "BUG:" + c.bug}, c.steps...)...)
			if len(r.Missed) > 0 {
				t.Errorf("missed %v", r.Missed)
			}
			if c.want == "" {
				if code != chaos.Pass {
					t.Errorf("code %d", code)
				}
				return
			}
			found := expect(t, code, r, c.want)
			again := replayOf(t, minido, nil, found)
			if again == chaos.Pass {
				t.Errorf("the replay passed: %s", found.Replay)
			}
		})
	}
}

// expect finds a case that broke the wanted invariant.
func expect(t *testing.T, code int, r campaign.Report, want string) campaign.Case {
	t.Helper()
	if code != chaos.Violated && code != chaos.Restless {
		t.Errorf("code %d", code)
	}
	for _, c := range r.Failed() {
		if string(c.Outcome) == want {
			return c
		}
		for _, v := range c.Violations {
			if v.Key() == want {
				return c
			}
		}
	}
	t.Fatalf("%s was not found", want)
	return campaign.Case{}
}

// replayOf runs the line that a finding printed and returns its exit code.
func replayOf(t *testing.T, bin string, env []string, c campaign.Case) int {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the line is for a POSIX shell")
	}
	line := strings.Replace(c.Replay, "minido ", "'"+bin+"' ", 1) + " --dir '" + t.TempDir() + "'"
	cmd := exec.Command("sh", "-c", line)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	t.Logf("%s\n%s", line, out)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

// The harness finds a minido that is wrong itself: one that acknowledges before it
// commits, and one that forgets its alarms when it starts. The same build without
// a bug passes.
func TestPlantedBugsOfMinido(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "minido-planted")
	build := exec.Command("go", "build", "-tags", "plantedbugs", "-o", bin, "minido.dev/minido/cmd/minido")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, c := range []struct {
		bug   string
		steps []string
		want  string
	}{
		{"", append(append([]string{}, adds...), job...), ""},
		{"ack-before-commit", adds, "linearizable/counter"},
		{"forget-alarms", job, "alarms/fires"},
	} {
		t.Run("bug="+c.bug, func(t *testing.T) {
			code, r := enumerate(t, bin, []string{"MINIDO_PLANTED_BUG=" + c.bug}, c.steps...)
			if c.want == "" {
				if code != chaos.Pass {
					t.Errorf("code %d", code)
				}
				return
			}
			expect(t, code, r, c.want)
		})
	}
}
