package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"minido.dev/minido/chaos/process"
)

const inspectedWorker = `interface Env { NAME: string; TICKER: DurableObjectNamespace<Ticker> }
import { DurableObject } from "cloudflare:workers";
globalThis.visits = 0;
export class Ticker extends DurableObject { start() { setInterval(() => {}, 20); } }
function burn(times: number): number {
  let n = 0;
  for (let i = 0; i < times; i++) n += Math.sqrt(n + 1);
  return n;
}
export default {
  async fetch(req: Request, env: Env): Promise<Response> {
    globalThis.visits++;
    if (globalThis.visits === 1) await env.TICKER.getByName("t").start();
    console.warn("visited", { path: new URL(req.url).pathname });
    if (new URL(req.url).pathname === "/out") return fetch(await req.text(), { method: "POST", body: "asked" });
    if (new URL(req.url).pathname === "/burn") burn(4e6);
    return new Response("ok");
  },
};
`

// inspecting is a client of the inspector's. It is for one goroutine.
type inspecting struct {
	t      *testing.T
	conn   *websocket.Conn
	last   int
	events []string
}

// ask sends a method and returns its whole answer; events that come before it are kept.
func (c *inspecting) ask(method, params string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c.last++
	text, err := json.Marshal(map[string]any{"id": c.last, "method": method, "params": json.RawMessage(params)})
	if err == nil {
		err = c.conn.Write(ctx, websocket.MessageText, text)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	for {
		var got struct {
			ID     int
			Result json.RawMessage
			Error  json.RawMessage
		}
		_, text, err := c.conn.Read(ctx)
		if err == nil {
			err = json.Unmarshal(text, &got)
		}
		if err != nil {
			c.t.Fatalf("%s: %v", method, err)
		}
		if got.ID == c.last {
			return string(got.Result) + string(got.Error)
		}
		c.events = append(c.events, string(text))
	}
}

// until reads events until one matches.
func (c *inspecting) until(pattern string) {
	c.t.Helper()
	re := regexp.MustCompile(pattern)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		for _, e := range c.events {
			if re.MatchString(e) {
				return
			}
		}
		_, text, err := c.conn.Read(ctx)
		if err != nil {
			c.t.Fatalf("%s never comes: %v\n%s", pattern, err, strings.Join(c.events, "\n"))
		}
		c.events = append(c.events, string(text))
	}
}

