package bundle

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"
)

// What a build tool has made leads to its sources, by the source map that lies beside
// it; without the map, or with one that is damaged, to itself.
func TestMapPositionOfABuild(t *testing.T) {
	source := "type T = number;\nfunction helper(n: T): never {\n  throw new Error(\"x\" + n);\n}\nexport function run() { helper(1) }\n"
	for _, c := range []struct {
		name   string
		change func(t *testing.T, dir string) error
		want   string
	}{
		{"map", func(*testing.T, string) error { return nil }, "src/app.ts:3:9 src/app.ts:5:25"},
		{"sources that are in the map alone", func(_ *testing.T, dir string) error { return os.RemoveAll(filepath.Join(dir, "src")) }, "src/app.ts:3:9 src/app.ts:5:25"},
		{"no map", func(_ *testing.T, dir string) error { return os.Remove(filepath.Join(dir, "dist", "main.js.map")) }, "main.js:1:21 main.js:1:51"},
		{"damaged map", func(_ *testing.T, dir string) error {
			return os.WriteFile(filepath.Join(dir, "dist", "main.js.map"), []byte(`{"version":3,"mapp`), 0o644)
		}, "main.js:1:21 main.js:1:51"},
		{"a folder", func(_ *testing.T, dir string) error {
			path := filepath.Join(dir, "dist", "main.js.map")
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Mkdir(path, 0o755)
		}, "main.js:1:21 main.js:1:51"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := project(t, map[string]string{"src/app.ts": source})
			made := api.Build(api.BuildOptions{EntryPoints: []string{filepath.Join(dir, "src", "app.ts")}, Outfile: filepath.Join(dir, "dist", "main.js"),
				Bundle: true, Write: true, Format: api.FormatESModule, Sourcemap: api.SourceMapLinked, MinifyWhitespace: true, MinifyIdentifiers: true})
			if len(made.Errors) > 0 {
				t.Fatal(made.Errors)
			}
			if err := c.change(t, dir); err != nil {
				t.Fatal(err)
			}
			r := load(t, build(t, Options{Dir: filepath.Join(dir, "dist"), Entry: "main.js", NoBundle: true}))
			fn, _ := goja.AssertFunction(r.exports.Get("run"))
			_, err := fn(goja.Undefined())
			ex, ok := err.(*goja.Exception)
			if !ok {
				t.Fatal(err)
			}
			got := ""
			for _, f := range ex.Stack() {
				p := f.Position()
				name, line, col, ok := r.b.MapPosition(p.Filename, p.Line, p.Column)
				if !ok {
					t.Fatalf("no position for %+v", p)
				}
				if rel, err := filepath.Rel(dir, name); err == nil && filepath.IsAbs(name) {
					if text, ok := r.b.Source(name); !ok || text != source {
						t.Errorf("the source of %s is %q", name, text)
					}
					name = filepath.ToSlash(rel)
				}
				got += fmt.Sprintf(" %s:%d:%d", name, line, col)
			}
			if got != " "+c.want {
				t.Errorf("the stack is%s, not %s", got, c.want)
			}
		})
	}
}
