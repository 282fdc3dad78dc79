package infer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"minido.dev/minido/chaos/evidence"
)

// enough is in how many different states something must have held that is no accident.
const enough = 3

// Offer is an invariant that held.
type Offer struct {
	// Text says what holds, for people. Code are statements of a scenario's invariant().
	Text string   `json:"text"`
	Code []string `json:"code"`
	// States is how many different states it held in.
	States int `json:"states"`
	// Broken are the cases that have left it violated, at rest or at a later death.
	Broken []string `json:"broken,omitempty"`
}

// Learner takes states, and says what held in those of runs without a fault. Safe for
// concurrent use.
type Learner struct {
	// Classes are those of the project.
	Classes map[string]string

	mu    sync.Mutex // guards everything below
	clean []State
	right []State
	known map[string]bool // clean states, as text
	left  []left
}

type left struct {
	what  string
	state State
}

// Clean takes a state of a run before any fault.
func (l *Learner) Clean(s State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := fmt.Sprint(s.amounts, s.rows, s.links) // maps are printed in the order of their keys
	if l.known == nil {
		l.known = map[string]bool{}
	}
	if !l.known[text] {
		l.known[text] = true
		l.clean = append(l.clean, s)
	}
}

// Right takes a state behind a fault that is known to be one that runs without a fault come
// to.
func (l *Learner) Right(s State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.right = append(l.right, s)
}

// Left takes a state behind a fault, and whose it is.
func (l *Learner) Left(whose string, s State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = append(l.left, left{whose, s})
}

// rule is an invariant that may hold.
type rule struct {
	text  string
	code  []string
	holds func(State) bool
	shows func(State) string // tells states apart in which it says something; "" where it says nothing
	same  [2]amount          // of two amounts that are equal; zero for other rules
}

// Offers are the invariants that held in all clean states, in enough different ones, and in
// those that are right.
func (l *Learner) Offers() (out []Offer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	follows := map[amount]amount{} // an amount that this one is equal to, by earlier offers
	for _, r := range l.rules() {
		shown := map[string]bool{}
		held := true
		for _, s := range l.clean {
			if held = held && r.holds(s); r.shows(s) != "" {
				shown[r.shows(s)] = true
			}
		}
		if !held || len(shown) < enough || slices.ContainsFunc(l.right, func(s State) bool { return !r.holds(s) }) {
			continue
		}
		if r.same != [2]amount{} {
			if find(follows, r.same[0]) == find(follows, r.same[1]) {
				continue // it follows from others
			}
			follows[find(follows, r.same[1])] = find(follows, r.same[0])
		}
		o := Offer{Text: r.text, Code: r.code, States: len(shown)}
		for _, x := range l.left {
			if !r.holds(x.state) && !slices.Contains(o.Broken, x.what) {
				o.Broken = append(o.Broken, x.what)
			}
		}
		slices.Sort(o.Broken)
		out = append(out, o)
	}
	return out
}

// find is the amount that stands for those that are equal to a.
func find(follows map[amount]amount, a amount) amount {
	for {
		b, has := follows[a]
		if !has {
			return a
		}
		a = b
	}
}

// rules are those that the clean states suggest, in a fixed order.
func (l *Learner) rules() (out []rule) {
	amounts, links := map[amount]bool{}, map[link]bool{}
	for _, s := range l.clean {
		for a := range s.amounts { // order-independent: a set
			amounts[a] = true
		}
		for k := range s.links { // order-independent: a set
			links[k] = true
		}
	}
	var all []amount
	for a := range amounts { // order-independent: sorted below
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b amount) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.table, b.table), cmp.Compare(a.column, b.column))
	})
	for i, a := range all {
		if a.column != "" {
			out = append(out, l.conserved(a))
		}
		for _, b := range all[i+1:] {
			if a.class != b.class || a.table != b.table {
				out = append(out, equal(a, b))
			}
			if a.column != "" && a.column == b.column {
				out = append(out, l.together(a, b))
			}
		}
	}
	var references []rule
	for k := range links { // order-independent: sorted below
		references = append(references, refers(k))
	}
	slices.SortFunc(references, func(a, b rule) int { return cmp.Compare(a.text, b.text) })
	return append(out, references...)
}

// first is an amount in the first clean state in which it is there.
func (l *Learner) first(of func(State) (int64, bool)) int64 {
	for _, s := range l.clean {
		if n, there := of(s); there {
			return n
		}
	}
	return 0
}

