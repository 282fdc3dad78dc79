package compat_test

import (
	_ "embed"
	"fmt"
	"strings"
	"testing"

	"minido.dev/minido/internal/golden"
	"minido.dev/minido/internal/reference"
	"minido.dev/minido/runtime/minidotest"
)

//go:embed testdata/behaviour.js
var worker string

// settings have dates before and after the flags that projects of today meet, and
// flags that no date switches.
var settings = []struct{ name, date, flag string }{
	{"2024-01-01", "2024-01-01", ""}, {"2025-01-01", "2025-01-01", ""}, {"2026-01-01", "2026-01-01", ""}, {"2026-08-01", "2026-08-01", ""},
	{"importable-env", "2026-08-01", "disallow_importable_env"},
}

// list is a list of one text, or of none for "".
func list(text string) string {
	if text == "" {
		return "[]"
	}
	return fmt.Sprintf("[%q]", text)
}

func lines(text string) []string { return strings.Split(text, "\n") }

// What a worker notices of its compatibility date is what it notices in workerd.
func TestBehaviour(t *testing.T) {
	for _, s := range settings {
		t.Run(s.name, func(t *testing.T) {
			w := minidotest.NewWorldFrom(t, map[string]string{"worker.js": worker,
				"wrangler.json": fmt.Sprintf(`{"name": "test", "main": "worker.js", "compatibility_date": %q, "compatibility_flags": %s}`, s.date, list(s.flag))}, minidotest.Options{})
			golden.Lines(t, "testdata/"+s.name+".golden", lines(w.Do("GET", "http://localhost/", "").Body))
		})
	}
}

// The reference gives the answers of the golden files, but for those lines that
// are written down.
func TestDifferentialBehaviour(t *testing.T) {
	for _, s := range settings {
		t.Run(s.name, func(t *testing.T) {
			p := reference.Start(t, reference.Options{Name: "test", Dir: t.TempDir(), Script: worker, Date: s.date, Flags: strings.Fields(s.flag)})
			_, text := p.Post("/", "")
			minidotest.Differing(t, "testdata/"+s.name, lines(text))
		})
	}
}
