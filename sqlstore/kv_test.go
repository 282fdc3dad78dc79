package sqlstore

import (
	"bytes"
	"sort"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Listing agrees with a sorted map filtered by the rules of docs/semantics.md 9, for
// every combination of options, while keys come and go.
func TestListAgainstModel(t *testing.T) {
	key := rapid.StringOfN(rapid.RuneFrom([]rune("ab\x00\x7fé\uffff\U0001F40E")), 0, 4, -1)
	rapid.Check(t, func(rt *rapid.T) {
		s, err := Open(options(""))
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		model := map[string][]byte{}
		rt.Repeat(map[string]func(*rapid.T){
			"put": func(rt *rapid.T) {
				k, v := key.Draw(rt, "key"), rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(rt, "value")
				if err := s.Put(k, v); err != nil {
					rt.Fatal(err)
				}
				model[k] = v
			},
			"delete": func(rt *rapid.T) {
				k := key.Draw(rt, "key")
				was, err := s.Delete(k)
				if _, want := model[k]; err != nil || was != want {
					rt.Fatalf("delete %q: %v %v", k, was, err)
				}
				delete(model, k)
			},
			"get": func(rt *rapid.T) {
				k := key.Draw(rt, "key")
				v, ok, err := s.Get(k)
				if want, has := model[k]; err != nil || ok != has || !bytes.Equal(v, want) {
					rt.Fatalf("get %q: %x %v %v", k, v, ok, err)
				}
			},
			"commit": func(rt *rapid.T) {
				if err := s.Commit(); err != nil {
					rt.Fatal(err)
				}
			},
			"list": func(rt *rapid.T) {
				o := drawList(rt, key)
				got, err := list(s, o)
				if err != nil {
					rt.Fatal(err)
				}
				want := modelList(model, o)
				if strings.Join(got, "\x01") != strings.Join(want, "\x01") || len(got) != len(want) {
					rt.Fatalf("list: %q, want %q", got, want)
				}
			},
			"": func(rt *rapid.T) {
				if n, err := s.Count(); err != nil || n != len(model) {
					rt.Fatalf("count %d %v, want %d", n, err, len(model))
				}
			},
		})
	})
}

func drawList(rt *rapid.T, key *rapid.Generator[string]) ListOptions {
	opt := func(name string) *string {
		if !rapid.Bool().Draw(rt, "has "+name) {
			return nil
		}
		v := key.Draw(rt, name)
		return &v
	}
	return ListOptions{
		Start: opt("start"), StartAfter: opt("startAfter"), End: opt("end"), Prefix: opt("prefix"),
		Reverse: rapid.Bool().Draw(rt, "reverse"), Limit: rapid.IntRange(0, 4).Draw(rt, "limit"),
	}
}

func list(s *Store, o ListOptions) (out []string, err error) {
	it, err := s.List(o)
	if err != nil {
		return nil, err
	}
	for {
		k, v, ok, err := it.Next()
		if err != nil || !ok {
			return out, err
		}
		out = append(out, k+"="+string(v))
	}
}

func modelList(model map[string][]byte, o ListOptions) []string {
	var keys []string
	for k := range model {
		if (o.Start == nil || k >= *o.Start) && (o.StartAfter == nil || k > *o.StartAfter) &&
			(o.End == nil || k < *o.End) && (o.Prefix == nil || strings.HasPrefix(k, *o.Prefix)) {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	if o.Reverse {
		sort.Sort(sort.Reverse(sort.StringSlice(keys)))
	}
	if o.Limit > 0 && len(keys) > o.Limit {
		keys = keys[:o.Limit]
	}
	for i, k := range keys {
		keys[i] = k + "=" + string(model[k])
	}
	return keys
}

// An iterator is live: it sees keys that appear ahead of it, several can run,
// and one can be closed early.
func TestIteratorsAreLive(t *testing.T) {
	s := open(t)
	for _, k := range []string{"a", "b", "c"} {
		put(t, s, k, k)
	}
	it, err := s.List(ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	step := func(it *KVIterator) string {
		t.Helper()
		k, _, _, err := it.Next()
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	got := step(it)
	put(t, s, "d", "d")
	other, err := s.List(ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got += step(other) + step(it)
	other.Close()
	commit(t, s)
	got += step(it) + step(it) + step(it)
	if got != "aabcd" {
		t.Error(got)
	}
	if _, err := s.List(ListOptions{Limit: -1}); err == nil {
		t.Error("a negative limit")
	}
	if k, _, ok, err := (&KVIterator{}).Next(); k != "" || ok || err != nil {
		t.Error(k, ok, err)
	}
}

// deleteAll leaves nothing, whatever was there, in one commit, and counts keys.
func TestDeleteAll(t *testing.T) {
	commits := 0
	o := options(t.TempDir() + "/a.sqlite")
	o.OnCommit = func() { commits++ }
	s := openWith(t, o)
	for _, sql := range []string{
		"CREATE TABLE p(id INTEGER PRIMARY KEY AUTOINCREMENT)",
		`CREATE TABLE "odd ""name"(a UNIQUE REFERENCES p(id) ON DELETE RESTRICT, b REFERENCES "odd ""name"(a))`,
		"CREATE VIEW v AS SELECT * FROM p", "CREATE INDEX i ON p(id)",
		"CREATE TRIGGER tr AFTER DELETE ON p BEGIN SELECT raise(ABORT, 'kept'); END",
		"CREATE VIRTUAL TABLE f USING fts5(body)", "CREATE VIRTUAL TABLE fv USING fts5vocab(f, row)", "CREATE VIRTUAL TABLE r USING rtree(a, b, c)",
		"INSERT INTO p VALUES(1)", `INSERT INTO "odd ""name" VALUES(1, NULL)`, "INSERT INTO f VALUES('hello')", "ANALYZE",
	} {
		must(t, s, sql)
	}
	put(t, s, "k", "v")
	if err := s.SetAlarm(77); err != nil {
		t.Fatal(err)
	}
	commit(t, s)
	cur, err := s.Exec("SELECT * FROM p UNION ALL SELECT 2", nil)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "uncommitted", "v")
	must(t, s, "PRAGMA case_sensitive_like=1")
	before := commits
	n, err := s.DeleteAll(DeleteAllOptions{KeepAlarm: true, FacetsPending: true})
	if err != nil || n != 2 {
		t.Fatal(n, err)
	}
	if commits != before+1 || s.Dirty() {
		t.Errorf("%d commits, dirty %v", commits-before, s.Dirty())
	}
	if _, _, err := cur.Next(); err == nil || err.Error() != "SQLite query was canceled because the database was deleted." {
		t.Errorf("cursor: %v", err)
	}
	if r := must(t, s, "SELECT name FROM sqlite_master WHERE name NOT IN ('_cf_METADATA', 'sqlite_sequence')"); len(r) != 0 {
		t.Errorf("left: %v", r)
	}
	if r := must(t, s, "PRAGMA quick_check"); r[0][0] != "ok" {
		t.Error(r)
	}
	if r := must(t, s, "PRAGMA foreign_keys"); r[0][0] != int64(1) {
		t.Error("foreign keys are off")
	}
	if ms, ok, err := s.Alarm(); ms != 77 || !ok || err != nil {
		t.Error("the alarm is gone")
	}
	if get(t, s, "k") != "(none)" {
		t.Error("a key is left")
	}
	s.Close()
	checkFacetsPending(t, o)
}

// checkFacetsPending: the row that says that facets are still to be deleted
// survives a restart, until it is taken back.
func checkFacetsPending(t *testing.T, o Options) {
	t.Helper()
	s := openWith(t, o)
	if pending, err := s.FacetDeletionPending(); err != nil || !pending {
		t.Error("the pending deletion of facets is forgotten", err)
	}
	if err := s.FacetsDeleted(); err != nil {
		t.Fatal(err)
	}
	put(t, s, "k", "new")
	commit(t, s)
	if pending, err := s.FacetDeletionPending(); err != nil || pending {
		t.Error(pending, err)
	}
}

// Without options deleteAll takes the alarm along; inside a transaction it is
// refused.
func TestDeleteAllPlain(t *testing.T) {
	s := open(t)
	put(t, s, "k", "v")
	if err := s.SetAlarm(5); err != nil {
		t.Fatal(err)
	}
	commit(t, s)
	if n, err := s.DeleteAll(DeleteAllOptions{}); n != 1 || err != nil {
		t.Error(n, err)
	}
	if _, ok, err := s.Alarm(); ok || err != nil {
		t.Error("the alarm survived")
	}
	sp, err := s.Savepoint()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.DeleteAll(DeleteAllOptions{}); err == nil || err.Error() != "Cannot call deleteAll() within a transaction" {
		t.Error(err)
	}
	if err := sp.Rollback(); err != nil {
		t.Fatal(err)
	}
}
