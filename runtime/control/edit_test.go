package control

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/runtime/binding/queue"
)

const edited = `
import { DurableObject } from "cloudflare:workers";
export class Room extends DurableObject {
  async fetch(req) {
    const { sql, kv } = this.ctx.storage;
    if (new URL(req.url).pathname === "/wait") { await scheduler.wait(60000); return new Response("late"); }
    sql.exec("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT, b BLOB)");
    if (new URL(req.url).pathname === "/fill") {
      sql.exec("INSERT INTO notes (text, b) VALUES ('a', x'0102')");
      kv.put("plain", { n: [1, "two", null] }); kv.put("map", new Map([["k", 1n]])); kv.put("z", "text");
      await this.ctx.storage.setAlarm(Date.now() + 3600e3);
    }
    return Response.json([sql.exec("SELECT text FROM notes").toArray(), kv.get("plain")]);
  }
  alarm() {}
}
export default { async fetch(req, env) {
  if (new URL(req.url).pathname !== "/send") return env.ROOM.getByName("lobby").fetch(req);
  for (const [body, contentType] of [["text", "text"], [{ a: 1 }, "json"], [new Map([["k", 1]]), "v8"], [new Uint8Array([1, 2]), "bytes"]]) await env.JOBS.send(body, { contentType });
  return new Response("sent");
} };`

func startEdited(t *testing.T) (url func(path string) string, client *Client, ctx context.Context) {
	_, s, client := startProject(t, nil, map[string]string{"worker.js": edited, "wrangler.json": `{"name": "ed", "main": "worker.js", "compatibility_date": "2026-08-01",
"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Room"]}],
"queues": {"producers": [{"binding": "JOBS", "queue": "jobs"}], "consumers": [{"queue": "jobs", "type": "http_pull", "max_retries": 1, "dead_letter_queue": "dead"}]}}`})
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	return func(path string) string { return visit(t, s, path) }, client, ctx
}

// refused is the message of an error that the API gave, "" for another or none.
func refused(err error, code string) string {
	var ce *CallError
	if errors.As(err, &ce) && ce.Code == code {
		return ce.Message
	}
	return ""
}

// A person writes an object's tables as its own code would: several statements are one
// transaction, what the rules of storage.sql refuse is refused, and the object sees it.
func TestExecute(t *testing.T) {
	url, client, ctx := startEdited(t)
	url("/fill")
	execute := func(statements ...Statement) (Executed, error) {
		var out Executed
		err := client.Post(ctx, "/v1/execute", ExecuteRequest{"Room", "lobby", statements}, &out)
		return out, err
	}
	got, err := execute(Statement{SQL: "UPDATE notes SET text = 'b' WHERE id = 1 AND text IS 'a' RETURNING b"}, Statement{SQL: "INSERT INTO notes (text) VALUES (?)", Params: []any{"c"}})
	if err != nil || fmt.Sprint(got) != "{[{[b] [[map[base64:AQI=]]] false 2 1} {[] [] false 0 1}]}" {
		t.Errorf("%v, %v", got, err)
	}
	if got := url("/"); got != `[[{"text":"b"},{"text":"c"}],{"n":[1,"two",null]}]` {
		t.Errorf("the object sees %s", got)
	}
	if _, err := execute(Statement{SQL: "DELETE FROM notes"}, Statement{SQL: "SELECT nonsense"}); refused(err, "failed") != "no such column: nonsense at offset 7: SQLITE_ERROR" {
		t.Errorf("a statement that fails: %v", err)
	}
	if got := url("/"); !strings.Contains(got, `"b"`) {
		t.Errorf("what came before a failure is not undone: %s", got)
	}
	for _, sql := range []string{"DELETE FROM _cf_KV", "ATTACH DATABASE 'x' AS y", "BEGIN", "PRAGMA journal_mode = off"} {
		if _, err := execute(Statement{SQL: sql}); err == nil {
			t.Errorf("%s is executed", sql)
		}
	}
	if _, err := execute(); refused(err, "bad_request") == "" {
		t.Errorf("no statement: %v", err)
	}
	if err := client.Post(ctx, "/v1/execute", ExecuteRequest{"Room", "nobody", []Statement{{SQL: "SELECT 1"}}}, nil); refused(err, "not_found") == "" {
		t.Errorf("an object that does not exist: %v", err)
	}
	url("/send")
	if err := client.Post(ctx, "/v1/execute", ExecuteRequest{"queue-jobs", "broker", []Statement{{SQL: "DELETE FROM queued"}}}, nil); !strings.Contains(refused(err, "refused"), "queue-jobs are minido's own") {
		t.Errorf("a queue's broker: %v", err)
	}
}

