package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// Everything that this worker stores, names and sends would change the page's title if
// the dashboard took it for markup.
const editedWorker = `
import { DurableObject, WorkflowEntrypoint } from "cloudflare:workers";
const evil = "<img src=x onerror=\"document.title = 'broken in'\">";
export class Room extends DurableObject {
  async fetch(req) {
    const { sql, kv } = this.ctx.storage;
    if (new URL(req.url).pathname === "/fill") {
      sql.exec("CREATE TABLE notes (text TEXT, n, b BLOB)");
      sql.exec("CREATE TABLE pairs (a TEXT, b TEXT, v TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID");
      sql.exec("CREATE VIEW seen AS SELECT text FROM notes");
      sql.exec("INSERT INTO notes VALUES (?, 9007199254740993, x'0102'), ('second', 1.5, NULL)", "first " + evil);
      sql.exec("INSERT INTO pairs VALUES ('x', 'y', 'z')");
      kv.put("settings", { theme: evil, n: [1] }); kv.put("map", new Map([[evil, 1]]));
    }
    return Response.json([sql.exec("SELECT text, typeof(n) AS t, n, hex(b) AS b FROM notes").toArray(), sql.exec("SELECT v FROM pairs").toArray(), kv.get("settings"), kv.get("fresh")]);
  }
}
export class Flow extends WorkflowEntrypoint {
  async run(event, step) {
    await step.do("first " + evil.slice(0, 40), async () => ({ got: evil }));
    const e = await step.waitForEvent("wait", { type: "go", timeout: "1 hour" });
    return { with: e.payload };
  }
}
export default {
  async fetch(req, env) {
    if (new URL(req.url).pathname === "/setup") {
      await env.JOBS.send({ job: evil }); await env.JOBS.send("plain", { contentType: "text", delaySeconds: 3600 });
      await env.DB.exec("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT)"); await env.DB.prepare("INSERT INTO people (name) VALUES (?)").bind("ann " + evil).run();
      await env.KV.put("color", "red", { metadata: { evil }, expirationTtl: 86400 });
      await env.R2.put("old.txt", "bytes");
      await env.FLOW.create({ id: "first-order", params: { evil } });
      return new Response("ready");
    }
    if (new URL(req.url).pathname === "/color") return Response.json(await env.KV.getWithMetadata("color"));
    if (new URL(req.url).pathname === "/people") return Response.json((await env.DB.prepare("SELECT * FROM people").all()).results);
    return env.ROOM.getByName("lobby").fetch(req);
  },
};`

