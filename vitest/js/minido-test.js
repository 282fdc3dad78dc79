// The module minido:test: faults and time for tests.
import { currentTest, host, running } from "minido:suite";

const id = (fn, stub) => {
  if (typeof stub?.id !== "object") throw new TypeError(`${fn}: expected the stub of a Durable Object`);
  return String(stub.id);
};

// Each of these resolves when it is done; an object that is not in memory is left alone.
export const crash = (stub) => host("act", { id: id("crash", stub), verb: "crash" });
// A scope of "isolate" takes all objects that are in memory, as if their isolate ended.
export const evict = (stub, { scope = "object" } = {}) => {
  const object = id("evict", stub);
  if (scope !== "object" && scope !== "isolate") throw new TypeError(`evict: unknown scope ${JSON.stringify(scope)}; there are "object" and "isolate"`);
  return host(scope === "object" ? "act" : "act-all", { id: object, verb: "evict", sockets: "close" });
};
export const hibernate = (stub) => host("act", { id: id("hibernate", stub), verb: "evict", sockets: "hibernate" });
export const kill = () => host("act-all", { verb: "crash" });
export const powerLoss = () => host("power-loss");

export const killAt = (point) => host("kill-at", { point: String(point) });

export const clock = {
  advance: (duration) => host("advance", { duration: typeof duration === "number" ? duration + "ms" : String(duration) }),
  // Time jumps to the next timer when nothing else is left to run: the default.
  auto: () => host("clock", { verb: "auto" }),
  // Waits take as long as they say.
  real: () => host("clock", { verb: "real" }),
};

export const history = () => host("history");

const pieces = (text) => text === undefined ? [] : typeof text === "string" ? text.match(/\S*\s+|\S+/g) ?? [] : text.map(String);

// scripted makes of what a test writes down what the model is told.
const scripted = (answer) => {
  if (typeof answer === "string" || Array.isArray(answer)) return { text: pieces(answer) };
  const { text, reasoning, tool, status, ...rest } = answer ?? {};
  const unknown = Object.keys(rest)[0];
  if (unknown !== undefined) throw new TypeError(`model.reply: unknown option ${unknown}; known are text, reasoning, tool, status`);
  if (text === undefined && tool === undefined && status === undefined) throw new TypeError("model.reply: expected a text, { text }, { tool } or { status }");
  if (tool !== undefined && typeof tool?.name !== "string") throw new TypeError("model.reply: a tool has a name");
  return { text: pieces(text), reasoning: pieces(reasoning), tool: tool && { name: tool.name, arguments: tool.arguments ?? {} }, status };
};

export const model = {
  url: "http://model.minido.test/v1",
  reply: async (...answers) => host("model-reply", { text: JSON.stringify(answers.map(scripted)) }),
  words: async (n) => {
    if (!Number.isSafeInteger(n)) throw new TypeError("model.words: expected a number of words");
    return host("model-words", { count: n });
  },
  requests: () => host("model-requests"),
};

export const effects = () => host("effects");

export const seed = () => host("seed");

export const chaos = {
  skip(reason) {
    if (typeof reason !== "string" || reason === "") throw new TypeError("chaos.skip: say why this test cannot stand faults");
    const test = currentTest();
    if (test?.type !== "test") throw new Error("chaos.skip is called inside a test");
    running.chaosSkips[test.id] = reason;
  },
};
