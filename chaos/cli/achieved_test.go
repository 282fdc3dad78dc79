package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/campaign"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/chaos/scenario"
	"minido.dev/minido/internal/clock"
)

// Clients of which each step fails without a fault prove nothing, also where attempt() takes
// their errors; of others, an error is a warning.
func TestClientsThatAchieveNothing(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"wrangler.json": `{"name": "a", "main": "w.js", "compatibility_date": "2026-01-01", "durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room"}]},
			"migrations": [{"tag": "v1", "new_sqlite_classes": ["Room"]}]}`,
		"w.js": `import { DurableObject } from "cloudflare:workers";
			export class Room extends DurableObject {
			  async fetch(request) {
			    await this.ctx.storage.put("n", 1);
			    if (request.url.endsWith("/boom")) throw new Error("boom");
			    return new Response("here", { status: request.url.endsWith("/ok") ? 200 : 404 });
			  }
			}
			export default { fetch(request, env) { return env.ROOM.getByName("a").fetch(request); } };`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range []struct {
		name, body string
		allowed    bool
		code       int
		says       string
	}{
		{"none succeeds", `await attempt(() => fetch("GET", "/typo")); await attempt(() => fetch("GET", "/boom"));`, false, chaos.Usage, `each of the clients' 2 steps fails; the first is GET /typo: status 404`},
		{"a socket", `await attempt(() => connect("/typo"));`, false, chaos.Usage, `the clients' only step fails: connect /typo: `},
		{"meant to fail", `await attempt(() => fetch("GET", "/typo"));`, true, chaos.Pass, ""},
		{"one has an error", `await fetch("GET", "/ok"); await attempt(() => fetch("GET", "/boom"));`, false, chaos.Pass,
			`1 of the clients' 2 steps had an error, and what that leaves undone is not tested; the first is GET /boom: status 500`},
		{"no body", `await until(() => fetch("GET", "/ok").then(() => {}), { within: "1s" });`, false, chaos.Usage, "until: not true within 1s; the last answer was undefined, as of a response without a body: return true behind it"},
		{"one is refused", `await fetch("GET", "/ok"); await attempt(() => fetch("GET", "/typo"));`, false, chaos.Pass, ""},
		{"a question is answered", `await attempt(() => fetch("GET", "/typo")); await until(() => fetch("GET", "/ok"));`, false, chaos.Pass, ""},
		{"asked until it is there", `await fetch("GET", "/ok"); await attempt(() => until(() => fetch("GET", "/boom"), { within: "1s" }));`, false, chaos.Pass, ""},
	} {
		file := filepath.Join(dir, "a.chaos.ts")
		text := "import { scenario } from \"minido:chaos\";\nexport default scenario(\"a\", { async drive({ fetch, connect, attempt, until }) { " + c.body + " } });\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := scenario.Load(file, dir, "", clock.Real{})
		if err != nil {
			t.Fatal(err)
		}
		for _, verb := range []string{"enumerate", "random"} {
			o := campaign.Options{Project: dir, Script: s, Mode: campaign.Sim, Seed: 1, Jobs: 1, Dir: filepath.Join(dir, fmt.Sprint(verb, i)), OnePace: true, FailingSteps: c.allowed}
			var r result.Report
			if verb == "enumerate" {
				r, err = campaign.Enumerate(context.Background(), o, 1)
			} else {
				r, err = campaign.Random(context.Background(), o, 1, 1)
			}
			said := strings.Join(r.Warnings, "; ")
			if err != nil {
				said += err.Error()
			}
			if r.Code != c.code || !strings.Contains(said, c.says) || c.says == "" && said != "" {
				t.Errorf("%s, %s: code %d, %q, want %d %q", c.name, verb, r.Code, said, c.code, c.says)
			}
		}
	}
}
