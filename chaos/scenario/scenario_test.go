package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/internal/clock"
)

func load(t *testing.T, text string) (*Scenario, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.chaos.ts")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(file, filepath.Dir(file), clock.Real{})
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
	found, marks, err := s.Check(check.Evidence{Events: []history.Event{
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
