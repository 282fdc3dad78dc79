package sqlstore

import "minido.dev/minido/internal/sqlite"

// maxCached and maxCachedBytes bound the statements that a store keeps, by
// number and by the length of their text.
const (
	maxCached      = 64
	maxCachedBytes = 128 << 10
)

// stmt is a prepared statement in use by one caller at a time. A second use of
// the same text at the same time gets a statement of its own, as in workerd.
type stmt struct {
	*sqlite.Stmt
	cache  *stmtCache
	key    string
	user   bool
	pragma bool
}

// stmtCache keeps idle statements by their text, the least recently used first
// in order. Statements of the platform are kept apart from user code's, for
// they were compiled under other rules. Loop-confined.
type stmtCache struct {
	idle  map[string]*cached
	first *cached // least recently used
	last  *cached
	bytes int
}

type cached struct {
	st         *stmt
	prev, next *cached
}

// take removes and returns an idle statement, or nil.
func (c *stmtCache) take(key string) *stmt {
	e := c.idle[key]
	if e == nil {
		return nil
	}
	c.remove(e)
	return e.st
}

// put gives a statement back; it must be reset and cleared. PRAGMAs are not
// kept: they have to be compiled each time to act.
func (c *stmtCache) put(st *stmt) {
	if c.idle == nil {
		c.idle = make(map[string]*cached)
	}
	if st.pragma || c.idle[st.key] != nil || len(st.key) > maxCachedBytes/4 {
		st.Finalize()
		return
	}
	e := &cached{st: st, prev: c.last}
	if c.last != nil {
		c.last.next = e
	} else {
		c.first = e
	}
	c.last = e
	c.idle[st.key] = e
	c.bytes += len(st.key)
	for len(c.idle) > maxCached || c.bytes > maxCachedBytes {
		old := c.first
		c.remove(old)
		old.st.Finalize()
	}
}

func (c *stmtCache) remove(e *cached) {
	if e.prev != nil {
		e.prev.next = e.next
	} else {
		c.first = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	} else {
		c.last = e.prev
	}
	delete(c.idle, e.st.key)
	c.bytes -= len(e.st.key)
}

// clear finalizes every idle statement.
func (c *stmtCache) clear() {
	for c.first != nil {
		e := c.first
		c.remove(e)
		e.st.Finalize()
	}
}

// release resets the statement and gives it back to the cache.
func (st *stmt) release() {
	st.Reset()
	st.ClearBindings()
	st.cache.put(st)
}

// ownKey keeps the platform's statements from being taken for user code's.
const ownKey = "\x00"

// own gives one of the platform's statements, ready to bind.
func (s *Store) own(sql string) (*stmt, error) {
	if s.conn == nil {
		return nil, ErrClosed
	}
	key := ownKey + sql
	if st := s.cache.take(key); st != nil {
		return st, nil
	}
	p, _, err := s.conn.Prepare(sql, true)
	if err != nil {
		return nil, s.wrap(err)
	}
	return &stmt{Stmt: p, cache: &s.cache, key: key}, nil
}
