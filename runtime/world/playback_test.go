package world

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/server"
)

// borderWorker lets everything pass that can pass between a server and its outside.
const borderWorker = `
import { DurableObject } from "cloudflare:workers";
export class Box extends DurableObject {
  async fetch(req) {
    if (req.headers.get("Upgrade")) {
      const { 0: client, 1: server } = new WebSocketPair();
      this.ctx.acceptWebSocket(server);
      return new Response(null, { status: 101, webSocket: client });
    }
    const url = new URL(req.url);
    switch (url.pathname) {
      case "/relay": {
        const { readable, writable } = new IdentityTransformStream();
        const up = fetch("http://up.test/relay", { method: "POST", body: readable });
        await req.body.pipeTo(writable);
        return up;
      }
      case "/give-up": {
        const quit = new AbortController();
        setTimeout(() => quit.abort(new Error("enough")), 3);
        return fetch("http://up.test/slow", { signal: quit.signal }).then((r) => r.text()).then((t) => new Response(t), (e) => new Response(String(e)));
      }
      case "/stream": {
        const { readable, writable } = new TransformStream();
        const w = writable.getWriter(), text = new TextEncoder();
        (async () => {
          for (let i = 0; i < 3; i++) {
            this.ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS t (n)");
            this.ctx.storage.sql.exec("INSERT INTO t VALUES (?)", i);
            await scheduler.wait(2);
            await w.write(text.encode("part " + i + "\n"));
          }
          await w.close();
        })();
        return new Response(readable);
      }
    }
    await this.ctx.storage.setAlarm(Date.now() + 5);
    const timer = setTimeout(() => console.log("never"), 50);
    clearTimeout(timer);
    return Response.json([...this.ctx.storage.sql.exec("SELECT count(*) AS n FROM sqlite_master")]);
  }
  async webSocketMessage(ws, message) {
    await this.ctx.storage.put("last", message);
    ws.send("heard " + message);
    if (message === "bye") ws.close(1000, "bye");
  }
  async alarm() { await this.ctx.storage.put("alarm", Date.now()); console.log("alarm"); }
}
export default { fetch: (req, env) => env.BOX.getByName("b").fetch(req) };`

