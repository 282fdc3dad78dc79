package control

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
)

// differingRows bounds the rows that a difference lists of one table and kind.
const differingRows = 200

// DifferenceRequest is the body of POST /v1/difference.
type DifferenceRequest struct {
	Class  string   `json:"class"`
	Object string   `json:"object"`
	Facet  []string `json:"facet,omitempty"` // see PastRequest
	From   string   `json:"from"`            // bookmarks
	To     string   `json:"to"`
}

// Difference is what changed from one state of an object's database to another.
type Difference struct {
	Tables []TableDifference `json:"tables"` // those that differ, by name
}

// TableDifference is what changed in one table. Values are those of POST /v1/sql.
type TableDifference struct {
	Name string `json:"name"`
	// Change is rows; or created, dropped, altered: then no rows are compared.
	Change  string   `json:"change"`
	Columns []string `json:"columns"`
	Added   [][]any  `json:"added"`
	Removed [][]any  `json:"removed"`
	// Changed are rows of the same key: what they were and what they are.
	Changed   []RowChange `json:"changed"`
	Truncated bool        `json:"truncated"` // there are more rows than are listed
}

// RowChange is one row that both states have.
type RowChange struct {
	Before []any `json:"before"`
	After  []any `json:"after"`
}

func (c *Control) difference(w http.ResponseWriter, r *http.Request) {
	var req DifferenceRequest
	ref, ok := c.find(w, r, &req, &req.Class, &req.Object)
	if !ok {
		return
	}
	var out *Difference
	err := c.states(r, ref, req.Facet, []string{req.From, req.To}, func(paths []string) (err error) {
		out, err = compare(paths[0], paths[1], c.clock(), c.opts.Machine, c.opts.Entropy)
		return err
	})
	if err != nil {
		failWith(w, err)
		return
	}
	reply(w, http.StatusOK, out)
}

// comparison has two states open as the schemas main (after) and old.
type comparison struct{ conn *sqlite.Conn }

