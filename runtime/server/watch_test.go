package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/event"
)

// watched is a session of workers in the folders front and, if it has files, back,
// which reloads.
type watched struct {
	*testing.T
	dir    string
	server *Server
	events chan Event
}

// put writes a file, and makes its folder.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func watch(t *testing.T, files map[string]string) *watched {
	t.Helper()
	w := &watched{T: t, dir: t.TempDir(), events: make(chan Event, 100)}
	o := Options{Config: config.Options{Dir: filepath.Join(w.dir, "front")}}
	for name, text := range files {
		put(t, filepath.Join(w.dir, name), text)
	}
	if files["back/wrangler.json"] != "" {
		o.Others = []config.Options{{Dir: filepath.Join(w.dir, "back")}}
	}
	sch := sched.NewThreads(clock.Real{})
	o.Address, o.PersistDir, o.Watch, o.Scheduler, o.Entropy = Address{None: true}, filepath.Join(w.dir, "state"), true, sch, entropy.System{}
	o.Dialer = netx.NewReal(netx.RealOptions{Scheduler: sch, Entropy: entropy.System{}})
	o.Events = func(e Event) {
		select {
		case w.events <- e:
		default: // nobody waits for so many
		}
	}
	var err error
	if w.server, err = Start(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := w.server.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := sch.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return w
}

