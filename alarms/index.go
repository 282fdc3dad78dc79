package alarms

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"minido.dev/minido/internal/disk"
	"minido.dev/minido/internal/sqlite"
)

// IndexFile is the index's name in a namespace's folder, as the reference has it.
const IndexFile = "metadata.sqlite"

// record is one row of the index.
type record struct {
	id   string // 64 hexadecimal digits
	name string // "" if unknown
	atNs int64  // nanoseconds since the epoch
}

// index is the table _cf_ALARM of one namespace, in workerd's layout
// (src/workerd/server/alarm-scheduler.c++). Its file comes with the namespace's
// first object: many have none. Confined to whoever holds the scheduler's lock.
type index struct {
	indexOptions
	path        string
	conn        *sqlite.Conn // nil while there is no file
	set, delete *sqlite.Stmt
	found       bool        // it was there before
	info        os.FileInfo // of the open file
}

type indexOptions struct {
	dir  string
	sync sqlite.Sync
	now  func() time.Time
	rand io.Reader
	disk *disk.Disk
	// create runs what makes a new file appear, because of cause.
	create func(cause string, fn func() error) error
}

// openIndex opens the index in o.dir, which it makes, if there is one.
func openIndex(o indexOptions) (*index, error) {
	x := &index{indexOptions: o, path: filepath.Join(o.dir, IndexFile)}
	info, err := os.Stat(x.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if err := o.disk.MkdirAll(o.dir, 0o700); err != nil {
			return nil, fmt.Errorf("alarms: open: %w", err)
		}
		return x, nil
	case err != nil:
		return nil, fmt.Errorf("alarms: open: %w", err)
	}
	x.found = true
	if info.Size() == 0 {
		return nil, &DamageError{x.path, errors.New("it is empty")}
	}
	if err := x.open(); err != nil {
		return nil, err
	}
	return x, nil
}

// open opens or creates the file.
func (x *index) open() error {
	if err := x.connect(); err != nil {
		return errors.Join(fmt.Errorf("alarms: open %s: %w", x.path, err), x.close((*sqlite.Conn).Close))
	}
	return nil
}

func (x *index) connect() error {
	o := sqlite.Options{Path: x.path, Now: x.now, Rand: x.rand}
	if x.disk != nil {
		o.Files = x.disk
	}
	conn, err := sqlite.Open(o)
	if err != nil {
		return err
	}
	x.conn = conn
	if err := conn.Exec("PRAGMA synchronous=" + x.sync.String() + "; PRAGMA journal_mode=WAL"); err != nil {
		return x.damaged(err)
	}
	if x.found {
		if err := x.check(); err != nil {
			return err
		}
	}
	if x.info, err = os.Stat(x.path); err != nil {
		return err
	}
	err = conn.Exec(`CREATE TABLE IF NOT EXISTS _cf_ALARM (
      actor_id TEXT PRIMARY KEY,
      scheduled_time INTEGER,
      actor_name TEXT
    ) WITHOUT ROWID`)
	if err != nil {
		return err
	}
	if x.found {
		if err := x.addNameColumn(); err != nil {
			return err
		}
	}
	if x.set, err = x.prepare(`INSERT INTO _cf_ALARM (actor_id, scheduled_time, actor_name) VALUES (?, ?, ?)
		ON CONFLICT DO UPDATE SET scheduled_time = excluded.scheduled_time,
			actor_name = coalesce(excluded.actor_name, actor_name)`); err != nil {
		return err
	}
	x.delete, err = x.prepare(`DELETE FROM _cf_ALARM WHERE actor_id = ?`)
	return err
}

func (x *index) prepare(sql string) (*sqlite.Stmt, error) {
	st, _, err := x.conn.Prepare(sql, true)
	return st, err
}

