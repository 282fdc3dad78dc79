package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/chaos/result"
)

// advancing sets an alarm in half an hour and lets two hours pass.
const advancing = `
import { scenario } from "minido:chaos";
export default scenario("an alarm of half an hour", {
  timeout: "30s",
  async drive({ fetch, advance, clock }) {
    await fetch("POST", "/c/wake?ms=1800000");
    const began = clock.now();
    await advance("2h");
    if (clock.now() - began !== 7200000 || !clock.virtual) throw new Error("passed: " + (clock.now() - began));
    const { alarms } = await fetch("GET", "/c");
    if (alarms !== 1) throw new Error("alarms: " + alarms);
  },
});`

// A scenario lets virtual time pass, beyond the limit of a life and through a
// kill; real processes have none, and it says so.
func TestScenariosAdvanceTheClock(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "advance.chaos.ts")
	if err := os.WriteFile(file, []byte(advancing), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--scenario", file, "--plan"}
	for _, plan := range []string{"none", "kill@after(10m)", "kill@alarm:before(Counter/c)/alarm#1"} {
		r, out := campaignOf(t, "replay", fixture(t, "counter"), append(flags, plan, "--mode", "sim")...)
		if len(r.Cases) != 1 || r.Cases[0].Outcome != result.Passed || r.Cases[0].Ms < 7200000 {
			t.Errorf("%s: %s", plan, out)
		}
	}
	r, out := campaignOf(t, "replay", fixture(t, "counter"), append(flags, "none")...)
	if r.Code != 2 || !strings.Contains(string(out), "advance() needs virtual time") {
		t.Errorf("real processes: code %d: %s", r.Code, out)
	}
}
