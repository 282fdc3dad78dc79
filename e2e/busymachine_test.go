package e2e

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"minido.dev/minido/chaos"
)

const hurried = `import { DurableObject } from "cloudflare:workers";
export class Store extends DurableObject {
  async job() {
    await this.ctx.storage.put("job", "waits");
    await this.ctx.storage.setAlarm(Date.now() + 50);
  }
  async alarm() {
    if ((await this.ctx.storage.get("job")) !== "waits") return;
    await (await fetch(this.env.SINK + "/job", { method: "POST", headers: { "Idempotency-Key": crypto.randomUUID() } })).text();
    await (await fetch(this.env.OUTSIDE + "/effect")).text();
    await this.ctx.storage.put("job", "done");
  }
}
export default { async fetch(request, env) {
  await env.STORE.getByName("s").job();
  await (await fetch(env.OUTSIDE + "/answer")).text();
  return new Response("begun");
} };`

// On a busy machine an alarm may ring before an answer has been sent, and a finding at the
// answer's points be one of the alarm. Its replay dies where that is so on every machine.
func TestFindingsOfABusyMachineReplay(t *testing.T) {
	t.Parallel()
	// Once it is busy, an answer waits until the alarm has had its effect, which then waits
	// until the server dies.
	var asked atomic.Int64
	var busy atomic.Bool
	var mu sync.Mutex
	had := make(chan struct{})
	outside := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		mu.Lock()
		effect := had
		if request.URL.Path == "/effect" {
			close(had)
			had = make(chan struct{})
		}
		mu.Unlock()
		if asked.Add(1) > 2 && busy.Load() && request.URL.Path == "/answer" { // the run without a fault asks twice
			select {
			case <-effect:
			case <-request.Context().Done():
			}
		}
	}))
	defer outside.Close()
	busy.Store(true)
	dir := project(t, map[string]string{"worker.js": hurried, "wrangler.json": `{"name": "hurried", "main": "worker.js", "compatibility_date": "2026-08-01", "vars": {"OUTSIDE": "` + outside.URL + `"},
		"durable_objects": {"bindings": [{"name": "STORE", "class_name": "Store"}]}, "migrations": [{"tag": "1", "new_sqlite_classes": ["Store"]}]}`})
	r, out := campaignBy(t, exec.Command(minido, "chaos", "enumerate", dir, "--jobs", "1", "--no-differential", "--timeout", "10s", "--effects", "SINK", "--fetch", "POST /job"))
	if r.Code != chaos.Violated {
		t.Fatalf("code %d\n%s", r.Code, out)
	}
	busy.Store(false)
	elsewhere := 0
	for _, c := range r.Failed() {
		if strings.Contains(c.Replay, "'"+c.Name+"'") {
			continue
		}
		elsewhere++
		if !strings.Contains(c.Text, "the machine was so busy") {
			t.Errorf("%s is replayed by %s: %s", c.Name, c.Replay, c.Text)
		}
		if code := replayOf(t, minido, nil, c, "--runs", "3"); code != chaos.Violated {
			t.Errorf("%s: code %d of %s", c.Name, code, c.Replay)
		}
	}
	if elsewhere == 0 {
		t.Errorf("no finding is one of a busy machine\n%s", out)
	}
}
