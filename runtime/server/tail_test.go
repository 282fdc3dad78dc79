package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/golden"
	"minido.dev/minido/internal/reference"
	"minido.dev/minido/runtime/minidotest"
	"minido.dev/minido/runtime/server"
)

// tailCall is a request, and how many events it makes.
type tailCall struct {
	path   string
	events int
}

// tailSuite are requests of a worker in testdata/tail, and the golden file beside it.
type tailSuite struct {
	worker string
	calls  []tailCall
	sorted bool // events that go on beside each other are told of in any order
}

var tailSuites = []tailSuite{
	{worker: "worker", calls: []tailCall{
		{"/logs", 1}, {"/throw", 1}, {"/text", 1}, {"/no-response", 1}, {"/hang", 1}, {"/big", 1}, {"/timer", 1}, {"/unhandled", 1}, {"/later", 1},
		{"/object", 3}, {"/rpc", 2}, {"/rpc-throws", 2},
		{"/a?t=0123456789abcdef0123456789abcdef", 1}, {"/0123456789abcdef0123456789abcde/x", 1}, {"/p/0123456789ABCDEF0123456789abcdef01/q", 1},
		{"/123e4567-e89b-12d3-a456-426614174000", 1}, {"/ABCDabcd1234EFGHefgh5", 1}, {"/dGhpc2lzYXRlc3RvZjIx", 1}, {"/secret0123456789abcdef0123456789abcdef", 1},
	}},
	{worker: "more", sorted: true, calls: slices.Concat(
		[]tailCall{
			{"/channel", 1}, {"/channel-subscriber", 1}, {"/channel-thrower", 1}, {"/channel-tracing", 1}, {"/channel-transform", 1}, {"/channel-big", 1},
			{"/limit-log", 1}, {"/limit-channel", 1}, {"/limit-exceptions", 1}, {"/rejected", 1}, {"/microtask", 1}, {"/stream", 1}, {"/reads-failing-stream", 2},
			{"/subrequest", 2}, {"/passed-on", 2}, {"/entry", 2}, {"/entry-rpc", 2}, {"/entry-deep", 2}, {"/entry-boom", 2}, {"/entry-missing", 2}, {"/entry-pipeline", 2}, {"/entry-stub", 2}, {"/entry-connect", 2}, {"/entry-connect-throws", 2},
			{"/object", 2}, {"/object-timer", 2}, {"/object-unhandled", 2}, {"/object-detached", 2}, {"/object-fetch", 2}, {"/object-fetch-throws", 2},
			{"/object-prop", 2}, {"/object-prop-throws", 2}, {"/object-missing", 2}, {"/object-stub", 2}, {"/object-callback", 2}, {"/object-overlap", 3}, {"/object-alarm", 3},
			{"/object-abort", 2}, {"/object-abort-error", 2}, {"/object-block", 2}, {"/object-bad", 2}, {"/object-bad-fetch", 2}, {"/object-bad-block", 2},
			{"/log-errors", 1}, {"/throw-later", 1}, {"/uncaught-microtask", 1}, {"/listener", 1}, {"/report-error", 1},
		}, thrownCalls(31))},
}

func thrownCalls(n int) (calls []tailCall) {
	for i := range n {
		calls = append(calls, tailCall{fmt.Sprintf("/thrown/%d", i), 1})
	}
	return calls
}

type told struct {
	Events  []string   `json:"events"`
	Streams [][]string `json:"streams"`
}

// tailLines asks for each call, and then for what the tail worker was told, until
// it was told of every event. The events of other requests, those for the list, are
// left out.
func (s tailSuite) lines(t *testing.T, call func(path string), events func() string) (lines []string) {
	t.Helper()
	for _, c := range s.calls {
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
		if s.sorted {
			slices.Sort(all.Events)
			slices.SortFunc(all.Streams, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
		}
		lines = append(lines, "== "+c.path)
		lines = append(lines, all.Events...)
		for _, stream := range all.Streams {
			if s.sorted {
				stream = []string{strings.Join(stream, " then ")} // in this order
			}
			lines = append(lines, stream...)
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

func (s tailSuite) golden() string { return filepath.Join("testdata", "tail", s.worker+".golden") }

// What tail workers and streaming tail workers are told is what they are told in
// workerd.
func TestTailWorkers(t *testing.T) {
	for _, s := range tailSuites {
		t.Run(s.worker, func(t *testing.T) {
			w := minidotest.NewWorldFrom(t, map[string]string{
				"worker.js": tailSource(t, s.worker+".js"), "b/tail.js": tailSource(t, "tail.js"),
				"wrangler.json": `{"name": "a", "main": "worker.js", "compatibility_date": "2026-08-01", "compatibility_flags": ["nodejs_compat"], "tail_consumers": [{"service": "b"}, {"service": "gone"}],
"streaming_tail_consumers": [{"service": "b"}], "services": [{"binding": "TAIL", "service": "b"}],
"durable_objects": {"bindings": [{"name": "Thing", "class_name": "Thing"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Thing"]}]}`,
				"b/wrangler.json": `{"name": "b", "main": "tail.js", "compatibility_date": "2026-08-01"}`,
			}, minidotest.Options{Others: []string{"b"}})
			got := s.lines(t, func(path string) { w.Do("POST", "http://localhost"+path, "") }, func() string {
				w.Advance(100 * time.Millisecond)
				return w.Do("GET", "http://localhost/events", "").Body
			})
			golden.Lines(t, s.golden(), got)
		})
	}
}

// workerd tells what the golden files say.
func TestDifferentialTailWorkers(t *testing.T) {
	for _, s := range tailSuites {
		t.Run(s.worker, func(t *testing.T) {
			p := reference.Start(t, reference.Options{Name: "a", Classes: []string{"Thing"}, Flags: []string{"nodejs_compat"}, Dir: t.TempDir(), Script: tailSource(t, s.worker+".js"), Tail: tailSource(t, "tail.js")})
			theirs := s.lines(t, func(path string) { p.Post(path, "") }, func() string {
				var list json.RawMessage
				p.Get("/events", &list)
				return string(list)
			})
			minidotest.Differing(t, strings.TrimSuffix(s.golden(), ".golden"), theirs)
		})
	}
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
