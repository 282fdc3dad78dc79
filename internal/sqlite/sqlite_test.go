package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"minido.dev/minido/internal/entropy"
)

// testTime is the time that SQL sees in these tests.
var testTime = time.Date(2031, 2, 3, 4, 5, 6, 789_000_000, time.UTC)

func open(t testing.TB, path string) *Conn {
	t.Helper()
	c, err := Open(Options{Path: path, Now: func() time.Time { return testTime }, Rand: entropy.NewSeeded(1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// rows runs one statement and returns everything it gives.
func rows(c *Conn, sql string, args ...any) ([][]any, error) {
	st, _, err := c.Prepare(sql, false)
	if err != nil {
		return nil, err
	}
	defer st.Finalize()
	for i, a := range args {
		if err := st.Bind(i+1, a); err != nil {
			return nil, err
		}
	}
	var out [][]any
	for {
		row, err := st.Step()
		if err != nil {
			return out, err
		}
		if !row {
			return out, nil
		}
		r := make([]any, st.Columns())
		for i := range r {
			r[i] = st.Column(i)
		}
		out = append(out, r)
	}
}

func must(t testing.TB, c *Conn, sql string, args ...any) [][]any {
	t.Helper()
	r, err := rows(c, sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return r
}

// Every storage class goes in and comes out unchanged, empty values included.
func TestBindAndColumnTypes(t *testing.T) {
	c := open(t, Memory)
	for _, v := range []any{nil, int64(-1 << 63), int64(0), 1.5, -0.25, "", "a\x00b", "žluťoučký 🐎", []byte{}, []byte{0, 1, 255}, bytes.Repeat([]byte("x"), 100_000), strings.Repeat("y", 70_000)} {
		got := must(t, c, "SELECT ?", v)[0][0]
		if !reflect.DeepEqual(got, v) {
			t.Errorf("%T %.20v came back as %T %.20v", v, v, got, got)
		}
	}
}

// A row's blob stays as it was when the statement moves on: it is a copy.
func TestBlobsAreCopied(t *testing.T) {
	c := open(t, Memory)
	st, _, err := c.Prepare("SELECT x'0102' UNION ALL SELECT x'0304'", false)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Finalize()
	st.Step()
	first := st.ColumnBlob(0)
	st.Step()
	if !bytes.Equal(first, []byte{1, 2}) {
		t.Fatalf("first row's blob changed to %x", first)
	}
}

// Rebinding many values of growing size never disturbs those bound before.
func TestBoundMemoryStays(t *testing.T) {
	c := open(t, Memory)
	st, _, err := c.Prepare("SELECT ?1, ?2, ?3", true)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < 50_000; n *= 3 {
		want := []any{strings.Repeat("a", n), bytes.Repeat([]byte("b"), 2*n), strings.Repeat("c", n/2)}
		for i, v := range want {
			if err := st.Bind(i+1, v); err != nil {
				t.Fatal(err)
			}
		}
		if row, err := st.Step(); !row || err != nil {
			t.Fatal(row, err)
		}
		if got := []any{st.Column(0), st.Column(1), st.Column(2)}; !reflect.DeepEqual(got, want) {
			t.Fatalf("n=%d: bound values changed", n)
		}
		st.Reset()
		st.ClearBindings()
	}
}

// Duplicate column names are all reported.
func TestColumnNames(t *testing.T) {
	c := open(t, Memory)
	st, tail, err := c.Prepare("SELECT 1 AS a, 2 AS a, 3 AS b; SELECT 2", false)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Finalize()
	if got := st.ColumnNames(); !reflect.DeepEqual(got, []string{"a", "a", "b"}) || tail != " SELECT 2" {
		t.Fatalf("names %q, tail %q", got, tail)
	}
	if st, tail, err := c.Prepare(" -- nothing\n ", false); st != nil || tail != "" || err != nil {
		t.Fatalf("a comment gave %v %q %v", st, tail, err)
	}
}

// A schema change under a prepared statement changes its columns.
func TestColumnsAfterSchemaChange(t *testing.T) {
	c := open(t, Memory)
	must(t, c, "CREATE TABLE t(a)")
	st, _, err := c.Prepare("SELECT * FROM t", true)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(st.ColumnNames()); n != 1 {
		t.Fatal(n)
	}
	must(t, c, "ALTER TABLE t ADD COLUMN b")
	must(t, c, "INSERT INTO t VALUES(1,2)")
	if row, err := st.Step(); !row || err != nil {
		t.Fatal(row, err)
	}
	if got := st.ColumnNames(); !reflect.DeepEqual(got, []string{"a", "b"}) || st.Columns() != 2 {
		t.Fatalf("%q", got)
	}
}

// Every way in which SQL can ask for the time gives the clock's time, also
// inside column defaults, triggers and after the clock moved.
func TestTimeIsHandedIn(t *testing.T) {
	now := testTime
	c, err := Open(Options{Path: Memory, Now: func() time.Time { return now }, Rand: entropy.NewSeeded(1)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	exprs := map[string]any{
		"unixepoch()": int64(1927857906), "unixepoch('now','subsec')": 1927857906.789,
		"CURRENT_TIMESTAMP": "2031-02-03 04:05:06", "CURRENT_DATE": "2031-02-03", "CURRENT_TIME": "04:05:06",
		"datetime()": "2031-02-03 04:05:06", "datetime('now')": "2031-02-03 04:05:06", "date('now','+1 day')": "2031-02-04",
		"strftime('%s','now')": "1927857906", "strftime('%f')": "06.789", "datetime('now','localtime')": "2031-02-03 04:05:06",
		"round(julianday('now'),6)": 2462900.670217,
	}
	for e, want := range exprs {
		if got := must(t, c, "SELECT "+e)[0][0]; got != want {
			t.Errorf("%s = %v, want %v", e, got, want)
		}
	}
	must(t, c, "CREATE TABLE t(a, at TEXT DEFAULT CURRENT_TIMESTAMP, ms INTEGER DEFAULT (unixepoch('subsec')*1000))")
	must(t, c, "CREATE TABLE log(at)")
	must(t, c, "CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO log VALUES(unixepoch()); END")
	must(t, c, "INSERT INTO t(a) VALUES(1)")
	now = now.Add(time.Hour)
	must(t, c, "INSERT INTO t(a) VALUES(2)")
	got := must(t, c, "SELECT at, ms FROM t UNION ALL SELECT at, NULL FROM log")
	want := [][]any{{"2031-02-03 04:05:06", 1927857906789.0}, {"2031-02-03 05:05:06", 1927861506789.0}, {int64(1927857906), nil}, {int64(1927861506), nil}}
	for _, r := range got {
		if ms, ok := r[1].(int64); ok {
			r[1] = float64(ms)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("defaults and triggers gave %v", got)
	}
}

// The same source gives the same random values, in defaults too; another gives
// others; each row gets its own.
func TestRandomnessIsHandedIn(t *testing.T) {
	run := func(seed uint64) string {
		c, err := Open(Options{Path: Memory, Now: time.Now, Rand: entropy.NewSeeded(seed)})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		must(t, c, "CREATE TABLE t(n, id TEXT DEFAULT (lower(hex(randomblob(16)))), r DEFAULT (random()))")
		must(t, c, "INSERT INTO t(n) VALUES(1),(2),(3)")
		r := must(t, c, "SELECT id, r, random(), length(randomblob(0)), length(randomblob(33)) FROM t ORDER BY random()")
		if r[0][0] == r[1][0] || r[0][1] == r[1][1] || r[0][2] == r[1][2] {
			t.Errorf("rows share random values: %v", r)
		}
		if r[0][3] != int64(1) || r[0][4] != int64(33) {
			t.Errorf("randomblob lengths: %v", r[0])
		}
		return fmt.Sprint(r)
	}
	if a, b := run(7), run(7); a != b {
		t.Errorf("one seed, two results:\n%s\n%s", a, b)
	}
	if a, b := run(7), run(8); a == b {
		t.Errorf("two seeds, one result: %s", a)
	}
	c := open(t, Memory)
	c.SetLimit(LimitLength, 1000)
	if _, err := rows(c, "SELECT randomblob(1001)"); !IsCode(err, CodeTooBig) {
		t.Errorf("randomblob past the limit: %v", err)
	}
}

// Two connections to two clocks at once do not see each other's time.
func TestClocksAreSeparate(t *testing.T) {
	var cs []*Conn
	for i := range 3 {
		at := time.Unix(int64(i)*1000, 0)
		c, err := Open(Options{Path: Memory, Now: func() time.Time { return at }, Rand: entropy.System{}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		cs = append(cs, c)
	}
	for i, c := range cs {
		if got := must(t, c, "SELECT unixepoch()")[0][0]; got != int64(i)*1000 {
			t.Errorf("connection %d: %v", i, got)
		}
	}
}

// Connections are opened and closed side by side. The race detector sees what they
// share; this test says something only with -race.
func TestOpenSideBySide(t *testing.T) {
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			for range 50 {
				c, err := Open(Options{Path: Memory, Now: time.Now, Rand: entropy.System{}})
				if err != nil {
					t.Fatal(err)
				}
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// Errors have the text that workerd shows.
func TestErrorTexts(t *testing.T) {
	c := open(t, Memory)
	must(t, c, "CREATE TABLE u(a UNIQUE, b CHECK(b > 0))")
	must(t, c, "INSERT INTO u VALUES(1, 1)")
	for sql, want := range map[string]string{
		"INSERT INTO u VALUES(1, 1)": "UNIQUE constraint failed: u.a: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_UNIQUE)",
		"INSERT INTO u VALUES(2, 0)": "CHECK constraint failed: b > 0: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_CHECK)",
		"SELECT * FROM u WHERE zz":   "no such column: zz at offset 22: SQLITE_ERROR",
		"selec":                      `near "selec": syntax error at offset 0: SQLITE_ERROR`,
		"SELECT * FROM nosuch":       "no such table: nosuch: SQLITE_ERROR",
	} {
		_, err := rows(c, sql)
		if err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", sql, err, want)
		}
	}
}

// The authorizer sees names and can refuse; the error is SQLITE_AUTH.
func TestAuthorizer(t *testing.T) {
	c := open(t, Memory)
	must(t, c, "CREATE TABLE secret(a); ")
	c.SetAuthorizer(func(a Action) Verdict {
		if a.Code == ActionRead && a.Arg1 == "secret" && a.Database == "main" {
			return Deny
		}
		return Allow
	})
	_, err := rows(c, "SELECT a FROM secret")
	if err == nil || err.Error() != "access to secret.a is prohibited: SQLITE_AUTH" {
		t.Errorf("got %v", err)
	}
	must(t, c, "SELECT 1")
	c.SetAuthorizer(nil)
	must(t, c, "SELECT a FROM secret")
}

// The commit hook counts commits that change something and can refuse one.
func TestCommitHook(t *testing.T) {
	c := open(t, filepath.Join(t.TempDir(), "a.sqlite"))
	commits, refuse := 0, false
	c.SetCommitHook(func() bool { commits++; return refuse })
	must(t, c, "CREATE TABLE t(a)")
	must(t, c, "SELECT * FROM t")
	if err := c.Exec("BEGIN; INSERT INTO t VALUES(1); INSERT INTO t VALUES(2); COMMIT"); err != nil {
		t.Fatal(err)
	}
	if commits != 2 {
		t.Errorf("%d commits", commits)
	}
	refuse = true
	if _, err := rows(c, "INSERT INTO t VALUES(3)"); !IsCode(err, CodeConstraint) {
		t.Errorf("refused commit: %v", err)
	}
	if n := must(t, c, "SELECT count(*) FROM t")[0][0]; n != int64(2) {
		t.Errorf("%v rows", n)
	}
}

// Interrupt from another goroutine ends an endless statement; afterwards the
// connection works. After Close it does nothing.
func TestInterrupt(t *testing.T) {
	c := open(t, Memory)
	running := make(chan struct{})
	first := true
	c.SetProgress(1000, func() bool {
		if first {
			first = false
			close(running)
		}
		return false
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-running
		c.Interrupt()
	}()
	_, err := rows(c, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c")
	<-done
	if !IsCode(err, CodeInterrupt) {
		t.Fatalf("got %v", err)
	}
	c.SetProgress(0, nil)
	must(t, c, "SELECT 1")
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c.Interrupt()
}

// The progress handler bounds a statement's work deterministically.
func TestProgressStops(t *testing.T) {
	c := open(t, Memory)
	n := 0
	c.SetProgress(1000, func() bool { n++; return n == 5 })
	_, err := rows(c, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c")
	if !IsCode(err, CodeInterrupt) || n != 5 {
		t.Fatalf("%v after %d calls", err, n)
	}
}

// A backup of a live WAL database has what is committed, without closing it.
func TestBackup(t *testing.T) {
	dir := t.TempDir()
	c := open(t, filepath.Join(dir, "a.sqlite"))
	must(t, c, "PRAGMA journal_mode=WAL")
	must(t, c, "CREATE TABLE t(a)")
	must(t, c, "INSERT INTO t VALUES('kept')")
	if err := c.BackupTo(filepath.Join(dir, "b.sqlite")); err != nil {
		t.Fatal(err)
	}
	must(t, c, "INSERT INTO t VALUES('later')")
	b := open(t, filepath.Join(dir, "b.sqlite"))
	if got := must(t, b, "SELECT a FROM t"); !reflect.DeepEqual(got, [][]any{{"kept"}}) {
		t.Fatalf("%v", got)
	}
	if err := c.BackupTo(filepath.Join(dir, "no/such/dir.sqlite")); err == nil || !strings.Contains(err.Error(), "dir.sqlite") {
		t.Fatalf("got %v", err)
	}
}

// A file that is no database is named by the first statement; a path that
// cannot be opened by Open.
func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "junk")
	if err := os.WriteFile(p, bytes.Repeat([]byte("junk"), 500), 0o600); err != nil {
		t.Fatal(err)
	}
	c := open(t, p)
	if _, err := rows(c, "SELECT * FROM sqlite_master"); !IsCode(err, CodeNotADB) {
		t.Errorf("junk file: %v", err)
	}
	for _, o := range []Options{
		{Path: filepath.Join(dir, "none"), MustExist: true},
		{Path: filepath.Join(dir, "none"), ReadOnly: true},
		{Path: dir},
	} {
		o.Now, o.Rand = time.Now, entropy.System{}
		_, err := Open(o)
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeCantOpen || !strings.Contains(err.Error(), o.Path) {
			t.Errorf("%+v: %v", o.Path, err)
		}
	}
}

// What SQLite was built with that applications use: FTS5, R*Tree, JSON, maths.
func TestFeatures(t *testing.T) {
	c := open(t, Memory)
	must(t, c, "CREATE VIRTUAL TABLE f USING fts5(body)")
	must(t, c, "INSERT INTO f VALUES('the quick brown fox'),('lazy dog')")
	must(t, c, "CREATE VIRTUAL TABLE r USING rtree(id, x0, x1)")
	for sql, want := range map[string]any{
		"SELECT highlight(f,0,'[',']') FROM f WHERE f MATCH 'quick'": "the [quick] brown fox",
		`SELECT json_extract('{"a":[1,2]}','$.a[1]')`:                int64(2),
		"SELECT sqrt(16)":                                    4.0,
		"SELECT '{\"a\":5}' ->> 'a'":                         int64(5),
		"SELECT typeof(jsonb('[1]'))":                        "blob",
		"SELECT group_concat(value) FROM json_each('[1,2]')": "1,2",
	} {
		if got := must(t, c, sql)[0][0]; got != want {
			t.Errorf("%s = %v, want %v", sql, got, want)
		}
	}
}

// ofTenRows is a statement over a table t of ten rows.
func ofTenRows(t *testing.T, sql string) (*Conn, *Stmt) {
	t.Helper()
	c := open(t, Memory)
	must(t, c, "CREATE TABLE t(id INTEGER PRIMARY KEY, a)")
	must(t, c, "INSERT INTO t(a) WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<10) SELECT x FROM c")
	st, _, err := c.Prepare(sql, true)
	if err != nil {
		t.Fatal(err)
	}
	return c, st
}

// Moves counts how many rows a statement walked over.
func TestCounters(t *testing.T) {
	c, st := ofTenRows(t, "SELECT * FROM t WHERE a > 100")
	if row, err := st.Step(); row || err != nil {
		t.Fatal(row, err)
	}
	if got := st.Counters(true).Moves; got != 9 {
		t.Errorf("walked over %d rows after the first", got)
	}
	if got := st.Counters(true).Moves; got != 0 {
		t.Errorf("after the reset: %d", got)
	}
	st.Reset()
	st.Count()
	if !st.Counted() {
		t.Fatal("nothing is counted")
	}
	for range 2 {
		if row, err := st.Step(); row || err != nil {
			t.Fatal(row, err)
		}
		if got := st.Counters(true).Reads; got != 10 {
			t.Errorf("read %d rows", got)
		}
		st.Reset()
	}
	must(t, c, "ALTER TABLE t ADD COLUMN b")
	if row, err := st.Step(); row || err != nil || !st.Counted() {
		t.Error(row, err, "after a change of the schema nothing is counted")
	}
	if got := st.Counters(true).Reads; got != 10 {
		t.Errorf("after a change of the schema: read %d rows", got)
	}
	st.Finalize()
}

// A statement whose plan depends on what is bound is compiled anew for each value; it
// counts each time (its rows as workerd 1.20261117.1 does), and keeps no program of before.
func TestCountersOfBoundLimits(t *testing.T) {
	_, st := ofTenRows(t, "SELECT * FROM t ORDER BY id LIMIT ?")
	for i := range 20 {
		st.Count()
		limit := i%3 + 1
		if err := st.Bind(1, int64(limit)); err != nil {
			t.Fatal(err)
		}
		rows := 0
		for {
			row, err := st.Step()
			if err != nil {
				t.Fatal(err)
			}
			if !row {
				break
			}
			rows++
		}
		if got := st.Counters(true).Reads; rows != limit || got != int64(limit) || !st.Counted() {
			t.Errorf("LIMIT %d: %d rows, %d read", limit, rows, got)
		}
		if n := len(st.tally.blocks); n != 1 {
			t.Fatalf("%d programs are kept", n)
		}
		st.Reset()
	}
	st.Finalize()
}

// The table of instructions is that of the SQLite which is linked. After an
// upgrade compare jumps with OPFLG_JUMP of its opcodes.h, look at what count.go
// relies on, and run the differential test of row counts.
func TestCountedVersion(t *testing.T) {
	if sqlite3.SQLITE_VERSION != countedVersion {
		t.Errorf("SQLite is %s, the table is of %s", sqlite3.SQLITE_VERSION, countedVersion)
	}
	n := 0
	for _, is := range jumps {
		if is {
			n++
		}
	}
	if n != 56 {
		t.Errorf("%d instructions jump, not 56", n)
	}
}

// Programs with counting instructions give what they gave without.
func TestCountChangesNoResult(t *testing.T) {
	plain, counted := open(t, Memory), open(t, Memory)
	run := func(c *Conn, sql string, count bool) (out []any) {
		for tail := sql; tail != ""; {
			st, rest, err := c.Prepare(tail, true)
			if err != nil {
				return append(out, err.Error())
			}
			tail = rest
			if st == nil {
				continue
			}
			if count {
				st.Count()
			}
			for {
				row, err := st.Step()
				if err != nil {
					out = append(out, err.Error())
				}
				if !row {
					break
				}
				for i := range st.Columns() {
					out = append(out, st.Column(i))
				}
			}
			st.Finalize()
		}
		return append(out, c.TotalChanges())
	}
	for _, sql := range []string{
		"CREATE TABLE t(id INTEGER PRIMARY KEY, a, b UNIQUE, c); CREATE INDEX ta ON t(a, c); CREATE TABLE u(tid REFERENCES t ON DELETE CASCADE, v); CREATE INDEX ui ON u(tid)",
		"CREATE TABLE w(k PRIMARY KEY, v) WITHOUT ROWID; CREATE VIRTUAL TABLE f USING fts5(x); CREATE TABLE log(x)",
		"CREATE TRIGGER tr AFTER UPDATE OF c ON t WHEN new.c > 3 BEGIN INSERT INTO log SELECT a FROM t WHERE id < new.id; UPDATE w SET v = v + 1 WHERE k = new.c; END",
		"INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) SELECT i, i % 7, i * 3, i % 5 FROM n",
		"INSERT INTO u SELECT a + 1, id FROM t; INSERT INTO w SELECT id, a FROM t WHERE id < 9; INSERT INTO f SELECT 'word' || a FROM t",
		"UPDATE t SET c = c + 1 WHERE a IN (1, 3, 5)", "INSERT INTO t VALUES (1, 2, 3, 4) ON CONFLICT(id) DO UPDATE SET c = excluded.c + 9 RETURNING *",
		"INSERT OR IGNORE INTO t VALUES (77, 1, 3, 1)", "REPLACE INTO t VALUES (78, 1, 6, 1)", "INSERT INTO t VALUES (79, 1, 9, 1)",
		"SELECT * FROM t WHERE a = 3 OR b = 9 OR c = 1 ORDER BY id", "SELECT * FROM t WHERE (a = 3 AND c = 2) OR b BETWEEN 10 AND 20", "SELECT count(*), sum(c) FROM t GROUP BY a HAVING count(*) > 2 ORDER BY 2 DESC",
		"SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE tid = t.id) AND id IN (SELECT tid FROM u WHERE v > 10) LIMIT 5 OFFSET 1", "SELECT DISTINCT a, c FROM t ORDER BY c, a DESC LIMIT 4",
		"SELECT a, row_number() OVER (PARTITION BY a ORDER BY b DESC), sum(c) OVER (ORDER BY id ROWS 2 PRECEDING) FROM t", "SELECT * FROM t LEFT JOIN u ON u.tid = t.id AND u.v > 20 WHERE t.id < 9", "SELECT * FROM u RIGHT JOIN w ON w.k = u.v",
		"SELECT a FROM t UNION SELECT v FROM u EXCEPT SELECT k FROM w ORDER BY 1", "SELECT a FROM t INTERSECT SELECT v FROM u", "WITH x AS MATERIALIZED (SELECT * FROM t) SELECT max(a), min(b), (SELECT group_concat(v) FROM u WHERE tid = 3) FROM x",
		"SELECT rowid FROM f WHERE f MATCH 'word3' ORDER BY rank", "SELECT max(id), min(a) FROM t", "SELECT value FROM json_each('[3,1,2]') ORDER BY value", "SELECT count(*) FROM t; SELECT count(*) FROM w WHERE k > 3",
		"DELETE FROM t WHERE a = 5", "UPDATE w SET k = k + 100 WHERE v > 2", "DELETE FROM w WHERE k IN (SELECT k FROM w WHERE v = 1)", "UPDATE t SET a = u.v FROM u WHERE u.tid = t.id RETURNING id, a",
		"ALTER TABLE t DROP COLUMN c", "CREATE TABLE z AS SELECT * FROM t", "DELETE FROM z", "DROP TABLE u", "ANALYZE", "SELECT * FROM t WHERE a IN (1, 2, 3) AND b > 5", "PRAGMA integrity_check", "PRAGMA foreign_key_check", "SELECT * FROM t", "SELECT * FROM w", "SELECT * FROM log",
	} {
		if got, want := run(counted, sql, true), run(plain, sql, false); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", sql, got, want)
		}
	}
}

// Closing with statements open and a transaction unfinished succeeds and rolls
// back; using the statements' Finalize afterwards is harmless.
func TestCloseWithOpenStatements(t *testing.T) {
	p := filepath.Join(t.TempDir(), "a.sqlite")
	c := open(t, p)
	must(t, c, "CREATE TABLE t(a)")
	must(t, c, "BEGIN")
	must(t, c, "INSERT INTO t VALUES(1)")
	st, _, err := c.Prepare("SELECT * FROM t", false)
	if err != nil {
		t.Fatal(err)
	}
	st.Step()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	st.Finalize()
	st.Reset()
	if _, _, err := c.Prepare("SELECT 1", false); err == nil {
		t.Error("a closed connection prepares")
	}
	if n := must(t, open(t, p), "SELECT count(*) FROM t")[0][0]; n != int64(0) {
		t.Errorf("%v rows survived", n)
	}
}
