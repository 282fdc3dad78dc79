package world

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/server"
)

// chanceWorker answers with everything that could come from the machine instead
// of from the world.
const chanceWorker = `
import { DurableObject } from "cloudflare:workers";
import { randomBytes } from "node:crypto";
const loaded = [];
export class Box extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS t (id TEXT DEFAULT (lower(hex(randomblob(8)))), n INTEGER DEFAULT (random()), at TEXT DEFAULT CURRENT_TIMESTAMP, s INTEGER DEFAULT (unixepoch('subsec') * 1000), j REAL DEFAULT (julianday('now')), x TEXT)");
  }
  async all() {
    this.ctx.storage.sql.exec("INSERT INTO t (x) VALUES ('a'), ('b')");
    const up = await fetch("http://up.test/").then((r) => r.text(), (e) => String(e));
    const key = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
    const weak = new WeakRef({ big: new Array(1000).fill(0) });
    await new Promise((r) => setTimeout(r, 5 * Math.random()));
    return {
      rows: this.ctx.storage.sql.exec("SELECT * FROM t ORDER BY rowid").toArray(),
      js: [Math.random(), Date.now(), new Date().toISOString(), performance.now(), performance.timeOrigin, crypto.randomUUID(), [...crypto.getRandomValues(new Uint8Array(8))], [...randomBytes(4)]],
      key: await crypto.subtle.exportKey("jwk", key.privateKey),
      weak: weak.deref() !== undefined, up, loaded, unique: String(this.env.BOX.newUniqueId()),
    };
  }
}
export default {
  async fetch(req, env) {
    const all = await Promise.all(["a", "b", "c"].map((n) => env.BOX.getByName(n).all()));
    console.log(JSON.stringify(all));
    return Response.json(all);
  },
};`

func chanceProject(t testing.TB) string {
	dir := t.TempDir()
	for name, text := range map[string]string{"worker.js": chanceWorker, "wrangler.json": `{"name": "chance", "main": "worker.js",
		"compatibility_date": "2026-08-01", "compatibility_flags": ["nodejs_compat"],
		"durable_objects": {"bindings": [{"name": "BOX", "class_name": "Box"}]}, "migrations": [{"tag": "1", "new_sqlite_classes": ["Box"]}]}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// chance runs the worker once, with an upstream of the test's.
func chance(t testing.TB, project string, bundles *server.Bundles, change func(*Options), up netx.Handler) []string {
	o := options(t, project, bundles)
	o.Seed = 7
	if change != nil {
		change(&o)
	}
	o.Network = func(w *World) {
		if up != nil {
			w.Net.Handle("up.test", up)
		}
	}
	w := open(t, o)
	r := w.Send(Request("GET", "http://localhost/", ""))
	if err := w.Until(r.Done); err != nil || r.Status != 200 {
		t.Fatalf("%d %s %v %v", r.Status, r.Body, r.Err, err)
	}
	return w.History
}

func says(text string) netx.Handler {
	return func(_ *event.Request, done func(*event.Response, error)) func(error) {
		done(&event.Response{Status: 200, Body: event.Bytes([]byte(text))}, nil)
		return func(error) {}
	}
}

// Everything that a worker can ask the machine for comes from the world.
func TestChanceAndTimeComeFromTheWorld(t *testing.T) {
	project, bundles := chanceProject(t), &server.Bundles{}
	one := chance(t, project, bundles, nil, says("x"))
	for _, procs := range []int{1, 8} {
		before := runtime.GOMAXPROCS(procs)
		two := chance(t, project, bundles, nil, says("x"))
		runtime.GOMAXPROCS(before)
		if text := FirstDifference(one, two); text != "" {
			t.Errorf("GOMAXPROCS %d: %s", procs, text)
		}
	}
	if FirstDifference(one, chance(t, project, bundles, func(o *Options) { o.Seed = 8 }, says("x"))) == "" {
		t.Error("another seed gave the same history")
	}
}

// The history is the same in other processes, whose maps have other seeds.
func TestSameHistoryInOtherProcesses(t *testing.T) {
	const variable = "MINIDO_WORLD_DIGEST_OF"
	if project := os.Getenv(variable); project != "" {
		lines := chance(t, project, &server.Bundles{}, nil, says("x"))
		fmt.Printf("digest %x\n", sha256.Sum256([]byte(strings.Join(lines, "\n"))))
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	project, digests := chanceProject(t), map[string]bool{}
	for i := range 3 {
		cmd := exec.Command(self, "-test.run", "^TestSameHistoryInOtherProcesses$", "-test.count=1")
		cmd.Env = append(os.Environ(), variable+"="+project, fmt.Sprintf("GOMAXPROCS=%d", i+1))
		out, err := cmd.CombinedOutput()
		_, rest, found := strings.Cut(string(out), "digest ")
		if err != nil || !found {
			t.Fatalf("%v\n%s", err, out)
		}
		digests[strings.Fields(rest)[0]] = true
	}
	if len(digests) != 1 {
		t.Errorf("three processes, digests %v", digests)
	}
}

// differs says that some two of several runs differ: what is planted leaves that
// to chance.
func differs(run func() []string) bool {
	one := run()
	for range 20 {
		if FirstDifference(one, run()) != "" {
			return true
		}
	}
	return false
}

// The self-check finds SQL's random() when it is not the world's.
func TestPlantedSQLRandom(t *testing.T) {
	project, bundles := chanceProject(t), &server.Bundles{}
	if !differs(func() []string {
		return chance(t, project, bundles, func(o *Options) { o.Entropy = entropy.System{} }, says("x"))
	}) {
		t.Error("not found")
	}
}

// The self-check finds the order of a Go map.
func TestPlantedMapOrder(t *testing.T) {
	project, bundles := chanceProject(t), &server.Bundles{}
	words := map[string]bool{"a": true, "b": true, "c": true, "d": true, "e": true, "f": true}
	if !differs(func() []string {
		text := ""
		for w := range words {
			text += w
		}
		return chance(t, project, bundles, nil, says(text))
	}) {
		t.Error("not found")
	}
}

// The self-check finds a goroutine that answers when it likes.
func TestPlantedGoroutine(t *testing.T) {
	project, bundles := chanceProject(t), &server.Bundles{}
	if !differs(func() []string {
		return chance(t, project, bundles, nil, func(_ *event.Request, done func(*event.Response, error)) func(error) {
			ticks := make(chan int, 1)
			go func() {
				began := time.Now()
				runtime.Gosched()
				ticks <- int(time.Since(began))
			}()
			return says(fmt.Sprint(<-ticks))(nil, done)
		})
	}) {
		t.Error("not found")
	}
}

// The self-check finds what depends on the garbage collector; a WeakRef of the
// worker's does not, whatever is collected.
func TestPlantedWeakReference(t *testing.T) {
	project, bundles := chanceProject(t), &server.Bundles{}
	run := func(collect bool) []string {
		p := new([64]int)
		ref := weak.Make(p)
		return chance(t, project, bundles, nil, func(r *event.Request, done func(*event.Response, error)) func(error) {
			if collect {
				p = nil
				runtime.GC()
			}
			alive := ref.Value() != nil
			runtime.KeepAlive(p)
			return says(fmt.Sprint(alive))(r, done)
		})
	}
	one, two := run(false), run(true)
	if FirstDifference(one, two) == "" {
		t.Error("not found")
	}
	for _, line := range two {
		if strings.Contains(line, `"weak":false`) {
			t.Error("a WeakRef was cleared")
		}
	}
}
