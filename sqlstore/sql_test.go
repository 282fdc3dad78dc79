package sqlstore

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// The texts that user code meets, as probed on workerd 1.20261117.
func TestErrorTexts(t *testing.T) {
	s := open(t)
	put(t, s, "k", "v")
	must(t, s, "CREATE TABLE u(a UNIQUE, b NOT NULL CHECK(b > 0)); CREATE TABLE p(id PRIMARY KEY); CREATE TABLE c(pid REFERENCES p(id)); CREATE TABLE st(a INTEGER) STRICT")
	must(t, s, "INSERT INTO u VALUES(1, 1); INSERT INTO p VALUES(1)")
	const auth = "not authorized: SQLITE_AUTH"
	for _, x := range []struct{ sql, want string }{
		{"INSERT INTO u VALUES(1, 1)", "UNIQUE constraint failed: u.a: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_UNIQUE)"},
		{"INSERT INTO u VALUES(2, NULL)", "NOT NULL constraint failed: u.b: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_NOTNULL)"},
		{"INSERT INTO u VALUES(2, -1)", "CHECK constraint failed: b > 0: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_CHECK)"},
		{"INSERT INTO p VALUES(1)", "UNIQUE constraint failed: p.id: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_PRIMARYKEY)"},
		{"INSERT INTO c VALUES(9)", "FOREIGN KEY constraint failed: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_FOREIGNKEY)"},
		{"INSERT INTO st VALUES('x')", "cannot store TEXT value in INTEGER column st.a: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_DATATYPE)"},
		{"SELECT nope FROM p", "no such column: nope at offset 7: SQLITE_ERROR"},
		{"SELECT * FROM nosuch", "no such table: nosuch: SQLITE_ERROR"},
		{"selec", `near "selec": syntax error at offset 0: SQLITE_ERROR`},
		{"SELECT sqlite_version()", "not authorized to use function: sqlite_version at offset 7: SQLITE_ERROR"},
		{"SELECT soundex('x')", "no such function: soundex at offset 7: SQLITE_ERROR"},
		{"SELECT nosuch(1)", "no such function: nosuch at offset 7: SQLITE_ERROR"},
		{"SELECT json('x')", "malformed JSON: SQLITE_ERROR"},
		{"SELECT abs(-9223372036854775808)", "integer overflow: SQLITE_ERROR"},
		{"SELECT load_extension('x')", "not authorized: SQLITE_ERROR"},
		{"BEGIN", transactionHint}, {"COMMIT", transactionHint}, {"END", transactionHint}, {"ROLLBACK", transactionHint},
		{"SAVEPOINT x", transactionHint}, {"RELEASE x", transactionHint}, {"EXPLAIN BEGIN", transactionHint},
		{"ATTACH ':memory:' AS y", auth}, {"DETACH y", auth},
		{"SELECT * FROM _cf_KV", "access to _cf_KV.key is prohibited: SQLITE_AUTH"},
		{"SELECT * FROM _CF_kv", "access to _cf_KV.key is prohibited: SQLITE_AUTH"},
		{"INSERT INTO _cf_KV VALUES('x', 1)", auth}, {"DROP TABLE _cf_KV", auth}, {"CREATE TABLE _cf_foo(x)", auth},
		{"CREATE TABLE _CF_foo(x)", auth}, {"ALTER TABLE u RENAME TO _cf_u", auth}, {"alter table u rename/* */to\n[_CF_u]", auth}, {"CREATE INDEX i ON _cf_KV(value)", auth},
		{"CREATE VIEW _cf_v AS SELECT 1", auth}, {"CREATE INDEX _cf_i ON u(a)", auth},
		{"CREATE TRIGGER tr AFTER INSERT ON _cf_KV BEGIN SELECT 1; END", auth},
		{"CREATE TEMP TABLE t(x)", auth}, {"CREATE TEMP VIEW v AS SELECT 1", auth},
		{"CREATE VIRTUAL TABLE x USING dbstat", auth}, {"CREATE VIRTUAL TABLE _cf_f USING fts5(a)", auth},
		{"SELECT * FROM pragma_table_info('_cf_KV')", auth},
		{"VACUUM", "cannot VACUUM from within a transaction: SQLITE_ERROR"},
		{"DELETE FROM sqlite_master", "table sqlite_master may not be modified: SQLITE_ERROR"},
		{"", "SQL code did not contain a statement."}, {"-- c", "SQL code did not contain a statement."},
		{"SELECT 1; -- c", "SQL code did not contain a statement."}, {"SELECT 1;;", "SQL code did not contain a statement."},
		{"SELECT ?; SELECT 2", "When executing multiple SQL statements in a single call, only the last statement can have parameters."},
		{"SELECT 1; SELECT ?", "Wrong number of parameter bindings for SQL query."},
		{"SELECT :a", "Wrong number of parameter bindings for SQL query."},
	} {
		_, err := all(s, x.sql)
		if err == nil || err.Error() != x.want {
			t.Errorf("%s:\n got %v\nwant %s", x.sql, err, x.want)
		}
	}
	for _, sql := range []string{"SELECT 1;", "SELECT 1; ", "/* c */ SELECT 1", "SELECT 1 -- c", "SELECT 1; SELECT 2",
		"CREATE VIEW v AS SELECT * FROM _cf_KV", "CREATE TABLE a1(_cf_col)", "SELECT 1 AS _cf_x",
		"CREATE VIRTUAL TABLE f USING fts5(x)", "CREATE VIRTUAL TABLE fv USING fts5vocab(f, row)", "CREATE VIRTUAL TABLE r USING rtree(a, b, c)",
		"ANALYZE", "REINDEX", "SELECT count(*) FROM sqlite_stat1", "EXPLAIN QUERY PLAN SELECT 1", "SELECT * FROM sqlite_temp_master"} {
		if _, err := all(s, sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if _, err := all(s, "SELECT * FROM v"); err == nil || err.Error() != "access to _cf_KV.key is prohibited: SQLITE_AUTH" {
		t.Errorf("through a view: %v", err)
	}
}

// PRAGMAs: which are allowed, with which arguments.
func TestPragmas(t *testing.T) {
	s := open(t)
	must(t, s, "CREATE TABLE a1(x)")
	for sql, ok := range map[string]bool{
		"foreign_keys": true, "foreign_keys=0": true, "FOREIGN_KEYS='on'": true, "foreign_keys=trueish": true, "foreign_keys(0)": true,
		"foreign_keys=2": false, "foreign_keys=banana": false, "defer_foreign_keys=on": true, "case_sensitive_like=1": true,
		"recursive_triggers": true, "legacy_alter_table=1": true, "ignore_check_constraints=1": true, "reverse_unordered_selects=1": true,
		"page_size": true, "page_size=1024": false, "main.page_size": true, "data_version": true, "data_version=3": false,
		"table_list": true, "table_list(a1)": true, "table_info(a1)": true, "table_info(_cf_KV)": false, "table_info('_CF_KV')": false,
		"table_info": false, "table_xinfo(a1)": true, "index_list(a1)": true, "index_list": false, "index_info(nope)": true,
		"foreign_key_check": true, "foreign_key_check(a1)": true, "foreign_key_list(a1)": true, "quick_check": true,
		"quick_check(3)": true, "quick_check(_cf_KV)": false, "optimize": true, "optimize(1)": true, "optimize(abc)": false,
		"user_version": false, "user_version=3": false, "journal_mode": false, "synchronous": false, "cache_size": false, "page_count": false,
		"integrity_check": false, "max_page_count": false, "compile_options": false, "function_list": false, "wal_checkpoint": false,
		"trusted_schema": false, "database_list": false, "schema_version": false, "encoding": false, "nosuch": false, "writable_schema=1": false,
	} {
		_, err := all(s, "PRAGMA "+sql)
		if ok != (err == nil) || (err != nil && err.Error() != "not authorized: SQLITE_AUTH") {
			t.Errorf("PRAGMA %s: %v", sql, err)
		}
	}
}

// Foreign keys are enforced from the start.
func TestForeignKeysAreOn(t *testing.T) {
	if r := must(t, open(t), "PRAGMA foreign_keys"); r[0][0] != int64(1) {
		t.Error(r)
	}
}

// Each limit, at it and one past it, in both profiles where they differ.
func TestLimits(t *testing.T) {
	prod := open(t)
	lo := options("")
	lo.Limits = Local
	local := openWith(t, lo)
	rep := func(n int, x string) string { return strings.TrimSuffix(strings.Repeat(x+",", n), ",") }
	compound := func(n int) string {
		return strings.TrimSuffix(strings.Repeat("SELECT 1 UNION ", n), " UNION ")
	}
	const tooBig = "string or blob too big: SQLITE_TOOBIG"
	for _, x := range []struct {
		s       *Store
		ok, bad string
		want    string
	}{
		{prod, "SELECT " + rep(100, "1"), "SELECT " + rep(101, "1"), "too many columns in result set: SQLITE_ERROR"},
		{prod, "CREATE TABLE t1(" + cols(100) + ")", "CREATE TABLE t2(" + cols(101) + ")", "too many columns on t2: SQLITE_ERROR"},
		{prod, "SELECT 'a' LIKE '" + strings.Repeat("a", 50) + "'", "SELECT 'a' LIKE '" + strings.Repeat("a", 51) + "'", "LIKE or GLOB pattern too complex: SQLITE_ERROR"},
		{prod, compound(5), compound(6), "too many terms in compound SELECT: SQLITE_ERROR"},
		{prod, "SELECT max(" + rep(32, "1") + ")", "SELECT max(" + rep(33, "1") + ")", "too many arguments on function max at offset 7: SQLITE_ERROR"},
		{local, "SELECT max(" + rep(127, "1") + ")", "SELECT max(" + rep(128, "1") + ")", "too many arguments on function max at offset 7: SQLITE_ERROR"},
		{prod, "SELECT 1" + strings.Repeat(" ", 99_992), "SELECT 1" + strings.Repeat(" ", 99_993), "statement too long: SQLITE_TOOBIG"},
		{prod, "SELECT length(zeroblob(2097152))", "SELECT length(zeroblob(2097153))", tooBig},
		{local, "SELECT length(zeroblob(8388642))", "SELECT length(zeroblob(8388643))", tooBig},
		{prod, "SELECT " + strings.Repeat("1+", 99) + "1", "SELECT " + strings.Repeat("1+", 100) + "1", "Expression tree is too large (maximum depth 100): SQLITE_ERROR"},
	} {
		if _, err := all(x.s, x.ok); err != nil {
			t.Errorf("%.60s: %v", x.ok, err)
		}
		if _, err := all(x.s, x.bad); err == nil || err.Error() != x.want {
			t.Errorf("%.60s: %v", x.bad, err)
		}
	}
	args := make([]any, 101)
	if _, err := all(prod, "SELECT ?100", args[:100]...); err != nil {
		t.Error(err)
	}
	if _, err := all(prod, "SELECT ?101", args...); err == nil || err.Error() != "variable number must be between ?1 and ?100 at offset 7: SQLITE_ERROR" {
		t.Error(err)
	}
	if err := prod.Put("k", make([]byte, 2<<20)); err == nil || err.Error() != tooBig {
		t.Errorf("a row past the limit: %v", err)
	}
	if err := prod.Put("k", make([]byte, 2<<20-100)); err != nil {
		t.Error(err)
	}
}

func cols(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ",c%d", i)
	}
	return b.String()[1:]
}

