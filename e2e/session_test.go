package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// `minido dev -c a -c b` runs two workers: the first answers on the port and
// calls the other; a change of the other's code is taken up, and its objects
// keep what they stored.
func TestSeveralWorkers(t *testing.T) {
	t.Parallel()
	back := func(text string) string {
		return `import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
export class Count extends DurableObject { add() { const n = (this.ctx.storage.kv.get("n") ?? 0) + 1; this.ctx.storage.kv.put("n", n); return n; } }
export class Late extends DurableObject { hi() { return "hi from late"; } }
export class Say extends WorkerEntrypoint { hi(name) { return "` + text + ` " + name + " " + this.ctx.props.mark; } }
export default { fetch() { return new Response("` + text + `"); } };`
	}
	dir := project(t, map[string]string{
		"front/wrangler.json": `{"name": "front", "main": "index.js", "compatibility_date": "2026-08-01",
"services": [{"binding": "SAY", "service": "back", "entrypoint": "Say", "props": {"mark": "!"}}, {"binding": "BACK", "service": "back"}],
"durable_objects": {"bindings": [{"name": "COUNT", "class_name": "Count", "script_name": "back"}]}}`,
		"front/index.js": `export default { async fetch(req, env) {
  return new Response([await env.SAY.hi("ann"), await (await env.BACK.fetch(req)).text(), await env.COUNT.getByName("c").add()].join(", "));
} };`,
		"back/wrangler.json": `{"name": "back", "main": "index.js", "compatibility_date": "2026-08-01",
"exports": {"Count": {"type": "durable-object", "storage": "sqlite"}}}`,
		"back/index.js": back("first"),
	})
	s := dev(t, "-c", filepath.Join(dir, "front", "wrangler.json"), "-c", filepath.Join(dir, "back", "wrangler.json"), "--port", "0",
		"--persist-to", filepath.Join(t.TempDir(), "state"))
	answers(t, s.url+"/", http.StatusOK, "first ann !, first, 1")
	if err := os.WriteFile(filepath.Join(dir, "back", "index.js"), []byte(back("second")), 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "the other worker's new code to answer", func() bool {
		_, body := ask(t, "GET", s.url+"/")
		return strings.HasPrefix(body, "second ann !, second, ")
	})
	if _, body := ask(t, "GET", s.url+"/"); strings.HasSuffix(body, ", 1") {
		t.Errorf("the object has lost its count: %s", body)
	}

	// The first worker's configuration changes: another file, other flags, a class of the other that it did not
	// name before, then one that the other does not have.
	bind := func(class string) {
		t.Helper()
		text := strings.ReplaceAll(`{"name": "front", "main": "late.js", "compatibility_date": "2026-08-01", "compatibility_flags": ["nodejs_compat"],
"durable_objects": {"bindings": [{"name": "LATE", "class_name": "CLASS", "script_name": "back"}]}}`, "CLASS", class)
		if err := os.WriteFile(filepath.Join(dir, "front", "wrangler.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code := `import { basename } from "node:path";
export default { async fetch(req, env) { return new Response(await env.LATE.getByName(basename("/b/c")).hi()); } };`
	if err := os.WriteFile(filepath.Join(dir, "front", "late.js"), []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	bind("Late")
	until(t, "the new binding to answer", func() bool {
		_, body := ask(t, "GET", s.url+"/")
		return body == "hi from late"
	})
	bind("Lost")
	until(t, "the refusal of the class", func() bool {
		return strings.Contains(s.Output(), `the binding LATE names the class "Lost", which index.js of the worker "back" does not export`)
	})
	contains(t, s.Output(), "it exports Count, Late, Say")
	answers(t, s.url+"/", http.StatusOK, "hi from late")
}
