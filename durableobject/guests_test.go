package durableobject_test

import (
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// A facet whose class a dynamic worker exports ends with that worker, also after another one of its
// facets has ended.
func TestFacetsEndWithTheirWorker(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"worker.js": minidotest.Imports + `
const code = 'import { DurableObject } from "cloudflare:workers"; export class App extends DurableObject { add(n) { return n + 1; } spins() { for (;;); } } export default {};';
export class Host extends DurableObject {
  app(name) { return this.ctx.facets.get(name, () => ({ class: this.env.LOADER.get("app", () => ({ compatibilityDate: "2026-03-20", mainModule: "main.js", modules: { "main.js": code }, limits: { cpuMs: 1 } })).getDurableObjectClass("App") })); }
  async spins() {
    const one = this.app("one"), two = this.app("two"), out = [await one.add(1), await two.add(2)];
    this.ctx.facets.abort("one", new Error("enough"));
    out.push(await attempt(() => one.add(1)), await attempt(() => two.spins()), await attempt(() => two.add(1)), await this.app("two").add(3));
    return out;
  }
}
export default serve({});`,
		"harness.js": minidotest.Harness,
		"wrangler.json": `{"name": "test", "main": "worker.js", "compatibility_date": "2026-08-01", "worker_loaders": [{"binding": "LOADER"}],
"durable_objects": {"bindings": [{"name": "Host", "class_name": "Host"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Host"]}]}`,
	}, minidotest.Options{})
	const over = `{"err":{"name":"Error","message":"Durable Object exceeded its CPU time limit and was reset.","durableObjectReset":true}}`
	w.Want(`{"ok":[2,3,{"err":{"name":"Error","message":"enough"}},`+over+`,`+over+`,4]}`, "Host/a/spins")
}