// conserved has a sum stay the same while its rows change.
func (l *Learner) conserved(a amount) rule {
	rows := amount{a.class, a.table, ""}
	of := func(s State) (int64, bool) { return s.amounts[a], s.amounts[rows] > 0 }
	want := l.first(of)
	return rule{
		text:  fmt.Sprintf("%s is %d", a, want),
		code:  []string{fmt.Sprintf("if (%s > 0) expect(%s).toBe(%d);", call(rows), call(a), want)},
		holds: func(s State) bool { n, there := of(s); return !there || n == want },
		shows: func(s State) string {
			if s.amounts[rows] < 2 {
				return "" // a single row that stays the same is no sum
			}
			return s.rows[a]
		},
	}
}

// together has two sums stay the same together while each changes.
func (l *Learner) together(a, b amount) rule {
	rows := []amount{{a.class, a.table, ""}, {b.class, b.table, ""}}
	of := func(s State) (int64, bool) {
		return s.amounts[a] + s.amounts[b], s.amounts[rows[0]] > 0 && s.amounts[rows[1]] > 0
	}
	want := l.first(of)
	return rule{
		text:  fmt.Sprintf("%s and %s are %d together", a, b, want),
		code:  []string{fmt.Sprintf("if (%s > 0 && %s > 0) expect(%s + %s).toBe(%d);", call(rows[0]), call(rows[1]), call(a), call(b), want)},
		holds: func(s State) bool { n, there := of(s); return !there || n == want },
		shows: func(s State) string {
			if _, there := of(s); !there {
				return ""
			}
			return strconv.FormatInt(s.amounts[a], 10)
		},
	}
}

// equal has two amounts be the same.
func equal(a, b amount) rule {
	return rule{
		text:  fmt.Sprintf("%s is %s", a, b),
		code:  []string{fmt.Sprintf("expect(%s).toBe(%s);", call(a), call(b))},
		holds: func(s State) bool { return s.amounts[a] == s.amounts[b] },
		shows: func(s State) string {
			if s.amounts[a] == 0 && s.amounts[b] == 0 {
				return ""
			}
			return strconv.FormatInt(s.amounts[a], 10)
		},
		same: [2]amount{a, b},
	}
}

// refers has a column lead to rows of another table.
func refers(k link) rule {
	q := evidence.QuoteName
	sql := fmt.Sprintf("SELECT %[1]s FROM %[2]s WHERE %[1]s IS NOT NULL AND %[1]s NOT IN (SELECT %[3]s FROM %[4]s)", q(k.column), q(k.table), q(k.key), q(k.other))
	return rule{
		text: fmt.Sprintf("each %s.%s in %s is a %s.%s", k.table, k.column, k.class, k.other, k.key),
		code: []string{
			fmt.Sprintf("for (const { id } of objects(%s)) {", strconv.Quote(k.class)),
			fmt.Sprintf("  if (has(%s, id, %s, %s)) expect(db(%[1]s, id).all(%[4]s)).toEqual([]);", strconv.Quote(k.class), strconv.Quote(k.table), strconv.Quote(k.other), "`"+sql+"`"),
			"}",
		},
		holds: func(s State) bool { l, there := s.links[k]; return !there || l.holds },
		shows: func(s State) string {
			if s.links[k].values == 0 {
				return ""
			}
			return strconv.Itoa(s.links[k].values)
		},
	}
}

// call is an amount in the code that Code makes.
func call(a amount) string {
	return fmt.Sprintf("total(%s, %s, %s)", strconv.Quote(a.class), strconv.Quote(a.table), "`"+a.what()+"`")
}

// Code is the invariant() of a scenario that has these; "" for none.
func Code(offers []Offer) string {
	if len(offers) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("invariant({ db, objects, expect }) {\n" +
		"  const has = (of, id, ...tables) => tables.every((t) => db(of, id).all(\"SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?\", t).length > 0);\n" +
		"  const total = (of, table, what) => objects(of).reduce((n, { id }) =>\n" +
		"    n + (has(of, id, table) ? Number(db(of, id).all(`SELECT ${what} AS n FROM \"${table.replaceAll('\"', '\"\"')}\"`)[0].n ?? 0) : 0), 0);\n")
	for _, o := range offers {
		fmt.Fprintf(&b, "  // %s: in all of %d different states of runs without a fault\n", o.Text, o.States)
		for _, line := range o.Code {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	b.WriteString("},\n")
	return b.String()
}
