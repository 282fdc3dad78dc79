package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/chaos/result"
)

// confirmed enumerates the deaths of a project in simulation, runs what is found on the
// reference, and returns the finding that has been run there.
func confirmed(t *testing.T, files map[string]string, flags ...string) (result.Finding, string) {
	t.Helper()
	modules := wranglerModules(t)
	dir := project(t, files)
	r, out := campaignBy(t, exec.Command(minido, append([]string{"chaos", "enumerate", dir, "--mode", "sim", "--confirm", modules}, flags...)...))
	findings := r.Findings()
	if len(findings) == 0 || findings[0].Workerd() == nil {
		t.Fatalf("%d findings, none was run on workerd\n%s", len(findings), out)
	}
	return findings[0], string(out)
}

// A finding that workerd has, too, is confirmed: its process dies between two turns, and the
// states that it leaves are compared with those of its own runs without a fault.
func TestDifferentialConfirmFindsTheSame(t *testing.T) {
	files := pair(t, "transfer-in-two-turns")
	f, out := confirmed(t, map[string]string{"worker.ts": files["buggy.ts"], "wrangler.json": pairConfig(files["buggy.ts"]), "drive.chaos.ts": files["drive.chaos.ts"]})
	w := f.Workerd()
	if !w.Reproduced || w.Run != w.Try || w.How == "" || !strings.Contains(strings.Join(w.Violated, "\n"), "differential/diverged: at rest pair-Room/") {
		t.Errorf("%+v", *w)
	}
	contains(t, out, "also on workerd 1.", "killed ")
	if left, err := filepath.Glob(filepath.Join(w.Dir, "death-1", "v3", "do", "pair-Room", "*.sqlite")); err != nil || len(left) == 0 {
		t.Errorf("the evidence in %q has no files of the death: %v", w.Dir, err)
	}
}

// A finding that workerd has not is not confirmed: the check of this scenario fails in
// simulations alone.
func TestDifferentialConfirmFindsNothing(t *testing.T) {
	f, out := confirmed(t, map[string]string{
		"worker.ts": `import { DurableObject } from "cloudflare:workers";
			export class Room extends DurableObject { fetch() { this.ctx.storage.put("n", 1); return new Response("ok"); } }
			export default { fetch(request, env) { return env.ROOM.getByName("a").fetch(request); } };`,
		"wrangler.json": pairConfig("export class Room extends DurableObject { env.ROOM }"),
		"drive.chaos.ts": `import { scenario } from "minido:chaos";
			let virtual = false;
			export default scenario("virtual", {
				async drive({ fetch, attempt, clock }) { virtual = clock.virtual; await attempt(() => fetch("POST", "/")); },
				check({ history, expect }) { expect(virtual && history.killsAt("commit:after").length > 0).toBe(false); },
			});`,
	}, "--confirm-tries", "2")
	if w := f.Workerd(); w.Reproduced || w.Run != 2 || w.Why != "" {
		t.Errorf("%+v", *w)
	}
	contains(t, out, "not reproduced on workerd 1.", " in 2 tries")
}

// What is no death of the process is not tried on workerd, and the report says so.
func TestDifferentialConfirmSaysWhatItCannot(t *testing.T) {
	files := pair(t, "transfer-in-two-turns")
	f, _ := confirmed(t, map[string]string{"worker.ts": files["buggy.ts"], "wrangler.json": pairConfig(files["buggy.ts"]), "drive.chaos.ts": files["drive.chaos.ts"]}, "--fault", "power")
	if w := f.Workerd(); w.Reproduced || w.Run != 0 || !strings.Contains(w.Why, "is a loss of power") {
		t.Errorf("%+v", *w)
	}
}
