package campaign

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/result"
)

// skewOptions run the steps on a worker of that source, in simulation.
func skewOptions(t *testing.T, source, classes string, steps ...string) Options {
	t.Helper()
	o := workerOptions(t, `import { DurableObject } from "cloudflare:workers";`+source, classes, steps...)
	o.OnePace = true
	return o
}

// After a skewed death one object, or the worker, has another clock than all others: in
// JavaScript, in SQL and in its facets. A second one adds to the first.
func TestSkewedClocks(t *testing.T) {
	const source = `
		export class Part extends DurableObject { now() { return Date.now(); } }
		export class Watch extends DurableObject {
		  async times() {
		    await this.ctx.storage.put("asked", 1);
		    return { js: Date.now(), sql: this.ctx.storage.sql.exec("SELECT unixepoch() * 1000 AS t").one().t,
		      facet: await this.ctx.facets.get("part", () => ({ class: this.ctx.exports.Part })).now() };
		  }
		}
		export default { async fetch(request, env) {
		  const told = {}, off = (t) => Math.round((t - Date.now()) / 1000);
		  for (const name of ["a", "b"]) {
		    const { js, sql, facet } = await env.WATCH.getByName(name).times();
		    told[name] = [off(js), off(sql), off(facet)].join();
		  }
		  return Response.json({ ...told, worker: Math.round(Date.now() / 1000) % 1000 });
		} };`
	for _, c := range []struct{ plan, want string }{
		{"none", `{"a":"0,0,0","b":"0,0,0","worker":600}`},
		{"skew(40s)@commit:after(Watch/a)/rpc#1", `{"a":"40,40,40","b":"0,0,0","worker":600}`},
		{"skew(-40s)@commit:after(Watch/b)/rpc#1", `{"a":"0,0,0","b":"-40,-40,-40","worker":600}`},
		{"skew(40s)@response:before()/fetch#1", `{"a":"-40,-40,-40","b":"-40,-40,-40","worker":640}`},
		{"skew(40s)@commit:after(Watch/a)/rpc#1; skew(5s)@commit:after(Watch/a)/rpc#1", `{"a":"45,45,45","b":"0,0,0","worker":600}`},
	} {
		plan, err := fault.ParsePlan(c.plan)
		if err != nil {
			t.Fatal(err)
		}
		o := skewOptions(t, source, "Watch Part", "GET /1", "GET /2", "GET /3")
		o.NoDifferential = true // they are told otherwise, as they should
		r, err := Replay(context.Background(), o, plan, 20)
		if err != nil || len(r.Cases) != 20 {
			t.Fatalf("%s: %d cases, %v", c.plan, len(r.Cases), err)
		}
		for i, one := range r.Cases {
			if one.Outcome != result.Passed || len(one.Missed) > 0 || one.Digest == "" || one.Digest != r.Cases[0].Digest {
				t.Errorf("%s, run %d: %s %s %v, missed %v, digest %s", c.plan, i, one.Outcome, one.Text, one.Violations, one.Missed, one.Digest)
			}
		}
		history, err := os.ReadFile(filepath.Join(keptCase(t, o, plan), "history.ndjson"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(history), c.want) {
			t.Errorf("%s: nobody was told %s:\n%s", c.plan, c.want, history)
		}
	}
}

// keptCase runs a plan once more and returns the directory of its evidence.
func keptCase(t *testing.T, o Options, plan fault.Plan) string {
	t.Helper()
	o.Keep, o.Dir = true, filepath.Join(o.Dir, "kept")
	r, err := Replay(context.Background(), o, plan, 1)
	if err != nil || len(r.Cases) != 1 {
		t.Fatalf("%s: %d cases, %v", plan, len(r.Cases), err)
	}
	return r.Cases[0].Dir
}

// An alarm may ring before its time where the object runs, if the clock there is behind. A
// handler that then does nothing, and asks for no other alarm, is found; one that asks again
// passes, as do both where no clock is skewed.
func TestSkewFindsAlarmsThatRingBeforeTheirTime(t *testing.T) {
	source := func(rest string) string {
		return `
		export class Jobs extends DurableObject {
		  constructor(ctx, env) { super(ctx, env); ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS jobs (id TEXT PRIMARY KEY, due INTEGER, status TEXT)"); }
		  async fetch(request) {
		    const due = Date.now() + 1000;
		    this.ctx.storage.sql.exec("INSERT OR IGNORE INTO jobs VALUES (?, ?, 'waits')", new URL(request.url).pathname, due);
		    await this.ctx.storage.setAlarm(due);
		    return new Response("ok");
		  }
		  async alarm() {
		    this.ctx.storage.sql.exec("UPDATE jobs SET status = 'done' WHERE due <= ?", Date.now());
		    ` + rest + `
		  }
		}
		export default { fetch(request, env) { return env.JOBS.getByName("j").fetch(request); } };`
	}
	const again = `const { due } = this.ctx.storage.sql.exec("SELECT MIN(due) AS due FROM jobs WHERE status = 'waits'").one();
		    if (due !== null) await this.ctx.storage.setAlarm(due);`
	for _, c := range []struct {
		kind, rest string
		want       int
	}{
		{"skew(-3s)", "", chaos.Violated},
		{"skew(-3s)", again, chaos.Pass},
		{"skew(3s)", "", chaos.Pass},
		{"kill", "", chaos.Pass},
	} {
		o := skewOptions(t, source(c.rest), "Jobs", "POST /a")
		var err error
		if o.Fault, err = fault.ParseKind(c.kind); err != nil {
			t.Fatal(err)
		}
		r, err := Enumerate(context.Background(), o, 1)
		if err != nil || r.Code != c.want {
			t.Errorf("%s, handler that asks again %v: code %d, %v, %+v", c.kind, c.rest != "", r.Code, err, r.Failed())
		}
		for _, f := range r.Failed() {
			if f.Violations[0].Invariant == "hang" || !strings.Contains(f.Name, "skew(-3s)@") {
				t.Errorf("%s: %v", f.Name, f.Violations)
			}
		}
	}
}

// An alarm that rings so much later may ring behind what clients do meanwhile, as it may where
// they are quicker: that is no finding.
func TestSkewMovesAlarmsAgainstClients(t *testing.T) {
	const source = `
		export class Tea extends DurableObject {
		  async fetch(request) {
		    if (request.method === "PUT") await this.ctx.storage.setAlarm(Date.now() + 60000);
		    if (request.method === "DELETE") await this.ctx.storage.deleteAlarm();
		    return new Response("ok");
		  }
		  async alarm() {
		    if (await this.ctx.storage.get("warm")) return this.ctx.storage.put("rang", true);
		    await this.ctx.storage.put("warm", true);
		    await this.ctx.storage.setAlarm(Date.now() + 60000);
		  }
		}
		export default { fetch(request, env) { return env.TEA.getByName("t").fetch(request); } };`
	o := skewOptions(t, source, "Tea", "PUT /", "POST /", "DELETE /")
	o.Pace = Patience
	var err error
	if o.Fault, err = fault.ParseKind("skew(3s)"); err != nil {
		t.Fatal(err)
	}
	r, err := Enumerate(context.Background(), o, 1)
	if err != nil || r.Code != chaos.Pass || len(r.Cases) == 0 {
		t.Errorf("code %d, %d cases, %v, %+v", r.Code, len(r.Cases), err, r.Failed())
	}
}
