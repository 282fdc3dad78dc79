package cli

import (
	"context"
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

// bank moves money in two transactions, and tells each store.
const bank = `import { DurableObject } from "cloudflare:workers";
export class Bank extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS accounts (name TEXT PRIMARY KEY, amount INTEGER); INSERT OR IGNORE INTO accounts VALUES ('a', 10), ('b', 0)");
  }
  async move() {
    this.ctx.storage.sql.exec("UPDATE accounts SET amount = amount - 4 WHERE name = 'a'");
    await this.ctx.storage.sync();
    this.ctx.storage.sql.exec("UPDATE accounts SET amount = amount + 4 WHERE name = 'b'");
  }
}
export default {
  async fetch(request, env) {
    await env.DB.exec("CREATE TABLE IF NOT EXISTS log (text TEXT)");
    await env.BANK.getByName("x").move();
    await env.DB.prepare("INSERT INTO log VALUES (?)").bind("moved").run();
    await env.KV.put("moves/1", "4", { metadata: { by: "test" } });
    await env.KV.put("gone", "soon", { expirationTtl: 60 });
    await env.R2.put("receipt", "four");
    return new Response("ok");
  },
};`

// explored enumerates the bank's deaths with a scenario of these members.
func explored(t *testing.T, members string) result.Report {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"w.js": bank,
		"wrangler.json": `{"name": "bank", "main": "w.js", "compatibility_date": "2026-01-01", "migrations": [{"tag": "v1", "new_sqlite_classes": ["Bank"]}],
			"durable_objects": {"bindings": [{"name": "BANK", "class_name": "Bank"}]}, "kv_namespaces": [{"binding": "KV", "id": "k"}],
			"d1_databases": [{"binding": "DB", "database_id": "d"}], "r2_buckets": [{"binding": "R2", "bucket_name": "files"}]}`,
		"a.chaos.ts": "import { scenario, always, sometimes, eventually, reachable } from \"minido:chaos\";\nexport default scenario(\"money\", {\n" + members + "\n});\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := scenario.Load(filepath.Join(dir, "a.chaos.ts"), dir, "", clock.Real{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := campaign.Enumerate(context.Background(), campaign.Options{Project: dir, Script: s, Mode: campaign.Sim, Seed: 1, Jobs: 1,
		Dir: filepath.Join(dir, "out"), NoDifferential: true}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// invariant() is asked of the files as each death left them: what is wrong only between
// two commits of one request is found, at the commit.
func TestInvariantAtEveryCommit(t *testing.T) {
	r := explored(t, `
  async drive({ fetch }) { await fetch("POST", "/"); },
  invariant({ db, expect }) {
    const sum = db("Bank", "x").all<{ sum: number }>("SELECT sum(amount) AS sum FROM accounts WHERE name != ?", "none")[0]?.sum ?? 10;
    expect(sum, "the sum").toBe(10);
  },`)
	if r.Code != chaos.Violated || len(r.Failed()) == len(r.Cases) {
		t.Fatalf("code %d, %d of %d failed", r.Code, len(r.Failed()), len(r.Cases))
	}
	atDeath := 0
	for _, c := range r.Failed() {
		for _, v := range c.Violations {
			if strings.HasPrefix(v.Text, "invariant, at death 1: the sum: expected 6 to be 10") {
				atDeath++
			}
		}
	}
	if atDeath == 0 || len(r.Warnings) > 0 {
		t.Errorf("found at no death: %+v, %v", r.Failed()[0].Violations, r.Warnings)
	}
}

// check() reads D1, KV and R2 at rest by their bindings; marks that no run comes to, and
// claims that do not hold in the end, are told.
func TestCheckReadsEveryStore(t *testing.T) {
	r := explored(t, `
  async drive({ fetch, until }) {
    eventually("done", false);
    await until(async () => { await fetch("POST", "/"); return true; });
    eventually("done", true);
    if (globalThis.never) reachable("nowhere");
    reachable("the end");
  },
  check({ d1, kv, r2, expect }) {
    for (const _ of [1, 2]) // what a query changes, it changes in a copy
      expect(d1("DB").all<{ text: string }>("DELETE FROM log RETURNING text")[0].text).toBe("moved");
    expect(d1("DB").all<{ text: string }>("SELECT text FROM log")[0].text).toBe("moved");
    expect(kv("KV").list("moves/")).toEqual([{ name: "moves/1", metadata: { by: "test" } }]);
    expect([kv("KV").get("moves/1"), kv("KV").get("none")]).toEqual(["4", null]);
    expect([kv("KV").get("gone"), kv("KV").list().length]).toEqual(["soon", 2]);
    expect([r2("R2").get("receipt"), r2("R2").get("none")]).toEqual(["four", null]);
    expect(r2("R2").list()[0].size).toBe(4);
    let text = "";
    try { kv("KX").get("a"); } catch (err) { text = String(err); }
    expect(text).toMatch("KX.*it has KV");
  },`)
	for _, c := range r.Failed() {
		t.Fatalf("%s: %s %v", c.Name, c.Text, c.Violations)
	}
	if r.Code != chaos.Missed || len(r.Unmet) != 1 || r.Unmet[0] != "nowhere" || len(r.Warnings) > 0 {
		t.Errorf("code %d, unmet %q, warnings %q", r.Code, r.Unmet, r.Warnings)
	}
}

// A check that asserts nothing is told to the reader; what is claimed last counts.
func TestSilentCheck(t *testing.T) {
	r := explored(t, `
  async drive({ fetch }) { eventually("done", false); await fetch("POST", "/"); },
  check({ db }) { db("Bank", "x").exists(); },`)
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "asserts nothing") || r.Code != chaos.Violated ||
		!strings.Contains(r.Failed()[0].Violations[0].Text, `eventually "done"`) {
		t.Errorf("code %d, %q, %v", r.Code, r.Warnings, r.Failed()[0].Violations)
	}
}
