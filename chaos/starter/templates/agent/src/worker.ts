// An agent that researches a topic in steps, in a fiber: each step is a checkpoint, and
// after an interruption onFiberRecovered goes on from the last one.

import { env as variables } from "cloudflare:workers";
import { Agent, callable, routeAgentRequest, type FiberContext, type FiberRecoveryContext } from "agents";

interface Env {
  ResearchAgent: DurableObjectNamespace<ResearchAgent>;
  STEP_MS?: string;
  KEEP_ALIVE_MS?: string;
}

interface Progress {
  topic: string;
  found: string[];
}

const STEPS = ["search", "read", "summarize"];

export class ResearchAgent extends Agent<Env> {
  // How soon an interruption is noticed: the alarm of the SDK's heartbeat.
  static options = { keepAliveIntervalMs: Number((variables as Env).KEEP_ALIVE_MS ?? 30_000) };

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.sql`CREATE TABLE IF NOT EXISTS answers (topic TEXT PRIMARY KEY, answer TEXT NOT NULL)`;
  }

  /** Starts the research and returns at once. */
  @callable()
  startResearch(topic: string): { started: string } {
    this.#run({ topic, found: [] });
    return { started: topic };
  }

  @callable()
  answer(topic: string): string | null {
    return this.sql<{ answer: string }>`SELECT answer FROM answers WHERE topic = ${topic}`[0]?.answer ?? null;
  }

  override async onFiberRecovered(ctx: FiberRecoveryContext): Promise<void> {
    const topic = ctx.name.replace(/^research:/, "");
    this.#run((ctx.snapshot as Progress | null) ?? { topic, found: [] });
  }

  #run(progress: Progress): void {
    void this.runFiber(`research:${progress.topic}`, async (fiber: FiberContext) => {
      for (const step of STEPS.slice(progress.found.length)) {
        await new Promise((resolve) => setTimeout(resolve, Number(this.env.STEP_MS ?? 1000)));
        progress = { ...progress, found: [...progress.found, `${step} ${progress.topic}`] };
        fiber.stash(progress);
      }
      this.sql`INSERT OR REPLACE INTO answers (topic, answer) VALUES (${progress.topic}, ${progress.found.join("; ")})`;
    });
  }
}

export default {
  async fetch(request, env): Promise<Response> {
    return (await routeAgentRequest(request, env)) ?? new Response("not found", { status: 404 });
  },
} satisfies ExportedHandler<Env>;
