package control

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
)

// The past of an object is listed, read, compared with the present and restored, also
// where the object was not in memory; an object with events in progress keeps its state.
func TestPast(t *testing.T) {
	_, s, client := start(t)
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	moments := func() []Moment {
		t.Helper()
		var m Moments
		if err := client.Post(ctx, "/v1/moments", PastRequest{Class: "Room", Object: "lobby"}, &m); err != nil {
			t.Fatal(err)
		}
		return m.Moments
	}
	now := func() string { t.Helper(); m := moments(); return m[len(m)-1].Bookmark }
	notes := func(bookmark string) string {
		t.Helper()
		var res QueryResult
		if err := client.Post(ctx, "/v1/sql", QueryRequest{Class: "Room", Object: "lobby", SQL: "SELECT group_concat(text) FROM notes", Bookmark: bookmark}, &res); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(res.Rows[0][0])
	}
	visit(t, s, "/add?a")
	first := now()
	visit(t, s, "/add?b")
	if err := client.Post(ctx, "/v1/evict", ActRequest{Scope: "isolate"}, nil); err != nil {
		t.Fatal(err)
	}
	second := now()
	if second <= first {
		t.Fatalf("the present is %s, the past %s", second, first)
	}
	all := moments()
	for i := 1; i < len(all); i++ {
		if all[i].Bookmark <= all[i-1].Bookmark || all[i].AtMs < all[i-1].AtMs {
			t.Errorf("%v comes before %v", all[i-1], all[i])
		}
	}
	if a, b, c := notes(first), notes(second), notes(""); a != "?a" || b != "?a,?b" || c != b {
		t.Errorf("the first state has %s, the second %s, the present %s", a, b, c)
	}
	var d Difference
	if err := client.Post(ctx, "/v1/difference", DifferenceRequest{"Room", "lobby", nil, first, second}, &d); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(d); got != "{[{notes rows [id text b] [[2 ?b map[base64:AQI=]]] [] [] false}]}" {
		t.Errorf("the difference is %s", got)
	}

	slow := make(chan string, 1)
	go func() {
		req, err := client.http.Get(s.URL() + "/slow")
		if err == nil {
			err = req.Body.Close()
		}
		slow <- fmt.Sprint(err)
	}()
	busy := func() bool {
		var list Objects
		if err := client.Get(ctx, "/v1/objects", &list); err != nil {
			t.Fatal(err)
		}
		return list.Objects[0].Live != nil && list.Objects[0].Live.Events > 0
	}
	for !busy() { // each look waits for the loop
	}
	if err := client.Post(ctx, "/v1/restore", RestoreRequest{"Room", "lobby", nil, first}, nil); err == nil || !strings.Contains(err.Error(), "events are in progress") {
		t.Errorf("a busy object: %v", err)
	}
	if err := client.Post(ctx, "/v1/crash", ActRequest{Class: "Room", Object: "lobby"}, nil); err != nil {
		t.Fatal(err)
	}
	<-slow
	var done Restored
	if err := client.Post(ctx, "/v1/restore", RestoreRequest{"Room", "lobby", nil, first}, &done); err != nil {
		t.Fatal(err)
	}
	now() // starts it
	if got := notes(""); got != "?a" {
		t.Errorf("restored: %s", got)
	}
	if err := client.Post(ctx, "/v1/restore", RestoreRequest{"Room", "lobby", nil, done.Undo}, nil); err != nil {
		t.Fatal(err)
	}
	now()
	if got := notes(""); got != "?a,?b" {
		t.Errorf("undone: %s", got)
	}
	if err := client.Post(ctx, "/v1/restore", RestoreRequest{"Room", "lobby", nil, "no bookmark"}, nil); err == nil || !strings.Contains(err.Error(), "is not a bookmark of this Durable Object's history") {
		t.Errorf("a wrong bookmark: %v", err)
	}
}

// Every kind of change is found, by key: of tables with a rowid, one that a column
// hides, and none; tables whose definition changed are named only.
func TestDifference(t *testing.T) {
	dir := t.TempDir()
	make := func(name string, sql ...string) string {
		path := filepath.Join(dir, name)
		conn, err := sqlite.Open(sqlite.Options{Path: path, Now: time.Now, Rand: entropy.System{}})
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Exec(strings.Join(sql, ";")); err != nil {
			t.Fatal(err)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	common := `CREATE TABLE same (a); INSERT INTO same VALUES (NULL), (1); CREATE TABLE "it's ""q""" (rowid TEXT, v);
CREATE TABLE w (a, b, v, PRIMARY KEY (a, b)) WITHOUT ROWID; CREATE TABLE many (v)`
	before := make("before's.sqlite", common, `INSERT INTO "it's ""q""" VALUES ('x', 1), ('y', 2)`, "INSERT INTO w VALUES (1, 1, NULL), (1, 2, 'x'), (2, 1, 'gone')",
		"CREATE TABLE gone (a)", "CREATE TABLE other (a)")
	after := make("after.sqlite", common, `INSERT INTO "it's ""q""" VALUES ('x', 1), ('y', 3)`, "INSERT INTO w VALUES (1, 1, 'set'), (1, 2, 'x'), (3, 1, 'new')",
		"CREATE TABLE born (a)", "CREATE TABLE other (a, b)", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO many SELECT i FROM n")
	d, err := compare(before, after, clock.Real{}, clock.Real{}, entropy.System{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, td := range d.Tables {
		if td.Name == "many" {
			got = append(got, fmt.Sprint("many ", len(td.Added), td.Truncated))
			continue
		}
		got = append(got, fmt.Sprint(td))
	}
	want := []string{
		"{born created [] [] [] [] false}", "{gone dropped [] [] [] [] false}",
		`{it's "q" rows [rowid v] [] [] [{[y 2] [y 3]}] false}`, "many 200 true", "{other altered [] [] [] [] false}",
		"{w rows [a b v] [[3 1 new]] [[2 1 gone]] [{[1 1 <nil>] [1 1 set]}] false}",
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("found\n%s\nwant\n%s", a, b)
	}
}
