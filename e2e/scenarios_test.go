package e2e

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/result"
)

// The scenarios beside the fixtures of agents run, with the scripted model where
// they want one: no kill is missed in the harness's own doing, nothing is broken,
// and nothing but the named mistake of a generation of the packages is found.
// Where that mistake lies, a run that dies there finds it.
func TestScenariosOfFixtures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fixture string
		finds   string // a known mistake of the packages
		at      string // the plan that finds it
		needs   string // other packages
	}{
		{fixture: "fibers"},
		{fixture: "fibers-0.11"},
		{fixture: "fibers-0.21"},
		{fixture: "chat"},
		{fixture: "chat-0.10", needs: "chat"},
		{fixture: "chat-0.4", finds: "chat/one-answer", at: "kill@frame:after(SupportChat/c1)/body chunk#4"},
		{fixture: "forever-0.5"},
	} {
		t.Run(c.fixture, func(t *testing.T) {
			for _, name := range append([]string{c.fixture}, strings.Fields(c.needs)...) {
				if _, err := os.Stat(filepath.Join(fixture(t, name), "node_modules")); err != nil {
					t.Fatalf("make npm: %v", err)
				}
			}
			r, out := campaignOf(t, "enumerate", fixture(t, c.fixture), "--max", "8")
			if len(r.Cases) != 8 || r.Code == chaos.Broken || r.Code == chaos.Usage {
				t.Fatalf("%d cases, code %d\n%s", len(r.Cases), r.Code, out)
			}
			for _, one := range r.Failed() {
				for _, v := range one.Violations {
					if v.Key() != c.finds {
						t.Errorf("%s: %s", one.Replay, v)
					}
				}
				if one.Outcome == result.Restless || one.Outcome == result.Broken {
					t.Errorf("%s is %s: %s", one.Replay, one.Outcome, one.Text)
				}
			}
			if c.finds == "" {
				return
			}
			found := func(one result.Case) bool {
				return slices.ContainsFunc(one.Violations, func(v check.Violation) bool { return v.Key() == c.finds })
			}
			// A replay in processes finds what a slow machine leaves time for: one of three has to.
			for range 3 {
				if r, out = campaignOf(t, "replay", fixture(t, c.fixture), "--plan", c.at); slices.ContainsFunc(r.Failed(), found) {
					return
				}
			}
			t.Errorf("%s was not found\n%s", c.finds, out)
		})
	}
}

// What make cycles and the benchmark measure with holds at every point.
func TestCyclesHold(t *testing.T) {
	t.Parallel()
	r, out := campaignOf(t, "enumerate", fixture(t, "fibers/cycles"), "--mode", "sim")
	if r.Code != chaos.Pass || r.Kills < 20 {
		t.Fatalf("%d kills, code %d\n%s", r.Kills, r.Code, out)
	}
}

// campaignOf runs a campaign and returns its report and what it wrote.
func campaignOf(t *testing.T, verb, project string, flags ...string) (result.Report, []byte) {
	t.Helper()
	return campaignBy(t, exec.Command(minido, append([]string{"chaos", verb, project}, flags...)...))
}

// campaignBy is campaignOf with a command of its own, which gets a directory
// for its evidence.
func campaignBy(t *testing.T, cmd *exec.Cmd) (result.Report, []byte) {
	t.Helper()
	dir := t.TempDir()
	cmd.Args = append(cmd.Args, "--dir", dir)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var r result.Report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r, out
}

// until() asks again where the server answers with a status of 500 or more, and gives up with that answer.
// Timers of drive() fire in the clients' time unless they are cleared, and a death before a step does
// not wait for them.
func TestClientsOfScenarios(t *testing.T) {
	t.Parallel()
	const worker = `import { DurableObject } from "cloudflare:workers";
export class Room extends DurableObject {
  async fetch() {
    const n = ((await this.ctx.storage.get("n")) ?? 0) + 1;
    await this.ctx.storage.put("n", n);
    return n < Number(this.env.READY) ? new Response("busy", { status: 503 }) : Response.json({ n });
  }
}
export default { fetch: (request, env) => env.ROOM.getByName("a").fetch(request) };`
	const driven = `import { scenario, RefusedError } from "minido:chaos";
export default scenario("clients", {
  async drive({ fetch, until, clock }) {
    const fired = [], began = clock.now();
    setTimeout((name) => fired.push(name + (clock.now() - began >= 50)), 50, "late");
    const early = setTimeout(() => fired.push("never"), 60000);
    setTimeout(() => fired.push("early"));
    await new Promise((done) => setTimeout(done, 90));
    let status;
    try { await fetch("POST", "/"); } catch (err) { if (!(err instanceof RefusedError)) throw err; status = err.status; }
    const { n } = await until(() => fetch("POST", "/"), { within: "5s" });
    clearTimeout(early);
    return [status, n, ...fired];
  },
  check({ result, deaths, expect }) { if (deaths === 0) expect(result).toEqual([503, 3, "early", "latetrue"]); else expect(result).not.toContain("never"); },
});`
	config := func(ready string) string {
		return `{"name": "clients", "main": "worker.ts", "compatibility_date": "2026-08-01", "vars": {"READY": "` + ready + `"},
			"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Room"]}]}`
	}
	for _, c := range []struct {
		name, ready, drive string
		args               []string
		code               int
		want               string
	}{
		{"no fault", "3", driven, []string{"replay", "--plan", "none"}, 0, "PASS  1 runs"},
		{"a death before a step", "3", driven, []string{"replay", "--mode", "sim", "--plan", "kill@step#2"}, 0, "PASS  1 runs, 1 kills"},
		{"never ready", "9999", driven, []string{"replay", "--mode", "sim", "--plan", "none"}, chaos.Usage, `until: not true within 5s; the server answered with an error: POST /: status 503: "busy"`},
		{"a timer throws", "1", strings.Replace(driven, `"late");`, `"late"); setTimeout(() => { throw new Error("of a timer"); });`, 1),
			[]string{"replay", "--mode", "sim", "--plan", "none"}, chaos.Usage, "Error: of a timer"},
		{"a timer of check", "3", strings.Replace(driven, "if (deaths", "setTimeout(() => {}); if (deaths", 1),
			[]string{"replay", "--mode", "sim", "--plan", "none"}, chaos.Violated, "setTimeout: only drive() can wait"},
	} {
		dir := project(t, map[string]string{"worker.ts": worker, "wrangler.json": config(c.ready), "clients.chaos.ts": c.drive})
		cmd := exec.Command(minido, append([]string{"chaos", c.args[0], dir}, c.args[1:]...)...)
		out, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: code %d (%v), want %d and %q\n%s", c.name, code, err, c.code, c.want, out)
		}
	}
}
