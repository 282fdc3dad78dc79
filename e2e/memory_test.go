package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/chaos/process"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
)

// The garbage between many new objects is collected for their sake, also in a
// server that has allocated too little for a collection of its own.
func TestNewObjectsArePackedInMemory(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{
		"wrangler.json": `{"name": "many", "main": "many.js", "compatibility_date": "2026-01-01",
			"durable_objects": {"bindings": [{"name": "ONE", "class_name": "One"}]},
			"migrations": [{"tag": "v1", "new_sqlite_classes": ["One"]}]}`,
		"many.js": `import { DurableObject } from "cloudflare:workers";
export class One extends DurableObject { touch() {} }
export default {
  async fetch(request, env) {
    for (let i = 0; i < 128; i++) await env.ONE.getByName("one " + i).touch();
    return new Response("done");
  },
};`,
	})
	s, err := launch(t, process.Options{
		Command: []string{minido, "dev", "--ip", "127.0.0.1", "--port", "0", "-c", dir + "/wrangler.json"}, Env: []string{"GODEBUG=gctrace=1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	forced := func() int { return strings.Count(s.Output(), "(forced)") }
	until := func(what string, n int) {
		t.Helper()
		err := wait.Until(t.Context(), clock.Real{}, 30*time.Second, fmt.Sprintf("a collection %s (%d so far)", what, n-1), func() (bool, error) {
			return forced() >= n, s.ExitError()
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	until("once the server has settled", 1)
	before := forced()
	if status, body := ask(t, "GET", s.url); status != 200 {
		t.Fatal(status, body)
	}
	until("after 128 objects", before+1)
}
