// A job that works in steps. Each step is one alarm: when the machine dies between two
// steps, the alarm is delivered again after the restart, and the job goes on.

import { DurableObject } from "cloudflare:workers";

interface Env {
  JOBS: DurableObjectNamespace<Job>;
}

const STEPS = ["search", "read", "summarize"];

export class Job extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS steps (name TEXT PRIMARY KEY)");
  }

  /** Starts the job; a second start changes nothing. */
  async start(): Promise<void> {
    if (this.status().done) return;
    await this.ctx.storage.setAlarm(Date.now() + 10);
  }

  async alarm(): Promise<void> {
    const next = STEPS[this.status().steps.length];
    if (next === undefined) return;
    this.ctx.storage.sql.exec("INSERT INTO steps (name) VALUES (?)", next);
    if (!this.status().done) await this.ctx.storage.setAlarm(Date.now() + 10);
  }

  status(): { steps: string[]; done: boolean } {
    const steps = this.ctx.storage.sql.exec<{ name: string }>("SELECT name FROM steps ORDER BY rowid").toArray().map((row) => row.name);
    return { steps, done: steps.length === STEPS.length };
  }
}

export default {
  /** POST /NAME starts the job of that name, GET /NAME tells how far it is. */
  async fetch(request, env): Promise<Response> {
    const name = new URL(request.url).pathname.slice(1) || "first";
    const job = env.JOBS.getByName(name);
    if (request.method === "POST") await job.start();
    return Response.json(await job.status());
  },
} satisfies ExportedHandler<Env>;