// addNameColumn upgrades an index that an older workerd wrote.
func (x *index) addNameColumn() error {
	found := false
	err := x.each(`PRAGMA table_info(_cf_ALARM)`, func(st *sqlite.Stmt) error {
		found = found || st.ColumnText(1) == "actor_name"
		return nil
	})
	if err != nil || found {
		return err
	}
	return x.conn.Exec(`ALTER TABLE _cf_ALARM ADD COLUMN actor_name TEXT`)
}

// each runs a query and calls f for each row.
func (x *index) each(sql string, f func(*sqlite.Stmt) error) error {
	st, err := x.prepare(sql)
	if err != nil {
		return err
	}
	defer st.Finalize()
	for {
		row, err := st.Step()
		if err != nil || !row {
			return err
		}
		if err := f(st); err != nil {
			return err
		}
	}
}

// load reads all rows, in the order of their ids.
func (x *index) load() ([]record, error) {
	if x.conn == nil {
		return nil, nil
	}
	var rows []record
	err := x.each(`SELECT actor_id, scheduled_time, actor_name FROM _cf_ALARM ORDER BY actor_id`, func(st *sqlite.Stmt) error {
		if st.ColumnType(0) != sqlite.Text || st.ColumnType(1) != sqlite.Integer {
			return &DamageError{x.path, fmt.Errorf("the row of actor_id %q has no integer scheduled_time", st.ColumnText(0))}
		}
		r := record{id: strings.ToLower(st.ColumnText(0)), atNs: st.ColumnInt64(1)}
		if st.ColumnType(2) == sqlite.Text {
			r.name = st.ColumnText(2)
		}
		rows = append(rows, r)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("alarms: load %s: %w", x.path, err)
	}
	return rows, nil
}

// exist makes the file, if there is none.
func (x *index) exist(cause string) error {
	if x.conn != nil {
		return nil
	}
	return x.create(cause, x.open)
}

// put stores one row durably. An unknown name keeps the one that is stored. The
// file must exist.
func (x *index) put(r record) error {
	err := errors.Join(x.set.BindText(1, r.id), x.set.BindInt64(2, r.atNs), x.bindName(r.name))
	return x.run(x.set, err)
}

func (x *index) bindName(name string) error {
	if name == "" {
		return x.set.BindNull(3)
	}
	return x.set.BindText(3, name)
}

// remove deletes one row durably, if there is one.
func (x *index) remove(id string) error {
	if x.conn == nil {
		return nil
	}
	return x.run(x.delete, x.delete.BindText(1, id))
}

func (x *index) run(st *sqlite.Stmt, err error) error {
	if err == nil {
		_, err = st.Step()
	}
	if err == nil {
		err = x.stillThere()
	}
	st.Reset()
	st.ClearBindings()
	if err != nil {
		return fmt.Errorf("alarms: write %s: %w", x.path, err)
	}
	return nil
}

// conclude seals the rows, so that the next opening can tell whether they are
// still the same, and closes the index.
func (x *index) conclude() error {
	if x.conn == nil {
		return nil
	}
	rows, err := x.load()
	if err == nil {
		err = x.seal(sumOf(rows))
	}
	return errors.Join(err, x.close((*sqlite.Conn).Close))
}

// close ends the connection as end does. It is idempotent.
func (x *index) close(end func(*sqlite.Conn) error) error {
	if x.conn == nil {
		return nil
	}
	for _, st := range []*sqlite.Stmt{x.set, x.delete} {
		if st != nil {
			st.Finalize()
		}
	}
	conn := x.conn
	x.conn, x.set, x.delete = nil, nil, nil
	if err := end(conn); err != nil {
		return fmt.Errorf("alarms: close %s: %w", x.path, err)
	}
	return nil
}

// toNs converts milliseconds since the epoch, saturating: JavaScript's dates
// reach further than 64 bits of nanoseconds do (year 2262).
func toNs(ms int64) int64 {
	const unit = int64(time.Millisecond)
	if ms > math.MaxInt64/unit {
		return math.MaxInt64
	}
	if ms < math.MinInt64/unit {
		return math.MinInt64
	}
	return ms * unit
}
