package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/result"
)

// eachFault runs fn for each fault that leaves the process alive, as random campaigns draw them,
// and each subject; what make test runs is a sample.
func eachFault(t *testing.T, fn func(t *testing.T, project, form string, steps []string)) {
	eachSubject(t, true, func(t *testing.T, name string, steps []string) {
		for _, k := range fault.Kinds() {
			for _, form := range k.Draws {
				if everything || slices.Contains([]string{"evict", "fail(io)", "drop"}, form) {
					t.Run(form, func(t *testing.T) { fn(t, fixture(t, name), form, steps) })
				}
			}
		}
	})
}

// withFault enumerates a fault. A test is skipped whose project has no point for it.
func withFault(t *testing.T, project, form string, flags ...string) (r result.Report) {
	t.Helper()
	dir := t.TempDir()
	out, err := exec.Command(minido, append([]string{"chaos", "enumerate", project, "--fault", form, "--dir", dir}, flags...)...).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == chaos.Usage && strings.Contains(string(out), "is one at which "+form+" can happen") {
		t.Skipf("%s cannot happen here", form)
	}
	data, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return r
}

// A process that gets SIGKILL after a fault which it has survived leaves what the simulation
// leaves that is dropped there.
func TestEquivalenceOfDeathsAfterFaults(t *testing.T) {
	compared := 0
	eachFault(t, func(t *testing.T, project, form string, steps []string) {
		flags := []string{"--mode", "sim", "--keep", "--pace", "0s", "--max", "2"}
		for _, c := range withFault(t, project, form, append(flags, steps...)...).Cases {
			log, err := os.ReadFile(filepath.Join(c.Dir, "server.log"))
			if err != nil {
				t.Fatal(err)
			}
			last := ""
			for line := range strings.Lines(string(log)) {
				if _, label, found := strings.Cut(strings.TrimSpace(line), " point "); found {
					last = label
				}
			}
			plan := c.Name + "; kill@" + last
			r, out := campaignOf(t, "replay", project, append([]string{"--mode", "sim", "--keep", "--plan", plan}, steps...)...)
			if c.Refused || len(r.Cases[0].Kills) != 1 || len(r.Cases[0].Missed) > 0 {
				t.Logf("%s: refused or not reached\n%s", plan, out)
				continue
			}
			if err := dieForReal(t.TempDir(), project, r.Cases[0], steps); err != nil {
				t.Errorf("%s: %v", plan, err)
			}
			compared++
		}
	})
	if compared == 0 {
		t.Error("nothing was compared")
	}
	t.Logf("%d deaths after faults compared", compared)
}

// What real processes violate after a fault which they survive, the simulation violates,
// too, and where they never come to rest (ai-chat 0.4.4 leaves a client waiting when the
// model refuses it), neither does the simulation; nothing else is found.
func TestEquivalenceOfFaults(t *testing.T) {
	if !everything {
		t.Skip("make equivalence does every fault with real processes")
	}
	visited := 0
	eachFault(t, func(t *testing.T, project, form string, steps []string) {
		known, restless := map[string]bool{}, map[string]bool{}
		for _, c := range withFault(t, project, form, append([]string{"--mode", "sim", "--pace", "0s"}, steps...)...).Cases {
			restless[c.Name] = c.Outcome == result.Restless
			for _, v := range c.Violations {
				known[v.Key()] = true
			}
		}
		for _, c := range withFault(t, project, form, append([]string{"--max", "2"}, steps...)...).Cases {
			switch c.Outcome {
			case result.Passed, result.Missed, result.Violated:
			case result.Restless:
				if !restless[c.Name] {
					t.Errorf("%s: %s, which the simulation is not: %s", c.Name, c.Outcome, c.Text)
				}
			default:
				t.Errorf("%s: %s: %s", c.Name, c.Outcome, c.Text)
			}
			for _, v := range c.Violations {
				if !known[v.Key()] {
					t.Errorf("%s: the simulation does not know %s", c.Name, v)
				}
			}
			visited++
		}
	})
	t.Log(fmt.Sprint(visited, " real runs with faults"))
}

// A frame that is dropped takes its client's socket with it, and nothing else: with real processes
// and in a simulation the client comes back to an object that has lived on.
func TestDroppedFrame(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"sim", "process"} {
		r, out := campaignOf(t, "replay", fixture(t, "relay"), "--mode", mode, "--keep", "--plan", "drop@frame:before(Room/r1)/message#3")
		if c := r.Cases[0]; c.Outcome != result.Passed || len(c.Missed) > 0 || c.Refused || len(c.Kills) > 0 {
			t.Fatalf("%s: %+v\n%s", mode, c, out)
		}
		told, err := os.ReadFile(filepath.Join(r.Cases[0].Dir, "history.ndjson"))
		if err != nil {
			t.Fatal(err)
		}
		lost := 0
		for line := range strings.Lines(string(told)) {
			if strings.Contains(line, `"kind":"close"`) && !strings.Contains(line, "the client closed it") && !strings.Contains(line, "received close frame") {
				lost++
			}
		}
		if lost != 1 {
			t.Errorf("%s: %d sockets were lost\n%s", mode, lost, told)
		}
	}
}
