package sqlstore

import (
	"strings"

	"minido.dev/minido/internal/sqlite"
)

// SQL white space that may follow a statement without making another one.
const space = " \t\n\r\v\f"

// Exec runs user code's SQL and returns a cursor over the result of its last
// statement, already stepped to its first row, as workerd does. args are nil,
// float64, string, []byte or int64, and belong to the last statement; earlier
// statements run to their end and may not have parameters. Statements that
// write open the turn's transaction; what ran before an error stays in it.
//
// Errors for user code are *SQLError with workerd's text; a damaged file gives
// a *CorruptError.
func (s *Store) Exec(sql string, args []any) (*Cursor, error) {
	if s.conn == nil {
		return nil, ErrClosed
	}
	if len(sql) > maxSQLBytes {
		return nil, refuse("statement too long: SQLITE_TOOBIG")
	}
	st := s.cache.take(sql)
	if st != nil && st.Stale() {
		st.Finalize()
		st = nil
	}
	if st == nil {
		var err error
		if st, err = s.prepare(sql); err != nil {
			return nil, err
		}
	}
	if st.Params() != len(args) {
		st.release()
		return nil, refuse("Wrong number of parameter bindings for SQL query.")
	}
	st.Count()
	return s.start(st, args)
}

// prepare compiles sql; if it has several statements, all but the last also run.
func (s *Store) prepare(sql string) (*stmt, error) {
	for {
		p, tail, pragma, err := s.compile(sql)
		if err != nil {
			return nil, err
		}
		if p == nil {
			return nil, refuse("SQL code did not contain a statement.")
		}
		tail = strings.TrimLeft(tail, space)
		if tail == "" {
			return &stmt{Stmt: p, cache: &s.cache, key: sql, user: true, pragma: pragma}, nil
		}
		if p.Params() != 0 {
			p.Finalize()
			return nil, refuse("When executing multiple SQL statements in a single call, only the last statement can have parameters.")
		}
		err = s.exhaust(p, pragma)
		p.Finalize()
		if err != nil {
			return nil, err
		}
		sql = tail
	}
}

// compile prepares the first statement of sql under user code's rules. Some
// PRAGMAs act while they are compiled, and not inside a transaction: where only
// reads have opened one, they are compiled once more without it.
func (s *Store) compile(sql string) (p *sqlite.Stmt, tail string, pragma bool, err error) {
	s.enter(true)
	s.rules.sql = sql
	p, tail, err = s.conn.Prepare(sql, true)
	err = s.wrap(err)
	pragma = s.rules.pragma
	s.leave()
	if pragma && p != nil && s.txn.open && !s.Dirty() && len(s.txn.savepoints) == 0 {
		p.Finalize()
		if err := s.endRead(); err != nil {
			return nil, "", false, err
		}
		return s.compile(sql)
	}
	return p, tail, pragma, err
}

// enter puts the rules for the statement that is about to be compiled or
// stepped into force; leave takes them back. A step may compile, too.
func (s *Store) enter(user bool) {
	s.rules = rules{user: user}
}

func (s *Store) leave() { s.enter(false) }

// exhaust runs a statement to its end.
func (s *Store) exhaust(p *sqlite.Stmt, pragma bool) error {
	if err := s.beginFor(p, pragma); err != nil {
		return err
	}
	for {
		row, err := s.step(p, true)
		if err != nil || !row {
			return err
		}
	}
}

// beginFor opens the transaction that a statement needs. PRAGMAs get none: some
// have no effect inside one.
func (s *Store) beginFor(p *sqlite.Stmt, pragma bool) error {
	switch {
	case !p.ReadOnly():
		return s.beginWrite()
	case pragma:
		return s.endRead()
	}
	return s.beginRead()
}

// step steps a statement under the right rules.
func (s *Store) step(p *sqlite.Stmt, user bool) (bool, error) {
	s.enter(user)
	row, err := p.Step()
	if err != nil {
		s.noteLost(err)
		err = s.wrap(err)
	}
	s.leave()
	return row, err
}
