package sqlstore

import (
	"errors"
	"fmt"
)

// Get returns a copy of the value under key.
func (s *Store) Get(key string) (value []byte, ok bool, err error) {
	if err := s.beginRead(); err != nil {
		return nil, false, err
	}
	if found, err := s.exists(&s.kv, "_cf_KV"); err != nil || !found {
		return nil, false, err
	}
	st, err := s.own("SELECT value FROM _cf_KV WHERE key = ?")
	if err != nil {
		return nil, false, err
	}
	defer st.release()
	if err := st.BindText(1, key); err != nil {
		return nil, false, s.wrap(err)
	}
	row, err := st.Step()
	if err != nil || !row {
		return nil, false, s.wrap(err)
	}
	return st.ColumnBlob(0), true, nil
}

// Put stores a value under key. Key and value together may have as many bytes
// as the limits allow for a row (SQLITE_TOOBIG otherwise); the API's own limits
// are its owner's business.
func (s *Store) Put(key string, value []byte) error {
	if err := s.beginWrite(); err != nil {
		return err
	}
	if err := s.ensureKV(); err != nil {
		return err
	}
	st, err := s.own("INSERT INTO _cf_KV VALUES(?, ?) ON CONFLICT DO UPDATE SET value = excluded.value")
	if err != nil {
		return err
	}
	defer st.release()
	if err := errors.Join(st.BindText(1, key), st.BindBlob(2, value)); err != nil {
		return s.wrap(err)
	}
	_, err = st.Step()
	s.noteLost(err)
	return s.wrap(err)
}

// ensureKV creates the table of keys and values at the first put. The
// transaction must be open.
func (s *Store) ensureKV() error {
	if found, err := s.exists(&s.kv, "_cf_KV"); err != nil || found {
		return err
	}
	if err := s.run("CREATE TABLE IF NOT EXISTS _cf_KV (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID"); err != nil {
		return err
	}
	s.kv = present
	return nil
}

// Delete removes key and says whether it was there.
func (s *Store) Delete(key string) (bool, error) {
	if found, err := s.exists(&s.kv, "_cf_KV"); err != nil || !found {
		return false, err
	}
	if err := s.beginWrite(); err != nil {
		return false, err
	}
	st, err := s.own("DELETE FROM _cf_KV WHERE key = ?")
	if err != nil {
		return false, err
	}
	defer st.release()
	if err := st.BindText(1, key); err != nil {
		return false, s.wrap(err)
	}
	if _, err := st.Step(); err != nil {
		s.noteLost(err)
		return false, s.wrap(err)
	}
	return s.conn.Changes() > 0, nil
}

// Count is the number of keys.
func (s *Store) Count() (int, error) {
	if found, err := s.exists(&s.kv, "_cf_KV"); err != nil || !found {
		return 0, err
	}
	st, err := s.own("SELECT count(*) FROM _cf_KV")
	if err != nil {
		return 0, err
	}
	defer st.release()
	if _, err := st.Step(); err != nil {
		return 0, s.wrap(err)
	}
	return int(st.ColumnInt64(0)), nil
}

// ListOptions choose keys. Order is that of the keys' UTF-8 bytes (docs/semantics.md 9).
type ListOptions struct {
	// Start is the first key, StartAfter the one after which to begin; End is
	// the first key not listed. Prefix is what every key begins with. nil means
	// no bound. With Reverse the bounds keep their meaning and the order turns.
	Start, StartAfter, End, Prefix *string
	// Reverse lists from the last key to the first.
	Reverse bool
	// Limit is the largest number of keys; 0 means no limit.
	Limit int
}

// query turns the options into SQL and its parameters.
func (o ListOptions) query() (sql string, args []any) {
	sql = "SELECT key, value FROM _cf_KV"
	sep := " WHERE "
	bound := func(cond, v string) {
		sql += sep + cond
		sep = " AND "
		args = append(args, v)
	}
	if o.Start != nil {
		bound("key >= ?", *o.Start)
	}
	if o.StartAfter != nil {
		bound("key > ?", *o.StartAfter)
	}
	if o.End != nil {
		bound("key < ?", *o.End)
	}
	if o.Prefix != nil && *o.Prefix != "" {
		bound("key >= ?", *o.Prefix)
		if end, ok := afterPrefix(*o.Prefix); ok {
			bound("key < ?", end)
		}
	}
	sql += " ORDER BY key"
	if o.Reverse {
		sql += " DESC"
	}
	if o.Limit > 0 {
		sql += " LIMIT ?"
		args = append(args, int64(o.Limit))
	}
	return sql, args
}

// afterPrefix is the least string, in byte order, greater than every string
// with the prefix; there is none if all its bytes are 0xff.
func afterPrefix(p string) (string, bool) {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] != 0xff {
			return p[:i] + string([]byte{p[i] + 1}), true
		}
	}
	return "", false
}

// KVIterator walks over keys and values. It reads the live table: it sees
// changes ahead of its position. Loop-confined.
type KVIterator struct {
	cur *Cursor // nil: nothing to list
}

// List starts an iteration. Several may be live at once; that the API allows
// one is its owner's rule. An iterator that is not read to its end must be
// closed (or abandoned).
func (s *Store) List(o ListOptions) (*KVIterator, error) {
	if o.Limit < 0 {
		return nil, fmt.Errorf("sqlstore: list: negative limit %d", o.Limit)
	}
	if found, err := s.exists(&s.kv, "_cf_KV"); err != nil || !found {
		return &KVIterator{}, err
	}
	sql, args := o.query()
	st, err := s.own(sql)
	if err != nil {
		return nil, err
	}
	cur, err := s.start(st, args)
	if err != nil {
		return nil, err
	}
	cur.lazy = true
	return &KVIterator{cur: cur}, nil
}

// Next gives the next key and a copy of its value; ok is false at the end.
func (it *KVIterator) Next() (key string, value []byte, ok bool, err error) {
	if it.cur == nil {
		return "", nil, false, nil
	}
	row, ok, err := it.cur.Next()
	if err != nil || !ok {
		return "", nil, false, err
	}
	key, isText := row[0].(string)
	value, isBlob := row[1].([]byte)
	if !isText || !isBlob {
		return "", nil, false, fmt.Errorf("sqlstore: list: a row of _cf_KV holds %T and %T", row[0], row[1])
	}
	return key, value, true, nil
}

// Close ends the iteration early; at the end it does nothing.
func (it *KVIterator) Close() {
	if it.cur != nil {
		it.cur.Close()
	}
}
