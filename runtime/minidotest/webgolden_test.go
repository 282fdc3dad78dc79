package minidotest

import (
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/internal/golden"
	"minido.dev/minido/internal/reference"
)

//go:embed testdata/webharness.js
var webHarness string

// webFiles calls run for each file of small expressions below testdata/web,
// with a worker that answers with what each of them gives. Their answers are in
// NAME.golden; NAME.differs has the lines of the reference that are not ours:
// where the standard says so, ours are the standard's. A file whose first line is
// "// flag: A" runs with the compatibility flag A.
func webFiles(t *testing.T, run func(t *testing.T, path, worker string, flag string)) {
	files, err := filepath.Glob("testdata/web/*.js")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		path := strings.TrimSuffix(file, ".js")
		first, _, _ := strings.Cut(string(source), "\n")
		flag := ""
		if name, ok := strings.CutPrefix(first, "// flag: "); ok {
			flag = name
		}
		t.Run(filepath.Base(path), func(t *testing.T) { run(t, path, webHarness+string(source), flag) })
	}
}

func linesOf(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// The web platform gives the answers of the golden files.
func TestWebGolden(t *testing.T) {
	webFiles(t, func(t *testing.T, path, worker string, flag string) {
		w := NewWorldFrom(t, map[string]string{"worker.js": worker,
			"wrangler.json": `{"name": "test", "main": "worker.js", "compatibility_date": "2026-08-01", "compatibility_flags": ` + jsonList(flag) + `}`}, Options{})
		r := w.Do("GET", "http://localhost/", "")
		if r.Err != nil || r.Status != 200 {
			t.Fatal(r.Status, r.Err, r.Body)
		}
		golden.Lines(t, path+".golden", linesOf(r.Body))
	})
}

// The reference gives the answers of the golden files, but for those lines that
// are written down.
func TestDifferentialWeb(t *testing.T) {
	webFiles(t, func(t *testing.T, path, worker string, flag string) {
		p := reference.Start(t, reference.Options{Name: "test", Dir: t.TempDir(), Script: worker, Flags: strings.Fields(flag)})
		status, text := p.Post("/", "")
		if status != 200 {
			t.Fatal(status, text)
		}
		Differing(t, path, linesOf(text))
	})
}
