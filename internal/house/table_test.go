package house

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// row is one line of ARCHITECTURE.md's import table.
type row struct {
	level   float64
	pattern string // "a/b", or "a/..." for a and everything below it
}

func (r row) matches(rel string) bool {
	if prefix, ok := strings.CutSuffix(r.pattern, "/..."); ok {
		return rel == prefix || strings.HasPrefix(rel, prefix+"/")
	}
	return rel == r.pattern
}

var backticked = regexp.MustCompile("`([^`]+)`")

// parseTable reads the table whose header names the columns "no." and
// "package" from a Markdown text.
func parseTable(markdown string) ([]row, error) {
	var rows []row
	inside := false
	for n, line := range strings.Split(markdown, "\n") {
		cells := strings.Split(strings.Trim(line, "| "), "|")
		switch {
		case !strings.HasPrefix(line, "|"):
			inside = false
		case len(cells) >= 3 && strings.TrimSpace(cells[0]) == "no." && strings.TrimSpace(cells[1]) == "package":
			inside = true
		case inside && strings.HasPrefix(strings.TrimSpace(cells[0]), "---"):
		case inside:
			level, err := strconv.ParseFloat(strings.TrimSpace(cells[0]), 64)
			if err != nil {
				return nil, fmt.Errorf("line %d: the number: %w", n+1, err)
			}
			names := backticked.FindAllStringSubmatch(cells[1], -1)
			if len(names) == 0 {
				return nil, fmt.Errorf("line %d: no package in backticks", n+1)
			}
			for _, m := range names {
				rows = append(rows, row{level, m[1]})
			}
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no table with the header | no. | package | owns |")
	}
	return rows, nil
}

// find returns the row of a package: the exact one, else the longest pattern.
func find(rows []row, rel string) (row, bool) {
	best, ok := row{}, false
	for _, r := range rows {
		if r.pattern == rel {
			return r, true
		}
		if r.matches(rel) && (!ok || len(strings.TrimSuffix(r.pattern, "/...")) > len(strings.TrimSuffix(best.pattern, "/..."))) {
			best, ok = r, true
		}
	}
	return best, ok
}

// testHelper runs a whole server in a test, platformHelper an isolate with the
// whole web platform. External tests of any package may import them, so that tests
// of behaviour lie beside the code that they test.
const (
	testHelper     = "runtime/minidotest"
	platformHelper = "runtime/webapi/webapitest"
)

// checkImports returns what the packages' imports, those of their tests
// included, violate.
func checkImports(rows []row, pkgs []listed) []string {
	var bad []string
	seen := map[string]bool{}
	add := func(format string, args ...any) {
		if s := fmt.Sprintf(format, args...); !seen[s] {
			seen[s] = true
			bad = append(bad, s)
		}
	}
	for _, p := range pkgs {
		from, ok := find(rows, p.rel())
		if !ok {
			add("%s has no row in ARCHITECTURE.md's table", p.rel())
			continue
		}
		for kind, list := range [][]string{p.Imports, p.TestImports, p.XTestImports} {
			for _, path := range list {
				rel, ours := strings.CutPrefix(path, modulePath+"/")
				if !ours || rel == p.rel() || kind == 2 && (rel == testHelper || rel == platformHelper) {
					continue
				}
				to, ok := find(rows, rel)
				if !ok {
					add("%s imports %s, which has no row in ARCHITECTURE.md's table", p.rel(), rel)
				} else if to.level >= from.level {
					add("%s (%v) imports %s (%v): a package imports only packages with a smaller number", p.rel(), from.level, rel, to.level)
				}
			}
		}
	}
	sort.Strings(bad)
	return bad
}

func readArchitecture(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The import table of ARCHITECTURE.md holds on every platform that is built.
func TestImportTable(t *testing.T) {
	rows, err := parseTable(readArchitecture(t))
	if err != nil {
		t.Fatalf("ARCHITECTURE.md: %v", err)
	}
	for _, goos := range []string{"linux", "darwin", "windows"} {
		pkgs := goList(t, root(t), []string{"CGO_ENABLED=0", "GOOS=" + goos}, "./...")
		if len(pkgs) == 0 {
			t.Fatalf("%s: go list found no package", goos)
		}
		for _, bad := range checkImports(rows, pkgs) {
			t.Errorf("%s: %s", goos, bad)
		}
		for _, p := range pkgs {
			if len(p.CgoFiles) > 0 {
				t.Errorf("%s: %s uses cgo in %v", goos, p.rel(), p.CgoFiles)
			}
		}
	}
}

// Every module that our packages import has a row in ARCHITECTURE.md that says
// why it is there, and no row names a module that go.mod does not.
func TestDependenciesHaveReasons(t *testing.T) {
	_, section, ok := strings.Cut(readArchitecture(t), "\n## Dependencies")
	if !ok {
		t.Fatal("ARCHITECTURE.md has no section \"Dependencies\"")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	rowOf := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| *([^|\n]*?) *\\|")
	reasons := map[string]string{}
	for _, m := range rowOf.FindAllStringSubmatch(section, -1) {
		reasons[m[1]] = m[2]
	}
	byPath := map[string]listed{}
	var ours []listed
	for _, p := range goList(t, root(t), []string{"CGO_ENABLED=0"}, "-deps", "-test", "./...") {
		byPath[p.ImportPath] = p
		if p.ours() {
			ours = append(ours, p)
		}
	}
	used := map[string]bool{}
	for _, p := range ours {
		for _, path := range append(append(append([]string{}, p.Imports...), p.TestImports...), p.XTestImports...) {
			if m := byPath[path].Module; m != nil && m.Path != modulePath {
				used[m.Path] = true
			}
		}
	}
	for _, path := range sortedKeys(used) {
		if len(reasons[path]) < 10 {
			t.Errorf("%s is imported, and ARCHITECTURE.md's section Dependencies does not say why", path)
		}
	}
	mod, err := os.ReadFile(filepath.Join(root(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range sortedKeys(reasons) {
		if !strings.Contains(string(mod), "\t"+path+" ") {
			t.Errorf("ARCHITECTURE.md gives a reason for %s, which go.mod does not require", path)
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// checkImports finds an import upwards, sideways and from a test, and a
// package without a row; it lets a longer row decide inside a "/..." pattern.
func TestImportTableFindsViolations(t *testing.T) {
	rows, err := parseTable("text\n\n| no. | package | owns |\n|---|---|---|\n| 0 | `low` | a |\n| 1 | `mid`, `twin` | b |\n| 12 | `chaos/...` | c |\n| 12.5 | `chaos/report` | d |\n| 11 | `runtime/minidotest` | e |\n\n| no. |\n")
	if err != nil {
		t.Fatal(err)
	}
	m := modulePath + "/"
	good := []listed{
		{ImportPath: m + "mid", Imports: []string{m + "low", "fmt"}, XTestImports: []string{m + "mid", m + "low"}},
		{ImportPath: m + "chaos/report", Imports: []string{m + "chaos/model", m + "chaos"}},
		{ImportPath: m + "chaos", Imports: []string{m + "twin"}},
		{ImportPath: m + "low", XTestImports: []string{m + testHelper}},
	}
	if bad := checkImports(rows, good); len(bad) != 0 {
		t.Errorf("what is allowed was refused: %q", bad)
	}
	for name, p := range map[string]listed{
		"up":           {ImportPath: m + "low", Imports: []string{m + "mid"}},
		"sideways":     {ImportPath: m + "mid", Imports: []string{m + "twin"}},
		"in a test":    {ImportPath: m + "low", TestImports: []string{m + "twin"}},
		"in an x test": {ImportPath: m + "low", XTestImports: []string{m + "twin"}},
		"test helper":  {ImportPath: m + "low", TestImports: []string{m + testHelper}},
		"no row":       {ImportPath: m + "shed"},
		"of no row":    {ImportPath: m + "mid", Imports: []string{m + "shed"}},
		"same pattern": {ImportPath: m + "chaos/a", Imports: []string{m + "chaos/b"}},
		"longer row":   {ImportPath: m + "chaos/a", Imports: []string{m + "chaos/report"}},
	} {
		if bad := checkImports(rows, []listed{p}); len(bad) != 1 {
			t.Errorf("%s: found %q, want one violation", name, bad)
		}
	}
	for _, text := range []string{"", "| no. | package | owns |\n|---|---|---|\n| x | `a` | |", "| no. | package | owns |\n| 1 | a | |"} {
		if _, err := parseTable(text); err == nil {
			t.Errorf("parseTable(%q) found no fault", text)
		}
	}
}
