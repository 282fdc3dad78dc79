package sqlstore

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
)

func benchStore(b *testing.B, sync sqlite.Sync) *Store { return benchStoreWith(b, sync, 0) }

func benchStoreWith(b *testing.B, sync sqlite.Sync, history int64) *Store {
	s := openWith(b, Options{Path: filepath.Join(b.TempDir(), "a.sqlite"), Clock: clock.Real{}, Entropy: entropy.System{}, Sync: sync, HistoryBytes: history})
	must(b, s, "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b REAL)")
	commit(b, s)
	return s
}

func runSQL(b *testing.B, s *Store, sql string, args ...any) {
	c, err := s.Exec(sql, args)
	if err != nil {
		b.Fatal(err)
	}
	for {
		_, ok, err := c.Next()
		if err != nil {
			b.Fatal(err)
		}
		if !ok {
			return
		}
	}
}

const insert = "INSERT INTO t(a, b) VALUES(?, ?)"

func BenchmarkTurnInsertNormal(b *testing.B)  { benchTurn(b, sqlite.Normal, 0) }
func BenchmarkTurnInsertFull(b *testing.B)    { benchTurn(b, sqlite.Full, 0) }
func BenchmarkTurnInsertHistory(b *testing.B) { benchTurn(b, sqlite.Normal, DefaultHistoryBytes) }

func benchTurn(b *testing.B, sync sqlite.Sync, history int64) {
	s := benchStoreWith(b, sync, history)
	for b.Loop() {
		runSQL(b, s, insert, "some text of a usual length", 1.5)
		commit(b, s)
	}
}

func BenchmarkBatchInsert(b *testing.B) {
	s := benchStore(b, sqlite.Normal)
	args := []any{"some text of a usual length", 1.5}
	for b.Loop() {
		runSQL(b, s, insert, args...)
	}
	commit(b, s)
}

func BenchmarkPointSelect(b *testing.B)              { benchSelect(b, false) }
func BenchmarkPointSelectInTransaction(b *testing.B) { benchSelect(b, true) }

func benchSelect(b *testing.B, inTransaction bool) {
	s := benchStore(b, sqlite.Normal)
	for range 10_000 {
		runSQL(b, s, insert, "some text of a usual length", 1.5)
	}
	commit(b, s)
	if inTransaction {
		put(b, s, "k", "v")
	}
	for i := 0; b.Loop(); i++ {
		runSQL(b, s, "SELECT id, a, b FROM t WHERE id = ?", float64(i%10_000))
	}
}

func BenchmarkReadTurn(b *testing.B) {
	s := benchStore(b, sqlite.Normal)
	for b.Loop() {
		get(b, s, "k")
		commit(b, s)
	}
}

func BenchmarkKVGet(b *testing.B) {
	s := benchStore(b, sqlite.Normal)
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = "key:" + strconv.Itoa(i)
		put(b, s, keys[i], strings.Repeat("v", 100))
	}
	commit(b, s)
	for i := 0; b.Loop(); i++ {
		get(b, s, keys[i%1000])
	}
}

func BenchmarkKVPut(b *testing.B) {
	s := benchStore(b, sqlite.Normal)
	v := strings.Repeat("v", 100)
	for i := 0; b.Loop(); i++ {
		put(b, s, "key:"+strconv.Itoa(i%1000), v)
	}
	commit(b, s)
}

func BenchmarkKVPutTurn(b *testing.B) {
	s := benchStore(b, sqlite.Normal)
	v := strings.Repeat("v", 100)
	for i := 0; b.Loop(); i++ {
		put(b, s, "key:"+strconv.Itoa(i%1000), v)
		commit(b, s)
	}
}

func BenchmarkOpenClose(b *testing.B)        { benchOpenClose(b, 0) }
func BenchmarkOpenCloseHistory(b *testing.B) { benchOpenClose(b, DefaultHistoryBytes) }

func benchOpenClose(b *testing.B, history int64) {
	p := filepath.Join(b.TempDir(), "a.sqlite")
	o := options(p)
	o.HistoryBytes = history
	s := openWith(b, o)
	put(b, s, "k", "v")
	commit(b, s)
	s.Close()
	for b.Loop() {
		s, err := Open(o)
		if err != nil {
			b.Fatal(err)
		}
		get(b, s, "k")
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// Thousands of open stores fit: an idle one holds little memory, in Go's heap
// and in SQLite's together. The bound is twice what was measured.
func TestMemoryPerStore(t *testing.T) {
	if testing.Short() {
		t.Skip("opens many files")
	}
	const n = 200
	dir := t.TempDir()
	rss, heap := residentBytes(t), heapBytes()
	stores := make([]*Store, n)
	for i := range stores {
		s, err := Open(options(filepath.Join(dir, fmt.Sprintf("%d.sqlite", i))))
		if err != nil {
			t.Fatal(err)
		}
		stores[i] = s
		put(t, s, "k", "v")
		must(t, s, "CREATE TABLE t(a)")
		must(t, s, "INSERT INTO t VALUES(?)", 1.0)
		must(t, s, "SELECT * FROM t")
		commit(t, s)
	}
	perHeap := (heapBytes() - heap) / n
	perRSS := (residentBytes(t) - rss) / n
	for _, s := range stores {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("per open store: %d bytes of Go's heap, %d bytes resident", perHeap, perRSS)
	if perHeap > 20<<10 || perRSS > 400<<10 {
		t.Errorf("an open store costs %d bytes of Go's heap, %d resident", perHeap, perRSS)
	}
}

func heapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// What the disk itself takes to keep one commit of one page: a frame of the log,
// written over an earlier one as in a log that was checkpointed, and synced. No
// acknowledged write that waits for its own sync can be faster.
func BenchmarkSyncFloor(b *testing.B) {
	const frame, frames = 24 + 4096, checkpointFrames
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, frame*frames)); err != nil {
		b.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
	page := make([]byte, frame)
	for i := 0; b.Loop(); i++ {
		if _, err := f.WriteAt(page, int64(i%frames)*frame); err != nil {
			b.Fatal(err)
		}
		if err := syncFile(f); err != nil {
			b.Fatal(err)
		}
	}
}
