// First tests of {{name}}. Run them with: minido test
// And with {{class}} evicted at each of its effect points: minido test --chaos evict
import { env, runInDurableObject, SELF } from "cloudflare:test";
import { evict } from "minido:test";
import { expect, test } from "vitest";

test("the worker answers", async () => {
  const response = await SELF.fetch("http://example.com/");
  expect(response.status).toBeLessThan(500);
});

test("{{class}} starts again after it left memory, and has what it stored", async () => {
  const stub = env.{{binding}}.get(env.{{binding}}.idFromName("first"));
  await runInDurableObject(stub, (_instance, state) => state.storage.put("minido", 1)); // write with a method of yours
  await evict(stub);
  expect(await runInDurableObject(stub, (_instance, state) => state.storage.get("minido"))).toBe(1); // and read with one
});
