// What agents do all day, for the benchmark: a chat turn that streams, a turn
// with a tool, a fiber with checkpoints, a session of MCP calls.

import { createOpenAI } from "@ai-sdk/openai";
import { AIChatAgent } from "@cloudflare/ai-chat";
import { McpServer } from "@modelcontextprotocol/server";
import { Agent, callable, routeAgentRequest } from "agents";
import { createMcpHandler } from "agents/mcp/server";
import { convertToModelMessages, isStepCount, streamText, tool } from "ai";
import { z } from "zod";

interface Env {
  OPENAI_BASE_URL: string;
}

export class BenchChat extends AIChatAgent<Env> {
  override async onChatMessage(): Promise<Response> {
    const model = createOpenAI({ baseURL: this.env.OPENAI_BASE_URL, apiKey: "none" })("gpt-5.4");
    const result = streamText({
      model,
      messages: await convertToModelMessages(this.messages),
      stopWhen: isStepCount(5),
      maxRetries: 0,
      tools: {
        add: tool({
          description: "adds two numbers",
          inputSchema: z.object({ a: z.number(), b: z.number() }),
          execute: async ({ a, b }) => ({ sum: a + b }),
        }),
      },
    });
    return result.toUIMessageStreamResponse();
  }
}

export class BenchFiber extends Agent<Env> {
  /** A fiber that stashes so many checkpoints, each in a turn of its own. */
  @callable()
  async checkpoints(count: number): Promise<number> {
    return this.runFiber("research", async (fiber) => {
      const found: string[] = [];
      for (let n = 0; n < count; n++) {
        found.push(`result ${n}`);
        fiber.stash({ step: n, found: found.slice(-10) });
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      return found.length;
    });
  }
}

function mcpServer(): McpServer {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  server.registerTool(
    "add",
    { description: "adds two numbers", inputSchema: z.object({ a: z.number(), b: z.number() }) },
    async ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }),
  );
  return server;
}

export default {
  async fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
    if (new URL(request.url).pathname === "/mcp") return createMcpHandler(mcpServer)(request, env, ctx);
    return (await routeAgentRequest(request, env)) ?? new Response("Connect to /agents/bench-chat/NAME or POST to /mcp\n", { status: 404 });
  },
};
