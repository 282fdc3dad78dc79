// What util.inspect shows of what a worker is given: contexts, storage, stubs, and the
// classes that a worker extends.
import * as util from "node:util";
import { DurableObject, RpcStub, RpcTarget, WorkerEntrypoint } from "cloudflare:workers";

class Target extends RpcTarget {
  own = { a: [1] };
  get got() { return 1; }
  plus(a) { return a + 1; }
}
class Plain { hidden = { deep: { deeper: {} } }; }
async function each(list) {
  const out = [];
  for (const [name, make] of Object.entries(list)) {
    let text;
    try { text = util.inspect(await make()); } catch (e) { text = String(e); }
    out.push([name, ...text.split("\n")]);
  }
  return out;
}
export class Service extends WorkerEntrypoint {
  note = new Plain();
  shown() { return each({ entrypoint: () => this, context: () => this.ctx, props: () => this.ctx.props }); }
  target() { return new Target(); }
  shout() { return (x) => x; }
  holder() { return { target: new Target(), plain: 1 }; }
}
export class Thing extends DurableObject {
  #secret = 1;
  shown() {
    const { storage } = this.ctx, pair = new WebSocketPair();
    this.ctx.acceptWebSocket(pair[1], ["tag"]);
    return each({
      object: () => this, state: () => this.ctx, id: () => this.ctx.id, storage: () => storage, kv: () => storage.kv, transaction: () => storage.transaction((x) => [util.inspect(x)]),
      cursor: () => storage.sql.exec("SELECT 1 AS a UNION SELECT 2"), raw: () => storage.sql.exec("SELECT 1 AS a").raw(), row: () => storage.sql.exec("SELECT 1 AS a, x'01' AS b").one(),
      list: () => storage.list(), facets: () => this.ctx.facets, socket: () => pair[1], sockets: () => this.ctx.getWebSockets("tag").length, keys: () => [Object.keys(this.ctx), Object.keys(storage)],
    });
  }
  target() { return new Target(); }
}
export default {
  async fetch(request, env, ctx) {
    const stub = env.Thing.getByName("one"), service = ctx.exports.Service;
    return Response.json({
      object: await stub.shown(),
      service: await service.shown(),
      worker: await each({
        env: () => env, context: () => ctx, keys: () => Object.keys(ctx), exports: () => ctx.exports, namespace: () => env.Thing, id: () => [util.inspect(env.Thing.idFromName("a"))],
        stub: () => [util.inspect(stub)], member: () => util.inspect(stub.target), memberOfStub: () => [util.inspect(new RpcStub(new Target()).plus)], memberOfService: () => [util.inspect(service.target)], memberOfCalled: () => { const p = stub.target(), m = p.plus; p.then(() => {}); return [util.inspect(m)]; }, called: () => { const p = stub.target(); p.then(() => {}); return [util.inspect(p)]; },
        target: () => stub.target().then((t) => [util.inspect(t)]), made: () => new Target(), stubOf: () => [util.inspect(new RpcStub(new Target()))], functions: () => service.shout().then((f) => [util.inspect(f)]),
        holder: () => service.holder().then((h) => [util.inspect(h)]), service: () => [util.inspect(service)], withProps: () => [util.inspect(service({ props: { a: 1 } }))],
        nested: () => ({ a: { b: { stub, env, ctx } } }), map: () => new Map([[stub, env.Thing]]), headers: () => request.headers.constructor.name,
        html: () => {
          const seen = [], note = (x) => { seen.push(util.inspect(x)); };
          return new HTMLRewriter().on("a", { element(e) { note(e); e.onEndTag(note); }, text: note, comments: note }).onDocument({ doctype: note, end: note })
            .transform(new Response("<!DOCTYPE html><a href=x>t<!--c--></a>")).text().then(() => seen);
        },
      }),
    });
  },
};
