package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// `minido kv` and `minido d1` work on a state directory, also beside a server that
// runs on it: each sees what the other has written.
func TestStateCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	minidotest.WriteFiles(t, dir, map[string]string{
		"w.js": `export default { async fetch(request, env) {
  const path = new URL(request.url).pathname;
  if (path === "/write") { await env.K.put("from worker", "w"); await env.DB.exec("INSERT INTO users (name) VALUES ('worker')"); }
  if (path === "/secret") return new Response(await env.SECRET.get());
  if (path === "/event") { for (let i = 0; i < 3; i++) env.EVENTS.writeDataPoint({ indexes: ["visit"], blobs: ["a" + i, null, "c"], doubles: [i, 0.5] }); return new Response(); }
  const { results } = await env.DB.prepare("SELECT name FROM users ORDER BY id").all();
  return Response.json([await env.K.getWithMetadata("from command"), results.map((r) => r.name).join()]);
} };`,
		"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01", "kv_namespaces": [{"binding": "K", "id": "n"}],
"analytics_engine_datasets": [{"binding": "EVENTS", "dataset": "events"}],
"secrets_store_secrets": [{"binding": "SECRET", "store_id": "store1", "secret_name": "token"}],
"d1_databases": [{"binding": "DB", "database_name": "people", "database_id": "x", "migrations_dir": "sql"}]}`,
		"sql/0002_more.sql":  "INSERT INTO users (name) VALUES ('a;b'); -- ; not the end\nINSERT INTO users (name) VALUES ('c');",
		"sql/0001_users.sql": "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT);",
		"sql/10_broken.sql":  "INSERT INTO users (name) VALUES ('broken');\nINSERT INTO nowhere VALUES (1);",
	})
	run := func(want string, fails bool, args ...string) {
		t.Helper()
		command := exec.Command(minido, args...)
		command.Dir = dir
		out, err := command.CombinedOutput()
		if (err != nil) != fails || !strings.Contains(string(out), want) {
			t.Errorf("minido %s: %v, %s, want %q", strings.Join(args, " "), err, out, want)
		}
	}
	run("0001_users.sql\n  0002_more.sql\n  10_broken.sql", false, "d1", "migrations", "list", "people")
	run("applied 0002_more.sql\nminido: migration 10_broken.sql: no such table: nowhere", true, "d1", "migrations", "apply", "DB")
	run("to be applied:\n  10_broken.sql", false, "d1", "migrations", "list", "DB")
	s := dev(t, "--config", filepath.Join(dir, "wrangler.json"), "--port", "0")
	see := func(path, want string) {
		t.Helper()
		if status, body := ask(t, "GET", s.url+path); status != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s, want %s", path, status, body, want)
		}
	}
	see("/write", `"value":null`)
	run("", false, "kv", "key", "put", "from command", "some value", "--binding", "K", "--ttl", "60", "--metadata", `{"a":1}`)
	run("at least 60", true, "kv", "key", "put", "short", "x", "--binding", "K", "--ttl", "59")
	run("", false, "d1", "execute", "DB", "--command", "INSERT INTO users (name) VALUES ('command')", "--local")
	see("/", `[{"value":"some value","metadata":{"a":1},"cacheStatus":null},"a;b,c,worker,command"]`)
	run(`"name": "worker"`, false, "d1", "execute", "people", "--json", "--command", "SELECT name FROM users")
	run("w", false, "kv", "key", "get", "from worker", "--namespace-id", "n")
	run(`"metadata": {`, false, "kv", "key", "list", "--binding", "K", "--prefix", "from c")
	run("", false, "kv", "key", "delete", "from command", "--binding", "K")
	see("/", `"value":null`)
	run("", false, "kv", "key", "put", "token", "xyzzy", "--secrets-store", "store1")
	see("/secret", "xyzzy")
	see("/event", "")
	sql := "SELECT count(*) AS n, sum(double1) AS sum, max(blob1) AS last FROM events WHERE index1 = 'visit' AND blob2 = '' AND blob3 = 'c'"
	until(t, "the points are written", func() bool { // nobody waits for writeDataPoint
		command := exec.Command(minido, "analytics", sql)
		command.Dir = dir
		out, _ := command.CombinedOutput() // it fails while there is no table
		return strings.Contains(string(out), "n  sum  last\n3  3    a2")
	})
	run("no D1 database \"other\"; it has DB", true, "d1", "execute", "other", "--command", "SELECT 1")
}
