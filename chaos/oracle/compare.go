package oracle

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"minido.dev/minido/internal/lazyregexp"
)

// Mask says what is not compared: what differs between runs without faults, and
// what a project excludes. Immutable once learnt.
type Mask struct {
	columns map[string]bool     // "namespace/table.column"; "namespace/table" is all of it
	objects map[string]bool     // namespaces whose ids differ: their objects are one heap of rows
	given   []string            // patterns of table, or table.column
	records map[string][]record // of a recovery, by "namespace/table"; nil without any
	births  []State             // what constructors leave, an object each
}

// Learn makes a mask of what differs between runs that differ in their seed and their
// time alone. births are states in which an object has been constructed, and no more: a
// fault may leave that of a call that is not done. given are patterns of a user's
// (path.Match) of tables and table.column.
func Learn(runs, births []State, given []string) Mask {
	m := Mask{columns: map[string]bool{}, objects: map[string]bool{}, births: births, given: given}
	for _, run := range runs[1:] {
		for _, space := range union(runs[0].spaces(), run.spaces()) {
			if !maps.Equal(runs[0].objects(space), run.objects(space)) {
				m.objects[space] = true
			}
		}
	}
	first := runs[0].flat(Mask{objects: m.objects})
	for _, run := range runs[1:] {
		other := run.flat(Mask{objects: m.objects})
		for _, at := range union(first, other) {
			a, b := first[at], other[at]
			if len(a.rows) != len(b.rows) {
				m.columns[at.key()] = true
				continue
			}
			for _, column := range union(a.members(), b.members()) {
				i, j := slices.Index(a.columns, column), slices.Index(b.columns, column)
				switch parent, _ := parentOf(column); {
				case i >= 0 && j >= 0 && slices.Equal(a.column(i), b.column(j)):
				case i >= 0 && j >= 0:
					m.columns[at.key()+"."+column] = true
				case parent == "":
					m.columns[at.key()] = true
				default: // names of members that vary
					m.columns[at.key()+"."+parent] = true
				}
			}
		}
	}
	return m
}

// Masked lists what was learnt to differ, sorted, for people.
func (m Mask) Masked() []string {
	return slices.Sorted(maps.Keys(m.columns))
}

// hides reports whether a column is left out. The number of rows still counts.
func (m Mask) hides(at place, column string) bool {
	if counted.MatchString(at.name) || at.isTold() && ofProcess.MatchString(column) {
		return true
	}
	if counted.MatchString(column) {
		return true
	}
	for more := true; more; column, more = parentOf(column) {
		if m.columns[at.key()+"."+column] || m.excludes(at.name+"."+column) {
			return true
		}
	}
	return false
}

// parentOf is the object that a member belongs to; ok is false for what is a column itself.
func parentOf(column string) (parent string, ok bool) {
	n := strings.LastIndexByte(column, '.')
	return column[:max(n, 0)], n > 0
}

// lasting are columns with how long something took: that it was measured counts, not what
// came out, since a recovery takes longer.
var lasting = lazyregexp.New(`(?i)(^|[._])(elapsed|duration|latency|took)|_ms$|[a-z](?-i:Ms)$`)

// units are columns with how much time is accounted for. It may be more after a fault, when
// something waited for the recovery, but not less.
var units = lazyregexp.New(`(?i)(^|[._])(seconds|minutes|hours)$`)

// numbering are columns and KV entries with numbers that are given in turn, and with how far
// something has come in them. What a client has sent again may use up another one, which leaves a gap
// that means nothing: they may be more then, but not less.
var numbering = lazyregexp.New(`(?i)(^|[._: -])(seq|sequence|number|version|revision|lsn|cursor|offset|applied|acked|(next|last)[_-]?(id|no|num)?)$|[a-z](?-i:Seq|Sequence|Number|Version|Revision|Cursor|Offset|Applied|Acked)$`)

// numbers reports whether a column of a place is one of those.
func (at place) numbers(column string) bool {
	return numbering.MatchString(column) || column == valueColumn && strings.HasPrefix(at.name, kvPrefix) && numbering.MatchString(at.name)
}

