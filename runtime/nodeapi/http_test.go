package nodeapi

import (
	"fmt"
	"testing"

	"minido.dev/minido/runtime/event"
)

// echo answers with what it got.
func echo(req *event.Request, done func(*event.Response, error)) func(error) {
	answer := func(body []byte) {
		text := fmt.Sprintf("%s %s x=%s ct=%s body=%s", req.Method, req.URL, req.Header.Get("x-test"), req.Header.Get("content-type"), body)
		done(&event.Response{Status: 201, StatusText: "Created", Header: event.Header{{Name: "X-Reply", Value: "yes"},
			{Name: "Set-Cookie", Value: "a=1"}, {Name: "Set-Cookie", Value: "b=2"}}, Body: event.Bytes([]byte(text))}, nil)
	}
	if req.Body == nil {
		answer(nil)
		return func(error) {}
	}
	var all []byte
	var next func(chunk []byte, err error)
	next = func(chunk []byte, err error) {
		if all = append(all, chunk...); err != nil {
			answer(all)
			return
		}
		req.Body.Read(next)
	}
	req.Body.Read(next)
	return func(error) {}
}

// http.request goes through fetch: method, path, headers and body arrive, and
// the response streams back with its status and headers
// (nodejs.org/api/http.html#httprequesturl-options-callback).
func TestHTTPClient(t *testing.T) {
	w := newWorld(t, Options{})
	w.net = echo
	w.in(`
		const http = require("http"), https = require("https"), sc = require("stream/consumers");
		(async () => {
			const r = await new Promise((resolve) => http.get("http://example.com/a?b=c", { headers: { "X-Test": "1" } }, resolve));
			say(r.statusCode, r.statusMessage, r.headers["x-reply"], r.headers["set-cookie"].join());
			say(await sc.text(r), r.complete);
			const q = https.request({ hostname: "h.example", port: 8443, path: "/p", method: "post", headers: { "content-type": "text/x" } });
			q.write("part ");
			q.end("two");
			const [s] = await require("events").once(q, "response");
			say(await sc.text(s));
		})().catch((e) => say("THROWN", e.stack));
	`)
	w.said("201 Created yes a=1,b=2", "GET http://example.com/a?b=c x=1 ct= body= true",
		"POST https://h.example:8443/p x= ct=text/x body=part two")
}

// A request that fails emits "error"; what an HTTP server would need, or what
// is no HTTP, throws at once.
func TestHTTPRefusals(t *testing.T) {
	w := newWorld(t, Options{})
	w.net = func(_ *event.Request, done func(*event.Response, error)) func(error) {
		done(nil, fmt.Errorf("connection refused"))
		return func(error) {}
	}
	check(t, w, `const http = require("http"), https = require("https")`, [][2]string{
		{`new Promise((r) => http.get("http://x/").on("error", (e) => r(e.code)))`, `"ECONNREFUSED"`},
		{`http.createServer(() => {})`, `Error ERR_METHOD_NOT_IMPLEMENTED: minido lacks http.createServer: export a fetch handler instead of a server: export default { async fetch(request, env) { return new Response("ok") } }`},
		{`https.get("http://x/")`, `TypeError ERR_INVALID_PROTOCOL: Protocol "http:" not supported. Expected "https:"`},
		{`http.get({ path: "/a b" })`, `TypeError ERR_UNESCAPED_CHARACTERS: Request path contains unescaped characters`},
		{`http.request("http://x/", { headers: { "a b": 1 } })`, `TypeError ERR_INVALID_HTTP_TOKEN: Header name must be a valid HTTP token ["a b"]`},
		{`[http.METHODS.includes("GET"), http.STATUS_CODES[404], http.maxHeaderSize]`, `[true, "Not Found", 16384]`},
		{`new Promise((r) => { const q = http.request("http://x/"); q.on("error", (e) => r([e.code, q.destroyed])); q.destroy(); })`, `["ECONNRESET", true]`},
	})
}

// Importing what Workers only pretend to have succeeds; using it says what to
// do instead; classes of it may be extended.
func TestMissing(t *testing.T) {
	w := newWorld(t, Options{})
	check(t, w, ``, [][2]string{
		{`require("child_process").spawn("ls")`, `Error ERR_METHOD_NOT_IMPLEMENTED: The child_process.spawn method is not implemented: Workers run no processes; do the work in JavaScript, or call a service with fetch()`},
		{`new (require("worker_threads").Worker)("x")`, `Error ERR_METHOD_NOT_IMPLEMENTED: The Worker method is not implemented: a Worker is one isolate; use Durable Objects or service bindings`},
		{`(() => { class S extends require("net").Socket {} return typeof S; })()`, `"function"`},
		{`[require("net").isIP("::1"), require("net").isIP("1.2.3.4"), require("net").isIP("1.2.3"), require("net").isIPv6("1::2:3.4.5.6"), require("net").isIPv6("1:2")]`, `[6, 4, 0, true, false]`},
		{`require("tty").isatty(1)`, `false`},
		{`require("module").createRequire("/")("path") === require("path")`, `true`},
		{`require("module").isBuiltin("node:fs")`, `true`},
	})
}
