package sqlstore

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"minido.dev/minido/internal/sqlite"
)

// The sum that goes on with the pages which a checkpoint moves is that of the whole
// file, whatever pages the file gains and loses and whoever else writes to it.
func TestFingerprintGoesOn(t *testing.T) {
	o := options(filepath.Join(t.TempDir(), "o.sqlite"))
	o.HistoryBytes, o.checkpointFrames = DefaultHistoryBytes, 20
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	exec := func(sql string) {
		t.Helper()
		if _, err := all(s, sql); err != nil {
			t.Fatalf("%s: %s", sql, err)
		}
	}
	exec("CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB)")
	commit(t, s)
	other, err := sqlite.Open(sqlite.Options{Path: o.Path, MustExist: true, Now: o.Clock.Now, Rand: o.Entropy})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.Exec("PRAGMA wal_autocheckpoint=0"); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	h := s.history
	went := 0
	for i := range 300 {
		switch n := r.IntN(10); {
		case n < 5:
			exec(fmt.Sprintf("INSERT INTO t (b) VALUES (randomblob(%d))", r.IntN(20_000)))
		case n < 7:
			exec(fmt.Sprintf("UPDATE t SET b = randomblob(%d) WHERE id %% 40 = %d", r.IntN(5000), r.IntN(40)))
		case n < 8:
			exec(fmt.Sprintf("DELETE FROM t WHERE id %% 9 = %d", r.IntN(9)))
		case n < 9:
			if err := other.Exec("INSERT INTO t (b) VALUES (randomblob(3000))"); err != nil {
				t.Fatal(err)
			}
			exec("DELETE FROM t WHERE id = 1")
		default:
			exec("INSERT INTO t (b) VALUES (randomblob(90000))")
			exec("DELETE FROM t WHERE id = (SELECT max(id) FROM t)") // pages that are in no frame
		}
		number := h.number
		commit(t, s)
		if h.err != nil {
			t.Fatal(h.err)
		}
		if h.number == number || h.last.summed != pagesSummed {
			continue
		}
		whole, err := h.fingerprint(pagesSummed)
		if err != nil || h.last != whole {
			t.Fatalf("after commit %d: %+v, the file has %+v, %v", i, h.last, whole, err)
		}
		if rest, known := h.without([]uint32{1}); known && rest.sum != whole.sum {
			went++
		}
	}
	if went < 10 {
		t.Errorf("%d checkpoints left a fingerprint to go on with, want 10 at least", went)
	}
}

// The sum of the pages tells contents, and which of them is where.
func TestPageSum(t *testing.T) {
	a, b := []byte("a"), []byte("b")
	if pageSum(1, a)+pageSum(2, b) == pageSum(1, b)+pageSum(2, a) {
		t.Error("two pages that have changed places have the same sum")
	}
	if pageSum(1, a) == pageSum(1, b) {
		t.Error("two contents have the same sum")
	}
}
