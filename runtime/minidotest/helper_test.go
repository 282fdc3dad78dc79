package minidotest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// harness answers "/<class>/<name>/<method>" with the JSON of what the RPC
// method returned or threw, "/fetch/<class>/<name>/..." with the object's own
// response, and "/!<script>" with what the script of the test returns.
const harness = `
export function show(e) {
  if (!(e instanceof Error)) return { thrown: String(e) };
  const o = { name: e.name, message: e.message };
  for (const k of ["code", "remote", "retryable", "overloaded", "durableObjectReset"]) if (e[k] !== undefined) o[k] = e[k];
  return o;
}
export async function attempt(fn) {
  try { return { ok: (await fn()) ?? null }; } catch (e) { return { err: show(e) }; }
}
export const serve = (scripts = {}) => ({
  async fetch(req, env, ctx) {
    const [first, ...rest] = req.url.split("/").slice(3);
    if (first === "fetch") return env[rest[0]].getByName(rest[1]).fetch(req);
    const text = req.method === "POST" ? await req.text() : "";
    const args = text ? JSON.parse(text) : [];
    if (first[0] === "!") return Response.json(await attempt(() => scripts[first.slice(1)](env, ctx, ...args)));
    const stub = env[first].getByName(rest[0]);
    return Response.json(await attempt(() => stub[rest[1]](...args)));
  },
});
`

var classes = regexp.MustCompile(`(?m)^export class (\w+) extends (?:DurableObject|Base)\b`)

// newTest starts a world whose worker is source: a module that exports
// durable object classes, bound under their names, and default.
func newTest(t *testing.T, source string, o Options) *World {
	t.Helper()
	var bindings, names []string
	for _, m := range classes.FindAllStringSubmatch(source, -1) {
		bindings = append(bindings, fmt.Sprintf(`{"name": %q, "class_name": %q}`, m[1], m[1]))
		names = append(names, fmt.Sprintf("%q", m[1]))
	}
	return NewWorldFrom(t, map[string]string{
		"harness.js": harness,
		"worker.ts": `import { DurableObject, RpcTarget, WorkerEntrypoint, RpcStub } from "cloudflare:workers";
import { serve, show, attempt } from "./harness.js";
` + source,
		"wrangler.json": fmt.Sprintf(`{"name": "test", "main": "worker.ts", "compatibility_date": "2026-08-01",
"durable_objects": {"bindings": [%s]}, "migrations": [{"tag": "v1", "new_sqlite_classes": [%s]}]}`,
			strings.Join(bindings, ", "), strings.Join(names, ", ")),
	}, o)
}

// call posts args to path and returns the JSON answer, compact.
func (w *World) call(path string, args ...any) string {
	w.t.Helper()
	r := w.send(path, args...)
	if err := w.Until(r.Done); err != nil {
		w.t.Fatalf("%s: %v", path, err)
	}
	return r.text()
}

func (w *World) send(path string, args ...any) *Response {
	w.t.Helper()
	if args == nil {
		args = []any{}
	}
	b, err := json.Marshal(args)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.Send("POST", "http://localhost/"+path, string(b))
}

func (r *Response) text() string {
	if r.Err != nil {
		return "failed: " + r.Err.Error()
	}
	if r.Status != 200 {
		return fmt.Sprintf("%d %s", r.Status, r.Body)
	}
	return r.Body
}

// want compares the answer of a call.
func (w *World) want(want, path string, args ...any) {
	w.t.Helper()
	if got := w.call(path, args...); got != want {
		w.t.Errorf("%s %v:\n got %s\nwant %s", path, args, got, want)
	}
}

// all waits for several responses.
func (w *World) all(rs ...*Response) []string {
	w.t.Helper()
	var out []string
	for _, r := range rs {
		if err := w.Until(r.Done); err != nil {
			w.t.Fatal(err)
		}
		out = append(out, r.text())
	}
	return out
}

// logged lists the lines of the history that contain text.
func (w *World) logged(text string) []string {
	var out []string
	for _, line := range w.History {
		if strings.Contains(line, text) {
			out = append(out, line)
		}
	}
	return out
}
