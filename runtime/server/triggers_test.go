package server_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/minidotest"
)

// A cron handler is fired by hand at the paths that wrangler's users know, and
// answers with its outcome.
func TestScheduledByHand(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"worker.ts": `
let seen = "";
export default {
  async scheduled(c, env, ctx) {
    ctx.waitUntil(Promise.resolve().then(() => { seen += " later"; }));
    seen = c.cron + " " + c.scheduledTime + " " + c.constructor.name;
    if (c.cron === "bad") throw new Error("no luck");
    if (c.cron === "once") c.noRetry();
    if (c.cron === "late") ctx.waitUntil(scheduler.wait(50).then(() => { c.noRetry(); throw new Error("late"); }));
  },
  fetch(req) { return new Response("fetched " + new URL(req.url).pathname + " " + seen); },
}`,
		"wrangler.json": `{"name": "cron", "main": "worker.ts", "compatibility_date": "2026-08-01"}`,
	}, minidotest.Options{})
	for _, c := range []struct {
		path, want string
		status     int
	}{
		{"/cdn-cgi/handler/scheduled?cron=*+*+*+*+*&time=1700000000000", "ok", 200},
		{"/x", "fetched /x * * * * * 1700000000000", 200},
		{"/cdn-cgi/mf/scheduled?cron=bad", "500 exception", 500},
		{"/cdn-cgi/local/scheduled?format=json&cron=once", `{"outcome":"ok","noRetry":true}`, 200},
		{"/cdn-cgi/handler/scheduled?format=json&cron=bad", `500 {"outcome":"exception","noRetry":false}`, 500},
		{"/cdn-cgi/handler/scheduled?format=json&cron=late", `500 {"outcome":"exception","noRetry":true}`, 500}, // what waitUntil holds belongs to it
		{"/cdn-cgi/handler/scheduled?time=soon", "400 time=soon is not a number of milliseconds since the epoch\n", 400},
		{"/__scheduled", "fetched /__scheduled", 200},
		{"/cdn-cgi/other", "fetched /cdn-cgi/other", 200},
	} {
		r := w.Do("GET", "http://localhost"+c.path, "")
		if got := r.Text(); r.Status != c.status || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %d %q, want %d %q", c.path, r.Status, got, c.status, c.want)
		}
	}
	// The log has each failure once, with the place.
	for text, want := range map[string]int{"Uncaught Error: no luck": 2, "Uncaught Error: late": 1, "scheduled: no luck": 0, "scheduled: late": 0} {
		if got := w.Logged(text); len(got) != want {
			t.Errorf("%q was logged %d times, want %d: %q", text, len(got), want, got)
		}
	}
}

// With nodejs_als there is async_hooks and nothing else of Node; with
// nodejs_compat the worker's own modules are files below /bundle.
func TestNodeModulesByFlag(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"worker.ts": `
import { AsyncLocalStorage } from "node:async_hooks";
const als = new AsyncLocalStorage();
export default { fetch: () => als.run("in", async () => { await null; return new Response(als.getStore() + typeof Buffer + typeof process); }) }`,
		"wrangler.json": `{"name": "als", "main": "worker.ts", "compatibility_date": "2026-08-01", "compatibility_flags": ["nodejs_als"]}`,
	}, minidotest.Options{})
	if got := w.Do("GET", "http://localhost/", "").Text(); got != "inundefinedundefined" {
		t.Errorf("nodejs_als: %s", got)
	}
	w = minidotest.NewWorldFrom(t, map[string]string{
		"src/worker.ts": `
import { readFileSync, readdirSync } from "node:fs";
import note from "./note.txt";
export default { fetch: () => new Response(readdirSync("/bundle/src").sort().join() + " " + (readFileSync("/bundle/src/note.txt", "utf8") === note)) }`,
		"src/note.txt":  "a note",
		"wrangler.json": `{"name": "fs", "main": "src/worker.ts", "compatibility_date": "2026-08-01", "compatibility_flags": ["nodejs_compat"]}`,
	}, minidotest.Options{})
	if got := w.Do("GET", "http://localhost/", "").Text(); got != "note.txt,worker.ts true" {
		t.Errorf("/bundle: %s", got)
	}
}

// What a client sees of an object carries the object's label, also through a
// worker that passes the response on, and the cause of the turn that sent it.
func TestLabelsOfOutputs(t *testing.T) {
	var labels []string
	w := minidotest.NewWorker(t, `
export class Room extends DurableObject {
  async fetch(req) {
    if (!req.headers.get("Upgrade")) return new Response("room");
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    server.send("hello");
    await this.ctx.storage.setAlarm(Date.now() + 1000);
    return new Response(null, { status: 101, webSocket: client });
  }
  webSocketMessage(ws, m) { ws.send("echo " + m); if (m === "bye") ws.close(1000, "bye"); }
  alarm() { for (const ws of this.ctx.getWebSockets()) ws.send("ring"); }
}
export default serve({ plain: () => 1 });`, minidotest.Options{Kill: func(p killpoint.Point) bool {
		if p.Side == killpoint.After && (p.Kind == killpoint.Response || p.Kind == killpoint.Frame || p.Kind == killpoint.Close) {
			labels = append(labels, p.Label())
		}
		return false
	}})
	w.Call("!plain")
	w.Do("GET", "http://localhost/fetch/Room/a", "")
	c := w.Dial("http://localhost/fetch/Room/a")
	c.Next(1)
	w.Advance(2 * time.Second)
	c.Send("bye")
	if err := w.Until(func() bool { return c.Closed != nil }); err != nil {
		t.Fatal(err)
	}
	want := []string{"response:after()/fetch#1", "close:after()/fetch#1",
		"response:after(Room/a)/fetch#1", "response:after(Room/a)/fetch#2", "close:after(Room/a)/fetch#1",
		"response:after(Room/a)/fetch#3", "response:after(Room/a)/fetch#4", "frame:after(Room/a)/fetch#1",
		"frame:after(Room/a)/alarm#1", "frame:after(Room/a)/message#1", "close:after(Room/a)/message#1"}
	if !slices.Equal(labels, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(labels, "\n"), strings.Join(want, "\n"))
	}
}
