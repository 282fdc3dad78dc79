// What hello world bindings answer; /look is what another runtime has left.
export default { async fetch(req, env) {
  const out = [];
  const t = async (name, fn) => {
    try { out.push(JSON.stringify([name, (await fn()) ?? "nothing"])); } catch (e) { out.push(JSON.stringify([name, "throws " + e.name + ": " + e.message])); }
  };
  const get = async () => { for (const name of ["PLAIN", "SAME", "TIMED", "UNTIMED"]) await t(name, () => env[name].get()); };
  if (new URL(req.url).pathname === "/look") {
    await get();
    return Response.json(out);
  }
  await t("shape", () => [env.PLAIN.constructor.name, String(env.PLAIN), Object.keys(env.PLAIN), typeof env.PLAIN.get]);
  await get();
  await t("set", () => env.PLAIN.set("a"));
  await t("set timed", () => env.TIMED.set("b"));
  await get();
  await t("set number", () => env.UNTIMED.set(5));
  await t("set object", () => env.PLAIN.set({ a: [1, new Date(0)] }));
  await get();
  await t("set nothing", () => env.TIMED.set());
  await t("set null", () => env.TIMED.set(null));
  await get();
  return Response.json(out);
} };
