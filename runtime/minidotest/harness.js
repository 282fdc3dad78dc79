export function show(e) {
  if (!(e instanceof Error)) return { thrown: String(e) };
  const o = { name: e.name, message: e.message };
  for (const k of ["code", "remote", "retryable", "overloaded", "durableObjectReset"]) if (e[k] !== undefined) o[k] = e[k];
  return o;
}
export async function attempt(fn) {
  try { return { ok: (await fn()) ?? null }; } catch (e) { return { err: show(e) }; }
}
export const serve = (scripts = {}) => ({
  async fetch(req, env, ctx) {
    const [first, ...rest] = req.url.split("/").slice(3);
    if (first === "fetch") return env[rest[0]].getByName(rest[1]).fetch(req);
    const text = req.method === "POST" ? await req.text() : "";
    const args = text ? JSON.parse(text) : [];
    if (first[0] === "!") return Response.json(await attempt(() => scripts[first.slice(1)](env, ctx, ...args)));
    const stub = env[first].getByName(rest[0]);
    return Response.json(await attempt(() => stub[rest[1]](...args)));
  },
});