// write replaces a file at once, as editors do: no reload sees half of it.
func (w *watched) write(name, text string) {
	w.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.WriteFile(path+"~", []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	if err := os.Rename(path+"~", path); err != nil {
		w.Fatal(err)
	}
}

// until waits for an event whose text has a part.
func (w *watched) until(kind EventKind, part string) {
	w.Helper()
	limit := time.After(20 * time.Second)
	for {
		select {
		case e := <-w.events:
			if e.Kind == kind && strings.Contains(e.Text, part) {
				return
			}
			w.Logf("event %v: %s", e.Kind, e.Text)
		case <-limit:
			w.Fatalf("no event %v with %q", kind, part)
		}
	}
}

func (w *watched) answers(want string) {
	w.Helper()
	got := make(chan string, 1)
	w.server.Fetch(&event.Request{Method: "GET", URL: "http://localhost/"}, func(r *event.Response, err error) {
		if err != nil {
			got <- err.Error()
			return
		}
		got <- r.Header.Get("answer")
	})
	if text := <-got; text != want {
		w.Errorf("it answers %q, want %q", text, want)
	}
}

func answering(text string) string {
	return `export default { fetch() { return new Response(null, { headers: { answer: "` + text + `" } }); } };`
}

// A failed build of what the configuration names newly is followed: the file
// that is missing, then its mistake, then the module that it imports.
func TestFailedBuildsAreFollowed(t *testing.T) {
	w := watch(t, map[string]string{
		"front/wrangler.json": `{"name": "front", "main": "a.js", "compatibility_date": "2026-01-01"}`, "front/a.js": answering("a"), "front/src/keep.txt": "",
	})
	w.answers("a")
	w.write("front/wrangler.json", `{"name": "front", "main": "src/b.js", "compatibility_date": "2026-01-01"}`)
	w.until(EventBuildFailed, "b.js")
	w.answers("a")
	w.write("front/wrangler.json", `{"name": "front", "main": "a.js", "compatibility_date": "2026-01-01"}`)
	w.until(EventReloaded, "")
	w.write("front/src/b.js", "let = ;")
	w.write("front/wrangler.json", `{"name": "front", "main": "src/b.js", "compatibility_date": "2026-01-01"}`)
	w.until(EventBuildFailed, "b.js")
	w.write("front/src/b.js", `export { default } from "./c.js";`)
	w.until(EventBuildFailed, "c.js")
	w.write("front/src/c.js", answering("c"))
	w.until(EventReloaded, "")
	w.answers("c")
}

// A binding to a class of a worker that has only assets is refused.
func TestClassOfAssets(t *testing.T) {
	w := watch(t, map[string]string{
		"front/wrangler.json": `{"name": "front", "main": "a.js", "compatibility_date": "2026-01-01"}`, "front/a.js": answering("a"),
		"back/wrangler.json": `{"name": "back", "compatibility_date": "2026-01-01", "assets": {"directory": "public"}}`, "back/public/index.html": "hello",
	})
	w.write("front/wrangler.json", `{"name": "front", "main": "a.js", "compatibility_date": "2026-01-01",
"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room", "script_name": "back"}]}}`)
	w.until(EventBuildFailed, `the binding ROOM names the class "Room" of the worker "back", which has only assets`)
	w.answers("a")
}

// A project without a worker serves its assets, and reloads.
func TestAssetsAlone(t *testing.T) {
	w := watch(t, map[string]string{
		"front/wrangler.json": `{"name": "front", "compatibility_date": "2026-01-01", "assets": {"directory": "public"}}`, "front/public/index.html": "hello",
	})
	status := make(chan int, 1)
	w.server.Fetch(&event.Request{Method: "GET", URL: "http://localhost/"}, func(r *event.Response, err error) {
		if err != nil {
			t.Error(err)
			r = &event.Response{}
		}
		status <- r.Status
	})
	if got := <-status; got != 200 {
		t.Errorf("the status is %d", got)
	}
	w.write("front/a.js", answering("a"))
	w.write("front/wrangler.json", `{"name": "front", "main": "a.js", "compatibility_date": "2026-01-01"}`)
	w.until(EventReloaded, "")
	w.answers("a")
}

// Two reloads while the loop of the worker is busy: the last one's worker answers.
func TestLastReloadWins(t *testing.T) {
	w := watch(t, map[string]string{"front/wrangler.json": `{"name": "front", "main": "a.js", "compatibility_date": "2026-01-01"}`, "front/a.js": answering("a")})
	w.server.mu.Lock()
	loop := w.server.current.iso.Engine
	w.server.mu.Unlock()
	free, over := make(chan struct{}), make(chan struct{})
	if err := loop.PostLoop(func() { <-free }); err != nil {
		t.Fatal(err)
	}
	w.write("front/a.js", answering("b"))
	w.until(EventReloaded, "")
	w.write("front/wrangler.json", `{"name": "front", "main": "c.js", "compatibility_date": "2026-01-01"}`)
	w.until(EventBuildFailed, "c.js")
	w.write("front/c.js", answering("c"))
	w.write("front/wrangler.json", `{"name": "front", "main": "c.js", "compatibility_date": "2026-01-01", "vars": {"A": "B"}}`)
	w.until(EventReloaded, "")
	if err := loop.PostLoop(func() { close(over) }); err != nil {
		t.Error(err)
		close(over)
	}
	close(free)
	<-over
	w.answers("c")
}

// A server that remembers what its worker uses writes it down while it runs, for one that
// gets SIGKILL has no other time; one whose build fails, with its isolate made already, says so
// and ends.
func TestUsesAreRemembered(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"app/wrangler.json":                  `{"name": "app", "main": "worker.js", "compatibility_date": "2026-01-01"}`,
		"app/worker.js":                      `import { value } from "late"; export default { fetch() { return new Response(null, { headers: { answer: value } }) } }`,
		"app/node_modules/late/package.json": `{"name": "late", "type": "module", "sideEffects": false, "main": "index.js"}`,
		"app/node_modules/late/index.js":     `export const value = "late"`,
		"bad/wrangler.json":                  `{"name": "bad", "main": "worker.js", "compatibility_date": "2026-01-01"}`,
		"bad/worker.js":                      `export default {`,
	} {
		put(t, filepath.Join(dir, name), text)
	}
	closing, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	start := func(project string) (*Server, *sched.Threads, *clock.Virtual, error) {
		sch, machine := sched.NewThreads(clock.Real{}), clock.NewVirtual(time.UnixMilli(0))
		s, err := Start(t.Context(), Options{Config: config.Options{Dir: filepath.Join(dir, project)}, Address: Address{None: true}, PersistDir: filepath.Join(dir, "state"),
			CacheDir: filepath.Join(dir, "cache"), Remember: true, Scheduler: sch, Machine: machine, Entropy: entropy.System{},
			Dialer: netx.NewReal(netx.RealOptions{Scheduler: sch, Entropy: entropy.System{}})})
		return s, sch, machine, err
	}
	s, sch, machine, err := start("app")
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{T: t, server: s}
	uses := func() []string {
		machine.Advance(rememberAfter)
		if err := sch.Close(closing); err != nil { // waits for what is being written
			t.Error(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "cache", "*.uses"))
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	w.answers("late")
	if files := uses(); len(files) != 1 {
		t.Errorf("files of uses: %v", files)
	}
	if err := s.Close(closing); err != nil {
		t.Error(err)
	}
	if _, sch, _, err = start("bad"); err == nil {
		t.Error("a worker with a syntax error starts")
	}
	if err := sch.Close(closing); err != nil {
		t.Error(err)
	}
}

// Every file of what is remembered is written as a whole, so a worker that goes on using more
// modules has it written less and less often.
func TestRememberingBecomesRare(t *testing.T) {
	machine := clock.NewVirtual(time.UnixMilli(0))
	s := sched.NewSeeded(machine, entropy.NewSeeded(1))
	b := bundling{opts: &Options{Scheduler: s}, closed: func() bool { return false }}
	var times []time.Duration
	for range 12 {
		b.used()
		at, ok := machine.Next()
		if !ok {
			t.Fatal("nothing is to be remembered")
		}
		times = append(times, at.Sub(machine.Now()))
		machine.AdvanceTo(at)
		for s.Step() {
		}
	}
	for i, d := range times[1:] {
		if want := min(2*times[i], rememberAtMost); times[0] != rememberAfter || d != want {
			t.Errorf("it is remembered after %v, then after %v; want %v", times[i], d, want)
		}
	}
}
