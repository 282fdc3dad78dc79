package miniflare

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"minido.dev/minido/internal/sqlite"
)

// Damaged says what is wrong with a file of the store, and what to do.
func (s *Store) Damaged(path string, err error) error {
	return fmt.Errorf("%s: the file %s of the %s %s is damaged: %w; restore it from a copy, or delete the %[3]s's files to start it empty",
		s.opts.Product, path, s.opts.Noun, s.opts.Name, err)
}

// wrap names the database's file in an error of SQLite.
func (s *Store) wrap(err error) error {
	if sqlite.IsCode(err, sqlite.CodeCorrupt) || sqlite.IsCode(err, sqlite.CodeNotADB) {
		return s.Damaged(s.Path(), err)
	}
	return fmt.Errorf("%s: %w", s.opts.Product, err)
}

// checkPresent refuses a database that is missing or empty although there are
// blobs: making a new one would forget them all in silence.
func (s *Store) checkPresent() error {
	info, err := os.Stat(s.Path())
	if err == nil && info.Size() > 0 {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", s.opts.Product, err)
	}
	return s.needNoBlobs("it is missing or empty")
}

func (s *Store) needNoBlobs(what string) error {
	if !s.opts.Blobs {
		return nil
	}
	blobs, err := os.ReadDir(s.blobs())
	if err != nil {
		return fmt.Errorf("%s: %w", s.opts.Product, err)
	}
	if len(blobs) == 0 {
		return nil
	}
	return s.Damaged(s.Path(), fmt.Errorf("%s, and %s holds %d blobs", what, s.blobs(), len(blobs)))
}

// check looks at a database that was opened, before its tables are made.
func (s *Store) check() error {
	verdict, tables := "", 0
	err := s.Query("PRAGMA quick_check(1)", func(st *sqlite.Stmt) error {
		verdict = st.ColumnText(0)
		return nil
	})
	if err != nil {
		return err
	}
	if verdict != "ok" {
		return s.Damaged(s.Path(), errors.New(verdict))
	}
	if s.opts.Table == "" {
		return nil
	}
	err = s.Query("SELECT 1 FROM sqlite_schema WHERE name = ?", func(*sqlite.Stmt) error {
		tables++
		return nil
	}, s.opts.Table)
	if err != nil || tables > 0 {
		return err
	}
	return s.needNoBlobs("it has no table " + s.opts.Table)
}
