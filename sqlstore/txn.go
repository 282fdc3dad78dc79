package sqlstore

import (
	"errors"
	"fmt"

	"minido.dev/minido/internal/sqlite"
)

// txn is the state of the store's transaction. Loop-confined.
type txn struct {
	// open: BEGIN was executed and neither COMMIT nor ROLLBACK since. It may
	// have read only.
	open bool
	// lost is the error on which SQLite rolled the open transaction back by itself.
	lost error
	// savepoints is the stack of open savepoints.
	savepoints []*Savepoint
	// serial numbers savepoints.
	serial int
}

// Dirty reports whether there is something to commit: a write since the last
// Commit or Rollback, or a transaction that SQLite has already given up and
// that Commit will report.
func (s *Store) Dirty() bool {
	if s.conn == nil || !s.txn.open {
		return false
	}
	return s.txn.lost != nil || s.conn.Autocommit() || s.conn.TxnState() == sqlite.TxnWrite
}

// beginWrite opens the implicit transaction if none is open. It is called
// before the first step of every statement that may write.
func (s *Store) beginWrite() error {
	if s.conn == nil {
		return ErrClosed
	}
	if s.txn.open {
		return s.checkLost()
	}
	return s.beginAny()
}

// beginRead opens a transaction that so far only reads: the file's locks, most
// of the cost of a small read, are then taken once in a turn. It commits to
// nothing, and Commit ends it for next to nothing.
func (s *Store) beginRead() error {
	if s.conn == nil {
		return ErrClosed
	}
	if s.txn.open {
		return nil
	}
	return s.beginAny()
}

func (s *Store) beginAny() error {
	if err := s.runOwn(&s.begin, "BEGIN"); err != nil {
		return s.wrap(err)
	}
	s.txn.open = true
	return nil
}

// runOwn runs one of the transaction's own statements, which is compiled at its
// first use.
func (s *Store) runOwn(st **sqlite.Stmt, sql string) error {
	if *st == nil {
		made, _, err := s.conn.Prepare(sql, true)
		if err != nil {
			return err
		}
		*st = made
	}
	_, err := (*st).Step()
	(*st).Reset()
	return err
}

// endRead ends a transaction that only read, for the sake of statements that
// behave otherwise inside one.
func (s *Store) endRead() error {
	if !s.txn.open || s.Dirty() || len(s.txn.savepoints) > 0 {
		return nil
	}
	return s.Commit()
}

// checkLost refuses work on a transaction that no longer exists, so that a
// write cannot slip out of it and commit on its own.
func (s *Store) checkLost() error {
	if s.txn.lost != nil {
		return fmt.Errorf("%w: %w", ErrTransactionLost, s.txn.lost)
	}
	return nil
}

// noteLost records that err ended the open transaction, if it did.
func (s *Store) noteLost(err error) {
	if err != nil && s.txn.open && s.txn.lost == nil && s.conn.Autocommit() {
		s.txn.lost = err
		s.forgetTables()
	}
}

// Commit makes the turn's writes durable. The owner calls it at the end of every
// turn, Dirty or not: a turn that only read lets go of the file's locks with it.
// If it fails, everything since the last commit is rolled back and a
// *CommitError is returned: the owner must reset the object. Typical causes are
// a violated deferred foreign key, a full disk, and a cursor over INSERT ...
// RETURNING that was not read to its end. Savepoints must have ended.
func (s *Store) Commit() error {
	if s.conn == nil {
		return ErrClosed
	}
	s.cursors.sweep()
	if !s.txn.open {
		return nil
	}
	if len(s.txn.savepoints) > 0 {
		return fmt.Errorf("sqlstore: commit: %d savepoints are open", len(s.txn.savepoints))
	}
	if lost := s.txn.lost; lost != nil {
		s.cursors.cancelWriters()
		s.txn = txn{serial: s.txn.serial}
		return &CommitError{Err: fmt.Errorf("%w: %w", ErrTransactionLost, lost)}
	}
	wrote := s.Dirty()
	var err error
	if wrote && s.fresh {
		// Before the log has anything the file must be one: SQLite drops the log of
		// an empty file. The log's own first sync is also the directory's.
		err = s.conn.SyncMain()
		s.fresh = err != nil
	}
	if err == nil {
		err = s.runOwn(&s.commit, "COMMIT")
	}
	if err == nil && wrote {
		if err := s.file.stillThere(); err != nil {
			s.txn = txn{serial: s.txn.serial}
			return &CommitError{Err: err}
		}
	}
	if err == nil {
		s.unsynced = s.unsynced || wrote && s.syncLater
		s.txn = txn{serial: s.txn.serial}
		if s.history != nil {
			s.history.committed()
		}
		return nil
	}
	ce := &CommitError{Err: err}
	if sqlite.IsCode(err, sqlite.CodeBusy) {
		ce.Hint = "a cursor over a writing statement, such as INSERT ... RETURNING, was not read to its end"
	}
	if rerr := s.Rollback(); rerr != nil {
		ce.Err = errors.Join(err, rerr)
	}
	return ce
}