// The values of an object's key-value storage are shown as console.log shows them, and
// those that JSON has are put; delete leaves nothing but the past.
func TestValues(t *testing.T) {
	url, client, ctx := startEdited(t)
	url("/fill")
	list := func(req ValuesRequest) string {
		req.Class, req.Object = "Room", "lobby"
		var v Values
		if err := client.Post(ctx, "/v1/values", req, &v); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(v)
	}
	map1, plain := `{map 18 Map(1) { 'k' => 1n } }`, `{plain 21 { n: [ 1, 'two', null ] } {"n":[1,"two",null]}}`
	if got := list(ValuesRequest{}); got != "{["+map1+" "+plain+` {z 8 'text' "text"}] false}` {
		t.Error(got)
	}
	if got := list(ValuesRequest{Limit: 1, After: "map"}); got != "{["+plain+"] true}" {
		t.Error(got)
	}
	if got := list(ValuesRequest{Prefix: "pl"}); got != "{["+plain+"] false}" {
		t.Error(got)
	}
	value := func(path, key, json string) error {
		return client.Post(ctx, path, ValueRequest{"Room", "lobby", key, json}, nil)
	}
	if err := value("/v1/values/put", "plain", `{"n": 2}`); err != nil {
		t.Error(err)
	}
	if err := value("/v1/values/put", "plain", `{n: 2}`); refused(err, "bad_request") == "" {
		t.Errorf("what is no JSON: %v", err)
	}
	if err := value("/v1/values/delete", "map", ""); err != nil {
		t.Error(err)
	}
	if got := url("/"); got != `[[{"text":"a"}],{"n":2}]` {
		t.Errorf("the object sees %s", got)
	}
	if got := list(ValuesRequest{Prefix: "m"}); got != "{[] false}" {
		t.Error(got)
	}
	late := make(chan string, 1)
	go func() { late <- url("/wait") }()
	for busy := false; !busy; {
		var o Objects
		if err := client.Get(ctx, "/v1/objects", &o); err != nil {
			t.Fatal(err)
		}
		busy = o.Objects[0].Live != nil && o.Objects[0].Live.Events > 0
	}
	if err := client.Post(ctx, "/v1/delete", ObjectRequest{"Room", "lobby"}, nil); !strings.Contains(err.Error(), "events are in progress") {
		t.Errorf("a busy object: %v", err)
	}
	if err := client.Post(ctx, "/v1/crash", ActRequest{Class: "Room", Object: "lobby"}, nil); err != nil {
		t.Fatal(err)
	}
	<-late
	var before Moments
	if err := client.Post(ctx, "/v1/moments", PastRequest{Class: "Room", Object: "lobby"}, &before); err != nil {
		t.Fatal(err)
	}
	if err := client.Post(ctx, "/v1/delete", ObjectRequest{"Room", "lobby"}, nil); err != nil {
		t.Fatal(err)
	}
	var o Objects
	if err := client.Get(ctx, "/v1/objects", &o); err != nil || o.Objects[0].Live != nil || o.Objects[0].AlarmMs != nil {
		t.Errorf("after the deletion: %+v, %v", o, err)
	}
	if got := url("/"); got != `[[],null]` {
		t.Errorf("after the deletion the object sees %s", got)
	}
	if err := client.Post(ctx, "/v1/restore", RestoreRequest{"Room", "lobby", nil, before.Moments[len(before.Moments)-1].Bookmark}, nil); err != nil {
		t.Fatal(err)
	}
	if got := url("/"); got != `[[{"text":"a"}],{"n":2}]` {
		t.Errorf("the past is not there any more: %s", got)
	}
}

// A person sees the queues, what waits in each, and removes, delivers and purges it.
func TestQueues(t *testing.T) {
	url, client, ctx := startEdited(t)
	url("/send")
	var q Queues
	if err := client.Get(ctx, "/v1/queues", &q); err != nil {
		t.Fatal(err)
	}
	if len(q.Queues) != 2 || q.Queues[0].Name != "dead" || fmt.Sprint(q.Queues[0].DeadLettersOf) != "[jobs]" || q.Queues[0].Consumer != nil ||
		fmt.Sprint(q.Queues[1].Producers) != "[ed.JOBS]" || *q.Queues[1].Consumer != (queue.ConsumerInfo{Worker: "ed", Type: "http_pull", MaxBatchSize: 5, MaxBatchTimeout: 1, MaxRetries: 1, MaxConcurrency: 1, DeadLetterQueue: "dead"}) ||
		q.Queues[1].Backlog != 4 || q.Queues[1].PausedMs != nil {
		t.Errorf("%+v", q)
	}
	list := func(after int64) (m Messages) {
		if err := client.Post(ctx, "/v1/queue/messages", MessagesRequest{"jobs", after, 3}, &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	shown := ""
	m := list(0)
	for _, one := range append(m.Messages, list(m.Messages[2].Seq).Messages...) {
		shown += fmt.Sprintf("%s %s %d %d; ", one.ContentType, one.Text, one.Bytes, one.Attempts)
	}
	if !m.More || shown != "text text 4 0; json {\"a\":1} 7 0; v8 Map(1) { 'k' => 1 } 10 0; bytes AQI= 2 0; " {
		t.Errorf("%v %s", m.More, shown)
	}
	for _, op := range []string{"deliver", "remove"} {
		if err := client.Post(ctx, "/v1/queue/"+op, MessageRequest{"jobs", m.Messages[0].Seq}, nil); err != nil {
			t.Errorf("%s: %v", op, err)
		}
	}
	if err := client.Post(ctx, "/v1/queue/remove", MessageRequest{"jobs", m.Messages[0].Seq}, nil); refused(err, "refused") == "" {
		t.Errorf("a message that is gone: %v", err)
	}
	if err := client.Post(ctx, "/v1/queue/pause", QueueRequest{"jobs"}, nil); err != nil {
		t.Error(err)
	}
	if err := client.Get(ctx, "/v1/queues", &q); err != nil || q.Queues[1].PausedMs == nil || q.Queues[1].Backlog != 3 {
		t.Errorf("%+v, %v", q, err)
	}
	if err := client.Post(ctx, "/v1/queue/purge", QueueRequest{"jobs"}, nil); err != nil {
		t.Error(err)
	}
	if got := list(0); len(got.Messages) != 0 {
		t.Errorf("after purge: %+v", got)
	}
	if err := client.Post(ctx, "/v1/queue/messages", MessagesRequest{Queue: "none"}, nil); refused(err, "bad_request") == "" {
		t.Errorf("no such queue: %v", err)
	}
}
