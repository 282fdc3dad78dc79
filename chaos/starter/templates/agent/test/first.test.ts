// Run it with: minido test
// And with the agent evicted at each of its effect points: minido test --chaos evict
import { env } from "cloudflare:test";
import { crash } from "minido:test";
import { getAgentByName } from "agents";
import { expect, test, vi } from "vitest";

const answer = "search tides; read tides; summarize tides";

// Time is virtual: waiting for minutes takes milliseconds.
const answered = (name: string) =>
  vi.waitFor(async () => expect(await (await getAgentByName(env.ResearchAgent, name)).answer("tides")).toBe(answer), { timeout: 600_000, interval: 1_000 });

test("the research is answered", async () => {
  const agent = await getAgentByName(env.ResearchAgent, "a1");
  await agent.startResearch("tides");
  await answered("a1");
});

test("it is answered after a crash in the second step", async () => {
  const agent = await getAgentByName(env.ResearchAgent, "a2");
  await agent.startResearch("tides");
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await crash(env.ResearchAgent.getByName("a2"));
  await answered("a2");
});
