// What bindings answer that have no local form.
const stubs = ["SEARCH", "SEARCHES", "MEMORY", "SQL", "MEDIA", "CERTIFICATE", "SERVICE", "NETWORK"];
export default { async fetch(req, env) {
  const out = [];
  const t = async (name, fn) => {
    try { out.push(JSON.stringify([name, (await fn()) ?? "nothing"])); } catch (e) { out.push(JSON.stringify([name, "throws " + e.name + ": " + e.message, { ...e }])); }
  };
  for (const name of stubs) {
    const b = env[name];
    await t(name, () => [b.constructor.name, String(b), Object.keys(b)]);
    await t(name + " fetch", () => b.fetch("https://example.com/"));
    await t(name + " method", () => b.search({ query: "x" }));
    await t(name + " chain", () => b.get("x").list());
  }
  await t("K2 send", () => env.K2.send([{ a: 1 }]));
  const { AI } = env;
  await t("ai", () => [AI.constructor.name, String(AI), Object.keys(AI).sort(), Object.getOwnPropertyNames(Object.getPrototypeOf(AI)).sort()]);
  await t("run", () => AI.run("@cf/meta/llama", { prompt: "hi" }));
  await t("run options", () => AI.run("@cf/meta/llama", { prompt: "hi", stream: true }, { gateway: { id: "g" }, returnRawResponse: true }));
  await t("run websocket", () => AI.run("@cf/meta/llama", { prompt: "hi" }, { websocket: true }));
  await t("run nothing", () => AI.run());
  await t("run null", () => AI.run("@cf/x", null));
  await t("run stream", () => AI.run("@cf/x", { audio: { body: new Blob(["x"]).stream(), contentType: "audio/mpeg" } }));
  await t("run stream without type", () => AI.run("@cf/x", { audio: { body: new Blob(["x"]).stream() } }));
  await t("run streams", () => AI.run("@cf/x", { a: new Blob(["x"]).stream(), b: new FormData() }));
  await t("run stream gateway", () => AI.run("@cf/x", { a: { body: new FormData(), contentType: "x" } }, { gateway: { id: "g" } }));
  await t("after", () => [AI.lastRequestId, AI.aiGatewayLogId, AI.lastRequestHttpStatusCode, AI.lastRequestInternalStatusCode, AI.getLogs()]);
  await t("fetch", () => AI.fetch("https://example.com/"));
  await t("models", () => AI.models({ search: "x", page: 1 }));
  await t("markdown", () => AI.toMarkdown([{ name: "a.txt", blob: new Blob(["x"]) }]));
  await t("markdown service", () => [AI.toMarkdown().constructor.name, typeof AI.toMarkdown().transform]);
  await t("markdown supported", () => AI.toMarkdown().supported());
  const gateway = AI.gateway("g");
  await t("gateway", () => [gateway.constructor.name, Object.getOwnPropertyNames(Object.getPrototypeOf(gateway))]);
  await t("gateway run", () => gateway.run({ provider: "openai", endpoint: "chat/completions", headers: { a: 1, b: {} }, query: {} }));
  await t("gateway run nothing", () => gateway.run());
  await t("gateway url", () => gateway.getUrl("openai"));
  await t("gateway log", () => gateway.getLog("l"));
  await t("gateway patch", () => gateway.patchLog("l", { feedback: 1 }));
  const rag = AI.autorag("r");
  await t("rag", () => [rag.constructor.name, Object.getOwnPropertyNames(Object.getPrototypeOf(rag))]);
  await t("rag list", () => AI.autorag().list());
  await t("rag search", () => rag.search({ query: "x" }));
  await t("rag search unnamed", () => AI.autorag().search({ query: "x" }));
  await t("rag ai search", () => rag.aiSearch({ query: "x" }));
  await t("ai search", () => AI.aiSearch().list());
  await t("web search", () => AI.websearch({ query: "x" }));
  return Response.json(out);
} };
