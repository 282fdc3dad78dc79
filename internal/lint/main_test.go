package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What go vet finds, lint finds: its analyzers are those of the toolchain.
func TestAnalyzersOfVet(t *testing.T) {
	help, err := exec.Command("go", "tool", "vet", "help").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(help), "Registered analyzers:")
	list, _, also := strings.Cut(strings.TrimSpace(list), "\n\n")
	if !found || !also {
		t.Fatalf("go tool vet help lists no analyzers:\n%s", help)
	}
	var want, got []string
	for line := range strings.Lines(list) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		want = append(want, name)
	}
	for _, a := range vet() {
		got = append(got, a.Name)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("lint has %v\ngo vet %v", got, want)
	}
}

// A file of another system is looked at too.
func TestIgnoredFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module x\n\ngo 1.26\n",
		"x.go":         "package x\n",
		"x_solaris.go": "package x\n\n//go:build late\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	found, err := ignored([]string{"./..."})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || !strings.Contains(found[0], "x_solaris.go:3:1: misplaced //go:build comment") {
		t.Errorf("found %v", found)
	}
}
