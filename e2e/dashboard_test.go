package e2e

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// Everything that the worker of this test says, stores or is called is markup that
// would change the page's title, if the dashboard took it for markup.
const dashboardWorker = `
import { DurableObject } from "cloudflare:workers";
const evil = "<img src=x onerror=\"document.title = 'broken in'\">";
export class Room extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT)");
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS \"" + evil.replaceAll('"', '""') + "\" (a)");
  }
  async note(text) {
    if (text === "/tree") return this.ctx.facets.get(evil, () => ({ class: this.ctx.exports.Room })).note("/leaf");
    if (text === "/leaf") await this.ctx.facets.get("leaf", () => ({ class: this.ctx.exports.Room })).note("/end");
    this.ctx.storage.sql.exec("INSERT INTO notes (text) VALUES (?)", text + evil);
    if (text === "/leaf" || text === "/end") return;
    console.log("stored", text, evil);
    return this.ctx.storage.setAlarm(Date.now() + 3600e3);
  }
  alarm() { console.warn("the alarm rang"); this.ctx.storage.sql.exec("INSERT INTO notes (text) VALUES ('alarm')"); }
}
export default { async fetch(req, env) {
  const url = new URL(req.url);
  for (let i = 0; i < Number(url.searchParams.get("n") ?? 1); i++) await env.ROOM.getByName((url.searchParams.get("room") ?? evil) + (i || "")).note(url.pathname);
  return new Response("ok");
} };`

