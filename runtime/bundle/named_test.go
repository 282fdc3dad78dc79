package bundle

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Modules that are named find each other by paths from the importer's folder alone, and
// what is wrong with them is told in the words of workerd 1.20261117.
func TestNamed(t *testing.T) {
	for _, c := range []struct {
		name, want string
		modules    map[string]string
	}{
		{"found", "", map[string]string{"main.js": "import './a/b.js'; import 'c.js'; export default {}", "a/b.js": "import '../c.js'; import 'd.js'", "a/d.js": "export {}", "c.js": "export {}"}},
		{"without its end", "Error: No such module \"c\".\n  imported from \"main.js\"", map[string]string{"main.js": "import './c'", "c.js": ""}},
		{"from the root", "Error: No such module \"a/c.js\".\n  imported from \"a/b.js\"", map[string]string{"main.js": "import './a/b.js'", "a/b.js": "import 'c.js'", "c.js": ""}},
		{"of what is not imported", "", map[string]string{"main.js": "export {}", "a.js": "import 'nothing'"}},
		{"export", "SyntaxError: The requested module './a.js' does not provide an export named 'x'\n  at main.js:1:9", map[string]string{"main.js": "import { x } from './a.js'; export default x", "a.js": "export const a = 1"}},
		{"not imported", "SyntaxError: Unexpected token '='\n  at a.js:1:4", map[string]string{"main.js": "export {}", "a.js": "x = = 2"}},
		{"end", "SyntaxError: Unexpected end of input\n  at main.js:2:1", map[string]string{"main.js": "f(() => {\n ", "c.js": ""}},
		{"identifier", "SyntaxError: Unexpected identifier 'X'\n  at main.js:1:5", map[string]string{"main.js": "type X = 1"}},
		{"constant", "SyntaxError: Missing initializer in const declaration\n  at main.js:1:6", map[string]string{"main.js": "const a: number = 1"}},
		{"interface", "SyntaxError: Unexpected strict mode reserved word\n  at main.js:1", map[string]string{"main.js": "interface X {}"}},
		{"string", "SyntaxError: Invalid or unexpected token\n  at main.js:1:10", map[string]string{"main.js": "f('a\\'b', 'c)"}},
		{"twice", "SyntaxError: Identifier 'a' has already been declared\n  at main.js:1:11", map[string]string{"main.js": "let a; let a"}},
		{"JSX", "SyntaxError: Unexpected token '<'\n  at main.js:1:10", map[string]string{"main.js": "const a = <b/>"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			o := Options{Dir: dir, Entry: "main.js", NoBundle: true, Named: map[string]string{}, Rules: []Rule{{Type: ESModule, Globs: []string{"**/*.js"}}}}
			for name, text := range c.modules {
				o.Named[name] = filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(o.Named[name]), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(o.Named[name], []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			b := New(o)
			defer b.Close()
			_, err = b.Build()
			got := ""
			var failed *BuildError
			if errors.As(err, &failed) {
				got = failed.Uncaught()
			} else if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
