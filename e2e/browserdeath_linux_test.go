package e2e

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
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
	// Not by the harness, which ends with a server all that this has started.
	server := exec.Command(minido, "dev", "--port", "0", "-c", dir+"/wrangler.json", "--persist-to", t.TempDir())
	server.Env = append(os.Environ(), "PUPPETEER_EXECUTABLE_PATH="+browser)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	server.Stderr = server.Stdout
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	url, lines := "", bufio.NewScanner(out)
	for url == "" && lines.Scan() {
		if _, rest, found := strings.Cut(lines.Text(), "Ready on "); found {
			url, _, _ = strings.Cut(rest, " ")
		}
	}
	answers(t, url+"/", 200, "sessionId")
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	id, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || syscall.Kill(id, 0) != nil {
		t.Fatalf("the browser does not run: %q, %v", text, err)
	}
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait() // it was killed
	eventually(t, "the end of the browser", func() bool { return syscall.Kill(id, 0) != nil })
}