// A person opens the dashboard and uses each of its pages.
func TestDashboard(t *testing.T) {
	t.Parallel()
	page := browse(t)
	dir := project(t, map[string]string{"worker.js": dashboardWorker, "wrangler.json": `{"name": "rooms", "main": "worker.js", "compatibility_date": "2026-08-01", "compatibility_flags": ["enable_ctx_exports"],
		"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room"}]}, "migrations": [{"tag": "1", "new_sqlite_classes": ["Room"]}]}`})
	s, open, _ := sessionAt(t, filepath.Join(dir, "wrangler.json"), "--clock", "virtual")
	ask(t, "GET", s.url+"/first?room=lobby&n=30")
	ask(t, "GET", s.url+"/second")

	address := open()
	page.visit(address)
	page.until(`document.body.innerText.includes("31 of 31 objects")`)
	if got := page.eval(`location.hash`); got != "#/objects" {
		t.Errorf("the ticket stays in the address: %s", got)
	}
	page.click(".row [role=cell]:first-child", "Room/lobby")
	page.click("aside button", "Evict")
	page.until(`document.querySelector("aside dl").innerText.includes("stored")`)
	page.click("aside button", "Fire alarm")
	page.until(`document.querySelector("aside dl").innerText.includes("idle")`)
	ask(t, "GET", s.url+"/tree?room=lobby")
	page.until(`((item) => item && item.textContent.startsWith("<img src=x") && /^leaf Room, \d/.test(item.querySelector("ul li")?.textContent))(document.querySelector("aside dl > dd > ul > li"))`)
	page.click("aside ul ul a", "leaf") // the facet of a facet
	page.until(`document.querySelector("h1").innerText.endsWith("/leaf") && document.querySelector("h1").innerText.startsWith("Data of Room/lobby/<img")`)
	page.click("button", "notes")
	page.until(`document.body.innerText.includes("rows 1–1 of 1") && [...document.querySelectorAll("td")].some(e => e.textContent.startsWith("/end")) && document.body.innerText.includes("shown, and not edited")`)
	page.click("nav a", "Objects")
	page.click(".row [role=cell]:first-child", "Room/lobby")
	page.click("aside a", "Look at its data")
	page.until(`document.body.innerText.includes("notes") && document.body.innerText.includes("no rows")`)
	page.click("button", "notes")
	page.until(`document.body.innerText.includes("rows 1–2 of 2") && [...document.querySelectorAll("td")].some(e => e.textContent.startsWith("/first<img"))`)
	page.eval(`document.querySelector("textarea").value = "SELECT nonsense FROM notes"`)
	page.click("button", "Run")
	page.until(`document.querySelector(".fault").innerText.includes("no such column: nonsense")`)
	page.eval(`document.querySelector("textarea").value = "SELECT count(*) AS many FROM notes"`)
	page.click("button", "Plan")
	page.until(`document.querySelector("td") && document.body.innerText.includes("SCAN notes")`)
	page.click("button", "notes")
	page.until(`document.body.innerText.includes("rows 1–2 of 2")`)

	page.click("button", "Show its past")
	page.until(`document.querySelector("output").innerText.startsWith("the present")`)
	page.eval(`Object.assign(document.querySelector("input[type=range]"), { value: 0 }).dispatchEvent(new Event("input"))`)
	page.until(`document.querySelector(".fault").innerText.includes("no such table: notes")`)
	page.click("button", "Difference to the present")
	page.until(`[...document.querySelectorAll("section h2")].some(e => e.innerText.startsWith("<img")) && document.body.innerText.includes("The table is new.")`)
	page.eval(`Object.assign(document.querySelector("input[type=range]"), { value: document.querySelector("input[type=range]").max - 1 }).dispatchEvent(new Event("input"))`)
	page.until(`document.body.innerText.includes("rows 1–1 of 1")`)
	page.click("button", "Difference to the present")
	page.until(`[...document.querySelectorAll("tr.good")].some(e => e.innerText.includes("added") && e.innerText.includes("alarm"))`)
	page.click("button", "Restore")
	page.click("button", "Replace the present state")
	page.until(`document.body.innerText.includes("rows 1–1 of 1") && document.querySelector("output").innerText.startsWith("the present")`)

	page.click("nav a", "Timeline")
	page.until(`document.body.innerText.includes("GET /second")`)
	ask(t, "GET", s.url+"/third?room=lobby")
	page.until(`["commit:after /rpc", "rpc:before", "GET /third 200", "stored /third", "turn of rpc: computed"].every(text => document.body.innerText.includes(text))`)
	page.click("nav a", "Requests and logs")
	page.until(`document.body.innerText.includes("the alarm rang") && !document.body.innerText.includes("commit:after")`)
	page.eval(`Object.assign(document.querySelector("input[type=search]"), { value: "third" }).dispatchEvent(new Event("input"))`)
	page.until(`document.body.innerText.includes("2 entries") && !document.body.innerText.includes("second")`)

	// The request with what it was sent and answered with, and again; where a log came from.
	page.until(`[...document.querySelectorAll(".row")].find(e => e.textContent.includes("GET /third 200") && (e.click(), true))`)
	page.until(`["until the response's head", "User-Agent: ", "Meanwhile", "stored /third"].every(text => document.querySelector(".split > .card").textContent.includes(text))`)
	page.click("button", "Replay")
	page.until(`document.body.innerText.includes("Answered 200") && document.body.innerText.includes("4 entries")`)
	page.until(`[...document.querySelectorAll(".row")].findLast(e => e.textContent.includes("stored /third") && (e.click(), true))`)
	page.until(`[...document.querySelectorAll("button.link")].find(e => e.textContent.startsWith("worker.js:15:") && (e.click(), true))`)
	page.until(`document.querySelector("pre .hit")?.textContent.includes('console.log("stored", text, evil);') && document.querySelector("a[href^='vscode://file/']")`)

	page.eval(`Object.assign(document.querySelector("input[type=search]"), { value: "" }).dispatchEvent(new Event("input")), Object.assign(document.querySelector("select"), { value: "warn" }).dispatchEvent(new Event("change"))`)
	page.until(`document.body.innerText.includes("1 entries") && document.body.innerText.includes("the alarm rang")`)

	page.click("nav a", "Time")
	page.until(`document.querySelector("dl").innerText.includes("virtual") && document.querySelector("dl").innerText.includes("in 10")`) // until an object leaves memory
	page.click("button", "To the next timer")
	page.eval(`document.querySelector("select").value = "h", document.querySelector("input[type=number]").value = "2"`)
	page.click("button", "Advance by")
	page.until(`/due|none/.test(document.querySelector("dl").innerText)`)
	page.click("nav a", "Requests and logs")
	page.until(`[...document.querySelectorAll(".row")].filter(e => e.textContent.includes("the alarm rang")).length > 1`)

	if title := page.eval(`document.title`); strings.Contains(title, "broken in") {
		t.Error("a text of the worker became markup")
	}
	page.eval(`sessionStorage.clear()`)
	page.visit("about:blank")
	page.visit(address)
	page.until(`document.body.innerText.includes("was used before")`)
	page.visit("about:blank")
	page.visit(strings.Split(address, "#")[0])
	page.until(`document.body.innerText.includes("This page has no access")`)
}

