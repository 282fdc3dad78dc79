package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// The tables of README.md and docs/benchmarks.md are those of
// docs/benchmarks.json; `make bench BENCH=-docs` writes all three.
func TestDocumentsHaveTheFigures(t *testing.T) {
	top, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(top, "docs", "benchmarks.json"))
	if err != nil {
		t.Fatal(err)
	}
	var f figures
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	documents, err := f.documents(top)
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range documents {
		got, err := os.ReadFile(filepath.Join(top, file))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s has other figures than docs/benchmarks.json: run make bench BENCH=-docs, or put back what it wrote", file)
		}
	}
}

func TestReplaceBlock(t *testing.T) {
	const document = "a\n<!-- bench: x -->\nold\n<!-- bench end -->\nb\n"
	got, err := replaceBlock(document, "x", "new\n")
	if want := "a\n<!-- bench: x -->\nnew\n<!-- bench end -->\nb\n"; err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"", "<!-- bench: x -->\nold\n", "<!-- bench: y -->\n<!-- bench end -->"} {
		if _, err := replaceBlock(bad, "x", ""); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
