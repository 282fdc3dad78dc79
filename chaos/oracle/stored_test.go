package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
)

// object is the state of one object whose database these statements have made.
func object(t *testing.T, statements ...string) State {
	t.Helper()
	return database(t, "do/app-Room", statements...)
}

// database is the same of one in that folder.
func database(t *testing.T, in string, statements ...string) State {
	t.Helper()
	dir := t.TempDir()
	folder := filepath.Join(dir, "v3", filepath.FromSlash(in))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(sqlite.Options{Path: filepath.Join(folder, "a.sqlite"), Now: clock.Real{}.Now, Rand: entropy.System{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		if err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Read(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// job is an object that has stored {state, attempts} with ctx.storage.put("job", …), in V8's format.
func job(t *testing.T, state string, attempts byte) State {
	t.Helper()
	return object(t, "CREATE TABLE _cf_KV (key TEXT PRIMARY KEY, value BLOB)",
		fmt.Sprintf("INSERT INTO _cf_KV VALUES ('job', x'ff0f6f220573746174652204%x2208617474656d70747349%02x7b02')", state, attempts*2))
}

// Members of what is stored are compared each for itself, be it an object under a key or JSON in
// a column: attempts may be more after a death, what else is beside them may not differ, and a
// finding shows the members.
func TestMembers(t *testing.T) {
	row := func(state string, attempts int) State {
		return object(t, "CREATE TABLE jobs (id TEXT, doc TEXT)",
			fmt.Sprintf(`INSERT INTO jobs VALUES ('j1', '{"kind":"mail","state":"%s","attempts":%d}')`, state, attempts))
	}
	for _, c := range []struct {
		name              string
		clean, again, bad State
		want              string
	}{
		{"an entry", job(t, "done", 1), job(t, "done", 2), job(t, "open", 2), "app-Room/a (key) job has state=open"},
		{"a column", row("done", 1), row("done", 2), row("open", 2), "app-Room/a jobs has doc.state=open id=j1"},
	} {
		m := Learn([]State{c.clean}, nil, nil)
		if diff := Differences(c.again, c.clean, m); diff != nil {
			t.Errorf("%s: attempts are compared: %v", c.name, diff)
		}
		diff := Differences(c.bad, c.clean, m)
		if len(diff) != 2 || !slices.ContainsFunc(diff, func(d Difference) bool { return d.String() == c.want }) {
			t.Errorf("%s: %v, want among them %q", c.name, diff, c.want)
		}
		if diff := Differences(c.bad, c.clean, Learn([]State{c.clean}, nil, []string{"job.state", "jobs.doc"})); diff != nil {
			t.Errorf("%s: what a pattern leaves out, or the column that it is in, is compared: %v", c.name, diff)
		}
	}
	named := func(key string) State {
		return object(t, "CREATE TABLE jobs (id TEXT, doc TEXT)", fmt.Sprintf(`INSERT INTO jobs VALUES ('j1', '{"by":{"%s":1},"state":"done"}')`, key))
	}
	m := Learn([]State{named("xq"), named("zk")}, nil, nil)
	if want := []string{"app-Room/jobs.doc.by"}; !slices.Equal(m.Masked(), want) {
		t.Errorf("members whose names vary: masked %v, want %v", m.Masked(), want)
	}
	if diff := Differences(named("other"), named("xq"), m); diff != nil {
		t.Errorf("members whose names vary are compared: %v", diff)
	}
}

// Fractions of what is stored count to the last digit, and bytes of a KV binding are read as the JSON that
// they are, in any alphabet.
func TestExactValues(t *testing.T) {
	price := func(n string) State {
		return object(t, "CREATE TABLE items (doc TEXT)", `INSERT INTO items VALUES ('{"price":`+n+`,"name":"Tür"}')`)
	}
	m := Learn([]State{price("0.1234")}, nil, nil)
	if diff := Differences(price("0.1235"), price("0.1234"), m); len(diff) != 2 {
		t.Errorf("%v", diff)
	}
	if v, is := ofBytes([]byte(`{"name":"Tür","n":1}`)).(map[string]any); !is || v["name"] != "Tür" || v["n"] != "1" {
		t.Errorf("%v", v)
	}
	if v := ofBytes([]byte{0xff, 'a'}); v != `\xffa` {
		t.Errorf("%v", v)
	}
}

// A number that AUTOINCREMENT has given to no row is no difference; a row more or less is, and so is
// another order.
func TestAutoincrement(t *testing.T) {
	rows := func(values string) State {
		return object(t, "CREATE TABLE log (n INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT)", "INSERT INTO log VALUES "+values)
	}
	clean := rows("(9, 'a'), (11, 'b')")
	m := Learn([]State{clean}, nil, nil)
	for values, want := range map[string]int{"(9, 'a'), (10, 'b')": 0, "(7, 'a')": 3, "(9, 'b'), (11, 'a')": 4, "(9, 'a'), (11, 'b'), (12, 'b')": 1} {
		if diff := Differences(rows(values), clean, m); len(diff) != want {
			t.Errorf("%s: %v, want %d differences", values, diff, want)
		}
	}
	plain := func(n int) State {
		return object(t, "CREATE TABLE log (n INTEGER PRIMARY KEY, text TEXT)", fmt.Sprintf("INSERT INTO log VALUES (%d, 'a')", n))
	}
	if diff := Differences(plain(2), plain(1), m); len(diff) != 2 {
		t.Errorf("a key that the program has chosen: %v", diff)
	}
}

// How long something took may differ after a fault; time that is accounted for may only be more.
func TestTimes(t *testing.T) {
	clean := world("a/x calls tool=search duration_ms=50", "a/x bill call=c1 minutes=2")
	m := Learn([]State{clean}, nil, nil)
	for _, c := range []struct {
		got  State
		want int
	}{
		{world("a/x calls tool=search duration_ms=30000", "a/x bill call=c1 minutes=3"), 0},
		{world("a/x calls tool=search duration_ms=NULL", "a/x bill call=c1 minutes=2"), 2},
		{world("a/x calls tool=search duration_ms=50", "a/x bill call=c1 minutes=0"), 2},
		{world("a/x calls tool=search duration_ms=50", "a/x bill call=c2 minutes=3"), 2},
	} {
		if diff := Differences(c.got, clean, m); len(diff) != c.want {
			t.Errorf("%v, want %d differences", diff, c.want)
		}
	}
}

// Numbers that are given in turn, and how far something has come in them, may be more where a client has
// sent a request again, and only there; other numbers may not.
func TestNumbers(t *testing.T) {
	stored := func(version, count int) State {
		return object(t, "CREATE TABLE docs (id TEXT, version INTEGER, count INTEGER)", fmt.Sprintf("INSERT INTO docs VALUES ('d', %d, %d)", version, count))
	}
	clean := stored(3, 3)
	m := Learn([]State{clean}, nil, nil)
	for _, c := range []struct {
		version, count int
		again          []string
		want           int
	}{
		{4, 3, []string{"PUT /d"}, 0},
		{4, 3, nil, 2},
		{2, 3, []string{"PUT /d"}, 2},
		{3, 4, []string{"PUT /d"}, 2},
	} {
		if diff := Differences(stored(c.version, c.count).Repeated(c.again), clean, m); len(diff) != c.want {
			t.Errorf("%+v: %v", c, diff)
		}
	}
	for name, is := range map[string]bool{"seq": true, "value.lastSeq": true, "invoice_number": true, "lastNumber": true, "nextId": true, "next": true, "conversion": false, "numbers": false, "blast": false, "context": false, valueColumn: false} {
		if (place{name: "docs"}).numbers(name) != is {
			t.Errorf("%s: %v", name, !is)
		}
	}
	for name, is := range map[string]bool{"seq": true, "doc:version": true, "conversion": false, "versions": false} {
		if (place{name: kvPrefix + name}).numbers(valueColumn) != is {
			t.Errorf("the entry %s: %v", name, !is)
		}
	}
}

// Long values that differ behind what a finding shows of them differ.
func TestLongValues(t *testing.T) {
	text := func(end string) State {
		return object(t, "CREATE TABLE notes (text TEXT)", "INSERT INTO notes VALUES ('"+strings.Repeat("long ", 20)+end+"')")
	}
	m := Learn([]State{text("a")}, nil, nil)
	if diff := Differences(text("b"), text("a"), m); len(diff) != 2 {
		t.Errorf("%v", diff)
	}
}
