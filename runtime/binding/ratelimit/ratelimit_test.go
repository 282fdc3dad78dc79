package ratelimit_test

import (
	"testing"
	"time"

	"minido.dev/minido/runtime/minidotest"
)

var project = map[string]string{
	"w.js": `export default { async fetch(request, env) {
  const { name, options } = await request.json();
  try { return Response.json(await env[name].limit(options)); } catch (e) { return new Response(String(e)); }
} };`,
	"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01",
"ratelimits": [{"name": "FAST", "namespace_id": "1", "simple": {"limit": 2, "period": 10}}, {"name": "OTHER", "namespace_id": "2", "simple": {"limit": 2, "period": 10}},
  {"name": "SLOW", "namespace_id": "1", "simple": {"limit": 3, "period": 60}}],
"unsafe": {"bindings": [{"name": "UNSAFE", "type": "ratelimit", "namespace_id": "3", "simple": {"limit": 1, "period": 60}}]}}`,
}

func ask(t *testing.T, w *minidotest.World, name, options, want string) {
	t.Helper()
	if got := w.Do("POST", "http://localhost/", `{"name": "`+name+`", "options": `+options+`}`); got.Body != want {
		t.Errorf("%s.limit(%s): %q, want %q", name, options, got.Body, want)
	}
}

const yes, no = `{"success":true}`, `{"success":false}`

// A limit holds for a key of a namespace in one window of the clock; what it
// refuses is not counted, and neither a restart nor another binding to the
// namespace begins anew.
func TestWindows(t *testing.T) {
	w := minidotest.NewWorldFrom(t, project, minidotest.Options{Start: time.Date(2026, 8, 1, 12, 0, 3, 0, time.UTC)})
	for _, want := range []string{yes, yes, no, no} {
		ask(t, w, "FAST", `{"key": "a"}`, want)
	}
	ask(t, w, "FAST", `{"key": "b"}`, yes)
	ask(t, w, "FAST", `{}`, yes)
	ask(t, w, "OTHER", `{"key": "a"}`, yes)
	ask(t, w, "SLOW", `{"key": "a", "delta": 2}`, yes)
	ask(t, w, "SLOW", `{"key": "a", "period": 10, "limit": 2}`, no) // FAST's counter
	ask(t, w, "UNSAFE", `{"key": "a"}`, yes)
	ask(t, w, "UNSAFE", `{"key": "a"}`, no)
	w.Advance(6 * time.Second) // 12:00:09
	w = w.Restart()
	ask(t, w, "FAST", `{"key": "a"}`, no)
	w.Advance(time.Second) // 12:00:10, when the windows of ten seconds begin
	ask(t, w, "FAST", `{"key": "a"}`, yes)
	ask(t, w, "SLOW", `{"key": "a"}`, yes)
	ask(t, w, "SLOW", `{"key": "a"}`, no)
	w.Advance(50 * time.Second)
	ask(t, w, "SLOW", `{"key": "a"}`, yes)
}

// Options are refused in miniflare's words.
func TestErrors(t *testing.T) {
	w := minidotest.NewWorldFrom(t, project, minidotest.Options{})
	for options, want := range map[string]string{
		`null`:                               "Error: invalid rate limit options",
		`"a"`:                                "Error: invalid rate limit options",
		`{"key": "a", "kye": 1, "count": 2}`: "Error: bad rate limit options: [kye,count]",
		`{"key": 7}`:                         "Error: invalid key: 7",
		`{"limit": "1"}`:                     "Error: limit must be a number: 1",
		`{"period": null}`:                   "Error: period must be a number: null",
		`{"period": 20}`:                     "Error: unsupported period: 20",
		`{"delta": "x"}`:                     "TypeError: The value cannot be converted because it is not an integer.",
		`{"delta": -1}`:                      "TypeError: The value cannot be converted because it is negative and this API expects a positive number.",
		`{"delta": 4294967296}`:              "TypeError: Value out of range. Must be less than or equal to 4294967295.",
		`{"delta": 0.5}`:                     "RangeError: delta must be non-zero",
		`{"delta": 1.9}`:                     yes,
	} {
		ask(t, w, "OTHER", options, want)
	}
}