// Rollback undoes everything since the last commit; without an open transaction
// it does nothing. Cursors over changed tables fail afterwards with
// SQLITE_ABORT_ROLLBACK.
func (s *Store) Rollback() error {
	if s.conn == nil {
		return ErrClosed
	}
	if !s.txn.open {
		return nil
	}
	for _, sp := range s.txn.savepoints {
		sp.done = true
	}
	s.cursors.cancelWriters()
	lost, wrote := s.txn.lost != nil || s.conn.Autocommit(), s.Dirty()
	s.txn = txn{serial: s.txn.serial}
	s.forgetTables()
	if lost {
		return nil
	}
	var err error
	if wrote {
		err = s.runOwn(&s.rollback, "ROLLBACK")
	} else {
		err = s.runOwn(&s.commit, "COMMIT") // spares cursors that read
	}
	if err != nil {
		return fmt.Errorf("sqlstore: rollback: %w", s.wrap(err))
	}
	return nil
}

// Savepoint is a nested transaction: transactionSync, or an asynchronous
// transaction() whose owner does not call Commit until it has ended. End it with
// Release or Rollback, after those inside of it; later calls do nothing. Loop-confined.
type Savepoint struct {
	s    *Store
	name string
	done bool
}

// Savepoint opens a nested transaction; it opens the implicit one around it if
// there is none. Savepoints must end in the reverse order of their beginning.
func (s *Store) Savepoint() (*Savepoint, error) {
	if err := s.beginWrite(); err != nil {
		return nil, err
	}
	sp := &Savepoint{s: s, name: fmt.Sprintf("_cf_savepoint_%d", s.txn.serial)}
	if err := s.run("SAVEPOINT " + sp.name); err != nil {
		return nil, fmt.Errorf("sqlstore: savepoint: %w", err)
	}
	s.txn.serial++
	s.txn.savepoints = append(s.txn.savepoints, sp)
	return sp, nil
}

// Release merges the savepoint's changes into what surrounds it.
func (sp *Savepoint) Release() error { return sp.end("RELEASE ") }

// Rollback undoes what was written since the savepoint began.
func (sp *Savepoint) Rollback() error { return sp.end("ROLLBACK TO ", "RELEASE ") }

func (sp *Savepoint) end(verbs ...string) error {
	s := sp.s
	if sp.done {
		return nil
	}
	if n := len(s.txn.savepoints); n == 0 || s.txn.savepoints[n-1] != sp {
		return fmt.Errorf("sqlstore: %s %w", sp.name, ErrInnerSavepoint)
	}
	if err := s.checkLost(); err != nil {
		sp.pop()
		return err
	}
	for _, v := range verbs {
		if v == "ROLLBACK TO " {
			s.forgetTables()
		}
		if err := s.run(v + sp.name); err != nil {
			return fmt.Errorf("sqlstore: %s%s: %w", v, sp.name, err)
		}
	}
	sp.pop()
	return nil
}

func (sp *Savepoint) pop() {
	sp.done = true
	sp.s.txn.savepoints = sp.s.txn.savepoints[:len(sp.s.txn.savepoints)-1]
}

// run executes a statement of the store's own that gives no rows.
func (s *Store) run(sql string) error {
	if s.conn == nil {
		return ErrClosed
	}
	err := s.conn.Exec(sql)
	s.noteLost(err)
	return s.wrap(err)
}
