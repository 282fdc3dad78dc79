package explorer_test

import (
	"encoding/json"
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
}, async scheduled(c, env) {
  const at = c.cron === "x" ? "x@" + c.scheduledTime : (await env.KV.get("crons")) + " " + c.cron;
  await env.KV.put("crons", at);
  if (c.cron === "noretry") c.noRetry();
  if (c.cron === "throw") throw new Error("thrown");
} };`

const configuration = `{"name": "exp", "main": "worker.js", "compatibility_date": "2026-08-01", "kv_namespaces": [{"binding": "KV", "id": "kvid"}],
"d1_databases": [{"binding": "DB", "database_name": "dbname", "database_id": "dbid"}], "r2_buckets": [{"binding": "R2", "bucket_name": "bucket"}],
"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room"}]}, "migrations": [{"tag": "1", "new_sqlite_classes": ["Room"]}],
"workflows": [{"name": "flow", "binding": "FLOW", "class_name": "Flow"}]}`

// What depends on the run: an object's id, times and versions.
var varies = regexp.MustCompile(`[0-9a-f]{32,64}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z|_ms":[\d.e-]+|"duration":[\d.e-]+`)

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
		{"POST", "local/scheduled", `{"cron":"* * * * *"}`, 400, `10001 worker: Invalid input: expected string, received undefined`},
		{"POST", "local/scheduled?worker=", `{"cron":"* * * * *"}`, 400, `10001 worker: Too small: expected string to have >=1 characters`},
		{"POST", "local/scheduled?worker=none", `{"cron":"x"}`, 404, `10000 Worker \"none\" is not registered.`},
		{"POST", "local/scheduled?worker=exp", `[]`, 400, `10001 Invalid input: expected object, received array`},
		{"POST", "local/scheduled?worker=exp", `{}`, 400, `10001 cron: Invalid input: expected string, received undefined`},
		{"POST", "local/scheduled?worker=exp", `{"cron":5}`, 400, `10001 cron: Invalid input: expected string, received number`},
		{"POST", "local/scheduled?worker=exp", `{"cron":"  "}`, 400, `10001 cron: Invalid string: must match pattern /.*\\S.*/`},
		{"POST", "local/scheduled?worker=exp", `{"cron":"x","scheduled_time":null}`, 400, `10001 scheduled_time: Invalid input: expected number, received null`},
		{"POST", "local/scheduled?worker=exp", `{"cron":"x","scheduled_time":1.5}`, 400, `10001 scheduled_time: Invalid input: expected int, received number`},
		{"POST", "local/scheduled?worker=exp", `{"cron":"x","scheduled_time":-9223372036855}`, 400, `10001 scheduled_time: Too small: expected number to be >=-9223372036854`},
		{"POST", "local/scheduled?worker=exp", `{"cron":"x","scheduled_time":1234}`, 200, `{"outcome":"ok","noRetry":false}`},
		{"POST", "local/scheduled?worker=exp", `{"cron":"throw"}`, 200, `{"outcome":"exception","noRetry":false}`},
		{"POST", "local/scheduled?worker=exp", `{"cron":"noretry"}`, 200, `{"outcome":"ok","noRetry":true}`},
		{"GET", "storage/kv/namespaces/kvid/values/crons", "", 200, `=x@1234 throw noretry`},
		{"GET", "nope", "", 404, `=404 Not Found`},
		{"GET", "local/email/x", "", 501, `10000 minido's explorer does not have GET /cdn-cgi/local/explorer/api/local/email/x (see \"explorer\" in docs/compatibility.md)`},
	} {
		compare(t, w, c.method, c.path, c.body, c.status, c.want)
	}
}

// compare asks the API, and compares what it answers but for what depends on the run.
func compare(t *testing.T, w *minidotest.World, method, path, body string, status int, result string) {
	t.Helper()
	got := w.Do(method, "http://localhost/cdn-cgi/local/explorer/api/"+path, body)
	want := `{"success":true,"errors":[],"messages":[],"result":` + result + "}"
	if code, text, ok := strings.Cut(result, " "); ok && status >= 400 {
		want = `{"success":false,"errors":[{"code":` + code + `,"message":"` + text + `"}],"messages":[],"result":null}`
	}
	if text, ok := strings.CutPrefix(result, "="); ok {
		want = text
	}
	if text := varies.ReplaceAllString(got.Body, "?"); got.Status != status || text != want {
		t.Errorf("%s %s %s: %d %s\nwant %d %s", method, path, body, got.Status, text, status, want)
	}
}