// measured is a number of any size.
var measured = lazyregexp.New(`^-?\d+(\.\d+)?$`)

// excludes reports whether a user's pattern names a table, or a table.column.
func (m Mask) excludes(name string) bool {
	return slices.ContainsFunc(m.given, func(pattern string) bool {
		matches, err := path.Match(pattern, strings.TrimPrefix(strings.TrimPrefix(name, kvPrefix), toldPrefix))
		return err == nil && matches // Options checks patterns
	})
}

// key is the place in any object of its class.
func (at place) key() string { return at.namespace + "/" + at.name }

// label is the place for people.
func (at place) label() string {
	if what, told := strings.CutPrefix(at.name, toldPrefix); told && at.namespace == "" {
		if strings.HasPrefix(at.name, socketPrefix) {
			return what
		}
		return "the answer to " + what
	}
	if at.namespace == "" {
		return strings.Trim(at.name, "()")
	}
	object := at.namespace
	if at.object != "" {
		id, facet, _ := strings.Cut(at.object, ".")
		object += "/" + id[:min(len(id), 8)]
		if facet != "" {
			object += " facet " + facet
		}
	}
	return object + " " + at.name
}

func (s State) spaces() map[string]bool {
	out := map[string]bool{}
	for at := range s.tables { // order-independent: a set
		out[at.namespace] = true
	}
	return out
}

func (s State) objects(space string) map[string]bool {
	out := map[string]bool{}
	for at := range s.tables { // order-independent: a set
		if at.namespace == space {
			out[at.object] = true
		}
	}
	return out
}

// flat is the tables with what the mask leaves of them.
func (s State) flat(m Mask) map[place]table {
	out := map[place]table{}
	for _, at := range slices.SortedFunc(maps.Keys(s.tables), comparePlaces) {
		t := s.tables[at]
		if m.objects[at.namespace] {
			at.object = ""
		}
		var kept []int
		for i, column := range t.columns {
			if !m.hides(at, column) {
				kept = append(kept, i)
			}
		}
		if m.columns[at.key()] || m.excludes(at.name) || counted.MatchString(at.name) && !strings.HasPrefix(at.name, kvPrefix) {
			continue
		}
		into := out[at]
		if columns := pick(t.columns, kept); into.rows == nil {
			into.columns = columns
		} else {
			into = into.wider(columns)
			t, kept = t.wider(into.columns), nil
			for _, column := range into.columns {
				kept = append(kept, slices.Index(t.columns, column))
			}
		}
		if at.object != "" && slices.Contains(into.columns, t.serial) {
			into.serial = t.serial
		}
		var durations []int // their columns
		for i, column := range into.columns {
			if !at.isTold() && lasting.MatchString(column) {
				durations = append(durations, i)
			}
		}
		for _, row := range t.rows {
			row = pick(row, kept)
			for _, i := range durations {
				if measured.MatchString(row[i]) {
					row[i] = "#"
				}
			}
			if !at.isTold() && slices.ContainsFunc(row, counted.MatchString) {
				continue // a log of attempts
			}
			if m.records != nil {
				for i := range row {
					row[i] = digits.ReplaceAllString(row[i], "#")
					if strings.HasPrefix(at.name, kvPrefix) {
						row[i] = "#" // it may hold such numbers, and a hash of them
					}
				}
			}
			into.rows = append(into.rows, row)
		}
		into.greeting = t.greeting
		out[at] = into
	}
	return out
}

func pick(from []string, indexes []int) []string {
	out := make([]string, len(indexes))
	for i, n := range indexes {
		out[i] = from[n]
	}
	return out
}

// column is the sorted cells of one.
func (t table) column(i int) []string {
	var out []string
	for _, row := range t.rows {
		out = append(out, row[i])
	}
	slices.Sort(out)
	return out
}

// members are the columns as a set.
func (t table) members() map[string]bool {
	out := map[string]bool{}
	for _, column := range t.columns {
		out[column] = true
	}
	return out
}

