package oracle

import (
	"maps"
	"slices"
	"strings"

	"minido.dev/minido/chaos/history"
	"minido.dev/minido/internal/lazyregexp"
)

// digits are what shifts when a recovery adds rows: numbers of rows, versions.
var digits = lazyregexp.New(`\d+`)

// word is what programs name states and kinds of events with.
var word = lazyregexp.New(`[A-Za-z_]+`)

// record is a row with which a program records that it has recovered.
type record struct {
	at    place
	table table
	cells []string
	fresh []bool // by column: it has words that no earlier state has there
	// known says that clients were told of it, or that another record names it.
	known bool
}

// statusColumn are columns with how far something has come, and oneName what is in them.
var (
	statusColumn = lazyregexp.New(`(?i)(^|[._])(status|state|phase|stage|outcome)$`)
	oneName      = lazyregexp.New(`^[A-Za-z]+([_ -][A-Za-z]+)*$`)
)

// Recovered looks for rows with which a program records that it has recovered: they
// have a word that no earlier state has in that column, neither of runs without faults nor
// at the deaths. A word that clients have sent is what they want stored, and says nothing of a
// recovery, but where it is in a table that has no rows otherwise. What is left of got is then
// compared without numbers, which such rows shift. ok is false without any.
//
// A record may say that something was given up, and so stand in the place of what should be
// there. Where it is a status that takes that place, somebody must know: heard are the words that clients
// were told after a death.
func (m Mask) Recovered(got State, earlier []State, sent, heard map[string]bool) (loose Mask, rest State, ok bool) {
	known, used := map[string]bool{}, map[string]bool{}
	for _, s := range earlier {
		s.words(func(at place, _, column int, word string) {
			known[at.key()+"."+s.tables[at].columns[column]+" "+word], used[at.key()] = true, true
		})
	}
	records := map[place]map[int]*record{}
	got.words(func(at place, row, column int, word string) {
		t := got.tables[at]
		if known[at.key()+"."+t.columns[column]+" "+word] || sent[word] && used[at.key()] {
			return
		}
		if records[at] == nil {
			records[at] = map[int]*record{}
		}
		r := records[at][row]
		if r == nil {
			r = &record{at: at, table: t, cells: t.rows[row], fresh: make([]bool, len(t.columns))}
			records[at][row] = r
		}
		r.fresh[column], r.known = true, r.known || heard[word]
	})
	if len(records) == 0 {
		return m, got, false
	}
	loose, rest = m, got
	loose.records, rest.tables = map[string][]record{}, maps.Clone(got.tables)
	var all []*record
	for _, at := range slices.SortedFunc(maps.Keys(records), comparePlaces) {
		t := got.tables[at]
		left := t
		left.rows = nil
		for i, row := range t.rows {
			if r := records[at][i]; r != nil {
				all = append(all, r)
			} else {
				left.rows = append(left.rows, row)
			}
		}
		rest.tables[at] = left
	}
	for _, r := range all {
		r.known = r.known || slices.ContainsFunc(all, func(other *record) bool { return other.names(*r) })
	}
	for _, r := range all {
		loose.records[r.at.key()] = append(loose.records[r.at.key()], *r)
	}
	return loose, rest, true
}

// status are its columns with a status that is new; none in a row that speaks of an interruption.
func (r record) status() (columns []int) {
	if slices.ContainsFunc(r.cells, counted.MatchString) {
		return nil
	}
	for i, column := range r.table.columns {
		if r.fresh[i] && statusColumn.MatchString(column) && oneName.MatchString(r.cells[i]) {
			columns = append(columns, i)
		}
	}
	return columns
}

// names reports whether a record is a text about another one, which has a new status.
func (r record) names(other record) bool {
	if len(r.status()) > 0 {
		return false
	}
	is := map[string]bool{}
	for _, cell := range r.cells {
		for _, w := range spoken.FindAllString(cell, -1) {
			is[w] = true
		}
	}
	for _, i := range other.status() {
		if is[other.cells[i]] {
			return true
		}
	}
	return slices.ContainsFunc(other.table.keys, func(key string) bool {
		cell := other.cells[slices.Index(other.table.columns, key)]
		return word.MatchString(cell) && is[cell]
	})
}

// spoken are words and names of a text.
var spoken = lazyregexp.New(`[A-Za-z0-9_-]+`)

