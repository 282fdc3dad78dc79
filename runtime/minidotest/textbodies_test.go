package minidotest

import (
	"testing"

	"minido.dev/minido/internal/reference"
)

// textBodies answers with streams whose chunks are strings.
const textBodies = `
const texts = () => new ReadableStream({ start(c) { for (const s of ["a\u00e9", "", "\ud83d\ude00", new Uint8Array([33])]) c.enqueue(s); c.close(); } });
const answers = {
  stream: () => new Response(texts()),
  clone: () => new Response(texts()).clone(),
  generator: () => new Response(ReadableStream.from((async function* () { yield "x"; yield "y"; })())),
  transform: () => { const { readable, writable } = new TransformStream(), w = writable.getWriter(); w.write("p"); w.write("q"); w.close(); return new Response(readable); },
  identity: () => { const { readable, writable } = new IdentityTransformStream(); texts().pipeTo(writable); return new Response(readable); },
  fixed: () => { const { readable, writable } = new FixedLengthStream(8); texts().pipeTo(writable); return new Response(readable); },
  gzip: async () => new Response(texts().pipeThrough(new CompressionStream("gzip")).pipeThrough(new DecompressionStream("gzip"))),
  mixin: async () => new Response(await new Response(texts()).text().catch((e) => e.message)),
};
export default { fetch: (request) => answers[new URL(request.url).pathname.slice(1)]() };
`

// Strings in the stream of a body that leaves are sent as UTF-8, and taken by
// the transforms of bytes; the body mixin wants bytes (Fetch, section 2.2.4,
// has it want them everywhere).
var textBodyAnswers = [][2]string{
	{"stream", "aé😀!"}, {"clone", "aé😀!"}, {"generator", "xy"}, {"transform", "pq"}, {"identity", "aé😀!"}, {"fixed", "aé😀!"}, {"gzip", "aé😀!"},
	{"mixin", "This ReadableStream did not return bytes."},
}

func testTextBodies(t *testing.T, post func(path string) string) {
	for _, want := range textBodyAnswers {
		if got := post("/" + want[0]); got != want[1] {
			t.Errorf("%s: %q, want %q", want[0], got, want[1])
		}
	}
}

func TestTextBodies(t *testing.T) {
	w := NewWorldFrom(t, map[string]string{"worker.js": textBodies,
		"wrangler.json": `{"name": "test", "main": "worker.js", "compatibility_date": "2026-08-01"}`}, Options{})
	testTextBodies(t, func(path string) string {
		r := w.Do("POST", "http://localhost"+path, "")
		if r.Err != nil {
			return r.Err.Error()
		}
		return r.Body
	})
}

func TestDifferentialTextBodies(t *testing.T) {
	p := reference.Start(t, reference.Options{Name: "test", Dir: t.TempDir(), Script: textBodies})
	testTextBodies(t, func(path string) string {
		_, text := p.Post(path, "")
		return text
	})
}