// wider is t with these columns, too.
func (t table) wider(columns []string) table {
	out := t
	for _, column := range columns {
		if slices.Contains(t.columns, column) {
			continue
		}
		out.columns = append(slices.Clip(out.columns), column)
	}
	out.rows = nil
	for _, row := range t.rows {
		for len(row) < len(out.columns) {
			row = append(slices.Clip(row), absent)
		}
		out.rows = append(out.rows, row)
	}
	return out
}

// ranked is t with the numbers that SQLite has given as those of their order: a number is
// also used up by a row that was not inserted (INSERT OR IGNORE) or that was deleted.
func (t table) ranked() table {
	n := slices.Index(t.columns, t.serial)
	out := t
	out.rows = slices.Clone(t.rows)
	slices.SortStableFunc(out.rows, func(a, b []string) int {
		return cmp.Or(cmp.Compare(len(a[n]), len(b[n])), cmp.Compare(a[n], b[n]))
	})
	for i, row := range out.rows {
		out.rows[i] = slices.Clone(row)
		out.rows[i][n] = fmt.Sprint("#", i+1)
	}
	return out
}

// telling are two tables without the members of objects that are the same in all rows of both:
// they say nothing to people.
func telling(a, b table) (table, table) {
	same := func(column string) bool {
		if _, member := parentOf(column); !member {
			return false
		}
		var cells []string
		for _, t := range []table{a, b} {
			i := slices.Index(t.columns, column)
			if i < 0 && len(t.rows) > 0 {
				return false
			}
			for _, row := range t.rows {
				cells = append(cells, row[i])
			}
		}
		return len(slices.Compact(cells)) == 1
	}
	without := func(t table) table {
		var kept []int
		out := t
		for i, column := range t.columns {
			if !same(column) {
				kept = append(kept, i)
			}
		}
		if len(kept) == len(t.columns) {
			return t
		}
		out.columns, out.rows = pick(t.columns, kept), nil
		for _, row := range t.rows {
			out.rows = append(out.rows, pick(row, kept))
		}
		return out
	}
	return without(a), without(b)
}

// within is t whose rows have the numbers of those of want that they are like but for more in some columns.
func (t table) within(want table, mayBeMore func(column string) bool) table {
	if !slices.ContainsFunc(t.columns, mayBeMore) {
		return t
	}
	return t.like(want, func(column, cell, other string) bool {
		return cell == other || mayBeMore(column) && more(cell, other)
	})
}

// like is t with the rows of want in place of those whose cells are like theirs.
func (t table) like(want table, like func(column, cell, other string) bool) table {
	if !slices.Equal(t.columns, want.columns) {
		return t
	}
	out, left := t, slices.Clone(want.rows)
	out.rows = nil
	for _, row := range t.rows {
		at := slices.IndexFunc(left, func(other []string) bool {
			for i, cell := range row {
				if !like(t.columns[i], cell, other[i]) {
					return false
				}
			}
			return true
		})
		if at >= 0 {
			row = left[at]
			left = slices.Delete(left, at, at+1)
		}
		out.rows = append(out.rows, row)
	}
	return out
}

// more reports whether both are numbers, and a is greater.
func more(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err == nil && err2 == nil && x > y
}

// lines are the rows as text, with how often each is there.
func (t table) lines() map[string]int {
	out := map[string]int{}
	for _, row := range t.rows {
		var columns, cells []string
		for i, cell := range row {
			if cell != absent {
				columns, cells = append(columns, t.columns[i]), append(cells, cell)
			}
		}
		out[show(columns, cells)]++
	}
	return out
}

// show is a row for people.
func show(columns, row []string) string {
	var parts []string
	for i, column := range columns {
		cell := row[i]
		if r := []rune(cell); len(r) > 60 {
			cell = fmt.Sprintf("%s…%d/%04x", string(r[:60]), len(r), uint16(crc32.ChecksumIEEE([]byte(cell))))
		}
		parts = append(parts, column+"="+cell)
	}
	return strings.Join(parts, " ")
}

func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.object, b.object), cmp.Compare(a.name, b.name))
}

