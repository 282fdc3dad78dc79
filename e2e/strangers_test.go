package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// stranger starts one of the projects that nobody adapted to minido. Its state
// goes elsewhere; everything else is the project's.
func stranger(t *testing.T, config string) server {
	t.Helper()
	return dev(t, "--config", filepath.Join(fixture(t, "strangers"), config), "--port", "0", "--persist-to", filepath.Join(t.TempDir(), "state"))
}

// answers expects a status and parts of the body.
func answers(t *testing.T, url string, status int, parts ...string) {
	t.Helper()
	got, body := ask(t, "GET", url)
	if got != status {
		t.Errorf("GET %s: %d, want %d: %s", url, got, status, body)
	}
	contains(t, body, parts...)
}

// Hono, wrangler.toml, .dev.vars, TypeScript paths and a Durable Object work as
// they are.
func TestStrangerNotes(t *testing.T) {
	t.Parallel()
	s := stranger(t, "notes/wrangler.toml")
	answers(t, s.url+"/", http.StatusOK, "<title>Notes (dev)</title>") // the title of .dev.vars, over that of the vars
	post := func(token string) (int, string) {
		request, err := http.NewRequest("POST", s.url+"/notes/a", strings.NewReader(`{"text":"buy milk"}`))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("content-type", "application/json")
		if token != "" {
			request.Header.Set("authorization", "Bearer "+token)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		return response.StatusCode, response.Status
	}
	if status, text := post(""); status != http.StatusUnauthorized {
		t.Errorf("without a token: %s", text)
	}
	if status, text := post("let-me-in"); status != http.StatusCreated {
		t.Errorf("with the token of .dev.vars: %s", text)
	}
	answers(t, s.url+"/notes/a", http.StatusOK, "buy milk")
	if strings.Contains(s.Output(), "let-me-in") {
		t.Errorf("the start-up lines show a secret:\n%s", s.Output())
	}
}

// Static assets, the single-page fallback, run_worker_first with its exception,
// and the ASSETS binding work as they are.
func TestStrangerGallery(t *testing.T) {
	t.Parallel()
	s := stranger(t, "gallery/wrangler.jsonc")
	answers(t, s.url+"/", http.StatusOK, "<")
	_, page := ask(t, "GET", s.url+"/")
	answers(t, s.url+"/any/page", http.StatusOK, page)
	answers(t, s.url+"/api/pictures", http.StatusOK, "/img/dot.svg")
	answers(t, s.url+"/api/raw", http.StatusOK, "<svg")
	answers(t, s.url+"/api/other", http.StatusNotFound, "no route /api/other")
	answers(t, s.url+"/api/docs/", http.StatusOK, "<")
	response, err := client.Get(s.url + "/img/dot.svg")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || response.Header.Get("content-type") != "image/svg+xml" || response.Header.Get("cache-control") == "" {
		t.Errorf("dot.svg: %s %v", response.Status, response.Header)
	}
}

// A project that uses a service of an account starts and says at its start where that
// binding is declared and what helps; where the binding is not used it answers, and its
// use fails as it does in wrangler dev --local.
func TestStrangerAssistant(t *testing.T) {
	t.Parallel()
	s := stranger(t, "assistant/wrangler.jsonc")
	contains(t, s.Output(), "env.AI", "wrangler.jsonc:5", "--mock-ai", "--ai-url", "env.CACHE")
	answers(t, s.url+"/?q=tides", http.StatusOK, `"AI"`, `"CACHE"`, "tides")
	answers(t, s.url+"/cached", http.StatusOK, `{"answer":null}`)
	answers(t, s.url+"/ask", http.StatusInternalServerError, "Binding AI needs to be run remotely")
}

// The fixtures that are no systems start on the reference, too, and answer there
// as here. What the reference cannot do without an account is left out.
func TestDifferentialOtherFixtures(t *testing.T) {
	for config, paths := range map[string][]string{
		"hello/wrangler.jsonc":               {"/"},
		"counter/wrangler.jsonc":             {"/red", "/red/tags"},
		"planted/wrangler.jsonc":             {"/", "/sum"},
		"strangers/notes/wrangler.toml":      {"/", "/notes/a", "/nothing"},
		"strangers/gallery/wrangler.jsonc":   {"/", "/nothing"},
		"strangers/assistant/wrangler.jsonc": {"/nothing"}, // its answers need env.AI
	} {
		t.Run(filepath.Dir(config), func(t *testing.T) {
			wranglerModules(t)
			t.Parallel()
			got := map[string]string{}
			for who, start := range runtimes {
				s := start(t, "--config", filepath.Join(fixture(t, ""), config), "--port", "0", "--persist-to", t.TempDir())
				for _, path := range paths {
					status, body := ask(t, "GET", s.url+path)
					got[who] += fmt.Sprintf("GET %s: %d %s\n", path, status, body)
				}
			}
			same(t, "wrangler answers, minido answers", got["wrangler"], got["minido"])
		})
	}
}
