package disk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is put back is what was copied, recorded or not; what was made since is gone,
// and a loss of power takes nothing of it.
func TestCopyAndPutBack(t *testing.T) {
	dir, d := t.TempDir(), New()
	path := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) {
		t.Helper()
		f, err := d.OpenFile(path(name), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte(text), 0); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	plain := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("recorded", "one")
	write("removed", "one")
	plain("plain", "one")
	plain("kept.index", "one")
	c, err := d.CopyOf(dir, func(p string) bool { return !strings.HasSuffix(p, ".index") })
	if err != nil {
		t.Fatal(err)
	}
	write("recorded", "two")
	write("made", "two")
	plain("plain", "two")
	plain("kept.index", "two")
	if err := d.Remove(path("removed")); err != nil {
		t.Fatal(err)
	}
	if err := c.PutBack(); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	if err := d.Fall(dir, to, nil, func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	for _, in := range []string{dir, to} {
		for name, want := range map[string]string{"recorded": "one", "removed": "one", "plain": "one", "kept.index": "two", "made": ""} {
			got, err := os.ReadFile(filepath.Join(in, name))
			if string(got) != want || (err != nil) != (want == "") {
				t.Errorf("%s holds %q (%v), want %q", name, got, err, want)
			}
		}
	}
	if none, err := d.CopyOf(path("none"), func(string) bool { return true }); err != nil || len(none.files) != 0 {
		t.Errorf("of a directory that does not exist: %v, %v", none, err)
	}
}