// compare finds what changed between two database files, of which nobody else
// knows. machine bounds the time.
func compare(before, after string, c, machine clock.Clock, chance entropy.Source) (d *Difference, err error) {
	conn, err := sqlite.Open(sqlite.Options{Path: after, MustExist: true, Now: c.Now, Rand: chance})
	if err != nil {
		return nil, fmt.Errorf("control: difference: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	conn.SetLimit(sqlite.LimitLength, maxValueBytes)
	if err := conn.Attach(before, "old"); err != nil {
		return nil, fmt.Errorf("control: difference: %w", err)
	}
	if err := conn.SetDefensive(); err != nil {
		return nil, fmt.Errorf("control: difference: %w", err)
	}
	deadline := machine.Now().Add(queryTime)
	steps := 0
	conn.SetProgress(progressSteps, func() bool {
		steps += progressSteps
		return steps > maxSteps || machine.Now().After(deadline)
	})
	k := comparison{conn}
	tables, err := k.rows(`SELECT n.name, o.name, n.sql IS o.sql FROM (SELECT name, sql FROM main.sqlite_schema WHERE type = 'table') n
FULL JOIN (SELECT name, sql FROM old.sqlite_schema WHERE type = 'table') o ON n.name = o.name ORDER BY coalesce(n.name, o.name)`, maxRows)
	if err != nil {
		return nil, err
	}
	d = &Difference{Tables: []TableDifference{}}
	for _, t := range tables.Rows {
		td, err := k.table(t[0], t[1], t[2] == int64(1))
		if err != nil {
			return nil, err
		}
		if td != nil && !td.same() {
			d.Tables = append(d.Tables, *td)
		}
	}
	return d, nil
}

// table compares one table; nil if nothing changed. now and was are its name in
// the two states, nil where it is absent.
func (k comparison) table(now, was any, same bool) (*TableDifference, error) {
	td := &TableDifference{Change: "rows", Columns: []string{}, Added: [][]any{}, Removed: [][]any{}, Changed: []RowChange{}}
	switch {
	case was == nil:
		td.Name, td.Change = now.(string), "created"
		return td, nil
	case now == nil:
		td.Name, td.Change = was.(string), "dropped"
		return td, nil
	}
	td.Name = now.(string)
	kind, err := k.rows("SELECT type, wr FROM pragma_table_list WHERE schema = 'main' AND name = "+quote(td.Name, '\''), 1)
	if err != nil {
		return nil, err
	}
	if len(kind.Rows) == 0 || kind.Rows[0][0] == "virtual" || kind.Rows[0][0] == "shadow" {
		return nil, nil // an index over other tables' rows; its own storage says nothing to people
	}
	if !same {
		td.Change = "altered"
		return td, nil
	}
	columns, err := k.rows("SELECT name, pk FROM pragma_table_xinfo("+quote(td.Name, '\'')+") WHERE hidden <> 1", maxRows)
	if err != nil {
		return nil, err
	}
	var names, key []string
	for _, c := range columns.Rows {
		td.Columns = append(td.Columns, c[0].(string))
		names = append(names, quote(c[0].(string), '"'))
		if c[1] != int64(0) {
			key = append(key, quote(c[0].(string), '"'))
		}
	}
	if kind.Rows[0][1] == int64(0) {
		key = []string{rowid(td.Columns)}
	}
	return td, k.fill(td, names, key)
}

// rowid is a name of the row's number that no column hides; of a table whose
// columns have all three, the first.
func rowid(columns []string) string {
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		hidden := false
		for _, c := range columns {
			hidden = hidden || strings.EqualFold(c, name)
		}
		if !hidden {
			return name
		}
	}
	return "rowid"
}

// fill lists the rows that differ.
func (k comparison) fill(td *TableDifference, columns, key []string) error {
	of := func(alias string, names []string, join, other string) string {
		parts := make([]string, len(names))
		for i, n := range names {
			parts[i] = alias + "." + n
			if other != "" {
				parts[i] += " IS " + other + "." + n
			}
		}
		return strings.Join(parts, join)
	}
	name, match := quote(td.Name, '"'), of("a", key, " AND ", "b")
	only := func(in, absent string) ([][]any, error) {
		res, err := k.rows(fmt.Sprintf("SELECT %s FROM %s.%s a WHERE NOT EXISTS (SELECT 1 FROM %s.%s b WHERE %s) ORDER BY %s",
			of("a", columns, ", ", ""), in, name, absent, name, match, of("a", key, ", ", "")), differingRows)
		if err != nil {
			return nil, err
		}
		td.Truncated = td.Truncated || res.Truncated
		return res.Rows, nil
	}
	var err error
	if td.Added, err = only("main", "old"); err != nil {
		return err
	}
	if td.Removed, err = only("old", "main"); err != nil {
		return err
	}
	res, err := k.rows(fmt.Sprintf("SELECT %s, %s FROM old.%s a JOIN main.%s b ON %s WHERE NOT (%s) ORDER BY %s",
		of("a", columns, ", ", ""), of("b", columns, ", ", ""), name, name, match, of("a", columns, " AND ", "b"), of("a", key, ", ", "")), differingRows)
	if err != nil {
		return err
	}
	td.Truncated = td.Truncated || res.Truncated
	for _, row := range res.Rows {
		td.Changed = append(td.Changed, RowChange{row[:len(columns)], row[len(columns):]})
	}
	return nil
}

// same says that no row was found to differ.
func (td *TableDifference) same() bool {
	return td.Change == "rows" && len(td.Added)+len(td.Removed)+len(td.Changed) == 0
}

func (k comparison) rows(sql string, limit int) (*QueryResult, error) {
	st, _, err := k.conn.Prepare(sql, false)
	if err != nil {
		return nil, fmt.Errorf("control: difference: %w", err)
	}
	defer st.Finalize()
	return collect(st, limit)
}

func quote(name string, mark byte) string {
	q := string(mark)
	return q + strings.ReplaceAll(name, q, q+q) + q
}
