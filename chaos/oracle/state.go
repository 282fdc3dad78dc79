// Package oracle compares the state of a system at rest after a fault with that of
// runs without faults: the rows of its tables, its KV entries, its alarms, the effects
// that arrived at the sink, and what clients were told. It asks for no knowledge of
// the project. What differs from run to run by itself (ids, times, random values) is
// learnt from runs without faults, and left out.
package oracle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/internal/lazyregexp"
)

// State is what a system left at rest. Immutable.
type State struct {
	tables map[place]table
	cut    map[string]bool // see cutSockets
	woken  int             // how often objects hibernated
	again  bool            // see Repeated
	agents map[place]bool  // objects, with no name of a table, that are agents of the agents SDK
	// started is what the object of Newborn has once its onStart has run too.
	started map[place]table
}

// place is where a table is.
type place struct {
	// namespace is the folder of the object's class, "" for the effect sink. object is
	// its id, and .N behind it a facet.
	namespace, object string
	// name of the table; the kinds that are none of SQL are in parentheses.
	name string
}

// Tables that are none of SQL: each key of a KV store,  the alarm, the effects.
const (
	kvPrefix = "(key) "
	alarm    = "(alarm)"
	effects  = "(effects)"
)

// table is rows of cells, in no order.
type table struct {
	columns []string
	rows    [][]string
	serial  string   // the column that AUTOINCREMENT numbers, or ""
	keys    []string // the columns of the primary key
	// greeting is how many of the first rows a socket was told before its client sent anything.
	greeting int
}

// absent is the cell of a row that has no such member.
const absent = "\x00"

// storeSpaces begins the namespaces of KV, D1 and R2.
const storeSpaces = "miniflare-"

// bookkeeping are the tables of SQLite, of the runtime and of the agents SDK, whose
// packages count attempts and interruptions in them; checkers of their own judge those.
// What users keep in them is read by itself (ofAgents).
var bookkeeping = lazyregexp.New(`^(sqlite_|_cf_|cf_|__)`)

// readers read the files of each folder below v3: objects of the project's classes,
// and the bindings that keep data.
var readers = map[string]func(s State, file string, at place) error{
	"do": State.readObject,
	"d1": State.readObject,
	"kv": State.readKVNamespace,
	"r2": State.readBucket,

	"workflows": State.readWorkflow,
}

// Read reads the state of a persist directory that no server uses, and the effects in
// the history of its run.
func Read(dir string, events []history.Event) (State, error) {
	s := State{tables: map[place]table{}, agents: map[place]bool{}, cut: cutSockets(events), woken: hibernations(events)}
	for kind, read := range readers { // order-independent: each fills places of its own
		files, err := fs.Glob(os.DirFS(dir), "v3/"+kind+"/*/*.sqlite")
		if err != nil {
			return s, fmt.Errorf("oracle: %w", err)
		}
		for _, file := range files {
			file = filepath.Join(dir, filepath.FromSlash(file))
			object := strings.TrimSuffix(filepath.Base(file), ".sqlite")
			if object == "metadata" {
				continue // the alarm index: it follows the objects' own rows
			}
			if err := read(s, file, place{namespace: filepath.Base(filepath.Dir(file)), object: object}); err != nil {
				return s, fmt.Errorf("oracle: %s: %w", file, err)
			}
		}
	}
	s.readEffects(events)
	s.readTold(events)
	return s, nil
}

// Newborn is what s has of one object, whose constructor has just ended, and of KV, D1 and R2: what a
// call uses up there may still be there when it has been cut. label is the object's class and
// its name or id; the name of a facet is behind that of its parent. What other objects
// hold at that moment is not what a constructor leaves.
func (s State) Newborn(label string) State {
	_, name, _ := strings.Cut(label, "/")
	parents := []string{} // each that a facet's name may begin with
	for i, r := range name {
		if r == '/' {
			parents = append(parents, name[:i])
		}
	}
	out := State{tables: map[place]table{}, agents: map[place]bool{}}
	its := func(at place) bool {
		is := func(name string) bool {
			id, _, _ := strings.Cut(at.object, ".")
			return id == name || id == objectid.NewNamespace(at.namespace).FromName(name).String()
		}
		if strings.Contains(at.object, ".") {
			return slices.ContainsFunc(parents, is)
		}
		return at.namespace != "" && is(name)
	}
	for at, t := range s.tables { // order-independent: each place is copied once
		if strings.HasPrefix(at.namespace, storeSpaces) || its(at) {
			out.tables[at] = t
		}
	}
	for at := range s.agents { // order-independent: into another map
		if its(at) {
			out.agents[at] = true
		}
	}
	return out
}

// agent reports whether the object of Newborn is an agent of the agents SDK, whose onStart
// makes its tables, in a turn of its own behind the constructor's.
func (s State) agent() bool { return len(s.agents) > 0 }

