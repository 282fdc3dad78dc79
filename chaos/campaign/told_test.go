package campaign

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/oracle"
)

// workerOptions are those of a project with a worker whose classes have bindings of their names,
// and of clients that send requests, in simulation.
func workerOptions(t *testing.T, worker, classes string, requests ...string) Options {
	t.Helper()
	dir := t.TempDir()
	var bindings, names []string
	for _, class := range strings.Fields(classes) {
		bindings = append(bindings, fmt.Sprintf(`{"name": %q, "class_name": %q}`, strings.ToUpper(class), class))
		names = append(names, strconv.Quote(class))
	}
	for name, text := range map[string]string{
		"wrangler.json": `{"name": "worker", "main": "w.js", "compatibility_date": "2026-01-01", "durable_objects": {"bindings": [` + strings.Join(bindings, ", ") + `]},
			"migrations": [{"tag": "v1", "new_sqlite_classes": [` + strings.Join(names, ", ") + `]}]}`,
		"w.js": worker,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Project: dir, Mode: Sim, Seed: 1, Jobs: 1, Dir: filepath.Join(dir, "out")}
	for _, text := range requests {
		step, err := drive.Parse(drive.Fetch, text)
		if err != nil {
			t.Fatal(err)
		}
		o.Steps = append(o.Steps, step)
	}
	return o
}

// toldOptions are those of a project with one object whose fetch is source, and of clients
// that send requests.
func toldOptions(t *testing.T, source string, requests ...string) Options {
	t.Helper()
	return workerOptions(t, `import { DurableObject } from "cloudflare:workers";
		export class Room extends DurableObject {`+source+`}
		export default { fetch(request, env) { return env.ROOM.getByName("a").fetch(request); } };`, "Room", requests...)
}

// found enumerates the deaths of o's system, and returns the invariants of the violations.
func found(t *testing.T, o Options) (invariants []string) {
	t.Helper()
	r, err := Enumerate(context.Background(), o, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Cases {
		for _, v := range c.Violations {
			if !slices.Contains(invariants, v.Invariant) {
				invariants = append(invariants, v.Invariant)
			}
		}
	}
	slices.Sort(invariants)
	return invariants
}

// What clients are told after a death is compared; what a recovery that is under way has
// them be told for a while is not.
func TestToldAfterDeath(t *testing.T) {
	inMemory := `n = 0; fetch() { return Response.json({ n: ++this.n }); }`
	if got := found(t, toldOptions(t, inMemory, "POST /a", "POST /a", "POST /a")); !slices.Equal(got, []string{oracle.Told}) {
		t.Errorf("a count in memory: %q", got)
	}
	passing := `async fetch(request) {
		const store = this.ctx.storage;
		if (request.method === "POST") {
			store.put("job", "begun");
			await store.setAlarm(Date.now() + 5000);
			await scheduler.wait(10);
			await store.put("job", "done");
		}
		return new Response(await store.get("job") ?? "none");
	}
	async alarm() { await this.ctx.storage.put("job", "done"); }`
	if got := found(t, toldOptions(t, passing, "POST /job", "GET /job")); got != nil {
		t.Errorf("an answer during a recovery: %q", got)
	}
}

// A request that is never answered after a death, and is without one, is a violation.
func TestHang(t *testing.T) {
	hang := `async fetch() {
		const store = this.ctx.storage;
		while (await store.get("held")) await scheduler.wait(100);
		await store.put("held", true);
		await scheduler.wait(10);
		await store.delete("held");
		return new Response("done");
	}`
	if got := found(t, toldOptions(t, hang, "POST /a", "POST /b")); !slices.Contains(got, oracle.Hang) {
		t.Errorf("found %q", got)
	}
}

// listening is a script with one client, which sends two frames on a socket and waits for the
// answer to each.
type listening struct{ once }

func (listening) Driver() (drive.Driver, error) { return &listener{}, nil }

type listener struct{ done bool }

func (l *listener) Run(ctx context.Context, s *drive.Session) error {
	socket, err := s.OpenSocket(ctx, "/", nil)
	for n := 0; err == nil && n < 2; n++ {
		if err = socket.Send(ctx, "hi"); err == nil {
			_, err = socket.Receive(ctx)
		}
	}
	l.done = err == nil
	return err
}

func (l *listener) Finished() bool { return l.done }

// A frame that is never answered after the object has hibernated, and is without that, is a
// violation, and says what the client waits for.
func TestHangBehindHibernation(t *testing.T) {
	o := toldOptions(t, `
		open = new Set();
		fetch() {
			const { 0: client, 1: server } = new WebSocketPair();
			this.ctx.acceptWebSocket(server);
			this.open.add(server);
			return new Response(null, { status: 101, webSocket: client });
		}
		webSocketMessage(ws, text) { for (const peer of this.open) peer.send(text); }`)
	o.Script = listening{}
	r, err := Enumerate(context.Background(), o, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Failed() {
		if len(c.Violations) != 1 || c.Violations[0].Invariant != oracle.Hang || !strings.Contains(c.Text, "nothing has come on socket-1 (/) since it sent \"hi\"") {
			t.Errorf("%s: %v, %s", c.Name, c.Violations, c.Text)
		}
	}
	if len(r.Failed()) == 0 {
		t.Error("nothing is found")
	}
}