func union[K comparable, V any](a, b map[K]V) []K {
	all := slices.Collect(maps.Keys(a)) // order-independent: a set
	for k := range b {                  // order-independent: what is made of it is a set
		if _, both := a[k]; !both {
			all = append(all, k)
		}
	}
	return all
}

// Difference is a row that is in one of two states more often than in the other.
type Difference struct {
	Place, Row string
	// Got and Want are how often it is there, and how often it should be.
	Got, Want int
	at        place
}

// String is the difference on one line.
func (d Difference) String() string {
	switch {
	case d.Got == 0:
		return fmt.Sprintf("%s lacks %s", d.Place, d.Row)
	case d.Want == 0:
		return fmt.Sprintf("%s has %s", d.Place, d.Row)
	}
	return fmt.Sprintf("%s has %s %d times, not %d", d.Place, d.Row, d.Got, d.Want)
}

// Differences are what got has otherwise than want, in the order of places and rows.
func Differences(got, want State, m Mask) []Difference {
	a, b := got.flat(m), want.born(got, m.births).flat(m)
	out := m.differences(got, want, maps.Clone(a), maps.Clone(b))
	if len(out) == 0 || m.records != nil {
		return out
	}
	if r := reserved(a, b); r != nil {
		return m.differences(got, want, r.undo(a, b), b)
	}
	return out
}

// differences are those of got and want, of which a and b are what the mask leaves. It changes both maps.
func (m Mask) differences(got, want State, a, b map[place]table) (out []Difference) {
	attempts := sync.OnceValues(func() (tried, usual map[string]int) { return got.attempts(), want.attempts() })
	places := union(a, b)
	slices.SortFunc(places, comparePlaces)
	others := elsewhere(a, b)
	for _, at := range places {
		if other, is := others[at]; is {
			out = append(out, answeredElsewhere(at, other, a[at], b[other])...)
			continue
		}
		a[at] = a[at].within(b[at], func(column string) bool {
			return !at.isTold() && units.MatchString(column) || got.again && at.numbers(column)
		})
		if at.isTold() {
			out = append(out, toldDifferences(at, a[at], b[at], got.cut[at.name], got.woken)...)
			continue
		}
		if at.name == workflowSteps {
			out = append(out, astray(at, a[at], b[at])...)
			continue
		}
		a[at], b[at] = telling(a[at], b[at])
		have, should := a[at].lines(), b[at].lines()
		if a[at].serial != "" && a[at].serial == b[at].serial && maps.Equal(a[at].ranked().lines(), b[at].ranked().lines()) {
			continue
		}
		for _, row := range slices.Sorted(slices.Values(union(have, should))) {
			if have[row] < should[row] && (m.records[at.key()] != nil || m.records != nil && at.name == effects) {
				continue // the record is there in its place: it may say that this was given up
			}
			if have[row] > should[row] {
				if tried, usual := attempts(); tried[at.key()] > usual[at.key()] {
					continue // a log of attempts, in which what is tried again stands again
				}
			}
			grown := have[row] > should[row] || len(a[at].rows) > len(b[at].rows)
			if grown && m.logsStarts(at) && !word.MatchString(cells(row)) {
				continue // one for each construction, which later turns may have changed
			}
			if have[row] > should[row] && m.records != nil && (strings.HasPrefix(at.name, kvPrefix) || !word.MatchString(cells(row))) {
				continue // what a turn that was recovered left behind, or what belongs to a record
			}
			if have[row] != should[row] {
				out = append(out, Difference{at.label(), row, have[row], should[row], at})
			}
		}
	}
	return append(out, m.mistaken(got, want)...)
}

// attempts counts the rows that speak of attempts, by table.
func (s State) attempts() map[string]int {
	out := map[string]int{}
	for at, t := range s.tables { // order-independent: sums
		for _, row := range t.rows {
			if at.namespace != "" && slices.ContainsFunc(row, counted.MatchString) {
				out[at.key()]++
			}
		}
	}
	return out
}

// logsStarts reports whether constructors write into a table: it may be a log of them.
func (m Mask) logsStarts(at place) bool {
	return slices.ContainsFunc(m.births, func(birth State) bool {
		for born := range birth.tables { // order-independent: a question
			if born.key() == at.key() {
				return true
			}
		}
		return false
	})
}

