package sqlstore

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"minido.dev/minido/internal/disk"
)

// The renaming that decides is on disk before anything is removed, and what is removed
// before the name that has the deletion finished goes; a sync that fails stops it.
func TestDeleteSyncsItsSteps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "o.sqlite")
	for _, sync := range []bool{true, false} {
		for _, suffix := range []string{"", "-wal", "-history"} {
			if err := os.WriteFile(path+suffix, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		d, steps := disk.New(), []string(nil)
		for _, suffix := range []string{"", "-wal", "-history"} {
			d.Opened(path+suffix, false)
		}
		d.After = func(op disk.Operation) { steps = append(steps, op.Kind+" "+filepath.Base(op.Path)) }
		if err := Delete(d, path, sync); err != nil {
			t.Fatal(err)
		}
		dir := "syncdir " + filepath.Base(filepath.Dir(path))
		want := []string{"rename o.sqlite-deleted", dir, "remove o.sqlite-wal", "remove o.sqlite-history", dir, "remove o.sqlite-deleted"}
		if !sync {
			want = slices.DeleteFunc(want, func(step string) bool { return step == dir })
		}
		if !slices.Equal(steps, want) {
			t.Errorf("sync %v: %q, not %q", sync, steps, want)
		}
		if Deleting(path) {
			t.Errorf("sync %v: it has not ended", sync)
		}
	}
}
