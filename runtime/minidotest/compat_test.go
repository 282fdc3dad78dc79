package minidotest

import (
	"embed"
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

// jsonList is a list of one text, or of none for "".
func jsonList(text string) string {
	if text == "" {
		return "[]"
	}
	return fmt.Sprintf("[%q]", text)
}

// What a worker notices of its compatibility date is what it notices in workerd.
func TestCompatibility(t *testing.T) {
	for _, s := range compatSettings {
		t.Run(s.name, func(t *testing.T) {
			w := NewWorldFrom(t, map[string]string{"worker.js": compatWorker(t, s.worker),
				"wrangler.json": fmt.Sprintf(`{"name": "test", "main": "worker.js", "compatibility_date": %q, "compatibility_flags": %s}`, s.date, jsonList(s.flags))}, Options{})
			golden.Lines(t, "testdata/compat/"+s.name+".golden", linesOf(w.Do("GET", "http://localhost/", "").Body))
		})
	}
}

// The reference gives the answers of the golden files, but for those lines that
// are written down.
func TestDifferentialCompatibility(t *testing.T) {
	for _, s := range compatSettings {
		t.Run(s.name, func(t *testing.T) {
			p := reference.Start(t, reference.Options{Name: "test", Dir: t.TempDir(), Script: compatWorker(t, s.worker), Date: s.date, Flags: strings.Fields(s.flags)})
			_, text := p.Post("/", "")
			Differing(t, "testdata/compat/"+s.name, linesOf(text))
		})
	}
}
