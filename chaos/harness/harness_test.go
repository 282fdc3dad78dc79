package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	chaoscli "minido.dev/minido/chaos/cli"
	"minido.dev/minido/chaos/report"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/control"
)

// asCommand has this test binary be "minido chaos": campaigns are children of it.
const asCommand = "MINIDO_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(command(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// command runs "minido chaos" and gives its exit code.
func command(args []string) int {
	var c struct {
		Chaos chaoscli.Chaos `cmd:""`
	}
	parser, err := kong.New(&c)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, err := parser.Parse(args)
	if err == nil {
		err = ctx.Run()
	}
	if ended := (*chaoscli.ExitError)(nil); errors.As(err, &ended) {
		if ended.Text != "" {
			fmt.Fprintln(os.Stderr, ended.Text)
		}
		return ended.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return 0
}

// campaignsOn are campaigns on a project whose worker forgets what it has answered.
func campaignsOn(t *testing.T, scenario string) *Harness {
	t.Helper()
	t.Setenv(asCommand, "1")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"worker.js": `import { DurableObject } from "cloudflare:workers";
export class Room extends DurableObject {
  async fetch() {
    this.n ??= (await this.ctx.storage.get("n")) ?? 0;
    this.n++;
    if (this.n % 3 === 0) await this.ctx.storage.put("n", this.n);
    return new Response(String(this.n));
  }
}
export default { async fetch(request, env) { return env.ROOM.getByName("a").fetch(request); } };`,
		"wrangler.json": `{"name": "forgetful", "main": "worker.js", "compatibility_date": "2026-08-01",
"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Room"]}]}`,
		"count.chaos.ts": scenario,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	threads := sched.NewThreads(clock.Real{})
	h := New(Options{Command: []string{os.Args[0]}, Dir: dir, Config: filepath.Join(dir, "wrangler.json"), Scheduler: threads})
	t.Cleanup(func() {
		if err := errors.Join(h.Close(context.Background()), threads.Close(context.Background())); err != nil {
			t.Error(err)
		}
	})
	return h
}

const counting = `import { scenario } from "minido:chaos";
export default scenario("count", { async drive({ fetch, attempt }) { for (let i = 0; i < 4; i++) await attempt(() => fetch("POST", "/count")); } });`

// until waits for a state of the last campaign.
func until(t *testing.T, h *Harness, what string, holds func(control.Campaign) bool) control.Campaign {
	t.Helper()
	var last control.Campaign
	err := wait.Until(context.Background(), clock.Real{}, time.Minute, what, func() (bool, error) {
		state, err := h.Chaos(0)
		if err != nil || state.Campaign == nil {
			return false, err
		}
		last = *state.Campaign
		return holds(last), nil
	})
	if err != nil {
		t.Fatalf("%v; it is %+v", err, last)
	}
	return last
}

func isOver(c control.Campaign) bool { return c.EndedMs != 0 }

// A campaign runs as a child, on state of its own, one at a time; its findings have
// their timelines, and a plan of theirs is replayed.
func TestCampaign(t *testing.T) {
	h := campaignsOn(t, counting)
	if err := h.Start(control.CampaignRequest{Verb: "enumerate", Scenario: "count.chaos.ts", Mode: "sim"}); err != nil {
		t.Fatal(err)
	}
	var refused *pool.RefusedError
	if err := h.Start(control.CampaignRequest{Verb: "enumerate", Mode: "sim"}); !errors.As(err, &refused) {
		t.Errorf("two at a time: %v", err)
	}
	c := until(t, h, "the end", isOver)
	if c.State != "failed" || c.Code != 1 || c.Failed == 0 || len(c.Cases) != c.Failed || c.Done != c.Planned || c.Kills == 0 ||
		c.Command != "minido chaos enumerate . --scenario=count.chaos.ts --mode=sim" || !strings.HasPrefix(c.Dir, h.Dir) {
		t.Fatalf("%+v", c)
	}
	if rest, err := h.Chaos(len(c.Cases) - 1); err != nil || len(rest.Campaign.Cases) != 1 || rest.Campaign.Cases[0].Number != len(c.Cases) {
		t.Errorf("after the last but one: %+v, %v", rest, err)
	}
	d, err := h.Case(1)
	if err != nil {
		t.Fatal(err)
	}
	deaths := 0
	for _, m := range d.Timeline {
		if m.Border && strings.HasPrefix(m.Text, "SIGKILL at ") {
			deaths++
		}
	}
	if deaths == 0 || len(d.Violations) == 0 || !strings.HasPrefix(d.Replay, "minido chaos replay . ") || !strings.Contains(d.Case.Cause, "differential") {
		t.Errorf("%d deaths in %+v", deaths, d)
	}
	if _, err := h.Case(len(c.Cases) + 1); err == nil {
		t.Error("a case that is not there")
	}
	walkThrough(t, h)
	if err := h.Start(control.CampaignRequest{Verb: "replay", Scenario: "count.chaos.ts", Mode: "sim", Plan: d.Case.Plan}); err != nil {
		t.Fatal(err)
	}
	if c = until(t, h, "the end of the replay", isOver); c.Number != 2 || c.State != "failed" || len(c.Cases) != 1 {
		t.Errorf("%+v", c)
	}
	if _, err := os.Stat(filepath.Join(h.Dir, ".wrangler", "state", "v3")); err == nil {
		t.Error("the campaign has used the state of the project")
	}
}

// walkThrough walks through the first case.
func walkThrough(t *testing.T, h *Harness) {
	t.Helper()
	walk, err := h.Walk(context.Background(), control.WalkRequest{Case: 1, SQL: "Room/a\nSELECT count(*) AS tables FROM sqlite_schema"})
	if err != nil {
		t.Fatal(err)
	}
	if len(walk.Moments) < 5 || walk.Truncated {
		t.Fatalf("%d moments", len(walk.Moments))
	}
	var all string
	for _, m := range walk.Moments {
		if len(m.Events) == 0 || len(m.Objects) == 0 || len(m.Rows) == 0 {
			t.Errorf("%+v", m)
		}
		all += strings.Join(slices.Concat(m.Events, m.Objects, m.Waiting, m.Rows), "\n") + "\n"
	}
	for _, want := range []string{"0s  killed at ", "Room/a  idle", "outside: drive", "tables=", "point response:after(Room/a)/fetch#1"} {
		if !strings.Contains(all, want) {
			t.Errorf("the walk lacks %q:\n%s", want, all)
		}
	}
	if strings.Contains(all, "next effect point") {
		t.Error("the help of the terminal is among the events")
	}
	if _, err := h.Walk(context.Background(), control.WalkRequest{Case: 1000}); err == nil {
		t.Error("a walk through a case that is not there")
	}
}

// A campaign that is stopped ends early and leaves its report; one that cannot be run
// says why; the end of the server is the end of the child.
func TestCampaignEnds(t *testing.T) {
	h := campaignsOn(t, counting)
	if err := h.Start(control.CampaignRequest{Verb: "enumerate", Mode: "sim", Fault: "thunder"}); err != nil {
		t.Fatal(err)
	}
	if c := until(t, h, "the end", isOver); c.State != "broken" || c.Code != 2 || !strings.Contains(c.Error, `fault "thunder"`) {
		t.Errorf("%+v", c)
	}
	endless := control.CampaignRequest{Verb: "random", Mode: "sim", Runs: 20_000}
	if err := h.Start(endless); err != nil {
		t.Fatal(err)
	}
	until(t, h, "the first run", func(c control.Campaign) bool { return c.Done > 0 })
	h.Stop()
	h.Stop()
	c := until(t, h, "the end", isOver)
	if c.State != "stopped" || c.Done == 0 || c.Done == c.Planned {
		t.Errorf("%+v", c)
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "report.json")); c.Dir == "" || err != nil {
		t.Errorf("its report: %v", err)
	}
	if err := h.Start(endless); err != nil {
		t.Fatal(err)
	}
	child := h.last.child
	if err := h.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, ok := child.Exit(); !ok {
		t.Error("the child outlives the server")
	}
	if err := h.Start(endless); err == nil {
		t.Error("a campaign starts while the server stops")
	}
}

