package explorer_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/minidotest"
)

const worker = `import { DurableObject, WorkflowEntrypoint } from "cloudflare:workers";
export class Room extends DurableObject { hit() { this.ctx.storage.sql.exec("CREATE TABLE t (a)"); } }
export class Flow extends WorkflowEntrypoint { async run(event, step) { await step.sleep("nap", 1000); return 1; } }
export default { async fetch(req, env) {
  await env.KV.put("b", "two", { metadata: { m: 1 } }); await env.KV.put("a/x y", "one");
  await env.DB.exec("CREATE TABLE u (id INTEGER PRIMARY KEY, n TEXT)"); await env.DB.prepare("INSERT INTO u (n) VALUES (?)").bind("ann").run();
  await env.R2.put("k/1.txt", "hello", { httpMetadata: { contentType: "text/plain" }, customMetadata: { c: "d" } });
  await env.ROOM.getByName("lobby").hit();
  await env.FLOW.create({ id: "one" });
  return new Response("ok");
} };`

const configuration = `{"name": "exp", "main": "worker.js", "compatibility_date": "2026-08-01", "kv_namespaces": [{"binding": "KV", "id": "kvid"}],
"d1_databases": [{"binding": "DB", "database_name": "dbname", "database_id": "dbid"}], "r2_buckets": [{"binding": "R2", "bucket_name": "bucket"}],
"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room"}]}, "migrations": [{"tag": "1", "new_sqlite_classes": ["Room"]}],
"workflows": [{"name": "flow", "binding": "FLOW", "class_name": "Flow"}]}`

// What depends on the run: an object's id, times and versions.
var varies = regexp.MustCompile(`[0-9a-f]{32,64}|\d{4}-\d\d-\d\dT[\d:.]+Z|_ms":[\d.e-]+|"duration":[\d.e-]+`)

