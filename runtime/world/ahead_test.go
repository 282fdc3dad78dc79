package world_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/world"
)

// With Ahead, modules without side effects are evaluated once the worker is loaded,
// and nothing has asked for them; the same seed does it in the same order of steps.
// Without it they wait.
func TestAhead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"worker.js":                     "import { a } from \"pkg\";\nconsole.log(\"loaded\");\nexport default { fetch() { return new Response(a); } };\n",
		"node_modules/pkg/package.json": `{"name": "pkg", "version": "1.0.0", "sideEffects": false, "type": "module", "main": "index.js"}`,
		"node_modules/pkg/index.js":     "import { b } from \"./b.js\";\nconsole.log(\"a evaluated\");\nexport const a = \"a\" + b;\n",
		"node_modules/pkg/b.js":         "console.log(\"b evaluated\");\nexport const b = \"b\";\n",
		"wrangler.json":                 `{"name": "waits", "main": "worker.js", "compatibility_date": "2026-08-01"}`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cache := t.TempDir()
	start := func(ahead bool) (lines []string) {
		w, err := world.Open(world.Options{Config: config.Options{Dir: dir}, Dir: t.TempDir(), CacheDir: cache, Seed: 3, Ahead: ahead,
			Record: func(line string) { lines = append(lines, line) }})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Advance(time.Second); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := w.Stop(); err != nil {
				t.Error(err)
			}
		}()
		return slices.Clone(lines)
	}
	start(true) // fills the cache
	first, second := start(true), start(true)
	if !slices.Equal(first, second) {
		t.Errorf("one seed, two histories:\n%s\n\n%s", strings.Join(first, "\n"), strings.Join(second, "\n"))
	}
	order := strings.Join(first, "\n")
	if l, b, a := strings.Index(order, "loaded"), strings.Index(order, "b evaluated"), strings.Index(order, "a evaluated"); l < 0 || b < l || a < b {
		t.Errorf("evaluated in another order:\n%s", order)
	}
	if lines := start(false); strings.Contains(strings.Join(lines, "\n"), "evaluated") {
		t.Errorf("evaluated early:\n%s", strings.Join(lines, "\n"))
	}
}
