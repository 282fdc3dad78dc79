package campaign

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/result"
)

// logging is a script for a project whose object writes rows and counts its calls in
// memory, after an exchange with the sink. answers gets what clients were told.
type logging struct{ answers *[]string }

func (s logging) Driver() (drive.Driver, error) {
	var steps []drive.Step
	for _, text := range []string{"POST /add", "GET /count"} {
		step, err := drive.Parse(drive.Fetch, text)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	return drive.NewSteps(steps, drive.StepOptions{}), nil
}

func (s logging) Check(_ drive.Driver, e check.Evidence) (found []check.Violation, marks []Mark, err error) {
	var told []string
	for _, e := range e.Events {
		if e.Kind == history.Return || e.Kind == history.Fail || e.Kind == history.Unknown {
			told = append(told, string(e.Data))
		}
	}
	*s.answers = append(*s.answers, strings.Join(told, " "))
	return nil, nil, nil
}

func (s logging) Flag() []string { return nil }
func (s logging) Silent() bool   { return false }
func (logging) Digest() string   { return "" }

// loggingOptions runs the script in simulation.
func loggingOptions(t *testing.T, answers *[]string) Options {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"wrangler.json": `{"name": "log", "main": "w.js", "compatibility_date": "2026-01-01", "durable_objects": {"bindings": [{"name": "LOG", "class_name": "Log"}]},
			"migrations": [{"tag": "v1", "new_sqlite_classes": ["Log"]}]}`,
		"w.js": `import { DurableObject } from "cloudflare:workers";
			let loaded = 0;
			export class Log extends DurableObject {
			  calls = 0;
			  constructor(ctx, env) { super(ctx, env); ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS log (n INTEGER)"); }
			  add() { this.ctx.storage.sql.exec("INSERT INTO log VALUES (1)"); return ++this.calls; }
			  count() { return { rows: this.ctx.storage.sql.exec("SELECT n FROM log").toArray().length, calls: this.calls }; }
			}
			export default { async fetch(request, env) {
			  const log = env.LOG.getByName("l");
			  if (request.method === "GET") return Response.json({ ...await log.count(), loaded, second: Math.round(Date.now() / 1000) % 1000 });
			  loaded++;
			  const sent = await fetch(env.SINK + "/x", { method: "POST" }).then((r) => r.status, (e) => e.message);
			  return Response.json({ sent, calls: await log.add() });
			} };`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Options{Project: dir, Script: logging{answers}, Mode: Sim, Seed: 1, Jobs: 1, SinkVar: "SINK", NoDifferential: true, Dir: filepath.Join(dir, "out")}
}

// In simulation, each kind of fault happens at its point, and has the same consequences
// to the last step of the schedule in every replay, 20 of 20.
func TestFaultsInSimulation(t *testing.T) {
	runs := 20
	if testing.Short() {
		runs = 3
	}
	for _, c := range []struct{ plan, want string }{
		{"none", `{"sent":200,"calls":1} {"rows":1,"calls":1,"loaded":1,"second":600}`},
		{"kill@commit:after(Log/l)/rpc#1", ` {"rows":1,"calls":0,"loaded":0,"second":600}`},
		{"power@commit:after(Log/l)/rpc#1", ` {"rows":0,"calls":0,"loaded":0,"second":600}`},
		{"kill@step#2", `{"sent":200,"calls":1} {"rows":1,"calls":0,"loaded":0,"second":600}`},
		{"power@step#2", `{"sent":200,"calls":1} {"rows":1,"calls":0,"loaded":0,"second":600}`},
		{"crash@commit:before(Log/l)/rpc#1", `"Network connection lost." {"rows":0,"calls":0,"loaded":1,"second":600}`},
		{"crash@commit:after(Log/l)/rpc#1", `"Network connection lost." {"rows":1,"calls":0,"loaded":1,"second":600}`},
		{"crash@wake:after(Log/l)/start#1", `"Network connection lost." {"rows":0,"calls":0,"loaded":1,"second":600}`},
		{"crash@fetch:before/fetch#1", `{"sent":200,"calls":1} {"rows":1,"calls":1,"loaded":1,"second":600}`},
		{"crash(isolate)@commit:before(Log/l)/rpc#1", `"Network connection lost." {"rows":0,"calls":0,"loaded":0,"second":600}`},
		{"crash(isolate)@response:before/fetch#1", `{"sent":200,"calls":1} {"rows":1,"calls":0,"loaded":0,"second":600}`},
		{"evict@commit:after(Log/l)/rpc#1", `{"sent":200,"calls":1} {"rows":1,"calls":0,"loaded":1,"second":600}`},
		{"evict(isolate)@response:after/fetch#1", `{"sent":200,"calls":1} {"rows":1,"calls":0,"loaded":0,"second":600}`},
		{"hibernate@commit:after(Log/l)/rpc#1", `{"sent":200,"calls":1} {"rows":1,"calls":0,"loaded":1,"second":600}`},
		{"reset@commit:before(Log/l)/rpc#1", `{"sent":200,"calls":1} {"rows":1,"calls":0,"loaded":1,"second":600}`},
		{"reset(isolate)@commit:before(Log/l)/rpc#1", `{"sent":200,"calls":1} {"rows":1,"calls":0,"loaded":0,"second":600}`},
		{"abort@commit:after(Log/l)/rpc#1", `{"sent":200,"calls":1} {"rows":1,"calls":0,"loaded":1,"second":600}`},
		{"fail(full)@commit:before(Log/l)/rpc#1", `"database or disk is full: SQLITE_FULL" {"rows":0,"calls":0,"loaded":1,"second":600}`},
		{"fail(io)@commit:before(Log/l)/rpc#1", `"disk I/O error: SQLITE_IOERR" {"rows":0,"calls":0,"loaded":1,"second":600}`},
		{"fail(busy)@commit:before(Log/l)/rpc#1", `"database is locked: SQLITE_BUSY" {"rows":0,"calls":0,"loaded":1,"second":600}`},
		{"fail(sync)@commit:after(Log/l)/rpc#1", `"sync: input/output error" {"rows":1,"calls":0,"loaded":1,"second":600}`},
		{"fail(dns)@fetch:before/fetch#1", `{"sent":"DNS lookup failed: sink.test","calls":1} {"rows":1,"calls":1,"loaded":1,"second":600}`},
		{"refuse@fetch:before/fetch#1", `{"sent":"Network connection lost.","calls":1} {"rows":1,"calls":1,"loaded":1,"second":600}`},
		{"slow(40s)@commit:before(Log/l)/rpc#1", `{"sent":200,"calls":1} {"rows":1,"calls":1,"loaded":1,"second":640}`},
		{"jump(5m)@commit:before(Log/l)/rpc#1", `{"sent":200,"calls":1} {"rows":1,"calls":1,"loaded":1,"second":900}`},
		{"drop@rpc:before()/fetch#1", `"Network connection lost." {"rows":0,"calls":0,"loaded":1,"second":600}`},
		{"drop@rpc:before(Log/l)/rpc#1", `"Network connection lost." {"rows":1,"calls":1,"loaded":1,"second":600}`},
		{"drop@fetch:before/fetch#1", `{"sent":"Network connection lost.","calls":1} {"rows":1,"calls":1,"loaded":1,"second":600}`},
		{"drop@fetch:after/fetch#1", `{"sent":"Network connection lost.","calls":1} {"rows":1,"calls":1,"loaded":1,"second":600}`},
		{"delay(40s)@rpc:before()/fetch#1", `{"sent":200,"calls":1} {"rows":1,"calls":1,"loaded":1,"second":640}`},
		{"delay(40s)@rpc:before(Log/l)/rpc#1", `{"sent":200,"calls":1} {"rows":1,"calls":1,"loaded":1,"second":640}`},
		{"delay(40s)@fetch:after/fetch#1", `{"sent":200,"calls":1} {"rows":1,"calls":1,"loaded":1,"second":640}`},
		{"partition(worker|Log,5s)@fetch:before/fetch#1", `"Network connection lost." "Network connection lost."`},
		{"delay(40s)@rpc:before(Log/l)/rpc#1; kill@after(1s)", ` {"rows":1,"calls":0,"loaded":0,"second":601}`},
		{"jump(-20s)@commit:before(Log/l)/rpc#1; kill@commit:after(Log/l)/rpc#1", ` {"rows":1,"calls":0,"loaded":0,"second":580}`},
	} {
		t.Run(c.plan, func(t *testing.T) {
			plan, err := fault.ParsePlan(c.plan)
			if err != nil {
				t.Fatal(err)
			}
			var answers []string
			r, err := Replay(context.Background(), loggingOptions(t, &answers), plan, runs)
			if err != nil || len(r.Cases) != runs {
				t.Fatalf("%d cases, %v", len(r.Cases), err)
			}
			for i, one := range r.Cases {
				if one.Outcome != result.Passed && !one.Refused || len(one.Missed) > 0 || one.Digest == "" || one.Digest != r.Cases[0].Digest {
					t.Errorf("run %d: %s %s, missed %v, digest %s", i, one.Outcome, one.Text, one.Missed, one.Digest)
				}
			}
			if answers[0] != c.want {
				t.Errorf("clients were told\n%s\nwant\n%s", answers[0], c.want)
			}
		})
	}
}

// A message's fault at a point that an answer to a client shares with those of objects is
// refused there, and the answer goes out as always: the run comes to rest.
func TestFaultOfMessagesAtAnAnswerToAClient(t *testing.T) {
	for _, kind := range []string{"drop", "delay(1s)"} {
		o := toldOptions(t, `fetch() { this.ctx.storage.put("n", 1); return new Response("ok"); }`, "POST /a", "POST /b")
		var err error
		if o.Fault, err = fault.ParseKind(kind); err != nil {
			t.Fatal(err)
		}
		o.OnePace = true
		r, err := Enumerate(context.Background(), o, 1)
		if err != nil {
			t.Fatal(err)
		}
		refused, done := 0, 0
		for _, c := range r.Cases {
			switch {
			case !strings.Contains(c.Name, "@response:before(Room/a)"):
			case c.Refused && strings.Contains(c.Text, "an answer to a client outside"):
				refused++
			default:
				done++
			}
			if c.Outcome != result.Passed {
				t.Errorf("%s is %s: %s %v", c.Name, c.Outcome, c.Text, c.Violations)
			}
		}
		if refused != 2 || done != 2 {
			t.Errorf("%s: %d were refused, %d done, of two messages and two answers", kind, refused, done)
		}
	}
}

// A loss of power takes what was answered before it was synced, which writes with
// allowUnconfirmed may be and all are with --sync normal, and nothing else.
func TestPowerTakesUnconfirmedWrites(t *testing.T) {
	for _, c := range []struct {
		options string
		normal  bool
		want    int
	}{{"", false, chaos.Pass}, {", { allowUnconfirmed: true }", false, chaos.Violated}, {"", true, chaos.Violated}} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"wrangler.json": `{"name": "notes", "main": "w.js", "compatibility_date": "2026-01-01", "durable_objects": {"bindings": [{"name": "NOTES", "class_name": "Notes"}]},
				"migrations": [{"tag": "v1", "new_sqlite_classes": ["Notes"]}]}`,
			"w.js": `import { DurableObject } from "cloudflare:workers";
				export class Notes extends DurableObject {
				  async fetch(request) {
				    const key = new URL(request.url).pathname;
				    if (request.method === "GET") return Response.json([...(await this.ctx.storage.list()).keys()]);
				    await this.ctx.storage.put(key, 1` + c.options + `);
				    return new Response("saved");
				  }
				}
				export default { fetch(request, env) { return env.NOTES.getByName("n").fetch(request); } };`,
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var steps []drive.Step
		for _, text := range []string{"PUT /milk", "PUT /bread", "GET /"} {
			step, err := drive.Parse(drive.Fetch, text)
			if err != nil {
				t.Fatal(err)
			}
			steps = append(steps, step)
		}
		r, err := Enumerate(context.Background(), Options{Project: dir, Steps: steps, Mode: Sim, Seed: 1, Jobs: 1, SyncNormal: c.normal, Fault: fault.Fault{Power: true}, Dir: filepath.Join(dir, "out")}, 1)
		if err != nil || r.Code != c.want {
			t.Errorf("put%s, --sync normal %v: code %d instead of %d, %v", c.options, c.normal, r.Code, c.want, err)
		}
		if f := r.Failed(); c.normal && (len(f) == 0 || !strings.Contains(f[0].Replay, " --sync normal ")) {
			t.Errorf("it is not replayed so: %+v", f)
		}
	}
}

