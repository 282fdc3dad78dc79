package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

const modulePath = "minido.dev/minido"

// listed is what `go list -json` says about a package, as far as it is used here.
type listed struct {
	ImportPath, Dir, Export            string
	Standard                           bool
	GoFiles, CgoFiles, IgnoredGoFiles  []string
	TestGoFiles, XTestGoFiles          []string
	Imports, TestImports, XTestImports []string
	Module                             *struct{ Path string }
	Error                              *struct{ Err string }
}

// rel is the package's path inside the module ("" for the root).
func (p listed) rel() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, modulePath), "/")
}

func (p listed) ours() bool { return p.Module != nil && p.Module.Path == modulePath }

// root is the repository's top folder: the tests of a package run in its folder.
func root(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		t.Fatalf("the tests expect to run in internal/house: %v", err)
	}
	return dir
}

// goList runs `go list -e -json` in dir with the extra environment.
func goList(t testing.TB, dir string, env []string, args ...string) []listed {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-e", "-json"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v\n%s", args, err, stderr.String())
	}
	var pkgs []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatalf("go list %v: %v", args, err)
		}
		pkgs = append(pkgs, p)
	}
}

// pkg is one package, parsed. Test files and the files of other platforms
// (Untyped) are parsed only; Files are type-checked as well.
type pkg struct {
	rel     string
	fset    *token.FileSet
	Files   []*ast.File
	Untyped []*ast.File
	Tests   []*ast.File
	info    *types.Info
	typeErr error // the first one; the rules still see what could be checked
}

// comment is the text of the line comment on pos's line or the one above that
// starts with marker, and whether there is one with text after the marker.
func (p *pkg) excused(f *ast.File, pos token.Pos, marker string) bool {
	line := p.fset.Position(pos).Line
	for _, group := range f.Comments {
		for _, c := range group.List {
			at := p.fset.Position(c.Pos()).Line
			text := strings.TrimSpace(strings.TrimPrefix(c.Text, "//"))
			if (at == line || at == line-1) && strings.HasPrefix(text, marker) && len(text) > len(marker)+3 {
				return true
			}
		}
	}
	return false
}

// exportImporter reads the compiler's export data of the packages in list.
func exportImporter(fset *token.FileSet, list []listed) types.Importer {
	files := map[string]string{}
	for _, p := range list {
		files[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if files[path] == "" {
			return nil, fmt.Errorf("no export data for %s", path)
		}
		return os.Open(files[path])
	})
}

func parseAll(t testing.TB, fset *token.FileSet, dir string, names []string) []*ast.File {
	t.Helper()
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("parse: %v", err)
			continue
		}
		files = append(files, f)
	}
	return files
}

// check type-checks files as the package at path.
func (p *pkg) check(path string, imp types.Importer) {
	p.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{},
		Uses:  map[*ast.Ident]types.Object{},
		Defs:  map[*ast.Ident]types.Object{},
	}
	conf := types.Config{Importer: imp, Error: func(err error) {
		if p.typeErr == nil {
			p.typeErr = err
		}
	}}
	// The error is in typeErr already; what could be checked is in info.
	_, _ = conf.Check(path, p.fset, p.Files, p.info)
}

// loadModule parses and type-checks every package of this module.
func loadModule(t testing.TB) []*pkg {
	t.Helper()
	dir := root(t)
	list := goList(t, dir, []string{"CGO_ENABLED=0"}, "-export", "-deps", "./...")
	fset := token.NewFileSet()
	imp := exportImporter(fset, list)
	var pkgs []*pkg
	for _, l := range list {
		if !l.ours() {
			continue
		}
		p := &pkg{rel: l.rel(), fset: fset}
		p.Files = parseAll(t, fset, l.Dir, l.GoFiles)
		p.Untyped = parseAll(t, fset, l.Dir, l.IgnoredGoFiles)
		p.Tests = parseAll(t, fset, l.Dir, append(l.TestGoFiles, l.XTestGoFiles...))
		p.check(l.ImportPath, imp)
		pkgs = append(pkgs, p)
	}
	sort.Slice(pkgs, func(i, j int) bool { return pkgs[i].rel < pkgs[j].rel })
	if len(pkgs) < 2 {
		t.Fatalf("go list found %d packages of %s", len(pkgs), modulePath)
	}
	return pkgs
}
