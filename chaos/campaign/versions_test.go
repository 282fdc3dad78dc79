package campaign

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/result"
)

// notes is a version of a project that keeps notes: open is what its constructor does,
// column the one that has their text.
func notes(t *testing.T, dir, open, column string) string {
	t.Helper()
	for name, text := range map[string]string{
		"wrangler.json": `{"name": "` + filepath.Base(dir) + `", "main": "w.js", "compatibility_date": "2026-01-01",
			"durable_objects": {"bindings": [{"name": "NOTES", "class_name": "Notes"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Notes"]}]}`,
		"w.js": `import { DurableObject } from "cloudflare:workers";
			export class Notes extends DurableObject {
			  constructor(ctx, env) {
			    super(ctx, env);
			    const sql = ctx.storage.sql;
			    sql.exec("CREATE TABLE IF NOT EXISTS notes (` + column + ` TEXT)");
			    const has = (name) => sql.exec("SELECT name FROM pragma_table_info('notes')").toArray().some((c) => c.name === name);
			    ` + open + `
			  }
			  add(text) { this.ctx.storage.sql.exec("INSERT INTO notes (` + column + `) VALUES (?)", text); }
			  all() { return this.ctx.storage.sql.exec("SELECT ` + column + ` AS text FROM notes").toArray().map((r) => r.text); }
			}
			export default { async fetch(request, env) {
			  const n = env.NOTES.getByName("n");
			  if (request.method === "POST") await n.add(await request.text());
			  return Response.json(await n.all());
			} };`,
	} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	// addsColumn is a migration that holds, in a turn of its own.
	addsColumn = `if (!has("starred")) sql.exec("ALTER TABLE notes ADD COLUMN starred INTEGER");`
	// addsAgain is one that an object bears once.
	addsAgain = `sql.exec("ALTER TABLE notes ADD COLUMN starred INTEGER");`
	// inTurns says that it is done before it is.
	inTurns = `ctx.blockConcurrencyWhile(async () => {
		if (await ctx.storage.get("version")) return;
		await ctx.storage.put("version", 2);
		await scheduler.wait(1);
		sql.exec("UPDATE notes SET text = text || '!'");
	});`
	// renames is one behind which the version before finds nothing.
	renames = `if (has("text")) sql.exec("ALTER TABLE notes RENAME COLUMN text TO body");`
)

// then are the options of a campaign over the first version of notes and others.
func then(t *testing.T, open, column string, back bool) Options {
	t.Helper()
	dir := t.TempDir()
	o := Options{Project: notes(t, filepath.Join(dir, "one"), "", "text"), Then: []string{notes(t, filepath.Join(dir, "two"), open, column)},
		Mode: Sim, Seed: 1, Jobs: 2, OnePace: true, Dir: filepath.Join(dir, "out")}
	if back {
		o.Then = append(o.Then, o.Project)
	}
	for _, text := range []string{"POST / a", "POST / b"} {
		step, err := drive.Parse(drive.Fetch, text)
		if err != nil {
			t.Fatal(err)
		}
		o.Steps = append(o.Steps, step)
	}
	return o
}

func keysOf(c result.Case) (keys []string) {
	for _, v := range c.Violations {
		keys = append(keys, v.Key())
	}
	return keys
}

