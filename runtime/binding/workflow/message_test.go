package workflow_test

import (
	"strings"
	"testing"
	"time"

	"minido.dev/minido/runtime/minidotest"
)

// As in wrangler dev (4.164) the message of a NonRetryableError is told where the
// configuration names the flag, and not at a date at which the flag is on.
func TestMessageOfANonRetryableError(t *testing.T) {
	const source = `import { WorkflowEntrypoint } from "cloudflare:workers";
import { NonRetryableError } from "cloudflare:workflows";
export class W extends WorkflowEntrypoint {
  async run(event, step) {
    if (event.payload === "run") throw new NonRetryableError("in run");
    await step.do("a", async () => { throw new NonRetryableError("in a step"); });
  }
}
export default { async fetch(req, env) {
  const id = new URL(req.url).pathname.slice(1);
  if (req.method === "POST") await env.W.create({ id, params: id });
  return Response.json((await (await env.W.get(id)).status()).error ?? null);
} };`
	const flag = `"compatibility_flags": ["workflows_preserve_non_retryable_error_message"],`
	const fatal = `{"name":"WorkflowFatalError","message":"The execution of the Workflow instance was terminated, as a step threw an NonRetryableError and it was not handled"}`
	for _, c := range []struct{ flags, step, run string }{
		{"", fatal, fatal},
		{flag, `{"name":"NonRetryableError","message":"in a step"}`, `{"name":"NonRetryableError","message":"in run"}`},
	} {
		w := minidotest.NewWorldFrom(t, map[string]string{"w.js": source,
			"wrangler.json": `{"name": "w", "main": "w.js", "compatibility_date": "2026-09-01", ` + c.flags + ` "workflows": [{"binding": "W", "name": "w", "class_name": "W"}]}`},
			minidotest.Options{})
		for id, want := range map[string]string{"step": c.step, "run": c.run} {
			w.Do("POST", "http://localhost/"+id, "")
			w.Advance(time.Minute)
			if got := strings.TrimSpace(w.Do("GET", "http://localhost/"+id, "").Text()); got != want {
				t.Errorf("%s, with %q: %s, want %s", id, c.flags, got, want)
			}
		}
	}
}
