package assets

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/event"
)

// site writes files (name, content, ...) and opens them as assets.
func site(t *testing.T, c config.Assets, files ...string) *Service {
	t.Helper()
	c.Directory = t.TempDir()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(c.Directory, filepath.FromSlash(files[i]))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func get(path string, header ...string) *event.Request {
	req := &event.Request{Method: "GET", URL: "http://localhost:8787" + path}
	for i := 0; i < len(header); i += 2 {
		req.Header = append(req.Header, event.Field{Name: header[i], Value: header[i+1]})
	}
	return req
}

// outcome is a response in one word: its location, its body, or its status.
func outcome(resp *event.Response) string {
	if resp == nil {
		return "worker"
	}
	if to := resp.Header.Get("Location"); to != "" {
		return "-> " + to
	}
	if resp.Body != nil {
		body, _ := event.Buffered(resp.Body)
		return string(body)
	}
	return map[int]string{404: "404", 405: "405", 304: "304", 200: "200"}[resp.Status]
}

// html_handling decides where a page is served; every other way to it redirects there.
func TestAssetsHTMLHandling(t *testing.T) {
	files := []string{"index.html", "root", "file.html", "file", "folder/index.html", "folder", "bin", "bin", "both.html", "both.html", "both/index.html", "both/"}
	for handling, want := range map[string]map[string]string{
		"auto-trailing-slash": {"/": "root", "/index": "-> /", "/index.html": "-> /",
			"/file": "file", "/file.html": "-> /file", "/file/": "-> /file", "/file/index": "-> /file", "/file/index.html": "-> /file",
			"/folder": "-> /folder/", "/folder.html": "-> /folder/", "/folder/": "folder", "/folder/index": "-> /folder/", "/folder/index.html": "-> /folder/",
			"/bin": "bin", "/bin/": "worker", "/both": "both.html", "/both/": "both/", "/none": "worker"},
		"force-trailing-slash": {"/": "root", "/index": "-> /", "/index.html": "-> /",
			"/file": "-> /file/", "/file.html": "-> /file/", "/file/": "file", "/file/index": "-> /file/", "/file/index.html": "-> /file/",
			"/folder": "-> /folder/", "/folder.html": "-> /folder/", "/folder/": "folder", "/folder/index": "-> /folder/",
			"/bin": "bin", "/both.html": "both.html", "/both/": "both/", "/both": "-> /both/"},
		"drop-trailing-slash": {"/": "root", "/index": "-> /", "/index.html": "-> /",
			"/file": "file", "/file.html": "-> /file", "/file/": "-> /file", "/file/index": "-> /file",
			"/folder": "folder", "/folder.html": "-> /folder", "/folder/": "-> /folder", "/folder/index": "-> /folder", "/folder/index.html": "-> /folder",
			"/bin": "bin", "/both": "both.html", "/both/index.html": "both/", "/both/": "-> /both"},
		"none": {"/": "worker", "/index.html": "root", "/file": "worker", "/file.html": "file", "/folder/": "worker", "/folder/index.html": "folder"},
	} {
		a := site(t, config.Assets{HTMLHandling: handling}, files...)
		for path, want := range want {
			resp, found := a.Serve(get(path + "?q=1"))
			got := outcome(resp)
			if strings.HasPrefix(want, "-> ") {
				want += "?q=1"
			}
			if got != want || found != (want != "worker") || strings.HasPrefix(got, "->") && resp.Status != 307 {
				t.Errorf("%s: %s: %s, want %s", handling, path, got, want)
			}
		}
	}
}

// The not-found handling answers env.ASSETS.fetch always, and in front of a
// worker only navigations and what the rules of run_worker_first leave to it.
func TestAssetsNotFound(t *testing.T) {
	files := []string{"index.html", "app", "404.html", "gone", "docs/404.html", "no such page"}
	spa := site(t, config.Assets{NotFoundHandling: "single-page-application"}, files...)
	if got, _ := spa.Serve(get("/api/x")); got != nil {
		t.Errorf("a fetch did not reach the worker: %s", outcome(got))
	}
	if got, _ := spa.Serve(get("/deep/link", "Sec-Fetch-Mode", "navigate")); outcome(got) != "app" || got.Status != 200 {
		t.Errorf("a navigation got %s", outcome(got))
	}
	if got := spa.Fetch(get("/api/x")); outcome(got) != "app" {
		t.Errorf("the binding gave %s", outcome(got))
	}
	spa.NavigationPlain = true
	if got, _ := spa.Serve(get("/deep/link", "Sec-Fetch-Mode", "navigate")); got != nil {
		t.Errorf("without the flag a navigation got %s", outcome(got))
	}
	page := site(t, config.Assets{NotFoundHandling: "404-page", WorkerFirst: []string{"/api/*"}, AssetsFirst: []string{"/api/docs/*"}}, files...)
	for path, want := range map[string]string{"/x": "gone", "/docs/a/b": "no such page", "/docs/": "no such page"} {
		if got, _ := page.Serve(get(path)); outcome(got) != want || got.Status != 404 {
			t.Errorf("%s: %s", path, outcome(got))
		}
	}
	for path, want := range map[string]bool{"/api/x": true, "/api/docs/x": false, "/api": false, "/": false} {
		if page.WorkerFirst(path) != want {
			t.Errorf("WorkerFirst(%s) is %v", path, !want)
		}
	}
	none := site(t, config.Assets{AssetsFirst: []string{"/static/*"}, WorkerFirst: []string{"/*"}}, files...)
	if got, found := none.Serve(get("/static/x")); !found || got.Status != 404 {
		t.Error("a path that is the assets' alone went to the worker")
	}
	if got := none.Fetch(get("/x")); got.Status != 404 || got.Body != nil {
		t.Errorf("%+v", got)
	}
}

// Nothing outside the directory can be had, however the path is written, nor
// can its rule files and what .assetsignore names.
func TestAssetsStayInside(t *testing.T) {
	a := site(t, config.Assets{NotFoundHandling: "none"}, "in.txt", "in", "_headers", "/x\n a: b\n", "_redirects", "/y /z\n",
		".assetsignore", "*.secret\n/private/\n!kept.secret\n\\#odd\n", "a.secret", "S", "d/b.secret", "S", "kept.secret", "kept",
		"private/x.txt", "S", "d/private/x.txt", "fine", "#odd", "S", "sub/_headers", "fine", ".well-known/x", "fine")
	outside := filepath.Join(filepath.Dir(a.c.Directory), "outside.txt")
	if err := os.WriteFile(outside, []byte("S"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(a.c.Directory, "link.txt")); err != nil {
		t.Logf("no symbolic links here: %v", err)
	}
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(a.c.Directory, "up")); err != nil {
		t.Logf("no symbolic links here: %v", err)
	}
	for _, path := range []string{"/../outside.txt", "/..%2foutside.txt", "/%2e%2e/outside.txt", "/%2e%2e%2foutside.txt", "/..%5coutside.txt", "/sub/../../outside.txt",
		"/sub%2f..%2f..%2foutside.txt", "/./..//outside.txt", "//..//outside.txt", "/..;/outside.txt", "/" + outside, "/%2f" + outside, "/in.txt/../../outside.txt",
		"/link.txt", "/up/outside.txt", "/%00", "/in.txt%00", "/_headers", "/_redirects", "/.assetsignore", "/%5fheaders", "/a.secret", "/d/b.secret", "/private/x.txt", "/%23odd", "/private%2fx.txt"} {
		if resp, _ := a.Serve(get(path)); resp != nil && resp.Status == 200 {
			t.Errorf("%s gave %q", path, outcome(resp))
		}
	}
	for path, want := range map[string]string{"/in.txt": "in", "/kept.secret": "kept", "/d/private/x.txt": "fine", "/sub/_headers": "fine", "/.well-known/x": "fine"} {
		if resp, _ := a.Serve(get(path)); outcome(resp) != want {
			t.Errorf("%s: %s", path, outcome(resp))
		}
	}
	// Empty segments must not become a redirect to another host.
	if resp, _ := a.Serve(get("//evil.example/..%2f..%2f")); resp != nil && strings.HasPrefix(resp.Header.Get("Location"), "//") {
		t.Errorf("an open redirect: %s", outcome(resp))
	}
}

// A file comes with its type and a validator; methods and odd spellings are
// answered as production does; changes on disk show at once.
func TestAssetsFiles(t *testing.T) {
	a := site(t, config.Assets{}, "a.js", "js", "ü [x].txt", "odd", "data.unknown", "?")
	resp, _ := a.Serve(get("/a.js"))
	etag := resp.Header.Get("ETag")
	if resp.Header.Get("Content-Type") != "text/javascript; charset=utf-8" || resp.Header.Get("Cache-Control") != "public, max-age=0, must-revalidate" || len(etag) != 34 {
		t.Errorf("%v", resp.Header)
	}
	for _, tag := range []string{etag, "W/" + etag} {
		if resp, _ := a.Serve(get("/a.js", "If-None-Match", tag)); resp.Status != 304 || resp.Body != nil {
			t.Errorf("%s: %d", tag, resp.Status)
		}
	}
	if err := os.WriteFile(filepath.Join(a.c.Directory, "a.js"), []byte("longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	if resp, _ := a.Serve(get("/a.js", "If-None-Match", etag)); outcome(resp) != "longer" || resp.Header.Get("ETag") == etag {
		t.Errorf("the change does not show: %v", resp)
	}
	head := get("/a.js")
	head.Method = "HEAD"
	if resp, _ := a.Serve(head); resp.Status != 200 || resp.Body != nil || resp.Header.Get("Content-Length") != "6" {
		t.Errorf("HEAD: %+v", resp)
	}
	head.Method = "POST"
	if resp, found := a.Serve(head); !found || resp.Status != 405 {
		t.Errorf("POST to a file: %+v", resp)
	}
	if resp, _ := a.Serve(get("/ü%20[x].txt")); outcome(resp) != "-> /%C3%BC%20%5Bx%5D.txt" {
		t.Errorf("not canonical: %s", outcome(resp))
	}
	if resp, _ := a.Serve(get("/%C3%BC%20%5Bx%5D.txt")); outcome(resp) != "odd" {
		t.Errorf("canonical: %s", outcome(resp))
	}
	if resp, _ := a.Serve(get("/data.unknown")); resp.Header.Has("Content-Type") {
		t.Errorf("%v", resp.Header)
	}
}

// _redirects and _headers do what they say; a line that cannot be followed is
// named with its number.
func TestAssetsRules(t *testing.T) {
	a := site(t, config.Assets{}, "users/id.html", "user", "x.txt", "x",
		"_redirects", "# rules\n/old /new?a=1#h 301\n/ext https://example.test/p\n/users/:id /users/id.html 200\n/blog/*  /news/:splat 308 # moved\n/old /again\n/bad\n/s /t 404\n/loop/* /index.html\n",
		"_headers", "/*\n  X-All: 1\n  Cache-Control: no-store\n/x.txt\n  X-All: 2\n  ! ETag\n/users/:id\n  X-User: u-:id\nhttps://localhost/x.txt\n  X-Host: yes\nhttps://other/x.txt\n  X-Other: yes\n/empty\n")
	for path, want := range map[string]string{"/old?b=2": "-> /new?a=1#h", "/ext?b=2": "-> https://example.test/p?b=2", "/blog/2024/x": "-> /news/2024/x", "/loop/x": "worker"} {
		resp, _ := a.Serve(get(path))
		if outcome(resp) != want {
			t.Errorf("%s: %s", path, outcome(resp))
		}
	}
	if resp, _ := a.Serve(get("/old")); resp.Status != 301 {
		t.Errorf("status %d", resp.Status)
	}
	// A rewrite is served through html_handling, which knows this file under another path.
	if resp, _ := a.Serve(get("/users/7")); outcome(resp) != "-> /users/id" || resp.Header.Get("X-User") != "u-7" {
		t.Errorf("rewrite: %s %v", outcome(resp), resp.Header)
	}
	resp, _ := a.Serve(get("/x.txt"))
	var lines []string
	for _, f := range resp.Header {
		lines = append(lines, f.Name+"="+f.Value)
	}
	if got := strings.Join(lines, " "); got != "Content-Type=text/plain; charset=utf-8 CF-Cache-Status=HIT x-all=1 cache-control=no-store x-all=2 x-host=yes" {
		t.Errorf("headers: %s", got)
	}
	saysOfRules(t, a, `✨ Parsed 4 valid redirect rules.
! Found 4 invalid redirect rules:
▶︎ Ignoring duplicate rule for path /old.
    at _redirects:6 | /old /again

▶︎ Expected exactly 2 or 3 whitespace-separated tokens. Got 1.
    at _redirects:7 | /bad

▶︎ Valid status codes are 200, 301, 302 (default), 303, 307, or 308. Got 404.
    at _redirects:8 | /s /t 404

▶︎ Infinite loop detected in this rule and has been ignored. This will cause a redirect to strip `+"`.html` or `/index`"+` and end up triggering this rule again. Please fix or remove this rule to silence this warning.
    at _redirects:9 | /loop/* /index.html
✨ Parsed 5 valid header rules.
! Found 1 invalid header rule:
▶︎ No headers specified
    at _headers | /empty`)
}

// saysOfRules compares what a says of its files of rules.
func saysOfRules(t *testing.T, a *Service, want string) {
	t.Helper()
	var lines []string
	for _, said := range a.Rules(a.c.Directory) {
		if said.Warning {
			said.Text = "! " + said.Text
		}
		lines = append(lines, said.Text)
	}
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("--- want\n%s\n+++ got\n%s", want, got)
	}
}

// Rules that come too late, twice or in too great a number, and what a placeholder
// is filled with: a destination stays on its host.
func TestAssetsRuleLimits(t *testing.T) {
	var many strings.Builder
	for i := range maxDynamicRedirects + 1 {
		fmt.Fprintf(&many, "/d%d/* /to\n", i)
	}
	a := site(t, config.Assets{}, "x.txt", "x",
		"_redirects", "/go/* /:splat\n/late /x.txt\n"+many.String(), "_headers", "/x.txt\n  X-A: 1\n/x.txt\n  X-B: 2\n/:a/:a\n  X-C: 3\n")
	if resp, _ := a.Serve(get("/go//evil.test/p")); outcome(resp) != "-> /evil.test/p" {
		t.Errorf("a rule leads to %s", outcome(resp))
	}
	if resp, _ := a.Serve(get("/x.txt")); resp.Header.Has("X-A") || resp.Header.Get("X-B") != "2" {
		t.Errorf("the later of two rules for a path: %v", resp.Header)
	}
	saysOfRules(t, a, `✨ Parsed 100 valid redirect rules.
! Found 1 invalid redirect rule:
▶︎ Maximum number of dynamic rules supported is 100. Skipping remaining 4 lines of file.
The redirect rule /late → 302 /x.txt could be made more performant by bringing it above any lines with splats or placeholders.
✨ Parsed 3 valid header rules.`)
}

// A directory that is missing and a setting that is not supported are refused by name.
func TestOpenErrors(t *testing.T) {
	if _, err := Open(config.Assets{Directory: filepath.Join(t.TempDir(), "dist")}); err == nil || !strings.Contains(err.Error(), "dist") {
		t.Errorf("%v", err)
	}
	if _, err := Open(config.Assets{Directory: t.TempDir(), BasePath: "/app"}); err == nil || !strings.Contains(err.Error(), "base_path") {
		t.Errorf("%v", err)
	}
}
