package e2e

import (
	"path/filepath"
	"testing"
)

// A workflow of the Agents SDK, and an agent that runs generated code, come to their
// results wherever the process dies.
func TestAgentWorkflowAndGeneratedCodeSurvive(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"workflow", "codemode"} {
		h := harness(t, "enumerate", fixture(t, filepath.Join("fibers", name)), "--mode", "sim", "--dir", filepath.Join(t.TempDir(), "out"))
		if code := ends(t, h); code != 0 {
			t.Errorf("%s: exit code %d\n%s", name, code, h.Output())
		}
		contains(t, h.Output(), "PASS")
	}
}
