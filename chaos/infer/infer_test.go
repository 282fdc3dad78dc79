package infer

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
)

// measured is the state of two objects that SQL has made; the second may have none.
func measured(t *testing.T, sql ...string) State {
	t.Helper()
	dir := t.TempDir()
	folder := filepath.Join(dir, "v3", "do", "app-Room")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for i, text := range sql {
		conn, err := sqlite.Open(sqlite.Options{Path: filepath.Join(folder, strings.Repeat(string(rune('a'+i)), 64)+".sqlite"), Now: clock.Real{}.Now, Rand: entropy.System{}})
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range strings.Split(text, ";") {
			err = errors.Join(err, conn.Exec(statement))
		}
		if err := errors.Join(err, conn.Close()); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Measure(dir, map[string]string{"app-Room": "Room"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// texts are those of the offers of a learner with these clean states.
func texts(t *testing.T, l *Learner, clean ...State) (out []string) {
	t.Helper()
	for _, s := range clean {
		l.Clean(s)
	}
	for _, o := range l.Offers() {
		out = append(out, o.Text)
	}
	return out
}

// What holds in three different states is offered: sums, also of two tables and over several
// objects, counts, counters, and references by their names. What one of them breaks is not.
func TestOffers(t *testing.T) {
	const accounts = "CREATE TABLE accounts (name TEXT PRIMARY KEY, balance INTEGER); INSERT INTO accounts VALUES "
	bank := func(a, b, c string) State {
		return measured(t, accounts+"('a', "+a+"), ('b', "+b+")", accounts+"('c', "+c+")")
	}
	notes := func(n int, counter string) State {
		sql := "CREATE TABLE notes (id INTEGER PRIMARY KEY, author TEXT); CREATE TABLE search (note_id INTEGER, words TEXT); CREATE TABLE stats (total INTEGER)"
		for i := range n {
			id := string(rune('1' + i))
			sql += "; INSERT INTO notes VALUES (" + id + ", 'ann'); INSERT INTO search VALUES (" + id + ", 'w')"
		}
		return measured(t, sql+"; INSERT INTO stats VALUES ("+counter+")")
	}
	stock := func(free, held string) State {
		return measured(t, "CREATE TABLE free (n INTEGER); CREATE TABLE held (n INTEGER); INSERT INTO free VALUES ("+free+"); INSERT INTO held VALUES ("+held+")")
	}
	for name, x := range map[string]struct {
		states []State
		want   []string
	}{
		"a sum over objects":    {[]State{bank("9", "1", "0"), bank("5", "5", "0"), bank("5", "0", "5")}, []string{"the sum of accounts.balance in Room is 10"}},
		"a sum that changes":    {[]State{bank("9", "1", "0"), bank("5", "5", "0"), bank("5", "0", "6")}, nil},
		"a sum in two states":   {[]State{bank("9", "1", "0"), bank("5", "5", "0"), bank("5", "5", "0")}, nil},
		"two sums together":     {[]State{stock("7", "0"), stock("6", "1"), stock("2", "5")}, []string{"the sum of free.n in Room and the sum of held.n in Room are 7 together"}},
		"two sums that are not": {[]State{stock("7", "0"), stock("6", "1"), stock("2", "4")}, nil},
		"counts": {[]State{notes(1, "1"), notes(2, "2"), notes(3, "3")}, []string{
			"the number of notes in Room is the number of search in Room", "the number of notes in Room is the sum of stats.total in Room", "each search.note_id in Room is a notes.id"}},
		"a counter behind": {[]State{notes(1, "1"), notes(2, "2"), notes(3, "2")}, []string{
			"the number of notes in Room is the number of search in Room", "each search.note_id in Room is a notes.id"}},
	} {
		if got := texts(t, &Learner{}, x.states...); !slices.Equal(got, x.want) {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// Keys, times and texts are not added up.
func TestMeasuresNumbersAlone(t *testing.T) {
	s := measured(t, "CREATE TABLE t (id INTEGER, order_id INTEGER, createdAt INTEGER, ms INTEGER, text TEXT, half REAL, n REAL); INSERT INTO t VALUES (1, 2, 3, 1700000000000, 'x', 0.5, 2.0)")
	if len(s.amounts) != 2 || s.amounts[amount{"Room", "t", "n"}] != 2 || s.amounts[amount{"Room", "t", ""}] != 1 {
		t.Errorf("%v", s.amounts)
	}
}

// What a state that is right breaks is no invariant; what another one breaks is told.
func TestStatesBehindFaults(t *testing.T) {
	state := func(n, m string) State {
		return measured(t, "CREATE TABLE a (n INTEGER); CREATE TABLE b (m INTEGER); INSERT INTO a VALUES ("+n+"); INSERT INTO b VALUES ("+m+")")
	}
	l := &Learner{}
	const same = "the sum of a.n in Room is the sum of b.m in Room"
	clean := []State{state("1", "1"), state("2", "2"), state("3", "3")}
	l.Left("kill@1", state("4", "4"))
	l.Left("kill@2", state("4", "5"))
	l.Left("kill@2", state("4", "6"))
	if got := texts(t, l, clean...); !slices.Equal(got, []string{same}) {
		t.Fatalf("%q", got)
	}
	if o := l.Offers()[0]; !slices.Equal(o.Broken, []string{"kill@2"}) || o.States != 3 {
		t.Errorf("%+v", o)
	}
	l.Right(state("5", "5"))
	if len(l.Offers()) != 1 {
		t.Error("a state that is right and holds takes it away")
	}
	if l.Right(state("5", "6")); len(l.Offers()) != 0 {
		t.Error("it is offered, and a state that is right breaks it")
	}
}

// A reference leads into the same object, by the names of column and table.
func TestReferences(t *testing.T) {
	for names, want := range map[link]bool{
		{column: "order_id", other: "orders", key: "id"}: true, {column: "orderId", other: "orders", key: "id"}: true, {column: "box_id", other: "boxes", key: "id"}: true,
		{column: "author", other: "authors", key: "name"}: true, {column: "sku", other: "stock", key: "sku"}: true,
		{column: "order_id", other: "users", key: "id"}: false, {column: "id", other: "orders", key: "id"}: false, {column: "text", other: "orders", key: "id"}: false,
	} {
		if got := named(names); got != want {
			t.Errorf("%+v: %v", names, got)
		}
	}
	schema := "CREATE TABLE orders (id INTEGER); CREATE TABLE lines (order_id INTEGER); INSERT INTO lines VALUES (1), (NULL)"
	k := link{"Room", "lines", "order_id", "orders", "id"}
	if l := measured(t, schema, schema+"; INSERT INTO orders VALUES (1)").links[k]; l.holds || l.values != 2 {
		t.Errorf("the row of another object is taken: %+v", l)
	}
	if l := measured(t, schema+"; INSERT INTO orders VALUES (1)").links[k]; !l.holds {
		t.Errorf("%+v", l)
	}
	if l := measured(t, schema+"; INSERT INTO orders VALUES (1), (1)").links[k]; l.holds {
		t.Errorf("what is there twice is a key: %+v", l)
	}
}