// Arguments arrive with their types; a cursor names all columns.
func TestArgumentsAndColumns(t *testing.T) {
	s := open(t)
	c, err := s.Exec("SELECT ? AS a, ? AS a, ? AS b, ?, ?, typeof(?2)", []any{nil, 1.0, "x", []byte{1}, int64(7)})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.ColumnNames(); !reflect.DeepEqual(got, []string{"a", "a", "b", "?", "?", "typeof(?2)"}) {
		t.Errorf("%q", got)
	}
	r, err := drain(c)
	if want := [][]any{{nil, 1.0, "x", []byte{1}, int64(7), "real"}}; err != nil || !reflect.DeepEqual(r, want) {
		t.Errorf("%v %v", r, err)
	}
	if c, err := s.Exec("CREATE TABLE t(a)", nil); err != nil || len(c.ColumnNames()) != 0 {
		t.Error(c, err)
	}
	if _, err := s.Exec("SELECT ?", []any{true}); err == nil {
		t.Error("bound a bool")
	}
}

// Several statements: all run, the last gives the rows, an error keeps what ran.
func TestSeveralStatements(t *testing.T) {
	s := open(t)
	r := must(t, s, "CREATE TABLE t(a); INSERT INTO t VALUES(1),(2) RETURNING a; SELECT a FROM t WHERE a > ?", 1.0)
	if !reflect.DeepEqual(r, [][]any{{int64(2)}}) {
		t.Error(r)
	}
	if _, err := all(s, "INSERT INTO t VALUES(3); INSERT INTO nosuch VALUES(1); INSERT INTO t VALUES(4)"); err == nil {
		t.Error("no error")
	}
	if r := must(t, s, "SELECT max(a) FROM t"); r[0][0] != int64(3) {
		t.Error(r)
	}
	commit(t, s)
}

