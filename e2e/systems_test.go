package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Each system that is written here dies at the effect points of its scenario, each
// in a run of its own, and its invariants hold; no point and no mark is missed. Some of
// the points are taken, spread evenly; with MINIDO_POINTS=all (make points) all of them.
func TestSystemsSurviveEffectPoints(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]string{"relay": "40", "steploop": "30", "session": "30"} {
		t.Run(name, func(t *testing.T) {
			args := []string{"chaos", "enumerate", fixture(t, name), "--dir", t.TempDir()}
			if os.Getenv("MINIDO_POINTS") != "all" {
				args = append(args, "--max", most)
			}
			out, err := exec.Command(minido, args...).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "PASS  ") {
				t.Errorf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}
