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
	return s.start(st, args)
}

// prepare compiles sql; if it has several statements, all but the last also run.
func (s *Store) prepare(sql string) (*stmt, error) {
	for {
		p, tail, err := s.compile(sql)
		if err != nil {
			return nil, err
		}
		if p == nil {
			return nil, refuse("SQL code did not contain a statement.")
		}
		tail = strings.TrimLeft(tail, space)
		if tail == "" {
			return &stmt{Stmt: p, cache: &s.cache, key: sql, user: true}, nil
		}
		if p.Params() != 0 {
			p.Finalize()
			return nil, refuse("When executing multiple SQL statements in a single call, only the last statement can have parameters.")
		}
		err = s.exhaust(p)
		p.Finalize()
		if err != nil {
			return nil, err
		}
		sql = tail
	}
}

// compile prepares the first statement of sql under user code's rules.
func (s *Store) compile(sql string) (*sqlite.Stmt, string, error) {
	s.enter(true)
	s.rules.sql = sql
	p, tail, err := s.conn.Prepare(sql, true)
	err = s.wrap(err)
	s.leave()
	return p, tail, err
}

// enter puts the rules for the statement that is about to be compiled or
// stepped into force; leave takes them back. A step may compile, too.
func (s *Store) enter(user bool) {
	s.rules.user = user
	s.rules.sql, s.rules.refusal, s.rules.absent = "", "", ""
}

func (s *Store) leave() { s.enter(false) }

// exhaust runs a statement to its end.
func (s *Store) exhaust(p *sqlite.Stmt) error {
	if !p.ReadOnly() {
		if err := s.beginWrite(); err != nil {
			return err
		}
	}
	for {
		row, err := s.step(p, true)
		if err != nil || !row {
			return err
		}
	}
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