func borderProject(t testing.TB) string {
	dir := t.TempDir()
	for name, text := range map[string]string{"worker.js": borderWorker, "wrangler.json": `{"name": "border", "main": "worker.js",
		"compatibility_date": "2026-08-01",
		"durable_objects": {"bindings": [{"name": "BOX", "class_name": "Box"}]}, "migrations": [{"tag": "1", "new_sqlite_classes": ["Box"]}]}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// upstreams answer to the worker.
func upstreams(s *Sim) {
	s.Net.Handle("up.test", func(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
		pipe := event.NewPipe(-1)
		event.ReadAll(req.Body, 0, func(body []byte, err error) {
			s.Note("upstream %s got %q %v", req.URL, body, err)
			if strings.HasSuffix(req.URL, "/slow") {
				return
			}
			done(&event.Response{Status: 200, Header: event.Header{{Name: "x-up", Value: "1"}}, Body: pipe}, nil)
			pipe.Write(append([]byte("up: "), body...), func(err error) {
				s.Note("upstream's answer was taken: %v", err)
				pipe.Close(nil)
			})
		})
		return func(reason error) { s.Note("upstream: gone: %v", reason); pipe.Close(reason) }
	})
}

// clients ask for everything; done is closed to true once they have all answers.
func clients(w *World, first string) (done func() bool) {
	left := 4
	ask := func(method, path, body string) {
		w.Spawn("client "+path, func(r *Routine) {
			req := Request(method, "http://localhost"+path, "")
			if body != "" {
				pipe := event.NewPipe(-1)
				req.Body = pipe
				pipe.Write([]byte(body), func(err error) { pipe.Write([]byte(" and more"), func(error) { pipe.Close(nil) }) })
			}
			r.Await(w.Send(req).Done)
			left--
		})
	}
	ask("GET", first, "")
	ask("POST", "/relay", "hello")
	ask("GET", "/give-up", "")
	w.Spawn("socket", func(r *Routine) {
		var s *Socket
		answered, closed, heard := false, false, 0
		w.Dial("http://localhost/ws", nil, Receiver{
			Message: func(bool, []byte) { heard++ },
			Close:   func(int, string, bool) { closed = true },
		}, func(socket *Socket, _ *Response) { s, answered = socket, true })
		r.Await(func() bool { return answered })
		for i, text := range []string{"one", "bye"} {
			if s == nil || s.Send(false, []byte(text)) != nil {
				break
			}
			r.Await(func() bool { return heard > i || closed })
		}
		r.Await(func() bool { return closed || s == nil })
		left--
	})
	w.Spawn("late", func(r *Routine) {
		r.Await(func() bool { return left == 0 })
		w.Note("late")
		r.Await(w.Send(Request("GET", "http://localhost/alarm", "")).Done)
		left--
	})
	return func() bool { return left < 0 }
}

// life is one run of the worker with its clients: to its end, or until kill.
func life(t *testing.T, o Options, first string) *World {
	t.Helper()
	w, err := Open(o)
	if err == nil {
		upstreams(w.Sim)
		done := clients(w, first)
		if err = w.Until(done); err == nil {
			err = w.Rest(time.Hour, time.Hour, func(string) bool { return false })
		}
	}
	if err != nil && !errors.Is(err, ErrKilled) {
		t.Fatal(err)
	}
	w.Kill()
	w.Send(Request("GET", "http://localhost/stream", "")) // is lost
	if err := w.Sim.Until(func() bool { return false }, time.Hour); err == nil {
		t.Fatal("what can never be is done")
	}
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	return w
}

// sameFile compares two files but for the salts of a write-ahead log, which SQLite
// draws from the machine, and the checksums that depend on them
// (https://sqlite.org/fileformat2.html, 4.1), and for sqlstore's history, which names
// the salts.
func sameFile(one, two savedFile) bool {
	bare := func(f savedFile) []byte {
		var all []byte
		for _, c := range f.chunks {
			all = append(all, c.data...)
		}
		if strings.HasSuffix(f.rel, "-history") {
			clear(all)
		} else if strings.HasSuffix(f.rel, "-wal") && len(all) > 32 {
			clear(all[16:32])
			for frame := all[32:]; len(frame) > 24; frame = frame[24+4096:] {
				clear(frame[8:24])
			}
		}
		return all
	}
	return one.rel == two.rel && one.isDir == two.isDir && bytes.Equal(bare(one), bare(two))
}

// What a server did is played back to the same outside: at each effect point the
// death leaves the same files, and clients and upstreams have seen and done the
// same, line by line, before it and after.
func TestPlayback(t *testing.T) {
	project, bundles := borderProject(t), &server.Bundles{}
	base := func() Options {
		o := options(t, project, bundles)
		o.Seed = 7
		return o
	}
	o := base()
	o.Into = &Recording{}
	var points []killpoint.Point
	o.Point = func(p killpoint.Point, _ Moment) { points = append(points, p) }
	recorded, plain := life(t, o, "/stream"), life(t, base(), "/stream")
	if diff := FirstDifference(plain.History, recorded.History); diff != "" {
		t.Fatalf("recorded, a life goes otherwise: %s", diff)
	}
	if !o.Into.Fit() || len(points) < 40 {
		t.Fatalf("%d points; %q", len(points), o.Into.unfit)
	}
	seen := strings.Join(recorded.History, "\n")
	for _, want := range []string{"hello and more", "enough", "heard bye", "part 2", "log alarm", "upstream: gone"} {
		if !strings.Contains(seen, want) {
			t.Fatalf("nobody saw %q:\n%s", want, seen)
		}
	}
	for _, p := range points {
		die := func(from *Recording) *World {
			o := base()
			o.From = from
			o.Kill = func(q killpoint.Point) bool { return q.Number == p.Number }
			return life(t, o, "/stream")
		}
		real, played := die(nil), die(o.Into)
		if err := played.Astray(); err != nil {
			t.Fatalf("%s: %v", p.Label(), err)
		}
		if diff := FirstDifference(real.History, played.History); diff != "" {
			t.Errorf("%s: %s", p.Label(), diff)
		}
		if at, _ := played.Dead(); at != p {
			t.Errorf("%s: it died at %s", p.Label(), at.Label())
		}
		one, _, err := new(taker).take(real.Wreck())
		two, _, errPlayed := new(taker).take(played.Wreck())
		if err != nil || errPlayed != nil || !slices.EqualFunc(one.list, two.list, sameFile) || len(one.list) < 2 {
			t.Errorf("%s: the files differ: %v, %v", p.Label(), err, errPlayed)
		}
	}
}

// An outside that does something else than in the recording is found out, and so is
// a life that does not end where a recorded one can.
func TestAstray(t *testing.T) {
	project, bundles := borderProject(t), &server.Bundles{}
	o := options(t, project, bundles)
	from := &Recording{}
	o.Into = from
	var points []killpoint.Point
	o.Point = func(p killpoint.Point, _ Moment) { points = append(points, p) }
	life(t, o, "/stream")
	last := points[len(points)-1]
	for _, c := range []struct {
		name, first string
		dies        bool
		want        string
	}{
		{"the same", "/stream", true, ""},
		{"another request", "/another", true, "/another"},
		{"no death", "/stream", false, "killed between two points"},
	} {
		o := options(t, project, bundles)
		o.From, o.Kill = from, func(p killpoint.Point) bool { return c.dies && p == last }
		if err := life(t, o, c.first).Astray(); c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrAstray) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
