package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// In a file system that holds nothing but the binary and the two directories of
// docs/ci/Dockerfile, a project is made, examined and killed wherever it can be.
func TestFromScratch(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("chroot needs root")
	}
	root := t.TempDir()
	for _, dir := range []string{"tmp", "cache", "project", "usr/bin"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	inside := filepath.Join(root, "usr/bin/minido")
	if err := os.Link(minido, inside); err != nil {
		binary, err := os.ReadFile(minido) // of another file system
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(inside, binary, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	scenario := filepath.Join(root, "project", "project.chaos.ts")
	for _, c := range []struct {
		line, want string
		code       int
	}{
		{"init", "wrote project.chaos.ts", 0},
		{"doctor", "It runs.", 0},
		{"chaos enumerate . --mode sim --max 3", "PASS  3 runs", 0},
		{"test", "Tests  2 passed (2)", 0},
		{"chaos enumerate . --mode sim --max 3", `to equal ["search","read","other"]`, 1}, // its check is not idle
	} {
		if c.code != 0 {
			text, err := os.ReadFile(scenario)
			if err == nil {
				err = os.WriteFile(scenario, bytes.ReplaceAll(text, []byte(`"summarize"`), []byte(`"other"`)), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("/usr/bin/minido", strings.Fields(c.line)...)
		cmd.Err = nil // the path is looked up out here, and is in there
		cmd.Dir, cmd.Env = "/project", []string{"HOME=/cache", "XDG_CACHE_HOME=/cache"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != c.code || !strings.Contains(string(out), c.want) {
			t.Errorf("minido %s: %v, no %q in\n%s", c.line, err, c.want, out)
		}
	}
	left, err := os.ReadDir(filepath.Join(root, "cache"))
	if err != nil || len(left) > 0 {
		t.Errorf("left in the user's cache: %v, %v", left, err)
	}
	if left, err = os.ReadDir(filepath.Join(root, "tmp")); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary directory: %v, %v", left, err)
	}
}
