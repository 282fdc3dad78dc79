package sqlstore

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/internal/disk"
	"minido.dev/minido/internal/sqlite"
)

// syncs are those of the steps that a store of o takes in fn.
func syncs(steps *[]string, fn func()) (of []string) {
	*steps = nil
	fn()
	for _, s := range *steps {
		if name, ok := strings.CutPrefix(s, "sync "); ok {
			of = append(of, name)
		}
	}
	return of
}

// With SyncLater a commit syncs nothing but a file that is new, and says that it has yet
// to be synced; Sync does that, once, and so does Close. Without it each commit syncs.
func TestSyncLater(t *testing.T) {
	for _, later := range []bool{true, false} {
		d, steps := disk.New(), []string(nil)
		d.After = func(op disk.Operation) { steps = append(steps, op.Kind+" "+filepath.Base(op.Path)) }
		o := options(filepath.Join(t.TempDir(), "o"))
		o.Sync, o.SyncLater, o.Disk = sqlite.Full, later, d
		s := openWith(t, o)
		write := func(value byte) []string {
			return syncs(&steps, func() {
				if err := errors.Join(s.Put("key", []byte{value}), s.Commit()); err != nil {
					t.Fatal(err)
				}
			})
		}
		first := write(1)
		if len(first) == 0 || first[0] != "o" || s.Unsynced() != later {
			t.Errorf("later %v: the first commit syncs %q, unsynced %v", later, first, s.Unsynced())
		}
		if file, log := slices.Index(steps, "sync o"), slices.Index(steps, "write o-wal"); file > log {
			t.Errorf("later %v: the log is written at %d and the file synced at %d", later, log, file)
		}
		sync := func() []string {
			return syncs(&steps, func() {
				if err := s.Sync(); err != nil {
					t.Fatal(err)
				}
			})
		}
		if got := sync(); slices.Contains(got, "o-wal") != later || s.Unsynced() {
			t.Errorf("later %v: Sync syncs %q, unsynced %v", later, got, s.Unsynced())
		}
		if again := sync(); len(again) > 0 {
			t.Errorf("later %v: Sync of nothing syncs %q", later, again)
		}
		if second := write(2); slices.Contains(second, "o-wal") == later || slices.Contains(second, "o") || s.Unsynced() != later {
			t.Errorf("later %v: the second commit syncs %q, unsynced %v", later, second, s.Unsynced())
		}
		if err := s.Commit(); err != nil || s.Unsynced() != later {
			t.Errorf("later %v: after a commit of nothing, unsynced %v, %v", later, s.Unsynced(), err)
		}
		if end := syncs(&steps, func() { s.Close() }); len(end) == 0 {
			t.Errorf("later %v: Close syncs nothing", later)
		}
	}
	o := options("")
	o.Sync, o.SyncLater = sqlite.Full, true
	if s := openWith(t, o); errors.Join(s.Put("key", nil), s.Commit()) != nil || s.Unsynced() {
		t.Error("what is in memory waits for a sync")
	}
}

// A sync that fails says so, and counts for nothing.
func TestSyncFails(t *testing.T) {
	o := options(filepath.Join(t.TempDir(), "o"))
	o.Sync, o.SyncLater, o.HistoryBytes, o.Disk = sqlite.Full, true, 1<<20, disk.New()
	s := openWith(t, o)
	if err := errors.Join(s.Put("key", nil), s.Commit()); err != nil {
		t.Fatal(err)
	}
	// SQLite keeps the log open; the name now belongs to what cannot be synced.
	if err := errors.Join(os.Rename(o.Path+"-wal", o.Path+"-moved"), os.Mkdir(o.Path+"-wal", 0o700)); err != nil {
		t.Skip("the system does not let go of the name: ", err)
	}
	if err := s.Sync(); err == nil || !strings.Contains(err.Error(), "sqlstore: sync") {
		t.Errorf("Sync: %v", err)
	}
	if n := s.history.synced.Load(); n != 0 {
		t.Errorf("%d frames count as synced", n)
	}
	if err := errors.Join(os.Remove(o.Path+"-wal"), os.Rename(o.Path+"-moved", o.Path+"-wal")); err != nil {
		t.Fatal(err)
	}
}
