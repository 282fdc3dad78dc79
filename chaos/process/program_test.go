package process

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestProgram: where the operating system does not say which program runs, as in
// a chroot without /proc, the first argument does.
func TestProgram(t *testing.T) {
	unknown := func() (string, error) { return "", errors.New("readlink /proc/self/exe: no such file or directory") }
	dir := t.TempDir()
	want := filepath.Join(dir, "minido")
	if err := os.WriteFile(want, []byte("#!"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	for _, arg0 := range []string{"minido", want} {
		if got, err := Program(unknown, arg0); err != nil || got != want {
			t.Errorf("program(%q) = %q, %v; want %q", arg0, got, err, want)
		}
	}
	if _, err := Program(unknown, "gone"); err == nil || !strings.Contains(err.Error(), "/proc") {
		t.Errorf("Program(gone): error %v, want one that names /proc", err)
	}
	if got, err := Program(os.Executable, "gone"); err != nil || got == "" {
		t.Errorf("program by the operating system = %q, %v", got, err)
	}
}
