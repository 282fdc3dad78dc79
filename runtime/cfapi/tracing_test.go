package cfapi_test

import (
	"regexp"
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// Spans that code enters: the answers are those of wrangler dev 4, but for isTraced.
func TestTracing(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{"w.js": `import { tracing } from "cloudflare:workers";
const say = async (f) => { try { const v = await f(); return [typeof v, String(v)]; } catch (e) { return String(e); } };
export default { async fetch(req, env, ctx) {
  let s;
  const t = tracing, sleep = () => new Promise((r) => setTimeout(r, 1)), out = [tracing === ctx.tracing, ctx.tracing === ctx.tracing, typeof Span];
  for (const f of [
    () => t.enterSpan("a", (x) => { s = x; return 5; }),
    () => t.enterSpan("a", async (x, y, z) => { await sleep(); return [x === s, t.getActiveSpan() === x, y, z]; }, 1, 2),
    () => t.getActiveSpan(), () => t.getActiveSpan() === t.getActiveSpan(),
    () => t.enterSpan("q", (x) => x.spanContext().traceId === t.enterSpan("r", (y) => y.spanContext().traceId) && x.spanContext().spanId !== s.spanContext().spanId),
    () => t.startActiveSpan("a", (x) => x.end()), () => t.startActiveSpan("a", (x) => t.getActiveSpan() === x, {}), () => t.startActiveSpan("a", {}, () => 7), () => t.startActiveSpan("a"),
    () => t.startSpan(), () => t.startSpan("x", { parent: null }),
    () => { const x = t.startSpan("x"); return t.withActiveSpan(x, (y) => String(y) + (t.getActiveSpan() === x), 4); }, () => t.withActiveSpan(), () => t.withActiveSpan(null, () => 1),
    () => s.setAttribute(), () => s.setAttribute("a", {}) === s, () => s.setAttributes("a"), () => s.setAttributes(new Error("x")) === s, () => s.recordException(), () => s.recordException(1),
    () => s.updateName(), () => s.updateName("b") === s, () => s.setStatus("ok"), () => s.setStatus({ code: "bad" }), () => s.setStatus({ code: "ok" }) === s, () => s.end(), () => s.isTraced,
    () => JSON.stringify(s.spanContext()), () => JSON.stringify(s), () => t.Span === s.constructor,
    () => t.enterSpan("a", () => { throw new RangeError("in"); }), () => t.enterSpan("a", async () => { throw new RangeError("ain"); }), () => t.enterSpan.call({}, "a", () => 1),
  ]) out.push(await say(f));
  return Response.json(out);
} };`, "wrangler.json": `{"name": "w", "main": "w.js", "compatibility_date": "2026-08-01"}`}, minidotest.Options{})
	got := regexp.MustCompile(`\b([0-9a-f]{32}|[0-9a-f]{16})\b`).ReplaceAllString(w.Do("GET", "http://localhost/", "").Text(), "?")
	refused := func(method, class, n, of string) string {
		return `"TypeError: Failed to execute '` + method + `' on '` + class + `': parameter ` + n + ` is not of type '` + of + `'.",`
	}
	want := `[false,true,"undefined",["number","5"],["object","false,true,1,2"],["object","[object Span]"],["boolean","true"],["boolean","true"],["undefined","undefined"],["boolean","true"],` +
		refused("startActiveSpan", "Tracing", "2", "Function") + refused("startActiveSpan", "Tracing", "2", "Function") + refused("startSpan", "Tracing", "1", "string") + `["object","[object Span]"],["string","4true"],` +
		refused("withActiveSpan", "Tracing", "1", "Span") + refused("withActiveSpan", "Tracing", "1", "Span") + refused("setAttribute", "Span", "1", "string") + `["boolean","true"],` +
		refused("setAttributes", "Span", "1", "object") + `["boolean","true"],` + refused("recordException", "Span", "1", "Value") + `["undefined","undefined"],` + refused("updateName", "Span", "1", "string") + `["boolean","true"],` +
		refused("setStatus", "Span", "1", "TracingSpanStatus") + `"TypeError: Span status code must be 'unset', 'ok', or 'error'.",["boolean","true"],["undefined","undefined"],["boolean","false"],` +
		`["string","{\"traceId\":\"?\",\"spanId\":\"?\",\"traceFlags\":0}"],["string","{}"],["boolean","true"],"RangeError: in","RangeError: ain",` +
		`"TypeError: Illegal invocation: function called with incorrect ` + "`this`" + ` reference. See https://developers.cloudflare.com/workers/observability/errors/#illegal-invocation-errors for details."]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
