// Package d1 is D1: SQLite databases in the files of miniflare, which keeps each
// as the SQL storage of a Durable Object (miniflare: workers/d1/database.worker.ts).
package d1

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/disk"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/sqlstore"
)

// Options say where a database is. Files, Report and Points may be nil.
type Options struct {
	// Dir is v3/d1 of the persist directory.
	Dir string
	// ID is the database's id.
	ID      string
	Clock   clock.Clock
	Entropy entropy.Source
	Limits  sqlstore.LimitsProfile
	Sync    sqlite.Sync
	Files   *disk.Disk
	Report  func(error)
	// NoBookmarks leaves the file alone that bookmarks need: for a second process,
	// beside the one that keeps it.
	NoBookmarks bool
	// Points is called for each effect: open, commit.
	Points *killpoint.Points
}

// Database is one database. Safe for concurrent use; one call runs at a time.
// Close ends it.
type Database struct {
	opts Options

	mu    sync.Mutex      // guards store, and orders calls
	store *sqlstore.Store // nil until the first use
	size  int64           // of the database when it was last looked at, in bytes
}

// Open returns a database; nothing is opened or created before its first use.
func Open(o Options) *Database { return &Database{opts: o} }

// Close closes the file. A later call opens it again.
func (d *Database) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.store == nil {
		return nil
	}
	err := d.store.Close()
	d.store = nil
	return err
}

const class = "miniflare-D1DatabaseObject"

// Path is the path of the database's file.
func (d *Database) Path() string {
	return filepath.Join(d.opts.Dir, class, objectid.NewNamespace(class).FromName(d.opts.ID).String()+".sqlite")
}

func (d *Database) effect(what string, fn func() error) error {
	return d.opts.Points.Effect(killpoint.Store, "D1/"+d.opts.ID, what, fn)
}

func (d *Database) open() error {
	if d.store != nil {
		return nil
	}
	return d.effect("open", func() (err error) {
		if err := d.opts.Files.MkdirAll(filepath.Dir(d.Path()), 0o700); err != nil {
			return fmt.Errorf("d1: %w", err)
		}
		o := sqlstore.Options{Path: d.Path(), Clock: d.opts.Clock, Entropy: d.opts.Entropy, Sync: d.opts.Sync,
			Limits: d.opts.Limits, Disk: d.opts.Files, Warn: d.opts.Report}
		if !d.opts.NoBookmarks {
			o.HistoryBytes = sqlstore.DefaultHistoryBytes
		}
		d.store, err = sqlstore.Open(o)
		if err == nil {
			d.size, err = d.store.DatabaseSize()
		}
		return err
	})
}

// Query is one statement, or several of which the last has the parameters: nil,
// float64, string or []byte.
type Query struct {
	SQL    string
	Params []any
}

// Result is what a query gave. Immutable.
type Result struct {
	Columns []string
	Rows    [][]any // of nil, int64, float64, string and []byte
	Meta    Meta
}

// Meta is what a query did.
type Meta struct {
	DurationMS                                           float64
	Changes, LastRowID, SizeAfter, RowsRead, RowsWritten int64
	ChangedDB                                            bool
}

// errNone is what a call without statements gives.
var errNone = errors.New("No SQL statements detected.") //lint:ignore ST1005 the text is miniflare's

var comment = lazyregexp.New(`(?m)^\s*--.*`)

// Run runs queries in one transaction, which fails or commits as a whole. Without
// meta the results have none, which is quicker. It blocks on the disk.
func (d *Database) Run(queries []Query, meta bool) ([]Result, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var results []Result
	none := true
	if err := d.open(); err != nil {
		return nil, err
	}
	for _, q := range queries {
		if blank(q.SQL) {
			continue
		}
		none = false
		r, err := d.query(q, meta)
		if err != nil {
			return nil, errors.Join(err, d.store.Rollback())
		}
		results = append(results, r)
	}
	if none {
		return nil, errNone
	}
	return results, d.commit()
}

// commit makes what was written durable, or ends what was read.
func (d *Database) commit() error {
	if !d.store.Dirty() {
		return d.store.Commit()
	}
	return d.effect("commit", func() error {
		err := d.store.Commit()
		var failed *sqlstore.CommitError
		if errors.As(err, &failed) && failed.Err != nil {
			return failed.Err
		}
		return err
	})
}

// Bookmark names the state that was committed last.
func (d *Database) Bookmark() (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.open(); err != nil {
		return "", err
	}
	return d.store.CurrentBookmark()
}

// blank reports whether a text has nothing but comments of a line.
func blank(sql string) bool {
	if strings.Contains(sql, "--") {
		sql = comment.ReplaceAllString(sql, "")
	}
	return strings.TrimSpace(sql) == ""
}

func (d *Database) query(q Query, meta bool) (r Result, err error) {
	totalBefore, lastBefore := d.store.Changes()
	start := d.opts.Clock.Now()
	cursor, err := d.store.Exec(q.SQL, q.Params)
	if err != nil {
		return r, err
	}
	defer cursor.Close()
	r.Columns = cursor.ColumnNames()
	for {
		row, ok, err := cursor.Next()
		if err != nil {
			return r, err
		}
		if !ok {
			break
		}
		r.Rows = append(r.Rows, row)
	}
	if !meta {
		return r, nil
	}
	m := &r.Meta
	m.DurationMS = float64(d.opts.Clock.Now().Sub(start).Nanoseconds()) / 1e6
	total, last := d.store.Changes()
	m.Changes, m.LastRowID = total-totalBefore, last
	m.RowsRead, m.RowsWritten = cursor.RowsRead(), cursor.RowsWritten()
	if m.SizeAfter, err = d.store.DatabaseSize(); err != nil {
		return r, err
	}
	// What only read has changed nothing, though another process may have.
	m.ChangedDB = d.store.Dirty() && (m.Changes != 0 || last != lastBefore || m.SizeAfter != d.size)
	d.size = m.SizeAfter
	return r, nil
}
