package webapi_test

import (
	"strings"
	"testing"

	"minido.dev/minido/runtime/webapi/webapitest"
)

// logged are the lines that a script logs.
func logged(w *webapitest.World, source string) string {
	w.T.Helper()
	w.Run(source)
	text := strings.Join(w.Logs, "\n")
	w.Logs = nil
	if len(w.Out) > 0 {
		w.T.Errorf("%s said %q", source, w.Out)
		w.Out = nil
	}
	return text
}

// The console shows objects of the platform, and its timers follow the clock.
func TestConsolePlatform(t *testing.T) {
	w := webapitest.New(t)
	for _, c := range [][2]string{
		{`console.time("t"); console.timeLog("t", "so far", 1); await scheduler.wait(1500); console.timeEnd("t"); console.timeEnd("t")`,
			"t: 0ms so far 1\nt: 1.500s\nNo such label 't' for console.timeEnd()"},
		{`console.log(new Headers({b: "2", a: "1"}), new URLSearchParams("q=1&q=2"))`,
			"Headers(2) { 'a' => '1', 'b' => '2', [immutable]: false } URLSearchParams(2) { 'q' => '1', 'q' => '2' }"},
	} {
		if got := logged(w, c[0]); got != c[1] {
			t.Errorf("%s\n--- got\n%s\n--- want\n%s", c[0], got, c[1])
		}
	}
	if got := logged(w, `console.log(new Response("x", {status: 404}))`); !strings.HasPrefix(got, "Response {\n") || !strings.Contains(got, "  status: 404,\n") {
		t.Errorf("a Response is shown as %s", got)
	}
	if got := logged(w, `console.log(1, Object.create(URL.prototype))`); !strings.HasPrefix(got, "<Formatting threw (TypeError: Illegal invocation") || !strings.HasSuffix(got, ")>") {
		t.Errorf("what has no attributes is shown as %s", got)
	}
	for _, source := range []string{
		`Object.create(Response.prototype), structuredClone.constructor, globalThis`,
		`Request.prototype, new Request("http://x/"), new Event("e"), new AbortController(), new URL("http://x/"), performance, navigator, crypto`,
	} {
		if got := logged(w, "console.log("+source+"); console.table("+source+")"); got == "" || strings.Contains(got, "console.log:") {
			t.Errorf("%s logs %q", source, got)
		}
	}
}