// What a cursor sees, step by step as workerd shows it.
func TestLiveCursors(t *testing.T) {
	s := open(t)
	must(t, s, "CREATE TABLE t(id INTEGER PRIMARY KEY, a)")
	must(t, s, "INSERT INTO t(a) VALUES(1),(2),(3)")
	const q = "SELECT a FROM t ORDER BY id"
	next := func(c *Cursor) any {
		t.Helper()
		row, ok, err := c.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return nil
		}
		return row[0]
	}
	expect := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	c, _ := s.Exec(q, nil)
	expect("first", next(c), int64(1))
	must(t, s, "INSERT INTO t(a) VALUES(100)")
	d, _ := s.Exec(q, nil)
	expect("a second cursor of the same text starts anew", next(d), int64(1))
	commit(t, s)
	must(t, s, "DELETE FROM t WHERE a IN (2, 3)")
	expect("the row already fetched", next(c), int64(2))
	expect("a deleted row is skipped, an inserted one seen", next(c), int64(100))
	expect("end", next(c), nil)
	expect("end again", next(c), nil)
	if _, err := all(s, "DROP TABLE t"); err == nil || err.Error() != "database table is locked: SQLITE_LOCKED" {
		t.Errorf("dropped under a cursor: %v", err)
	}
	d.Close()
	must(t, s, "ALTER TABLE t ADD COLUMN z")
	must(t, s, "DROP TABLE t")
	commit(t, s)
}

