package sqlite

import (
	"database/sql"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // the database/sql driver, for comparison
)

func benchConn(b *testing.B) *Conn {
	c := open(b, filepath.Join(b.TempDir(), "b.sqlite"))
	must(b, c, "PRAGMA journal_mode=WAL")
	must(b, c, "PRAGMA synchronous=NORMAL")
	must(b, c, "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b REAL)")
	return c
}

func prepare(b *testing.B, c *Conn, sql string) *Stmt {
	st, _, err := c.Prepare(sql, true)
	if err != nil {
		b.Fatal(err)
	}
	return st
}

func run(b *testing.B, st *Stmt, id int64) {
	if err := st.BindInt64(1, id); err != nil {
		b.Fatal(err)
	}
	if st.Params() > 1 {
		st.BindText(2, "some text of a usual length")
		st.BindFloat64(3, 1.5)
	}
	for {
		row, err := st.Step()
		if err != nil {
			b.Fatal(err)
		}
		if !row {
			break
		}
		_, _, _ = st.Column(0), st.Column(1), st.Column(2)
	}
	st.Reset()
	st.ClearBindings()
}

func BenchmarkAutocommitInsert(b *testing.B) {
	c := benchConn(b)
	st := prepare(b, c, "INSERT INTO t VALUES(?,?,?)")
	for i := 0; b.Loop(); i++ {
		run(b, st, int64(i))
	}
}

func BenchmarkBatchInsert(b *testing.B) {
	c := benchConn(b)
	st := prepare(b, c, "INSERT INTO t VALUES(?,?,?)")
	must(b, c, "BEGIN")
	for i := 0; b.Loop(); i++ {
		run(b, st, int64(i))
	}
	must(b, c, "COMMIT")
}

func BenchmarkPointSelect(b *testing.B) {
	c := benchConn(b)
	ins := prepare(b, c, "INSERT INTO t VALUES(?,?,?)")
	must(b, c, "BEGIN")
	for i := range 10_000 {
		run(b, ins, int64(i))
	}
	must(b, c, "COMMIT")
	st := prepare(b, c, "SELECT id, a, b FROM t WHERE id = ?")
	for i := 0; b.Loop(); i++ {
		run(b, st, int64(i%10_000))
	}
}

// BenchmarkPointSelectDatabaseSQL is what the same costs through database/sql
// with a prepared statement.
func BenchmarkPointSelectDatabaseSQL(b *testing.B) {
	db, err := sql.Open("sqlite", filepath.Join(b.TempDir(), "b.sqlite"))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range []string{"PRAGMA journal_mode=WAL", "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b REAL)", "INSERT INTO t WITH RECURSIVE c(x) AS (SELECT 0 UNION ALL SELECT x+1 FROM c WHERE x<9999) SELECT x,'some text of a usual length',1.5 FROM c"} {
		if _, err := db.Exec(s); err != nil {
			b.Fatal(err)
		}
	}
	st, err := db.Prepare("SELECT id, a, b FROM t WHERE id = ?")
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		var id int64
		var a string
		var f float64
		if err := st.QueryRow(i%10_000).Scan(&id, &a, &f); err != nil {
			b.Fatal(err)
		}
	}
}
