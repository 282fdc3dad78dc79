package server_test

import (
	"strings"
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// A binding to what no module exports keeps the worker from starting, as with
// wrangler dev; the error has the place in the configuration and the module's file.
func TestMissingExports(t *testing.T) {
	back := func(main string) map[string]string {
		return map[string]string{"back/wrangler.json": `{"name": "back", "main": "b.js", "compatibility_date": "2026-08-01"}`, "back/b.js": main}
	}
	const plain = "export const helpers = {};\nexport default { fetch() {} };"
	cases := map[string]struct {
		bindings string
		others   map[string]string
		want     []string
	}{
		"an object's class": {
			`"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Room"]}]`, nil,
			[]string{"wrangler.json:2:", `the binding ROOM names the class "Room", which w.js does not export`, "it exports default, helpers; export the class, or correct class_name"},
		},
		"a workflow's class": {
			`"workflows": [{"binding": "FLOW", "name": "flow", "class_name": "Flow"}]`, nil,
			[]string{"wrangler.json:2:", `the binding FLOW names the workflow class "Flow", which w.js does not export`, "it exports default, helpers; export the workflow class, or correct class_name"},
		},
		"an object as a workflow's class": {
			`"workflows": [{"binding": "FLOW", "name": "flow", "class_name": "helpers"}]`, nil,
			[]string{`the binding FLOW names the workflow class "helpers", which w.js exports, but not as a class`},
		},
		"another worker's workflow": {
			`"workflows": [{"binding": "FLOW", "name": "flow", "class_name": "Flow", "script_name": "back"}]`, back("export class Other {}\n" + plain),
			[]string{"wrangler.json:2:", `names the workflow class "Flow", which b.js of the worker "back" does not export`, "it exports Other, default, helpers; export the workflow class there"},
		},
		"an entrypoint of its own": {
			`"services": [{"binding": "ADMIN", "service": "w", "entrypoint": "Admin"}]`, nil,
			[]string{"wrangler.json:2:", `the binding ADMIN names the entrypoint "Admin", which w.js does not export`, "it exports default, helpers; export the entrypoint, or correct entrypoint"},
		},
		"another worker's entrypoint": {
			`"services": [{"binding": "ADMIN", "service": "back", "entrypoint": "Admin"}]`, back(plain),
			[]string{"wrangler.json:2:", `the binding ADMIN names the entrypoint "Admin", which b.js of the worker "back" does not export`, "export the entrypoint there, or correct entrypoint"},
		},
	}
	for name, c := range cases { // order-independent: each has a directory of its own
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"w.js": plain, "wrangler.json": `{"name": "w", "main": "w.js", "compatibility_date": "2026-08-01",` + "\n" + c.bindings + "}"}
			var others []string
			for path, text := range c.others { // order-independent
				files[path], others = text, []string{"back"}
			}
			dir := t.TempDir()
			minidotest.WriteFiles(t, dir, files)
			_, err := minidotest.Open(t, minidotest.Options{Project: dir, Others: others})
			if err == nil {
				t.Fatal("it started")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %q:\n%v", want, err)
				}
			}
		})
	}
}

// What the worker does export is found: a workflow's class, an entrypoint that is an
// object of handlers, and one whose worker no session has.
func TestExportsThatAreThere(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"w.js": `import { WorkflowEntrypoint } from "cloudflare:workers";
export class Flow extends WorkflowEntrypoint { async run() {} }
export const inner = { fetch() { return new Response("inner"); } };
export default { fetch: (req, env) => env.INNER.fetch(req) };`,
		"wrangler.json": `{"name": "w", "main": "w.js", "compatibility_date": "2026-08-01", "workflows": [{"binding": "FLOW", "name": "flow", "class_name": "Flow"}],
"services": [{"binding": "INNER", "service": "w", "entrypoint": "inner"}, {"binding": "GONE", "service": "gone", "entrypoint": "Any"}]}`,
	}, minidotest.Options{})
	if got := w.Do("GET", "http://localhost/", "").Text(); got != "inner" {
		t.Errorf("got %q", got)
	}
}
