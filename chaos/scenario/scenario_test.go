package scenario

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
)

func load(t *testing.T, text string) (*Scenario, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.chaos.ts")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(file, filepath.Dir(file), "", clock.Real{})
}

// driven loads a scenario and has it drive a session that has no server.
func driven(t *testing.T, text string, timeout time.Duration) (*Scenario, drive.Driver) {
	t.Helper()
	s, err := load(t, text)
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.Driver()
	if err != nil {
		t.Fatal(err)
	}
	scheduler := sched.NewThreads(clock.Real{})
	t.Cleanup(func() {
		if err := scheduler.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := d.Run(t.Context(), drive.NewSession(history.NewRecorder(clock.Real{}, nil), scheduler, timeout)); err != nil || !d.Finished() {
		t.Fatalf("finished %t: %v", d.Finished(), err)
	}
	return s, d
}

// What a scenario says about itself is read; its check sees the history, notes
// what does not hold and goes on, and tells which marks were met.
func TestScenarioChecks(t *testing.T) {
	s, err := load(t, `
import { scenario, sometimes } from "minido:chaos";
interface Local { n: number }
export default scenario("it holds", {
  vars: { STEP_MS: 60 }, recover: "request", timeout: "2s", effects: "SINK", models: ["counter(add,get)"],
  async drive() {},
  async check({ history, expect, deaths }) {
    const local: Local = { n: history.calls("add").length };
    expect(local, "calls").toEqual({ n: 1 });
    expect(deaths).toBe(0);
    await Promise.resolve();
    expect(local.n).not.toBe(1);
    sometimes("killed in an alarm", history.killsAt("/alarm").length > 0);
    sometimes("killed in a timer", history.killsAt("/timer").length > 0);
  },
});`)
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "it holds" || s.Recover != chaos.ByRequest || s.Timeout != 2*time.Second || s.Effects != "SINK" || len(s.Models) != 1 || s.Vars[0] != "STEP_MS:60" {
		t.Errorf("%+v", s)
	}
	found, marks, err := s.Check(nil, check.Evidence{Events: []history.Event{
		{Kind: history.Call, Text: "add", Data: []byte("[1]")}, {Kind: history.Kill, Text: "commit:after(A/a)/alarm#1"}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].Key() != "scenario/it holds" || !strings.Contains(found[0].Text, "expected 1 not to be 1") {
		t.Errorf("%v", found)
	}
	if len(marks) != 2 || !marks[0].Met || marks[1].Met {
		t.Errorf("%v", marks)
	}
}

// What drive() does is there when check() asks: what it has returned, variables of the
// module, and its claims; a check that is asked again finds the same.
func TestCheckFindsWhatDriveLeft(t *testing.T) {
	s, d := driven(t, `
import { scenario, sometimes, always } from "minido:chaos";
const seen: number[] = [];
export default scenario("it holds", {
  async drive() { seen.push(1); always("drive is fine", false); sometimes("driven", true); return { answer: 42 }; },
  check({ expect, result }) { expect(seen).toEqual([1, 2]); expect(result.answer).toBe(43); always("check is fine", true); },
});`, time.Second)
	for range 2 {
		found, marks, err := s.Check(d, check.Evidence{})
		if err != nil || len(found) != 3 || len(marks) != 1 || !marks[0].Met {
			t.Fatalf("%v, %v, %v", found, marks, err)
		}
		for i, want := range []string{`always "drive is fine"`, "expected [1] to equal [1,2]", "expected 42 to be 43"} {
			if !strings.Contains(found[i].Text, want) {
				t.Errorf("want %q, got %q", want, found[i].Text)
			}
		}
	}
}

// Mistakes are usage errors that name the file and the place.
func TestLoadRefuses(t *testing.T) {
	for want, text := range map[string]string{
		"a.chaos.ts:2":                  "\nexport default scenario(",
		"is no scenario":                `export default 1`,
		"exports nothing":               `const a = 1`,
		"a function drive":              `import { scenario } from "minido:chaos"; export default scenario("x", {})`,
		"is no duration":                `import { scenario } from "minido:chaos"; export default scenario("x", { timeout: "soon", drive() {} })`,
		"boom":                          `throw new Error("boom")`,
		"counter(increment,":            `import { scenario } from "minido:chaos"; export default scenario("x", { models: ["x"], drive() {} })`,
		"Could not resolve \"nowhere\"": `import "nowhere"`,
	} {
		_, err := load(t, text)
		if err == nil || !chaos.IsUsage(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// A check that throws is a violation of its case, with the user's stack and the lines
// of source; so is one that never ends.
func TestCheckThatThrows(t *testing.T) {
	for body, want := range map[string][]string{
		"const rows: { n: number }[] = [];\n    rows[0].n;":             {"check threw TypeError: Cannot read property 'n' of undefined", "a.chaos.ts:6:", "> 6 |     rows[0].n;"},
		"await Promise.resolve();\n    throw new Error('two\\nlines');": {"check threw Error: two\nlines", "> 6 |     throw new Error"},
		"throw 7":                     {"check threw 7"},
		"await new Promise(() => {})": {"check waits for something that never comes"},
	} {
		s, err := load(t, "import { scenario } from \"minido:chaos\";\nexport default scenario(\"it holds\", {\n  async drive() {},\n  async check({ db }) {\n    "+body+"\n  },\n});\n")
		if err != nil {
			t.Fatal(err)
		}
		found, _, err := s.Check(nil, check.Evidence{})
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %v, %v", body, found, err)
		}
		for _, w := range want {
			if !strings.Contains(found[0].Text, w) || strings.Contains(found[0].Text, "minido:chaos") {
				t.Errorf("%s: want %q in\n%s", body, w, found[0].Text)
			}
		}
	}
}

// db() of an object or a class that is not there says so, with what is there, and
// names no file: two runs of one seed lie in two directories.
func TestDatabaseThatIsMissing(t *testing.T) {
	const key = "shop-Cart"
	ids := objectid.NewNamespace(key)
	facts := check.Evidence{Events: []history.Event{{Kind: history.Point, Text: "commit:after(Cart/c1)/rpc#1"}}}
	for _, id := range []string{ids.FromName("c1").String(), ids.FromName("silent").String()} {
		facts.Rest.Objects = append(facts.Rest.Objects, check.Object{Namespace: key, ID: id})
	}
	facts.Rest.Dir = t.TempDir()
	for call, want := range map[string]string{
		`if (db("Cart", "c2").exists() || !objects("CART").some((o) => o.name === "c1" && o.id.length === 64)) throw 1; db("Cart", "c2")`: `check threw Error: db("Cart", "c2"): there is no such object at rest; of class Cart there are "c1", the id ` + ids.FromName("silent").String(),
		`db("Card", "c1")`: `check threw Error: db("Card", "c1"): the project binds no class or binding of that name; it binds Cart`,
	} {
		s, err := load(t, "import { scenario } from \"minido:chaos\";\nexport default scenario(\"it holds\", {\n  async drive() {},\n  check({ db, objects }) { "+call+".all(\"SELECT 1\"); },\n});\n")
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"a.js":          "export class Cart {}",
			"wrangler.json": `{"name": "shop", "main": "a.js", "compatibility_date": "2026-01-01", "durable_objects": {"bindings": [{"name": "CART", "class_name": "Cart"}]}}`,
		} {
			if err := os.WriteFile(filepath.Join(filepath.Dir(s.File), name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		found, _, err := s.Check(nil, facts)
		if err != nil || len(found) != 1 || !strings.HasPrefix(found[0].Text, want+"\n") || strings.Contains(found[0].Text, facts.Rest.Dir) {
			t.Errorf("%v, %v\nwant %s", found, err, want)
		}
	}
}
