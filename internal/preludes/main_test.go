package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"minido.dev/minido/runtime/engine/prepared"
)

// Every prelude can be kept, and is the one that is found for its source.
func TestAllPreludes(t *testing.T) {
	files, err := compile("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"engine/js/primordials.js", "ecma/builtins.js", "nodeapi/stream/js/stream_readable.js", "cfapi/js/workers.js", "binding/r2/r2.js"} {
		source, err := os.ReadFile(filepath.Join("../../runtime", path))
		if err != nil {
			t.Fatal(err)
		}
		if files[prepared.Name(string(source))] == "" {
			t.Errorf("%s is not prepared", path)
		}
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	old, same, readme := filepath.Join(dir, "old.program"), filepath.Join(dir, "same.program"), filepath.Join(dir, "README.md")
	for _, path := range []string{old, same, readme} {
		if err := os.WriteFile(path, []byte("same"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before := time.Unix(1e9, 0)
	if err := os.Chtimes(same, before, before); err != nil {
		t.Fatal(err)
	}
	if err := write(dir, map[string]string{"same.program": "same", "new.program": "new"}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(same); err != nil || !info.ModTime().Equal(before) {
		t.Errorf("a file that is as it should be was written: %v %v", info.ModTime(), err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "new.program")); err != nil || string(data) != "new" {
		t.Errorf("the new file has %q, %v", data, err)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("the file of a source that is gone is still there")
	}
	if _, err := os.Stat(readme); err != nil {
		t.Error(err)
	}
}
