package config

import (
	"os"
	"path/filepath"
	"testing"
)

// The wrangler file of a worker is found beside, below and elsewhere in a monorepo, by
// its name or that of one of its environments; packages and files with errors are passed over.
func TestFindWorker(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"apps/web/wrangler.jsonc":                 `{"name": "web"}`,
		"apps/users/wrangler.toml":                "name = \"users\"\n[env.staging]\n[env.live]\nname = \"people\"\n",
		"apps/broken/wrangler.json":               `{"name": `,
		"apps/web/jobs/wrangler.json":             `{"name": "jobs"}`,
		"services/mail/wrangler.jsonc":            `{"name": "mail", }`,
		"apps/web/node_modules/pkg/wrangler.json": `{"name": "inner"}`,
		"apps/node_modules/wrangler.json":         `{"name": "pkg"}`,
	} {
		at := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"users": "apps/users/wrangler.toml", "users-staging": "apps/users/wrangler.toml",
		"people": "apps/users/wrangler.toml", "users-live": "", "jobs": "apps/web/jobs/wrangler.json", "mail": "services/mail/wrangler.jsonc",
		"inner": "", "pkg": "", "": ""} {
		if want != "" {
			want = filepath.Join(root, filepath.FromSlash(want))
		}
		if got := FindWorker(filepath.Join(root, "apps", "web"), name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
