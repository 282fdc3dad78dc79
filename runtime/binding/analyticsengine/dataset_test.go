package analyticsengine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/binding/analyticsengine"
	"minido.dev/minido/runtime/minidotest"
)

// What a worker writes is in the table of its dataset, with the session's time,
// cut to the columns that there are; what is no data point stops nothing.
func TestPoints(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"w.js": `export default { fetch(request, env) {
  const many = Array.from({ length: 25 }, (_, i) => "b" + (i + 1));
  env.A.writeDataPoint({ indexes: ["i", "j"], blobs: many, doubles: [1.5, "2"] });
  env.A.writeDataPoint({ blobs: [new TextEncoder().encode("bytes")] });
  for (const bad of [undefined, null, 7, {}, { blobs: "x" }]) env.B.writeDataPoint(bad);
  return new Response("ok");
} };`,
		"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01", "analytics_engine_datasets": [{"binding": "A", "dataset": "da"}, {"binding": "B"}]}`,
	}, minidotest.Options{Start: time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)})
	if got := w.Do("GET", "http://localhost/", ""); got.Body != "ok" {
		t.Fatal(got)
	}
	path := analyticsengine.Path(w.Dir() + "/v3/analytics")
	o := sqlite.Options{Path: path, Now: w.Now, Rand: entropy.NewSeeded(1)}
	sql := `SELECT datetime(timestamp, 'unixepoch'), index1, blob1, blob20, double1, double2, double3, _sample_interval FROM da ORDER BY rowid`
	var got []string
	if err := w.Until(func() bool {
		_, rows, err := analyticsengine.Query(o, sql)
		got = nil
		for _, r := range rows {
			got = append(got, strings.TrimSpace(fmt.Sprintln(r...)))
		}
		return err == nil && len(rows) == 2
	}); err != nil {
		t.Fatal(err)
	}
	want := "2031-05-06 07:08:09 i b1 b20 1.5 2 0 1\n2031-05-06 07:08:09  bytes  0 0 0 1"
	if strings.Join(got, "\n") != want {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if err := w.Until(func() bool {
		_, rows, err := analyticsengine.Query(o, "SELECT count(*) FROM B")
		return err == nil && rows[0][0] == int64(5)
	}); err != nil {
		t.Error(err)
	}
	if _, _, err := analyticsengine.Query(o, "DELETE FROM da"); err == nil {
		t.Error("a query could delete")
	}
}
