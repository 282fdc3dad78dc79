package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The agents of fixtures/chat, on the packages, behind a worker that has stores, too.
const agentsWorker = `import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
import planted from "./src/planted";
export { Talker, Worker } from "./src/planted";

export class Orders extends WorkflowEntrypoint<Env> {
  override async run(event: WorkflowEvent<unknown>, step: WorkflowStep) {
    const total = await step.do("price the order", async () => ({ total: 42 }));
    await step.waitForEvent("approval", { type: "approved", timeout: "1 hour" });
    return total;
  }
}

interface Env { KV: KVNamespace; FILES: R2Bucket; DB: D1Database; JOBS: Queue; ORDERS: Workflow; BUG: string; SINK: string; AI: Ai }

async function setUp(env: Env): Promise<Response> {
  await env.KV.put("greeting", "hello", { metadata: { language: "en" } });
  await env.FILES.put("notes/first.txt", "a file");
  await env.DB.exec("CREATE TABLE IF NOT EXISTS people (id INTEGER PRIMARY KEY, name TEXT)");
  await env.DB.prepare("INSERT INTO people (name) VALUES (?), (?)").bind("Ada", "Grace").run();
  await env.JOBS.send({ job: "send the invoice" });
  await env.ORDERS.create({ id: "order-1" });
  return new Response("ready");
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/setup") return setUp(env);
    console.log("routing", pathname);
    return planted.fetch(request, env);
  },
};
`

const agentsConfig = `{
  "name": "agents", "main": "main.ts", "compatibility_date": "2026-08-01", "compatibility_flags": ["nodejs_compat"], "ai": { "binding": "AI" },
  "durable_objects": { "bindings": [{ "name": "Worker", "class_name": "Worker" }, { "name": "Talker", "class_name": "Talker" }] },
  "migrations": [{ "tag": "v1", "new_sqlite_classes": ["Worker", "Talker"] }],
  "kv_namespaces": [{ "binding": "KV", "id": "kv" }], "r2_buckets": [{ "binding": "FILES", "bucket_name": "files" }],
  "d1_databases": [{ "binding": "DB", "database_name": "main", "database_id": "main" }],
  "queues": { "producers": [{ "binding": "JOBS", "queue": "jobs" }], "consumers": [{ "queue": "jobs", "type": "http_pull" }] },
  "workflows": [{ "binding": "ORDERS", "name": "orders", "class_name": "Orders" }]
}`

