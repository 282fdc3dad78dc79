package sqlstore

import (
	"errors"
	"fmt"

	"minido.dev/minido/internal/sqlite"
)

// CorruptError says that a file of a store is not, or no longer, what it has to
// be. Other stores are not affected. Immutable.
type CorruptError struct {
	// Path is the file: the database, or one that belongs to it.
	Path string
	// Err is what is wrong: for a database SQLite's own error.
	Err error
	// Way is what a user can do; "" is the usual way out for a database.
	Way string
}

// Error implements error; it names the file and the way out.
func (e *CorruptError) Error() string {
	if e.Way != "" {
		return fmt.Sprintf("the file %s is damaged: %v; %s", e.Path, e.Err, e.Way)
	}
	return fmt.Sprintf("the database file %s is damaged or not a SQLite database (%v); move it away, with the files whose names begin with its name, to start this object empty, or restore it from a copy", e.Path, e.Err)
}

// Unwrap gives SQLite's error.
func (e *CorruptError) Unwrap() error { return e.Err }

// SQLError is an error that user code sees. Its text is, to the letter, what
// workerd throws (api/sql.c++, util/sqlite.c++). Immutable.
type SQLError struct {
	text string
	err  error
}

// Error is the text for the JavaScript Error.
func (e *SQLError) Error() string { return e.text }

// Unwrap gives the *sqlite.Error below, or nil where the store itself refused.
func (e *SQLError) Unwrap() error { return e.err }

// CommitError says that the open transaction could not be committed. The store
// has rolled it back: nothing of the turn is on disk, and the object must be
// reset (docs/semantics.md 2). Immutable.
type CommitError struct {
	// Err is the reason, usually an *sqlite.Error.
	Err error
	// Hint says what a developer can do, or is empty.
	Hint string
}

// Error implements error.
func (e *CommitError) Error() string {
	if e.Hint != "" {
		return e.Err.Error() + " (" + e.Hint + ")"
	}
	return e.Err.Error()
}

// Unwrap gives the reason.
func (e *CommitError) Unwrap() error { return e.Err }

// ErrClosed is returned by every operation on a closed store.
var ErrClosed error = refuse("SQLite query was canceled because the database was closed.")

// errReset is what cursors give that were open when deleteAll ran.
var errReset = refuse("SQLite query was canceled because the database was deleted.")

// ErrTransactionLost is wrapped by operations after SQLite itself rolled the
// transaction back (disk full, I/O error, interrupt, RAISE(ROLLBACK)) and
// before the owner called Commit, which fails, or Rollback.
var ErrTransactionLost = errors.New("the transaction was rolled back by an earlier error")

// ErrInnerSavepoint is wrapped by the end of a savepoint inside of which another
// one is open; both go on.
var ErrInnerSavepoint = errors.New("is not the innermost savepoint")

// refuse makes an error of the store's own for user code.
func refuse(text string) *SQLError { return &SQLError{text: text} }

// wrap turns an error of the binding into one of this package.
func (s *Store) wrap(err error) error {
	if err == nil {
		return nil
	}
	var se *sqlite.Error
	if !errors.As(err, &se) {
		return err
	}
	switch se.Code {
	case sqlite.CodeCorrupt, sqlite.CodeNotADB:
		// A damaged full-text index is the application's to rebuild, not the file's damage.
		if se.ExtendedName() != "SQLITE_CORRUPT_VTAB" {
			return &CorruptError{Path: s.path, Err: se}
		}
	case sqlite.CodeAuth, sqlite.CodeError:
		if name := s.rules.absentTable; name != "" {
			absent := sqlite.Error{Code: sqlite.CodeError, Extended: sqlite.CodeError, Message: "no such table: " + name, Offset: -1}
			return &SQLError{text: absent.Error(), err: se}
		}
		if r := s.rules.refusal; r != "" {
			return &SQLError{text: r, err: se}
		}
		if f := s.rules.absent; f != "" {
			absent := *se
			absent.Message = "no such function: " + f
			return &SQLError{text: absent.Error(), err: se}
		}
	}
	return &SQLError{text: se.Error(), err: se}
}
