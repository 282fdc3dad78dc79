package world_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/world"
)

// A worker whose module awaits for ever at its top level does not start: the error is
// workerd's, with the place of the await.
func TestUnsettledModule(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"worker.js":     "import \"./slow.js\";\nexport default { fetch() { return new Response(\"ok\"); } };\n",
		"slow.js":       "await null;\nexport const x = 1;\n\nawait new Promise(() => {});\n",
		"wrangler.json": `{"name": "hangs", "main": "worker.js", "compatibility_date": "2026-08-01"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := world.Open(world.Options{Config: config.Options{Dir: dir}, Dir: t.TempDir(), CacheDir: t.TempDir()})
	const want = "Error: Top-level await in module is unsettled.\n    at slow.js:4:1"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("started with %v, want %q", err, want)
	}
}
