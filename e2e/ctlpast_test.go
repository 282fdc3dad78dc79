package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"minido.dev/minido/chaos/process"
)

const pastWorker = `
import { DurableObject } from "cloudflare:workers";
export class Notes extends DurableObject {
  constructor(ctx, env) { super(ctx, env); ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT)"); }
  write(text) { this.ctx.storage.sql.exec("INSERT INTO notes (text) VALUES (?)", text); }
  read() { return this.ctx.storage.sql.exec("SELECT text FROM notes ORDER BY id").toArray().map((row) => row.text).join(); }
  edit(text) { this.ctx.storage.sql.exec("UPDATE notes SET text = ? WHERE id = 1", text); }
}
export default { async fetch(request, env) {
  const [, verb, text] = new URL(request.url).pathname.split("/");
  return new Response((await env.NOTES.getByName("n")[verb](text)) ?? "done");
} };`

// The terminal shows an object's past, what changed in it, and restores a moment of it.
func TestCtlPast(t *testing.T) {
	t.Parallel()
	env := []string{"MINIDO_CONTROL_DIR=" + t.TempDir()}
	dir := project(t, map[string]string{"worker.js": pastWorker, "wrangler.json": `{"name": "past", "main": "worker.js", "compatibility_date": "2026-08-01",
		"durable_objects": {"bindings": [{"name": "NOTES", "class_name": "Notes"}]}, "migrations": [{"tag": "1", "new_sqlite_classes": ["Notes"]}]}`})
	s, err := launch(t, process.Options{Command: []string{minido, "dev", "--ip", "127.0.0.1", "-c", filepath.Join(dir, "wrangler.json"), "--port", "0",
		"--persist-to", filepath.Join(t.TempDir(), "state")}, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	ctl := func(args ...string) string {
		cmd := exec.Command(minido, append([]string{"ctl"}, args...)...)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		text := strings.Join(strings.Fields(string(out)), " ")
		if err != nil {
			text = "failed: " + text
		}
		return text
	}
	for i, path := range []string{"/write/tides", "/write/winds", "/edit/moons"} {
		if _, body, err := tryAsk("GET", s.url+path); err != nil || body != "done" {
			t.Fatalf("%s: %q, %v", path, body, err)
		}
		until(t, path+" to be on disk", func() bool { return strings.Count(ctl("moments", "Notes/n"), "Z ") > i })
	}
	moments := ctl("moments", "Notes/n")
	if !regexp.MustCompile(`^BACK TIME BOOKMARK .* 2 20\S+Z [0-9a-f-]+ 1 20\S+Z [0-9a-f-]+ 0 20\S+Z [0-9a-f-]+$`).MatchString(moments) {
		t.Error(moments)
	}
	bookmark := moments[strings.LastIndex(moments, " ")+1:]
	restored := regexp.MustCompile(`^Notes/n: evicted; it begins with that state at its next event. This undoes it: minido ctl restore Notes/n [0-9a-f-]+$`)
	for _, x := range []struct {
		args []string
		want *regexp.Regexp
		then string // what the object has, if that is asked
	}{
		{[]string{"difference", "Notes/n", "1"}, exactly("notes: 0 added, 0 removed, 1 changed id text - 1 tides + 1 moons"), ""},
		{[]string{"difference", "Notes/n", "1", bookmark}, exactly("notes: 0 added, 0 removed, 1 changed id text - 1 tides + 1 moons"), ""},
		{[]string{"difference", "Notes/n", "2", "1"}, exactly("notes: 1 added, 0 removed, 0 changed id text + 2 winds"), ""},
		{[]string{"difference", "Notes/n", "0"}, exactly("nothing differs"), ""},
		{[]string{"difference", "Notes/n", "99"}, regexp.MustCompile(`^failed: .* moments: 99 is not one of them; see minido ctl moments Notes/n$`), ""},
		{[]string{"sql", "Notes/n", "SELECT text FROM notes", "--at", "2"}, exactly("text tides"), ""},
		{[]string{"restore", "Notes/n", "0"}, exactly("failed: 0 is the present: name a moment before it"), ""},
		{[]string{"restore", "Notes/n", "2"}, restored, "tides"},
		{[]string{"restore", "Notes/n", "nonsense"}, regexp.MustCompile(`^failed: .*is not a bookmark of this Durable Object's history`), ""},
		{[]string{"restore", "Notes/n", bookmark}, restored, "moons,winds"},
	} {
		var got string
		until(t, strings.Join(x.args, " ")+" when commits are on disk", func() bool {
			got = ctl(x.args...)
			return !strings.Contains(got, "not on disk yet")
		})
		if !x.want.MatchString(got) {
			t.Errorf("ctl %v: %s", x.args, got)
		}
		if x.then == "" {
			continue
		}
		if _, body, err := tryAsk("GET", s.url+"/read/"); err != nil || body != x.then {
			t.Errorf("after ctl %v: %q, %v", x.args, body, err)
		}
	}
}

func exactly(text string) *regexp.Regexp {
	return regexp.MustCompile("^" + regexp.QuoteMeta(text) + "$")
}
