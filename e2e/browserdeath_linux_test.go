package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"minido.dev/minido/chaos/process"
)

// A browser ends with the server that started it, also when that is killed.
func TestBrowserEndsWithItsServer(t *testing.T) {
	t.Parallel()
	pid := filepath.Join(t.TempDir(), "pid")
	browser := filepath.Join(t.TempDir(), "browser")
	script := "#!/bin/sh\necho $$ > " + pid + "\necho DevTools listening on ws://127.0.0.1:1/devtools/browser/x >&2\nexec sleep 1000\n"
	if err := os.WriteFile(browser, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	dir := project(t, map[string]string{
		"wrangler.json": `{"name": "b", "main": "main.js", "compatibility_date": "2026-01-01", "browser": {"binding": "BROWSER"}}`,
		"main.js":       `export default { async fetch(request, env) { return env.BROWSER.fetch("https://browser/v1/acquire"); } }`,
	})
	s, err := launch(t, process.Options{
		Command: []string{minido, "dev", "--port", "0", "-c", dir + "/wrangler.json", "--persist-to", t.TempDir()}, Env: []string{"PUPPETEER_EXECUTABLE_PATH=" + browser},
	})
	if err != nil {
		t.Fatal(err)
	}
	answers(t, s.url+"/", 200, "sessionId")
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	id, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || syscall.Kill(id, 0) != nil {
		t.Fatalf("the browser does not run: %q, %v", text, err)
	}
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the browser", func() bool { return syscall.Kill(id, 0) != nil })
}
