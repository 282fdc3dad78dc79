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
