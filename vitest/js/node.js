// The module minido:node: what a file that is made for Node.js is served with there. It reads
// a question a line, and writes an answer a line.
import fs from "node:fs";
import readline from "node:readline";
import { functions, settle, setUp } from "vitest/config";

const [input, output] = process.env.MINIDO_PIPES.split(",").map(Number);
const send = (message) => fs.writeSync(output, JSON.stringify(message) + "\n");

const waiting = new Map();
let asked = 0;
globalThis.__migrations = (options) => new Promise((resolve, reject) => {
  waiting.set(++asked, { resolve, reject });
  send({ ask: asked, migrations: options });
});

// miniflare is the second argument of functions of the options.
const miniflare = new Proxy({}, { get(_, name) { throw new Error("minido test runs this function without miniflare: " + String(name) + " is not available"); } });

async function respond({ n, url, method, headers, body }) {
  const bytes = Buffer.from(body, "base64");
  const request = new Request(url, { method, headers, body: method === "GET" || method === "HEAD" ? undefined : bytes });
  try {
    const response = await functions[n](request, miniflare);
    if (typeof response?.arrayBuffer !== "function") throw new TypeError("a function of the vitest configuration answered no Response");
    return { status: response.status, headers: [...response.headers], body: Buffer.from(await response.arrayBuffer()).toString("base64") };
  } catch (e) { // as miniflare
    console.error(e);
    return { status: 500, headers: [], body: Buffer.from(e?.stack ?? String(e)).toString("base64") };
  }
}

// serve answers questions about a file, which load imports.
export function serve(load) {
  const operations = {
    settle: async ({ provided }) => settle((await load()).default, provided),
    setup: async () => setUp(await load(), {}),
    teardown: async () => globalThis.tearDown?.(),
    function: respond,
  };
  const lines = readline.createInterface({ input: fs.createReadStream("", { fd: input, autoClose: false }) });
  lines.on("line", async (line) => {
    const message = JSON.parse(line);
    if (message.answer !== undefined) {
      const { resolve, reject } = waiting.get(message.answer);
      waiting.delete(message.answer);
      return message.error === undefined ? resolve(message.value) : reject(new Error(message.error));
    }
    try {
      send({ value: (await operations[message.op](message.args)) ?? null });
    } catch (e) {
      send({ error: e?.stack ?? String(e) });
    }
  });
  lines.on("close", () => process.exit());
}
