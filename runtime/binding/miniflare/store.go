// Package miniflare keeps what bindings store in miniflare's files, so that
// "wrangler dev" and minido go on where the other stopped. A store is one of
// miniflare's objects: a SQLite database, <class>/<id of the name>.sqlite, and,
// where it has values of any size, a file for each below <name>/blobs (miniflare:
// workers/shared/object.worker.ts, blob.worker.ts).
package miniflare

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/internal/sqlite"
)

// Options say where a store is. All but Blobs, Schema, Table and Points are
// required.
type Options struct {
	// Dir is v3/<plugin> of the persist directory.
	Dir string
	// Product is the first word of error texts ("r2"), and in capitals of the
	// labels of effect points.
	Product string
	// Noun is what the store is to its users: "bucket", "namespace".
	Noun string
	// Class is miniflare's, such as "miniflare-R2BucketObject".
	Class string
	// Name is the name of the bucket, namespace, ...
	Name string
	// Blobs says that values have files.
	Blobs bool
	// Schema makes the tables, where they are missing.
	Schema string
	// Table is the table without which a database that has blobs is damaged.
	Table   string
	Clock   clock.Clock
	Entropy entropy.Source
	// Points is called for each effect: open, blob (a file written), unlink (a file
	// removed), and those of the users of the store.
	Points *killpoint.Points
}

// Store is one store. Safe for concurrent use; one operation runs at a time.
// Close ends it.
type Store struct {
	opts Options

	mu         sync.Mutex              // guards the rest, and orders operations
	db         *sqlite.Conn            // nil until the first use
	statements map[string]*sqlite.Stmt // by text; never more than the users of the store have
}

// validName keeps names inside the directory, on every system.
var validName = lazyregexp.New(`^[^./\\\x00-\x1f<>:"|?*][^/\\\x00-\x1f<>:"|?*]{0,127}$`)

// Busy is how long an operation waits for one of another process.
const Busy = 5 * time.Second

// New returns a store; nothing is opened or created before its first use.
func New(o Options) (*Store, error) {
	if !validName.MatchString(o.Name) {
		return nil, fmt.Errorf("%s: %q is no name of a %s", o.Product, o.Name, o.Noun)
	}
	return &Store{opts: o}, nil
}

// Close closes the database. A later operation opens it again.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.db == nil {
		return nil
	}
	return s.close()
}

func (s *Store) close() error {
	for _, st := range s.statements { // order-independent: each is freed
		st.Finalize()
	}
	err := s.db.Close()
	s.db, s.statements = nil, nil
	return err
}

// Do runs an operation: no other one of the store runs meanwhile. It opens the
// database, and creates it where there is none.
func (s *Store) Do(operation func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.open(); err != nil {
		return err
	}
	return operation()
}

func (s *Store) open() error {
	if s.db != nil {
		return nil
	}
	dirs := []string{filepath.Join(s.opts.Dir, s.opts.Class)}
	if s.opts.Blobs {
		dirs = append(dirs, s.blobs())
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("%s: %w", s.opts.Product, err)
		}
	}
	if err := s.checkPresent(); err != nil {
		return err
	}
	return s.Effect("open", func() error {
		db, err := sqlite.Open(sqlite.Options{Path: s.Path(), Now: s.opts.Clock.Now, Rand: s.opts.Entropy})
		if err != nil {
			return fmt.Errorf("%s: %w", s.opts.Product, err)
		}
		db.SetBusyTimeout(Busy)
		s.db, s.statements = db, map[string]*sqlite.Stmt{}
		if err := s.prepare(); err != nil {
			return errors.Join(err, s.close())
		}
		return nil
	})
}

// prepare makes the tables of a database that was opened.
func (s *Store) prepare() error {
	if err := s.db.Exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"); err != nil {
		return s.wrap(err)
	}
	if err := s.check(); err != nil {
		return err
	}
	if err := s.db.Exec(s.opts.Schema); err != nil {
		return s.wrap(err)
	}
	return nil
}

// Path is the path of the database.
func (s *Store) Path() string { return PathOf(s.opts.Dir, s.opts.Class, s.opts.Name) }

// PathOf is the path of the database of a name in a class, below a plugin's folder.
func PathOf(dir, class, name string) string {
	return filepath.Join(dir, class, objectid.NewNamespace(class).FromName(name).String()+".sqlite")
}

// Now is the time in milliseconds since the epoch.
func (s *Store) Now() int64 { return s.opts.Clock.Now().UnixMilli() }

// Effect makes something durable, between two points.
func (s *Store) Effect(what string, fn func() error) error {
	return s.opts.Points.Effect(killpoint.Store, strings.ToUpper(s.opts.Product)+"/"+s.opts.Name, what, fn)
}

// Query runs a statement, which is kept for the next time, and gives each row to
// take. For use within Do.
func (s *Store) Query(sql string, take func(row *sqlite.Stmt) error, args ...any) error {
	st := s.statements[sql]
	if st == nil {
		var err error
		if st, _, err = s.db.Prepare(sql, true); err != nil {
			return s.wrap(err)
		}
		s.statements[sql] = st
	}
	defer st.Reset()
	for i, a := range args {
		if err := st.Bind(i+1, a); err != nil {
			return fmt.Errorf("%s: %w", s.opts.Product, err)
		}
	}
	for {
		row, err := st.Step()
		if err != nil {
			return s.wrap(err)
		}
		if !row {
			return nil
		}
		if err := take(st); err != nil {
			return err
		}
	}
}

// Nothing takes no rows.
func Nothing(*sqlite.Stmt) error { return nil }

// Transaction runs fn and commits what it did, or takes it back. For use within Do.
func (s *Store) Transaction(fn func() error) error {
	if err := s.Query("BEGIN IMMEDIATE", Nothing); err != nil {
		return err
	}
	if err := fn(); err != nil {
		return errors.Join(err, s.Query("ROLLBACK", Nothing))
	}
	return s.Query("COMMIT", Nothing)
}
