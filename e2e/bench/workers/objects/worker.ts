// One Durable Object class that does as little as possible in each of the ways
// in which an object can be asked.

import { DurableObject } from "cloudflare:workers";
import { platform } from "./platform";

interface Env {
  Thing: DurableObjectNamespace<Thing>;
}

export class Thing extends DurableObject<Env> {
  #prepared = false;

  noop(): number {
    return 1;
  }

  /** Inserts one row; the answer leaves when it is on disk. */
  insert(): number {
    const sql = this.ctx.storage.sql;
    if (!this.#prepared) {
      sql.exec("CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, at INTEGER)");
      this.#prepared = true;
    }
    sql.exec("INSERT INTO rows (at) VALUES (?)", Date.now());
    return 1;
  }

  /** Does one thing many times, within one event. */
  async loop(what: string, times: number): Promise<number> {
    const { storage } = this.ctx;
    const { sql, kv } = storage;
    let seen = 0;
    switch (what) {
      case "select":
        sql.exec("CREATE TABLE IF NOT EXISTS points (id INTEGER PRIMARY KEY, name TEXT)");
        for (let id = sql.exec<{ n: number }>("SELECT count(*) AS n FROM points").one().n; id < 1000; id++) {
          sql.exec("INSERT INTO points VALUES (?, ?)", id, `point ${id}`);
        }
        for (let i = 0; i < times; i++) seen += sql.exec<{ id: number }>("SELECT * FROM points WHERE id = ?", i % 1000).one().id;
        break;
      case "insert":
        sql.exec("CREATE TABLE IF NOT EXISTS many (id INTEGER PRIMARY KEY, at INTEGER)");
        for (let i = 0; i < times; i++) sql.exec("INSERT INTO many (at) VALUES (?)", i);
        sql.exec("DELETE FROM many");
        break;
      case "get":
        await storage.put("key", 1);
        for (let i = 0; i < times; i++) seen += (await storage.get<number>("key")) ?? 0;
        break;
      case "kvget":
        kv.put("key", 1);
        for (let i = 0; i < times; i++) seen += kv.get<number>("key") ?? 0;
        break;
      default:
        throw new Error(`no such loop: ${what}`);
    }
    return seen;
  }

  /** Accepts a WebSocket that echoes: a hibernatable one, unless the path says "classic". */
  fetch(request: Request): Response {
    if (request.headers.get("Upgrade") !== "websocket") return new Response("1");
    const pair = new WebSocketPair();
    if (request.url.includes("/classic/")) {
      pair[1].accept();
      pair[1].addEventListener("message", (event) => pair[1].send(event.data));
    } else {
      this.ctx.acceptWebSocket(pair[1]);
    }
    return new Response(null, { status: 101, webSocket: pair[0] });
  }

  webSocketMessage(ws: WebSocket, message: string | ArrayBuffer): void {
    ws.send(message);
  }
}

/** Calls objects many times, one after the other, within one request. */
async function loop(env: Env, what: string, times: number, run: string): Promise<void> {
  const thing = env.Thing.getByName("loops");
  switch (what) {
    case "fetch":
      for (let i = 0; i < times; i++) await (await thing.fetch("http://thing/")).text();
      return;
    case "rpc":
      for (let i = 0; i < times; i++) await thing.noop();
      return;
    case "create":
      for (let i = 0; i < times; i++) await env.Thing.getByName(`${run}-${i}`).noop();
      return;
  }
  if ((await platform(what, times)) < 0) await thing.loop(what, times);
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const [verb, name, times, run] = new URL(request.url).pathname.slice(1).split("/");
    if (!name) return new Response("/noop/NAME, /insert/NAME, /socket/NAME, /classic/NAME, /loop/WHAT/TIMES/RUN\n", { status: 404 });
    const thing = env.Thing.get(env.Thing.idFromName(name));
    switch (verb) {
      case "noop":
        return new Response(String(await thing.noop()));
      case "insert":
        return new Response(String(await thing.insert()));
      case "loop":
        await loop(env, name, Number(times), run);
        return new Response("done");
      case "socket":
      case "classic":
        return thing.fetch(request);
    }
    return new Response("no such verb\n", { status: 404 });
  },
};
