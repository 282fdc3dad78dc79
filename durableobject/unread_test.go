package durableobject_test

import (
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// The body of a request cannot be read when the response has been sent, and who sends it
// is told; a body that streams to the response is read to its end.
func TestUnreadBody(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{"w.js": `import { DurableObject } from "cloudflare:workers";
export class D extends DurableObject {
  async fetch(request) {
    switch (new URL(request.url).pathname) {
      case "/late": {
        const reader = request.body.getReader({ mode: "byob" });
        this.late = scheduler.wait(50).then(() => reader.read(new Uint8Array(4))).catch((e) => String(e));
        return new Response("unread");
      }
      case "/text":
        this.late = scheduler.wait(50).then(() => request.text()).catch((e) => String(e));
        return new Response("unread");
      case "/echo": return new Response(request.body);
      case "/was": return new Response(await this.late);
    }
  }
}
export default { async fetch(request, env) {
  const stub = env.D.getByName("d");
  const out = [];
  for (const path of ["late", "text", "echo"]) for (const kind of ["text", "stream"]) {
    const log = [];
    let n = 0;
    const stream = new ReadableStream({ async pull(c) { await scheduler.wait(1); n++ < 3 ? c.enqueue(new TextEncoder().encode("abc")) : c.close(); }, cancel(reason) { log.push(String(reason)); } }, { highWaterMark: 0 });
    const response = await stub.fetch("http://d/" + path, { method: "POST", body: kind === "text" ? "abc" : stream });
    log.push(await response.text());
    await scheduler.wait(100);
    if (path !== "echo") log.push(await (await stub.fetch("http://d/was")).text());
    out.push([path, kind, ...log].join(": "));
  }
  return new Response(out.join("\n"));
} };`,
		"wrangler.json": `{"name": "w", "main": "w.js", "compatibility_date": "2026-08-01", "durable_objects": {"bindings": [{"name": "D", "class_name": "D"}]},
"migrations": [{"tag": "v1", "new_sqlite_classes": ["D"]}]}`,
	}, minidotest.Options{})
	defer w.Stop()
	const refused = "TypeError: Can't read from request stream after response has been sent."
	want := "late: text: unread: " + refused + "\nlate: stream: unread: Error: Network connection lost.: " + refused +
		"\ntext: text: unread: " + refused + "\ntext: stream: unread: Error: Network connection lost.: " + refused + "\necho: text: abc\necho: stream: abcabcabc"
	if r := w.Do("POST", "http://localhost/", ""); r.Body != want {
		t.Errorf("%v\ngot  %s\nwant %s", r.Err, r.Body, want)
	}
}
