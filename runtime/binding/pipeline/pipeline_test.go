package pipeline_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/minidotest"
)

// Records are lines of a file, in the order in which they were sent; a death
// before the write leaves none of a send, one after it all of them.
func TestRecords(t *testing.T) {
	project := map[string]string{
		"w.js": `export default { async fetch(request, env) {
  const all = [];
  for (let i = 0; i < 3; i++) all.push(env.P.send([{ i }, { i, text: "é\n" }]));
  return Response.json(await Promise.all(all));
} };`,
		"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01", "pipelines": [{"binding": "P", "pipeline": "clicks"}]}`,
	}
	const one, two, three = `{"i":0}` + "\n" + `{"i":0,"text":"é\n"}` + "\n", `{"i":1}` + "\n" + `{"i":1,"text":"é\n"}` + "\n", `{"i":2}` + "\n" + `{"i":2,"text":"é\n"}` + "\n"
	for label, want := range map[string]string{"": one + two + three, "store:before(PIPELINE/clicks)/send#2": one, "store:after(PIPELINE/clicks)/send#2": one + two} {
		o := minidotest.Options{}
		if label != "" {
			o.Kill = func(p killpoint.Point) bool { return p.Label() == label }
		}
		w := minidotest.NewWorldFrom(t, project, o)
		r := w.Send("GET", "http://localhost/", "")
		dir := w.Dir()
		if err := w.Until(r.Done); errors.Is(err, minidotest.ErrKilled) {
			dir = w.Wreck()
		} else if err != nil || label != "" || r.Body != "[null,null,null]" {
			t.Errorf("%q: %v, %q", label, err, r.Body)
		}
		got, err := os.ReadFile(filepath.Join(dir, "v3", "pipelines", "clicks.ndjson"))
		if err != nil || string(got) != want {
			t.Errorf("%q: %v, lines %s, want %s", label, err, strings.TrimSpace(string(got)), want)
		}
		w.Stop()
	}
}
