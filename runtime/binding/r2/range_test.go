package r2_test

import (
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// A Range header that cannot be satisfied gives the whole object, a range as an object is
// refused (wrangler 4.164.0).
func TestUnsatisfiableRanges(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"w.js": `export default { async fetch(request, { B }) {
  await B.put("a", "hello");
  const out = [];
  for (const range of [...["bytes=1-2", "bytes=9-", "bytes=3-1", "bytes=9-12", "bytes=-0"].map((range) => new Headers({ range })), { offset: 9 }, { suffix: 0 }]) {
    try { const o = await B.get("a", { range }); out.push(o.range.offset + "+" + o.range.length + " " + await o.text()); } catch (e) { out.push(e.message); }
  }
  return Response.json(out);
} };`,
		"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01", "r2_buckets": [{"binding": "B", "bucket_name": "b"}]}`,
	}, minidotest.Options{})
	refused := `"get: The requested range is not satisfiable (10039)"`
	whole := `"0+5 hello"`
	want := `["1+2 el",` + whole + "," + whole + "," + whole + "," + whole + "," + refused + "," + refused + "]"
	if got := w.Do("GET", "http://localhost/", "").Body; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