// DevTools finds the worker, sees what it logs and its TypeScript, and evaluates
// expressions between turns; breakpoints are refused by name, and so is every page.
func TestInspector(t *testing.T) {
	dir := project(t, map[string]string{"src/worker.ts": inspectedWorker, "wrangler.json": `{"name": "seen", "main": "src/worker.ts", "compatibility_date": "2026-08-01", "vars": {"NAME": "a name"},
		"durable_objects": {"bindings": [{"name": "TICKER", "class_name": "Ticker"}]}, "migrations": [{"tag": "1", "new_sqlite_classes": ["Ticker"]}]}`})
	env := []string{"MINIDO_CONTROL_DIR=" + t.TempDir()}
	s, err := launch(t, process.Options{Env: env, Command: []string{minido, "dev", "--ip", "127.0.0.1", "-c", filepath.Join(dir, "wrangler.json"), "--port", "0",
		"--inspector-port", "0", "--persist-to", filepath.Join(t.TempDir(), "state")}})
	if err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`Inspector on (ws://(\S+?)/\S+)`).FindStringSubmatch(s.Output())
	if address == nil {
		t.Fatal("no line about the inspector: " + s.Output())
	}
	for _, header := range [][2]string{{"Host", "evil.example"}, {"Host", "127.0.0.1"}, {"Origin", "http://evil.example"}, {"Origin", s.url}, {"Origin", "null"}} {
		for _, path := range []string{"/json/list", strings.TrimPrefix(address[1], "ws://"+address[2])} {
			req, err := http.NewRequest("GET", "http://"+address[2]+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if req.Header.Set(header[0], header[1]); header[0] == "Host" {
				req.Host = header[1]
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != 403 {
				t.Errorf("%v %s: status %d", header, path, resp.StatusCode)
			}
		}
	}
	if status, body := ask(t, "GET", "http://"+address[2]+"/json/list"); status != 200 || !strings.Contains(body, `"webSocketDebuggerUrl":"`+address[1]+`"`) {
		t.Errorf("/json/list: %d %s", status, body)
	}
	ask(t, "GET", s.url+"/before")
	conn, _, err := websocket.Dial(context.Background(), address[1], &websocket.DialOptions{Host: "localhost"}) // as VS Code does
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	conn.SetReadLimit(1 << 20)
	c := &inspecting{t: t, conn: conn}
	c.ask("Runtime.enable", "{}")
	c.until(`"Runtime.executionContextCreated"`)
	c.until(`consoleAPICalled.*visited \{ path: '/before' \}.*"warning"`)
	ask(t, "GET", s.url+"/after")
	c.until(`"description":"Object".*"preview":\{.*"value":"/after"`)
	c.until(`"stackTrace":\{"callFrames":\[\{"columnNumber":\d+,"functionName":"fetch","lineNumber":13,"scriptId":"src/worker.ts","url":"file:///src/worker.ts"`)
	c.ask("Debugger.enable", "{}")
	c.until(`Debugger.scriptParsed.*file:///src/worker.ts`)
	if got := c.ask("Debugger.getScriptSource", `{"scriptId": "src/worker.ts"}`); !strings.Contains(got, "interface Env { NAME: string;") {
		t.Errorf("the source is %s", got)
	}
	for expression, want := range map[string]string{
		"1 + visits":                         `{"result":{"description":"3","type":"number","value":3}}`,
		"env.NAME":                           `{"result":{"type":"string","value":"a name"}}`,
		"({ a: [1, 2] })":                    `{"result":{"className":"Object","description":"Object","type":"object","value":{"a":[1,2]}}}`,
		"let twice = 2 * visits; twice":      `{"result":{"description":"4","type":"number","value":4}}`,
		"Promise.resolve(7)":                 `{"result":{"description":"7","type":"number","value":7}}`,
		"null":                               `{"result":{"subtype":"null","type":"object","value":null}}`,
		"undefined":                          `{"result":{"type":"undefined"}}`,
		"0 / 0":                              `{"result":{"description":"NaN","type":"number","unserializableValue":"NaN"}}`,
		"fetch('/x')":                        `Uncaught`,
		"nothing.here":                       `ReferenceError: nothing is not defined`,
		"1 +":                                `SyntaxError`,
		"new Promise(() => {}); 'not stuck'": `not stuck`,
	} {
		text, err := json.Marshal(map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.ask("Runtime.evaluate", string(text)); got != want && !(want[0] != '{' && strings.Contains(got, want)) {
			t.Errorf("%s: %s, want %s", expression, got, want)
		}
	}
	c.objects()
	c.profile(s.url)
	c.network(s.url)
	c.heap(s.url)
	var usage struct{ UsedSize, TotalSize float64 }
	if c.result("Runtime.getHeapUsage", "{}", &usage); usage.UsedSize < 1<<20 || usage.TotalSize < usage.UsedSize {
		t.Errorf("the heap in use is %v", usage)
	}
	turns := exec.Command(minido, "ctl", "turns", "Ticker/t", "-n", "2")
	turns.Env = append(os.Environ(), env...)
	if out, err := turns.Output(); err != nil || !regexp.MustCompile(`^(\S+  Ticker/t  \S+  computed \S+s, took \S+s\n){2}$`).Match(out) {
		t.Errorf("ctl turns: %v\n%s", err, out)
	}
	for _, method := range []string{"Debugger.setBreakpointByUrl", "Debugger.pause", "HeapProfiler.startSampling", "Page.enable"} {
		if got := c.ask(method, "{}"); !strings.Contains(got, method) || !strings.Contains(got, "minido") {
			t.Errorf("%s: %s", method, got)
		}
	}
}

// result is the answer to a method, into which it is decoded.
func (c *inspecting) result(method, params string, into any) {
	c.t.Helper()
	if got := c.ask(method, params); json.Unmarshal([]byte(got), into) != nil {
		c.t.Fatalf("%s: %s", method, got)
	}
}

// objects opens values property by property, calls functions on them and releases them.
func (c *inspecting) objects() {
	c.t.Helper()
	var got struct {
		Result struct{ ObjectID, Description string }
	}
	c.result("Runtime.evaluate", `{"objectGroup": "g", "expression": "({ list: [1, 'two'], get late() { globalThis.asked = true; return 3; }, [Symbol('s')]: new Map([['k', { deep: 1n }]]) })"}`, &got)
	id := got.Result.ObjectID
	properties := func(id, more string) string { return c.ask("Runtime.getProperties", `{"objectId": "`+id+`"`+more+`}`) }
	all := properties(id, `, "ownProperties": true, "generatePreview": true`)
	for _, want := range []string{
		`"name":"list","value":{"className":"Array","description":"Array\(2\)","objectId":"[\d.]+","preview":{"description":"Array\(2\)","overflow":false,"properties":\[{"name":"0","type":"number","value":"1"},{"name":"1","type":"string","value":"two"}\]`,
		`"get":{.*?"type":"function"},"isOwn":true,"name":"late"`, `"name":"Symbol\(s\)","symbol":{`, `"description":"Map\(1\)".*"entries":\[{"key":{[^}]*"description":"k"`, `"name":"\[\[Prototype\]\]","value":{"className":"Object"`,
	} {
		if !regexp.MustCompile(want).MatchString(all) {
			c.t.Errorf("no %s in %s", want, all)
		}
	}
	if got := c.ask("Runtime.evaluate", `{"expression": "globalThis.asked"}`); got != `{"result":{"type":"undefined"}}` {
		c.t.Errorf("the getter was called: %s", got)
	}
	if got := c.ask("Runtime.callFunctionOn", `{"objectId": "`+id+`", "functionDeclaration": "function (a, b, c) { return this.late + a + b.late + (c === -Infinity); }", "arguments": [{"value": 4}, {"objectId": "`+id+`"}, {"unserializableValue": "-Infinity"}], "returnByValue": true}`); got != `{"result":{"description":"11","type":"number","value":11}}` {
		c.t.Errorf("callFunctionOn: %s", got)
	}
	var promise struct{ Result struct{ ObjectID string } }
	c.result("Runtime.evaluate", `{"expression": "Promise.reject(new TypeError('no')).catch(e => e)"}`, &promise)
	if got := properties(promise.Result.ObjectID, `, "ownProperties": true`); !strings.Contains(got, `"[[PromiseState]]"`) || !strings.Contains(got, "TypeError: no") {
		c.t.Errorf("a promise has %s", got)
	}
	if got := properties(id, `, "accessorPropertiesOnly": true`); !strings.Contains(got, `"late"`) || strings.Contains(got, `"list"`) {
		c.t.Errorf("the accessors are %s", got)
	}
	c.ask("Runtime.releaseObjectGroup", `{"objectGroup": "g"}`)
	c.ask("Runtime.releaseObject", `{"objectId": "`+promise.Result.ObjectID+`"}`)
	for _, id := range []string{id, promise.Result.ObjectID, "no.such.id"} {
		if got := properties(id, ""); !strings.Contains(got, "Could not find object with given id") {
			c.t.Errorf("%s after its release: %s", id, got)
		}
	}
}

// profile takes a CPU profile of a request that computes.
func (c *inspecting) profile(url string) {
	c.t.Helper()
	c.ask("Profiler.enable", "{}")
	if got := c.ask("Profiler.stop", "{}"); !strings.Contains(got, "No recording profiles found") {
		c.t.Errorf("a profile without a start: %s", got)
	}
	if got := c.ask("Profiler.start", "{}"); got != "{}" {
		c.t.Fatalf("Profiler.start: %s", got)
	}
	ask(c.t, "GET", url+"/burn")
	var got struct {
		Profile struct {
			Nodes []struct {
				ID, HitCount int
				CallFrame    struct {
					FunctionName, URL string
					LineNumber        int
				}
				Children []int
			}
			StartTime, EndTime int64
			Samples            []int
			TimeDeltas         []int64
		}
	}
	c.result("Profiler.stop", "{}", &got)
	p, parents := got.Profile, map[int]string{}
	for _, n := range p.Nodes {
		for _, child := range n.Children {
			parents[child] = n.CallFrame.FunctionName
		}
	}
	hits, total := 0, int64(0)
	for _, n := range p.Nodes {
		if n.CallFrame.FunctionName == "burn" && n.CallFrame.URL == "file:///src/worker.ts" && n.CallFrame.LineNumber >= 4 && n.CallFrame.LineNumber <= 8 && parents[n.ID] == "fetch" {
			hits += n.HitCount
		}
	}
	for _, d := range p.TimeDeltas {
		total += d
	}
	if hits < 5 || len(p.Samples) != len(p.TimeDeltas) || total > p.EndTime-p.StartTime+20_000 || total < p.EndTime-p.StartTime-20_000 {
		c.t.Errorf("burn was hit %d times; the profile of %d µs has %d: %+v", hits, p.EndTime-p.StartTime, total, p)
	}
}

// network sees a request of a client and the one that the worker sends for it, with
// headers and bodies.
func (c *inspecting) network(url string) {
	c.t.Helper()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Said", "hello")
		_, _ = w.Write(append(body, " and answered"...))
	}))
	defer upstream.Close()
	c.ask("Network.enable", "{}")
	resp, err := http.Post(url+"/out", "text/plain", strings.NewReader(upstream.URL+"/up"))
	if err != nil {
		c.t.Fatal(err)
	}
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "asked and answered" {
		c.t.Fatalf("%s, %v", body, err)
	}
	resp.Body.Close()
	c.until(`"Network.loadingFinished".*"encodedDataLength":18,"requestId":"1"`)
	c.until(`"Network.loadingFinished".*"encodedDataLength":18,"requestId":"2"`)
	c.until(`"Network.requestWillBeSent".*"method":"POST".*"url":"` + regexp.QuoteMeta(url) + `/out".*"requestId":"1"`)
	c.until(`"Network.requestWillBeSent".*"method":"POST".*"url":"` + regexp.QuoteMeta(upstream.URL) + `/up".*"requestId":"2"`)
	c.until(`"Network.responseReceived".*"requestId":"2".*"X-Said":"hello".*"status":200`)
	for ask, want := range map[string]string{
		`Network.getResponseBody "1"`: `{"base64Encoded":false,"body":"asked and answered"}`, `Network.getResponseBody "2"`: `{"base64Encoded":false,"body":"asked and answered"}`,
		`Network.getRequestPostData "1"`: `{"base64Encoded":false,"postData":"` + upstream.URL + `/up"}`, `Network.getRequestPostData "2"`: `{"base64Encoded":false,"postData":"asked"}`,
		`Network.getResponseBody "9"`: `{"code":-32000,"message":"No resource with given identifier found"}`,
	} {
		method, id, _ := strings.Cut(ask, " ")
		if got := c.ask(method, `{"requestId": `+id+`}`); got != want {
			c.t.Errorf("%s: %s, want %s", ask, got, want)
		}
	}
	c.ask("Network.disable", "{}")
	ask(c.t, "GET", url+"/unseen")
	if got := c.ask("Network.getResponseBody", `{"requestId": "3"}`); !strings.Contains(got, "No resource") {
		c.t.Errorf("a request was recorded while nobody watched: %s", got)
	}
}

