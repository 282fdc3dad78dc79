package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
)

// An alarm of an object that has no database is an orphan, one of an object that has
// one is not.
func TestOrphans(t *testing.T) {
	dir := t.TempDir()
	space := filepath.Join(dir, "v3", "do", "shop-Cart")
	if err := os.MkdirAll(space, 0o700); err != nil {
		t.Fatal(err)
	}
	run := func(file, sql string) {
		t.Helper()
		conn, err := sqlite.Open(sqlite.Options{Path: filepath.Join(space, file), Now: clock.Real{}.Now, Rand: entropy.System{}})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.Exec(sql); err != nil {
			t.Fatal(err)
		}
	}
	here, gone := strings.Repeat("a", 64), strings.Repeat("b", 64)
	run(here+".sqlite", "CREATE TABLE t (n)")
	run(indexFile, "CREATE TABLE _cf_ALARM (actor_id TEXT PRIMARY KEY, scheduled_time INTEGER); INSERT INTO _cf_ALARM VALUES ('"+here+"', 1), ('"+gone+"', 2)")
	rest, err := ReadSnapshot(dir, time.Now(), false)
	if err != nil {
		t.Fatal(err)
	}
	c := orphanChecker{}
	e := Evidence{Rest: rest}
	if found := c.Check(e); !c.Applies(e) || len(found) != 1 || !strings.Contains(found[0].Text, "shop-Cart/bbbbbbbb: the index has an alarm") {
		t.Errorf("%v", found)
	}
	if c.Applies(Evidence{}) {
		t.Error("a case without files has an index")
	}
}