// The worker whose stores and routes a person uses: KV, D1, R2, a Workflow, an echo over
// HTTP and WebSocket.
const storesWorker = `
import { WorkflowEntrypoint } from "cloudflare:workers";
const evil = "<img src=x onerror=\"document.title = 'broken in'\">";
export class Flow extends WorkflowEntrypoint { async run(event, step) { return await step.do("first", async () => 42); } }
export default { async fetch(req, env) {
  if (req.headers.get("upgrade") === "websocket") {
    const [client, server] = Object.values(new WebSocketPair());
    server.accept();
    server.send("welcome " + evil);
    server.addEventListener("message", (e) => server.send("echo " + e.data));
    return new Response(null, { status: 101, webSocket: client });
  }
  if (req.method === "POST") return new Response("got " + await req.text() + " with " + req.headers.get("x-note"), { status: 201 });
  await env.KV.put("color", "red " + evil, { metadata: { evil } }); await env.KV.put(evil, "named");
  await env.R2.put("a/b.txt", "the object");
  await env.DB.exec("CREATE TABLE IF NOT EXISTS people (name TEXT)"); await env.DB.prepare("INSERT INTO people VALUES (?)").bind("ann " + evil).run();
  await env.FLOW.create({ id: "first-order" });
  return new Response("ready");
} };`

