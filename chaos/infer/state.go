// Package infer finds invariants over several rows that held in every state of runs
// without a fault: sums that stay constant, tables that count each other, valid
// references. It knows nothing of the project but its tables, and offers what it finds
// as TypeScript that a scenario's invariant() can have.
package infer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/config"
)

// amount is a number of a state: how many rows the tables of that name have in all objects
// of a class, or the sum of one of their columns.
type amount struct {
	class, table, column string // column is "" for the number of rows
}

// what is the amount in SQL.
func (a amount) what() string {
	if a.column == "" {
		return "COUNT(*)"
	}
	return "SUM(" + evidence.QuoteName(a.column) + ")"
}

// String is the amount for people.
func (a amount) String() string {
	if a.column == "" {
		return "the number of " + a.table + " in " + a.class
	}
	return "the sum of " + a.table + "." + a.column + " in " + a.class
}

// link is a column whose values are those of another table's key, in the same object.
type link struct {
	class, table, column, other, key string
}

// State is what was measured of a state directory. Immutable.
type State struct {
	amounts map[amount]int64
	// rows tells apart what a column holds, by its amount.
	rows map[amount]string
	// links are references that may be: whether all lead somewhere, and how many values they have.
	links map[link]linked
}

type linked struct {
	holds  bool
	values int
}

// Classes are the names of a project's classes by the folders of their objects.
func Classes(p *config.Project) map[string]string {
	out := map[string]string{}
	for _, b := range p.DurableObjects {
		out[b.UniqueKey] = b.ClassName
	}
	return out
}

// Tables that are none of the project's, and columns whose sums say nothing: keys, times,
// versions, and what counts attempts.
var (
	bookkeeping = lazyregexp.New(`^(sqlite_|_cf_|cf_|__)`)
	meaningless = lazyregexp.New(`(?i)(^|_)(id|ids|key|rowid|seq|pos|position|index|idx|version|rev|time|at|ts|date|epoch|expires|due|when|attempts?|tries|retries|updated|created)$|(Id|At)$`)
)

// most bounds what is a number that adds up: beyond it are times and ids.
const most = 1_000_000_000

// Measure measures a state directory that no server writes, or a copy of one. classes are
// those of Classes.
func Measure(dir string, classes map[string]string) (State, error) {
	s := State{amounts: map[amount]int64{}, rows: map[amount]string{}, links: map[link]linked{}}
	never := map[amount]bool{} // columns that are no numbers somewhere
	for _, folder := range sortedKeys(classes) {
		files, err := fs.Glob(os.DirFS(dir), "v3/do/"+folder+"/*.sqlite")
		if err != nil {
			return s, fmt.Errorf("infer: %w", err)
		}
		for _, file := range files {
			if id := strings.TrimSuffix(filepath.Base(file), ".sqlite"); id == "metadata" || strings.Contains(id, ".") {
				continue // the alarm index, or a facet's
			}
			if err := s.measure(filepath.Join(dir, filepath.FromSlash(file)), classes[folder], never); err != nil {
				return s, fmt.Errorf("infer: %s: %w", file, err)
			}
		}
	}
	for a := range never { // order-independent: each is taken away
		delete(s.amounts, a)
	}
	return s, nil
}

// measure adds an object's database.
func (s State) measure(file, class string, never map[amount]bool) (err error) {
	db, err := evidence.Open(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	names, err := db.Tables()
	if err != nil {
		return err
	}
	tables := map[string][]evidence.Row{}
	for _, name := range names {
		if bookkeeping.MatchString(name) {
			continue
		}
		if tables[name], err = db.Query("SELECT * FROM " + evidence.QuoteName(name)); err != nil {
			return err
		}
		count := amount{class, name, ""}
		s.amounts[count] += int64(len(tables[name]))
		s.rows[count] += fmt.Sprint(len(tables[name]), ";")
		if len(tables[name]) > 0 {
			for _, column := range sortedKeys(tables[name][0]) {
				s.add(amount{class, name, column}, tables[name], never)
			}
		}
	}
	for name, rows := range tables { // order-independent: each has places of its own
		for other, keys := range tables { // order-independent: as above
			if name != other && len(rows) > 0 {
				s.relate(link{class: class, table: name, other: other}, rows, keys)
			}
		}
	}
	return nil
}

// add adds a column's values.
func (s State) add(a amount, rows []evidence.Row, never map[amount]bool) {
	if meaningless.MatchString(a.column) {
		return
	}
	var values []string
	for _, row := range rows {
		n, ok := number(row[a.column])
		if !ok || n > most || n < -most {
			never[a] = true
			return
		}
		s.amounts[a] += n
		values = append(values, fmt.Sprint(n))
	}
	slices.Sort(values)
	s.rows[a] += strings.Join(values, ",") + ";"
}

// number is a whole number, as SQLite or JavaScript has it.
func number(v any) (int64, bool) {
	switch v := v.(type) {
	case nil:
		return 0, true
	case int64:
		return v, true
	case float64:
		return int64(v), v == float64(int64(v))
	}
	return 0, false
}

// relate looks for columns of a table that are named as if they were references to another.
func (s State) relate(l link, rows, keys []evidence.Row) {
	for _, column := range sortedKeys(rows[0]) {
		for _, key := range []string{"id", "key", "name", column} {
			if l.column, l.key = column, key; !named(l) {
				continue
			}
			known, unique := map[string]bool{}, true
			for _, row := range keys {
				v, has := row[key]
				text := fmt.Sprint(v)
				unique = unique && has && !known[text]
				known[text] = true
			}
			was, seen := s.links[l]
			now := linked{holds: (!seen || was.holds) && unique, values: was.values}
			values := map[string]bool{}
			for _, row := range rows {
				if v := row[column]; v != nil {
					text := fmt.Sprint(v)
					values[text] = true
					now.holds = now.holds && known[text]
				}
			}
			now.values += len(values)
			s.links[l] = now
		}
	}
}

// named reports whether a column's name is that of the other table and its key:
// order_id and orders.id, author and authors.name, or sku in both.
func named(l link) bool {
	column, other := strings.ToLower(l.column), strings.ToLower(l.other)
	if l.key == l.column {
		return column != "id" && column != "name" && column != "key"
	}
	one := strings.TrimSuffix(other, "s")
	for _, of := range []string{other, one, strings.TrimSuffix(one, "e")} {
		if of != "" && (column == of || column == of+"_"+l.key || column == of+l.key) {
			return true
		}
	}
	return false
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m { // order-independent: sorted below
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
