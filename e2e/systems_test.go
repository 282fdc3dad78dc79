package e2e

import (
	"os/exec"
	"strings"
	"testing"
)

// Each system that is written here dies at the effect points of its scenario, each
// in a run of its own, and its invariants hold; no point and no mark is missed. Of
// more than 80 points some are taken, spread evenly: all of them take minutes.
func TestSystemsSurviveEffectPoints(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]string{"relay": "80", "steploop": "50", "session": "60"} {
		t.Run(name, func(t *testing.T) {
			out, err := exec.Command(minido, "chaos", "enumerate", fixture(t, name), "--dir", t.TempDir(), "--max", most).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "PASS  ") {
				t.Errorf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}
