// Which async functions the stacks of errors show that wait for what fails.
class Part extends RpcTarget { bad() { throw new RangeError("part"); } get prop() { throw new Error("prop"); } }
export class Obj extends DurableObject {
  boom() { throw new TypeError("boom"); }
  async later() { await scheduler.wait(5); throw new Error("later"); }
  text() { throw "text"; }
  dom() { throw new DOMException("gone", "AbortError"); }
  value() { return { e: new RangeError("inside") }; }
  part() { return new Part(); }
  get prop() { throw new Error("getter"); }
  calls(f) { return f(); }
  die() { this.ctx.abort("aborted"); }
  symbol() { return Symbol("x"); }
  fetch() { throw new Error("fetched"); }
}
export class Svc extends WorkerEntrypoint {
  boom() { throw new TypeError("svc"); }
  fetch() { throw new Error("svc fetch"); }
}
const all = async (env, ctx) => {
  const stub = env.Obj.get(env.Obj.idFromName("a")), out = [], list = cases(env, ctx, stub);
  for (const name of Object.keys(list)) {
    try { out.push([name, await list[name]()]); } catch (e) { out.push([name, Object.getOwnPropertyNames(e).join(), ...lines(e)]); }
  }
  return out;
};
// Lines are counted from here, and those before are left out.
const base = +/:(\d+):/.exec(new Error().stack.split("\n")[1])[1];
const lines = (e) => String(e.stack).split("\n").map((l) => l.trim().replace(/worker\.[jt]s:(\d+):/, (_, n) => `@${n - base}:`)).filter((l) => !/harness.js|@-/.test(l));
const cases = (env, ctx, stub) => ({
  async plain() { await stub.boom(); },
  async later() { await stub.later(); },
  async text() { await stub.text(); },
  async dom() { await stub.dom(); },
  async value() { throw (await stub.value()).e; },
  async returned() { return stub.boom(); },
  async deep() { async function inner() { await stub.boom(); } async function middle() { return await inner(); } await middle(); },
  async arrows() { const f = async () => { await stub.boom(); }; await f(); await (async () => stub.boom())(); },
  async anonymous() { await (async () => { await stub.boom(); })(); },
  async methods() { class Foo { async bar() { await Foo.baz(); } static async baz() { await stub.boom(); } } await new Foo().bar(); },
  async thenned() { await stub.boom().then((x) => x).then((x) => x, undefined); },
  async caught() { await stub.boom().catch((e) => { throw e; }); },
  async finally() { await stub.boom().finally(() => {}); },
  async all() { await Promise.all([1, stub.boom()]); },
  async allNested() { await Promise.all([(async function inner() { await stub.boom(); })()]); },
  async race() { await Promise.race([stub.boom()]); },
  async made() { await new Promise((ok, no) => { stub.boom().then(ok, no); }); },
  async madeOf() { await new Promise((ok) => { ok(stub.boom()); }); },
  async resolved() { await Promise.resolve(stub.boom()); },
  async two() { const p = stub.boom(); p.then(() => {}, () => {}); await p; },
  async late() { const p = stub.boom(); p.catch(() => {}); await scheduler.wait(30); await p; },
  async getter() { await stub.prop; },
  async part() { const p = await stub.part(); await p.bad(); },
  async pipelined() { await stub.part().bad(); },
  async callback() { await stub.calls(() => { throw new Error("callback"); }); },
  async missing() { await stub.nope(); },
  async symbol() { await stub.symbol(); },
  async argument() { await stub.boom(Symbol("x")); },
  async aborted() { await env.Obj.get(env.Obj.idFromName("other")).die(); },
  async fetch() { await stub.fetch("http://x/"); },
  async service() { await ctx.exports.Svc.boom(); },
  async serviceFetch() { await ctx.exports.Svc.fetch("http://x/"); },
  async places() {
    const id = async (x) => x, p = stub.boom();
    const x = 1 + (await
      id(await p));
  },
  async own() { const a = async () => { await null; throw new Error("own"); }; await Promise.all([1, a()]); },
  async ownThenned() { const a = async () => { await null; throw new Error("own"); }; await a().then((x) => x); },
  async ownReturned() { const a = async () => { await null; throw new Error("own"); }; const b = async () => a(); await b(); },
  async ownMade() { const a = async () => { await null; throw new Error("own"); }; await new Promise((ok, no) => { a().then(ok, no); }); },
  async sites() { Error.prepareStackTrace = (e, s) => JSON.stringify(s.slice(0, 2).map((c) => [c.getFunctionName(), c.getTypeName(), c.getMethodName(), c.isAsync(), c.isPromiseAll(), c.getPromiseIndex(), c.isToplevel()])); try { await Promise.all([1, stub.boom()]); } catch (e) { const { stack } = e; throw { stack }; } finally { Error.prepareStackTrace = undefined; } },
});
export default serve({ all: (env, ctx) => all(env, ctx) });
