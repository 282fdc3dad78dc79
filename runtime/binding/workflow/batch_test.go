package workflow_test

import (
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

const batches = `
import { WorkflowEntrypoint } from "cloudflare:workers";
export class Order extends WorkflowEntrypoint { async run(event) { return event.payload; } }
const attempt = async (fn) => { try { return await fn(); } catch (e) { return e.message + " " + e.remote; } };
const does = {
  count: async ({ ORDER }) => { const { created, errors } = await ORDER.createBatch({ count: 3, params: { a: 1 } }); return [created.length, new Set(created.map((i) => i.id)).size, errors]; },
  instances: async ({ ORDER }) => { await ORDER.create({ id: "b" }); const { created, errors } = await ORDER.createBatch({ instances: [{ id: "a" }, { id: "b" }, { id: "a" }] }); return [created.map((i) => i.id), errors]; },
  deleted: async ({ ORDER }) => { await ORDER.create({ id: "d" }); const ended = await ORDER.deleteBatch(["d", "none", "d"]); return [ended, await attempt(() => ORDER.get("d"))]; },
  refused: ({ ORDER }) => Promise.all([{}, { count: 0 }, { count: 101 }, { instances: [] }, { instances: [{ id: "batch" }] }].map((given) => attempt(() => ORDER.createBatch(given)))),
  undeleted: ({ ORDER }) => Promise.all([undefined, [], ["a b"], Array.from({ length: 101 }, () => "x")].map((given) => attempt(() => ORDER.deleteBatch(given)))),
};
export default { fetch: async (request, env) => Response.json(await does[new URL(request.url).pathname.slice(1)](env)) };`

// Batches as objects tell what was not created, and several instances are deleted at once,
// with the answers of wrangler 4.164.0.
func TestBatches(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"worker.js":     batches,
		"wrangler.json": `{"name": "w", "main": "worker.js", "compatibility_date": "2026-03-20", "workflows": [{"binding": "ORDER", "name": "order", "class_name": "Order"}]}`,
	}, minidotest.Options{})
	for _, c := range [][2]string{
		{"count", `[3,3,[]]`},
		{"instances", `[["a"],[{"index":1,"id":"b","code":10405,"message":"workflows.api.error.instance.already_exists"},{"index":2,"id":"a","code":10415,"message":"workflows.api.error.instance.duplicate_in_batch"}]]`},
		{"deleted", `[{"deleted":[{"id":"d"},{"id":"d"}],"errors":[{"id":"none","code":10400,"message":"workflows.api.error.instance.not_found"}]},"instance.not_found true"]`},
		{"refused", `["WorkflowError: (body) Provided argument is invalid true","WorkflowError: (body) count must be a positive integer true","WorkflowError: (body) batchCreate only supports 100 instances at a time true","WorkflowError: (body) Batch size exceeds maximum allowed true","WorkflowError: (instance.invalid_id) Instance ID is invalid true"]`},
		{"undeleted", `["WorkflowError: (body) Provided argument is invalid true","WorkflowError: (body) batchDeleteInstances should have at least 1 instance true","WorkflowError: (instance.invalid_id) Instance ID is invalid true","WorkflowError: (body) batchDeleteInstances only supports 100 instances at a time true"]`},
	} {
		if got := w.Do("GET", "http://localhost/"+c[0], "").Text(); got != c[1] {
			t.Errorf("%s: %s, want %s", c[0], got, c[1])
		}
	}
}
