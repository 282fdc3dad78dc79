package server_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/golden"
	"minido.dev/minido/internal/reference"
	"minido.dev/minido/runtime/minidotest"
	"minido.dev/minido/runtime/server"
)

// tailCalls are requests of testdata/tail/worker.js, and how many events each makes.
var tailCalls = []struct {
	path   string
	events int
}{
	{"/logs", 1}, {"/throw", 1}, {"/text", 1}, {"/no-response", 1}, {"/hang", 1}, {"/big", 1}, {"/timer", 1}, {"/unhandled", 1}, {"/later", 1},
	{"/object", 3}, {"/rpc", 2}, {"/rpc-throws", 2},
	{"/a?t=0123456789abcdef0123456789abcdef", 1}, {"/0123456789abcdef0123456789abcde/x", 1}, {"/p/0123456789ABCDEF0123456789abcdef01/q", 1},
	{"/123e4567-e89b-12d3-a456-426614174000", 1}, {"/ABCDabcd1234EFGHefgh5", 1}, {"/dGhpc2lzYXRlc3RvZjIx", 1}, {"/secret0123456789abcdef0123456789abcdef", 1},
}

type told struct {
	Events  []string   `json:"events"`
	Streams [][]string `json:"streams"`
}

// tailLines asks for each call, and then for what the tail worker was told, until
// it was told of every event. The events of other requests, those for the list, are
// left out.
func tailLines(t *testing.T, call func(path string), events func() string) (lines []string) {
	t.Helper()
	for _, c := range tailCalls {
		call(c.path)
		var all told
		for deadline := 500; len(all.Events) < c.events || len(all.Streams) < c.events; deadline-- {
			var now told
			if err := json.Unmarshal([]byte(events()), &now); err != nil {
				t.Fatal(err)
			}
			for _, e := range now.Events {
				if !strings.Contains(e, "//host/events") {
					all.Events = append(all.Events, e)
				}
			}
			for _, s := range now.Streams {
				if !strings.Contains(s[0], "//host/events") {
					all.Streams = append(all.Streams, s)
				}
			}
			if deadline == 0 {
				t.Fatalf("%s: %d events and %d streams, want %d", c.path, len(all.Events), len(all.Streams), c.events)
			}
		}
		lines = append(lines, "== "+c.path)
		lines = append(lines, all.Events...)
		for _, s := range all.Streams {
			lines = append(lines, s...)
		}
	}
	return lines
}

func tailSource(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "tail", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var tailGolden = filepath.Join("testdata", "tail", "events.golden")

// What tail workers and streaming tail workers are told is what they are told in
// workerd.
func TestTailWorkers(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"worker.js": tailSource(t, "worker.js"), "b/tail.js": tailSource(t, "tail.js"),
		"wrangler.json": `{"name": "a", "main": "worker.js", "compatibility_date": "2026-08-01", "tail_consumers": [{"service": "b"}, {"service": "gone"}],
"streaming_tail_consumers": [{"service": "b"}], "services": [{"binding": "TAIL", "service": "b"}],
"durable_objects": {"bindings": [{"name": "Thing", "class_name": "Thing"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Thing"]}]}`,
		"b/wrangler.json": `{"name": "b", "main": "tail.js", "compatibility_date": "2026-08-01"}`,
	}, minidotest.Options{Others: []string{"b"}})
	got := tailLines(t, func(path string) { w.Do("POST", "http://localhost"+path, "") }, func() string {
		w.Advance(100 * time.Millisecond)
		return w.Do("GET", "http://localhost/events", "").Body
	})
	golden.Lines(t, tailGolden, got)
}

// workerd tells what the golden file says.
func TestDifferentialTailWorkers(t *testing.T) {
	p := reference.Start(t, reference.Options{Name: "a", Classes: []string{"Thing"}, Dir: t.TempDir(), Script: tailSource(t, "worker.js"), Tail: tailSource(t, "tail.js")})
	theirs := tailLines(t, func(path string) { p.Post(path, "") }, func() string {
		var list json.RawMessage
		p.Get("/events", &list)
		return string(list)
	})
	minidotest.Differing(t, strings.TrimSuffix(tailGolden, ".golden"), theirs)
}

// A worker can be its own tail worker: it is told of its events, those that were no
// tail events. Its tail worker that does not run is said to be missing.
func TestOwnTailWorker(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"worker.js": `const told = [];
export default {
  async fetch() { console.log("hello"); return Response.json(told.splice(0)); },
  async tail(events) { console.log("told"); for (const e of events) told.push([e.event.constructor.name, e.scriptName, e.logs.map((l) => l.message)]); },
};`,
		"wrangler.json": `{"name": "a", "main": "worker.js", "compatibility_date": "2026-08-01", "tail_consumers": [{"service": "a"}, {"service": "gone"}]}`,
	}, minidotest.Options{})
	ask := func(want string) {
		t.Helper()
		if got := w.Do("GET", "http://localhost/", "").Body; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
		w.Advance(time.Second)
	}
	ask(`[]`)
	ask(`[["FetchEventInfo","a",[["hello"]]]]`)
	if missing := server.Missing(w.Server); len(missing) != 1 || missing[0].Section != "tail_consumers[1]" || !strings.Contains(missing[0].Reason, `"gone"`) {
		t.Errorf("missing: %+v", missing)
	}
}
