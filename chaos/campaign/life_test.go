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
	"minido.dev/minido/chaos/result"
)

// counting is a project whose object counts requests, and a script that sends it two
// and finds fault with whatever comes of it, or with nothing.
type counting struct{ text string }

func (s counting) Driver() (drive.Driver, error) {
	step, err := drive.Parse(drive.Fetch, "POST /add")
	return drive.NewSteps([]drive.Step{step, step}, drive.StepOptions{}), err
}

func (s counting) Check(drive.Driver, check.Evidence) (found []check.Violation, marks []Mark, err error) {
	if s.text != "" {
		found = []check.Violation{{Checker: "scenario", Invariant: "always", Text: s.text}}
	}
	return found, nil, nil
}

func (s counting) Flag() []string { return nil }
func (s counting) Silent() bool   { return false }
func (counting) Digest() string   { return "" }

func countingOptions(t *testing.T, text string) Options {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"wrangler.json": `{"name": "count", "main": "w.js", "compatibility_date": "2026-01-01", "durable_objects": {"bindings": [{"name": "COUNT", "class_name": "Count"}]},
			"migrations": [{"tag": "v1", "new_sqlite_classes": ["Count"]}]}`,
		"w.js": `import { DurableObject } from "cloudflare:workers";
			export class Count extends DurableObject {
			  async add() { await this.ctx.storage.put("n", ((await this.ctx.storage.get("n")) ?? 0) + 1); }
			}
			export default { async fetch(request, env) { await env.COUNT.getByName("c").add(); return new Response("ok"); } };`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Options{Project: dir, Script: counting{text}, Mode: Sim, Seed: 1, Jobs: 1, Dir: filepath.Join(dir, "out")}
}

// A fault that did not happen hides nothing: the checkers judge what happened without
// it, a violation outranks it, and the case tells both.
func TestMissedFaultHidesNothing(t *testing.T) {
	for _, text := range []string{
		"kill@commit:after(Count/c)/rpc#99",
		"kill@commit:after(Count/c)/rpc#1; kill@commit:after(Count/c)/rpc#99; kill@after(1s)",
	} {
		plan, err := fault.ParsePlan(text)
		if err != nil {
			t.Fatal(err)
		}
		kills := len(plan) / 2 // that happen: of three faults the first
		for _, c := range []struct {
			violation string
			want      result.Outcome
			code      int
		}{{"it is wrong", result.Violated, chaos.Violated}, {"", result.Missed, chaos.Missed}} {
			r, err := Replay(context.Background(), countingOptions(t, c.violation), plan, 1)
			if err != nil || r.Code != c.code || len(r.Cases) != 1 {
				t.Fatalf("%s: code %d, want %d: %+v, %v", text, r.Code, c.code, r.Cases, err)
			}
			one := r.Cases[0]
			if one.Outcome != c.want || len(one.Missed) != len(plan)-kills || len(one.Kills) != kills || len(r.Missed) != 1 ||
				!strings.Contains(one.Text, "did not happen") || len(one.Checkers) == 0 {
				t.Errorf("%s: %+v", text, one)
			}
		}
	}
}

// Such a plan can be made smaller: what it misses is not needed.
func TestShrinkLeavesOutWhatIsMissed(t *testing.T) {
	plan, err := fault.ParsePlan("kill@commit:after(Count/c)/rpc#99; kill@commit:after(Count/c)/rpc#1")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Shrink(context.Background(), countingOptions(t, "it is wrong"), plan)
	if err != nil || len(r.Cases) != 1 || r.Cases[0].Outcome != result.Violated || strings.Contains(r.Cases[0].Name, ";") {
		t.Errorf("%+v, %v", r.Cases, err)
	}
}

// A drawn plan that a run never comes to is no success: it is counted apart, and ends
// the campaign with no code of its own.
func TestUnreachedIsNotPassed(t *testing.T) {
	r, err := with(context.Background(), "random", countingOptions(t, ""), func(c *campaign, ctx context.Context) error {
		_, err := c.visit(ctx, alone([]fault.Plan{{{Point: "commit:after(Count/c)/rpc#99"}}, {{Point: "commit:after(Count/c)/rpc#1"}}}))
		return err
	})
	if err != nil || r.Code != chaos.Pass || r.Unreached != 1 || r.Visited != 1 || len(r.Missed) != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if a, b := r.Cases[0], r.Cases[1]; a.Outcome != result.Unreached || b.Outcome != result.Passed || len(a.Missed) != 1 {
		t.Errorf("%+v\n%+v", a, b)
	}
}
