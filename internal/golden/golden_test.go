package golden

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// Each line that differs is named, also where one side is shorter.
func TestDifferences(t *testing.T) {
	got := differences([]string{"a", "b"}, []string{"a", "c", "d"})
	if want := [][]string{nil, {"b", "c"}, {"(nothing)", "d"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// A file is made with its folder, and an empty text removes it.
func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b.golden")
	if err := write(path, "x\n"); err != nil {
		t.Fatal(err)
	}
	Lines(t, path, []string{"x"})
	if err := write(path, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Fatal(err)
	}
	Lines(t, path, nil)
}

// A section of a document is compared, and what is around it stays.
func TestSection(t *testing.T) {
	path := filepath.Join(t.TempDir(), "doc.md")
	if err := os.WriteFile(path, []byte("a\n<!-- x: -->\nold\n<!-- :x -->\nz\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	Section(t, path, "x", "old\n")
	probe := &failures{TB: t}
	probe.run(func() { Section(probe, path, "x", "new\n") })
	probe.run(func() { Section(probe, path, "y", "old\n") })
	if probe.count != 2 {
		t.Errorf("%d failures, want 2", probe.count)
	}
}

// failures counts calls of Fatalf, which end the function that run calls.
type failures struct {
	testing.TB
	count int
}

func (f *failures) Fatalf(string, ...any) { f.count++; panic(f) }

func (f *failures) run(fn func()) {
	defer func() {
		if x := recover(); x != nil && x != any(f) {
			panic(x)
		}
	}()
	fn()
}
