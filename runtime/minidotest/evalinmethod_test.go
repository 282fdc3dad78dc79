package minidotest

import (
	"testing"
)

// A class that calls eval in a method, and has the static block that names it, is
// evaluated; the call throws in a handler.
func TestEvalInAMethod(t *testing.T) {
	w := NewWorldFrom(t, map[string]string{
		"w.js": `class A { ev() { return eval("1+1"); } }
const started = new A().ev();
export default { fetch() {
  try { return new Response(started + new A().ev()); } catch (e) { return new Response(started + " " + A.name + " " + e); }
} };`,
		"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01"}`,
	}, Options{})
	if got, want := w.Do("GET", "http://localhost/", "").Body, "2 A EvalError: Code generation from strings disallowed for this context"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
