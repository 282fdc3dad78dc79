package minidotest

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"minido.dev/minido/internal/golden"
	"minido.dev/minido/internal/reference"
)

//go:embed testdata/compat/*.js
var compatWorkers embed.FS

// compatSettings have dates before and after the flags that projects of today meet, and
// flags that no date switches; worker is a file of testdata/compat.
var compatSettings = []struct{ name, worker, date, flags string }{
	{"2024-01-01", "behaviour", "2024-01-01", ""}, {"2025-01-01", "behaviour", "2025-01-01", ""},
	{"2026-01-01", "behaviour", "2026-01-01", ""}, {"2026-08-01", "behaviour", "2026-08-01", ""},
	{"importable-env", "behaviour", "2026-08-01", "disallow_importable_env"}, {"backward", "behaviour", "2026-08-01", "pipe_to_backward_propagation"},
	{"iterables", "behaviour", "2026-01-01", "fetch_iterable_type_support"},
	{"streams-2024-06-01", "streams", "2024-06-01", ""}, {"streams-2026-01-01", "streams", "2026-01-01", ""}, {"streams-2026-08-01", "streams", "2026-08-01", ""},
	{"flags-2024-01-01", "flags", "2024-01-01", "nodejs_als"}, {"flags-2024-05-01", "flags", "2024-05-01", "nodejs_als"}, {"flags-2024-09-01", "flags", "2024-09-01", "nodejs_als"},
	{"flags-2025-04-30", "flags", "2025-04-30", "nodejs_als"}, {"flags-2026-04-20", "flags", "2026-04-20", "nodejs_als"}, {"flags-2026-08-01", "flags", "2026-08-01", "nodejs_als"},
	{"flags-reused-ctx", "flags", "2026-08-01", "nodejs_als,nonclass_entrypoint_reuses_ctx_across_invocations"},
	{"modules-2025-10-01", "modules", "2025-10-01", "nodejs_compat"}, {"modules-2026-08-01", "modules", "2026-08-01", "nodejs_compat"}, {"modules-2026-11-17", "modules", "2026-11-17", ""},
	{"node-2026-06-01", "node", "2026-06-01", "nodejs_compat"}, {"node-2026-08-01", "node", "2026-08-01", "nodejs_compat"},
}

// compatWorker is a worker's source.
func compatWorker(t *testing.T, name string) string {
	t.Helper()
	text, err := compatWorkers.ReadFile("testdata/compat/" + name + ".js")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// jsonList is a list of the texts between commas.
func jsonList(text string) string {
	b, err := json.Marshal(strings.FieldsFunc(text, func(r rune) bool { return r == ',' }))
	if err != nil {
		panic(err) // texts always marshal
	}
	return string(b)
}

// What a worker notices of its compatibility date is what it notices in workerd.
func TestCompatibility(t *testing.T) {
	for _, s := range compatSettings {
		t.Run(s.name, func(t *testing.T) {
			source := compatWorker(t, s.worker)
			bindings, classes := objectBindings(source)
			w := NewWorldFrom(t, map[string]string{"worker.js": source,
				"wrangler.json": fmt.Sprintf(`{"name": "test", "main": "worker.js", "compatibility_date": %q, "compatibility_flags": %s,
"durable_objects": {"bindings": [%s]}, "migrations": [{"tag": "v1", "new_sqlite_classes": [%s]}]}`, s.date, jsonList(s.flags), bindings, classes)}, Options{})
			golden.Lines(t, "testdata/compat/"+s.name+".golden", linesOf(w.Do("GET", "http://localhost/", "").Body))
		})
	}
}

// The reference gives the answers of the golden files, but for those lines that
// are written down.
func TestDifferentialCompatibility(t *testing.T) {
	for _, s := range compatSettings {
		t.Run(s.name, func(t *testing.T) {
			source := compatWorker(t, s.worker)
			p := reference.Start(t, reference.Options{Name: "test", Dir: t.TempDir(), Script: source, Classes: ClassesOf(source), Date: s.date, Flags: strings.FieldsFunc(s.flags, func(r rune) bool { return r == ',' })})
			_, text := p.Post("/", "")
			Differing(t, "testdata/compat/"+s.name, linesOf(text))
		})
	}
}
