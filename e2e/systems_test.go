package e2e

import (
	"os/exec"
	"strings"
	"testing"
)

// Each system that is written here dies at every effect point of its scenario,
// in a run of its own, and its invariants hold; no point and no mark is missed.
func TestSystemsSurviveEveryPoint(t *testing.T) {
	for _, name := range []string{"relay"} {
		t.Run(name, func(t *testing.T) {
			out, err := exec.Command(minido, "chaos", "enumerate", fixture(t, name), "--dir", t.TempDir()).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "PASS  ") {
				t.Errorf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}
