package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/chaos"
)

// slowClients is a project whose object counts how often its alarm fires until it is told to
// stop, and a scenario whose clients compute in between: that takes time on a machine, and
// none in the simulation of the runs that others are compared with. What it was told to keep
// is kept in memory until it is looked at.
var slowClients = map[string]string{
	"wrangler.json": `{"name": "slow", "main": "w.js", "compatibility_date": "2026-01-01",
		"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room"}]},
		"migrations": [{"tag": "v1", "new_sqlite_classes": ["Room"]}]}`,
	"w.js": `import { DurableObject } from "cloudflare:workers";
		export class Room extends DurableObject {
			kept = null;
			async fetch(request) {
				const { storage } = this.ctx;
				switch (new URL(request.url).pathname) {
				case "/start": await storage.setAlarm(Date.now() + 150); break;
				case "/stop": await storage.deleteAlarm(); break;
				case "/keep": this.kept = "yes"; break;
				case "/look": if (this.kept) await storage.put("kept", this.kept);
				}
				return new Response("done");
			}
			async alarm() {
				const { storage } = this.ctx;
				await storage.put("beats", (await storage.get("beats") ?? 0) + 1);
				await storage.setAlarm(Date.now() + 150);
			}
		}
		export default { async fetch(request, env) { return new Response(await (await env.ROOM.getByName("a").fetch(request)).text()); } };`,
	"slow.chaos.ts": `import { scenario } from "minido:chaos";
		export default scenario("slow clients", {
			async drive({ fetch }) {
				await fetch("POST", "/start");
				for (let i = 0, n = 0; i < 3e6; i++) n += i;
				await fetch("POST", "/stop");
				await fetch("POST", "/keep");
				await fetch("GET", "/look");
				await fetch("GET", "/look");
			},
		});`,
}

// A run with real processes is compared with what clients as slow as its own leave: how often
// an alarm fires in such a time is no violation. What a death loses is one.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		plan string
		code int
		want string
	}{
		{"kill@response:after()/fetch#5", chaos.Pass, "PASS  1 runs, 1 kills"},
		{"kill@step#4", chaos.Violated, "differential/missing (something that was acknowledged is not there): at rest Room/a (key) kept lacks value=yes (not compared: slow-Room/(key) beats)"},
	} {
		dir := project(t, slowClients)
		cmd := exec.Command(minido, "chaos", "replay", dir, "--scenario", filepath.Join(dir, "slow.chaos.ts"), "--plan", c.plan, "--dir", t.TempDir())
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != c.code || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %v, want code %d and %q\n%s", c.plan, err, c.code, c.want, out)
		}
	}
}
