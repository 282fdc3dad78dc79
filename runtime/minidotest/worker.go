package minidotest

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"minido.dev/minido/internal/lazyregexp"
)

// Harness is a module that tests' workers import as "./harness.js". Its serve()
// answers "/<class>/<name>/<method>" with the JSON of what the RPC method
// returned or threw, "/fetch/<class>/<name>/..." with the object's own response,
// and "/!<script>" with what the script of the test returns.
//
//go:embed harness.js
var Harness string

var classes = lazyregexp.New(`(?m)^export class (\w+) extends (?:DurableObject|Base)\b`)

// Imports are the first lines of each worker that NewWorker makes.
const Imports = `import { DurableObject, RpcTarget, WorkerEntrypoint, RpcStub } from "cloudflare:workers";
import { serve, show, attempt } from "./harness.js";
`

// Script is the worker as one module, for the reference.
func Script(source string) string {
	return strings.Split(Imports, "\n")[0] + "\n" + strings.ReplaceAll(Harness, "export ", "") + source
}

// ClassesOf lists the durable object classes that a source exports.
func ClassesOf(source string) (names []string) {
	for _, m := range classes.FindAllStringSubmatch(source, -1) {
		names = append(names, m[1])
	}
	return names
}

// NewWorker starts a world whose worker is source: a module that exports durable
// object classes, bound under their names, and default, which Harness's serve()
// makes. Imports stand before it. The worker's name is "test".
func NewWorker(t testing.TB, source string, o Options) *World {
	t.Helper()
	bindings, names := objectBindings(source)
	return NewWorldFrom(t, map[string]string{
		"harness.js": Harness,
		"worker.ts":  Imports + source,
		"wrangler.json": fmt.Sprintf(`{"name": "test", "main": "worker.ts", "compatibility_date": %q,
"durable_objects": {"bindings": [%s]}, "migrations": [{"tag": "v1", "new_sqlite_classes": [%s]}]}`,
			cmp.Or(o.Date, "2026-08-01"), bindings, names),
	}, o)
}

// objectBindings are the bindings and the names of a source's durable object classes, as
// the items of JSON lists.
func objectBindings(source string) (bindings, names string) {
	var bound, named []string
	for _, class := range ClassesOf(source) {
		bound = append(bound, fmt.Sprintf(`{"name": %q, "class_name": %q}`, class, class))
		named = append(named, fmt.Sprintf("%q", class))
	}
	return strings.Join(bound, ", "), strings.Join(named, ", ")
}

// Call posts args to path and returns the JSON answer, compact.
func (w *World) Call(path string, args ...any) string {
	w.t.Helper()
	r := w.Post(path, args...)
	if err := w.Until(r.Done); err != nil {
		w.t.Fatalf("%s: %v", path, err)
	}
	return r.Text()
}

// Post posts args to path, as JSON, and returns where the response will be.
func (w *World) Post(path string, args ...any) *Response {
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

// Text is the body of an answer 200, else what went wrong.
func (r *Response) Text() string {
	if r.Err != nil {
		return "failed: " + r.Err.Error()
	}
	if r.Status != 200 {
		return fmt.Sprintf("%d %s", r.Status, r.Body)
	}
	return r.Body
}

// Want compares the answer of a Call.
func (w *World) Want(want, path string, args ...any) {
	w.t.Helper()
	if got := w.Call(path, args...); got != want {
		w.t.Errorf("%s %v:\n got %s\nwant %s", path, args, got, want)
	}
}

// All waits for several responses and returns their texts.
func (w *World) All(rs ...*Response) []string {
	w.t.Helper()
	var out []string
	for _, r := range rs {
		if err := w.Until(r.Done); err != nil {
			w.t.Fatal(err)
		}
		out = append(out, r.Text())
	}
	return out
}

// Logged lists the lines of the history that contain text.
func (w *World) Logged(text string) []string {
	var out []string
	for _, line := range w.History {
		if strings.Contains(line, text) {
			out = append(out, line)
		}
	}
	return out
}