// readKVNamespace reads the entries of a KV binding; their values are files.
func (s State) readKVNamespace(file string, at place) error {
	return s.readEntries(file, at, "SELECT key, blob_id, metadata FROM _mf_entries", func(r evidence.Row) (any, map[string]string, error) {
		all := os.DirFS(filepath.Dir(filepath.Dir(file)))
		blobs, err := fs.Glob(all, "*/blobs/"+r.Text("blob_id"))
		if err != nil || len(blobs) == 0 {
			return nil, nil, errors.Join(err, fmt.Errorf("the value of %q has no file", r.Text("key")))
		}
		value, err := fs.ReadFile(all, blobs[0])
		return ofBytes(value), map[string]string{"(metadata)": text(r["metadata"])}, err
	})
}

// readBucket reads the objects of an R2 binding; their values are compared by their ETag.
func (s State) readBucket(file string, at place) error {
	return s.readEntries(file, at, "SELECT key, etag, size FROM _mf_objects", func(r evidence.Row) (any, map[string]string, error) {
		return fmt.Sprintf("%d bytes, %.8s", r.Int("size"), r.Text("etag")), nil, nil
	})
}

// readEntries makes each entry a table of its own, so that each is masked for itself.
func (s State) readEntries(file string, at place, sql string, value func(evidence.Row) (any, map[string]string, error)) (err error) {
	db, err := evidence.Open(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	names, err := db.Tables()
	if err != nil || !slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(sql, " "+name) }) {
		return err // died before the table was made
	}
	rows, err := db.Query(sql)
	all := entries{}
	for _, r := range rows {
		v, beside, err := value(r)
		if err != nil {
			return err
		}
		all.add(r.Text("key"), v, beside)
	}
	s.putEntries(at, all)
	return err
}

func (s State) readObject(file string, at place) (err error) {
	db, err := evidence.Open(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	names, err := db.Tables()
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == "_cf_KV" {
			if err := s.readKV(db, at); err != nil {
				return err
			}
		}
		if err := s.readAgents(db, at, name); err != nil {
			return err
		}
		if bookkeeping.MatchString(name) {
			continue
		}
		rows, err := db.Query("SELECT * FROM " + evidence.QuoteName(name))
		if err != nil {
			return err
		}
		if err := s.add(db, at, name, rows); err != nil {
			return err
		}
	}
	_, set, err := db.Alarm()
	if err == nil && set {
		s.put(at, alarm, table{columns: []string{"alarm"}, rows: [][]string{{"set"}}})
	}
	return err
}

// readKV reads what ctx.storage.put has stored, but for what packages count there.
func (s State) readKV(db *evidence.DB, at place) error {
	rows, err := db.Query("SELECT key, value FROM _cf_KV")
	all := entries{}
	for _, r := range rows {
		if key := r.Text("key"); !bookkeeping.MatchString(key) {
			all.add(key, serialized(r["value"]), nil)
		}
	}
	s.putEntries(at, all)
	return err
}

// autoincrement says in a table's declaration that SQLite numbers its rows and never uses a
// number again.
var autoincrement = lazyregexp.New(`(?i)\bAUTOINCREMENT\b`)

func (s State) add(db *evidence.DB, at place, name string, rows []evidence.Row) error {
	if len(rows) == 0 {
		return nil // as if it had not been created yet
	}
	var all told
	for _, r := range rows {
		all.rows = append(all.rows, expand(r))
	}
	t := all.table()
	declared, err := db.Query("SELECT m.sql, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name = ? AND c.pk > 0 ORDER BY c.pk", name)
	for _, key := range declared {
		if slices.Contains(t.columns, key.Text("name")) { // it is no object of JSON
			t.keys = append(t.keys, key.Text("name"))
		}
	}
	if len(declared) == 1 && autoincrement.MatchString(declared[0].Text("sql")) {
		t.serial = declared[0].Text("name")
	}
	s.put(at, name, t)
	return err
}

func (s State) put(at place, name string, t table) {
	at.name = name
	s.tables[at] = t
}

// readEffects takes each effect once: checkers of their own judge repetitions.
func (s State) readEffects(events []history.Event) {
	seen := map[string]bool{}
	var t table
	for _, e := range events {
		if name := normal(e.Text); e.Kind == history.Effect && !seen[name] {
			seen[name] = true
			t.rows = append(t.rows, []string{name})
		}
	}
	if t.rows != nil {
		t.columns = []string{"name"}
		s.put(place{}, effects, t)
	}
}

// varying is what is never the same in two runs, within any text: dates, times in
// milliseconds since 2001, UUIDs, long hexadecimal ids.
var varying = lazyregexp.New(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?|[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|\b1\d{12}\b|\b[0-9a-f]{16,}\b`)

func normal(s string) string { return varying.ReplaceAllString(s, "#") }

// nothing is the cell of a column without a value.
const nothing = "NULL"

// text is a cell as people read it.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return nothing
	case string:
		return normal(v)
	case []byte:
		return normal(printable(v))
	}
	return normal(fmt.Sprint(v))
}

// printable shows the text within a serialized value.
func printable(b []byte) string {
	var out strings.Builder
	for _, c := range b {
		if c >= ' ' && c < 0x7f {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "\\x%02x", c)
		}
	}
	return out.String()
}
