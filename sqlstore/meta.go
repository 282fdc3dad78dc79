package sqlstore

import (
	"errors"
	"time"
)

// Keys of _cf_METADATA. workerd uses 1 and 2 and ignores others.
const (
	metaAlarm = 1
	// metaFacetsPending marks that deleteAll has committed but the facets'
	// files may not be deleted yet.
	metaFacetsPending = 0x6d696e69646f01 // "minido", 1
)

// Alarm is the alarm's time in milliseconds since the Unix epoch; ok is false
// if none is set.
func (s *Store) Alarm() (ms int64, ok bool, err error) {
	ns, ok, err := (metaTable{s}).read(metaAlarm)
	return ns / int64(time.Millisecond), ok, err
}

// SetAlarm sets the alarm to a time in milliseconds since the Unix epoch, as
// part of the turn's transaction. The file holds nanoseconds, as workerd's does.
func (s *Store) SetAlarm(ms int64) error {
	return (metaTable{s}).write(metaAlarm, ms*int64(time.Millisecond))
}

// ClearAlarm removes the alarm, as part of the turn's transaction. Without an
// alarm it writes nothing.
func (s *Store) ClearAlarm() error {
	if _, ok, err := (metaTable{s}).read(metaAlarm); err != nil || !ok {
		return err
	}
	return (metaTable{s}).write(metaAlarm, nil)
}

// FacetDeletionPending reports whether DeleteAll committed and
// FacetsDeleted was not called since: the files of the object's facets are to
// be deleted, whatever happened in between.
func (s *Store) FacetDeletionPending() (bool, error) {
	_, ok, err := (metaTable{s}).read(metaFacetsPending)
	return ok, err
}

// FacetsDeleted records, as part of the turn's transaction, that the facets'
// files are gone.
func (s *Store) FacetsDeleted() error {
	if ok, err := s.FacetDeletionPending(); err != nil || !ok {
		return err
	}
	return (metaTable{s}).write(metaFacetsPending, nil)
}

// metaTable is the table _cf_METADATA of a store.
type metaTable struct{ *Store }

// read reads an integer; a missing table, a missing row and NULL all mean
// that it is not set.
func (m metaTable) read(key int64) (v int64, ok bool, err error) {
	if err := m.beginRead(); err != nil {
		return 0, false, err
	}
	if found, err := m.exists(&m.meta, "_cf_METADATA"); err != nil || !found {
		return 0, false, err
	}
	st, err := m.own("SELECT value FROM _cf_METADATA WHERE key = ?")
	if err != nil {
		return 0, false, err
	}
	defer st.release()
	if err := st.BindInt64(1, key); err != nil {
		return 0, false, m.wrap(err)
	}
	row, err := st.Step()
	if err != nil || !row {
		return 0, false, m.wrap(err)
	}
	v, ok = st.Column(0).(int64)
	return v, ok, nil
}

func (m metaTable) write(key int64, v any) error {
	if err := m.beginWrite(); err != nil {
		return err
	}
	if err := m.ensure(); err != nil {
		return err
	}
	st, err := m.own("INSERT INTO _cf_METADATA VALUES(?, ?) ON CONFLICT DO UPDATE SET value = excluded.value")
	if err != nil {
		return err
	}
	defer st.release()
	if n, ok := v.(int); ok {
		v = int64(n)
	}
	if err := errors.Join(st.BindInt64(1, key), st.Bind(2, v)); err != nil {
		return m.wrap(err)
	}
	_, err = st.Step()
	m.noteLost(err)
	return m.wrap(err)
}

func (m metaTable) ensure() error {
	if found, err := m.exists(&m.meta, "_cf_METADATA"); err != nil || found {
		return err
	}
	if err := m.run("CREATE TABLE IF NOT EXISTS _cf_METADATA (key INTEGER PRIMARY KEY, value BLOB)"); err != nil {
		return err
	}
	m.meta = present
	return nil
}
