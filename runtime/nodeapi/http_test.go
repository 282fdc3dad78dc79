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
			say(r.statusCode, r.statusMessage, r.headers["x-reply"], r.headers["set-cookie"]);
			say(await sc.text(r), r.complete);
			const q = https.request({ hostname: "h.example", port: 8443, path: "/p", method: "post", headers: { "content-type": "text/x" } });
			q.write("part ");
			q.end("two");
			const [s] = await require("events").once(q, "response");
			say(await sc.text(s));
		})().catch((e) => say("THROWN", e.stack));
	`)
	w.said("201 Created yes a=1, b=2", "GET http://example.com/a?b=c x=1 ct= body= true",
		"POST https://h.example:8443/p x= ct=text/x body=part two")
}

// The events of a request and its response come in the reference's order, also
// where the request ends early; a signal ends it until its response is over
// (nodejs.org/api/http.html#httprequesturl-options-callback, "sequence of events").
func TestHTTPClientEvents(t *testing.T) {
	w := newWorld(t, Options{})
	w.net = echo
	check(t, w, `const http = require("http"); const run = (change, options) => new Promise((res) => { const log = [];
		const r = http.request("http://x/", { method: "POST", ...options });
		for (const n of ["prefinish", "finish", "abort", "error", "close", "response"]) r.on(n, (e) => log.push(n + (n === "error" ? " " + e.code : "")));
		r.on("response", (m) => { for (const n of ["aborted", "end", "error", "close"]) m.on(n, () => log.push("res." + n + " " + m.complete)); m.resume(); });
		r.on("close", () => setTimeout(() => res(log), 5)); change(r, log); });`, [][2]string{
		{`run((r) => r.end("x"))`, `["prefinish", "finish", "response", "res.end true", "close", "res.close true"]`},
		{`run((r, l) => { r.write("a", () => l.push("written")); r.end("b", () => l.push("ended")); })`,
			`["prefinish", "written", "ended", "finish", "response", "res.end true", "close", "res.close true"]`},
		{`run((r) => { r.abort(); r.end(); })`, `["abort", "close"]`},
		{`run((r) => r.destroy())`, `["error ECONNRESET", "close"]`},
		{`run((r) => { r.end(); r.on("finish", () => r.destroy(new TypeError("mine"))); })`, `["prefinish", "finish", "error undefined", "close"]`},
		{`run((r) => { r.end(); r.on("response", (m) => r.destroy()); })`, `["prefinish", "finish", "response", "res.aborted false", "close", "res.error false", "res.close false"]`},
		{`run((r) => r.end(), { signal: AbortSignal.abort() })`, `["error ABORT_ERR", "close"]`},
		{`(() => { const c = new AbortController(); return run((r) => { r.end(); r.on("finish", () => c.abort()); }, { signal: c.signal }); })()`,
			`["prefinish", "finish", "error ABORT_ERR", "close"]`},
		{`run((r) => r.end(), { setHost: false }).then((l) => l.slice(0, 3))`, `["prefinish", "finish", "response"]`},
	})
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
		{`new Promise((r) => http.get("http://x/").on("error", (e) => r(e.message)))`, `"connection refused"`},
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

// A server gets the Worker's requests through cloudflare:node; its response
// flows as it is read.
func TestHTTPServer(t *testing.T) {
	w := newWorld(t, Options{})
	cloudflare, err := w.m.CloudflareNode()
	if err != nil {
		t.Fatal(err)
	}
	w.e.Global("cloudflare", cloudflare)
	check(t, w, `const http = require("http"), { httpServerHandler, handleAsNodeRequest } = cloudflare;
		const ask = async (listener, init, path = "/y?z") => { const s = http.createServer(listener).listen(); try { const r = await httpServerHandler(s).fetch(new Request("http://x" + path, init), { e: 1 }, {}); return [r.status, [...r.headers].join(";"), await r.text()]; } finally { s.close(); } };
		const echo = (req, res) => { let b = ""; req.on("data", (c) => b += c); req.on("end", () => { res.setHeader("x-a", "1"); res.setHeader("set-cookie", ["a=1", "b=2"]); res.write("part "); res.end([req.method, req.url, b, req.httpVersion, req.socket.remoteAddress, req.cloudflare.env.e].join()); }); }`, [][2]string{
		{`ask(echo, { method: "POST", body: "abc" })`, `[200, "connection,keep-alive;set-cookie,a=1;set-cookie,b=2;transfer-encoding,chunked;x-a,1", "part POST,/y?z,abc,1.1,127.0.0.1,1"]`},
		{`ask((req, res) => res.end("é"))`, `[200, "connection,keep-alive;content-length,2", "é"]`},
		{`ask((req, res) => res.writeHead(404, "Nope", { a: "b" }).end())`, `[404, "a,b;connection,keep-alive;transfer-encoding,chunked", ""]`},
		{`ask((req, res) => { res.statusCode = 204; res.end(); })`, `[204, "connection,keep-alive", ""]`},
		{`ask((req, res) => { require("stream").Readable.from(["a", "b", "c"]).pipe(res); })`, `[200, "connection,keep-alive;transfer-encoding,chunked", "abc"]`},
		{`ask((req, res) => { for (let i = 0; i < 50; i++) res.write("x".repeat(1000)); res.end(); }).then((r) => r[2].length)`, `50000`},
		{`ask((req, res) => { res.writeHead(200); res.setHeader("a", "b"); }).catch((e) => e)`, `Error ERR_HTTP_HEADERS_SENT: Cannot set headers after they are sent to the client`},
		{`ask((req, res) => res.writeHead(42)).catch((e) => e)`, `RangeError ERR_HTTP_INVALID_STATUS_CODE: Invalid status code: 42`},
		{`ask((req, res) => { throw new Error("x"); }).catch((e) => e)`, `Error: x`},
		{`ask((req, res) => res.destroy(new Error("gone"))).catch((e) => e)`, `Error: gone`},
		{`(() => { const s = http.createServer().listen(8080); try { return [s.listening, s.address(), http.createServer().listen(8080)]; } catch (e) { return e.message; } finally { s.close(); } })()`, `"bind EADDRINUSE 127.0.0.1:8080"`},
		{`new Promise((r) => { const s = http.createServer().listen(8081, () => { const a = s.address(); s.close(() => r([a, s.listening])); }); })`, `[{port: 8081, family: "IPv4", address: "127.0.0.1"}, false]`},
		{`handleAsNodeRequest(9, new Request("http://x"))`, `Error ERR_INVALID_ARG_VALUE: Http server with port 9 not found. This is likely a bug with your code. You should check if server.listen() was called with the same port (9)`},
		{`httpServerHandler({})`, `Error: Failed to determine port for server`},
	})
}