// heap takes a snapshot in V8's format: an instance of a class of objects is in it, with
// the worker's variables, and what refers to what adds up.
func (c *inspecting) heap(url string) {
	c.t.Helper()
	ask(c.t, "GET", url+"/tick")
	c.last++
	if err := c.conn.Write(context.Background(), websocket.MessageText, fmt.Appendf(nil, `{"id": %d, "method": "HeapProfiler.takeHeapSnapshot", "params": {"reportProgress": true}}`, c.last)); err != nil {
		c.t.Fatal(err)
	}
	var text strings.Builder
	for over, progress := false, false; !over; {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		_, b, err := c.conn.Read(ctx)
		cancel()
		if err != nil {
			c.t.Fatal(err)
		}
		var m struct {
			ID     int
			Error  json.RawMessage
			Method string
			Params struct {
				Chunk    string
				Finished bool
			}
		}
		if err := json.Unmarshal(b, &m); err != nil || m.Error != nil {
			c.t.Fatalf("%v %s", err, b)
		}
		text.WriteString(m.Params.Chunk)
		progress = progress || m.Params.Finished
		if over = m.ID == c.last; over && !progress {
			c.t.Error("no progress was told")
		}
	}
	var got struct {
		Snapshot struct {
			Meta struct {
				Fields []string `json:"node_fields"`
			}
			Nodes int `json:"node_count"`
			Edges int `json:"edge_count"`
		}
		Nodes, Edges []int
		Strings      []string
	}
	if err := json.Unmarshal([]byte(text.String()), &got); err != nil {
		c.t.Fatal(err)
	}
	wide := len(got.Snapshot.Meta.Fields)
	if len(got.Nodes) != wide*got.Snapshot.Nodes || len(got.Edges) != 3*got.Snapshot.Edges || got.Snapshot.Nodes < 1000 {
		c.t.Fatalf("%d numbers of nodes, %d of edges: %+v", len(got.Nodes), len(got.Edges), got.Snapshot)
	}
	sum, names := 0, map[string]bool{}
	for i := 0; i < len(got.Nodes); i += wide {
		names[got.Strings[got.Nodes[i+1]]] = true
		sum += got.Nodes[i+4]
	}
	for i := 0; i < len(got.Edges); i += 3 {
		if to := got.Edges[i+2]; to%wide != 0 || to >= len(got.Nodes) {
			c.t.Fatalf("an edge goes to %d of %d", to, len(got.Nodes))
		}
	}
	if sum != got.Snapshot.Edges || !names["Ticker"] || !names["(scope)"] || !names["Array"] {
		c.t.Errorf("%d edges of %d; a Ticker: %v", sum, got.Snapshot.Edges, names["Ticker"])
	}
}
