// What rate limits answer. Without a path it counts; /look asks with a limit that
// what was counted has reached.
const attempts = [
  ["TWO", { key: "a" }], ["TWO", { key: "a" }], ["TWO", { key: "a" }], ["FIVE", { key: "a" }], ["FIVE", { key: "a", delta: 2 }], ["FIVE", { key: "a", delta: 9 }],
  ["TWO", { key: "b", limit: 1 }], ["TWO", { key: "b", limit: 1 }], ["TWO", {}], ["TWO", { key: "a", period: 10 }],
  ["UNSAFE", { key: "a" }], ["UNSAFE", { key: "a" }],
  ["TWO"], ["TWO", null], ["TWO", "a"], ["TWO", []], ["TWO", { key: 1 }], ["TWO", { key: null }], ["TWO", { k: 1, l: 2 }], ["TWO", { limit: "1" }], ["TWO", { limit: NaN }],
  ["TWO", { period: 20 }], ["TWO", { period: "10" }], ["TWO", { delta: "x" }], ["TWO", { delta: -1 }], ["TWO", { delta: 2 ** 32 }], ["TWO", { delta: 0 }],
  ["TWO", { delta: 0.9 }], ["TWO", { delta: "2", key: "c" }], ["TWO", { delta: null }], ["TWO", { delta: Infinity }], ["TWO", { limit: 0, key: "d" }], ["TWO", { limit: 0.5, key: "e" }],
];

async function one(env, name, ...args) {
  try {
    return JSON.stringify(await env[name].limit(...args));
  } catch (e) {
    return String(e);
  }
}

export default {
  async fetch(request, env) {
  // A window must not end between two attempts.
    const left = 60_000 - (Date.now() % 60_000);
    if (left < 10_000) await new Promise((resolve) => setTimeout(resolve, left + 50));
    if (new URL(request.url).pathname === "/look") return Response.json([await one(env, "FIVE", { key: "a", limit: 1, period: 60 })]);
    const lines = [typeof env.TWO, Object.prototype.toString.call(env.TWO), env.TWO.constructor.name, String(env.TWO.limit.length)];
    for (const [name, ...args] of attempts) lines.push(`${name} ${JSON.stringify(args)}: ${await one(env, name, ...args)}`);
    return Response.json(lines);
  },
};
