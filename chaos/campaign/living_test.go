package campaign

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/result"
)

// once is a script that sends one request.
type once struct{}

func (once) Driver() (drive.Driver, error) {
	step, err := drive.Parse(drive.Fetch, "POST /start")
	return drive.NewSteps([]drive.Step{step}, drive.StepOptions{}), err
}

func (once) Check(drive.Driver, check.Evidence) (found []check.Violation, marks []Mark, err error) {
	return
}
func (once) Flag() []string { return nil }
func (once) Silent() bool   { return false }
func (once) Digest() string { return "" }

// livingOptions are those of a project whose object does alarm, every ten seconds and
// for ever, once a request has come.
func livingOptions(t *testing.T, alarm string) Options {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"wrangler.json": `{"name": "living", "main": "w.js", "compatibility_date": "2026-01-01", "durable_objects": {"bindings": [{"name": "LIVING", "class_name": "Living"}]},
			"migrations": [{"tag": "v1", "new_sqlite_classes": ["Living"]}]}`,
		"w.js": `import { DurableObject } from "cloudflare:workers";
			export class Living extends DurableObject {
			  constructor(ctx, env) { super(ctx, env); ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS beats (n INTEGER, at INTEGER)"); }
			  async start() { await this.alarm(); }
			  async alarm() {` + alarm + `
			    await this.ctx.storage.setAlarm(Date.now() + 10_000);
			  }
			}
			export default { async fetch(request, env) { await env.LIVING.getByName("l").start(); return new Response("ok"); } };`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Options{Project: dir, Script: once{}, Mode: Sim, Seed: 1, Jobs: 1, Dir: filepath.Join(dir, "out")}
}

// A system that never comes to rest is looked at a minute after its clients are done,
// and what depends on how long it has lived is not compared.
func TestLivingSystems(t *testing.T) {
	o := livingOptions(t, `this.ctx.storage.sql.exec("INSERT INTO beats VALUES (1, ?)", Date.now());`)
	var told []string
	o.Progress = func(e result.Event) { told = append(told, e.Text) }
	r, err := Enumerate(context.Background(), o, 1)
	if err != nil || r.Code != chaos.Pass || r.Visited < 30 || r.Visited != r.Points {
		t.Fatalf("code %d, visited %d of %d, %v", r.Code, r.Visited, r.Points, err)
	}
	if !slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, "never comes to rest") }) {
		t.Errorf("the campaign does not say that it bounds lives: %q", told)
	}
	beats := 0 // the alarms that a life without a death has delivered
	for _, c := range r.Cases {
		if strings.Contains(c.Name, "kill@alarm:before") {
			beats++
		}
		if !strings.Contains(c.Replay, "--horizon 1m0s") {
			t.Fatalf("the replay does not name the horizon: %s", c.Replay)
		}
	}
	if beats != 6 {
		t.Errorf("%d alarms in a minute", beats)
	}
}

// A shorter horizon is a shorter life; one that is in the middle of its work at the
// horizon is no rest.
func TestHorizon(t *testing.T) {
	o := livingOptions(t, "")
	o.Horizon = 25 * time.Second
	r, err := Enumerate(context.Background(), o, 1)
	if err != nil || r.Code != chaos.Pass {
		t.Fatalf("code %d, %v", r.Code, err)
	}
	n := 0
	for _, c := range r.Cases {
		if strings.Contains(c.Name, "kill@alarm:before") {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d alarms in 25 s", n)
	}
	busy := livingOptions(t, `if (Date.now() > Date.UTC(2026, 0, 1, 0, 0, 5)) for (;;) await scheduler.wait(1000);`)
	busy.Timeout = 20 * time.Second
	if _, err := Enumerate(context.Background(), busy, 1); err == nil || !strings.Contains(err.Error(), "restless") {
		t.Errorf("an alarm that does not end: %v", err)
	}
}
