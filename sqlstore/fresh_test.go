package sqlstore

import (
	"os"
	"path/filepath"
	"testing"

	"minido.dev/minido/internal/sqlite"
)

// A file counts as new until its first commit, which syncs it; then never again.
func TestNewFileIsSyncedBeforeItsFirstCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "object.sqlite")
	if err := os.WriteFile(path, nil, 0o600); err != nil { // as after a loss of power
		t.Fatal(err)
	}
	for life := range 2 {
		s := openWith(t, options(path))
		if s.fresh != (life == 0) {
			t.Errorf("life %d: fresh is %v", life, s.fresh)
		}
		if err := s.Commit(); err != nil { // nothing written
			t.Fatal(err)
		}
		if s.fresh != (life == 0) {
			t.Errorf("life %d: a commit of nothing synced the file", life)
		}
		if err := s.Put("key", []byte{byte(life)}); err != nil {
			t.Fatal(err)
		}
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
		if s.fresh {
			t.Errorf("life %d: the first commit did not sync the file", life)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// What is never synced does not begin with a sync.
func TestNewFileWithoutSyncs(t *testing.T) {
	o := options(filepath.Join(t.TempDir(), "object.sqlite"))
	o.Sync = sqlite.Off
	if s := openWith(t, o); s.fresh {
		t.Error("its first commit would sync the file")
	}
}
