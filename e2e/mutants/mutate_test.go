package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"
)

// Each mutant is another Go file, has a name of its own, and those that are
// written by hand find their places in the code of today.
func TestMutants(t *testing.T) {
	top := filepath.Join("..", "..")
	jobs, err := allJobs(top)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, j := range jobs {
		if seen[j.name()] {
			t.Errorf("twice: %s", j.name())
		}
		seen[j.name()] = true
		src, err := os.ReadFile(filepath.Join(top, j.File))
		if err != nil {
			t.Fatal(err)
		}
		text := string(src[:j.from]) + j.with + string(src[j.to:])
		if text == string(src) {
			t.Errorf("changes nothing: %s", j.name())
		}
		if _, err := parser.ParseFile(token.NewFileSet(), j.File, text, parser.SkipObjectResolution); err != nil {
			t.Errorf("%s: %v", j.name(), err)
		}
	}
	for i := range named {
		if jobs[i].Op != "named" {
			t.Errorf("mutant %d is %s", i, jobs[i].name())
		}
	}
	t.Logf("%d mutants", len(jobs))
}
