package sendemail_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

const worker = `
import { EmailMessage } from "cloudflare:email";
const raw = (head) => head + "\r\n\r\nHello\r\n";
const good = raw("From: Ann <ann@a.example>\r\nTo: bob@b.example\r\nMessage-ID: <1@a.example>\r\nSubject: hi");
const attempt = async (fn) => {
  try { return JSON.stringify((await fn()) ?? null); } catch (e) { return e.name + ": " + e.message; }
};
const message = (text, from = "ann@a.example", to = "bob@b.example") => new EmailMessage(from, to, text);
const does = {
  sent: (env) => env.MAIL.send(message(good)),
  stream: (env) => env.MAIL.send(message(new Response(good).body)),
  noid: (env) => env.MAIL.send(message(raw("From: ann@a.example"))),
  from: (env) => env.MAIL.send(message(good, "eve@e.example")),
  received: (env) => env.MAIL.send(message("Received: x\r\n" + good)),
  only: (env) => env.ONLY.send(message(good)),
  sender: (env) => env.SENDERS.send(message(good)),
  built: (env) => env.MAIL.send({ from: { name: "Ann", email: "ann@a.example" }, to: ["bob@b.example"], subject: "s", text: "t", html: "<b>h</b>" }),
  empty: (env) => env.MAIL.send(new EmailMessage("ann@a.example", "bob@b.example", "")),
  attached: (env) => env.MAIL.send({ from: "ann@a.example", to: "b@b.example", subject: "s", text: "with", attachments: [{ filename: "a.png", type: "image/png", content: new Uint8Array([1, 2, 3]) }, { filename: "b", type: "x/y", content: "five!" }] }),
};
export default {
  fetch: async (req, env) => new Response(await attempt(() => does[new URL(req.url).pathname.slice(1)](env))),
  async email(m, env, ctx) {
    const text = await new Response(m.raw).text();
    if (m.from === "spam@a.example") return m.setReject("spam");
    if (m.from === "bad@a.example") throw new TypeError("bad mail");
    await m.forward("carl@c.example", new Headers({ "X-Seen": m.headers.get("subject") + " " + m.rawSize + " " + text.length }));
    await m.reply(new EmailMessage(m.to, m.from, "From: " + m.to + "\r\nTo: " + m.from + "\r\nIn-Reply-To: " + (m.from === "wrong@a.example" ? "<0@x>" : m.headers.get("message-id")) + "\r\nMessage-ID: <2@b>\r\n\r\nThanks\r\n"));
  },
};`

// Messages are checked, written to files and named; the email handler is called by
// hand, forwards, replies and rejects.
func TestEmail(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"worker.js": worker,
		"wrangler.json": `{"name": "post", "main": "worker.js", "compatibility_date": "2026-03-20", "send_email": [{"name": "MAIL"},
{"name": "ONLY", "destination_address": "dan@d.example"}, {"name": "SENDERS", "allowed_sender_addresses": ["x@x.example"]}]}`,
	}, minidotest.Options{})
	id := `[0-9A-Za-z]{36}`
	matches := func(what, got, pattern string) {
		t.Helper()
		if !regexp.MustCompile("(?s)^" + pattern + "$").MatchString(got) {
			t.Errorf("%s: %q, want %q", what, got, pattern)
		}
	}
	for _, c := range [][2]string{
		{"sent", `{"messageId":"<` + id + `@a.example>"}`},
		{"stream", `{"messageId":"<` + id + `@a.example>"}`},
		{"noid", `Error: invalid message-id`},
		{"empty", `Error: could not parse email: Cannot read properties of undefined \(reading 'value'\)`},
		{"from", `Error: From: header does not match mail from`},
		{"received", `Error: invalid headers set`},
		{"only", `Error: email to bob@b.example not allowed`},
		{"sender", `Error: email from ann@a.example not allowed`},
		{"built", `{"messageId":"<` + id + `@a.example>"}`},
		{"attached", `{"messageId":"<` + id + `@a.example>"}`},
	} {
		matches(c[0], w.Do("GET", "http://localhost/"+c[0], "").Text(), c[1])
	}
	sent, err := filepath.Glob(filepath.Join(w.Dir(), "v3", "email", "sent", "*"))
	if err != nil || len(sent) != 7 { // two messages; a text and HTML; a text and two attachments
		t.Fatalf("%d messages: %v", len(sent), err)
	}
	all := ""
	for _, path := range sent {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all += string(text)
	}
	for _, part := range []string{"Subject: hi\r\n\r\nHello", "<b>h</b>", "with", "\x01\x02\x03", "five!"} {
		if !strings.Contains(all, part) {
			t.Errorf("no message has %q", part)
		}
	}
	if n := len(w.Logged("send_email binding called")); n != 4 {
		t.Errorf("%d messages were named in the log", n)
	}
	for _, line := range []string{"From: \"Ann\" <ann@a.example>\nTo: bob@b.example\nSubject: s\n\nText: ", "Attachment (attachment): a.png -> ", "-1.png", "-2.bin"} {
		if len(w.Logged(line)) == 0 {
			t.Errorf("the log does not say %q", line)
		}
	}
	incoming := "From: ann@a.example\r\nMessage-ID: <9@a>\r\nSubject: hi\r\n\r\nHello\r\n"
	hand := func(query, body string) string {
		return w.Do("POST", "http://localhost/cdn-cgi/handler/email?"+query, body).Text()
	}
	matches("processed", hand("from=ann@a.example&to=bob@b.example", incoming), "Worker successfully processed email")
	matches("structured", hand("from=ann@a.example&to=bob@b.example&format=json", incoming),
		`{"outcome":"ok","forwards":\[{"recipient":"carl@c.example","headers":\[\["x-seen","hi 62 62"\]\],"messageId":"\\u003c`+id+`@c.example\\u003e"}\],"replies":\[{"messageId":"\\u003c`+id+`@b.example\\u003e","sender":"bob@b.example","raw":"References: .*From: bob@b.example.*Thanks.*"}\]}`)
	matches("rejected", hand("from=spam@a.example&to=bob@b.example", incoming), "400 Worker rejected email with the following reason: spam")
	matches("thrown", hand("from=bad@a.example&to=bob@b.example&format=json", incoming), `500 {"outcome":"exception".*`)
	matches("wrong reply", hand("from=wrong@a.example&to=bob@b.example&format=json", incoming), `500 {"outcome":"exception".*"replies":\[\]}`)
	matches("no message id", hand("from=a@a&to=b@b", "From: a@a\r\n\r\nx"), "400 Email could not be parsed: invalid or no message id provided")
	matches("nothing", hand("from=a@a", incoming), "400 Invalid email. Your request must include URL parameters .*")
	replies, err := filepath.Glob(filepath.Join(w.Dir(), "v3", "email", "reply", "*.eml"))
	if err != nil || len(replies) != 2 {
		t.Errorf("%d replies: %v", len(replies), err)
	}
}
