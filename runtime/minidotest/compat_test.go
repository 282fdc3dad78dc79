package minidotest

import (
	_ "embed"
	"fmt"
	"strings"
	"testing"

	"minido.dev/minido/internal/golden"
	"minido.dev/minido/internal/reference"
)

//go:embed testdata/compat/behaviour.js
var compatWorker string

// compatSettings have dates before and after the flags that projects of today meet, and
// flags that no date switches.
var compatSettings = []struct{ name, date, flag string }{
	{"2024-01-01", "2024-01-01", ""}, {"2025-01-01", "2025-01-01", ""}, {"2026-01-01", "2026-01-01", ""}, {"2026-08-01", "2026-08-01", ""},
	{"importable-env", "2026-08-01", "disallow_importable_env"}, {"backward", "2026-08-01", "pipe_to_backward_propagation"},
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
			w := NewWorldFrom(t, map[string]string{"worker.js": compatWorker,
				"wrangler.json": fmt.Sprintf(`{"name": "test", "main": "worker.js", "compatibility_date": %q, "compatibility_flags": %s}`, s.date, jsonList(s.flag))}, Options{})
			golden.Lines(t, "testdata/compat/"+s.name+".golden", linesOf(w.Do("GET", "http://localhost/", "").Body))
		})
	}
}

// The reference gives the answers of the golden files, but for those lines that
// are written down.
func TestDifferentialCompatibility(t *testing.T) {
	for _, s := range compatSettings {
		t.Run(s.name, func(t *testing.T) {
			p := reference.Start(t, reference.Options{Name: "test", Dir: t.TempDir(), Script: compatWorker, Date: s.date, Flags: strings.Fields(s.flag)})
			_, text := p.Post("/", "")
			Differing(t, "testdata/compat/"+s.name, linesOf(text))
		})
	}
}
