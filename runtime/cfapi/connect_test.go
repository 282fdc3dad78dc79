package cfapi_test

import (
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// prober asks a connection what a client sees of it: opened, a write, a read, another of
// each, close(), and closed.
const prober = `const enc = (s) => new TextEncoder().encode(s), dec = (b) => new TextDecoder().decode(b);
const told = (p) => p.then((v) => v?.value ? dec(v.value) : JSON.stringify(v) ?? "-", (e) => e.name + ": " + e.message);
async function probe(s) {
  const out = [await told(s.opened)], w = s.writable.getWriter(), r = s.readable.getReader(), first = told(w.write(enc("hello")));
  out.push(await told(r.read()), await first);
  const second = told(w.write(enc("bye")));
  out.push(await told(r.read()), await second, await told(w.close()), await told(r.read()), await told(s.closed));
  return out.join(" | ");
}
`

// connect() of a stub calls the connect() handler of a worker, an entrypoint, an object; the connection ends
// with the handler (workerd 1.20261117.1, whose answers these are).
func TestConnect(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"w.js": prober + `import { WorkerEntrypoint, DurableObject } from "cloudflare:workers";
const echo = async (s, prefix) => { const w = s.writable.getWriter(); for await (const c of s.readable) await w.write(enc(prefix + dec(c))); await w.close(); };
export class Ent extends WorkerEntrypoint { async connect(s) { console.log(arguments.length, s.constructor.name, s.secureTransport, await s.opened); await echo(s, this.ctx.props.p + ":"); } }
export class Obj extends DurableObject { async connect(s) { await this.ctx.storage.put("n", 7); await echo(s, "obj:"); } n() { return this.ctx.storage.get("n"); } }
export class Unborn extends DurableObject { constructor(c, e) { super(c, e); throw new Error("no birth"); } connect() {} }
export class Handless extends DurableObject {}
export class Aborts extends DurableObject { async connect(s) { await s.readable.getReader().read(); this.ctx.abort("gone"); } facet() { return probe(this.ctx.facets.get("f", () => ({ class: this.ctx.exports.Obj })).connect("example:25")); } }
export const early = { connect() {} };
export const throws = { async connect(s) { const r = s.readable.getReader(); await r.read(); throw new RangeError("boom"); } };
export const greets = { async connect(s) { const w = s.writable.getWriter(); await w.write(enc("greetings")); await w.close(); } };
export const unawaited = { async connect(s) { s.writable.getWriter().write(enc("lost")); } };
export const later = { async connect(s, env, ctx) { ctx.waitUntil(s.readable.getReader().read()); } };
export const none = { fetch() {} };
export const big = { async connect(s) { let n = 0, most = 0; for await (const c of s.readable) { n += c.length; most = Math.max(most, c.length); } const w = s.writable.getWriter(); await w.write(enc(n + " " + most)); await w.close(); } };
export default { async fetch(request, env, ctx) {
  const { SELF, OBJ, CERT } = env;
  const name = new URL(request.url).pathname.slice(1), x = ctx.exports;
  switch (name) {
    case "self": return new Response(await probe(SELF.connect("example:25")));
    case "obj": { const o = OBJ.getByName("a"); return new Response(await probe(o.connect("example:25")) + " " + await o.n()); }
    case "unborn": case "handless": case "aborts": return new Response(await probe(env[name].getByName("a").connect("example:25")));
    case "facet": return new Response(await env.aborts.getByName("b").facet());
    case "ent": return new Response(await probe(x.Ent({ props: { p: "e" } }).connect({ hostname: "example", port: 25 })));
    case "tls": return new Response(await probe(SELF.connect("example:25", { secureTransport: "on" })));
    case "starttls": { const s = SELF.connect("example:25", { secureTransport: "starttls" }), t = s.startTls(); return new Response([await told(t.opened), await told(s.closed), s.upgraded].join(" | ")); }
    case "cert": return new Response(await told(CERT.connect("example.com:443").opened));
    case "big": { const s = x.big.connect("example:25"), w = s.writable.getWriter(), r = s.readable.getReader(), got = r.read(); await w.write(new Uint8Array(20000)); await w.close(); return new Response(dec((await got).value)); }
    case "args": { const out = []; for (const a of [[], ["nonsense"]]) try { SELF.connect(...a); } catch (e) { out.push(e.name + ": " + e.message); } return new Response(out.join(" | ")); }
    case "method": try { return await SELF.fetch("http://x/", { method: "CONNECT" }); } catch (e) { return new Response(String(e)); }
  }
  return new Response(await probe(x[name].connect(name === "none" ? "example:80" : "example:25")));
}, async connect(s, env, ctx) { await echo(s, [typeof env.OBJ, typeof ctx.waitUntil] + ":"); } };`,
		"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01", "services": [{"binding": "SELF", "service": "p"}],
"durable_objects": {"bindings": [{"name": "OBJ", "class_name": "Obj"}, {"name": "unborn", "class_name": "Unborn"}, {"name": "handless", "class_name": "Handless"}, {"name": "aborts", "class_name": "Aborts"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Obj", "Unborn", "Handless", "Aborts"]}],
"mtls_certificates": [{"binding": "CERT", "certificate_id": "abc"}]}`,
	}, minidotest.Options{})
	const (
		open   = `{"remoteAddress":"example:25"} | `
		lost   = "Error: Network connection lost."
		ended  = "TypeError: This WritableStream has been closed."
		fails  = "Error: proxy request failed, cannot connect to the specified address"
		jsg    = "Error: jsg." + fails
		http   = ". It looks like you might be trying to connect to a HTTP-based service — consider using fetch instead"
		closed = `{"done":true}`
	)
	for path, want := range map[string]string{ // order-independent: each is a request of its own
		"self":      open + "object,function:hello | - | object,function:bye | - | - | " + closed + " | -",
		"obj":       open + "obj:hello | - | obj:bye | - | - | " + closed + " | - 7",
		"ent":       open + "e:hello | - | e:bye | - | - | " + closed + " | -",
		"early":     open + closed + " | " + lost + " | " + closed + " | " + ended + " | " + ended + " | " + closed + " | -",
		"greets":    open + "greetings | " + lost + " | " + closed + " | " + ended + " | " + ended + " | " + closed + " | -",
		"unawaited": open + closed + " | " + lost + " | " + closed + " | " + ended + " | " + ended + " | " + closed + " | -",
		"later":     open + closed + " | " + lost + " | " + closed + " | " + ended + " | " + ended + " | " + closed + " | -",
		"throws":    open + closed + " | - | " + closed + " | " + ended + " | - | " + closed + " | -",
		"none":      fails + http + " | " + closed + " | " + jsg + http + " | " + closed + " | " + jsg + http + " | - | " + closed + " | " + fails + http,
		"facet":     open + "obj:hello | - | obj:bye | - | - | " + closed + " | -",
		"aborts":    open + closed + " | - | " + closed + " | " + ended + " | - | " + closed + " | -",
		"unborn":    fails + " | " + closed + " | " + jsg + " | " + closed + " | " + jsg + " | - | " + closed + " | " + fails,
		"handless":  fails + " | " + closed + " | " + jsg + " | " + closed + " | " + jsg + " | - | " + closed + " | " + fails,
		"tls":       fails + " | " + closed + " | " + jsg + " | " + closed + " | " + jsg + " | - | " + closed + " | " + fails,
		"starttls":  "Error: startTls() is not supported on this connection. | - | true",
		"cert":      "Error: Binding CERT needs to be run remotely",
		"big":       "20000 4096",
		"args":      "TypeError: Failed to execute 'connect' on 'Fetcher': parameter 1 is not of type 'SocketAddress or string'. | TypeError: Specified address is missing port.",
		"method":    "TypeError: Invalid HTTP method string: CONNECT",
	} {
		if got := w.Do("GET", "http://localhost/"+path, "").Text(); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", path, got, want)
		}
	}
	for _, line := range []string{"3 Socket off { remoteAddress: undefined, localAddress: 'example:25' }", "Uncaught RangeError: boom",
		"Received a connect event but we lack a handler. Did you remember to export a connect() function?", "Uncaught Error: Handler does not export a connect() function."} {
		if len(w.Logged(line)) == 0 {
			t.Errorf("the log lacks %q", line)
		}
	}
}

// An object of a class that a call throws arrives as a plain one (workerd 1.20261117.1).
func TestThrownObjects(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"w.js": `import { WorkerEntrypoint } from "cloudflare:workers";
class Custom { a = 1; }
export class Ent extends WorkerEntrypoint { go() { throw new Custom(); } }
export default { async fetch(request, { SELF }) {
  try { await SELF.go(); } catch (e) { return new Response(e.constructor.name + JSON.stringify(e)); }
} };`,
		"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01", "services": [{"binding": "SELF", "service": "p", "entrypoint": "Ent"}]}`,
	}, minidotest.Options{})
	if got, want := w.Do("GET", "http://localhost/", "").Text(), `Object{"a":1,"remote":true}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Handlers of a class get undefined in the places of env and ctx, but for fetch() of the default
// export and for alarms (wrangler 4.164.0).
func TestArgumentsOfClasses(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"w.js": `import { WorkerEntrypoint, DurableObject } from "cloudflare:workers";
const given = (a) => [a.length, ...[...a].slice(1).map((x) => typeof x)].join();
export class Ent extends WorkerEntrypoint { fetch() { return new Response("entrypoint " + given(arguments)); } }
export class Obj extends DurableObject { fetch() { return new Response("object " + given(arguments)); } }
export default class extends WorkerEntrypoint {
  async fetch() { return new Response([given(arguments), await (await this.ctx.exports.Ent.fetch("http://x/")).text(), await (await this.env.OBJ.getByName("a").fetch("http://x/")).text()].join(" | ")); }
  scheduled() { console.log("scheduled", given(arguments)); }
}`,
		"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01", "durable_objects": {"bindings": [{"name": "OBJ", "class_name": "Obj"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Obj"]}]}`,
	}, minidotest.Options{})
	if got, want := w.Do("GET", "http://localhost/", "").Text(), "1 | entrypoint 3,undefined,undefined | object 3,undefined,undefined"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if w.Do("GET", "http://localhost/cdn-cgi/handler/scheduled", "").Text(); len(w.Logged("scheduled 3,undefined,undefined")) == 0 {
		t.Error("scheduled() got other arguments")
	}
}