// mistaken are the records of a status that should be another one, of which nobody knows.
func (m Mask) mistaken(got, want State) (out []Difference) {
	for _, key := range slices.Sorted(maps.Keys(m.records)) {
		for _, r := range m.records[key] {
			if r.known || m.columns[key] || m.excludes(r.at.name) || counted.MatchString(r.at.name) {
				continue
			}
			for _, i := range r.status() {
				if m.hides(r.at, r.table.columns[i]) {
					continue
				}
				if should, is := m.instead(r, i, got, want); is {
					at := r.at
					if m.objects[at.namespace] {
						at.object = ""
					}
					out = append(out, Difference{at.label(), should, 0, 1, at}, Difference{at.label(), show(r.table.columns, r.cells), 1, 0, at})
					break
				}
			}
		}
	}
	return out
}

// instead is the row of want in whose place r is, which has another status in that column: one that got
// lacks, where want has as many rows with what identifies r as there are with r.
func (m Mask) instead(r record, column int, got, want State) (row string, ok bool) {
	identity := m.identity(r)
	same := func(t table, cells []string) bool {
		return !slices.ContainsFunc(identity, func(name string) bool {
			i := slices.Index(t.columns, name)
			return i < 0 || cells[i] != r.cells[slices.Index(r.table.columns, name)]
		})
	}
	rows := func(s State, tell func(t table, cells []string)) {
		for _, at := range slices.SortedFunc(maps.Keys(s.tables), comparePlaces) {
			if at.key() == r.at.key() && (at.object == r.at.object || m.objects[at.namespace]) {
				for _, cells := range s.tables[at].rows {
					tell(s.tables[at], cells)
				}
			}
		}
	}
	line := func(t table, cells []string) string {
		var columns, kept []string
		for i, column := range t.columns {
			if cells[i] != absent && !m.hides(r.at, column) {
				columns, kept = append(columns, column), append(kept, digits.ReplaceAllString(cells[i], "#"))
			}
		}
		return show(columns, kept)
	}
	spare, like, should := map[string]int{}, 0, 0
	rows(got, func(t table, cells []string) {
		spare[line(t, cells)]++
		if same(t, cells) {
			like++
		}
	})
	for _, other := range m.records[r.at.key()] {
		if (other.at == r.at || m.objects[r.at.namespace]) && same(other.table, other.cells) {
			like++
		}
	}
	rows(want, func(t table, cells []string) {
		spare[line(t, cells)]--
		if same(t, cells) {
			should++
		}
	})
	if like > should {
		return "", false // it is one more
	}
	rows(want, func(t table, cells []string) {
		i := slices.Index(t.columns, r.table.columns[column])
		if !ok && i >= 0 && same(t, cells) && oneName.MatchString(cells[i]) && cells[i] != r.cells[column] && spare[line(t, cells)] < 0 {
			row, ok = show(t.columns, cells), true
		}
	})
	return row, ok
}

// identity are the columns that identify a record: the primary key, or all that are not new, but
// for what differs from run to run.
func (m Mask) identity(r record) []string {
	varies := func(column string) bool {
		i := slices.Index(r.table.columns, column)
		return i < 0 || m.hides(r.at, column) || r.cells[i] == "#"
	}
	keys := slices.DeleteFunc(slices.Clone(r.table.keys), varies)
	if len(keys) > 0 {
		return keys
	}
	for i, column := range r.table.columns {
		if !r.fresh[i] && !varies(column) && !counted.MatchString(r.cells[i]) {
			keys = append(keys, column)
		}
	}
	return keys
}

// Heard are the words that clients were told after the first death, and those of effects.
func Heard(events []history.Event) map[string]bool {
	out := map[string]bool{}
	dead := !slices.ContainsFunc(events, func(e history.Event) bool { return e.Kind == history.Kill })
	for _, e := range events {
		dead = dead || e.Kind == history.Kill
		said := ""
		switch e.Kind {
		case history.Return, history.Fail, history.Receive:
			said = string(e.Data)
		case history.Effect:
			said = e.Text
		default: // nothing that anyone is told
		}
		if dead {
			for _, w := range word.FindAllString(said, -1) {
				out[w] = true
			}
		}
	}
	return out
}

// words tells each word of each row of a table of SQL, with the numbers of its row and column.
func (s State) words(tell func(at place, row, column int, word string)) {
	for at, t := range s.tables { // order-independent: what is told is a set
		if at.namespace == "" || strings.HasPrefix(at.name, "(") {
			continue
		}
		for n, row := range t.rows {
			for i := range t.columns {
				if row[i] == nothing {
					continue
				}
				for _, w := range word.FindAllString(row[i], -1) {
					tell(at, n, i, w)
				}
			}
		}
	}
}
