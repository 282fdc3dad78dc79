package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"minido.dev/minido/chaos/process"
	"minido.dev/minido/runtime/control"
)

// Everything that this worker is called, stores, logs, sends and answers is markup, and
// so is what the test sends it.
const markupWorker = `
import { DurableObject } from "cloudflare:workers";
const evil = "<img src=x onerror=\"document.title = 'broken in'\"><svg onload=\"document.title = 'broken in'\"></svg>";
export class Room extends DurableObject {
  async fetch(req) {
    const { sql, kv } = this.ctx.storage;
    sql.exec("CREATE TABLE IF NOT EXISTS \"" + evil.replaceAll('"', '""') + "\" (a TEXT)");
    sql.exec("INSERT INTO \"" + evil.replaceAll('"', '""') + "\" VALUES ('" + evil.replaceAll("'", "''") + "')");
    kv.put(evil, { [evil]: evil });
    if (req.headers.get("upgrade") !== "websocket") return new Response(evil);
    const [client, server] = Object.values(new WebSocketPair());
    this.ctx.acceptWebSocket(server, ["tag " + evil]);
    server.serializeAttachment({ [evil]: evil });
    server.send(evil);
    return new Response(null, { status: 101, webSocket: client });
  }
  webSocketMessage(ws, text) { ws.send("echo " + text); ws.close(4000, evil.slice(0, 60)); }
}
export default { async fetch(req, env) {
  const fail = { [evil]() { console.error(evil, new Error(evil)); } };
  fail[evil]();
  const text = await req.text();
  if (text.startsWith("http")) await fetch(text + "/?" + evil, { headers: { "x-evil": evil }, method: "POST", body: evil });
  const answer = await env.ROOM.getByName(evil).fetch(req.url, { headers: req.headers });
  if (answer.webSocket) return answer;
  return new Response(await answer.text(), { headers: { "x-evil": evil } });
} };`