// An isolate that a fault has ended cannot be ended by another one while its successor is
// loaded: that one is refused.
func TestFaultOfAnIsolateThatIsGone(t *testing.T) {
	for _, second := range []string{"crash(isolate)", "evict(isolate)", "reset(isolate)"} {
		plan, err := fault.ParsePlan("crash(isolate)@response:after(Room/a)/fetch#2; " + second + "@chunk:before(Room/a)/fetch#1")
		if err != nil {
			t.Fatal(err)
		}
		r, err := Replay(context.Background(), toldOptions(t, putsOnce, "GET /"), plan, 1)
		if err != nil || len(r.Cases) != 1 {
			t.Fatalf("%d cases, %v", len(r.Cases), err)
		}
		if one := r.Cases[0]; one.Outcome != result.Passed || !one.Refused || !strings.Contains(one.Text, "no isolate is running") {
			t.Errorf("%s: %s %v, refused %v: %s", plan, one.Outcome, one.Violations, one.Refused, one.Text)
		}
	}
}

const putsOnce = `async fetch() { await this.ctx.storage.put("k", 1); return new Response("ok"); }`

// A fault that a death cuts short while its isolate's successor is loaded has been done.
func TestFaultThatADeathCuts(t *testing.T) {
	for text, seed := range map[string]uint64{
		"crash(isolate)@response:before(Room/a)/fetch#2; kill@chunk:after(Room/a)/fetch#1": 2074,
		"reset(isolate)@file:after(Room/a)/start#1; kill@13":                               3191,
	} {
		plan, err := fault.ParsePlan(text)
		if err != nil {
			t.Fatal(err)
		}
		o := toldOptions(t, putsOnce, "GET /")
		o.Seed = seed
		r, err := Replay(context.Background(), o, plan, 1)
		if err != nil || len(r.Cases) != 1 {
			t.Fatalf("%d cases, %v", len(r.Cases), err)
		}
		if one := r.Cases[0]; one.Outcome != result.Passed || len(one.Missed) > 0 {
			t.Errorf("%s: %s %v, missed %v: %s", plan, one.Outcome, one.Violations, one.Missed, one.Text)
		}
	}
}