const flowWorker = `import { DurableObject, WorkflowEntrypoint } from "cloudflare:workers";
export class Room extends DurableObject { hit() { this.ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS t (a, b)"); this.ctx.storage.sql.exec("INSERT INTO t VALUES (1, x'0102')"); } }
export class Flow extends WorkflowEntrypoint {
  async run(event, step) {
    await step.do("first", async () => ({ n: event.payload }));
    let tries = 0;
    await step.do("flaky", { retries: { limit: 3, delay: 10, backoff: "constant" } }, async () => { if (tries++ < 1) throw new TypeError("not yet"); return "ok"; });
    await step.sleep("nap", 50);
    const e = await step.waitForEvent("wait", { type: "go", timeout: "1 hour" });
    if (e.payload === "bad") await step.do("fails", { retries: { limit: 0, delay: 1 } }, async () => { throw new Error("broken"); });
    return { done: e.payload };
  }
}
export default { async fetch(req, env) {
  await env.ROOM.getByName("lobby").hit();
  await env.FLOW.create({ id: "one", params: { x: 1 } });
  await env.FLOW.create({ id: "two" });
  return new Response("ok");
} };`

// SQL of objects, and instances of Workflows with their steps: each answer is the one
// that wrangler dev 4 gave, taken down from it, but for those that are marked; members of
// config, error and output may be in another order.
func TestObjectsAndInstances(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{"worker.js": flowWorker, "wrangler.json": configuration}, minidotest.Options{})
	w.Do("GET", "http://localhost/", "")
	w.Advance(10 * time.Second)
	first := func(n string) string {
		config := func(limit, backoff, delay string) string {
			return `"config":{"retries":{"limit":` + limit + `,"delay":` + delay + `,"backoff":"` + backoff + `"},"timeout":"10 minutes"},`
		}
		return `{"name":"first-1","start":"?","end":"?","success":true,"type":"step","output":{"n":` + n + `},` + config("5", "exponential", "1000") + `"attempts":[{"start":"?","end":"?","success":true,"error":null}]},` +
			`{"name":"flaky-1","start":"?","end":"?","success":true,"type":"step","output":"ok",` + config("3", "constant", "10") +
			`"attempts":[{"start":"?","end":"?","success":false,"error":{"name":"TypeError","message":"not yet"}},{"start":"?","end":"?","success":true,"error":null}]},` +
			`{"name":"nap-1","start":"?","end":"?","finished":true,"type":"sleep","error":null},`
	}
	const rooms, flow = "workers/durable_objects/namespaces/exp-Room/query", "workflows/flow/instances"
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string // of the result and what follows; or of the message
	}{
		{"POST", rooms, `{"durable_object_name":"lobby","queries":[{"sql":"SELECT * FROM t"}]}`, 200, `[{"columns":["a","b"],"rows":[[1,[1,2]]],"meta":{"rows_read":1,"rows_written":0}}]`}, // wrangler: {} for the blob
		{"POST", rooms, `{"durable_object_name":"lobby","queries":[{"sql":"INSERT INTO t VALUES (?, ?)","params":[2,"x"]},{"sql":"SELECT a, count(*) AS n FROM t GROUP BY a"}]}`, 200,
			`[{"columns":[],"rows":[],"meta":{"rows_read":0,"rows_written":1}},{"columns":["a","n"],"rows":[[1,1],[2,1]],"meta":{"rows_read":4,"rows_written":0}}]`},
		{"POST", rooms, `{"durable_object_name":"lobby","queries":[{"sql":"INSERT INTO t VALUES (3, 3)"},{"sql":"SELECT nonsense"}]}`, 400, `10001 no such column: nonsense at offset 7: SQLITE_ERROR`},
		{"POST", rooms, `{"durable_object_name":"lobby","queries":[{"sql":"SELECT count(*) FROM t"}]}`, 200, `[{"columns":["count(*)"],"rows":[[2]],"meta":{"rows_read":2,"rows_written":0}}]`},
		{"POST", rooms, `{"durable_object_name":"lobby","queries":[]}`, 400, `10001 No queries provided`},
		{"POST", rooms, `{"durable_object_name":"lobby"}`, 400, `10001 Invalid input`},
		{"POST", rooms, `{"queries":[{"sql":"SELECT 1"}]}`, 400, `10001 Invalid input`},
		{"POST", rooms, `{"durable_object_id":"zz","queries":[{"sql":"SELECT 1"}]}`, 400, `10001 Invalid Durable Object ID: must be 64 hex digits`},
		{"POST", rooms, `{"durable_object_name":"lobby","queries":[{"sql":""}]}`, 400, `10001 queries.0.sql: Too small: expected string to have >=1 characters`},
		{"POST", rooms, `{"durable_object_name":"fresh","queries":[{"sql":"SELECT ? AS a, ? AS b, ? AS c","params":[true,null,{"x":1}]}]}`, 200,
			`[{"columns":["a","b","c"],"rows":[["true",null,"[object Object]"]],"meta":{"rows_read":0,"rows_written":0}}]`},
		{"POST", rooms, `nojson`, 400, `10001 Invalid JSON request body`},
		{"POST", "workers/durable_objects/namespaces/none/query", `{"durable_object_name":"lobby","queries":[{"sql":"SELECT 1"}]}`, 404, `10066 Durable Object namespace ID 'none' not found.`},
		{"GET", flow + "/one", "", 200, `{"status":"running","params":{"x":1},"queued":"?","start":"?","end":null,"output":null,"error":null,"steps":[` + first(`{"x":1}`) +
			`{"name":"wait-1","start":"?","end":null,"finished":false,"type":"waitForEvent","error":null,"output":null}],"step_count":4}`},
		{"GET", flow + "/nope", "", 404, `10501 Workflow instance 'nope' not found.`},
		{"GET", "workflows/none/instances/nope", "", 404, `10501 Workflow 'none' not found.`},
		{"PATCH", flow + "/two/status", `{"status":"pause"}`, 200, `{"status":"paused","timestamp":"?"}`},
		{"PATCH", flow + "/two/status", `{"status":"resume"}`, 200, `{"status":"running","timestamp":"?"}`},
		{"POST", flow + "/one/events/go", `"fine"`, 200, `{"success":true}`},
		{"POST", flow + "/nope/events/go", `"fine"`, 404, `10501 Workflow instance 'nope' not found.`},
		{"GET", flow + "/one", "", 200, `{"status":"complete","params":{"x":1},"queued":"?","start":"?","end":"?","output":{"done":"fine"},"error":null,"steps":[` + first(`{"x":1}`) +
			`{"name":"wait-1","start":"?","end":"?","finished":true,"type":"waitForEvent","error":null,"output":{"payload":"fine","timestamp":"?","type":"go"}}],"step_count":4}`},
		{"PATCH", flow + "/one/status", `{"status":"pause"}`, 200, `{"status":"complete","timestamp":"?"}`},
		{"PATCH", flow + "/one/status", `{"status":"fly"}`, 400, `10001 Invalid input`},
		{"PATCH", flow + "/one/status", `{"status":"pause","rollback":true}`, 400, `10001 'rollback' is only valid when terminating.`},
		{"PATCH", flow + "/nope/status", `{"status":"pause"}`, 404, `10501 Workflow instance 'nope' not found.`},
		{"PATCH", flow + "/one/status", `{"status":"restart","from":{"name":"nap","type":"sleep"}}`, 200, `{"status":"running","timestamp":"?"}`},
		{"PATCH", flow + "/one/status", `{"status":"restart","from":{"name":"zzz"}}`, 409, `10001 WorkflowError: (instance.cannot_restart) Step \"zzz\" not found in execution history`},
		{"POST", flow + "/two/events/go", `"bad"`, 200, `{"success":true}`},
		{"GET", flow + "/two", "", 200, `{"status":"errored","params":{},"queued":"?","start":"?","end":"?","output":null,"error":{"name":"Error","message":"broken"},"steps":[` + first(`{}`) + // wrangler: message before name
			`{"name":"wait-1","start":"?","end":"?","finished":true,"type":"waitForEvent","error":null,"output":{"payload":"bad","timestamp":"?","type":"go"}},` +
			`{"name":"fails-1","start":"?","end":"?","success":false,"type":"step","config":{"retries":{"limit":0,"delay":1,"backoff":"exponential"},"timeout":"10 minutes"},"attempts":[{"start":"?","end":"?","success":false,"error":{"name":"Error","message":"broken"}}]}],"step_count":5}`},
		{"POST", flow, `{"id":"three","params":[1]}`, 200, `{"id":"three"}`},
		{"POST", flow, `{"id":"three","params":[1]}`, 500, `10001 WorkflowError: (instance.already_exists) Workflow instance with id \"three\" already exists`},
		{"POST", flow, `{"id":"bad id"}`, 500, `10001 WorkflowError: Workflow instance has invalid id`},
		{"POST", "workflows/none/instances", `{"id":"bad id"}`, 404, `10501 Workflow 'none' not found.`},
		{"PATCH", flow + "/three/status", `{"status":"terminate"}`, 200, `{"status":"terminated","timestamp":"?"}`},
		{"POST", flow, "", 200, `{"id":"?"}`},
		{"POST", flow + "/batch/delete", `{"instances":["three","nope"]}`, 200, `{"deleted":[{"id":"three"}],"errors":[{"id":"nope","code":10400,"message":"workflows.api.error.instance.not_found"}]}`},
		{"POST", flow + "/batch/delete", `{"instances":[]}`, 400, `10001 instances: Too small: expected array to have >=1 items`},
		{"DELETE", flow + "/one", "", 200, `{"success":true}`},
		{"DELETE", flow + "/one", "", 404, `10501 Workflow instance 'one' not found.`},
		{"GET", flow + "?date_start=2040-01-01T00:00:00Z&date_end=2039-01-01T00:00:00Z", "", 400, `10502 'date_start' must not be after 'date_end'. Update 'date_start' or 'date_end' so 'date_start' is before or equal to 'date_end'.`},
		{"GET", flow + "?date_start=x", "", 400, `10001 date_start: Invalid ISO datetime`},
		{"GET", flow + "?date_start=2090-01-01T00:00:00Z", "", 200, `[],"result_info":{"page":1,"per_page":25,"total_count":0,"total_pages":1,"status_counts":{"errored":1,"running":1}}`},
		{"GET", flow + "?date_end=2090-01-01T00:00:00Z&status=errored", "", 200, `[{"id":"two","status":"errored","created_on":"?"}],"result_info":{"page":1,"per_page":25,"total_count":1,"total_pages":1,"status_counts":{"errored":1,"running":1}}`},
		{"GET", flow + "?per_page=1000", "", 400, `10001 per_page: Too big: expected number to be <=100`},
		{"DELETE", "workflows/none", "", 404, `10501 Workflow 'none' not found.`},
		{"DELETE", "workflows/flow", "", 200, `{"status":"ok","success":true}`},
		{"GET", flow, "", 200, `[],"result_info":{"page":1,"per_page":25,"total_count":0,"total_pages":1,"status_counts":{}}`},
	} {
		compare(t, w, c.method, c.path, c.body, c.status, c.want)
		w.Advance(2 * time.Second)
	}
}

