// The worker of the golden "framing": what a service and an object are told of the
// length of a request's body.
const told = async (request) => new Response(JSON.stringify([[...request.headers].filter(([name]) => /content-length|transfer-/.test(name)), await request.text()]));
export class E extends WorkerEntrypoint { fetch(request) { return told(request); } }
export class O extends DurableObject { fetch(request) { return told(request); } }
const hello = () => new TextEncoder().encode("hello");
const stream = (more) => new ReadableStream({ ...more, start(c) { c.enqueue(hello()); c.close(); } });
const through = (t) => { const w = t.writable.getWriter(); w.write(hello()); w.close(); return t.readable; };
const all = async (f) => {
  const out = [];
  const see = async (body, more) => {
    try {
      out.push(await (await f("http://x/", { method: "POST", body: await body, ...more })).json());
    } catch (e) {
      out.push(String(e));
    }
  };
  for (const body of [undefined, null, "", "hello", "é", hello(), hello().buffer, new Blob(["hello"]), new URLSearchParams({ a: 1 })]) await see(body);
  await see(stream());
  await see(stream({ type: "bytes" }));
  for (const expectedLength of [5, 5n, 2, 7]) await see(stream({ expectedLength }));
  await see(through(new FixedLengthStream(5)));
  await see(through(new FixedLengthStream(5)).tee()[0]);
  await see(through(new IdentityTransformStream()));
  await see(through(new TransformStream()));
  await see(through(new TransformStream({ expectedLength: 5 })));
  await see(new Response("hello").body);
  await see(new Response("hello").body.tee()[1]);
  await see(new Blob(["hello"]).stream());
  await see(new Response("hello").body.pipeThrough(new TransformStream()));
  await see("hello", { headers: { "content-length": "3" } });
  await see(stream(), { headers: { "content-length": "5" } });
  out.push(await (await f(new Request("http://x/", { method: "PUT", body: "hello" }).clone())).json(), await (await f("http://x/")).json());
  return out;
};
export default serve({
  object: (env) => { const s = env.O.getByName("a"); return all((...a) => s.fetch(...a)); },
  service: (env, ctx) => { const s = ctx.exports.E; return all((...a) => s.fetch(...a)); },
});