// A person edits what bindings store, sends requests, and talks over a WebSocket.
func TestDashboardStores(t *testing.T) {
	page := browse(t)
	dir := project(t, map[string]string{"worker.js": storesWorker, "wrangler.json": `{"name": "shop", "main": "worker.js", "compatibility_date": "2026-08-01",
		"kv_namespaces": [{"binding": "KV", "id": "kv"}], "r2_buckets": [{"binding": "R2", "bucket_name": "pictures"}],
		"d1_databases": [{"binding": "DB", "database_name": "main", "database_id": "main"}], "workflows": [{"binding": "FLOW", "name": "orders", "class_name": "Flow"}]}`})
	s, open, _ := sessionAt(t, filepath.Join(dir, "wrangler.json"))
	ask(t, "GET", s.url+"/")
	page.visit(open())
	page.click("nav a", "Stores")
	page.until(`document.body.innerText.includes("color") && document.body.innerText.includes("<img src=x")`)
	page.click(".row [role=cell]:first-child", "color")
	page.until(`document.querySelector("textarea").value.startsWith("red <img")`)
	page.eval(`document.querySelector("textarea").value = "green"`)
	page.click("button", "Put")
	page.until(`document.body.innerText.includes("Stored.")`)
	if _, got := ask(t, "GET", s.url+"/cdn-cgi/local/explorer/api/storage/kv/namespaces/kv/values/color"); got != "green" {
		t.Errorf("the value that was put is %q", got)
	}
	page.click("button", "Delete")
	page.until(`!document.querySelector(".list").innerText.includes("color")`)
	page.click(".tab", "R2 pictures")
	page.click(".row [role=cell]:first-child", "a/b.txt")
	page.until(`document.querySelector("textarea").value === "the object"`)
	page.click(".tab", "D1 DB")
	page.until(`document.body.innerText.includes("CREATE TABLE people")`)
	page.eval(`document.querySelector("textarea").value = "UPDATE people SET name = name || '!' RETURNING name"`)
	page.click("button", "Run")
	page.until(`[...document.querySelectorAll("td")].some(e => e.textContent.startsWith("ann <img") && e.textContent.endsWith("!"))`)
	page.click(".tab", "Workflow orders")
	page.until(`document.body.innerText.includes("first-order")`)

	page.click("nav a", "Requests and logs")
	page.until(`[...document.querySelectorAll(".row")].find(e => e.textContent.includes("GET / 200") && (e.click(), true))`)
	page.click(".card a", "Send it again")
	page.until(`document.querySelector("[aria-label=Path]").value === "/"`)
	page.eval(`document.querySelector("[aria-label=Method]").value = "POST", document.querySelector("[aria-label^=Headers]").value = "x-note: a note", document.querySelector("[aria-label=Body]").value = "a body"`)
	page.click("button", "Send")
	page.until(`document.querySelector(".answer").innerText.includes("got a body with a note") && document.querySelector(".answer").innerText.includes("201")`)
	page.click("button", "Connect")
	page.until(`document.body.innerText.includes("welcome <img")`)
	page.eval(`document.querySelector("[aria-label='Frame to send']").value = "hello"`)
	page.until(`[...document.querySelectorAll(".sockets button")].find(e => e.textContent === "Send" && !e.disabled && (e.click(), true))`)
	page.until(`document.body.innerText.includes("echo hello")`)

	// The sockets of others, with what goes over them while the page is open.
	page.click("nav a", "Sockets")
	page.until(`document.querySelector("tbody td.faint")?.textContent === "closed 1005"`)
	conn, _, err := websocket.Dial(context.Background(), s.url+"/others", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	if err := conn.Write(context.Background(), websocket.MessageText, []byte("from outside")); err != nil {
		t.Fatal(err)
	}
	page.click("button.link", "/others")
	page.until(`["from outside", "echo from outside", "→", "←"].every(text => document.body.innerText.includes(text)) && document.body.innerText.includes("3 frames")`)
	page.click("button.link", "echo from outside")
	page.until(`document.querySelector("[aria-label='The chosen frame']").textContent === "echo from outside"`)
	if title := page.eval(`document.title`); strings.Contains(title, "broken in") {
		t.Error("a text of the worker became markup")
	}
}

const errorWorker = `interface Env { NOTE: string }
function deep(input: string): never {
  throw new TypeError("no <img src=x onerror=\"document.title = 'broken in'\"> here: " + input);
}
export default {
  fetch(req: Request, env: Env): Response {
    console.log("<script>document.title = 'broken in'</script>");
    return deep(decodeURIComponent(new URL(req.url).search));
  },
};
`

// A browser sees where in the TypeScript a request failed, what the worker logged, and a
// link to the dashboard. Nothing of it becomes markup, and the link opens the dashboard
// for who has it open already.
func TestErrorPage(t *testing.T) {
	page := browse(t)
	dir := project(t, map[string]string{"src/worker.ts": errorWorker, "wrangler.json": `{"name": "fails", "main": "src/worker.ts", "compatibility_date": "2026-08-01"}`})
	s, open, _ := sessionAt(t, filepath.Join(dir, "wrangler.json"))
	page.visit(s.url + "/a?<svg onload=\"document.title='broken in'\">")
	page.until(`document.querySelector("h1").innerText.includes("<img src=x")`)
	for _, want := range []string{"src/worker.ts:3:9", "> 3 |   throw new TypeError(", "at Object.fetch (src/worker.ts:8:12)", "log: <script>", "User-Agent", "GET " + s.url + "/a"} {
		if text := page.eval(`document.body.innerText`); !strings.Contains(text, want) {
			t.Errorf("the page lacks %s:\n%s", want, text)
		}
	}
	if title := page.eval(`document.title`); title == "broken in" {
		t.Error("a text of the worker became markup")
	}
	look(t, page, "error")
	link := page.eval(`document.querySelector("a").href`)
	other := page.tab()
	other.visit(open())
	other.until(`document.body.innerText.includes("Durable Objects")`)
	page.visit(link)
	page.until(`document.body.innerText.includes("Durable Objects")`)
}

// The worker of a chaos campaign: it counts in memory, and forgets what it has answered.
const forgetfulWorker = `
import { DurableObject } from "cloudflare:workers";
export class Room extends DurableObject {
  async fetch() {
    this.n ??= (await this.ctx.storage.get("n")) ?? 0;
    this.n++;
    if (this.n % 3 === 0) await this.ctx.storage.put("n", this.n);
    return new Response(String(this.n));
  }
}
export default { async fetch(request, env) { return env.ROOM.getByName("<img src=x onerror=\"document.title = 'broken in'\">").fetch(request); } };`

// A person starts a campaign, watches it, looks at a finding, steps through its timeline,
// replays it, and stops another campaign.
func TestDashboardChaos(t *testing.T) {
	t.Parallel()
	page := browse(t)
	dir := project(t, map[string]string{"worker.js": forgetfulWorker, "wrangler.json": `{"name": "forgetful", "main": "worker.js", "compatibility_date": "2026-08-01",
		"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room"}]}, "migrations": [{"tag": "1", "new_sqlite_classes": ["Room"]}]}`,
		"count.chaos.ts": `import { scenario } from "minido:chaos";
			export default scenario("count", { async drive({ fetch, attempt }) { for (let i = 0; i < 4; i++) await attempt(() => fetch("POST", "/count")); } });`})
	s, open, _ := sessionAt(t, filepath.Join(dir, "wrangler.json"))
	page.visit(open())
	page.click("nav a", "Chaos")
	page.until(`document.querySelector("select[name=scenario]")?.value === "count.chaos.ts"`)
	page.eval(`document.querySelector("input[name=max]").focus()`)
	page.key("Enter", "\r", 13)
	page.until(`document.querySelector(".progress [role=status]").innerText === "FAILED"`)
	page.until(`document.querySelectorAll(".list .row").length > 0`)
	page.eval(`document.querySelector(".list .scroll").focus()`)
	page.key("ArrowDown", "", 40)
	page.until(`document.querySelector("aside .moment")?.innerText.includes("SIGKILL at")`)
	page.until(`[...document.querySelectorAll("aside code")].some(e => e.innerText.startsWith("minido chaos replay . --mode sim"))`)
	before := page.eval(`JSON.stringify(document.querySelector(".moment").innerText)`)
	page.click("button", "◀ Back")
	page.until(`document.querySelector(".moment").innerText !== ` + before)
	page.click("button", "Forward ▶")
	page.until(`document.querySelector(".moment").innerText === ` + before)
	page.until(`document.querySelectorAll("aside .list .row").length > 3`)
	page.eval(`document.querySelector("aside input").value = "Room/<img SELECT 1"`)
	page.click("button", "Walk through it")
	page.until(`document.querySelector(".walk output")?.innerText.startsWith("1 of ") && document.querySelector(".walk").innerText.includes("no objects")`)
	for range 3 {
		page.click("button", "Event ▶")
	}
	page.until(`document.querySelector(".walk output").innerText.startsWith("4 of ") && document.querySelector(".walk").innerText.includes("Room/<img src=x")`)
	page.click("button", "◀ Event")
	page.until(`document.querySelector(".walk output").innerText.startsWith("3 of ")`)
	page.eval(`document.querySelector(".walk").scrollIntoView()`)
	page.eval(`document.querySelector("aside").scrollTop = 0`)
	page.click("button", "Replay it here")
	page.until(`document.querySelector(".progress code").innerText.startsWith("minido chaos replay") && document.querySelector(".progress [role=status]").innerText === "FAILED"`)
	page.until(`document.querySelectorAll(".halves > .list .row").length === 1`)

	page.eval(`document.querySelector("select[name=mode]").value = "process"`)
	page.click("button", "Start")
	page.until(`document.querySelector(".progress [role=status]").innerText === "running"`)
	page.eval(`[...document.querySelectorAll("button")].find(e => e.textContent === "Stop").focus()`)
	page.until(`Number(document.querySelector("progress").max) > 1 && document.activeElement.textContent === "Stop"`) // drawing leaves the focus where it is
	page.key("Enter", "\r", 13)
	page.until(`document.querySelector(".progress [role=status]").innerText === "STOPPED"`)

	page.eval(`((s) => { s.value = ""; s.dispatchEvent(new Event("change")); })(document.querySelector("select[name=scenario]"))`)
	page.click("button", "Start")
	page.until(`document.querySelector(".fault").innerText.includes("Write what clients do")`)
	page.eval(`document.querySelector("textarea").value = "fetch POST /count"`)
	page.eval(`document.querySelector("input[name=fault]").value = "thunder"`)
	page.click("button", "Start")
	page.until(`document.querySelector(".progress [role=status]").innerText === "BROKEN" && document.querySelector(".progress pre").innerText.includes('fault "thunder"')`)
	if _, got := ask(t, "GET", s.url+"/"); got != "1" {
		t.Errorf("the running server was asked by a campaign: it has counted to %s", got)
	}
	if title := page.eval(`document.title`); strings.Contains(title, "broken in") {
		t.Error("a text of the worker became markup")
	}
}
