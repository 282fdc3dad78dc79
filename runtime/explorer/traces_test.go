package explorer_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/explorer"
	"minido.dev/minido/runtime/minidotest"
)

const tracedWorker = `import { DurableObject, WorkflowEntrypoint } from "cloudflare:workers";
export class Flow extends WorkflowEntrypoint {}
export class Room extends DurableObject { note(t) { console.log("in room", { t }); } }
export default {
  async fetch(req, env) {
    console.log("hello", { a: 1 });
    console.warn("careful");
    if (req.url.endsWith("/throw")) throw new TypeError("boom");
    await env.ROOM.getByName("x").note("hey");
    return new Response("ok", { status: 201 });
  },
  scheduled(c) { console.error("cron", c.cron); },
};`

// tracesOf asks for rows of traces.
func tracesOf(t *testing.T, w *minidotest.World, sql string, params ...any) (rows, notes string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"sql": sql, "params": append([]any{}, params...)})
	if err != nil {
		t.Fatal(err)
	}
	got := w.Do("POST", "http://localhost"+explorer.Path+"/api/local/observability/query", string(body))
	var answer struct {
		Messages, Errors []struct {
			Code    int
			Message string
		}
		Result struct{ Rows [][]any }
	}
	if err := json.Unmarshal([]byte(got.Body), &answer); err != nil {
		t.Fatalf("%s: %v", got.Body, err)
	}
	if got.Status != http.StatusOK {
		return fmt.Sprint(got.Status, answer.Errors), ""
	}
	encoded, err := json.Marshal(answer.Result.Rows)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded), fmt.Sprint(answer.Messages)
}

// What the workers do is kept from the first query on; the rows are those of wrangler dev 4
// but for what it notes of operations on bindings.
func TestTraces(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{"worker.js": tracedWorker, "wrangler.json": configuration}, minidotest.Options{})
	w.Do("GET", "http://localhost/before", "")
	if rows, notes := tracesOf(t, w, "SELECT * FROM spans"); rows != "[]" || !strings.Contains(notes, "from the first query on") {
		t.Errorf("at first %s %s", rows, notes)
	}
	for _, path := range []string{"/rpc", "/throw", "/cdn-cgi/handler/scheduled?cron=*+*+*+*+*"} {
		w.Do("GET", "http://localhost"+path, "")
	}
	for _, c := range []struct {
		sql    string
		params []any
		want   string
	}{
		{"SELECT name, kind, service, outcome, error, parent_id, duration_ms >= 0 FROM spans ORDER BY rowid", nil,
			`[["jsrpc","jsrpc","exp","ok",null,null,1],["GET","http","exp","ok",null,null,1],["GET","http","exp","exception","TypeError: boom",null,1],["scheduled","scheduled","exp","ok",null,null,1]]`},
		{"SELECT attributes ->> '$.\"url.full\"', attributes ->> '$.\"http.response.status_code\"' FROM spans WHERE kind = ? ORDER BY rowid", []any{"http"}, `[["http://localhost/rpc",201],["http://localhost/throw",null]]`},
		{"SELECT logs.level, message, operation FROM logs JOIN spans USING (span_id) ORDER BY spans.rowid, seq;", nil,
			`[["info","[\"in room\",{\"t\":\"hey\"}]",null],["info","\"jsrpc\"",null],["info","[\"hello\",{\"a\":1}]",null],["warn","[\"careful\"]",null],["info","\"GET http://localhost/rpc\"",null],` +
				`["info","[\"hello\",{\"a\":1}]",null],["warn","[\"careful\"]",null],["error","\"TypeError: boom\\n    at Object.fetch (worker.js:8:43)\"","GET"],["error","\"GET http://localhost/throw\"",null],` +
				`["error","[\"cron\",\"* * * * *\"]",null],["info","\"scheduled\"",null]]`},
		{"  -- a comment\n WITH x AS (SELECT ? AS p) SELECT p FROM x", []any{true}, `[["true"]]`},
		{"SELECT ?", []any{[]any{1, nil, "b"}}, `[["1,,b"]]`},
		{"SELECT 1", []any{1}, "400 [{10131 Wrong number of parameter bindings for SQL query.}]"},
		{"DELETE FROM spans", nil, "400 [{10131 Only read-only SELECT/WITH queries are allowed}]"},
		{"WITH x AS (SELECT 1) DELETE FROM spans", nil, "400 [{10131 Only read-only SELECT/WITH queries are allowed}]"},
		{"PRAGMA table_info(spans)", nil, "400 [{10131 Only read-only SELECT/WITH queries are allowed}]"},
		{"ATTACH '/etc/passwd' AS x", nil, "400 [{10131 Only read-only SELECT/WITH queries are allowed}]"},
		{"SELECT 1; SELECT 2", nil, "400 [{10131 Only a single statement is allowed}]"},
		{"SELECT nope", nil, "400 [{10131 no such column: nope at offset 7: SQLITE_ERROR}]"},
		{"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0", nil, "400 [{10131 interrupted: SQLITE_INTERRUPT}]"},
	} {
		if got, _ := tracesOf(t, w, c.sql, c.params...); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.sql, got, c.want)
		}
	}
	for body, want := range map[string]string{`{}`: "sql: Invalid input: expected string, received undefined", `[]`: "Invalid input: expected object, received array", `{"sql":5}`: "sql: Invalid input: expected string, received number",
		`{"sql":"SELECT 1","params":5}`: "params: Invalid input: expected array, received number"} {
		compare(t, w, "POST", "local/observability/query", body, 400, "10001 "+want)
	}
	compare(t, w, "POST", "local/observability/clear", "", 200, `{"success":true}`)
	if rows, notes := tracesOf(t, w, "SELECT (SELECT count(*) FROM spans) + (SELECT count(*) FROM logs)"); rows != "[[0]]" || notes != "[]" {
		t.Errorf("after all %s %s", rows, notes)
	}
}

// The newest invocations are kept, as many as fit.
func TestTracesAreBounded(t *testing.T) {
	traces := explorer.NewTraces(time.Now, entropy.NewSeeded(1))
	long := event.RawJSON(`["` + strings.Repeat("x", 100<<10) + `"]`)
	for i := range 5000 {
		traces.Ended(&event.Trace{ScriptName: fmt.Sprint(i)})
	}
	if n, newest := traces.Kept(); n != 4096 || newest != "4999" {
		t.Errorf("%d are kept, the newest is %s", n, newest)
	}
	for i := range 1000 {
		traces.Ended(&event.Trace{ScriptName: fmt.Sprint("long ", i), Logs: []event.TraceLog{{Message: long}}})
	}
	if n, newest := traces.Kept(); n < 300 || n > 330 || newest != "long 999" {
		t.Errorf("%d long ones are kept, the newest is %s", n, newest)
	}
}
