// A Node client: starts "minido dev", and talks to the worker and to the control API.

import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const { binary } = createRequire(import.meta.url)("./binary.cjs");

/** An error of the control API. */
export class ControlError extends Error {
  constructor(code, status, message) {
    super(message);
    this.name = "ControlError";
    this.code = code;
    this.status = status;
  }
}

/** Starts a server, and resolves when it is ready. */
export async function start(options = {}) {
  const { project = ".", script, config = [], env, vars = {}, persistTo, port = 0, clock, args = [], log, signal } = options;
  signal?.throwIfAborted();
  const control = await mkdtemp(join(tmpdir(), "minido-"));
  const line = ["dev"];
  if (script !== undefined) line.push(script);
  for (const file of [config].flat()) line.push("--config", file);
  if (env !== undefined) line.push("--env", env);
  for (const [name, value] of Object.entries(vars)) line.push("--var", `${name}:${value}`);
  if (persistTo !== undefined) line.push("--persist-to", persistTo);
  if (clock !== undefined) line.push("--clock", clock);
  line.push("--port", String(port), ...args);

  const child = spawn(binary(), line, {
    cwd: project,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1", MINIDO_CONTROL_DIR: control },
  });
  const ended = new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, name) => resolve(name ?? code));
  });
  ended.catch(() => {}); // told by ready, or by stop()
  const last = []; // what a failure quotes
  const stop = async () => {
    signal?.removeEventListener("abort", abort);
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
    await ended.finally(() => rm(control, { recursive: true, force: true }));
  };
  const abort = () => void stop().catch(() => {});
  signal?.addEventListener("abort", abort, { once: true });

  let url;
  const ready = new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (text) => {
        if (last.push(text) > 40) last.shift();
        const found = /^Ready on (\S+)/.exec(text);
        if (found) resolve(found[1]);
        log?.(text);
      });
    }
  });
  try {
    url = await Promise.race([ready, ended.then((how) => {
      throw new Error(`minido dev ended (${how}) before it was ready:\n${last.join("\n")}`);
    })]);
    signal?.throwIfAborted();
    return server(url, await session(control), child, stop);
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
}

/** The one session in a directory that only this client's server writes to. */
async function session(directory) {
  const files = (await readdir(directory)).filter((name) => name.endsWith(".minido-control"));
  if (files.length !== 1) return null; // --no-control
  return JSON.parse(await readFile(join(directory, files[0]), "utf8"));
}

function server(url, control, child, stop) {
  return {
    url,
    pid: child.pid,
    fetch: (input, init) => fetch(input instanceof Request ? input : new URL(input, url), init),
    stub: (className, name) => stub(url, className, name),
    ctl: ctl(control),
    stop,
    [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]: stop,
  };
}

/** The control API; docs/control.md describes it. */
function ctl(session) {
  const request = async (method, path, body) => {
    if (!session) throw new Error("the server offers no control API (--no-control)");
    const response = await fetch(session.url + path, {
      method,
      headers: { authorization: `Bearer ${session.token}`, ...(body && { "content-type": "application/json" }) },
      body: body && JSON.stringify(body),
    });
    if (response.ok) return response;
    const { error } = await response.json();
    throw new ControlError(error.code, response.status, error.message);
  };
  const get = async (path) => (await request("GET", path)).json();
  const post = async (path, body) => (await request("POST", path, body)).json();
  const verb = (name) => (className, object, options = {}) => post(`/v1/${name}`, { class: className, object, ...options });
  return {
    url: session?.url ?? null,
    status: () => get("/v1/status"),
    objects: async () => (await get("/v1/objects")).objects,
    evict: verb("evict"),
    hibernate: verb("hibernate"),
    reset: verb("reset"),
    abort: (className, object, reason) => post("/v1/abort", { class: className, object, reason }),
    crash: verb("crash"),
    alarm: verb("alarm"),
    sql: (className, object, sql, ...params) => post("/v1/sql", { class: className, object, sql, params }),
    export: async (className, object) => new Uint8Array(await (await request("POST", "/v1/export", { class: className, object })).arrayBuffer()),
    clock: () => get("/v1/clock"),
    setClock: (mode) => post("/v1/clock", { mode }),
    advance: (ms) => post("/v1/clock/advance", { ms }),
  };
}

/** The class as routeAgentRequest of the agents SDK expects it in a path. */
function kebab(className) {
  if (className === className.toUpperCase() && className !== className.toLowerCase()) return className.toLowerCase().replaceAll("_", "-");
  return className.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replace(/^-/, "").replaceAll("_", "-").replace(/-$/, "");
}

/**
 * Calls the @callable methods of an agent over the WebSocket protocol of the agents
 * SDK ({type:"rpc", id, method, args}), a connection for each call.
 */
function stub(url, className, name) {
  const path = `/agents/${encodeURIComponent(kebab(className))}/${encodeURIComponent(name)}`;
  const address = new URL(path, url.replace(/^http/, "ws"));
  const call = (method, args) => new Promise((resolve, reject) => {
    if (typeof WebSocket === "undefined") {
      throw new Error("stub() needs WebSocket, which Node has from version 22 on; with Node 20 run node --experimental-websocket");
    }
    const socket = new WebSocket(address);
    const id = "1";
    let failure = `no agent answers at ${path}; is ${className} routed by routeAgentRequest?`;
    const settle = (settled, value) => {
      settled(value);
      socket.close();
    };
    socket.addEventListener("open", () => {
      failure = `the connection to ${path} ended before the answer`;
      socket.send(JSON.stringify({ type: "rpc", id, method, args }));
    });
    // A handshake that fails has an error and, in some versions of Node, no close.
    for (const end of ["error", "close"]) socket.addEventListener(end, () => reject(new Error(failure)));
    socket.addEventListener("message", ({ data }) => {
      const frame = typeof data === "string" ? JSON.parse(data) : {};
      if (frame.type !== "rpc" || frame.id !== id) return;
      if (!frame.success) settle(reject, new Error(frame.error));
      else if (frame.done !== false) settle(resolve, frame.result); // parts of a stream come first
    });
  });
  return new Proxy(Object.create(null), {
    get: (_, method) => (typeof method === "symbol" || method === "then" ? undefined : (...args) => call(method, args)),
  });
}
