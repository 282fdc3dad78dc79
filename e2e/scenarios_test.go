package e2e

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/campaign"
)

// The scenarios beside the fixtures of agents run, with the scripted model where
// they want one: no kill is missed in the harness's own doing, nothing is broken,
// and what a generation of the packages gets wrong is found by its name.
func TestScenariosOfFixtures(t *testing.T) {
	for _, c := range []struct {
		fixture string
		finds   string // a known mistake of the packages
		needs   string // other packages
	}{
		{"fibers", "", ""},
		{"fibers-0.11", "", ""},
		{"fibers-0.21", "", ""},
		{"chat", "", ""},
		{"chat-0.10", "", "chat"},
		{"chat-0.4", "chat/one-answer", ""},
		{"forever-0.5", "", ""},
	} {
		t.Run(c.fixture, func(t *testing.T) {
			project := fixture(t, c.fixture)
			for _, name := range append([]string{c.fixture}, strings.Fields(c.needs)...) {
				if _, err := os.Stat(filepath.Join(fixture(t, name), "node_modules")); err != nil {
					t.Fatalf("make npm: %v", err)
				}
			}
			dir := t.TempDir()
			out, err := exec.Command(minido, "chaos", "enumerate", project, "--max", "8", "--dir", dir).CombinedOutput()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(dir, "report.json"))
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var r campaign.Report
			if err := json.Unmarshal(data, &r); err != nil {
				t.Fatal(err)
			}
			if len(r.Cases) != 8 || r.Code == chaos.Broken || r.Code == chaos.Usage {
				t.Fatalf("%d cases, code %d\n%s", len(r.Cases), r.Code, out)
			}
			found := false
			for _, one := range r.Failed() {
				for _, v := range one.Violations {
					found = found || v.Key() == c.finds
					if v.Key() != c.finds {
						t.Errorf("%s: %s", one.Replay, v)
					}
				}
				if one.Outcome == campaign.Restless || one.Outcome == campaign.Broken {
					t.Errorf("%s is %s: %s", one.Replay, one.Outcome, one.Text)
				}
			}
			if c.finds != "" && !found {
				t.Errorf("%s was not found\n%s", c.finds, out)
			}
		})
	}
}
