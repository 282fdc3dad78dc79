package dispatch_test

import (
	"strings"
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// Modules of wasm_modules are compiled at dates at which workers may not compile bytes, and
// one that is none keeps the worker from starting.
func TestWasmModulesOfOldWorkers(t *testing.T) {
	files := map[string]string{
		"a.js": `addEventListener("fetch", (e) => e.respondWith(new Response(String(WASM) + WebAssembly.Module.exports(WASM).length)));`, "m.wasm": "\x00asm\x01\x00\x00\x00",
		"wrangler.json": `{"name": "p", "main": "a.js", "compatibility_date": "2024-01-01", "wasm_modules": {"WASM": "m.wasm"}}`,
	}
	w := minidotest.NewWorldFrom(t, files, minidotest.Options{})
	if got, want := w.Do("GET", "http://localhost/", "").Body, "[object WebAssembly.Module]0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	dir := t.TempDir()
	files["m.wasm"] = "no module"
	minidotest.WriteFiles(t, dir, files)
	if _, err := minidotest.Open(t, minidotest.Options{Project: dir}); err == nil || !strings.Contains(err.Error(), "expected magic word") {
		t.Errorf("a file that is no module: %v", err)
	}
}

// A worker of the session is found by its name, with its args as props; another
// name fails when it is used, and outbound workers are refused by name. Files of the
// configuration are on env.
func TestNamespaces(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"a.js": `export default { async fetch(request, env) {
  const t = async (fn) => { try { return await fn(); } catch (e) { return e.name + ": " + e.message; } };
  const D = env.D;
  return Response.json([
    D.constructor.name, String(D), D.get("user").constructor.name,
    await t(async () => (await D.get("user", { tenant: 7 }, { limits: { cpuMs: 5 } }).fetch("http://x/path")).text()),
    await t(() => D.get("user").sum(1, 2)),
    await t(() => D.get("nobody").fetch("http://x/")), await t(() => D.get("nobody").sum(1)),
    await t(() => D.get()), await t(() => D.get("user", {}, { outbound: {} })),
    env.TEXT, new Uint8Array(env.DATA).length, env.WASM.constructor.name, WebAssembly.Module.exports(env.WASM).length,
  ]);
} };`,
		"t.txt": "é\n", "d.bin": "\x00\x01\x02", "m.wasm": "\x00asm\x01\x00\x00\x00",
		"wrangler.json": `{"name": "p", "main": "a.js", "compatibility_date": "2026-08-01", "dispatch_namespaces": [{"binding": "D", "namespace": "n"}, {"binding": "D2", "namespace": "n2"}],
"text_blobs": {"TEXT": "t.txt"}, "data_blobs": {"DATA": "d.bin"}, "wasm_modules": {"WASM": "m.wasm"}}`,
		"u/u.js": `import { WorkerEntrypoint } from "cloudflare:workers";
export default class extends WorkerEntrypoint {
  fetch(request) { return new Response(new URL(request.url).pathname + JSON.stringify(this.ctx.props)); }
  sum(a, b) { return a + b; }
}`,
		"u/wrangler.json": `{"name": "user", "main": "u.js", "compatibility_date": "2026-08-01"}`,
	}, minidotest.Options{Others: []string{"u"}})
	const want = `["DispatchNamespace","[object DispatchNamespace]","Fetcher","/path{\"tenant\":7}",3,"Error: Worker not found.","Error: Worker not found.",` +
		`"TypeError: Failed to execute 'get' on 'DispatchNamespace': parameter 1 is not of type 'string'.",` +
		`"Error: env.D.get() with { outbound } (wrangler.json:1:92) is not available in minido: what a user worker fetches does not go through an outbound worker. Leave outbound out.",` +
		`"é\n",3,"Module",0]`
	if got := w.Do("GET", "http://localhost/", "").Body; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
