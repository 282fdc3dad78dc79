package r2_test

import (
	"errors"
	"testing"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/minidotest"
)

// A death at any effect point of a multipart upload that replaces an object leaves
// the old object or the new one, whole, and the new one once that was answered.
func TestDeathDuringUpload(t *testing.T) {
	project := map[string]string{
		"w.js": `const operations = {
  put: (B) => B.put("a", "old"),
  upload: async (B) => { const u = await B.createMultipartUpload("a"); const p = await u.uploadPart(1, "ne"); await u.uploadPart(2, "unused"); const q = await u.uploadPart(1, "new"); await u.complete([q]); },
  get: async (B) => (await B.get("a"))?.text(),
};
export default { async fetch(request, env) {
  try { return Response.json(await operations[new URL(request.url).pathname.slice(1)](env.B) ?? null); } catch (e) { return new Response(String(e)); }
} };`,
		"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01", "r2_buckets": [{"binding": "B", "bucket_name": "bucket"}]}`,
	}
	for n := 1; ; n++ {
		seen := 0
		w := minidotest.NewWorldFrom(t, project, minidotest.Options{Kill: func(p killpoint.Point) bool {
			if p.Kind == killpoint.Store {
				seen++
			}
			return seen == n && p.Kind == killpoint.Store
		}})
		answered := 0
		for _, path := range []string{"put", "upload"} {
			r := w.Send("GET", "http://localhost/"+path, "")
			if err := w.Until(r.Done); errors.Is(err, minidotest.ErrKilled) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			answered++
		}
		if !w.Dead() {
			if got := w.Do("GET", "http://localhost/get", ""); got.Body != `"new"` || n < 20 {
				t.Errorf("%s after %d points, want the upload's after at least 20", got.Body, n-1)
			}
			return
		}
		w = w.Revive()
		got := w.Do("GET", "http://localhost/get", "").Body
		allowed := map[int][]string{0: {"null", `"old"`}, 1: {`"old"`, `"new"`}, 2: {`"new"`}}[answered]
		if got != allowed[0] && got != allowed[len(allowed)-1] {
			t.Errorf("death at point %d, after %d answers: %s, want one of %s", n, answered, got, allowed)
		}
		w.Stop()
	}
}
