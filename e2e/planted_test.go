package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/result"
)

// enumerate runs `minido chaos enumerate` on the fixture "planted" with the given
// bug of the worker, and returns its exit code and report.
func enumerate(t *testing.T, bin string, env []string, flags ...string) (int, result.Report) {
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
	t.Parallel()
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
			flags := append([]string{"--var", "BUG:" + c.bug}, c.steps...)
			if c.want != "" {
				flags = append(flags, "--stop-after", "1") // its first finding names it
			}
			code, r := enumerate(t, minido, nil, flags...)
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
func expect(t *testing.T, code int, r result.Report, want string) result.Case {
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
	return result.Case{}
}

// replayOf runs the line that a finding printed and returns its exit code.
func replayOf(t *testing.T, bin string, env []string, c result.Case, more ...string) int {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the line is for a POSIX shell")
	}
	line := strings.Replace(c.Replay, "minido ", "'"+bin+"' ", 1) + " --dir '" + t.TempDir() + "' " + strings.Join(more, " ")
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
// commits, one that forgets its alarms when it starts, one whose hibernation cuts
// sockets. The same build without
// a bug passes.
func TestPlantedBugsOfMinido(t *testing.T) {
	t.Parallel()
	bin := plantedMinido(t)
	t.Run("determinism", func(t *testing.T) { plantedNondeterminism(t, bin) })
	fresh := []string{"--scenario", filepath.Join(fixture(t, "planted"), "fresh.chaos.ts"), "--fault", "crash(isolate)", "--max", "8"}
	t.Run("bug=drop-sockets", func(t *testing.T) {
		// When the iPhone joins, its side waits on its socket: it sees the loss, and
		// does not hang up first.
		cmd := exec.Command(bin, "chaos", "replay", fixture(t, "relay"), "--plan", "hibernate@commit:after(Room/r1)/message#2")
		cmd.Env = append(os.Environ(), "MINIDO_PLANTED_BUG=drop-sockets")
		r, _ := campaignBy(t, cmd)
		expect(t, r.Code, r, "sockets/not-dropped")
	})
	for _, c := range []struct {
		bug   string
		steps []string
		want  string
	}{
		{"", append(append([]string{}, adds...), job...), ""},
		{"", fresh, ""},
		{"ack-before-commit", adds, "linearizable/counter"},
		{"forget-alarms", job, "alarms/fires"},
		{"keep-module-state", fresh, "scenario/module state is fresh"},
	} {
		t.Run("bug="+c.bug, func(t *testing.T) {
			env := []string{"MINIDO_PLANTED_BUG=" + c.bug}
			flags := c.steps
			if c.want != "" {
				flags = append(slices.Clone(flags), "--stop-after", "1") // its first finding names it
			}
			code, r := enumerate(t, bin, env, flags...)
			if c.want == "" {
				if code != chaos.Pass {
					t.Errorf("code %d", code)
				}
				return
			}
			found := expect(t, code, r, c.want)
			// An isolate's crash begins at its point, and the worker goes on meanwhile.
			if again := replayOf(t, bin, env, found, "--runs", "10"); again == chaos.Pass {
				t.Errorf("the replay passed: %s", found.Replay)
			}
		})
	}
}

// plantedMinido is one that has the bug which MINIDO_PLANTED_BUG names. It is linked
// once, by the first test that asks.
func plantedMinido(t *testing.T) string {
	t.Helper()
	bin, err := linkPlanted()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

var linkPlanted = sync.OnceValues(func() (string, error) {
	bin := filepath.Join(scratch, "minido-planted")
	build := exec.Command("go", "build", "-ldflags=-w -X minido.dev/minido/internal/planted.linked=yes", "-o", bin, "minido.dev/minido/cmd/minido")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return bin, nil
})

// lots is a worker that meets each of the planted leaks: several objects at once,
// SQL's randomness in a column's default, and fetches beside each other.
const lots = `
import { DurableObject } from "cloudflare:workers";
export class Box extends DurableObject {
  constructor(ctx, env) { super(ctx, env); ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS t (id TEXT DEFAULT (lower(hex(randomblob(8)))), n INTEGER DEFAULT (random()), x TEXT)"); }
  async all() {
    this.ctx.storage.sql.exec("INSERT INTO t (x) VALUES ('a')");
    await Promise.all([1, 2, 3].map((i) => fetch(this.env.SINK + "/" + this.ctx.id.name + i, { method: "POST" })));
    return this.ctx.storage.sql.exec("SELECT * FROM t").toArray();
  }
}
export default { async fetch(req, env) {
  const rows = await Promise.all(["a", "b", "c", "d", "e", "f"].map((n) => env.DO.getByName(n).all()));
  return Response.json(rows);
} };`

// The self-check finds what would make two runs of one seed differ, and names it;
// without a bug it finds nothing.
func plantedNondeterminism(t *testing.T, bin string) {
	dir := oneClass(t, lots, "Box")
	for _, bug := range []string{"", "sql-random", "map-order", "goroutine"} {
		t.Run("bug="+bug, func(t *testing.T) {
			cmd := exec.Command(bin, "chaos", "replay", dir, "--mode", "sim", "--self-check", "--runs", "3", "--plan", "none", "--effects", "SINK", "--fetch", "GET /")
			cmd.Env = append(os.Environ(), "MINIDO_PLANTED_BUG="+bug)
			r, out := campaignBy(t, cmd)
			code := cmd.ProcessState.ExitCode()
			if bug == "" {
				if code != chaos.Pass {
					t.Errorf("code %d\n%s", code, out)
				}
				return
			}
			found := slices.ContainsFunc(r.Failed(), func(one result.Case) bool { return strings.HasPrefix(one.Text, "determinism: ") })
			if code != chaos.Broken || !found {
				t.Errorf("code %d, not found\n%s", code, out)
			}
		})
	}
}

// A plan with more than it takes shrinks to what it takes, and a replay says how
// often it fails.
func TestFindingShrinks(t *testing.T) {
	t.Parallel()
	flags := []string{"--fetch", "POST /job", "--effects", "SINK", "--var", "BUG:no-key", "--plan"}
	const enough = "kill@fetch:after()/fetch#1"
	r, out := campaignOf(t, "shrink", fixture(t, "planted"), append(flags, "slow(1ms)@alarm:before(Store/s1)/alarm#1; "+enough+"; kill@after(1s)")...)
	if len(r.Cases) != 1 || r.Cases[0].Name != enough || r.Code != chaos.Violated {
		t.Errorf("code %d, %d cases\n%s", r.Code, len(r.Cases), out)
	}
	if _, out := campaignOf(t, "replay", fixture(t, "planted"), append(flags, enough, "--runs", "20")...); !strings.Contains(string(out), "fails in 20 of 20 runs") {
		t.Errorf("%s", out)
	}
}

// The harness finds the mistakes of agents on the packages, and of systems without
// any: an effect that is noted after it happened, a recovery hook that stores what
// the SDK stores, too, operations without a ledger, roles of sockets that died.
// Without them, the same deaths do no harm.
func TestPlantedBugsOfAgents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ project, bug, steps, at, want string }{
		{"chat", "late-stash", "--call|Worker/w1.start()|--effects|SINK", "kill@fetch:after()/fetch#2", "effects/effect-once"},
		{"chat", "appends-twice", "--chat|Talker/t1: hello|--mock-ai", "kill@frame:after(Talker/t1)/body chunk#24", "chat/one-answer"},
		{"session", "no-ledger", "--scenario|session.chaos.ts", "kill@fetch:after()/fetch#3", "effects/effect-once"},
		{"relay", "stale-roles", "--scenario|relay.chaos.ts", "kill@commit:after(Room/r1)/fetch#1", "scenario/both sides talk"},
	} {
		flags := strings.Split(c.steps, "|")
		if flags[0] == "--scenario" {
			flags[1] = filepath.Join(fixture(t, c.project), flags[1])
		}
		for _, is := range []string{"none", c.bug} {
			t.Run(c.bug+"="+is, func(t *testing.T) {
				t.Parallel()
				r, out := campaignOf(t, "replay", filepath.Join(fixture(t, c.project), "planted.jsonc"), slices.Concat(flags, []string{"--var", "BUG:" + is, "--plan", c.at})...)
				if is == c.bug {
					expect(t, r.Code, r, c.want)
				} else if r.Code != chaos.Pass {
					t.Errorf("code %d\n%s", r.Code, out)
				}
			})
		}
	}
}
