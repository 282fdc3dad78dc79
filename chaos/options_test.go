package chaos

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/chaos/agentrpc"
)

// What is missing or contradictory on the command line is said before anything
// is started, with code 2.
func TestUsage(t *testing.T) {
	good := Options{Project: ".", On: "a/b", Call: "m"}
	for want, change := range map[string]func(*Options){
		"which project":    func(o *Options) { o.Project = "" },
		"which agent":      func(o *Options) { o.On = "no-name" },
		"what should":      func(o *Options) { o.Chat = "hello" },
		"choose one":       func(o *Options) { o.KillAt, o.KillAfter = "1", time.Second },
		"not be negative":  func(o *Options) { o.Kills = -1 },
		"--recover is":     func(o *Options) { o.Recover = "prayer" },
		"not a JSON array": func(o *Options) { o.Args = `"tides"` },
		"unknown kind":     func(o *Options) { o.KillAt = "comit:after#1" },
	} {
		o := good
		change(&o)
		report, err := Run(context.Background(), o)
		if err == nil || !IsUsage(err) || report.Code != Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: code %d, %v", want, report.Code, err)
		}
	}
}

// writeProject makes a project that can be located, with the wrangler file text.
func writeProject(t *testing.T, dir, text string) (file string) {
	t.Helper()
	file = filepath.Join(dir, "wrangler.jsonc")
	for path, text := range map[string]string{file: text, filepath.Join(dir, "x.ts"): "export default {}"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

// A project that is not there, that binds nothing, or that has no such agent,
// is named, with what it has instead.
func TestLocate(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) { writeProject(t, dir, text) }
	fails := func(project, on, want string) {
		t.Helper()
		_, err := locate(Options{Project: project, On: on})
		if err == nil || !IsUsage(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	fails(filepath.Join(dir, "nowhere"), "a/b", "there is no project")
	write(`{"name": "w", "main": "x.ts", "compatibility_date": "2026-08-01", "durable_objects": {"bindings": 7}}`)
	fails(dir, "a/b", "wrangler.jsonc:1:")
	write(`{"name": "w", "main": "x.ts", "compatibility_date": "2026-08-01"}`)
	fails(dir, "a/b", "binds no Durable Object")
	write(`{"name": "w", "main": "x.ts", "compatibility_date": "2026-08-01", "durable_objects": {"bindings": [
		{"name": "CHAT", "class_name": "ChatAgent"}, {"name": "ResearchAgent", "class_name": "ResearchAgent"}]}}`)
	fails(dir, "nobody/r1", "it has chat, research-agent")
	for _, on := range []string{"research-agent/r/1", "ResearchAgent/r/1"} {
		got, err := locate(Options{Project: dir, On: on})
		if err != nil || got.agent != "research-agent" || got.name != "r/1" || got.key != "w-ResearchAgent" || got.object() != "ResearchAgent/r/1" {
			t.Errorf("%s: %+v, %v", on, got, err)
		}
		// The id of "r/1" in "w-ResearchAgent", as the reference derives it.
		if len(got.id) != 64 {
			t.Errorf("id %q", got.id)
		}
	}
	if got, err := locate(Options{Project: filepath.Join(dir, "wrangler.jsonc"), On: "ChatAgent/c"}); err != nil || got.agent != "chat" {
		t.Errorf("by file and class: %+v, %v", got, err)
	}
}

// The names of bindings in URLs are the SDK's.
func TestKebabCase(t *testing.T) {
	for in, want := range map[string]string{
		"ResearchAgent": "research-agent", "RESEARCH_AGENT": "research-agent", "Agent": "agent", "myHTTPAgent": "my-h-t-t-p-agent",
		"my_agent": "my-agent", "agent2": "agent2", "": "",
	} {
		if got := agentrpc.Kebab(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// The command that replays a run holds everything that the run depended on, in
// words that a shell reads back.
func TestReplayCommand(t *testing.T) {
	o := Options{Project: "fixtures/it's", Call: "startResearch", Args: `["tides"]`, On: "research-agent/r1", Kills: 1, Recover: ByAlarm,
		Env: "test", Vars: []string{"STEP_MS:300"}, Timeout: time.Minute, KillAfter: time.Second}
	want := `minido chaos 'fixtures/it'\''s' --call startResearch '["tides"]' --on research-agent/r1 ` +
		`--kill-at 'commit:after(ResearchAgent/r1)/timer#2' --recover alarm --env test --var STEP_MS:300 --timeout 1m0s`
	if got := replayCommand(o, "commit:after(ResearchAgent/r1)/timer#2"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := replayCommand(o, ""); !strings.Contains(got, "--kill-after 1s") {
		t.Errorf("without a point: %s", got)
	}
}

// A long snapshot keeps its beginning and its end.
func TestShorten(t *testing.T) {
	long := "begin " + strings.Repeat("é", 300) + " end"
	got := shorten(long)
	if n := len([]rune(got)); n > lineWidth || !strings.HasPrefix(got, "begin") || !strings.HasSuffix(got, " end") {
		t.Errorf("%d characters: %s", n, got)
	}
	if got := shorten(""); got != "no snapshot" {
		t.Errorf("empty: %s", got)
	}
}
