package minidotest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/internal/golden"
	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/internal/reference"
)

// Golden is a worker, as NewWorker takes it, and calls to it whose answers are
// written down in testdata/<Name>.golden of the package under test, a line for
// each element of an answer. testdata/<Name>.differs has the lines of the
// reference that are not ours.
type Golden struct {
	Name   string
	Source string
	Calls  []string // "path" or "path:arguments"
}

// RunGoldens holds the answers of each worker against its file.
func RunGoldens(t *testing.T, all []Golden) {
	for _, g := range all {
		t.Run(g.Name, func(t *testing.T) {
			w := NewWorker(t, g.Source, Options{})
			got := g.lines(func(path, body string) (int, string) {
				r := w.Do("POST", "http://localhost/"+path, body)
				if r.Err != nil {
					return 500, r.Err.Error()
				}
				return r.Status, r.Body
			})
			golden.Lines(t, filepath.Join("testdata", g.Name+".golden"), got)
		})
	}
}

// RunDifferentialGoldens holds the reference's answers against the golden files,
// but for those lines that are written down. The caller's name has to contain
// "Differential".
func RunDifferentialGoldens(t *testing.T, all []Golden) {
	for _, g := range all {
		t.Run(g.Name, func(t *testing.T) {
			p := reference.Start(t, reference.Options{Name: "test", Classes: ClassesOf(g.Source), Dir: t.TempDir(),
				Script: Script(g.Source)})
			theirs := g.lines(func(path, body string) (int, string) { return p.Post("/"+path, body) })
			Differing(t, filepath.Join("testdata", g.Name), theirs)
		})
	}
}

// Differing holds those lines of the reference that are not in path's golden
// file against path's file of differences.
func Differing(t testing.TB, path string, theirs []string) {
	t.Helper()
	b, err := os.ReadFile(path + ".golden")
	if err != nil {
		t.Fatal(err)
	}
	ours := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	var differ []string
	for _, line := range theirs {
		if !slices.Contains(ours, line) {
			differ = append(differ, line)
		}
	}
	golden.Lines(t, path+".differs", differ)
}

var incident = lazyregexp.New(`internal error; reference = \w+`)

// lines calls and splits the answers.
func (g Golden) lines(post func(path, body string) (int, string)) []string {
	var out []string
	for _, call := range g.Calls {
		path, body, found := strings.Cut(call, ":")
		if !found {
			body = "[]"
		}
		status, text := post(path, body)
		text = incident.ReplaceAllString(text, "internal error; reference = ...")
		var answer struct{ OK []json.RawMessage }
		if status != 200 || json.Unmarshal([]byte(text), &answer) != nil || answer.OK == nil {
			out = append(out, fmt.Sprintf("%s => %d %s", call, status, text))
			continue
		}
		for i, element := range answer.OK {
			out = append(out, fmt.Sprintf("%s %d => %s", call, i, element))
		}
	}
	return out
}