// agentsProject is a directory of its own, since campaigns leave their evidence there.
func agentsProject(t *testing.T) (dir string) {
	t.Helper()
	planted, err := os.ReadFile(filepath.Join(fixture(t, "chat"), "src", "planted.ts"))
	if err != nil {
		t.Fatal(err)
	}
	dir = project(t, map[string]string{"main.ts": agentsWorker, "src/planted.ts": string(planted), "wrangler.jsonc": agentsConfig})
	if err := os.Symlink(filepath.Join(fixture(t, "chat"), "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A person goes through every part of the dashboard with agents on the packages: a live
// chat, methods, state, what that does in the timeline down to the SQL of a turn, stores,
// and a chaos campaign whose finding is replayed forwards and backwards. Each page is
// looked at in wide and narrow windows, in light and dark.
func TestDashboardAgents(t *testing.T) {
	t.Parallel()
	page := browse(t)
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })) // an effect is answered
	defer sink.Close()
	dir := agentsProject(t)
	s, open, _ := sessionAt(t, filepath.Join(dir, "wrangler.jsonc"), "--mock-ai", "--var", "BUG:appends-twice", "--var", "SINK:"+sink.URL, "--cache-dir="+filepath.Join(scratch, "cache"))
	ask(t, "GET", s.url+"/setup")
	fill := func(label, value string) {
		t.Helper()
		page.until(fmt.Sprintf(`((e) => e && (e.value = %q, e.dispatchEvent(new Event("input")), e.dispatchEvent(new Event("change")), true))(document.querySelector("[aria-label='" + %q + "']"))`, value, label))
	}
	pick := func(text string) {
		t.Helper()
		page.until(fmt.Sprintf(`[...document.querySelectorAll(".row")].findLast(e => e.textContent.includes(%q) && (e.click(), true))`, text))
	}
	detail := func(texts ...string) {
		t.Helper()
		for _, text := range texts {
			page.until(fmt.Sprintf(`document.querySelector(".split > .card").innerText.includes(%q)`, text))
		}
	}

	// A live chat, a method, and the state of an agent.
	page.visit(open())
	page.click("nav a", "Client")
	fill("Path of the WebSocket", "/agents/talker/t1")
	page.click("button", "Connect")
	page.until(`document.body.innerText.includes("Connected to /agents/talker/t1")`)
	fill("Message", "What is a Durable Object?")
	page.eval(`document.querySelector("[aria-label=Message]").focus()`)
	page.key("Enter", "\r", 13)
	page.until(`document.querySelector(".talk .user").innerText.includes("What is a Durable Object?") && document.querySelector(".talk .assistant").innerText.includes("∎")`)
	first := page.eval(`document.querySelector(".talk .assistant span").textContent.length`)
	if first == "0" || first == "2" {
		t.Errorf("the answer has %s characters", first)
	}
	fill("Message", "And what is an alarm?")
	page.click("button", "Say")
	page.until(`document.querySelectorAll(".talk .assistant").length === 2 && document.querySelectorAll(".talk .assistant")[1].innerText.includes("∎")`)
	fill("State of the agent, JSON", `{"mood": "good"}`)
	page.click("button", "Set state")
	page.until(`document.querySelector(".talk").innerText.includes("the state is set")`)
	fill("Method of the agent", "nothing")
	page.click("button", "Call")
	page.until(`document.querySelector(".talk .call .bad")`) // it is not callable, says the SDK
	look(t, page, "client")
	fill("Method of the agent", "")
	page.click("button", "Call")
	page.until(`document.querySelector(".sockets .fault").innerText.includes("Write the name of a method")`)

	// The agent as an object: its socket with what the SDK has attached to it, its tables, its past.
	other := page.tab()
	other.visit(open())
	chat := page
	page = other
	page.click(".row [role=cell]:first-child", "Talker/t1")
	page.until(`document.querySelector("aside .attached li")`)
	detail("Its sockets")
	if got := page.eval(`document.querySelector("aside .attached").innerText`); !strings.Contains(got, "{") {
		t.Errorf("the socket's attachment is %q", got)
	}
	look(t, page, "objects")
	page.click("aside a", "Look at its data")
	page.click("button", "cf_agents_session_messages")
	page.until(`[...document.querySelectorAll("td")].some(e => e.textContent.includes("What is a Durable Object?"))`)
	look(t, page, "data")
	page.click("button", "Show its past")
	slide := func(to string) {
		page.eval(`((s) => { s.value = ` + to + `; s.dispatchEvent(new Event("input")); })(document.querySelector("input[type=range]"))`)
	}
	page.until(`document.querySelector("output").innerText.startsWith("the present")`)
	slide("s.max - 1")
	page.click("button", "Mark")
	// The rows of a moment that come late don't take the place of the difference that was asked for since.
	page.eval(`(() => {
		const ask = fetch, delivery = Promise.withResolvers();
		window.fetch = async (to, init) => {
			const answer = await ask(to, init);
			if (String(to).includes("/v1/sql")) await delivery.promise;
			return answer;
		};
		window.deliver = async () => {
			window.fetch = ask;
			delivery.resolve();
			for (let i = 0; i < 3; i++) await (await ask("/v1/objects")).text();
			window.delivered = true;
		};
	})()`)
	slide("Math.floor(s.max / 2)")
	page.until(`[...document.querySelectorAll("button")].some(e => e.textContent.startsWith("Difference to moment ") && !e.disabled && (e.click(), true))`)
	page.eval(`void deliver()`)
	page.until(`window.delivered`)
	page.until(`document.querySelector(".changes tr.good, .changes tr.bad")`)
	look(t, page, "past")

	// What happens, as it happens: the chat goes on in the other tab.
	page.click("nav a", "Timeline")
	page.until(`document.querySelectorAll(".row").length > 0`)
	chat.until(`((e) => { e.value = "Say it again"; return true; })(document.querySelector("[aria-label=Message]"))`)
	chat.click("button", "Say")
	chat.until(`document.querySelectorAll(".talk .assistant").length === 3 && document.querySelectorAll(".talk .assistant")[2].innerText.includes("∎")`)
	ask(t, "GET", s.url+"/agents/worker/w1/nothing")
	for _, text := range []string{"→ frame from the client", "← frame from the worker", "turn of message", "commit:after", "synced after", "held until its commit", "GET /agents/worker/w1/nothing 404", "storage call"} {
		page.eval(fmt.Sprintf(`((e) => { e.value = %q; e.dispatchEvent(new Event("input")); })(document.querySelector("input[type=search]"))`, text))
		page.until(`document.querySelectorAll(".row").length > 0`)
	}
	// The row that is shown is chosen, also when the list is another one by then: it is drawn with the next frame.
	page.until(`[...document.querySelectorAll(".row")].find(e => e.textContent.includes("turn of message") && (e.click(), true))`)
	detail("Asked of its storage", "INSERT", "In this turn")
	page.until(`[...document.querySelectorAll(".statement button.link")].find(e => (e.click(), true))`)
	page.until(`document.querySelector(".statement pre .hit")`) // the source of a package, which only its source map has
	page.click("button", "Pause")
	page.eval(`((e) => { e.value = ""; e.dispatchEvent(new Event("input")); })(document.querySelector("input[type=search]"))`)
	page.until(`document.querySelector("[aria-pressed=true]")`)
	page.until(`document.querySelectorAll(".row").length > 10`)
	ask(t, "GET", s.url+"/agents/worker/w1/paused")
	page.until(`document.querySelector(".bar .note").innerText.includes("more have come")`)
	page.eval(`((e) => { e.value = "w1/paused"; e.dispatchEvent(new Event("input")); })(document.querySelector("input[type=search]"))`)
	page.until(`document.querySelector(".bar .note").innerText.startsWith("0 entries") && document.querySelectorAll(".row").length === 0`)
	page.click("button", "Pause")
	page.eval(`((e) => { e.value = "w1/paused 404"; e.dispatchEvent(new Event("input")); })(document.querySelector("input[type=search]"))`)
	page.until(`document.body.innerText.includes("GET /agents/worker/w1/paused 404")`)
	page.eval(`((e) => { e.value = ""; e.dispatchEvent(new Event("input")); })(document.querySelector("input[type=search]"))`)
	pick("Worker/w1turn of fetch")
	look(t, page, "timeline")

	page.click("nav a", "Requests and logs")
	page.until(`document.body.innerText.includes("routing /agents/worker/w1/paused")`)
	// A press chooses: while rows come, the element is another one before the release.
	page.until(`[...document.querySelectorAll(".row")].findLast(e => e.textContent.includes("GET /agents/worker/w1/paused 404") && (e.dispatchEvent(new MouseEvent("mousedown")), true))`)
	detail("until the response's head", "Meanwhile")
	look(t, page, "request")
	pick("routing /agents/worker/w1/paused")
	page.until(`[...document.querySelectorAll("button.link")].find(e => e.textContent.startsWith("main.ts:") && (e.click(), true))`)
	page.until(`document.querySelector("pre .hit").textContent.includes('console.log("routing", pathname)')`)

	page.click("nav a", "Sockets")
	page.click("button.link", "/agents/talker/t1")
	page.until(`document.body.innerText.includes("cf_agent_use_chat_response")`)
	page.until(`[...document.querySelectorAll("button.link")].find(e => e.textContent.includes("cf_agent_use_chat_response") && (e.click(), true))`)
	page.until(`document.querySelector("[aria-label='The chosen frame']").textContent.includes('"type": "cf_agent_use_chat_response"')`)
	look(t, page, "sockets")

	// Every store.
	page.click("nav a", "Stores")
	page.click(".row [role=cell]:first-child", "greeting")
	page.until(`document.querySelector("textarea").value === "hello"`)
	look(t, page, "stores")
	page.click(".tab", "D1 DB")
	page.click("button", "people")
	page.until(`[...document.querySelectorAll("td")].some(e => e.textContent === "Grace")`)
	look(t, page, "d1")
	page.click(".tab", "R2 files")
	page.click(".row [role=cell]:first-child", "notes/first.txt")
	page.until(`document.querySelector("textarea").value === "a file"`)
	page.click(".tab", "Queue jobs")
	page.until(`document.body.innerText.includes("send the invoice")`)
	pick("send the invoice")
	look(t, page, "queue")
	page.click(".tab", "Workflow orders")
	pick("order-1")
	page.until(`document.body.innerText.includes("price the order") && document.body.innerText.includes("approval")`)
	look(t, page, "workflow")

	// A campaign on the running project finds that the recovery hook stores the answer twice.
	page.click("nav a", "Chaos")
	page.until(`((s) => s && (s.value = "", s.dispatchEvent(new Event("change")), true))(document.querySelector("select[name=scenario]"))`)
	page.eval(`document.querySelector("textarea").value = "chat Talker/c1: hello", document.querySelector("[name=mock_ai]").checked = true, document.querySelector("[name=max]").value = "12"`)
	look(t, page, "campaign")
	page.click("button", "Start")
	// Its start, the run without faults and each of the others may take as long as a step of the test.
	page.until(`document.querySelector(".progress").innerText.includes("recording the points") || document.querySelector("progress")?.value > 0`)
	for n := range 12 {
		page.until(fmt.Sprintf(`document.querySelector("progress").value > %d`, n))
	}
	page.until(`document.querySelector(".progress [role=status]").innerText === "FAILED"`)
	page.until(`[...document.querySelectorAll(".list .row")].find(e => e.textContent.includes("chat/one-answer") && (e.click(), true))`)
	page.until(`document.querySelector("aside .moment")?.innerText.includes("SIGKILL at")`)
	death := page.eval(`document.querySelector(".moment").innerText`)
	page.click("button", "◀ Back")
	page.until(fmt.Sprintf(`document.querySelector(".moment").innerText !== %q`, death))
	page.click("button", "Death »")
	page.click("button", "« Death")
	page.until(`document.querySelectorAll("aside .list .row").length > 3`)
	page.eval(`document.querySelector("aside input").value = "Talker/c1 SELECT id FROM cf_agents_session_messages"`)
	page.click("button", "Walk through it")
	page.until(`document.querySelector(".walk output")?.innerText.startsWith("1 of ")`)
	step := func(n int) string {
		page.eval(fmt.Sprintf(`((s) => { s.value = %d; s.dispatchEvent(new Event("input")); })(document.querySelector(".walk input[type=range]"))`, n))
		return page.until(fmt.Sprintf(`document.querySelector(".walk output").innerText.startsWith("%d of ") && document.querySelector(".walk").innerText`, n+1))
	}
	early, late := step(2), step(20)
	page.click("button", "Event ▶")
	page.until(`document.querySelector(".walk output").innerText.startsWith("22 of ")`)
	page.click("button", "◀ Event")
	page.until(`document.querySelector(".walk output").innerText.startsWith("21 of ")`)
	if again := page.eval(`document.querySelector(".walk").innerText`); again != late || again == early {
		t.Errorf("a moment is another when one comes back to it:\n%s\n\n%s", late, again)
	}
	if step(2) != early {
		t.Error("stepping back to the third event shows another one")
	}
	step(20)
	page.eval(`document.querySelector(".walk").scrollIntoView()`)
	look(t, page, "chaos-walk")
	page.eval(`document.querySelector("aside").scrollTop = 0`)
	look(t, page, "chaos")
	page.click("button", "Replay it here")
	page.until(`document.querySelector(".progress code").innerText.startsWith("minido chaos replay") && document.querySelector(".progress [role=status]").innerText === "FAILED"`)

	// The clock.
	page.click("nav a", "Time")
	page.click("button", "virtual")
	page.until(`document.querySelector("dl").innerText.includes("virtual")`)
	page.eval(`document.querySelector("select").value = "min", document.querySelector("input[type=number]").value = "2"`)
	before := page.eval(`document.querySelector("dd").innerText`)
	page.click("button", "Advance by")
	page.until(fmt.Sprintf(`Date.parse(document.querySelector("dd").innerText) - Date.parse(%q) >= 120000`, before))
	look(t, page, "time")
	page.click("button", "real")
	page.until(`document.querySelector("dl").innerText.includes("real")`)

	// Keys alone: from page to page.
	page.eval(`document.querySelector("nav a").focus()`)
	page.key("Enter", "\r", 13)
	page.until(`document.querySelector("h1").innerText === "Durable Objects"`)
}
