package cfapi_test

import (
	_ "embed"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/internal/golden"
	"minido.dev/minido/internal/reference"
	"minido.dev/minido/runtime/minidotest"
)

//go:embed testdata/shown.js
var shownWorker string

// shownDate is the compatibility date of the worker.
const shownDate = "2026-09-01"

// shownLines are the lines of an answer of the worker: of each value what util.inspect
// shows.
func shownLines(t *testing.T, status int, body string) (lines []string) {
	t.Helper()
	var answer map[string][][]string
	if err := json.Unmarshal([]byte(body), &answer); err != nil || status != 200 {
		t.Fatalf("%d %s: %v", status, body, err)
	}
	for _, part := range []string{"object", "service", "worker"} {
		for _, value := range answer[part] {
			head := part + " " + value[0] + ": "
			for _, line := range value[1:] {
				lines = append(lines, head+strings.TrimRight(line, " "))
			}
		}
	}
	return lines
}

// Contexts, storage, stubs and instances of a worker's classes are shown as workerd shows
// them: by their classes' names, with the attributes that its native code has.
func TestShown(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{"worker.js": shownWorker, "wrangler.json": `{"name": "test", "main": "worker.js",
		"compatibility_date": "` + shownDate + `", "durable_objects": {"bindings": [{"name": "Thing", "class_name": "Thing"}]},
		"migrations": [{"tag": "v1", "new_sqlite_classes": ["Thing"]}]}`}, minidotest.Options{})
	r := w.Do("POST", "http://localhost/", "")
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	golden.Lines(t, filepath.Join("testdata", "shown.golden"), shownLines(t, r.Status, r.Body))
}

// The reference shows the same, but that it names the class of service stubs after what
// was asked for first: ServiceStub, as the module exports it, or Fetcher, where env has one.
func TestDifferentialShown(t *testing.T) {
	p := reference.Start(t, reference.Options{Name: "test", Classes: []string{"Thing"}, Dir: t.TempDir(), Script: shownWorker, Date: shownDate})
	status, body := p.Post("/", "")
	minidotest.Differing(t, filepath.Join("testdata", "shown"), shownLines(t, status, body))
}
