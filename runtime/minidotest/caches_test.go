package minidotest

import "testing"

// The Cache API keeps what may be kept, answers conditions and ranges, and
// forgets (Cloudflare's documentation of the Cache API; RFC 9111).
func TestCaches(t *testing.T) {
	w := NewWorker(t, `
const u = "http://example.com/a";
export default serve({
  async put() {
    const c = caches.default;
    await c.put(u, new Response("hello", { headers: { "cache-control": "max-age=100", etag: '"e"' } }));
    await c.put(u + "2", new Response("x"));
    await c.put(u + "3", new Response("x", { headers: { "cache-control": "max-age=100", "set-cookie": "a=b" } }));
    return (await c.match(u + "2") ?? null) === null && (await c.match(u + "3") ?? null) === null;
  },
  async match() {
    const c = caches.default, r = await c.match(u + "#frag");
    const part = await c.match(new Request(u, { headers: { range: "bytes=1-2" } }));
    const same = await c.match(new Request(u, { headers: { "if-none-match": 'W/"e"' } }));
    return [await r.text(), r.headers.get("cf-cache-status"), part.status, await part.text(), part.headers.get("content-range"), same.status, await (await caches.open("o")).match(u) === undefined];
  },
  async refuse() {
    const put = async (req, res) => { try { await caches.default.put(req, res); } catch (e) { return e.name; } };
    return [await put(new Request(u, { method: "POST" }), new Response("")), await put(u, new Response("", { status: 206 })), await put(u, new Response("", { headers: { vary: "*" } })), await put(u, 1), await put("ftp://a/", new Response(""))];
  },
  async keys() {
    const tell = async (key, init) => { try { return await caches.default.match(new Request(key, init)) ?? null; } catch (e) { return e.message; } };
    return [await tell("mailto:x"), await tell("mailto:x", { method: "POST" }), await tell("ftp://a/"), await tell("http://a/%zz")];
  },
  async empty() {
    await caches.default.put(u + "4", new Response("x", { headers: { "cache-control": "max-age=100", "set-cookie": "", etag: "", "x-a": "" } }));
    const r = await caches.default.match(u + "4");
    return r && [await r.text(), r.headers.has("set-cookie"), r.headers.has("etag"), r.headers.has("x-a")];
  },
  async remove() { return [await caches.default.delete(u), await caches.default.delete(u), await caches.default.match(u) === undefined]; },
});
`, Options{})
	w.Want(`{"ok":true}`, "!put")
	w.Want(`{"ok":["hello","HIT",206,"el","bytes 1-2/5",304,true]}`, "!match")
	w.Want(`{"ok":["TypeError","TypeError","TypeError","TypeError","TypeError"]}`, "!refuse")
	w.Want(`{"ok":["Invalid URL. Cache API keys must be fully-qualified, valid URLs.",null,"Fetch API cannot load: ftp://a/",null]}`, "!keys")
	w.Want(`{"ok":["x",false,false,true]}`, "!empty")
	w.Want(`{"ok":[true,false,true]}`, "!remove")
}
