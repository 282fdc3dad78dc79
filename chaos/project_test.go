package chaos

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A project that is not there, or whose configuration is wrong, is named, with the
// place.
func TestLoadProjectRefuses(t *testing.T) {
	dir := t.TempDir()
	fails := func(project, want string) {
		t.Helper()
		_, err := FindConfig(project, "", nil)
		if err == nil || !IsUsage(err) || CodeOf(err) != Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	fails(filepath.Join(dir, "nowhere"), "there is no project")
	fails(dir, "write a wrangler.jsonc")
	file := filepath.Join(dir, "wrangler.jsonc")
	text := `{"name": "w", "main": "x.ts", "compatibility_date": "2026-08-01", "durable_objects": {"bindings": 7}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	fails(dir, "wrangler.jsonc:1:")
	fails(file, "wrangler.jsonc:1:")
}
