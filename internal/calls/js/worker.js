// A worker that lists the surface of the API, and makes calls of it (internal/calls).
import { DurableObject, RpcTarget, RpcStub, WorkerEntrypoint, WorkflowEntrypoint } from "cloudflare:workers";
import * as assert from "node:assert";
import * as async_hooks from "node:async_hooks";
import * as buffer from "node:buffer";
import * as consumers from "node:stream/consumers";
import * as dc from "node:diagnostics_channel";
import * as dns from "node:dns";
import * as events from "node:events";
import * as fs from "node:fs";
import * as http from "node:http";
import * as module from "node:module";
import * as ncrypto from "node:crypto";
import * as net from "node:net";
import * as os from "node:os";
import * as path from "node:path";
import * as perf from "node:perf_hooks";
import * as punycode from "node:punycode";
import * as querystring from "node:querystring";
import * as readline from "node:readline";
import * as stream from "node:stream";
import * as string_decoder from "node:string_decoder";
import * as timers from "node:timers";
import * as tls from "node:tls";
import * as tty from "node:tty";
import * as url from "node:url";
import * as util from "node:util";
import * as v8 from "node:v8";
import * as vm from "node:vm";
import * as wt from "node:worker_threads";
import * as zlib from "node:zlib";
import process from "node:process";

const B = buffer.Buffer;
const spaces = {
  assert, "assert.strict": assert.strict, async_hooks, buffer, "buffer.Buffer": B, consumers, dc, dns, events, "events.EventEmitter": events.EventEmitter,
  fs, "fs.promises": fs.promises, http, module, ncrypto, net, os, path, "path.win32": path.win32, perf, process, punycode, querystring, readline,
  stream, "stream.promises": stream.promises, "stream.Readable": stream.Readable, string_decoder, timers, tls, tty, url, util, "util.types": util.types, v8, vm, wt, zlib,
  Atomics, Intl, JSON, Math, Reflect,
};
// What is another each time, asks the network, takes long, or is not this program's to do.
const skipped = new RegExp("random|Random|uuid|UUID|generateKey|generatePrime|checkPrime|scrypt|pbkdf2|argon2|hrtime|uptime|cpuUsage|memoryUsage|resourceUsage|" +
  "constrainedMemory|availableMemory|loadavg|freemem|totalmem|hostname|networkInterfaces|availableParallelism|getHeap|writeHeap|now$|timeOrigin|" +
  "[eE]xit|abort$|kill|_debug|dlopen|chdir|umask|emitWarning|setUncaught|nextTick|setImmediate|setInterval|setTimeout|reportError|queueMicrotask|" +
  "fetch|connect|createServer|listen|createConnection|dial|EventSource|request$|^http\\.get$|lookup|resolve4|resolve|reverse$|setServers|" +
  "createInterface|Interface|getCiphers|getCurves|getHashes|mkdtemp|watch|captureStackTrace|setDefault|setMaxListeners|defaultMaxListeners|enableCompileCache|" +
  "setFlags|startupSnapshot|SharedArrayBuffer|eval$|^Function|WebAssembly|gc$|scheduler|Performance|performance|toLocale.*Date|toLocaleTimeString|getTimezoneOffset|" +
  "fill$|Atomics\\.wait|^gc|registerHooks|register$|syncBuiltin|_[a-z]|toGMTString|Date$|toTimeString|utimes|debuglog|debug$|allocUnsafe|createHistogram|timerify|monitor|eventLoop|\\.stack$");
const source = (key) => typeof key === "symbol" ? "[" + key.description + "]" : /^[A-Za-z_$][\w$]*$/.test(key) ? key : "[" + JSON.stringify(key) + "]";
const known = (key) => typeof key === "string" ? !/^\d+$/.test(key) : key.description.startsWith("Symbol.") && Symbol[key.description.slice(7)] === key;

// functionsOf are the functions of a namespace and its constructors.
function functionsOf(prefix, space) {
  const out = [];
  for (const key of Reflect.ownKeys(space)) {
    if (typeof key !== "string" || key === "default" || key === "prototype" || key === "super_") continue;
    let value;
    try { value = space[key]; } catch { continue; }
    const name = prefix + source(key);
    if (typeof value !== "function" || spaces[name] === value && !/^[A-Z]|\.[A-Z]/.test(name) || skipped.test(name)) continue;
    out.push({ Place: "plain", Of: "", Name: name, Kind: "call" });
    if (/^[A-Z]/.test(key) && value.prototype) out.push({ Place: "plain", Of: "", Name: name, Kind: "new" });
  }
  return out;
}

// membersOf are those that an object has or inherits.
function membersOf(place, name, object) {
  const out = [], seen = new Set();
  for (let p = Object(object); p && p !== Object.prototype; p = Object.getPrototypeOf(p)) {
    for (const key of Reflect.ownKeys(p)) {
      if (key === "constructor" || seen.has(key) || !known(key)) continue;
      seen.add(key);
      const d = Object.getOwnPropertyDescriptor(p, key), label = name + "." + String(key);
      if (!d || skipped.test(label)) continue;
      const add = (Kind) => out.push({ Place: place, Of: name, Name: source(key), Kind });
      if (typeof d.value === "function") add("call");
      else if (d.get || "value" in d) add("get");
      if (d.set) add("set");
    }
  }
  return out;
}