// A rollback aborts cursors over what it undoes.
func TestCursorAcrossRollback(t *testing.T) {
	s := open(t)
	must(t, s, "CREATE TABLE t(a)")
	must(t, s, "INSERT INTO t VALUES(1),(2),(3)")
	sp, err := s.Savepoint()
	if err != nil {
		t.Fatal(err)
	}
	must(t, s, "INSERT INTO t VALUES(4)")
	c, err := s.Exec("SELECT a FROM t", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Next(); err != nil {
		t.Fatal(err)
	}
	if err := sp.Rollback(); err != nil {
		t.Fatal(err)
	}
	_, err = drain(c)
	if err == nil || err.Error() != "abort due to ROLLBACK: SQLITE_ABORT (extended: SQLITE_ABORT_ROLLBACK)" {
		t.Errorf("%v", err)
	}
	commit(t, s)
}

// A cursor over INSERT ... RETURNING that is not read to its end fails the
// commit, as in workerd; read to its end, closed or abandoned it does not.
func TestUnreadReturning(t *testing.T) {
	s := open(t)
	must(t, s, "CREATE TABLE t(a)")
	commit(t, s)
	const ins = "INSERT INTO t VALUES(1),(2) RETURNING a"
	if _, err := s.Exec(ins, nil); err != nil {
		t.Fatal(err)
	}
	err := s.Commit()
	if err == nil || !strings.HasPrefix(err.Error(), "cannot commit transaction - SQL statements in progress: SQLITE_BUSY (a cursor") {
		t.Fatalf("%v", err)
	}
	if r := must(t, s, "SELECT count(*) FROM t"); r[0][0] != int64(0) {
		t.Error(r)
	}
	for i, end := range []func(*Cursor){
		func(c *Cursor) { _, _ = drain(c) },
		(*Cursor).Close,
		func(c *Cursor) {
			done := make(chan struct{})
			go func() { c.Abandon(); close(done) }()
			<-done
		},
	} {
		c, err := s.Exec(ins, nil)
		if err != nil {
			t.Fatal(err)
		}
		end(c)
		commit(t, s)
		if r := must(t, s, "SELECT count(*) FROM t"); r[0][0] != int64(2*(i+1)) {
			t.Error(i, r)
		}
	}
}

// Rows read and written, for the statements where they equal workerd's.
func TestRowCounts(t *testing.T) {
	s := open(t)
	for _, x := range []struct {
		sql           string
		read, written int64
	}{
		{"CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)", -1, 2},
		{"INSERT INTO t(a,b) VALUES(1,1)", 0, 1},
		{"INSERT INTO t(a,b) VALUES(2,1),(3,2),(4,2)", 0, 3},
		{"SELECT * FROM t", 4, 0},
		{"SELECT * FROM t WHERE id=2", 1, 0},
		{"SELECT * FROM t WHERE id=99", 1, 0},
		{"SELECT * FROM t WHERE a=3", 4, 0},
		{"SELECT * FROM t LIMIT 2", 2, 0},
		{"SELECT max(id) FROM t", 1, 0},
		{"SELECT 1", 0, 0},
		{"SELECT * FROM t ORDER BY b+1", 8, 0},
		{"CREATE INDEX ti ON t(a)", -1, -1},
		{"SELECT * FROM t WHERE a=3", 2, 0},
		{"INSERT INTO t(a,b) VALUES(5,5)", 0, 2},
		{"UPDATE t SET b=9 WHERE id=1", 1, 1},
		{"UPDATE t SET a=9 WHERE id=1", 1, 2},
		{"UPDATE t SET a=9 WHERE id=100", 1, 0},
		{"DELETE FROM t WHERE id=1", 1, 1},
		{"SELECT * FROM t x JOIN t y ON x.id=y.id", 8, 0},
		{"INSERT INTO t(a) VALUES(77) RETURNING id", -1, 2},
		{"CREATE TABLE w(a PRIMARY KEY, b) WITHOUT ROWID", -1, -1},
		{"INSERT INTO w VALUES(1,2),(2,3)", 0, 2},
		{"INSERT OR REPLACE INTO w VALUES(1,5)", -1, 1},
		{"CREATE VIRTUAL TABLE f USING fts5(a)", -1, -1},
		{"INSERT INTO f VALUES('hello world')", -1, 1},
		{"DELETE FROM w", 0, 2},
	} {
		c, err := s.Exec(x.sql, nil)
		if err != nil {
			t.Fatal(x.sql, err)
		}
		if _, err := drain(c); err != nil {
			t.Fatal(x.sql, err)
		}
		if got := c.RowsRead(); got != x.read && x.read >= 0 {
			t.Errorf("%s: read %d, want %d", x.sql, got, x.read)
		}
		if got := c.RowsWritten(); got != x.written && x.written >= 0 {
			t.Errorf("%s: wrote %d, want %d", x.sql, got, x.written)
		}
	}
	c, err := s.Exec("SELECT * FROM t", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.RowsRead(); got != 1 {
		t.Errorf("before the first row was taken: %d", got)
	}
}

// The statement cache stays within its bounds and keeps giving right answers.
func TestStatementCache(t *testing.T) {
	s := open(t)
	for i := range 500 {
		sql := fmt.Sprintf("SELECT %d + ?", i)
		for range 2 {
			if r := must(t, s, sql, 1.0); r[0][0] != float64(i+1) {
				t.Fatal(r)
			}
		}
	}
	must(t, s, "SELECT '"+strings.Repeat("x", 90_000)+"'")
	if n := len(s.cache.idle); n > maxCached {
		t.Errorf("%d statements cached", n)
	}
	if s.cache.bytes > maxCachedBytes {
		t.Errorf("%d bytes cached", s.cache.bytes)
	}
	// A cached statement is compiled anew, under user code's rules, when the
	// schema changes under it.
	must(t, s, "CREATE TABLE a(x)")
	must(t, s, "CREATE VIEW v AS SELECT x FROM a")
	must(t, s, "SELECT * FROM v")
	put(t, s, "k", "v")
	must(t, s, "DROP VIEW v")
	must(t, s, "CREATE VIEW v AS SELECT key FROM _cf_KV")
	if _, err := all(s, "SELECT * FROM v"); err == nil || err.Error() != "access to _cf_KV.key is prohibited: SQLITE_AUTH" {
		t.Errorf("%v", err)
	}
}

// The size counts pages in use.
func TestDatabaseSize(t *testing.T) {
	s := open(t)
	must(t, s, "CREATE TABLE t(a)")
	n, err := s.DatabaseSize()
	if err != nil || n != 8192 {
		t.Error(n, err)
	}
	must(t, s, "INSERT INTO t VALUES(zeroblob(100000))")
	if n, _ = s.DatabaseSize(); n < 100_000 {
		t.Error(n)
	}
	must(t, s, "DELETE FROM t")
	if n, _ = s.DatabaseSize(); n != 8192 {
		t.Error(n)
	}
}

// A PRAGMA that has no effect inside a transaction works after a read, but not
// after a write, of the same turn; as in workerd.
func TestPragmaAfterRead(t *testing.T) {
	s := open(t)
	get(t, s, "k")
	must(t, s, "SELECT 1")
	must(t, s, "PRAGMA foreign_keys=0")
	if r := must(t, s, "PRAGMA foreign_keys"); r[0][0] != int64(0) {
		t.Error("ignored after a read")
	}
	put(t, s, "k", "v")
	must(t, s, "PRAGMA foreign_keys=1")
	if r := must(t, s, "PRAGMA foreign_keys"); r[0][0] != int64(0) {
		t.Error("took effect inside the transaction")
	}
	commit(t, s)
}

// A turn that only read lets go of its snapshot at Commit, also under a live
// cursor, and its Rollback spares the cursor.
func TestReadOnlyTurn(t *testing.T) {
	s := open(t)
	must(t, s, "CREATE TABLE t(a)")
	must(t, s, "INSERT INTO t VALUES(1),(2),(3)")
	commit(t, s)
	c, err := s.Exec("SELECT a FROM t", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range []func() error{s.Commit, s.Rollback} {
		if _, _, err := c.Next(); err != nil {
			t.Fatal(err)
		}
		get(t, s, "k")
		if s.Dirty() {
			t.Error("reads made the store dirty")
		}
		if err := end(); err != nil || s.txn.open {
			t.Error(err, "or the transaction is still open")
		}
	}
	if row, ok, err := c.Next(); err != nil || !ok || row[0] != int64(3) {
		t.Error(row, ok, err)
	}
}