// What a child writes is taken in any pieces, and no more of it is kept than is meant to be.
func TestCampaignOutput(t *testing.T) {
	a := &attended{harness: &Harness{}}
	failed := report.Line{Done: 3, Planned: 9, Kills: 2, Cause: "a cause", Case: &result.Case{Name: "kill@1", Outcome: result.Violated, Text: strings.Repeat("é", 2*maxCampaignText)}}
	line, err := json.Marshal(failed)
	if err != nil {
		t.Fatal(err)
	}
	write := func(b []byte) {
		if n, err := a.Write(b); n != len(b) || err != nil {
			t.Fatalf("%d of %d written, %v", n, len(b), err)
		}
	}
	for _, b := range append(line, '\n') {
		write([]byte{b})
	}
	write([]byte(`{"done": 4, "planned": 9, "case": {"outcome": "passed"}}` + "\nnonsense\n"))
	if s := a.state; len(a.cases) != 1 || s.Failed != 1 || s.Done != 4 || s.Planned != 9 || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "nonsense") ||
		a.cases[0].Case.Cause != "a cause" || len([]rune(a.cases[0].Text)) != maxCampaignText+1 {
		t.Errorf("%+v, %d cases", s, len(a.cases))
	}
	long := []byte(strings.Repeat("x", 64<<10))
	for range maxCampaignLine/len(long) + 2 {
		write(long)
	}
	if len(a.rest) > maxCampaignLine {
		t.Errorf("%d bytes of a line are kept", len(a.rest))
	}
	write([]byte("\n" + strings.Repeat(string(line)+"\n", maxCampaignCases+5)))
	if len(a.cases) != maxCampaignCases || a.state.Unlisted != 6 || a.state.Failed != maxCampaignCases+6 {
		t.Errorf("%d cases, %d unlisted, %d failed", len(a.cases), a.state.Unlisted, a.state.Failed)
	}
	for i := range 2 * maxCampaignList {
		a.note(fmt.Sprint(i))
	}
	if len(a.state.Notes) != maxCampaignList {
		t.Errorf("%d notes", len(a.state.Notes))
	}
}