async function surface(place, env, ctx, state) {
  const out = [];
  if (place === "plain") {
    const names = new Set();
    for (let p = globalThis; p && p !== Object.prototype; p = Object.getPrototypeOf(p)) for (const key of Object.getOwnPropertyNames(p)) names.add(key);
    const globals = {};
    for (const key of [...names].sort()) if (typeof globalThis[key] === "function" && key !== "constructor") globals[key] = globalThis[key];
    out.push(...functionsOf("", globals));
    for (const [key, value] of Object.entries(globals)) if (/^[A-Z]/.test(key)) out.push(...functionsOf(key + ".", value));
    for (const [key, value] of Object.entries(spaces)) if (value) out.push(...functionsOf(key + ".", value));
  }
  for (const [name, make] of receivers[place]) {
    let object;
    try { object = await make(env, ctx, state); } catch { continue; }
    if (object !== undefined && object !== null) out.push(...membersOf(place, name, object));
  }
  return out;
}

// show is a value in a form that two runtimes can be compared by: without properties that
// Node's classes keep to themselves, whose names begin with "_".
function show(v, depth = 0) {
  try {
    switch (typeof v) {
      case "undefined": case "boolean": return String(v);
      case "number": return Object.is(v, -0) ? "-0" : String(v);
      case "bigint": return v + "n";
      case "string": return JSON.stringify(v.length > 300 ? v.slice(0, 300) + "…" + v.length : v);
      case "symbol": return v.toString();
      case "function": return "function " + v.name + "/" + v.length;
    }
    if (v === null) return "null";
    const proto = Object.getPrototypeOf(v), name = proto === null ? "null" : proto.constructor?.name ?? "?", tag = Object.prototype.toString.call(v);
    if (v instanceof Error) {
      return `${name}[${v.name}: ${v.message}${v.code !== undefined ? " code=" + String(v.code) : ""}${depth < 1 && v.cause !== undefined ? " cause=" + show(v.cause, depth + 1) : ""} keys=${Object.keys(v).filter((key) => key !== "retryable" && key !== "remote")}]`;
    }
    if (depth > 1 || name === "ReadableStream") return name + tag;
    if (ArrayBuffer.isView(v)) return `${name}(${[...new Uint8Array(v.buffer, v.byteOffset, Math.min(v.byteLength, 40))]}:${v.byteLength})`;
    if (v instanceof ArrayBuffer) return `ArrayBuffer(${[...new Uint8Array(v).slice(0, 40)]}:${v.byteLength})`;
    if (Array.isArray(v)) return name + "[" + v.slice(0, 20).map((x) => show(x, depth + 1)) + "]" + (v.length > 20 ? v.length : "");
    if (v instanceof Map || v instanceof Set) return name + "{" + [...v].slice(0, 10).map((x) => show(x, depth + 1)) + "}";
    if (v instanceof Date || v instanceof RegExp || v instanceof URL || v instanceof URLSearchParams) return name + " " + String(v);
    if (v instanceof Headers) return "Headers " + JSON.stringify([...v]);
    return name + tag + "{" + Object.keys(v).filter((key) => key[0] !== "_").slice(0, 25).map((key) => key + ":" + show(v[key], depth + 1)) + "}";
  } catch (e) {
    return "SHOW " + e?.name + ": " + e?.message;
  }
}

// settled is what becomes of a promise within a moment.
function settled(promise, moment) {
  return Promise.race([
    Promise.resolve(promise).then((v) => "resolved " + show(v), (e) => "rejected " + show(e)),
    new Promise((resolve) => setTimeout(() => resolve("pending"), moment)),
  ]);
}

async function each(list, moment, ...given) {
  const out = [];
  for (const [call, make] of list) {
    let outcome;
    try {
      const v = make(...given);
      outcome = v instanceof Promise || moment > 100 && typeof v?.then === "function" ? await settled(v, moment) : show(v);
    } catch (e) {
      outcome = "throws " + show(e);
    }
    out.push([call, outcome]);
  }
  return out;
}

/* RECEIVERS AND CASES */
export class Target extends RpcTarget { plus(a, b) { return a + b; } get seven() { return 7; } }
export class Service extends WorkerEntrypoint { plus(a, b) { return a + b; } }
export class Flow extends WorkflowEntrypoint { async run() { return 1; } }
export class Thing extends DurableObject {
  async surface() { return surface("object", this.env, this.ctx, this.ctx); }
  async calls(from, to) { return each(cases.object.slice(from, to), 300, this.env, undefined, this.ctx); }
}
export default {
  async queue() {},
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url), place = pathname.slice(1);
    if (place === "surface") return Response.json([...await surface("plain"), ...await surface("bound", env, ctx), ...await env.DO.getByName("surface").surface()]);
    const from = Number(searchParams.get("from")), to = Number(searchParams.get("to"));
    let out;
    try {
      out = place === "object" ? await env.DO.getByName("from " + from).calls(from, to) : await each(cases[place].slice(from, to), place === "plain" ? 30 : 300, env, ctx);
    } catch (e) { // the object was reset
      out = cases[place].slice(from, to).map(([call]) => [call, "LOST " + show(e)]);
    }
    return new Response(out.map((line) => JSON.stringify(line) + "\n").join(""));
  },
};
