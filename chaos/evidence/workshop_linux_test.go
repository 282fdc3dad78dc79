package evidence

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A workshop lives as long as its owner: the next one leaves it alone until then,
// and sweeps it when its owner has been killed.
func TestWorkshopsAreSwept(t *testing.T) {
	folder := t.TempDir()
	there := func(w *Workshop) bool {
		_, err := os.Stat(w.Dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return err == nil
	}
	open := func() *Workshop {
		w, err := makeWorkshop(folder)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	alive, killed := open(), open()
	if err := os.WriteFile(filepath.Join(killed.Dir, "state"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := killed.lock.Close(); err != nil { // what the end of a process does
		t.Fatal(err)
	}
	sweep(folder)
	if !there(alive) || there(killed) {
		t.Errorf("the live one is there: %v, the dead one's: %v", there(alive), there(killed))
	}
	if err := alive.Close(); err != nil || there(alive) {
		t.Error(err, "a closed workshop is still there")
	}
	none := (*Workshop)(nil)
	if err := none.Close(); err != nil {
		t.Error(err)
	}
	if dir := none.Room("disk"); dir != "disk" {
		t.Errorf("without a workshop there is room in %q", dir)
	}
}

// Nothing large goes into memory.
func TestLargeFilesStayOnDisk(t *testing.T) {
	if folder := InMemory(1 << 50); folder != "" {
		t.Errorf("a petabyte belongs into %s", folder)
	}
}
