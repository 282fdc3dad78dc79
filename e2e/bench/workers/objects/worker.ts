// One Durable Object class that does as little as possible in each of the ways
// in which an object can be asked.

import { DurableObject } from "cloudflare:workers";

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

  /** Accepts a hibernatable WebSocket that echoes. */
  fetch(): Response {
    const pair = new WebSocketPair();
    this.ctx.acceptWebSocket(pair[1]);
    return new Response(null, { status: 101, webSocket: pair[0] });
  }

  webSocketMessage(ws: WebSocket, message: string | ArrayBuffer): void {
    ws.send(message);
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const [verb, name] = new URL(request.url).pathname.slice(1).split("/");
    if (!name) return new Response("/noop/NAME, /insert/NAME, /socket/NAME\n", { status: 404 });
    const thing = env.Thing.get(env.Thing.idFromName(name));
    switch (verb) {
      case "noop":
        return new Response(String(await thing.noop()));
      case "insert":
        return new Response(String(await thing.insert()));
      case "socket":
        return thing.fetch(request);
    }
    return new Response("no such verb\n", { status: 404 });
  },
};
