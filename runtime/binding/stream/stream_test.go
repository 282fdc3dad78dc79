package stream_test

import (
	"strings"
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

var project = map[string]string{
	"w.js": `export default { async fetch(request, env) {
  const { STREAM } = env, url = new URL(request.url);
  const does = {
    upload: () => STREAM.upload(request.body, { meta: { name: "v" } }).then((v) => v.preview),
    list: () => STREAM.videos.list().then((l) => l.map((v) => [v.size, v.meta, v.status.state])),
    caption: async () => { const [{ id }] = await STREAM.videos.list(); const c = STREAM.video(id).captions; await c.upload("de", request.body); return c.list(); },
    unnamed: async () => { const [{ id }] = await STREAM.videos.list(); return STREAM.video(id).captions.upload(["de"], request.body); },
    watermark: () => STREAM.watermarks.generate(request.body, { opacity: 2 }),
    direct: () => STREAM.createDirectUpload({}),
    none: () => STREAM.video("x").details(),
    remove: async () => { const [{ id }] = await STREAM.videos.list(); return STREAM.video(id).delete(); },
  };
  try { return Response.json((await does[url.pathname.slice(1)]()) ?? null); } catch (e) { return new Response(e.name + ": " + e.message); }
} };`,
	"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01", "stream": {"binding": "STREAM"}}`,
}

// A video that was uploaded is there after a death, is watched as it is, and goes with
// its captions.
func TestStream(t *testing.T) {
	w := minidotest.NewWorldFrom(t, project, minidotest.Options{})
	want := func(path, body, want string) {
		t.Helper()
		if got := w.Do("POST", "http://localhost"+path, body); got.Body != want {
			t.Errorf("%s: %d %q, want %q", path, got.Status, got.Body, want)
		}
	}
	preview := w.Do("POST", "http://localhost/upload", "moving pictures").Body
	path, ok := strings.CutPrefix(strings.Trim(preview, `"`), "http://localhost")
	if !ok || !strings.HasPrefix(path, "/__cf_local/stream/") {
		t.Fatal(preview)
	}
	w.Kill()
	w = w.Revive()
	want("/list", "", `[[15,{"name":"v"},"ready"]]`)
	want("/caption", "WEBVTT", `[{"language":"de","label":"German","generated":false,"status":"ready"}]`)
	if got := w.Do("GET", "http://localhost"+path, ""); got.Body != "moving pictures" || got.Status != 200 {
		t.Errorf("%d %q", got.Status, got.Body)
	}
	want("/unnamed", "WEBVTT", `{"language":"de","label":"German","generated":false,"status":"ready"}`)
	want("/watermark", "x", "Error: BadRequestError: opacity must be between 0.0 and 1.0")
	want("/direct", "", "Error: BadRequestError: createDirectUpload is not supported in local mode")
	want("/none", "", "Error: NotFoundError: Video not found: x")
	want("/remove", "", "null")
	want("/list", "", "[]")
	want(path, "", "Video not found")
}
