package house

import (
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var wantComment = regexp.MustCompile(`// want: ([a-z-]+)`)

// Each rule finds exactly the lines of testdata/lint that are marked for it:
// it neither misses what is planted nor refuses what stands beside it.
func TestRulesFindPlantedViolations(t *testing.T) {
	paths, err := filepath.Glob("testdata/lint/*.go")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no planted files: %v", err)
	}
	marked := map[string]bool{}
	std := goList(t, root(t), []string{"CGO_ENABLED=0"}, "-export", "-deps",
		"time", "context", "sync", "reflect", "maps", "slices", "sort", "strings", "os", "fmt", "regexp", "math/rand/v2", "crypto/rand", "hash/maphash")
	for _, path := range paths {
		fset := token.NewFileSet()
		p := &pkg{rel: "planted", fset: fset, Files: parseAll(t, fset, ".", []string{path})}
		p.check("planted", exportImporter(fset, std))
		if p.typeErr != nil {
			t.Errorf("%s: %v", path, p.typeErr)
		}
		want, got := map[finding]bool{}, map[finding]bool{}
		for _, f := range p.Files {
			for _, group := range f.Comments {
				for _, c := range group.List {
					if m := wantComment.FindStringSubmatch(c.Text); m != nil {
						marked[m[1]] = true
						want[lineOf(m[1], fset.Position(c.Pos()))] = true
					}
				}
			}
		}
		for _, r := range rules {
			for _, f := range r.check(p) {
				if key := lineOf(f.rule, f.pos); !got[key] {
					got[key] = true
					if !want[key] {
						t.Errorf("not planted, but found: %v", f)
					}
				}
			}
		}
		for f := range want {
			if !got[f] {
				t.Errorf("planted and not found: %v", f)
			}
		}
	}
	for _, r := range rules {
		if !marked[r.name] {
			t.Errorf("no planted violation shows that rule %q can fail", r.name)
		}
	}
}

func lineOf(rule string, pos token.Position) finding {
	return finding{rule: rule, pos: token.Position{Filename: pos.Filename, Line: pos.Line}}
}

// A file of another platform, which is not type-checked, and a test file are
// judged by their imports alone.
func TestRulesSeeUntypedFiles(t *testing.T) {
	fset := token.NewFileSet()
	files := parseAll(t, fset, "testdata/lint", []string{"time.go", "go.go", "chance.go"})
	untyped := &pkg{rel: "planted", fset: fset, Untyped: files}
	if n := len(timeRule(untyped)); n < 8 {
		t.Errorf("timeRule found %d in untyped files", n)
	}
	if n := len(goRule(untyped)); n < 2 {
		t.Errorf("goRule found %d in untyped files", n)
	}
	if n := len(chanceRule(untyped)); n < 3 {
		t.Errorf("chanceRule found %d in untyped files", n)
	}
	tests := &pkg{rel: "planted", fset: fset, Tests: files}
	found := timeRule(tests)
	for _, f := range found {
		if !strings.Contains(f.text, "time.Sleep") && !strings.Contains(f.text, "own scope") {
			t.Errorf("refused in a test: %v", f)
		}
	}
	if len(found) == 0 {
		t.Error("a test may sleep")
	}
}