// cells are those of a row that show made, without the names of columns.
func cells(row string) string { return columnName.ReplaceAllString(row, "") }

var columnName = lazyregexp.New(`(^| )[A-Za-z_.\[\]#]+=`)

// born is s with the objects that it lacks and got has, as their constructors leave them,
// or their onStart where got has rows of that.
func (s State) born(got State, births []State) State {
	out := State{tables: maps.Clone(s.tables)}
	for _, space := range slices.Sorted(maps.Keys(got.spaces())) {
		has := s.objects(space)
		for _, birth := range births {
			left := birth.tables
			if got.isStarted(birth) {
				left = birth.started
			}
			for at, t := range left { // order-independent: each place is copied once
				if at.namespace == space && !has[at.object] && got.objects(space)[at.object] {
					out.tables[at] = t
				}
			}
		}
	}
	return out
}

// isStarted reports whether s has rows that only the onStart of a newborn object leaves.
func (s State) isStarted(birth State) bool {
	for at, t := range birth.started { // order-independent: a question
		if len(t.rows) > len(birth.tables[at].rows) && len(s.tables[at].rows) > len(birth.tables[at].rows) {
			return true
		}
	}
	return false
}

// The kinds of findings, which are the invariants of docs/chaos.md.
const (
	Missing  = "missing"  // something that was acknowledged, or had begun, is not there
	Twice    = "twice"    // something is there more often than it was asked for
	Half     = "half"     // a call that a fault cut is neither done nor undone
	Diverged = "diverged" // it is there otherwise than without the fault
	Orphaned = "orphaned" // an object or a row that nothing should have left
	Error    = "error"    // a request fails that succeeds without the fault
	Hang     = "hang"     // what comes to rest without the fault does not
	Told     = "told"     // what is stored is right, and a client is told something else
)

// Same reports whether a state is one that may be, but for what the mask leaves out.
func Same(got, want State, m Mask) bool { return len(Differences(got, want, m)) == 0 }

// Judge compares got with every state that is allowed, and returns "" if it is one of
// them, else the kind of the finding and the differences from the nearest. cut says that
// a fault has cut a call, so that more than one outcome is allowed.
func Judge(got State, allowed []State, m Mask, cut bool) (kind string, nearest []Difference) {
	least := 0
	for i, want := range allowed {
		diff := Differences(got, want, m)
		if len(diff) == 0 {
			return "", nil
		}
		stored := stored(got, diff)
		if n := len(stored); i == 0 || n < least || n == least && n == 0 && len(diff) < len(nearest) {
			least, nearest = n, diff
			if n > 0 {
				nearest = stored
			}
		}
	}
	if least == 0 {
		return Told, nearest
	}
	return kindOf(nearest, cut), nearest
}

// stored are the differences of what is stored, and of what sockets said before a death
// cut them, which shows what was delivered.
func stored(got State, diff []Difference) (out []Difference) {
	for _, d := range diff {
		if !d.at.isTold() || got.cut[d.at.name] {
			out = append(out, d)
		}
	}
	return out
}

// Object is the object that a difference is in: the key of its namespace and its id; ok is
// false for what is in none.
func (d Difference) Object() (namespace, id string, ok bool) {
	id, _, _ = strings.Cut(d.at.object, ".")
	return d.at.namespace, id, d.at.namespace != "" && id != ""
}

func kindOf(diff []Difference, cut bool) string {
	lacks, more, extra := map[place]bool{}, false, map[place]bool{}
	for _, d := range diff {
		switch {
		case d.Got < d.Want:
			lacks[d.at] = true
		case d.Want > 0:
			more = true
		default:
			extra[d.at] = true
		}
	}
	switch {
	case len(extra) > 0 && len(lacks) > 0:
		return Diverged
	case len(lacks) > 0 && cut:
		return Half
	case len(lacks) > 0:
		return Missing
	case more:
		return Twice
	case cut:
		return Half
	}
	return Orphaned
}
