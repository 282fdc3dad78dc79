package sqlstore

import (
	"path/filepath"
	"testing"
)

// A store that was made small holds less, keeps what is in it, and goes on as
// before; what is open in it (a transaction, a cursor) is left alone.
func TestShrink(t *testing.T) {
	for _, path := range []string{filepath.Join(t.TempDir(), "s.sqlite"), ""} {
		s, err := Open(options(path))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		must(t, s, "CREATE TABLE t(a)")
		for i := range 500 {
			must(t, s, "INSERT INTO t VALUES(?)", float64(i))
		}
		put(t, s, "k", "v")
		s.Shrink()
		if !s.Dirty() {
			t.Fatal("the open transaction is gone")
		}
		commit(t, s)
		cur, err := s.Exec("SELECT a FROM t ORDER BY a", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok, err := cur.Next(); err != nil || !ok {
			t.Fatal(ok, err)
		}
		before := s.MemoryUsed()
		s.Shrink()
		if after := s.MemoryUsed(); path != "" && after >= before {
			t.Errorf("%d bytes in use, %d before", after, before)
		}
		n := 0
		for ok := true; ok; n++ {
			if _, ok, err = cur.Next(); err != nil {
				t.Fatal(err)
			}
		}
		if n != 500 {
			t.Errorf("the cursor read %d rows", n)
		}
		must(t, s, "INSERT INTO t VALUES(500)")
		if err := s.Rollback(); err != nil {
			t.Fatal(err)
		}
		s.Shrink()
		must(t, s, "INSERT INTO t VALUES(500)")
		commit(t, s)
		s.Shrink()
		if v, ok, err := s.Get("k"); err != nil || !ok || string(v) != "v" {
			t.Errorf("k is %q, %v, %v", v, ok, err)
		}
	}
}
