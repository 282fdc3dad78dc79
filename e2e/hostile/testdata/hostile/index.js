import { DurableObject } from "cloudflare:workers";
import { attacks } from "./attacks.js";
import { storms } from "./storms.js";

const all = { ...attacks, ...storms };

export class Hostile extends DurableObject {
  async fetch(request) {
    const name = new URL(request.url).searchParams.get("object");
    return new Response(String(await all[name](this.env, this.ctx)));
  }
  async alarm() {
    this.ctx.storage.setAlarm(Date.now());
  }
}

export default {
  async fetch(request, env, ctx) {
    const url = new URL(request.url);
    if (url.pathname === "/list") return Response.json(Object.keys(all));
    if (url.pathname === "/alive") return new Response("alive");
    const name = url.pathname.slice(1);
    if (name.startsWith("object: ".replace(" ", "%20"))) {
      return env.OBJECTS.getByName("x").fetch("http://x/?object=" + name);
    }
    return new Response(String(await all[decodeURIComponent(name)](env, ctx, request)));
  },
};
