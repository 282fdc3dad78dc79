package doctor

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/config"
)

// examine writes the files of a project and examines it.
func examine(t *testing.T, files map[string]string) Report {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files { // order-independent: each has a path of its own
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	threads := sched.NewThreads(clock.Real{})
	defer func() {
		if err := threads.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	r, err := Examine(t.Context(), Options{Config: config.Options{Dir: dir}, Scheduler: threads, Entropy: entropy.System{}, BuildOutput: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What throws when it is used, what is not installed and what has no effect is found
// with its place, before anything has used it; what works is not.
func TestExamine(t *testing.T) {
	r := examine(t, map[string]string{
		"wrangler.jsonc": `{
  "name": "w", "main": "src/w.ts", "compatibility_date": "2026-08-01", "compatibility_flags": ["nodejs_compat"],
  "durable_objects": { "bindings": [{ "name": "A", "class_name": "A" }] }, "migrations": [{ "tag": "v1", "new_sqlite_classes": ["A"] }],
  "flagship": [{ "binding": "FLAGS", "app_id": "a" }]
}`,
		"package.json":                              "{\n  \"dependencies\": {\n    \"here\": \"1\",\n    \"@gone/away\": \"1\"\n  }\n}",
		"node_modules/here/package.json":            `{"name": "here", "version": "1.0.0"}`,
		".wrangler/state/v3/do/w-A/0123.sqlite":     "",
		".wrangler/state/v3/do/w-A/metadata.sqlite": "",
		"src/w.ts": `import { DurableObject } from "cloudflare:workers";
import type { Socket } from "node:dgram";
import { join } from "node:path";
import {
  readFileSync,
  watch,
} from "node:fs";
import * as child from "node:child_process";
export class A extends DurableObject {
  run() { return [join, readFileSync, watch, () => child.spawn("ls"), null as Socket | null]; }
}
export default { fetch() { return new Response() } };
`})
	var got []string
	for _, f := range r.Findings {
		if !strings.Contains(f.Text, "workerd differs in") { // by date: a table of its own changes it
			got = append(got, f.Level.String()+" "+f.Where+" "+f.Text)
		}
	}
	want := []string{
		"throws src/w.ts:6 node:fs has no watch here: its use throws",
		"throws src/w.ts:10 node:child_process has no spawn here: its use throws",
		"throws wrangler.jsonc:4:18 env.FLAGS: a Flagship is not offered",
		"note package.json:4 the package @gone/away is not installed",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if r.Worst() != Throws || len(r.Ready) != 1 || r.Ready[0].Name != "A" || r.Failure != "" {
		t.Errorf("%+v", r)
	}
	if !slices.Equal(r.State, []string{"w-A: objects stored: 1"}) {
		t.Errorf("state %q", r.State)
	}
}

// What keeps a worker from starting is told with its place: a configuration, an
// import, a class that is missing. A project in which nothing is wrong passes.
func TestExamineStart(t *testing.T) {
	const configuration = `{"name": "w", "main": "w.js", "compatibility_date": "2026-08-01",
		"durable_objects": {"bindings": [{"name": "A", "class_name": "A"}]}}`
	for name, c := range map[string]struct{ config, source, failure string }{
		"configuration": {`{"name": "w", "main": 5}`, "", "wrangler.jsonc:1:15"},
		"import":        {configuration, `import x from "not-there"; export default x`, "w.js:1:15"},
		"class":         {configuration, `export default {}`, `"A"`},
		"evaluation":    {configuration, `throw new Error("at the top")`, "at the top"},
		"none":          {configuration, `import { DurableObject } from "cloudflare:workers"; export class A extends DurableObject {} export default {}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := examine(t, map[string]string{"wrangler.jsonc": c.config, "w.js": c.source})
			if (r.Worst() == Stops) != (c.failure != "") || !strings.Contains(r.Failure, c.failure) {
				t.Errorf("worst %s, failure %q, want %q", r.Worst(), r.Failure, c.failure)
			}
		})
	}
}
