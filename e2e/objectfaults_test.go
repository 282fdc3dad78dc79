package e2e

import (
	"testing"

	"minido.dev/minido/chaos"
)

// What production does to objects happens at every point, the process living on:
// it is done or refused, none is missed, and a worker without a bug survives. One
// whose state is in a module variable does not survive the loss of its isolate,
// and does survive that of its object.
func TestObjectFaults(t *testing.T) {
	steps := append(append([]string{}, adds...), job...)
	for _, c := range []struct {
		fault, bug, want string
		refused          bool
	}{
		{"crash", "none", "", true},
		{"crash(isolate)", "none", "", false},
		{"evict", "none", "", true},
		{"hibernate", "none", "", true},
		{"reset", "none", "", true},
		{"abort", "none", "", true},
		{"crash(isolate)", "module-state", "linearizable/counter", false},
	} {
		t.Run(c.fault+"/"+c.bug, func(t *testing.T) {
			code, r := enumerate(t, minido, nil, append([]string{"--fault", c.fault, "--var", "BUG:" + c.bug, "--max", "20"}, steps...)...)
			if len(r.Missed) > 0 || r.Kills > 0 || r.Visited == 0 || r.Visited+r.Refused != len(r.Cases) || !c.refused && r.Refused > 0 {
				t.Errorf("%d cases, %d visited, %d refused, %d kills, missed %v", len(r.Cases), r.Visited, r.Refused, r.Kills, r.Missed)
			}
			if c.want != "" {
				one := expect(t, code, r, c.want)
				one.Replay += " --runs 10" // the fault begins at its point, and the worker goes on meanwhile
				if replayOf(t, minido, nil, one) == chaos.Pass {
					t.Errorf("the replay passed: %s", one.Replay)
				}
			} else if code != chaos.Pass {
				t.Errorf("code %d", code)
			}
		})
	}
}