// The API's document has each operation that there is, and no other.
func TestDocument(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{"worker.js": worker, "wrangler.json": configuration}, minidotest.Options{})
	got := w.Do("GET", "http://localhost/cdn-cgi/local/explorer/api", "")
	var doc struct {
		OpenAPI string
		Servers []struct{ URL string }
		Paths   map[string]map[string]struct{ OperationID string }
	}
	if err := json.Unmarshal([]byte(got.Body), &doc); err != nil || doc.OpenAPI != "3.0.3" || doc.Servers[0].URL != "/cdn-cgi/local/explorer/api" {
		t.Fatalf("%d %.200s, %v", got.Status, got.Body, err)
	}
	ids := map[string]bool{}
	for path, of := range doc.Paths {
		for method, op := range of {
			if op.OperationID == "" || ids[op.OperationID] {
				t.Errorf("%s %s: the operation is called %q", method, path, op.OperationID)
			}
			ids[op.OperationID] = true
			// Whatever the parameters are, it is answered as JSON or as bytes: not "404 Not Found".
			if got := w.Do(strings.ToUpper(method), "http://localhost/cdn-cgi/local/explorer/api"+regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "x"), "{}"); got.Body == "404 Not Found" || got.Status == 501 {
				t.Errorf("%s %s is not there", method, path)
			}
		}
	}
	if len(ids) != 33 {
		t.Errorf("%d operations are documented", len(ids))
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
