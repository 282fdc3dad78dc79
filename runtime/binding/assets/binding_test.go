package assets_test

import (
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// fetch of ASSETS follows redirects, of the files and of _redirects, as fetch does
// for a URL or a new Request; the request that came in is passed on as it is.
func TestRedirects(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"w.js": `export default { async fetch(request, env) {
  const { pathname } = new URL(request.url);
  const tell = async (r) => Response.json([r.status, r.url, r.redirected, await r.text(), r.headers.get("location")]);
  if (pathname.startsWith("/url")) return tell(await env.ASSETS.fetch("http://x" + pathname.slice(4)));
  if (pathname.startsWith("/new")) return tell(await env.ASSETS.fetch(new Request("http://x" + pathname.slice(4))));
  if (pathname.startsWith("/manual")) return tell(await env.ASSETS.fetch("http://x" + pathname.slice(7), { redirect: "manual" }));
  return env.ASSETS.fetch(request);
} };`,
		"wrangler.json":     `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01", "assets": {"directory": "public", "binding": "ASSETS", "run_worker_first": true}}`,
		"public/index.html": "home",
		"public/a.html":     "a",
		"public/_redirects": "/old /a 301\n",
	}, minidotest.Options{})
	for path, want := range map[string]string{
		"/url/index.html":    `[200,"http://x/",true,"home",null]`,
		"/new/a.html":        `[200,"http://x/a",true,"a",null]`,
		"/url/old":           `[200,"http://x/a",true,"a",null]`,
		"/url/a":             `[200,"http://x/a",false,"a",null]`,
		"/manual/index.html": `[307,"http://x/index.html",false,"","/"]`,
	} {
		if got := w.Do("GET", "http://localhost"+path, ""); got.Body != want {
			t.Errorf("%s: %s, want %s", path, got.Body, want)
		}
	}
	if got := w.Do("GET", "http://localhost/old", ""); got.Status != 301 {
		t.Errorf("the client got %d", got.Status)
	}
}
