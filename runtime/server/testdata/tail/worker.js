import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
export class Thing extends DurableObject {
  hello(x) { console.log("hello", x); return x; }
  bad() { throw new RangeError("from the object"); }
  async fetch() { console.log("fetched"); await this.ctx.storage.setAlarm(Date.now()); return new Response("thing"); }
  alarm() { console.log("alarm"); }
}
export default {
  async fetch(request, env, ctx) {
    const url = new URL(request.url);
    switch (url.pathname) {
      case "/events": return env.TAIL.fetch("http://tail/");
      case "/logs": {
        const circle = {};
        circle.circle = circle;
        console.log("a", 1, { x: [1, { y: 2 }] }, null, undefined, true, 1n, Symbol("s"), () => 1, new Map([[1, 2]]), new Date(0), [1, undefined], NaN, new Uint8Array(3), circle);
        console.log({ toJSON() { throw 1; } }, Object.create(null), new (class Foo { a = 1; })(), new URL("http://a/"), { f() {}, u: undefined }, { b: 1n }, -0, new String("s"), new Date(NaN), /re/g,
          new Proxy({ a: 1 }, { get() { throw new Error("trap"); } }));
        console.error(new Error("one"), new DOMException("two", "AbortError"), { in: new Error("three") });
        console.debug("d"); console.info("i"); console.warn("w"); console.log("%s is %d", "a", 5); console.log();
        console.table([1]); console.dir(1); console.trace("t"); console.group("g"); console.groupEnd(); console.assert(false, "x"); console.count();
        return new Response("logged", { status: 201 });
      }
      case "/throw": console.log("before"); throw new TypeError("thrown");
      case "/text": throw "a text";
      case "/no-response": return 5;
      case "/hang": await new Promise(() => {});
      case "/big": for (let i = 0; i < 10; i++) console.log("x".repeat(40000) + "\n"); console.log("small"); throw new Error("after");
      case "/timer": setTimeout(() => { throw new Error("timer"); }, 1); await scheduler.wait(20); return new Response("t");
      case "/unhandled": Promise.reject(new Error("unhandled")); await scheduler.wait(5); return new Response("u");
      case "/later": ctx.waitUntil(scheduler.wait(5).then(() => { console.log("late"); throw new Error("late"); })); return new Response("l");
      case "/object": return env.Thing.get(env.Thing.idFromName("a")).fetch("http://thing/path?q", { headers: {
        authorization: "a", cookie: "b", "x-key": "c", "x-jwt": "d", "x-token": "e", "x-secret": "f", "x-oauth": "g", "x-password": "h", "x-cookie": "i" } });
      case "/rpc": return Response.json(await env.Thing.get(env.Thing.idFromName("a")).hello(3));
      case "/rpc-throws": return new Response(await env.Thing.get(env.Thing.idFromName("a")).bad().catch((e) => e.message));
    }
    return new Response("nothing", { status: 404 });
  },
};
