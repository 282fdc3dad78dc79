package sqlstore

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// world is what a store should hold: the model of TestModel.
type world struct {
	kv    map[string]string
	rows  map[int64]string
	alarm int64 // 0: none
}

func (w world) clone() world { return world{maps.Clone(w.kv), maps.Clone(w.rows), w.alarm} }

// machine runs the store and the model side by side.
type machine struct {
	dir        string
	lives      int
	store      *Store
	now        world // as the open transaction sees it
	committed  world
	savepoints []*Savepoint
	marks      []world // as at each open savepoint
}

func (m *machine) path() string { return filepath.Join(m.dir, fmt.Sprint(m.lives), "a.sqlite") }

func (m *machine) open(t *rapid.T) {
	if err := os.MkdirAll(filepath.Dir(m.path()), 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := Open(options(m.path()))
	if err != nil {
		t.Fatal(err)
	}
	// The machine does not fail here: no need to wait for the disk.
	if err := s.conn.Exec("PRAGMA synchronous=OFF"); err != nil {
		t.Fatal(err)
	}
	m.store, m.now, m.savepoints, m.marks = s, m.committed.clone(), nil, nil
}

// crash leaves the files as they are to the next life.
func (m *machine) crash(t *rapid.T) {
	old := m.path()
	m.lives++
	if err := os.MkdirAll(filepath.Dir(m.path()), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(old + suffix)
		if err == nil {
			err = os.WriteFile(m.path()+suffix, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	m.store.Close()
	m.open(t)
}

func (m *machine) exec(t *rapid.T, sql string, args ...any) [][]any {
	rows, err := all(m.store, sql, args...)
	if err != nil {
		t.Fatalf("%s %v: %v", sql, args, err)
	}
	return rows
}

func ok(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (m *machine) end(t *rapid.T, keep bool) {
	n := len(m.savepoints) - 1
	if n < 0 {
		t.Skip("no savepoint")
	}
	if keep {
		ok(t, m.savepoints[n].Release())
	} else {
		ok(t, m.savepoints[n].Rollback())
		m.now = m.marks[n]
	}
	m.savepoints, m.marks = m.savepoints[:n], m.marks[:n]
}

// check compares everything.
func (m *machine) check(t *rapid.T) {
	got := world{map[string]string{}, map[int64]string{}, 0}
	for k, v := range m.list(t, ListOptions{}) {
		got.kv[k] = v
	}
	if len(m.exec(t, "SELECT 1 FROM sqlite_schema WHERE name = 't'")) > 0 {
		for _, r := range m.exec(t, "SELECT id, v FROM t") {
			got.rows[r[0].(int64)] = r[1].(string)
		}
		if n := m.exec(t, "SELECT count(*) FROM log")[0][0]; n != int64(len(got.rows)) {
			t.Fatalf("the trigger's table has %v rows, the table %d", n, len(got.rows))
		}
	}
	ms, _, err := m.store.Alarm()
	ok(t, err)
	got.alarm = ms
	if !maps.Equal(got.kv, m.now.kv) || !maps.Equal(got.rows, m.now.rows) || got.alarm != m.now.alarm {
		t.Fatalf("the store holds %v\nwant %v", got, m.now)
	}
}

func (m *machine) list(t *rapid.T, o ListOptions) map[string]string {
	out := map[string]string{}
	for _, k := range m.keys(t, o) {
		v, found, err := m.store.Get(k)
		ok(t, err)
		if !found {
			t.Fatalf("%q is listed and not there", k)
		}
		out[k] = string(v)
	}
	return out
}

func (m *machine) keys(t *rapid.T, o ListOptions) (keys []string) {
	it, err := m.store.List(o)
	ok(t, err)
	for {
		k, _, more, err := it.Next()
		ok(t, err)
		if !more {
			return keys
		}
		keys = append(keys, k)
	}
}

// wanted is what list should give, by the definition of its options.
func (w world) wanted(o ListOptions) (keys []string) {
	for k := range w.kv {
		if (o.Start == nil || k >= *o.Start) && (o.StartAfter == nil || k > *o.StartAfter) && (o.End == nil || k < *o.End) &&
			(o.Prefix == nil || strings.HasPrefix(k, *o.Prefix)) {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	if o.Reverse {
		slices.Reverse(keys)
	}
	if o.Limit > 0 && len(keys) > o.Limit {
		keys = keys[:o.Limit]
	}
	return keys
}

// Random programs of keys, SQL, alarms, savepoints, commits, rollbacks,
// deleteAll, restarts and crashes leave the store as a simple model of them
// says: atomic turns, nested transactions, nothing uncommitted after a crash.
func TestModel(t *testing.T) {
	dir, runs := t.TempDir(), 0
	key := rapid.SampledFrom([]string{"", "a", "ab", "b", "b\x00", "é", "z", "\U0001F600", "\uFFFD"})
	value := rapid.StringMatching(`[a-z]{0,3}`)
	rapid.Check(t, func(t *rapid.T) {
		runs++
		m := &machine{dir: filepath.Join(dir, fmt.Sprint(runs)), committed: world{map[string]string{}, map[int64]string{}, 0}}
		m.open(t)
		defer func() { m.store.Close() }()
		table := func(t *rapid.T) {
			m.exec(t, "CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, v); CREATE TABLE IF NOT EXISTS log (id); CREATE TRIGGER IF NOT EXISTS ti AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.id); END; CREATE TRIGGER IF NOT EXISTS td AFTER DELETE ON t BEGIN DELETE FROM log WHERE id = old.id; END")
		}
		bound := func(t *rapid.T, name string) *string {
			if rapid.Bool().Draw(t, name) {
				k := key.Draw(t, name+" is")
				return &k
			}
			return nil
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				k, v := key.Draw(t, "key"), value.Draw(t, "value")
				ok(t, m.store.Put(k, []byte(v)))
				m.now.kv[k] = v
			},
			"delete": func(t *rapid.T) {
				k := key.Draw(t, "key")
				existed, err := m.store.Delete(k)
				ok(t, err)
				if _, want := m.now.kv[k]; existed != want {
					t.Fatalf("delete %q: %v", k, existed)
				}
				delete(m.now.kv, k)
			},
			"list": func(t *rapid.T) {
				o := ListOptions{Start: bound(t, "start"), StartAfter: bound(t, "startAfter"), End: bound(t, "end"), Prefix: bound(t, "prefix"),
					Reverse: rapid.Bool().Draw(t, "reverse"), Limit: rapid.IntRange(0, 4).Draw(t, "limit")}
				if got, want := m.keys(t, o), m.now.wanted(o); !slices.Equal(got, want) {
					t.Fatalf("list gives %q, want %q", got, want)
				}
			},
			"insert": func(t *rapid.T) {
				table(t)
				id, v := rapid.Int64Range(1, 6).Draw(t, "id"), value.Draw(t, "value")
				_, err := all(m.store, "INSERT INTO t VALUES (?, ?)", float64(id), v)
				_, taken := m.now.rows[id]
				if taken != (err != nil) || err != nil && !strings.HasPrefix(err.Error(), "UNIQUE constraint failed: t.id: SQLITE_CONSTRAINT") {
					t.Fatalf("insert %d: %v", id, err)
				}
				if !taken {
					m.now.rows[id] = v
				}
			},
			"update": func(t *rapid.T) {
				table(t)
				v := value.Draw(t, "value")
				m.exec(t, "UPDATE t SET v = v || ? WHERE id % 2 = 0", v)
				for id := range m.now.rows {
					if id%2 == 0 {
						m.now.rows[id] += v
					}
				}
			},
			"remove": func(t *rapid.T) {
				table(t)
				id := rapid.Int64Range(1, 6).Draw(t, "id")
				m.exec(t, "DELETE FROM t WHERE id >= ?", float64(id))
				maps.DeleteFunc(m.now.rows, func(k int64, _ string) bool { return k >= id })
			},
			"alarm": func(t *rapid.T) {
				m.now.alarm = rapid.Int64Range(0, 3).Draw(t, "at")
				if m.now.alarm == 0 {
					ok(t, m.store.ClearAlarm())
				} else {
					ok(t, m.store.SetAlarm(m.now.alarm))
				}
			},
			"savepoint": func(t *rapid.T) {
				sp, err := m.store.Savepoint()
				ok(t, err)
				m.savepoints, m.marks = append(m.savepoints, sp), append(m.marks, m.now.clone())
			},
			"release":  func(t *rapid.T) { m.end(t, true) },
			"rollback": func(t *rapid.T) { m.end(t, false) },
			"commit": func(t *rapid.T) {
				err := m.store.Commit()
				if len(m.savepoints) > 0 {
					if err == nil {
						t.Fatal("a commit with savepoints open")
					}
					return
				}
				ok(t, err)
				m.committed = m.now.clone()
			},
			"undo": func(t *rapid.T) {
				ok(t, m.store.Rollback())
				m.now, m.savepoints, m.marks = m.committed.clone(), nil, nil
			},
			"deleteAll": func(t *rapid.T) {
				keep := rapid.Bool().Draw(t, "keep the alarm")
				keys, err := m.store.DeleteAll(DeleteAllOptions{KeepAlarm: keep})
				if len(m.savepoints) > 0 {
					if err == nil {
						t.Fatal("deleteAll inside a transaction")
					}
					return
				}
				ok(t, err)
				if keys != len(m.now.kv) {
					t.Fatalf("deleteAll counts %d keys of %d", keys, len(m.now.kv))
				}
				alarm := m.now.alarm
				if !keep {
					alarm = 0
				}
				m.committed = world{map[string]string{}, map[int64]string{}, alarm}
				m.now = m.committed.clone()
			},
			"reopen": func(t *rapid.T) {
				ok(t, m.store.Close())
				m.open(t)
			},
			"crash": func(t *rapid.T) { m.crash(t) },
			"":      func(t *rapid.T) { m.check(t) },
		})
	})
}
