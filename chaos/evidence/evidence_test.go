package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
)

func create(t *testing.T, path string) *sqlite.Conn {
	t.Helper()
	conn, err := sqlite.Open(sqlite.Options{Path: path, Now: clock.Real{}.Now, Rand: entropy.System{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	exec(t, conn, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
	return conn
}

func exec(t *testing.T, conn *sqlite.Conn, sql string) {
	t.Helper()
	if err := conn.Exec(sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// What is committed to the log alone is in the copy, what is not committed is
// not, and reading leaves the original as it was.
func TestOpenReadsTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sqlite")
	conn := create(t, path)
	exec(t, conn, "CREATE TABLE t (x, y); INSERT INTO t VALUES (1, 'one'), (2.5, NULL)")
	exec(t, conn, "BEGIN; INSERT INTO t VALUES (3, 'not committed')")
	before := Stamp([]string{path})
	db, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query("SELECT x, y FROM t WHERE x > ? ORDER BY x", int64(0))
	if err != nil || len(rows) != 2 || rows[0].Int("x") != 1 || rows[0].Text("y") != "one" || rows[1].Int("x") != 2 || rows[1]["y"] != nil {
		t.Fatalf("rows = %v, %v", rows, err)
	}
	if err := db.Check(); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(db.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copy is left behind: %v", err)
	}
	if after := Stamp([]string{path}); after != before {
		t.Errorf("the original changed:\n%s%s", before, after)
	}
	exec(t, conn, "ROLLBACK")
}

// While a writer commits pairs of rows and checkpoints all the time, every
// copy shows whole pairs and passes SQLite's integrity check.
func TestCopyOfALiveDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sqlite")
	conn := create(t, path)
	exec(t, conn, "PRAGMA wal_autocheckpoint = 5; CREATE TABLE t (pair, pad)")
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			sql := fmt.Sprintf("BEGIN; INSERT INTO t VALUES (%d, zeroblob(3000)); INSERT INTO t VALUES (%d, zeroblob(5000)); DELETE FROM t WHERE pair < %d; COMMIT", i, i, i-200)
			if err := conn.Exec(sql); err != nil {
				stopped <- err
				return
			}
		}
	}()
	last, unsteady := int64(0), 0
	for deadline := time.Now().Add(time.Minute); last < 300 && time.Now().Before(deadline); {
		db, err := Open(path)
		if errors.Is(err, ErrUnsteady) {
			unsteady++ // said so, rather than returned nonsense
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Check(); err != nil {
			t.Fatal(err)
		}
		odd, err := db.Query("SELECT pair FROM t GROUP BY pair HAVING count(*) <> 2")
		if err != nil || len(odd) > 0 {
			t.Fatalf("torn pairs %v, %v", odd, err)
		}
		newest, err := db.Query("SELECT max(pair) AS pair FROM t")
		if err != nil {
			t.Fatal(err)
		}
		last = newest[0].Int("pair")
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if last < 300 {
		t.Errorf("no copy got further than pair %d (%d were refused as unsteady)", last, unsteady)
	}
}

// A database that is not there, and one that is none, are errors with a name.
func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "none.sqlite")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	garbage := filepath.Join(dir, "garbage")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := Open(garbage)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Tables(); err == nil || !strings.Contains(err.Error(), "SQLITE_NOTADB") && !strings.Contains(err.Error(), "not a database") {
		t.Errorf("garbage: %v", err)
	}
}

// The alarm is the one in workerd's table, and its absence is no error.
func TestAlarm(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sqlite")
	conn := create(t, path)
	exec(t, conn, "CREATE TABLE t (x)")
	alarm := func() (time.Time, bool) {
		db, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		at, ok, err := db.Alarm()
		if err != nil {
			t.Fatal(err)
		}
		return at, ok
	}
	if _, ok := alarm(); ok {
		t.Error("an alarm without a table")
	}
	exec(t, conn, "CREATE TABLE _cf_METADATA (key INTEGER PRIMARY KEY, value BLOB); INSERT INTO _cf_METADATA VALUES (1, NULL)")
	if _, ok := alarm(); ok {
		t.Error("an alarm that is NULL")
	}
	exec(t, conn, "UPDATE _cf_METADATA SET value = 1500000000 WHERE key = 1")
	if at, ok := alarm(); !ok || !at.Equal(time.Unix(1, 500_000_000)) {
		t.Errorf("alarm = %v, %v", at, ok)
	}
}

// An object's databases are its own and its facets', and no other object's.
func TestDatabases(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"aa.sqlite", "aa.10.sqlite", "aa.9.sqlite", "aa.sqlite-wal", "aab.sqlite", "bb.sqlite", "metadata.sqlite", "aa.facets"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Databases(dir, "aa")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range got {
		names = append(names, filepath.Base(p))
	}
	if s := strings.Join(names, " "); s != "aa.sqlite aa.9.sqlite aa.10.sqlite" {
		t.Errorf("got %s", s)
	}
	if none, err := Databases(filepath.Join(dir, "missing"), "aa"); err != nil || none != nil {
		t.Errorf("missing folder: %v, %v", none, err)
	}
}

// What a loss of power left of a database that was being created is an empty one, as it is
// for the next server.
func TestUnbornDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sqlite")
	if err := os.WriteFile(path, make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if tables, err := db.Tables(); err != nil || len(tables) > 0 {
		t.Errorf("%v, %v", tables, err)
	}
}
