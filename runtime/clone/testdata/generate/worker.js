// Stores every case in a Durable Object's storage and reports what each place
// that serializes says of each failure. Run by generate.sh under workerd.
import { DurableObject } from "cloudflare:workers";
import { CASES, FAILURES, READS } from "./lists.js";

const describe = (e) => e instanceof Error || e instanceof DOMException
  ? { name: e.name, message: e.message, code: e.code ?? null, dom: e instanceof DOMException }
  : { thrown: String(e) };

async function attempt(f) {
  try { await f(); return "ok"; } catch (e) { return describe(e); }
}

function depth(make) {
  let lo = 1, hi = 1000000;
  while (lo < hi) {
    const mid = (lo + hi + 1) >> 1;
    try { structuredClone(make(mid)); lo = mid; } catch { hi = mid - 1; }
  }
  return lo;
}

export class Store extends DurableObject {
  thrown() { const e = new TypeError("t"); e.stack = "mine"; e.extra = 1; throw e; }
  returned() { const e = new TypeError("t"); e.stack = "mine"; e.extra = 1; return [e]; }
  echo(v) { return v === undefined ? "undefined" : typeof v; }
  async fetch() {
    const out = { stored: {}, failures: {}, stacks: {} };
    for (const list of [CASES, READS]) {
      for (const [name, make] of Object.entries(list)) {
        out.stored[name] = await attempt(async () => this.ctx.storage.put(name, make()));
      }
    }
    const self = this.env.STORE.get(this.env.STORE.idFromName("b"));
    const pair = new WebSocketPair();
    this.ctx.acceptWebSocket(pair[1]);
    for (const [name, make] of Object.entries(FAILURES)) {
      out.failures[name] = {
        put: await attempt(async () => this.ctx.storage.put("f", make())),
        structuredClone: await attempt(async () => structuredClone(make())),
        attachment: await attempt(async () => pair[1].serializeAttachment(make())),
        rpc: await attempt(async () => self.echo(make())),
      };
    }
    const detached = new ArrayBuffer(4);
    structuredClone(detached, { transfer: [detached] });
    out.failures.detached_buffer = { structuredClone: await attempt(async () => structuredClone(detached)) };
    const view = new Uint8Array(4);
    structuredClone(view, { transfer: [view.buffer] });
    out.failures.detached_view = { structuredClone: await attempt(async () => structuredClone(view)) };
    out.failures.transfer_object = { structuredClone: await attempt(async () => structuredClone(1, { transfer: [{}] })) };
    const twice = new ArrayBuffer(1);
    out.failures.transfer_twice = { structuredClone: await attempt(async () => structuredClone(1, { transfer: [twice, twice] })) };
    const deep = (n) => { let v = []; for (let i = 0; i < n; i++) v = [v]; return v; };
    out.failures.too_deep = { structuredClone: await attempt(async () => structuredClone(deep(1000000))) };
    out.failures.host_object_sql = { put: await attempt(async () => this.ctx.storage.put("f", this.ctx.storage.sql)), rpc: await attempt(async () => self.echo(this.ctx.storage.sql)) };
    const e = new Error("x"); e.stack = "mine";
    await this.ctx.storage.put("stack", e);
    this.ctx.storage.delete("f");
    out.stacks = {
      structuredClone: structuredClone(e).stack.slice(0, 60),
      domException: (() => { const d = new DOMException("m"); return [Object.getOwnPropertyNames(d), Object.getOwnPropertyNames(structuredClone(d))]; })(),
      storage: (await this.ctx.storage.get("stack")).stack.slice(0, 60),
      rpcReturned: await self.returned().then(([e]) => [e.stack.slice(0, 60), e.extra ?? null]),
      rpcThrown: await self.thrown().catch((e) => [e.stack.slice(0, 60), e.extra ?? null]),
      rpcNames: await self.returned().then(([e]) => Object.getOwnPropertyNames(e)),
      ownNames: Object.getOwnPropertyNames(structuredClone(e)),
      ownKeys: Object.keys(structuredClone(Object.assign(new Error("x", { cause: 1 }), { extra: 1 }))),
      ownNamesPlain: Object.getOwnPropertyNames(new Error("x", { cause: 1 })),
    };
    out.depth = { array: depth(deep), object: depth((n) => { let v = {}; for (let i = 0; i < n; i++) v = { v }; return v; }) };
    return Response.json(out);
  }
}
export default {
  async fetch(req, env) { return env.STORE.get(env.STORE.idFromName("a")).fetch(req); },
};
