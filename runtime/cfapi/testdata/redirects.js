// The worker of the golden "redirects": fetch of a stub and of a loopback against
// answers that redirect.
const answer = async (request, who) => {
  const url = new URL(request.url);
  const seen = `${who} ${request.method} ${url.pathname}${url.search} auth=${request.headers.get("authorization")} redirect=${request.redirect} body=${await request.text()}`;
  const to = (status, location) => new Response("moved", { status, headers: location === undefined ? {} : { location } });
  const [, kind, status] = url.pathname.split("/");
  switch (kind) {
    case "to": return to(Number(status), "/end?from=" + status);
    case "relative": return to(302, "end");
    case "other": return to(302, "http://other.example/end");
    case "loop": return to(302, "/loop");
    case "count": return Number(status) > 0 ? to(302, "/count/" + (status - 1)) : new Response(seen);
    case "none": return to(302);
    case "bad": return to(302, "http://[");
    case "scheme": return to(302, "ftp://x/");
    case "fragment": return to(302, "/end#there");
    case "null": return to(304, "/end");
    case "json": return Response.redirect("http://x/end", 302);
    default: return new Response(seen);
  }
};
export class E extends WorkerEntrypoint { fetch(request) { return answer(request, "E"); } }
export class O extends DurableObject { fetch(request) { return answer(request, "O"); } }
const see = async (fn) => {
  try {
    const r = await fn();
    return [r.status, r.url, r.redirected, await r.text(), r.headers.get("location")];
  } catch (e) {
    return `${e.name}: ${e.message}`;
  }
};
const all = (f) => Promise.all([
  ...[301, 302, 303, 307, 308, 300].map((status) => see(() => f("http://x/to/" + status))),
  ...[301, 302, 303, 307, 308].map((status) => see(() => f("http://x/to/" + status, { method: "POST", body: "b" }))),
  ...[301, 303].map((status) => see(() => f("http://x/to/" + status, { method: "HEAD" }))),
  see(() => f("http://x/to/303", { method: "PUT", body: "b" })),
  see(() => f(new Request("http://x/to/302"))),
  see(() => f(new Request("http://x/to/307", { method: "PUT", body: new Blob(["blob"]) }))),
  see(() => f("http://x/to/302", { redirect: "manual" })),
  see(() => f(new Request("http://x/to/302", { redirect: "manual" }))),
  see(() => f(new Request("http://x/to/302", { redirect: "manual" }), { redirect: "follow" })),
  see(() => f("http://x/to/307", { method: "POST", body: new Response("s").body })),
  see(() => f("http://x/to/303", { method: "POST", body: new Response("s").body })),
  ...["relative/a", "other", "loop", "count/20", "count/21", "none", "bad", "scheme", "fragment", "null", "json", "plain#frag"].map((path) => see(() => f("http://x/" + path, { headers: { authorization: "me" } }))),
  see(() => f("http://x/to/307", { headers: { authorization: "me" } })),
  see(() => f("data:text/plain,hello")),
  see(() => f("ftp://x/y")),
  see(() => f("custom:y")),
  see(() => f("/path")),
  see(() => f("")),
]);
export default serve({
  object: (env) => { const s = env.O.getByName("a"); return all((...a) => s.fetch(...a)); },
  service: (env, ctx) => { const s = ctx.exports.E; return all((...a) => s.fetch(...a)); },
});