// After a death, or at rest, the next version of the project goes on with the files of the
// one before, under its name: what it cannot open, leaves half done or no longer
// answers is found, and what holds passes.
func TestVersions(t *testing.T) {
	for _, c := range []struct {
		name, open, column string
		back               bool
		plan, want         string
	}{
		{"holds", addsColumn, "text", false, "kill@commit:after(Notes/n)/rpc#1", ""},
		{"holds at rest", addsColumn, "text", false, "deploy@rest", ""},
		{"holds back again", addsColumn, "text", true, "deploy@step#2; deploy@rest", ""},
		{"cannot open", addsAgain, "text", true, "deploy@rest; deploy@rest", ""},
		{"cannot open twice", addsAgain, "text", false, "kill@commit:after(Notes/n)/rpc#1; kill@commit:after(Notes/n)/start#1", "upgrade/opens"},
		{"cut in turns", inTurns, "text", false, "deploy@rest; kill@wake:after/start#1", ""},
		{"half done", inTurns, "text", false, "deploy@rest; kill@commit:after/start#1", "differential/diverged"},
		{"answers no more", renames, "body", true, "deploy@step#1; deploy@step#2", "upgrade/answers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan, err := fault.ParsePlan(c.plan)
			if err != nil || plan.String() != c.plan {
				t.Fatalf("%s: %v", plan, err)
			}
			r, err := Replay(context.Background(), then(t, c.open, c.column, c.back), plan, 1)
			if err != nil || len(r.Cases) != 1 || len(r.Cases[0].Missed) > 0 {
				t.Fatalf("%+v, %v", r.Cases, err)
			}
			if got := strings.Join(keysOf(r.Cases[0]), " "); got != c.want && (c.want == "" || !strings.HasPrefix(got, c.want)) {
				t.Errorf("found %q, want %q: %s", got, c.want, r.Cases[0].Violations)
			}
		})
	}
}

// Enumerate visits the deaths of the first version, those of the next one while it opens
// what is stored, and the moment between two steps; a migration in one turn survives all
// of them, one in two turns does not, and what is found is where it is.
func TestEnumerateVersions(t *testing.T) {
	r, err := Enumerate(context.Background(), then(t, addsColumn, "text", false), 1)
	if err != nil || r.Code != 0 || r.Visited != r.Points {
		t.Fatalf("code %d, visited %d of %d, %v: %+v", r.Code, r.Visited, r.Points, err, r.Failed())
	}
	opening, between := 0, 0
	for _, c := range r.Cases {
		switch {
		case strings.HasPrefix(c.Name, "deploy@rest; kill@"):
			opening++
		case c.Name == "deploy@step#2":
			between++
		}
		if c.Uncompared != "" {
			t.Errorf("%s is not compared: %s", c.Name, c.Uncompared)
		}
	}
	if opening == 0 || between != 1 {
		t.Errorf("%d deaths while it opens, %d moments between steps", opening, between)
	}
	r, err = Enumerate(context.Background(), then(t, inTurns, "text", false), 1)
	if err != nil || len(r.Failed()) == 0 {
		t.Fatalf("nothing found, %v", err)
	}
	for _, c := range r.Failed() {
		if !strings.Contains(c.Name, "/start#") && !strings.Contains(c.Name, "/timer#") || !strings.HasPrefix(c.Name, "deploy@rest; kill@") {
			t.Errorf("%s: %v", c.Name, c.Violations)
		}
	}
}

// A version may be a commit of the project's repository; one whose packages are others
// than those that are installed is refused.
func TestVersionOfCommit(t *testing.T) {
	o := then(t, addsColumn, "text", false)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", o.Project, "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "--quiet")
	git("add", "wrangler.json", "w.js")
	git("commit", "--quiet", "-m", "one")
	git("tag", "v1")
	notes(t, o.Project, addsColumn, "text")
	o.Then = []string{"v1"} // back to what was committed
	plan, err := fault.ParsePlan("kill@commit:after(Notes/n)/rpc#1")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Replay(context.Background(), o, plan, 1)
	if err != nil || r.Code != 0 || len(r.Cases) != 1 {
		t.Fatalf("code %d, %v: %+v", r.Code, err, r.Cases)
	}
	if !strings.Contains(r.Cases[0].Replay, "--then v1") {
		t.Errorf("its replay is %s", r.Cases[0].Replay)
	}
	if err := os.Mkdir(filepath.Join(o.Project, "node_modules"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(o.Project, "package-lock.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	git("add", "package-lock.json")
	git("commit", "--quiet", "-m", "packages")
	git("tag", "v2")
	if err := os.WriteFile(filepath.Join(o.Project, "package-lock.json"), []byte(`{"a": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{"v2": "another package-lock.json", "v3": "neither a directory"} {
		o.Then = []string{ref}
		if _, err := Replay(context.Background(), o, plan, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", ref, err)
		}
	}
}