// A person edits rows of objects and of D1, keys of an object's storage, KV values with
// their metadata and expiration, and acts on queues and on instances of Workflows.
func TestDashboardEdits(t *testing.T) {
	page := browse(t)
	dir := project(t, map[string]string{"worker.js": editedWorker, "wrangler.json": `{"name": "shop", "main": "worker.js", "compatibility_date": "2026-08-01",
		"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room"}]}, "migrations": [{"tag": "1", "new_sqlite_classes": ["Room"]}],
		"kv_namespaces": [{"binding": "KV", "id": "kv"}], "d1_databases": [{"binding": "DB", "database_name": "main", "database_id": "main"}], "r2_buckets": [{"binding": "R2", "bucket_name": "pictures"}],
		"queues": {"producers": [{"binding": "JOBS", "queue": "jobs"}], "consumers": [{"queue": "jobs", "type": "http_pull", "dead_letter_queue": "dead"}]},
		"workflows": [{"binding": "FLOW", "name": "orders", "class_name": "Flow"}]}`})
	s, open, _ := sessionAt(t, filepath.Join(dir, "wrangler.json"))
	says := func(path, want string) {
		t.Helper()
		if _, got := ask(t, "GET", s.url+path); !strings.Contains(got, want) {
			t.Errorf("%s says %s, without %s", path, got, want)
		}
	}
	ask(t, "GET", s.url+"/setup")
	ask(t, "GET", s.url+"/fill")
	// field sets a field of the open dialog, and its type where one is given.
	field := func(name, kind, value string) {
		t.Helper()
		page.until(`((f, k) => f && (f.value = ` + "`" + value + "`" + `, f.dispatchEvent(new Event("input")), k && (k.value = "` + kind + `"), true))(document.querySelector("dialog [aria-label='` + name + `']"), document.querySelector("dialog [aria-label='Type of ` + name + `']"))`)
	}
	edit := func(label string) {
		t.Helper()
		page.until(`[...document.querySelectorAll("button.small")].find(e => e.getAttribute("aria-label") === ` + "`" + label + "`" + ` && (e.focus(), true))`)
		page.key("Enter", "\r", 13)
		page.until(`document.querySelector("dialog")?.open`)
	}
	save := func(button, done string) {
		t.Helper()
		page.click("dialog button", button)
		page.until(`!document.querySelector("dialog") && document.body.innerText.includes("` + done + `")`)
	}
	page.visit(open())
	page.click(".row [role=cell]:first-child", "Room/lobby")
	page.click("aside a", "Look at its data")
	page.click("button", "notes")
	edit("Edit the row rowid 1")
	if got := page.eval(`[...document.querySelectorAll("dialog textarea")].map(e => e.value).join("|") + [...document.querySelectorAll("dialog select")].map(e => e.value)`); !strings.HasSuffix(got, "|9007199254740993|AQI=text,number,base64") {
		t.Errorf("the fields are %s", got)
	}
	look(t, page, "edit")
	field("n", "number", "seven")
	page.click("dialog button", "Save")
	page.until(`document.querySelector("dialog .fault").innerText.includes("is no number")`)
	field("n", "number", "9007199254740995")
	field("b", "base64", "AwQ=")
	save("Save", "The row is saved.")
	says("/", `"t":"integer","n":9007199254740996,"b":"0304"`)
	edit("Edit the row rowid 2")
	// The row is changed behind the page's back.
	resp, err := client.Post(s.url+"/cdn-cgi/local/explorer/api/workers/durable_objects/namespaces/shop-Room/query", "application/json",
		strings.NewReader(`{"durable_object_name":"lobby","queries":[{"sql":"UPDATE notes SET text = 'other' WHERE rowid = 2"}]}`))
	if err != nil || resp.StatusCode != 200 {
		t.Fatal(resp, err)
	}
	resp.Body.Close()
	field("text", "text", "mine")
	page.click("dialog button", "Save")
	page.until(`document.querySelector("dialog .fault").innerText.includes("not as it was shown any more")`)
	page.key("Escape", "", 27)
	page.until(`!document.querySelector("dialog")`)
	edit("Edit the row rowid 2")
	save("Delete the row", "The row is deleted.")
	page.click("button", "Insert a row")
	field("text", "text", "it's new")
	save("Insert", "The row is inserted.")
	says("/", `"text":"it's new","t":"null"`)
	page.click("button", "pairs")
	edit("Edit the row a x, b y")
	field("v", "text", "edited")
	save("Save", "The row is saved.")
	says("/", `[{"v":"edited"}]`)
	page.click("button", "seen")
	page.until(`document.body.innerText.includes("Its rows are not edited: it is a view.")`)
	page.click("button", "keys")
	edit("Edit map")
	page.until(`document.querySelector("dialog textarea").disabled && document.querySelector("dialog").innerText.includes("JSON does not have this value")`)
	page.click("dialog button", "Cancel")
	edit("Edit settings")
	page.eval(`document.querySelector("dialog textarea").value = '{"theme": "dark"}'`)
	save("Save", "The value is stored.")
	page.click("button", "Put a key")
	field("Key", "", "fresh")
	field("Value, as JSON", "", "[true]")
	save("Save", "The value is stored.")
	says("/", `{"theme":"dark"},[true]]`)

	page.click("nav a", "Stores")
	page.click(".row [role=cell]:first-child", "color")
	page.until(`document.querySelector("[aria-label^=Metadata]").value.includes("evil") && document.querySelector("[aria-label=Expires]").value !== ""`)
	page.eval(`document.querySelector("[aria-label=Value]").value = "green", document.querySelector("[aria-label^=Metadata]").value = '{"m":1}', document.querySelector("[aria-label=Expires]").value = ""`)
	page.click("button", "Put")
	page.until(`document.body.innerText.includes("Stored.")`)
	says("/color", `{"value":"green","metadata":{"m":1}`)
	page.click(".tab", "R2 pictures")
	page.click(".row [role=cell]:first-child", "old.txt")
	page.until(`document.querySelector("[aria-label=Value]").value === "bytes"`)
	page.click("button", "Delete")
	page.until(`document.body.innerText.includes("Deleted.") && !document.querySelector(".list").innerText.includes("old.txt")`)
	page.click(".tab", "D1 DB")
	page.click("button", "people")
	edit("Edit the row rowid 1")
	field("name", "text", "bob")
	save("Save", "The row is saved.")
	says("/people", `[{"id":1,"name":"bob"}]`)

	page.click(".tab", "Queue jobs")
	page.until(`document.querySelector("dl").innerText.includes("2 messages") && document.querySelector("dl").innerText.includes("shop (http_pull)")`)
	page.click("button", "Pause")
	page.until(`document.querySelector("dl").innerText.includes("paused since")`)
	page.click("button", "Resume")
	page.until(`document.querySelector("dl").innerText.includes("Delivery\non")`)
	page.until(`[...document.querySelectorAll(".row")].find(e => e.innerText.includes("plain") && (e.click(), true))`)
	page.click("aside button", "Deliver now")
	page.until(`[...document.querySelectorAll(".row")].some(e => e.innerText.includes("plain") && e.innerText.includes("waits"))`)
	page.click("aside button", "Delete")
	page.until(`document.querySelector("dl").innerText.includes("1 messages")`)
	page.click("button", "Purge")
	page.click("dialog button", "Delete them")
	page.until(`document.querySelector("dl").innerText.includes("0 messages")`)

	page.click(".tab", "Workflow orders")
	page.click(".row [role=cell]:first-child", "first-order")
	page.until(`document.querySelector("aside").innerText.includes("wait-1") && document.querySelector("aside .steps pre").innerText.includes("<img")`)
	page.click("aside button", "Pause")
	page.until(`document.querySelector("aside dl").innerText.includes("paused")`)
	page.click("aside button", "Resume")
	page.until(`document.querySelector("aside dl").innerText.includes("running")`)
	page.until(`((t, p) => t && (t.value = "go", p.value = '"now"', true))(document.querySelector("aside [aria-label^=Type]"), document.querySelector("aside [aria-label^=Payload]"))`)
	page.click("aside button", "Send event")
	page.until(`document.querySelector("aside dl").innerText.includes("complete") && document.querySelector("aside dl").innerText.includes('"with": "now"')`)
	page.until(`[...document.querySelectorAll("aside tr")].find(e => e.innerText.includes("wait-1"))?.querySelector("button")?.click() === undefined`)
	page.until(`document.querySelector("aside dl").innerText.includes("running")`)
	page.click("aside button", "Terminate")
	page.until(`document.querySelector("aside dl").innerText.includes("terminated")`)
	page.click("button", "New instance")
	field("Id", "", "second")
	field("Parameters, as JSON", "", `{"a": 1}`)
	page.click("dialog button", "Create")
	page.until(`document.querySelector("aside h2").innerText === "second"`)
	page.click("aside button", "Delete")
	page.until(`document.querySelector("aside").innerText.includes("is deleted")`)

	page.click("nav a", "Objects")
	page.click(".row [role=cell]:first-child", "Room/lobby")
	page.click("aside button", "Delete")
	page.click("dialog button", "Delete it")
	page.until(`!document.querySelector("dialog") && document.querySelector("aside dl").innerText.includes("stored")`)
	if title := page.eval(`document.title`); strings.Contains(title, "broken in") {
		t.Error("a text of the worker became markup")
	}
}