// Each answer is the one that wrangler dev 4 gave for the same worker and request, taken
// down from it, but for those that are marked.
func TestAnswers(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{"worker.js": worker, "wrangler.json": configuration}, minidotest.Options{})
	w.Do("GET", "http://localhost/", "")
	w.Advance(time.Minute)
	meta := `"meta":{"served_by":"miniflare.db","served_by_primary":true,"total_attempts":1,"timings":{"sql_duration?},?,"changes":0,"last_row_id":1,"changed_db":false,"size_after":8192,"rows_read":`
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string // of the result and what follows; or of the message
	}{
		{"GET", "storage/kv/namespaces", "", 200, `[{"id":"kvid","title":"KV"}],"result_info":{"count":1}`},
		{"GET", "storage/kv/namespaces?order=x", "", 400, `10001 order: Invalid option: expected one of \"id\"|\"title\"`},
		{"GET", "storage/kv/namespaces/kvid/keys", "", 200, `[{"name":"a/x y"},{"name":"b","metadata":{"m":1}}],"result_info":{"count":2,"cursor":""}`},
		{"GET", "storage/kv/namespaces/kvid/keys?limit=5", "", 400, `10001 limit: Too small: expected number to be >=10`},
		{"GET", "storage/kv/namespaces/kvid/keys?limit=10&prefix=a", "", 200, `[{"name":"a/x y"}],"result_info":{"count":1,"cursor":""}`},
		{"GET", "storage/kv/namespaces/none/keys", "", 404, `10000 no binding names the KV namespace none`}, // wrangler: an empty list
		{"GET", "storage/kv/namespaces/kvid/values/b", "", 200, `=two`},
		{"GET", "storage/kv/namespaces/kvid/values/a%2Fx%20y", "", 200, `=one`},
		{"GET", "storage/kv/namespaces/kvid/values/zz", "", 404, `10009 Not Found`},
		{"PUT", "storage/kv/namespaces/kvid/values/new", "new value", 200, `{}`},
		{"GET", "storage/kv/namespaces/kvid/values/new", "", 200, `=new value`},
		{"DELETE", "storage/kv/namespaces/kvid/values/new", "", 200, `{}`},
		{"GET", "storage/kv/namespaces/kvid/values/new", "", 404, `10009 Not Found`},
		{"PUT", "storage/kv/namespaces/kvid/bulk", `[{"key":"p","value":"cA==","base64":true},{"key":"q","value":"q","metadata":{"x":1}}]`, 200, `{"successful_key_count":2,"unsuccessful_keys":[]}`},
		{"POST", "storage/kv/namespaces/kvid/bulk/get", `{"keys":["p","zz"]}`, 200, `{"values":{"p":"p","zz":null}}`},
		{"POST", "storage/kv/namespaces/kvid/bulk/delete", `["p","q"]`, 200, `{"successful_key_count":2,"unsuccessful_keys":[]}`},
		{"GET", "d1/database", "", 200, `[{"name":"DB","uuid":"dbid","version":"production"}],"result_info":{"count":1}`},
		{"GET", "d1/database?name=zzz", "", 200, `[],"result_info":{"count":0}`},
		{"POST", "d1/database/dbid/raw", `{"sql":"SELECT * FROM u"}`, 200, `[{"success":true,"results":{"columns":["id","n"],"rows":[[1,"ann"]]},` + meta + `1,"rows_written":0}}]`},
		{"POST", "d1/database/dbid/raw", `{"sql":"SELECT ? AS a","params":["1"]}`, 200, `[{"success":true,"results":{"columns":["a"],"rows":[["1"]]},` + meta + `0,"rows_written":0}}]`},
		{"POST", "d1/database/dbid/raw", `{"sql":"SELECT nope"}`, 500, `10001 no such column: nope at offset 7: SQLITE_ERROR`},
		{"POST", "d1/database/dbid/raw", `{}`, 400, `10001 Invalid input`},
		{"POST", "d1/database/dbid/raw", `{bad`, 400, `10001 Invalid JSON request body`},
		{"GET", "workers/durable_objects/namespaces", "", 200, `[{"id":"exp-Room","name":"exp_Room","script":"exp","class":"Room","use_sqlite":true}],"result_info":{"count":1}`},
		{"GET", "workers/durable_objects/namespaces/exp-Room/objects", "", 200, `[{"id":"?","name":"lobby","hasStoredData":true}],"result_info":{"count":1,"cursor":""}`},
		{"GET", "workers/durable_objects/namespaces/none/objects", "", 404, `10066 Durable Object namespace ID 'none' not found.`},
		{"GET", "r2/buckets", "", 200, `{"buckets":[{"name":"bucket"}]},"result_info":{"count":1,"total_count":1}`},
		{"GET", "r2/buckets/bucket/objects", "", 200, `[{"key":"k/1.txt","etag":"?","size":5,"last_modified":"?","http_metadata":{},"custom_metadata":{}}],"result_info":{"delimited":[],"is_truncated":"false"}`},
		{"GET", "r2/buckets/bucket/objects?delimiter=/", "", 200, `[],"result_info":{"delimited":["k/"],"is_truncated":"false"}`},
		{"GET", "r2/buckets/bucket/objects/k%2F1.txt", "", 200, `=hello`},
		{"GET", "r2/buckets/bucket/objects/none", "", 404, `10007 The specified key does not exist.`},
		{"PUT", "r2/buckets/bucket/objects/new.css", "body", 200, `{"key":"new.css","etag":"?","size":4,"version":"?"}`},
		{"DELETE", "r2/buckets/bucket/objects", `["new.css"]`, 200, `[{"key":"new.css"}]`},
		{"DELETE", "r2/buckets/bucket/objects/none", "", 200, `{"key":"none"}`},
		{"GET", "workflows", "", 200, `[{"name":"flow","class_name":"Flow","script_name":"exp"}],"result_info":{"count":1}`},
		{"GET", "workflows/flow", "", 200, `{"name":"flow","class_name":"Flow","script_name":"exp","instances":{"complete":1,"errored":0,"paused":0,"queued":0,"running":0,"terminated":0,"waiting":0,"waitingForPause":0}}`},
		{"GET", "workflows/none", "", 404, `10501 Workflow 'none' not found.`},
		{"GET", "workflows/flow/instances", "", 200, `[{"id":"one","status":"complete","created_on":"?"}],"result_info":{"page":1,"per_page":25,"total_count":1,"total_pages":1,"status_counts":{"complete":1}}`},
		{"GET", "nope", "", 404, `=404 Not Found`},
		{"GET", "local/observability/x", "", 501, `10000 minido's explorer does not have GET /cdn-cgi/local/explorer/api/local/observability/x (see \"explorer\" in docs/compatibility.md)`},
	} {
		got := w.Do(c.method, "http://localhost/cdn-cgi/local/explorer/api/"+c.path, c.body)
		want := `{"success":true,"errors":[],"messages":[],"result":` + c.want + "}"
		if code, text, ok := strings.Cut(c.want, " "); ok && c.status >= 400 {
			want = `{"success":false,"errors":[{"code":` + code + `,"message":"` + text + `"}],"messages":[],"result":null}`
		}
		if text, ok := strings.CutPrefix(c.want, "="); ok {
			want = text
		}
		if text := varies.ReplaceAllString(got.Body, "?"); got.Status != c.status || text != want {
			t.Errorf("%s %s %s: %d %s\nwant %d %s", c.method, c.path, c.body, got.Status, text, c.status, want)
		}
	}
}

// A page of another origin gets nothing, one of this machine's other ports included.
func TestOrigins(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{"worker.js": worker, "wrangler.json": configuration}, minidotest.Options{})
	for origin, status := range map[string]int{"http://evil.example": 403, "http://localhost:3000": 403, "null": 403, "https://localhost": 403, "http://localhost": 200} {
		got := make(chan int, 1)
		w.Server.Fetch(&event.Request{Method: "GET", URL: "http://localhost/cdn-cgi/local/explorer/api/storage/kv/namespaces", Header: event.Header{{Name: "Origin", Value: origin}}},
			func(resp *event.Response, err error) {
				if err != nil {
					t.Error(err)
					resp = &event.Response{}
				}
				got <- resp.Status
			})
		if err := w.Until(func() bool { return len(got) > 0 }); err != nil {
			t.Fatal(err)
		}
		if s := <-got; s != status {
			t.Errorf("Origin %s: status %d, want %d", origin, s, status)
		}
	}
}
