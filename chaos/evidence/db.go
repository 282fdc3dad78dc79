package evidence

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/sqlstore"
)

// DB is a private copy of a database, open for reading. Confined to one
// goroutine at a time. Close deletes the copy.
type DB struct {
	// File is the name of what was copied, without its folder.
	File string

	dir     string
	conn    *sqlite.Conn
	changed bool
	schema  []Row // its tables and views, once they have been read
}

// Row is one row: column names to nil, int64, float64, string or []byte.
type Row map[string]any

// Text is the column as text, "" if it is NULL or no text.
func (r Row) Text(column string) string {
	s, _ := r[column].(string)
	return s
}

// Int is the column as an integer, whether SQLite stored it as one or as the
// float that JavaScript binds; 0 if it is neither.
func (r Row) Int(column string) int64 {
	switch v := r[column].(type) {
	case int64:
		return v
	case float64:
		return int64(v)
	}
	return 0
}

// Open copies the database at path, which a server may be writing (see Copy),
// and opens the copy.
func Open(path string) (*DB, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("evidence: open: %w", err)
	}
	size := info.Size()
	if log, err := os.Stat(path + "-wal"); err == nil {
		size += log.Size()
	}
	dir, err := os.MkdirTemp(InMemory(size), "minido-evidence-")
	if err != nil {
		return nil, fmt.Errorf("evidence: open: %w", err)
	}
	db := &DB{File: filepath.Base(path), dir: dir}
	private := filepath.Join(dir, "copy")
	if err := Copy(path, private); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	unborn, err := sqlstore.Unborn(private)
	if err == nil && unborn {
		err = os.Truncate(private, 0) // as the next server does
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	db.conn, err = sqlite.Open(sqlite.Options{Path: private, MustExist: true, Now: clock.Real{}.Now, Rand: entropy.System{}})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("evidence: open %s: %w", path, err), db.Close())
	}
	// The copy is this process's alone: it needs no locks, and no file that is shared for them.
	if err := errors.Join(db.conn.LeaveLog(), db.conn.Exec("PRAGMA locking_mode = EXCLUSIVE")); err != nil {
		return nil, errors.Join(fmt.Errorf("evidence: open %s: %w", path, err), db.Close())
	}
	return db, nil
}

// Changed reports whether a statement that was run may have changed the copy.
func (db *DB) Changed() bool { return db.changed }

// OpenAll opens each database of a list. Call CloseAll with what it returns, also beside
// an error.
func OpenAll(paths []string) (dbs []*DB, err error) {
	for _, path := range paths {
		db, err := Open(path)
		if err != nil {
			return dbs, err
		}
		dbs = append(dbs, db)
	}
	return dbs, nil
}

// CloseAll closes all of them.
func CloseAll(dbs []*DB) (err error) {
	for _, db := range dbs {
		err = errors.Join(err, db.Close())
	}
	return err
}

// Close closes and deletes the copy.
func (db *DB) Close() error {
	var err error
	if db.conn != nil {
		err = db.conn.Close()
		db.conn = nil
	}
	return errors.Join(err, os.RemoveAll(db.dir))
}

// Query runs one statement and returns all its rows.
func (db *DB) Query(sql string, args ...any) (rows []Row, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("evidence: query %q: %w", sql, err)
		}
	}()
	st, _, err := db.conn.Prepare(sql, false)
	if err != nil {
		return nil, err
	}
	defer st.Finalize()
	db.changed = db.changed || !st.ReadOnly()
	for i, arg := range args {
		if err := st.Bind(i+1, arg); err != nil {
			return nil, err
		}
	}
	for {
		more, err := st.Step()
		if err != nil || !more {
			return rows, err
		}
		row := Row{}
		for i, name := range st.ColumnNames() {
			row[name] = st.Column(i)
		}
		rows = append(rows, row)
	}
}

// relations are the tables and views of the copy by name. They are read once, unless a statement
// may have changed them.
func (db *DB) relations() ([]Row, error) {
	if db.schema != nil && !db.changed {
		return db.schema, nil
	}
	rows, err := db.Query("SELECT type, name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name")
	if err != nil {
		return nil, err
	}
	db.schema = append([]Row{}, rows...) // not nil
	return rows, nil
}

// Tables lists the user's tables by name.
func (db *DB) Tables() ([]string, error) {
	rows, err := db.relations()
	var names []string
	for _, r := range rows {
		if r.Text("type") == "table" {
			names = append(names, r.Text("name"))
		}
	}
	return names, err
}

// Has reports whether there is a table or view of that name.
func (db *DB) Has(name string) (bool, error) {
	rows, err := db.relations()
	return slices.ContainsFunc(rows, func(r Row) bool { return strings.EqualFold(r.Text("name"), name) }), err
}

// Columns lists the columns of a table or view, empty if there is none of that name.
func (db *DB) Columns(table string) (map[string]bool, error) {
	names := map[string]bool{}
	if has, err := db.Has(table); err != nil || !has { // asking SQLite takes longer
		return names, err
	}
	rows, err := db.Query("SELECT name FROM pragma_table_info(?)", table)
	for _, r := range rows {
		names[r.Text("name")] = true
	}
	return names, err
}

// Alarm is the object's alarm as its own file has it; ok is false if none is set.
func (db *DB) Alarm() (at time.Time, ok bool, err error) {
	if has, err := db.Has("_cf_METADATA"); err != nil || !has {
		return time.Time{}, false, err
	}
	rows, err := db.Query("SELECT value FROM _cf_METADATA WHERE key = 1 AND value IS NOT NULL")
	if err != nil || len(rows) == 0 {
		return time.Time{}, false, err
	}
	return time.Unix(0, rows[0].Int("value")), true, nil
}

// Check has SQLite check the whole copy; the error names what is damaged.
func (db *DB) Check() error {
	rows, err := db.Query("PRAGMA integrity_check")
	if err != nil {
		return err
	}
	var found []string
	for _, r := range rows {
		if text := r.Text("integrity_check"); text != "ok" {
			found = append(found, text)
		}
	}
	if len(found) > 0 {
		return fmt.Errorf("evidence: the database is damaged: %s", strings.Join(found, "; "))
	}
	return nil
}

// QuoteName makes any text an SQL identifier.
func QuoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
