import { DurableObject } from "cloudflare:workers";

// The innocent worker: it counts, and passes everything else on to the other.
export class Counter extends DurableObject {
  async fetch() {
    const n = ((await this.ctx.storage.get("n")) ?? 0) + 1;
    await this.ctx.storage.put("n", n);
    return new Response(String(n));
  }
}

export default {
  fetch(request, env) {
    if (new URL(request.url).pathname === "/count") return env.COUNTERS.getByName("one").fetch(request);
    return env.HOSTILE.fetch(request);
  },
};
