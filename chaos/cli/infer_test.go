package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/campaign"
	"minido.dev/minido/chaos/infer"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/chaos/scenario"
	"minido.dev/minido/internal/clock"
)

// shop sells: stock goes down as what is sold goes up, each sale has a row that names its
// customer, and a counter. more is what else a sale does.
func shop(more string) string {
	return `import { DurableObject } from "cloudflare:workers";
export class Shop extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS stock (n INTEGER); CREATE TABLE IF NOT EXISTS sold (n INTEGER); CREATE TABLE IF NOT EXISTS customers (id INTEGER PRIMARY KEY);" +
      "CREATE TABLE IF NOT EXISTS sales (\"customer_id\" INTEGER, what TEXT); CREATE TABLE IF NOT EXISTS counter (total INTEGER);");
    if (ctx.storage.sql.exec("SELECT * FROM stock").toArray().length === 0) ctx.storage.sql.exec("INSERT INTO stock VALUES (9); INSERT INTO sold VALUES (0); INSERT INTO counter VALUES (0)");
  }
  async fetch(request) {
    const id = Number(new URL(request.url).pathname.slice(1)), sql = this.ctx.storage.sql;
    sql.exec("UPDATE stock SET n = n - 1; UPDATE sold SET n = n + 1; UPDATE counter SET total = total + 1");
    sql.exec("INSERT INTO customers VALUES (?)", id);
    sql.exec("INSERT INTO sales VALUES (?, 'book')", id);
    ` + more + `
    return new Response("sold");
  }
}
export default { fetch(request, env) { return env.SHOP.getByName("x").fetch(request); } };`
}

// sales enumerates the deaths of a shop with a scenario of these members.
func sales(t *testing.T, worker, members string, learner *infer.Learner) result.Report {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"w.js": worker,
		"wrangler.json": `{"name": "shop", "main": "w.js", "compatibility_date": "2026-01-01", "migrations": [{"tag": "v1", "new_sqlite_classes": ["Shop"]}],
			"durable_objects": {"bindings": [{"name": "SHOP", "class_name": "Shop"}]}}`,
		"a.chaos.ts": "import { scenario } from \"minido:chaos\";\nexport default scenario(\"sales\", {\n" +
			"async drive({ fetch, attempt }) { for (const id of [1, 2, 3]) await attempt(() => fetch(\"POST\", \"/\" + id)); },\n" + members + "\n});\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	project, err := chaos.LoadProject(dir, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Load(filepath.Join(dir, "a.chaos.ts"), dir, "", clock.Real{})
	if err != nil {
		t.Fatal(err)
	}
	if learner != nil {
		learner.Classes = infer.Classes(project)
	}
	r, err := campaign.Enumerate(context.Background(), campaign.Options{Project: dir, Script: s, Mode: campaign.Sim, Seed: 1, Jobs: 1,
		Dir: filepath.Join(dir, "out"), Infer: learner, OnePace: true, NoDifferential: learner == nil}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The invariants that a correct worker keeps are offered as code that runs in a scenario as
// it is: it accuses nobody there, and finds each of them broken in a worker that breaks it.
func TestInferredInvariants(t *testing.T) {
	learner := &infer.Learner{}
	if r := sales(t, shop(""), "", learner); r.Code != chaos.Pass {
		t.Fatalf("code %d", r.Code)
	}
	offers := learner.Offers()
	var told []string
	for _, o := range offers {
		told = append(told, o.Text)
		if len(o.Broken) > 0 {
			t.Errorf("%s: broken in %q", o.Text, o.Broken)
		}
	}
	for _, want := range []string{"the sum of sold.n in Shop and the sum of stock.n in Shop are 9 together", "the sum of counter.total in Shop is the number of customers in Shop",
		"the sum of counter.total in Shop is the number of sales in Shop", "the sum of counter.total in Shop is the sum of sold.n in Shop",
		"each sales.customer_id in Shop is a customers.id"} {
		if !strings.Contains(strings.Join(told, "\n")+"\n", want+"\n") {
			t.Errorf("%q is not offered; offered are %q", want, told)
		}
	}
	code := infer.Code(offers)
	if r := sales(t, shop(""), code, nil); r.Code != chaos.Pass {
		t.Errorf("a correct worker is accused: code %d, %+v\n%s", r.Code, r.Failed()[0].Violations, code)
	}
	for what, more := range map[string]string{
		"a sum":       `sql.exec("UPDATE stock SET n = n + 1"); await this.ctx.storage.sync(); sql.exec("UPDATE stock SET n = n - 1");`,
		"a count":     `sql.exec("INSERT INTO customers VALUES (?)", id + 100); await this.ctx.storage.sync(); sql.exec("DELETE FROM customers WHERE id > 100");`,
		"a counter":   `sql.exec("UPDATE counter SET total = 0"); await this.ctx.storage.sync(); sql.exec("UPDATE counter SET total = (SELECT COUNT(*) FROM sales)");`,
		"a reference": `sql.exec("UPDATE sales SET customer_id = 77"); await this.ctx.storage.sync(); sql.exec("UPDATE sales SET customer_id = rowid");`,
	} {
		if r := sales(t, shop(more), code, nil); r.Code != chaos.Violated || !strings.Contains(r.Failed()[0].Violations[0].Text, "expected ") {
			t.Errorf("%s that does not hold between two commits is not found: code %d\n%s", what, r.Code, code)
		}
	}
}

// What a death alone breaks is told with the cases that do.
func TestInferredInvariantsBroken(t *testing.T) {
	learner := &infer.Learner{}
	// A start that finds a sale makes one up: without a death it finds none.
	worker := strings.Replace(shop(""), `if (ctx.storage.sql.exec("SELECT * FROM stock")`, `ctx.storage.sql.exec("UPDATE counter SET total = total + 1");
    if (ctx.storage.sql.exec("SELECT * FROM stock")`, 1)
	sales(t, worker, "", learner)
	broken := 0
	for _, o := range learner.Offers() {
		if strings.Contains(o.Text, "counter.total") && len(o.Broken) > 0 && strings.HasPrefix(o.Broken[0], "kill@") {
			broken++
		}
	}
	if broken == 0 {
		t.Errorf("%+v", learner.Offers())
	}
}
