package helloworld_test

import (
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

var project = map[string]string{
	"w.js": `export default { async fetch(request, env) {
  const [, name, value] = new URL(request.url).pathname.split("/");
  if (value) await env[name].set(value);
  return Response.json(await env[name].get());
} };`,
	"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01",
"unsafe_hello_world": [{"binding": "PLAIN"}, {"binding": "TIMED", "enable_timer": true}]}`,
}

// A value that was set is got, also after a death; bindings with other settings have
// another one.
func TestHelloWorld(t *testing.T) {
	w := minidotest.NewWorldFrom(t, project, minidotest.Options{})
	want := func(path, want string) {
		t.Helper()
		if got := w.Do("GET", "http://localhost"+path, ""); got.Body != want {
			t.Errorf("%s: %q, want %q", path, got.Body, want)
		}
	}
	want("/PLAIN", `{"value":""}`)
	want("/PLAIN/hi", `{"value":"hi"}`)
	want("/TIMED", `{"value":"","ms":100}`)
	want("/TIMED/ho", `{"value":"ho","ms":100}`)
	w.Kill()
	w = w.Revive()
	want("/PLAIN", `{"value":"hi"}`)
	want("/TIMED", `{"value":"ho","ms":100}`)
}
