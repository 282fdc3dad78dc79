// Package golden compares the result of a test with a checked-in file, and rewrites
// the file with "go test -update". Only tests import it. The flag is defined here
// once: a test binary can have one flag of a name.
package golden

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the checked-in files that this test compares with")

// Update reports whether the files shall be rewritten.
func Update() bool { return *update }

// Lines compares lines with the file at path, and names each that differs. No
// lines need no file.
func Lines(t testing.TB, path string, lines []string) {
	t.Helper()
	got := ""
	if len(lines) > 0 {
		got = strings.Join(lines, "\n") + "\n"
	}
	if *update {
		if err := write(path, got); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(path)
	if err != nil && (got != "" || !errors.Is(err, fs.ErrNotExist)) {
		t.Fatal(err)
	}
	if got == string(b) {
		return
	}
	for i, d := range differences(lines, strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")) {
		if d != nil {
			t.Errorf("%s line %d:\n got %s\nwant %s", path, i+1, d[0], d[1])
		}
	}
}

// write makes the file hold text; an empty text removes it.
func write(path, text string) error {
	if text == "" {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// differences has, at the index of each line that differs, what was found and
// what was wanted; nil elsewhere.
func differences(got, want []string) [][]string {
	out := make([][]string, max(len(got), len(want)))
	for i := range out {
		pair := []string{"(nothing)", "(nothing)"}
		if i < len(got) {
			pair[0] = got[i]
		}
		if i < len(want) {
			pair[1] = want[i]
		}
		if pair[0] != pair[1] {
			out[i] = pair
		}
	}
	return out
}
