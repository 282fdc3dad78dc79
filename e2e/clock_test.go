package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/chaos/process"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
)

const clockWorker = `
import { DurableObject } from "cloudflare:workers";
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
let sleeping = 0;
export class Box extends DurableObject {
  constructor(ctx, env) { super(ctx, env); this.born = Date.now(); ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS alarms (at INTEGER DEFAULT (unixepoch() * 1000), now INTEGER)"); }
  async arm(ms) { await this.ctx.storage.setAlarm(Date.now() + ms); }
  alarm() { this.ctx.storage.sql.exec("INSERT INTO alarms (now) VALUES (?)", Date.now()); }
  alarms() { return this.ctx.storage.sql.exec("SELECT at, now FROM alarms").toArray(); }
  age() { return this.born; }
}
export default { async fetch(req, env) {
  const url = new URL(req.url), began = Date.now(), ms = Number(url.searchParams.get("ms")), box = env.BOX.getByName("b");
  switch (url.pathname) {
    case "/now": return Response.json(began);
    case "/sleeping": return Response.json(sleeping);
    case "/sleep": sleeping++; await sleep(ms); return Response.json(Date.now() - began);
    case "/ticks": {
      sleeping++;
      const at = [];
      for (let i = 0; i < 5; i++) { await sleep(ms); at.push(Date.now() - began); }
      return Response.json(at);
    }
    case "/race": {
      const first = await Promise.race([fetch(env.UP).then((r) => r.text()), sleep(1000).then(() => "timer")]);
      return Response.json([first, Date.now() - began]);
    }
    case "/arm": await box.arm(ms); return Response.json(began);
    case "/alarms": return Response.json(await box.alarms());
    case "/born": return Response.json(await box.age());
  }
  return new Response(null, { status: 404 });
} };`

// clockServer runs the worker on a clock of the mode; ctl talks to it, and so does
// try, which may fail.
func clockServer(t *testing.T, mode string, flags ...string) (s server, ctl func(args ...string) string, try func(args ...string) (string, error)) {
	t.Helper()
	tokens := t.TempDir()
	env := []string{"MINIDO_CONTROL_DIR=" + tokens}
	dir := project(t, map[string]string{"worker.js": clockWorker, "wrangler.json": `{"name": "clock", "main": "worker.js", "compatibility_date": "2026-08-01",
		"durable_objects": {"bindings": [{"name": "BOX", "class_name": "Box"}]}, "migrations": [{"tag": "1", "new_sqlite_classes": ["Box"]}]}`})
	var err error
	command := append([]string{minido, "dev", "--ip", "127.0.0.1", "-c", filepath.Join(dir, "wrangler.json"), "--port", "0", "--clock", mode,
		"--persist-to", filepath.Join(t.TempDir(), "state")}, flags...)
	s, err = launch(t, process.Options{Command: command, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	try = func(args ...string) (string, error) {
		cmd := exec.Command(minido, append([]string{"ctl", "clock"}, args...)...)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	return s, func(args ...string) string {
		t.Helper()
		out, err := try(args...)
		if err != nil {
			t.Fatalf("ctl clock %v: %v\n%s", args, err, out)
		}
		return out
	}, try
}

// later does a request beside the test, once as many as wanted sleep.
func later(t *testing.T, s server, path string, sleeping int) <-chan string {
	t.Helper()
	answer := make(chan string, 1)
	go func() {
		_, body, err := tryAsk("GET", s.url+path)
		if err != nil {
			body = err.Error()
		}
		answer <- body
	}()
	until(t, path+" to begin", func() bool {
		var n int
		get(t, s.url+"/sleeping", &n)
		return n == sleeping
	})
	return answer
}

func pause(t *testing.T, d time.Duration) {
	t.Helper()
	if err := wait.Pause(t.Context(), clock.Real{}, d); err != nil {
		t.Fatal(err)
	}
}

// With --clock virtual time stands still: Date, SQL, timers and alarms wait until
// it is advanced, and each timer then runs at its own moment.
func TestDevVirtualClock(t *testing.T) {
	t.Parallel()
	s, ctl, try := clockServer(t, "virtual")
	var began, still, born, reborn int64
	get(t, s.url+"/now", &began)
	get(t, s.url+"/born", &born)
	pause(t, 50*time.Millisecond)
	if get(t, s.url+"/now", &still); still != began || born != began {
		t.Errorf("time went from %d to %d, the object was made at %d", began, still, born)
	}
	get(t, s.url+"/arm?ms=1800000", &still)
	nap := later(t, s, "/sleep?ms=600000", 1)
	ticks := later(t, s, "/ticks?ms=60000", 2)
	select {
	case text := <-nap:
		t.Fatalf("a timer ran while time stood still: %s", text)
	case <-time.After(50 * time.Millisecond):
	}
	contains(t, ctl(), "(virtual)", "the next timer is due in 10s") // the idle object's hibernation
	contains(t, ctl("advance", "31m"), "(virtual)")
	if text := <-nap; text != "600000" {
		t.Errorf("ten minutes took %s ms", text)
	}
	if text := <-ticks; text != "[60000,120000,180000,240000,300000]" {
		t.Errorf("five minutes passed as %s", text)
	}
	var alarms []struct{ At, Now int64 }
	if get(t, s.url+"/alarms", &alarms); len(alarms) != 1 || alarms[0].Now != began+1_800_000 || alarms[0].At != alarms[0].Now/1000*1000 {
		t.Errorf("alarms %+v, the clock began at %d", alarms, began)
	}
	if get(t, s.url+"/born", &reborn); reborn <= born {
		t.Error("the object was not evicted in half an hour")
	}
	if get(t, s.url+"/now", &still); still != began+31*60_000 {
		t.Errorf("31 minutes passed as %d ms", still-began)
	}
	contains(t, ctl("real"), "(real)")
	until(t, "time to go on", func() bool {
		var now int64
		get(t, s.url+"/now", &now)
		return now > still
	})
	if out, err := try("advance", "1m"); err == nil || !strings.Contains(out, "machine's pace") {
		t.Errorf("a real clock was advanced: %v %s", err, out)
	}
}

// With --clock auto time jumps to what is next, but never past an answer that is
// still to come from outside.
func TestDevAutoClock(t *testing.T) {
	t.Parallel()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		pause(t, 300*time.Millisecond)
		fmt.Fprint(w, "answer")
	}))
	defer up.Close()
	s, ctl, _ := clockServer(t, "auto", "--var", "UP:"+up.URL)
	if _, text := ask(t, "GET", s.url+"/sleep?ms=86400000"); text != "86400000" {
		t.Errorf("a day took %s ms", text)
	}
	if _, text := ask(t, "GET", s.url+"/race"); text != `["answer",0]` {
		t.Errorf("while a fetch waited: %s", text)
	}
	var armed int64
	get(t, s.url+"/arm?ms=3600000", &armed)
	var alarms []struct{ Now int64 }
	until(t, "the alarm", func() bool {
		get(t, s.url+"/alarms", &alarms)
		return len(alarms) == 1
	})
	if alarms[0].Now != armed+3_600_000 {
		t.Errorf("armed at %d, ran at %d", armed, alarms[0].Now)
	}
	contains(t, ctl("virtual"), "(virtual)")
}
