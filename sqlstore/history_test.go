package sqlstore

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
)

// keeper is a store with a history, its clock, and what it should hold.
type keeper struct {
	t     rapid.TB
	dir   string
	lives int
	clock *clock.Virtual
	store *Store
	every uint32
	limit int64

	committed, open map[string]string
}

func newKeeper(t rapid.TB, dir string) *keeper {
	k := &keeper{t: t, dir: dir, clock: clock.NewVirtual(start), every: 20, limit: DefaultHistoryBytes,
		committed: map[string]string{}, open: map[string]string{}}
	k.start()
	return k
}

func (k *keeper) path() string {
	return filepath.Join(k.dir, fmt.Sprintf("life%d", k.lives), "a.sqlite")
}

func (k *keeper) start() {
	k.t.Helper()
	if err := os.MkdirAll(filepath.Dir(k.path()), 0o700); err != nil {
		k.t.Fatal(err)
	}
	s, err := Open(Options{Path: k.path(), Clock: k.clock, Entropy: entropy.NewSeeded(uint64(k.lives + 1)), Sync: sqlite.Normal,
		HistoryBytes: k.limit, checkpointFrames: k.every})
	if err != nil {
		k.t.Fatal(err)
	}
	k.store = s
	// The machine does not fail here: no need to wait for the disk.
	if err := s.conn.Exec("PRAGMA synchronous=OFF"); err != nil {
		k.t.Fatal(err)
	}
	k.open = maps.Clone(k.committed)
	k.check()
}

// crash drops the process: the next life has a copy of the files.
func (k *keeper) crash() {
	k.t.Helper()
	old := filepath.Dir(k.path())
	k.lives++
	if err := os.MkdirAll(filepath.Dir(k.path()), 0o700); err != nil {
		k.t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-history"} {
		b, err := os.ReadFile(filepath.Join(old, "a.sqlite") + suffix) // not live: nobody uses it any more
		if err != nil {
			continue
		}
		if err := os.WriteFile(k.path()+suffix, b, 0o600); err != nil {
			k.t.Fatal(err)
		}
	}
	k.store.Close()
	k.start()
}

func (k *keeper) reopen() {
	k.t.Helper()
	if err := k.store.Close(); err != nil {
		k.t.Fatal(err)
	}
	k.start()
}

func (k *keeper) put(key, value string) {
	k.t.Helper()
	if err := k.store.Put(key, []byte(value)); err != nil {
		k.t.Fatal(err)
	}
	k.open[key] = value
}

func (k *keeper) commit() {
	k.t.Helper()
	if err := k.store.Commit(); err != nil {
		k.t.Fatal(err)
	}
	k.committed = maps.Clone(k.open)
}

func (k *keeper) check() {
	k.t.Helper()
	got := map[string]string{}
	it, err := k.store.List(ListOptions{})
	if err != nil {
		k.t.Fatal(err)
	}
	for {
		key, v, ok, err := it.Next()
		if err != nil {
			k.t.Fatal(err)
		}
		if !ok {
			break
		}
		got[key] = string(v)
	}
	if !maps.Equal(got, k.open) {
		k.t.Fatalf("the store holds %v, want %v", short(got), short(k.open))
	}
}

func short(m map[string]string) string {
	out := map[string]string{}
	for k, v := range m {
		out[k] = fmt.Sprintf("%.6s(%d)", v, len(v))
	}
	return fmt.Sprint(out)
}

func (k *keeper) bookmark() string {
	k.t.Helper()
	b, err := k.store.CurrentBookmark()
	if err != nil {
		k.t.Fatal(err)
	}
	return b
}

// restore asks for a restore and opens the store anew.
func (k *keeper) restore(bookmark string, state map[string]string, crash bool) (undo string) {
	k.t.Helper()
	undo, err := k.store.RestoreOnNextOpen(bookmark)
	if err != nil {
		k.t.Fatalf("restore %s: %v", bookmark, err)
	}
	k.committed = maps.Clone(state)
	if crash {
		k.crash()
	} else {
		k.reopen()
	}
	return undo
}

// saved is a state of the past.
type saved struct {
	bookmark string
	at       int64 // a moment at which it was the last state
	state    map[string]string
}

