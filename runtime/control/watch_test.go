package control

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/feed"
	"minido.dev/minido/runtime/isolate"
	"minido.dev/minido/runtime/server"
)

const watchedWorker = `
import { DurableObject } from "cloudflare:workers";
export class Room extends DurableObject {
  constructor(ctx, env) { super(ctx, env); ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT)"); }
  async fetch(req) {
    const { sql, kv } = this.ctx.storage;
    if (req.headers.get("upgrade") === "websocket") {
      const [client, server] = Object.values(new WebSocketPair());
      this.ctx.acceptWebSocket(server, ["user:ann", "second"]);
      server.serializeAttachment({ name: "ann", since: new Date(0) });
      return new Response(null, { status: 101, webSocket: client });
    }
    sql.exec("INSERT INTO notes (text) VALUES (?), ('b')", "a");
    kv.put("key", 1);
    const n = sql.exec("SELECT * FROM notes WHERE id > 0").toArray().length;
    try { sql.exec("SELECT nothing FROM notes"); } catch {}
    return new Response(String(n + kv.get("key")));
  }
  webSocketMessage(ws, text) { ws.send("echo " + text); }
}
export default { fetch(req, env) { return env.ROOM.getByName("lobby").fetch(req); } };
`

// watched is a server whose feed has everything, as in minido dev.
func watched(t *testing.T) (*Control, *server.Server, *Client) {
	t.Helper()
	return startProject(t, nil, map[string]string{"worker.js": watchedWorker, "wrangler.json": `{"name": "chat", "main": "worker.js", "compatibility_date": "2026-08-01",
"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Room"]}]}`}, func(of *server.Options, o *Options) {
		of.Points = killpoint.New(killpoint.Options{Off: true})
		o.Feed = feed.New(clock.Real{}, of.Points)
		o.Recorder = feed.NewRecorder(clock.Real{}, o.Feed)
		of.Turns, of.Logs, of.Requests, of.Incoming, of.Dialer, of.Sync = o.Feed, o.Feed, o.Feed.Request, o.Recorder.Incoming, o.Recorder.Dialer(of.Dialer), sqlite.Full
	})
}

// following reads the feed until the test ends.
func following(t *testing.T, client *Client, query string) (next func() feed.Entry) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	lines, over := make(chan FeedLine, 1024), make(chan struct{})
	go func() {
		defer close(over)
		_ = client.Follow(ctx, query, func(l FeedLine) { lines <- l }) // it ends with the test
	}()
	t.Cleanup(func() { cancel(); <-over })
	return func() feed.Entry {
		select {
		case l := <-lines:
			return *l.Entry
		case <-t.Context().Done():
			t.Fatal("the feed stands still")
			return feed.Entry{}
		}
	}
}

// Whoever follows turns sees what each asks of storage, where in the source, the outputs
// that it holds and the sync that lets them go; frames are there with records.
func TestFeedOfTurns(t *testing.T) {
	c, s, client := watched(t)
	next := following(t, client, "turns=true&points=true&records=true")
	c.opts.Feed.Logged(isolate.Logged{Level: "log", Text: "it follows"})
	for next().Text != "it follows" {
	}
	if got := visit(t, s, "/x"); got != "3" {
		t.Errorf("the worker says %s", got)
	}
	var calls []feed.StorageCall
	held, synced := 0, 0
	for synced == 0 {
		switch e := next(); {
		case e.Kind == feed.Turn && e.Object == "Room/lobby":
			calls, held = append(calls, e.Statements...), held+e.Held
		case e.Kind == feed.Sync && e.Object == "Room/lobby":
			synced += e.Held
		}
	}
	var text []string
	for _, s := range calls {
		text = append(text, fmt.Sprintf("%s|%d|%d|%v", s.Text, s.Read, s.Written, s.Failed != ""))
		if !strings.Contains(s.Where, "(worker.js:") || s.TookUs <= 0 {
			t.Errorf("%s took %d us %s", s.Text, s.TookUs, s.Where)
		}
	}
	want := "CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT)|1|2|false, INSERT INTO notes (text) VALUES (?), ('b')|0|2|false, put key|0|0|false, SELECT * FROM notes WHERE id > 0|2|0|false, SELECT nothing FROM notes|0|0|true, get key|0|0|false"
	if got := strings.Join(text, ", "); got != want {
		t.Errorf("asked of storage:\n%s\nwant\n%s", got, want)
	}
	if held == 0 || synced == 0 {
		t.Errorf("%d outputs were held, %d let go", held, synced)
	}

	ws, _, err := websocket.Dial(context.Background(), s.URL()+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	if err := ws.Write(context.Background(), websocket.MessageText, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	var frames []string
	for len(frames) < 2 {
		if e := next(); e.Kind == feed.Message {
			frames = append(frames, fmt.Sprintf("%s: %s (%d, %s)", e.From, e.Text, e.Bytes, e.Object))
		}
	}
	if got := fmt.Sprint(frames); got != "[client: hello (5, Room/lobby) worker: echo hello (10, Room/lobby)]" {
		t.Errorf("the frames are %s", got)
	}
}

// The hibernatable sockets of an object are shown with their tags and attachments,
// whether it is in memory or not, and without waking it.
func TestObjectSockets(t *testing.T) {
	_, s, client := watched(t)
	ws, _, err := websocket.Dial(context.Background(), s.URL()+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	for _, memory := range []int{1, 0} {
		var got ObjectSockets
		if err := client.Post(context.Background(), "/v1/object/sockets", ObjectRequest{"Room", "lobby"}, &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Sockets) != 1 || fmt.Sprint(got.Sockets[0].Tags) != "[user:ann second]" || got.Sockets[0].Attachment != "{ name: 'ann', since: 1970-01-01T00:00:00.000Z }" {
			t.Errorf("%d in memory: %+v", memory, got)
		}
		if s.LiveObjects() != memory {
			t.Errorf("%d objects are in memory, want %d", s.LiveObjects(), memory)
		}
		if err := client.Post(context.Background(), "/v1/hibernate", ActRequest{Class: "Room", Object: "lobby"}, nil); memory == 1 && err != nil {
			t.Fatal(err)
		}
	}
}
