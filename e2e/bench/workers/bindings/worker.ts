// What bindings of data cost within one request: an operation, many times.

interface Env {
  KV: KVNamespace;
  DB: D1Database;
  JOBS: Queue<{ id: number; text: string }>;
}

const loops: Record<string, (env: Env, times: number) => Promise<number>> = {
  async kv(env, times) {
    let seen = 0;
    await env.KV.put("key", "a value of a usual length, as of a session or a setting");
    for (let i = 0; i < times; i++) seen += (await env.KV.get("key"))?.length ?? 0;
    return seen;
  },
  async d1(env, times) {
    let seen = 0;
    await env.DB.exec("CREATE TABLE IF NOT EXISTS points (id INTEGER PRIMARY KEY, name TEXT)");
    await env.DB.exec("INSERT OR REPLACE INTO points VALUES (7, 'point 7')");
    const point = env.DB.prepare("SELECT * FROM points WHERE id = ?");
    for (let i = 0; i < times; i++) seen += (await point.bind(7).first<{ id: number }>())?.id ?? 0;
    return seen;
  },
  async queue(env, times) {
    for (let i = 0; i < times; i++) await env.JOBS.send({ id: i, text: "a message of a usual length" });
    return times;
  },
  async together(env, times) {
    await Promise.all(Array.from({ length: times }, (_, id) => env.JOBS.send({ id, text: "a message of a usual length" })));
    return times;
  },
};

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const [, verb, what, times] = new URL(request.url).pathname.split("/");
    const loop = loops[what ?? ""];
    if (verb !== "loop" || loop === undefined) return new Response("not found", { status: 404 });
    return Response.json(await loop(env, Number(times)));
  },
};