// String implements fmt.Stringer, for what rapid prints.
func (s saved) String() string { return s.bookmark + " " + short(s.state) }

// GoString implements fmt.GoStringer.
func (s saved) GoString() string { return s.String() }

// Any committed state of the past comes back, by bookmark and by time, whatever
// happened since: checkpoints, growth, deleteAll, restores, restarts, crashes.
func TestHistoryModel(t *testing.T) {
	dir := t.TempDir()
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		k := newKeeper(t, filepath.Join(dir, fmt.Sprint(runs)))
		defer func() { k.store.Close() }()
		k.every = uint32(rapid.SampledFrom([]int{3, 20, 1000}).Draw(t, "every"))
		past := []saved{}
		save := func() saved {
			s := saved{k.bookmark(), k.clock.Now().UnixMilli(), maps.Clone(k.committed)}
			past = append(past, s)
			k.clock.Advance(20 * time.Millisecond)
			return s
		}
		save()
		size := rapid.SampledFrom([]int{1, 100, 3000, 20_000})
		key := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				name, n := key.Draw(t, "key"), size.Draw(t, "size")
				k.put(name, strings.Repeat(fmt.Sprintf("%d.", rapid.IntRange(0, 99).Draw(t, "v")), n))
			},
			"delete": func(t *rapid.T) {
				name := key.Draw(t, "key")
				if _, err := k.store.Delete(name); err != nil {
					t.Fatal(err)
				}
				delete(k.open, name)
			},
			"commit": func(t *rapid.T) {
				k.commit()
				k.clock.Advance(time.Duration(rapid.IntRange(0, 30).Draw(t, "ms")) * time.Millisecond)
			},
			"rollback": func(t *rapid.T) {
				if err := k.store.Rollback(); err != nil {
					t.Fatal(err)
				}
				k.open = maps.Clone(k.committed)
			},
			"deleteAll": func(t *rapid.T) {
				if _, err := k.store.DeleteAll(DeleteAllOptions{}); err != nil {
					t.Fatal(err)
				}
				k.open, k.committed = map[string]string{}, map[string]string{}
			},
			"save":   func(t *rapid.T) { save() },
			"reopen": func(t *rapid.T) { k.reopen() },
			"crash":  func(t *rapid.T) { k.crash() },
			"restore": func(t *rapid.T) {
				before := maps.Clone(k.committed)
				s := rapid.SampledFrom(past).Draw(t, "to")
				b := s.bookmark
				if rapid.Bool().Draw(t, "by time") {
					var err error
					if b, err = k.store.BookmarkForTime(s.at + 9); err != nil {
						t.Fatal(err)
					}
				}
				undo := k.restore(b, s.state, rapid.Bool().Draw(t, "crash"))
				if rapid.Bool().Draw(t, "undo") {
					k.restore(undo, before, false)
				}
				k.clock.Advance(20 * time.Millisecond)
			},
			"": func(t *rapid.T) { k.check() },
		})
	})
}

// A commit's price does not change, the file has a bound, and a restore to what
// was dropped is refused, as is what never was a bookmark.
func TestHistoryBound(t *testing.T) {
	k := newKeeper(t, t.TempDir())
	k.store.Close()
	k.limit = 100 << 10
	k.start()
	first := k.bookmark()
	for i := range 200 {
		k.put("k", strings.Repeat(fmt.Sprint(i, " "), 3000))
		k.commit()
		k.clock.Advance(time.Second)
	}
	info, err := os.Stat(k.path() + "-history")
	if err != nil || info.Size() > k.limit+100<<10 {
		t.Errorf("the history has %d bytes, %v", info.Size(), err)
	}
	for bookmark, want := range map[string]string{
		first: "The state that this bookmark names is no longer kept.",
		"x":   `"x" is not a bookmark of this Durable Object's history, which may have begun anew since.`,
		"00000001-00000000-00000000-00000000000000000000000000000000": `"00000001-00000000-00000000-00000000000000000000000000000000" is not a bookmark of this Durable Object's history, which may have begun anew since.`,
	} {
		if _, err := k.store.RestoreOnNextOpen(bookmark); err == nil || err.Error() != want {
			t.Errorf("%s: %v", bookmark, err)
		}
	}
	if _, err := k.store.BookmarkForTime(start.UnixMilli()); err == nil || !strings.Contains(err.Error(), "begins at 2031-") {
		t.Errorf("a time before the history: %v", err)
	}
	if _, err := k.store.BookmarkForTime(start.UnixMilli() - 31*dayMillis); err == nil || !strings.Contains(err.Error(), "30 days") {
		t.Errorf("a time too long ago: %v", err)
	}
	state := maps.Clone(k.committed)
	k.reopen()
	b := k.bookmark()
	k.put("k", "new")
	k.commit()
	k.restore(b, state, false)
}

