package images_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/minidotest"
)

const worker = `
const read = async (stream) => [...new Uint8Array(await new Response(stream).arrayBuffer())];
export default { async fetch(request, env) {
  const { IMAGES } = env, { hosted } = IMAGES, body = request.body;
  const does = {
    info: () => IMAGES.info(body),
    async small() { const r = await IMAGES.input(body).transform({ width: 10, blur: 3 }).output({ format: "image/webp" }); return [r.contentType(), (await IMAGES.info(r.image())).width]; },
    tiff: () => IMAGES.info("II*\0" + "x".repeat(20)),
    gif: () => IMAGES.input(body).output({ format: "image/gif" }),
    consumed: async () => { const i = IMAGES.input(body); await i.output({ format: "image/png" }); await i.output({ format: "image/png" }); },
    text: () => IMAGES.text("x", {}).output({ format: "image/png" }),
    async drawnText() { return (await IMAGES.input(body).draw({ content: "x", options: {} }).output({ format: "image/png" })).contentType(); },
    large: () => IMAGES.info(new Uint8Array(100 * 1024 * 1024 + 1)),
    upload: () => hosted.upload(body, { id: "one", metadata: { a: 1 } }).then((i) => i.variants),
    details: () => hosted.image("one").details().then((i) => i && [i.id, i.meta]),
    remove: () => hosted.image("one").delete(),
    list: () => hosted.list().then((l) => l.images.map((i) => i.id)),
    draft: () => hosted.createDirectUpload({ id: "two" }),
  };
  try { return Response.json((await does[new URL(request.url).pathname.slice(1)]()) ?? null); } catch (e) { return new Response(e.name + " " + e.code + ": " + e.message); }
} };`

func project() map[string]string {
	return map[string]string{
		"w.js":          worker,
		"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01", "images": {"binding": "IMAGES"}}`,
	}
}

func picture(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	m := image.NewRGBA(image.Rect(0, 0, 40, 20))
	m.Set(3, 3, color.White)
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A worker asks what a picture is, makes others of it, and is told in the service's
// words and codes what cannot be made.
func TestImages(t *testing.T) {
	w := minidotest.NewWorldFrom(t, project(), minidotest.Options{})
	data := picture(t)
	for _, c := range [][2]string{
		{"small", `["image/webp",10]`},
		{"tiff", "Error 9520: IMAGES_INFO_ERROR 9520: ERROR: Unsupported image type tiff, expected one of: JPEG, SVG, PNG, WebP, GIF or AVIF"},
		{"gif", "Error 9520: IMAGES_TRANSFORM_ERROR 9520: ERROR: GIF output is not supported in local mode"},
		{"consumed", "Error 9525: IMAGES_TRANSFORM_ERROR 9525: ImageTransformer consumed; you may only call .output() or draw a transformer once"},
		{"text", "Error 9523: IMAGES_TRANSFORM_ERROR 9523: ERROR: Internal Images binding error: expected image in request, got null"},
		{"drawnText", `"image/png"`},
		{"large", "Error undefined: images: the pictures have 104857601 bytes, and minido takes at most 104857600 at once"},
	} {
		if got := w.Do("POST", "http://localhost/"+c[0], data).Text(); !strings.HasPrefix(got, c[1]) {
			t.Errorf("%s: %q, want %q", c[0], got, c[1])
		}
	}
	if got := w.Do("POST", "http://localhost/info", data).Body; !strings.HasPrefix(got, `{"format":"image/png","fileSize":`) || !strings.HasSuffix(got, `,"width":40,"height":20}`) {
		t.Error(got)
	}
	for _, line := range []string{"env.IMAGES ignores here, as in wrangler dev: blur", "env.IMAGES ignores here, as in wrangler dev: text that is drawn"} {
		if len(w.Logged(line)) != 1 {
			t.Errorf("the log does not say once: %s", line)
		}
	}
}

// A picture that was uploaded is there after a death, and is delivered to clients;
// a direct upload is taken once.
func TestHosted(t *testing.T) {
	w := minidotest.NewWorldFrom(t, project(), minidotest.Options{})
	data := picture(t)
	want := func(method, path, body string, status int, want string) {
		t.Helper()
		if got := w.Do(method, "http://localhost"+path, body); got.Status != status || got.Body != want {
			t.Errorf("%s: %d %q, want %d %q", path, got.Status, got.Body, status, want)
		}
	}
	want("POST", "/upload", data, 200, `["http://localhost/__cf_local/imagedelivery/one/public"]`)
	w.Kill()
	w = w.Revive()
	want("GET", "/details", "", 200, `["one",{"a":1}]`)
	want("GET", "/__cf_local/imagedelivery/one/public", "", 200, data)
	want("GET", "/__cf_local/imagedelivery/none/public", "", 404, "Image not found")
	want("GET", "/draft", "", 200, `{"id":"two","uploadURL":"http://localhost/__cf_local/imageupload/two"}`)
	want("GET", "/list", "", 200, `["one","two"]`)
	want("GET", "/__cf_local/imageupload/two", "", 405, "Method not allowed")
	want("GET", "/remove", "", 200, "true")
	want("GET", "/details", "", 200, "null")
}

// An upload is there as a whole or not at all, at whatever effect it is cut off.
func TestDeathOfAnUpload(t *testing.T) {
	data := picture(t)
	for n := 1; ; n++ {
		seen := 0
		w := minidotest.NewWorldFrom(t, project(), minidotest.Options{Kill: func(p killpoint.Point) bool {
			if p.Kind == killpoint.Store {
				seen++
			}
			return p.Kind == killpoint.Store && seen == n
		}})
		r := w.Send("POST", "http://localhost/upload", data)
		if err := w.Until(r.Done); err != nil && !errors.Is(err, minidotest.ErrKilled) {
			t.Fatal(err)
		}
		if !w.Dead() {
			if n < 5 { // the opening, the file and the row, each before and behind
				t.Errorf("only %d effects", n-1)
			}
			return
		}
		w = w.Revive()
		switch got := w.Do("GET", "http://localhost/details", "").Body; got {
		case `["one",{"a":1}]`:
			if got := w.Do("GET", "http://localhost/__cf_local/imagedelivery/one/public", ""); got.Body != data {
				t.Errorf("effect %d: %d %q", n, got.Status, got.Body)
			}
		case "null":
		default:
			t.Errorf("effect %d: %s", n, got)
		}
	}
}
