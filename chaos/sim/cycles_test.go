package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/server"
	"minido.dev/minido/runtime/world"
)

// freshWorker is the agent of fixtures/fibers; each instance of it also writes
// down how often its module was used before.
const freshWorker = `
import worker, { ResearchAgent as Research } from %q;
let uses = 0;
export class ResearchAgent extends Research {
  constructor(ctx, env) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS module_uses (n INTEGER)");
    ctx.storage.sql.exec("INSERT INTO module_uses VALUES (?)", ++uses);
  }
}
export default worker;`

// cyclesProject makes the project in dir, which is not within the fixture's.
func cyclesProject(t testing.TB, dir string) {
	fixture, err := filepath.Abs("../../fixtures/fibers")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(fixture, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Skip(err) // a Windows that permits no links
	}
	for name, text := range map[string]string{
		"worker.js": fmt.Sprintf(freshWorker, filepath.ToSlash(filepath.Join(fixture, "src", "worker.ts"))),
		"wrangler.json": `{"name": "cycles", "main": "worker.js", "compatibility_date": "2026-08-01", "compatibility_flags": ["nodejs_compat"],
			"durable_objects": {"bindings": [{"name": "ResearchAgent", "class_name": "ResearchAgent"}]},
			"migrations": [{"tag": "1", "new_sqlite_classes": ["ResearchAgent"]}]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// cycles is one fiber of the agents SDK that is killed again and again.
type cycles struct {
	system *System
	dir    string
	count  int
}

func newCycles(t testing.TB, project, dir string, bundles *server.Bundles) *cycles {
	s, err := New(Options{Dir: dir, Forget: true, Timeout: time.Minute, World: world.Options{Seed: 1, CacheDir: filepath.Join(project, "cache"), Bundles: bundles,
		Config: config.Options{Dir: project, Vars: []string{"STEP_MS:3600000", "KEEP_ALIVE_MS:300"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Live(Life{}); err != nil {
		t.Fatal(err)
	}
	call := drive.Step{Kind: drive.Call, Class: "ResearchAgent", Name: "r1", Method: "startResearch", Args: json.RawMessage(`["tides"]`)}
	driving := s.Drive(context.Background(), drive.NewSteps([]drive.Step{call}, drive.StepOptions{Strict: true}))
	if err := s.World.Until(func() bool { done, _ := driving.Done(); return done }); err != nil || driving.err != nil {
		t.Fatal(errors.Join(err, driving.err))
	}
	return &cycles{system: s, dir: dir}
}

// run kills, begins the next life, and lets it recover by its own alarm.
func (c *cycles) run() error {
	c.system.World.Kill()
	if err := c.system.Bury(); err != nil {
		return err
	}
	if err := c.system.Live(Life{}); err != nil {
		return err
	}
	c.count++
	return c.system.World.Advance(time.Second)
}

// end checks that each cycle was one: the hook was told once for each death, and
// each life found its module as the bundle makes it.
func (c *cycles) end(t testing.TB) {
	c.system.World.Kill()
	if err := c.system.Bury(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(c.system.State(), "v3", "do", "*-ResearchAgent", "*.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, file := range files {
		if filepath.Base(file) == "metadata.sqlite" {
			continue
		}
		db, err := evidence.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := db.Query(`SELECT (SELECT count(*) FROM research_interruptions) AS hooks,
			(SELECT count(*) FROM module_uses) AS lives, (SELECT count(*) FROM module_uses WHERE n != 1) AS used`)
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		rows++
		if text, want := fmt.Sprint(got), fmt.Sprint([]evidence.Row{{"hooks": int64(c.count), "lives": int64(c.count + 1), "used": int64(0)}}); text != want {
			t.Errorf("%s, want %s", text, want)
		}
	}
	if rows != 1 {
		t.Errorf("%d agents in %v", rows, files)
	}
	if err := c.system.End(); err != nil {
		t.Error(err)
	}
}

// A life after a crash is a new one: module state is the bundle's, and the fiber
// comes back through its hook, each time.
func TestCyclesAreFresh(t *testing.T) {
	project := t.TempDir()
	cyclesProject(t, project)
	c := newCycles(t, project, t.TempDir(), &server.Bundles{})
	for range 3 {
		if err := c.run(); err != nil {
			t.Fatal(err)
		}
	}
	c.end(t)
}

// BenchmarkCycles is crash-and-recover cycles of a fiber of the agents SDK, one
// world for each processor, with files in memory where Linux offers it.
func BenchmarkCycles(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(Garbage))
	project, bundles := b.TempDir(), &server.Bundles{}
	cyclesProject(b, project)
	b.RunParallel(func(pb *testing.PB) {
		dir, err := os.MkdirTemp("/dev/shm", "minido-cycles-")
		if err != nil {
			dir = b.TempDir()
		}
		defer os.RemoveAll(dir)
		c := newCycles(b, project, dir, bundles)
		for pb.Next() {
			if err := c.run(); err != nil {
				b.Error(err)
				return
			}
		}
		c.end(b)
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Minutes(), "cycles/min")
}

// Every fourth seed has a slow machine, on which everyone is more patient; 0, which
// tests have that name none, has not.
func TestSlack(t *testing.T) {
	for seed, want := range map[uint64]time.Duration{0: 0, 1: 0, 3: 0, 4: 8, 5: 0, 8: 16, 24: 256, 28: 8} {
		if got := Slack(seed); got != want*time.Millisecond {
			t.Errorf("seed %d has %v", seed, got)
		}
	}
	for seed, want := range map[uint64]time.Duration{1: 20, 4: 40, 8: 60, 24: 660} {
		s, err := New(Options{Dir: t.TempDir(), Timeout: 20 * time.Second, World: world.Options{Seed: seed}})
		if err != nil || s.Timeout() != want*time.Second {
			t.Errorf("with seed %d everyone waits %v, %v", seed, s.Timeout(), err)
		}
		if err := s.End(); err != nil {
			t.Error(err)
		}
	}
}