// A file that somebody else has changed begins a new history: what the old one
// has would give states that never were.
func TestHistoryForeignChange(t *testing.T) {
	k := newKeeper(t, t.TempDir())
	k.put("k", "1")
	k.commit()
	old := k.bookmark()
	if err := k.store.Close(); err != nil {
		t.Fatal(err)
	}
	other, err := Open(options(k.path()))
	if err != nil {
		t.Fatal(err)
	}
	put(t, other, "k", "2")
	commit(t, other)
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	k.committed["k"] = "2"
	k.start()
	if _, err := k.store.RestoreOnNextOpen(old); err == nil || !strings.Contains(err.Error(), "no longer kept") {
		t.Errorf("a bookmark of the broken history: %v", err)
	}
	b := k.bookmark()
	if b <= old {
		t.Errorf("bookmarks do not ascend: %s after %s", b, old)
	}
	state := maps.Clone(k.committed)
	k.put("k", "3")
	k.commit()
	k.restore(b, state, true)
}

// When the clock is set back, times are those of the clock then.
func TestHistoryClockBackwards(t *testing.T) {
	k := newKeeper(t, t.TempDir())
	put := func(v string) {
		k.put("k", v)
		k.commit()
		k.clock.Advance(time.Minute)
	}
	put("1")
	put("2")
	k.clock.Jump(-time.Hour)
	put("3")
	back := k.clock.Now().UnixMilli()
	put("4")
	b, err := k.store.BookmarkForTime(back - 1)
	if err != nil {
		t.Fatal(err)
	}
	k.restore(b, map[string]string{"k": "3"}, false)
}

// A history that cannot be written ends; commits do not notice.
func TestHistoryFailureIsNotTheCommits(t *testing.T) {
	k := newKeeper(t, t.TempDir())
	if err := os.Mkdir(k.path()+"-history", 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		k.put("k", fmt.Sprint(i))
		k.commit()
		k.clock.Advance(time.Second)
	}
	k.check()
	if _, err := k.store.CurrentBookmark(); err == nil || !strings.Contains(err.Error(), "point-in-time recovery of") {
		t.Errorf("no reason given: %v", err)
	}
}

// A WAL that ends before what a sync had put on the disk was damaged, whatever a loss
// of power may take: opening says so.
func TestCutOfSyncedFramesIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sqlite")
	c := clock.NewVirtual(start)
	o := Options{Path: path, Clock: c, Entropy: entropy.NewSeeded(1), Sync: sqlite.Full, SyncLater: true, HistoryBytes: DefaultHistoryBytes}
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if err := errors.Join(s.Put(fmt.Sprint(i), []byte("v")), s.Commit(), s.Sync()); err != nil {
			t.Fatal(err)
		}
		c.Advance(time.Second)
	}
	if err := s.Drop(); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path+"-wal", walHeader+frameHeader+4096); err != nil {
		t.Fatal(err)
	}
	var damaged *CorruptError
	if s, err := Open(o); !errors.As(err, &damaged) || damaged.Path != path+"-wal" {
		t.Errorf("%v, %v", s, err)
	}
}

// A bookmark is given out once its state has its mark on disk, and not otherwise.
func TestBookmarkNeedsItsMark(t *testing.T) {
	k := newKeeper(t, t.TempDir())
	for i := range 3 { // less than 10 ms apart: the last has no mark yet
		k.put("k", fmt.Sprint(i))
		k.commit()
	}
	if err := k.store.history.f.Close(); err != nil {
		t.Fatal(err)
	}
	if b, err := k.store.CurrentBookmark(); err == nil {
		t.Errorf("%s, whose mark could not be written", b)
	}
}
