package sqlstore

import "sync/atomic"

// Cursor walks over the rows of a statement. It is live: it stays valid across
// turns and sees changes made ahead of it, but for the one row that it has
// already fetched; workerd's SQL cursors fetch ahead likewise, its kv.list()
// does not. Loop-confined, but for Abandon.
type Cursor struct {
	s        *Store
	st       *stmt // nil once finished
	row      bool  // the statement stands on a row not yet given out
	err      error // what the next Next returns
	user     bool
	readOnly bool
	lazy     bool // fetches a row when it is asked for, not one ahead
	given    bool // lazy only: the row stood on has been given out

	names []string

	// For the statistics: rows counted, rows that changed since the last count in
	// total and by the statement itself, whether it may empty a table at once.
	reads, writes, changed, direct int64
	clears                         bool

	abandoned  atomic.Bool
	prev, next *Cursor
}

// start binds, runs to the first row and registers the cursor. It takes st over
// in every case.
func (s *Store) start(st *stmt, args []any) (*Cursor, error) {
	for i, a := range args {
		if err := st.Bind(i+1, a); err != nil {
			st.release()
			return nil, s.wrap(err)
		}
	}
	if err := s.beginFor(st.Stmt, st.pragma); err != nil {
		st.release()
		return nil, err
	}
	c := &Cursor{s: s, st: st, user: st.user, readOnly: st.ReadOnly()}
	if err := c.advance(); err != nil {
		c.finish()
		return nil, err
	}
	if c.st != nil {
		s.cursors.add(c)
	}
	return c, nil
}

// advance steps the statement; at its end it finishes the cursor.
func (c *Cursor) advance() error {
	s := c.s
	total := s.conn.TotalChanges()
	row, err := s.step(c.st.Stmt, c.user)
	if changed := s.conn.TotalChanges() - total; changed > 0 {
		c.changed += changed
		c.direct += s.conn.Changes()
	}
	if c.names == nil && (row || err == nil) {
		c.names = c.st.ColumnNames()
	}
	if err != nil {
		return err
	}
	c.row = row
	if !row {
		c.finish()
	}
	return nil
}

// finish gives the statement back. The cursor keeps what it counted.
func (c *Cursor) finish() {
	if c.st == nil {
		return
	}
	c.count()
	c.s.cursors.remove(c)
	c.st.release()
	c.st, c.row = nil, false
}

// Next gives the next row; ok is false at the end, and ever after. Values are
// nil, int64, float64, string or []byte, copies all of them. An error ends the
// cursor.
func (c *Cursor) Next() (row []any, ok bool, err error) {
	if c.err != nil {
		err := c.err
		if c.st != nil {
			c.finish()
			c.err = nil
		}
		return nil, false, err
	}
	if c.given {
		c.given = false
		if err := c.advance(); err != nil {
			c.finish()
			return nil, false, err
		}
	}
	if !c.row {
		return nil, false, nil
	}
	row = make([]any, c.st.Columns())
	for i := range row {
		row[i] = c.st.Column(i)
	}
	if c.lazy {
		c.given = true
		return row, true, nil
	}
	// The row is good; an error on the way to the one after it waits.
	c.err = c.advance()
	return row, true, nil
}

// ColumnNames are the names of the columns in order, duplicates included; empty
// for statements without a result. The slice must not be changed.
func (c *Cursor) ColumnNames() []string { return c.names }

// Close ends the cursor early. A writing statement has done all its writes by
// then. At the end, or twice, it does nothing.
func (c *Cursor) Close() { c.finish() }

// Abandon says that nobody will use the cursor again; the store closes it at
// the next Commit. It is for finalizers: any goroutine may call it.
func (c *Cursor) Abandon() {
	c.abandoned.Store(true)
	c.s.cursors.abandoned.Store(true)
}

// cursorList has the store's unfinished cursors: they hold statements, and
// readers among them keep the WAL from being reset. Loop-confined, but for
// abandoned.
type cursorList struct {
	first     *Cursor
	abandoned atomic.Bool // whether one of them may be abandoned
}

func (l *cursorList) add(c *Cursor) {
	c.next = l.first
	if l.first != nil {
		l.first.prev = c
	}
	l.first = c
}

func (l *cursorList) remove(c *Cursor) {
	if c.prev == nil && l.first != c {
		return // never added
	}
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		l.first = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	}
	c.prev, c.next = nil, nil
}

// sweep closes abandoned cursors.
func (l *cursorList) sweep() {
	if !l.abandoned.Swap(false) {
		return
	}
	for c := l.first; c != nil; {
		next := c.next
		if c.abandoned.Load() {
			c.finish()
		}
		c = next
	}
}

// cancelWriters ends cursors over writing statements, whose writes are about to
// be undone. Left alone they would keep SQLite from committing ever after.
func (l *cursorList) cancelWriters() {
	for c := l.first; c != nil; {
		next := c.next
		if !c.readOnly {
			c.finish()
			c.err = refuse("abort due to ROLLBACK: SQLITE_ABORT (extended: SQLITE_ABORT_ROLLBACK)")
		}
		c = next
	}
}

// cancelAll ends every cursor; using one afterwards gives err.
func (l *cursorList) cancelAll(err error) {
	for l.first != nil {
		c := l.first
		c.finish()
		c.err = err
	}
}
