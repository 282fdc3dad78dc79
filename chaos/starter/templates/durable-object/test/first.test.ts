// Run it with: minido test
// And with the job crashed at each of its effect points: minido test --chaos crash
import { env, SELF } from "cloudflare:test";
import { clock, crash } from "minido:test";
import { expect, test, vi } from "vitest";

const done = { steps: ["search", "read", "summarize"], done: true };

test("a job does every step, once", async () => {
  const response = await SELF.fetch("http://example.com/first", { method: "POST" });
  expect(response.status).toBe(200);
  await clock.advance("1m"); // time is virtual: the alarms ring, and nobody waits
  expect(await env.JOBS.getByName("first").status()).toEqual(done);
});

test("a job goes on after a crash", async () => {
  const job = env.JOBS.getByName("second");
  await job.start();
  await crash(job);
  await vi.waitFor(async () => expect(await env.JOBS.getByName("second").status()).toEqual(done), { timeout: 60_000 });
});
