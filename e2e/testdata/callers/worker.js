// What an object sees of calls that fail.
import { DurableObject, WorkerEntrypoint, RpcTarget } from "cloudflare:workers";
const thrown = (e) => (e instanceof Error ? ["throws", e.name, e.message, { ...e, stack: undefined }] : ["throws", typeof e, String(e)]);
const attempt = async (fn) => { try { const v = await fn(); return v === undefined ? "undefined" : v; } catch (e) { return thrown(e); } };
class T extends RpcTarget { fail() { throw new RangeError("t"); } }
export class Other extends WorkerEntrypoint {
  fail() { throw new RangeError("f"); } failOwn() { throw Object.assign(new Error("own"), { a: 1 }); } target() { return new T(); } fetch() { throw new RangeError("fetch"); }
  relay() { return this.env.BOX.getByName("inner").throws(); }
  get prop() { throw new Error("getter"); }
  fn() { return () => { throw new Error("fn"); }; }
}
export class Box extends DurableObject {
  throws() { throw new Error("inner object"); }
  async all(tag) { const e = this.env; const o = {};
    const run = async (n, f) => { o[n] = await attempt(f); };
    await run("fail", () => e.SELF.fail()); await run("own", () => e.SELF.failOwn()); await run("missing", () => e.SELF.nothing()); await run("missing member", () => e.SELF.nothing);
    await run("getter", () => e.SELF.prop); await run("fetch", () => e.SELF.fetch("http://x/")); await run("target", async () => { const t = await e.SELF.target(); return t.fail(); }); await run("target missing", async () => { const t = await e.SELF.target(); return t.nope(); }); await run("pipelined", () => e.SELF.target().fail());
    await run("fn", async () => { const f = await e.SELF.fn(); return f(); });
    await run("relay", () => e.SELF.relay()); await run("object", () => e.BOX.getByName("other").throws()); await run("object missing", () => e.BOX.getByName("other").nope());
    await run("default", () => e.DEF.nope()); await run("clone", () => e.SELF.nope(Symbol("x")));
    await run("kv", () => e.KV.get("")); await run("d1", () => e.DB.prepare("x").run()); await run("r2", () => e.R2.put("x".repeat(2000), ""));
    await run("sql", () => this.ctx.storage.sql.exec("x")); await run("exports", () => this.ctx.exports.Other({ props: {} }).fail());
    await run("loaded", () => e.LOADER.get("x", () => ({ compatibilityDate: "2026-08-01", mainModule: "m.js", modules: { "m.js": "import { WorkerEntrypoint } from 'cloudflare:workers'; export default class extends WorkerEntrypoint { fail() { throw new RangeError('loaded') } }" } })).getEntrypoint().fail());
    await run("pipe", () => e.PIPE.nope()); await run("assets", () => e.GONE.nope());
    await run("rejected fetch body", async () => (await e.SELF.fetch("http://x/")).text());
    return o; }
}
export default { async fetch(req, env) { const out = []; const r = await env.BOX.getByName("a").all();
  for (const [k, v] of Object.entries(r)) out.push(JSON.stringify([k, v])); out.push(JSON.stringify(["outside", await attempt(() => env.SELF.relay()), await attempt(() => env.BOX.getByName("x").throws()), await attempt(() => env.BOX.getByName("x").nope())])); out.push(JSON.stringify(["ids", env.BOX.idFromName("a").toString(), env.BOX.idFromName("inner").toString(), env.BOX.idFromName("other").toString()]));
  return Response.json(out); } };
