package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/result"
)

// What production does to objects happens at every point, the process living on:
// it is done or refused, none is missed, and a worker without a bug survives. One
// whose state is in a module variable does not survive the loss of its isolate,
// and does survive that of its object.
func TestObjectFaults(t *testing.T) {
	t.Parallel()
	steps := append(append([]string{}, adds...), job...)
	for _, c := range []struct {
		fault, bug, want string
		refused          bool
	}{
		{"crash", "none", "", true},
		{"crash(isolate)", "none", "", false},
		{"evict", "none", "", true},
		{"evict(isolate)", "none", "", true},
		{"fail(sync)", "none", "", false},
		{"hibernate", "none", "", true},
		{"reset", "none", "", true},
		{"abort", "none", "", true},
		{"crash(isolate)", "module-state", "linearizable/counter", false},
	} {
		t.Run(c.fault+"/"+c.bug, func(t *testing.T) {
			code, r := enumerate(t, minido, nil, append([]string{"--fault", c.fault, "--var", "BUG:" + c.bug, "--max", "20"}, steps...)...)
			if len(r.Missed) > 0 || r.Kills > 0 || r.Visited == 0 || r.Visited+r.Refused != len(r.Cases) || !c.refused && r.Refused > 0 {
				t.Errorf("%d cases, %d visited, %d refused, %d kills, missed %v", len(r.Cases), r.Visited, r.Refused, r.Kills, r.Missed)
			}
			if c.want != "" {
				one := expect(t, code, r, c.want)
				one.Replay += " --runs 10" // the fault begins at its point, and the worker goes on meanwhile
				if replayOf(t, minido, nil, one) == chaos.Pass {
					t.Errorf("the replay passed: %s", one.Replay)
				}
			} else if code != chaos.Pass {
				t.Errorf("code %d", code)
			}
		})
	}
}

// A fault of an object begins at its point, not some time behind it: what a run of its
// plan comes to, twenty runs come to. The object keeps its count in memory, which is a
// bug: whether a fault falls before or behind the request in progress shows in what it
// writes.
func TestObjectFaultsReplay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"wrangler.json": `{"name": "memo", "main": "w.js", "compatibility_date": "2026-01-01", "durable_objects": {"bindings": [{"name": "MEMO", "class_name": "Memo"}]},
			"migrations": [{"tag": "v1", "new_sqlite_classes": ["Memo"]}]}`,
		"w.js": `import { DurableObject } from "cloudflare:workers";
			export class Memo extends DurableObject {
			  count = 0;
			  constructor(ctx, env) { super(ctx, env); ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS log (count INTEGER)"); }
			  async fetch() {
			    this.ctx.storage.sql.exec("INSERT INTO log VALUES (?)", ++this.count);
			    return Response.json(this.count);
			  }
			}
			export default { fetch: (request, env) => env.MEMO.getByName("m").fetch(request) };`,
		"memo.chaos.ts": `import { scenario } from "minido:chaos";
			export default scenario("memory is kept", {
			  async drive({ fetch, attempt }) { for (let n = 0; n < 3; n++) await attempt(() => fetch("POST", "/add")); },
			  check({ db, expect }) {
			    const counts = db("Memo", "m").all("SELECT count FROM log ORDER BY rowid").map((r) => r.count);
			    expect(counts).toEqual(counts.map((_, i) => i + 1));
			  },
			});`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, plan := range []string{
		"hibernate@wake:after(Memo/m)/start#1", "hibernate@commit:after(Memo/m)/start#1", "crash@file:after(Memo/m)/start#1",
		"crash@close:before(Memo/m)/fetch#3", "evict@commit:before(Memo/m)/fetch#2", "reset(isolate)@rpc:before()/fetch#1",
		"evict(isolate)@rpc:before()/fetch#1", "evict(isolate)@commit:after(Memo/m)/fetch#1", "fail(sync)@commit:after(Memo/m)/start#1", "fail(sync)@commit:after(Memo/m)/fetch#2",
	} {
		t.Run(plan, func(t *testing.T) {
			r, out := campaignOf(t, "replay", dir, "--plan", plan, "--runs", "20")
			ends := map[string]int{}
			for _, c := range r.Cases {
				ends[string(c.Outcome)+" "+fmt.Sprint(c.Refused)]++
			}
			if len(r.Cases) != 20 || len(ends) != 1 || len(r.Missed) > 0 {
				t.Errorf("%d runs ended as %v, missed %d\n%s", len(r.Cases), ends, len(r.Missed), out)
			}
		})
	}
}

// What an object leaves that has ended within its work, or could not write, is compared with runs
// without a fault; so is what clients did before. Where a socket or an alarm makes that
// unknowable, nothing is said.
func TestObjectFaultsAreCompared(t *testing.T) {
	t.Parallel()
	enumerated := func(name, source, kind string) (found bool, r result.Report, out []byte) {
		files := pair(t, name)
		dir := project(t, map[string]string{"worker.ts": files[source], "wrangler.json": pairConfig(files[source]), "drive.chaos.ts": files["drive.chaos.ts"]})
		r, out = campaignBy(t, exec.Command(minido, "chaos", "enumerate", dir, "--mode", "sim", "--fault", kind))
		for _, f := range r.Findings() {
			found = found || strings.Contains(f.Cause, "Room accounts")
		}
		return found, r, out
	}
	for _, kind := range []string{"crash", "reset", "fail(io)"} {
		if found, _, out := enumerated("transfer-in-two-turns", "buggy.ts", kind); !found {
			t.Errorf("%s: the half transfer is not found\n%s", kind, out)
		}
		if _, r, out := enumerated("transfer-in-two-turns", "correct.ts", kind); r.Code != 0 {
			t.Errorf("%s: a correct worker is accused\n%s", kind, out)
		}
	}
	if _, r, out := enumerated("nick-in-map", "correct.ts", "crash"); r.Code != 0 || len(r.Uncompared()) == 0 {
		t.Errorf("sockets: code %d, not compared: %v\n%s", r.Code, r.Uncompared(), out)
	}
}
