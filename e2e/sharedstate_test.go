package e2e

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sharedWorker has objects of its own, and stores that another worker has too.
const sharedWorker = `import { DurableObject } from "cloudflare:workers";
export class Room extends DurableObject {
  add() { const n = (this.ctx.storage.kv.get("n") ?? 0) + 1; this.ctx.storage.kv.put("n", n); return n; }
  async wake(ms) { await this.ctx.storage.setAlarm(Date.now() + ms); }
  alarm() { console.log("the alarm of " + this.env.WHO); this.ctx.storage.kv.put("rang", this.env.WHO); }
  rang() { return this.ctx.storage.kv.get("rang") ?? "silent"; }
}
export default { async fetch(req, env) {
  const { pathname, searchParams } = new URL(req.url), room = env.ROOM.getByName("r");
  switch (pathname) {
    case "/add": return Response.json(await room.add());
    case "/wake": return new Response(await room.wake(Number(searchParams.get("ms"))));
    case "/rang": return new Response(await room.rang());
    case "/put":
      await env.KV.put("k", searchParams.get("v"));
      await env.R2.put("k", searchParams.get("v"));
      await env.DB.exec("CREATE TABLE IF NOT EXISTS t (v TEXT)");
      await env.DB.prepare("INSERT INTO t VALUES (?)").bind(searchParams.get("v")).run();
      return new Response("stored");
    default:
      const rows = await env.DB.prepare("SELECT v FROM t ORDER BY rowid").raw();
      return new Response([await env.KV.get("k"), await (await env.R2.get("k")).text(), rows].join(" "));
  }
} };`

func sharedProject(name string) string {
	return strings.ReplaceAll(`{"name": "NAME", "main": "index.js", "compatibility_date": "2026-08-01", "vars": {"WHO": "NAME"},
"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Room"]}],
"kv_namespaces": [{"binding": "KV", "id": "shared"}], "r2_buckets": [{"binding": "R2", "bucket_name": "shared"}],
"d1_databases": [{"binding": "DB", "database_name": "shared", "database_id": "shared"}]}`, "NAME", name)
}

// Two sessions share a state directory: each has its worker's objects and fires their
// alarms; KV, R2 and D1 are one for both, and nobody has an old copy. A second session
// of the same objects is refused by name, and starts once the first was killed, whose
// answers it knows.
func TestSharedState(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{
		"one/wrangler.json": sharedProject("one"), "one/index.js": sharedWorker,
		"two/wrangler.json": sharedProject("two"), "two/index.js": sharedWorker,
	})
	state := filepath.Join(t.TempDir(), "state")
	flags := func(name string) []string {
		return []string{"-c", filepath.Join(dir, name, "wrangler.json"), "--port", "0", "--persist-to", state, "--no-watch"}
	}
	one, two := dev(t, flags("one")...), dev(t, flags("two")...)
	answers(t, one.url+"/put?v=a", http.StatusOK, "stored")
	answers(t, two.url+"/", http.StatusOK, "a a a")
	answers(t, two.url+"/put?v=b", http.StatusOK, "stored")
	answers(t, one.url+"/", http.StatusOK, "b b a,b")
	answers(t, one.url+"/put?v=c", http.StatusOK, "stored")
	answers(t, two.url+"/", http.StatusOK, "c c a,b,c")

	answers(t, one.url+"/add", http.StatusOK, "1")
	answers(t, one.url+"/add", http.StatusOK, "2")
	answers(t, two.url+"/add", http.StatusOK, "1")
	answers(t, one.url+"/wake?ms=1", http.StatusOK, "")
	until(t, "the alarm of the first worker", func() bool { _, body := ask(t, "GET", one.url+"/rang"); return body == "one" })
	answers(t, two.url+"/rang", http.StatusOK, "silent")
	contains(t, one.Output(), "the alarm of one")

	if again, err := tryDev(t, "", flags("one")...); err == nil {
		t.Error("two sessions have the same objects")
	} else {
		contains(t, again.Output(), "the objects of Room ("+filepath.Join(state, "v3", "do", "one-Room")+") are in use by minido (process ")
	}

	// The alarm of a session that was killed is not another's, whose worker is not its class's.
	answers(t, one.url+"/wake?ms=600000", http.StatusOK, "")
	answers(t, one.url+"/add", http.StatusOK, "3")
	if err := one.Close(); err != nil { // SIGKILL
		t.Fatal(err)
	}
	answers(t, two.url+"/add", http.StatusOK, "2")
	one = dev(t, flags("one")...)
	answers(t, one.url+"/add", http.StatusOK, "4")
	answers(t, one.url+"/", http.StatusOK, "c c a,b,c")
	answers(t, two.url+"/add", http.StatusOK, "3")
	if strings.Contains(two.Output(), "the alarm of") {
		t.Errorf("the second worker has fired the first one's alarm:\n%s", two.Output())
	}
}

// wrangler's commands with --local on the state directory of a running minido: each
// sees what the other has written a moment ago.
func TestDifferentialCommandsBesideServer(t *testing.T) {
	modules := wranglerModules(t)
	dir := project(t, map[string]string{"wrangler.json": sharedProject("one"), "index.js": sharedWorker, "value": "b"})
	s := dev(t, "-c", filepath.Join(dir, "wrangler.json"), "--port", "0", "--no-watch")
	home := t.TempDir()
	wrangler := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), filepath.Join(modules, ".bin", "node"), append([]string{filepath.Join(modules, "wrangler", "bin", "wrangler.js")}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "WRANGLER_SEND_METRICS=false", "CI=1", "HOME="+home, "XDG_CONFIG_HOME="+home)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("wrangler %v: %v\n%s%s", args, err, out, &stderr)
		}
		return string(out)
	}
	answers(t, s.url+"/put?v=a", http.StatusOK, "stored")
	contains(t, wrangler("kv", "key", "get", "k", "--local", "--binding", "KV", "--text"), "a")
	contains(t, wrangler("r2", "object", "get", "shared/k", "--local", "--pipe"), "a")
	contains(t, wrangler("d1", "execute", "shared", "--local", "--json", "--command", "SELECT v FROM t"), `"v": "a"`)
	wrangler("kv", "key", "put", "k", "b", "--local", "--binding", "KV")
	answers(t, s.url+"/", http.StatusOK, "b a a")
	wrangler("r2", "object", "put", "shared/k", "--local", "--file", "value")
	answers(t, s.url+"/", http.StatusOK, "b b a")
	wrangler("d1", "execute", "shared", "--local", "--command", "INSERT INTO t VALUES ('b')")
	answers(t, s.url+"/", http.StatusOK, "b b a,b")

	// A schema that changes under the prepared statements of the server.
	wrangler("d1", "execute", "shared", "--local", "--command", "DROP TABLE t; CREATE TABLE t (n INTEGER, v TEXT); INSERT INTO t VALUES (1, 'c')")
	answers(t, s.url+"/", http.StatusOK, "b b c")
	wrangler("kv", "key", "delete", "k", "--local", "--binding", "KV")
	answers(t, s.url+"/", http.StatusOK, " b c")
}
