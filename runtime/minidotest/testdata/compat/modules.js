// What a worker can notice of compatibility flags in modules: each line is a name, and what gives its answer.
import { createRequire } from "node:module";
const kind = (m) => [Object.prototype.toString.call(m), typeof m, typeof m.default, Object.keys(m).length > 3];
const specifiers = ["cloudflare:workers", "node:fs", "node:events", "events", "./nope.js", "nope", "node:nope", "cloudflare:nope"];
const bundled = () => import.meta;
export default {
  async fetch() {
    const out = [], line = async (name, f) => { try { out.push(`${name}: ${JSON.stringify((await f()) ?? "undefined")}`); } catch (e) { out.push(`${name}: ${e.name}: ${e.message}`); } };
    for (const s of specifiers) await line(`import ${s}`, async () => kind(await import(s)));
    await line("imports are one", async () => [(await import(specifiers[1])) === (await import(specifiers[1])), (await import(specifiers[1])).default === (await import("node:fs")).default]);
    const require = createRequire("/worker.js");
    await line("require", () => [require.name, Object.keys(require)]);
    for (const s of [...specifiers, "path", "node:process", "node:assert", "node:timers/promises"]) await line(`require ${s}`, () => kind(require(s)));
    const { url, main, filename, dirname, resolve } = import.meta;
    await line("meta", () => [url, main, filename, dirname, Object.keys(import.meta), Object.getPrototypeOf(import.meta), import.meta === bundled()]);
    for (const s of ["./x.js", "../y", "/z", "x", "?q", "http://a/b", "node:fs", "fs", 5]) await line(`resolve ${s}`, () => resolve && resolve(s));
    await line("resolve nothing", () => resolve && resolve());
    await line("resolve itself", () => resolve && [resolve.name, resolve.length, String(resolve)]);
    return new Response(out.join("\n"));
  },
};
