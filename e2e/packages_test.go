package e2e

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Packages of npm that Workers use load, and do what they are for: each line of
// testdata/packages.txt is a package and what fixtures/packages answers for it.
func TestPackages(t *testing.T) {
	t.Parallel()
	lines, err := os.ReadFile("testdata/packages.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := dev(t, "--config", filepath.Join(fixture(t, "packages"), "wrangler.jsonc"), "--port", "0", "--mock-ai",
		"--persist-to", filepath.Join(t.TempDir(), "state"),
		"--var", "REDIS:"+listen(t, redis), "--var", "POSTGRES:"+listen(t, postgres), "--var", "SMTP:"+listen(t, smtp))
	for line := range strings.Lines(string(lines)) {
		name, want, _ := strings.Cut(strings.TrimSpace(line), " ")
		t.Run(name, func(t *testing.T) {
			if status, got := ask(t, "GET", s.url+"/"+url.PathEscape(name)); status != http.StatusOK || got != want {
				t.Errorf("%d\n got %s\nwant %s", status, got, want)
			}
		})
	}
}
