package sqlstore

import (
	"errors"
	"fmt"
	"strings"
)

// DeleteAllOptions say what survives DeleteAll.
type DeleteAllOptions struct {
	// KeepAlarm keeps the alarm as it is now, set or deleted by a write that is
	// not committed yet: the behaviour before compatibility date 2026-02-24
	// (docs/semantics.md 12; ActorSqlite::deleteAll in io/actor-sqlite.c++).
	KeepAlarm bool
	// FacetsPending records in the same transaction that the facets' files are
	// to be deleted; see FacetDeletionPending.
	FacetsPending bool
}

// ErrInTransaction refuses deleteAll() inside transaction() or transactionSync().
var ErrInTransaction error = refuse("Cannot call deleteAll() within a transaction")

// DeleteAll drops everything the object stored: keys, SQL tables, views,
// triggers and (unless kept) the alarm, in one transaction that it commits
// itself; a crash leaves all or nothing. Uncommitted writes are discarded first
// (docs/semantics.md 34). It returns the number of keys that were there, uncommitted
// ones included. Cursors are canceled, and connection-wide PRAGMAs return to
// their defaults, as on the fresh database that workerd opens.
//
// An empty sqlite_sequence table remains if AUTOINCREMENT was used, and the
// file keeps its length: its pages become free ones, which DatabaseSize does
// not count.
func (s *Store) DeleteAll(o DeleteAllOptions) (keys int, err error) {
	if s.conn == nil {
		return 0, ErrClosed
	}
	if len(s.txn.savepoints) > 0 {
		return 0, ErrInTransaction
	}
	if keys, err = s.Count(); err != nil {
		return 0, err
	}
	alarm := int64(0)
	if o.KeepAlarm {
		if alarm, o.KeepAlarm, err = (metaTable{s}).read(metaAlarm); err != nil {
			return 0, err
		}
	}
	// A dropped table must not have readers.
	s.cursors.cancelAll(errReset)
	if err := s.Rollback(); err != nil {
		return 0, err
	}
	s.cache.clear()
	// Dropping a parent before its children would violate foreign keys, and the
	// switch has no effect inside a transaction.
	const defaults = "PRAGMA foreign_keys=ON; PRAGMA recursive_triggers=OFF; PRAGMA ignore_check_constraints=OFF;" +
		"PRAGMA legacy_alter_table=OFF; PRAGMA reverse_unordered_selects=OFF; PRAGMA case_sensitive_like=OFF"
	if err := s.run("PRAGMA foreign_keys=OFF"); err != nil {
		return 0, err
	}
	err = (deletion{s}).dropEverything(o, alarm)
	return keys, errors.Join(err, s.run(defaults))
}

// deletion is a DeleteAll under way.
type deletion struct{ *Store }

func (s deletion) dropEverything(o DeleteAllOptions, alarm int64) error {
	if err := s.beginWrite(); err != nil {
		return err
	}
	err := s.dropObjects()
	s.forgetTables()
	if err == nil && o.KeepAlarm {
		err = metaTable(s).write(metaAlarm, alarm)
	}
	if err == nil && o.FacetsPending {
		err = metaTable(s).write(metaFacetsPending, int64(1))
	}
	s.cache.clear()
	if err != nil {
		return errors.Join(fmt.Errorf("sqlstore: deleteAll: %w", err), s.Rollback())
	}
	if err := s.Commit(); err != nil {
		return fmt.Errorf("sqlstore: deleteAll: %w", err)
	}
	return nil
}

// dropObjects drops what the schema lists, dependents first. A virtual table
// takes its shadow tables along.
func (s deletion) dropObjects() error {
	for _, kind := range []struct{ drop, where string }{
		{"TRIGGER", "type = 'trigger'"},
		{"VIEW", "type = 'view'"},
		{"TABLE", "type = 'table' AND rootpage = 0"}, // virtual
		{"TABLE", "type = 'table' AND (substr(name, 1, 7) <> 'sqlite_' OR substr(name, 1, 11) = 'sqlite_stat')"},
	} {
		names, err := s.names("SELECT name FROM sqlite_schema WHERE " + kind.where + " ORDER BY rowid")
		if err != nil {
			return err
		}
		for _, n := range names {
			if err := s.run(`DROP ` + kind.drop + ` IF EXISTS "` + strings.ReplaceAll(n, `"`, `""`) + `"`); err != nil {
				return fmt.Errorf("drop %s %s: %w", strings.ToLower(kind.drop), n, err)
			}
		}
	}
	return nil
}

// names runs a query of one text column.
func (s deletion) names(sql string) ([]string, error) {
	st, err := s.own(sql)
	if err != nil {
		return nil, err
	}
	defer st.release()
	var out []string
	for {
		row, err := st.Step()
		if err != nil || !row {
			return out, s.wrap(err)
		}
		out = append(out, st.ColumnText(0))
	}
}
