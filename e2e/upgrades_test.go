package e2e

import (
	"os/exec"
	"strings"
	"testing"
)

// Fibers that a death has cut are recovered by the next generation of the agents SDK; what
// two other upgrades in the middle of work leave behind is found (chaos/TRACK_RECORD.md).
func TestUpgradesOfPackages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, verb, from string
		to               []string
		flags            []string
		want             string
	}{
		{"fibers 0.11 to 0.21", "enumerate", "fibers-0.11", []string{"fibers-0.21"}, []string{"--max", "12"}, "PASS  "},
		{"fibers 0.21 to 0.32", "enumerate", "fibers-0.21", []string{"fibers"}, []string{"--max", "12"}, "PASS  "},
		{"fibers of three generations", "enumerate", "fibers-0.11", []string{"fibers-0.21", "fibers"}, []string{"--max", "12"}, "PASS  "},
		{"fibers 0.32 and back to 0.21", "enumerate", "fibers-0.21", []string{"fibers", "fibers-0.21"}, []string{"--max", "12"}, "PASS  "},
		{"chat 0.10 to 0.12", "enumerate", "chat-0.10", []string{"chat"}, []string{"--timeout", "90s", "--max", "12"}, "PASS  "},
		{"cut chat turn", "replay", "chat-0.4", []string{"chat"}, []string{"--timeout", "90s", "--plan", "kill@commit:after(SupportChat/c1)/fetch#1"}, "chat/stream-ended"},
		{"cut fiber of the first generation", "replay", "forever-0.5", []string{"forever"}, []string{"--timeout", "5s", "--plan", "kill@commit:after(HarvestAgent/h1)/message#1"},
			`heartbeats at rest: expected [{"callback":"_cf_fiberHeartbeat"}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append([]string{"chaos", c.verb, fixture(t, c.from), "--mode", "sim", "--dir", t.TempDir()}, c.flags...)
			for _, to := range c.to {
				args = append(args, "--then", fixture(t, to))
			}
			out, err := exec.Command(minido, args...).CombinedOutput()
			if passes := c.want == "PASS  "; passes != (err == nil) || !strings.Contains(string(out), c.want) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
