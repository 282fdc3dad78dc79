package disk

import (
	"os"
	"path/filepath"
	"testing"
)

// What was not synced is undone by Restore, and so is what happens after Freeze;
// files that are not asked for keep what they hold.
func TestFreezeAndRestore(t *testing.T) {
	dir, d := t.TempDir(), New()
	path := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string, sync bool) {
		t.Helper()
		f, err := d.OpenFile(path(name), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
		if err == nil {
			_, err = f.WriteAt([]byte(text), 0)
		}
		if err == nil && sync {
			err = f.Sync()
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	is := func(name, want string) {
		t.Helper()
		b, err := os.ReadFile(path(name))
		if got := string(b); err == nil && got != want || err != nil && want != "none" {
			t.Errorf("%s holds %q (%v), want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"old", "overwritten", "removed", "renamed", "other"} {
		write(name, "first", true)
	}
	if err := d.SyncDir(dir); err != nil {
		t.Fatal(err)
	}
	write("overwritten", "second", false)
	write("other", "second", false)
	write("nameless", "synced, but its name is not", true)
	if err := d.Remove(path("removed")); err != nil {
		t.Fatal(err)
	}
	if err := d.Rename(path("renamed"), path("new name")); err != nil {
		t.Fatal(err)
	}
	left := d.Freeze(func(p string) bool { return filepath.Base(p) != "other" })
	write("old", "after the loss", true)
	write("later", "after the loss", true)
	if err := d.SyncDir(dir); err != nil {
		t.Fatal(err)
	}
	if err := left.Restore(); err != nil {
		t.Fatal(err)
	}
	again := func() {
		t.Helper()
		is("old", "first")
		is("overwritten", "first")
		is("removed", "first")
		is("renamed", "first")
		is("new name", "none")
		is("nameless", "none")
		is("later", "none")
	}
	again()
	is("other", "second")
	// What is there now is durable, and is what a second loss leaves.
	if err := d.Freeze(func(string) bool { return true }).Restore(); err != nil {
		t.Fatal(err)
	}
	again()
}