// What a worker or its clients say becomes no markup on any page: names of objects and
// tables, values, keys, log lines, stacks, URLs, headers, bodies, frames, tags,
// attachments, reasons of closes, SQL.
func TestDashboardMarkup(t *testing.T) {
	const evil = `<img src=x onerror="document.title='broken in'">`
	page := browse(t)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Header().Set("x-evil", evil); fmt.Fprint(w, evil) }))
	defer upstream.Close()
	s, open := dashboardOf(t, map[string]string{"worker.js": markupWorker, "wrangler.json": `{"name": "rooms", "main": "worker.js", "compatibility_date": "2026-08-01",
		"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room"}]}, "migrations": [{"tag": "1", "new_sqlite_classes": ["Room"]}]}`})
	page.visit(open())
	page.click("nav a", "Timeline")
	page.until(`document.querySelector(".list")`)
	rows := func() string { return page.eval(`document.querySelectorAll(".row").length`) }
	before := rows()
	to, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	// A target and headers as no browser would write them.
	conn, err := net.Dial("tcp", to.Host)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST /%s?%s HTTP/1.1\r\nHost: localhost\r\nX-Evil: %s\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s",
		strings.ReplaceAll(evil, " ", "\t"), strings.ReplaceAll(evil, " ", "+"), evil, len(upstream.URL), upstream.URL)
	answer, err := io.ReadAll(conn)
	if conn.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(answer), " 200 ") && !strings.Contains(string(answer), " 400 ") {
		t.Errorf("a raw target: %s", answer)
	}
	req, err := http.NewRequest("POST", s.url+"/"+url.PathEscape(evil)+"?"+url.QueryEscape(evil), strings.NewReader(upstream.URL))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Evil", evil)
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if resp.Body.Close(); err != nil || resp.StatusCode != 200 {
		t.Fatalf("%d %s %v", resp.StatusCode, body, err)
	}
	ws, _, err := websocket.Dial(context.Background(), s.url+"/"+url.PathEscape(evil), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	still, _, err := websocket.Dial(context.Background(), s.url+"/open", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer still.CloseNow()
	if err := ws.Write(context.Background(), websocket.MessageText, []byte(evil)); err != nil {
		t.Fatal(err)
	}
	page.until(`document.querySelectorAll(".row").length > ` + before + ` && document.body.innerText.includes("frame from the client")`)

	clean := func(where string) {
		t.Helper()
		if found := page.eval(`[document.title, ...[...document.querySelectorAll("img, svg, iframe, object, embed, script:not([src]), [onerror], [onload]")].map(e => e.outerHTML)].filter(text => text.includes("broken in") || text.startsWith("<")).join("\n")`); found != "" {
			t.Errorf("%s: a text became markup: %s", where, found)
		}
	}
	// Every row of a page, one after another, with what it opens.
	each := func(where, selector, shown string) {
		t.Helper()
		page.until(`document.querySelectorAll(` + "`" + selector + "`" + `).length > 0`)
		n := page.eval(`document.querySelectorAll(` + "`" + selector + "`" + `).length`)
		opened := page.eval(`(async () => {
			let texts = "";
			// What a row opens may be on its way still: another round finds it.
			for (let i = 0, round = 0; i < ` + n + ` || ++round < 20 && !texts.includes(` + strconv.Quote(shown) + `) && (i = 0, true); i++) {
				document.querySelectorAll(` + "`" + selector + "`" + `)[i]?.click();
				await new Promise(done => setTimeout(done, 60));
				for (const link of document.querySelectorAll("pre + button.link, .statement button.link, div > button.link.mono")) link.click();
				texts += document.body.innerText;
			}
			return texts;
		})()`)
		if !strings.Contains(opened, shown) {
			t.Errorf("%s does not show %s", where, shown)
		}
		clean(where)
	}
	each("timeline", ".row", "Asked of its storage")
	page.click("nav a", "Requests and logs")
	each("requests", ".row", "x-evil")
	page.click("nav a", "Sockets")
	each("sockets", "tbody button.link", "echo <img")
	page.click("nav a", "Objects")
	each("objects", ".row", "tag <img")
	page.click("aside a", "Look at its data")
	page.until(`document.querySelectorAll("main .bar button").length > 3`)
	each("data", "main .bar button", "<img src=x")
	page.click("nav a", "Client")
	page.click("button", "Send")
	page.until(`document.querySelector(".answer").innerText.includes("<img src=x")`)
	page.until(`((e) => { e.value = "/socket"; return true; })(document.querySelector("[aria-label='Path of the WebSocket']"))`)
	page.click("button", "Connect")
	page.until(`document.querySelector(".sockets .row")`)
	clean("client")
}

// dashboardOf starts a server of a project and returns what gives an address of its dashboard.
func dashboardOf(t *testing.T, files map[string]string) (s server, open func() string) {
	t.Helper()
	s, open, _ = sessionOf(t, files)
	return s, open
}

func sessionOf(t *testing.T, files map[string]string, flags ...string) (s server, open func() string, session control.Session) {
	t.Helper()
	return sessionAt(t, filepath.Join(project(t, files), "wrangler.json"), flags...)
}

// sessionAt runs the project of a configuration with a control directory of its own; open
// is an address of its dashboard, a new one each time.
func sessionAt(t *testing.T, config string, flags ...string) (s server, open func() string, session control.Session) {
	t.Helper()
	sessions := t.TempDir()
	env := []string{"MINIDO_CONTROL_DIR=" + sessions}
	s, err := launch(t, process.Options{Env: env, Command: append([]string{minido, "dev", "--ip", "127.0.0.1", "-c", config, "--port", "0",
		"--persist-to", filepath.Join(t.TempDir(), "state")}, flags...)})
	if err != nil {
		t.Fatal(err)
	}
	found, err := control.Sessions(sessions)
	if err != nil || len(found) != 1 {
		t.Fatalf("%d sessions, %v", len(found), err)
	}
	return s, func() string {
		cmd := exec.Command(minido, "dashboard")
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}, found[0]
}

// A page that a browser on this machine shows beside the dashboard, of the internet or of
// another port, can neither read nor do nor frame anything, even if it knows the address
// and a ticket; and it gets no token from the pages that have one.
func TestDashboardAttacks(t *testing.T) {
	t.Parallel()
	page := browse(t)
	s, open, session := sessionOf(t, map[string]string{"worker.js": `export default { fetch: () => new Response("<h1>the worker</h1>", { headers: { "content-type": "text/html" } }) }`,
		"wrangler.json": `{"name": "plain", "main": "worker.js", "compatibility_date": "2026-08-01"}`})
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>evil</title><p>evil")
	}))
	defer evil.Close()
	page.visit(open()) // a tab that has a token
	page.until(`document.body.innerText.includes("Durable Objects")`)
	ticket := open()
	_, secret, _ := strings.Cut(ticket, "#")
	for _, from := range []string{evil.URL, strings.Replace(evil.URL, "127.0.0.1", "localhost", 1), s.url} {
		other := page.tab()
		other.visit(from)
		other.until(`document.readyState === "complete"`)
		var got map[string]string
		attack := `(async () => {
			const base = ` + fmt.Sprintf("%q", session.URL) + `, ticket = ` + fmt.Sprintf("%q", secret) + `, out = {};
			const attempt = async (name, fn) => { try { out[name] = String(await fn()); } catch (e) { out[name] = "refused"; } };
			const loaded = (e) => new Promise(done => { e.onload = () => done("loaded"); e.onerror = () => done("refused"); document.body.append(e); });
			await attempt("read", async () => (await fetch(base + "/v1/status")).text());
			await attempt("read with a guess", async () => (await fetch(base + "/v1/status", { headers: { authorization: "Bearer " + ticket } })).text());
			await attempt("ticket", async () => (await fetch(base + "/v1/dashboard/session", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ ticket }) })).text());
			await attempt("ticket as text", async () => { const r = await fetch(base + "/v1/dashboard/session", { method: "POST", mode: "no-cors", body: JSON.stringify({ ticket }) }); return r.type === "opaque" ? "refused" : r.text(); });
			await attempt("script", () => loaded(Object.assign(document.createElement("script"), { src: base + "/dashboard/app.js" })));
			await attempt("style", () => loaded(Object.assign(document.createElement("link"), { rel: "stylesheet", href: base + "/dashboard/style.css" })));
			await attempt("image", () => loaded(Object.assign(document.createElement("img"), { src: base + "/dashboard/" })));
			await attempt("frame", async () => {
				const f = Object.assign(document.createElement("iframe"), { src: base + "/dashboard/#" + ticket });
				await loaded(f);
				try { return f.contentDocument ? "refused" : f.contentWindow.length === 0 && (f.contentWindow.location.href, "read"); } catch { return "refused"; } // an error page of the browser's
			});
			await attempt("broadcast", () => new Promise(done => {
				const tabs = new BroadcastChannel("minido-session");
				tabs.onmessage = e => done(JSON.stringify(e.data));
				tabs.postMessage("token?");
				setTimeout(() => done("refused"), 400);
			}));
			await attempt("opener", async () => {
				const w = open(base + "/dashboard/");
				if (!w) return "refused";
				await new Promise(done => setTimeout(done, 500));
				try { return w.document ? "read" : "refused"; } catch { return "refused"; }
			});
			return JSON.stringify(out);
		})()`
		if err := json.Unmarshal([]byte(other.eval(attack)), &got); err != nil {
			t.Fatal(err)
		}
		for name, what := range got { // order-independent: each is judged by itself
			if what != "refused" {
				t.Errorf("a page of %s, %s: %s", from, name, what)
			}
		}
		if len(got) != 10 {
			t.Errorf("%d attacks were tried", len(got))
		}
	}
	// The ticket is still good: nobody could use it up.
	last := page.tab()
	last.visit(ticket)
	last.until(`document.body.innerText.includes("Durable Objects")`)
}
