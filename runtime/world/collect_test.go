package world

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"weak"

	"minido.dev/minido/runtime/server"
)

// keepWorker holds on to a cursor in module state, as code does that reads no
// further than the first row.
const keepWorker = `
import { DurableObject } from "cloudflare:workers";
let kept;
export class Box extends DurableObject {
  go() { kept = this.ctx.storage.sql.exec("SELECT 1 UNION SELECT 2"); return kept.next().value; }
}
export default { async fetch(req, env) { return Response.json(await env.BOX.getByName("a").go()); } };`

// A dead world is garbage, although its worker held a cursor when it died: a
// campaign has thousands of them.
func TestDeadWorldsAreCollected(t *testing.T) {
	project := t.TempDir()
	for name, text := range map[string]string{"worker.js": keepWorker, "wrangler.json": `{"name": "keep", "main": "worker.js",
		"compatibility_date": "2026-08-01", "durable_objects": {"bindings": [{"name": "BOX", "class_name": "Box"}]},
		"migrations": [{"tag": "1", "new_sqlite_classes": ["Box"]}]}`} {
		if err := os.WriteFile(filepath.Join(project, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bundles := &server.Bundles{}
	die := func() weak.Pointer[server.Server] {
		w, err := Open(options(t, project, bundles))
		if err != nil {
			t.Fatal(err)
		}
		r := w.Send(Request("GET", "http://localhost/", ""))
		if err := w.Until(r.Done); err != nil || r.Status != 200 {
			t.Fatalf("%d %s %v", r.Status, r.Body, err)
		}
		w.Kill()
		if err := w.Stop(); err != nil {
			t.Fatal(err)
		}
		return weak.Make(w.Server)
	}
	server := die()
	for range 5 { // what has cleanups takes more than one collection
		runtime.GC()
	}
	if server.Value() != nil {
		t.Error("the server of a dead world is still in memory")
	}
}