// A request becomes flags; a value is one word with its flag, and what does not go with

// the verb is refused.
func TestCampaignFlags(t *testing.T) {
	scenarios := []string{"a.chaos.ts"}
	for _, c := range []struct {
		ask  control.CampaignRequest
		want string // the flags, or of the error
	}{
		{control.CampaignRequest{Verb: "enumerate", Scenario: "a.chaos.ts", Mode: "sim", Fault: "evict", Depth: 2, Max: 5, Seed: 7}, "--scenario=a.chaos.ts --mode=sim --seed=7 --fault=evict --depth=2 --max=5"},
		{control.CampaignRequest{Verb: "replay", Plan: "--dir=/", Runs: 2, Fetch: []string{"GET /", "--keep"}}, "--fetch=GET / --fetch=--keep --runs=2 --plan=--dir=/"},
		{control.CampaignRequest{Verb: "run", KillAt: "commit:after"}, "--kill-at=commit:after"},
		{control.CampaignRequest{Verb: "run", Plan: "x"}, "plan does not go with run"},
		{control.CampaignRequest{Verb: "merge"}, `verb is "merge"`},
		{control.CampaignRequest{Verb: "run", Scenario: "../b.chaos.ts"}, "no scenario"},
		{control.CampaignRequest{Verb: "random", Jobs: -1, Runs: 3}, "jobs"},
	} {
		flags, err := campaignFlags(c.ask, scenarios)
		var input *control.InputError
		if err != nil && (!errors.As(err, &input) || !strings.Contains(err.Error(), c.want)) || err == nil && strings.Join(flags, " ") != c.want {
			t.Errorf("%+v: %q, %v", c.ask, flags, err)
		}
	}
	if h := New(Options{Unavailable: "no"}); h.Start(control.CampaignRequest{Verb: "run"}) == nil {
		t.Error("a campaign starts where none can")
	}
	if !slices.Equal([]string{New(Options{Dir: "/p", Config: "/p/wrangler.toml"}).project(), New(Options{Dir: "/p", Config: "/p/other.json"}).project()}, []string{".", "other.json"}) {
		t.Error("the project is named otherwise than a person would")
	}
}
