package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A reader holds a package or a type in mind up to these sizes.
const (
	maxPackageLines = 6000 // of a package's own files, tests apart
	maxTypeMethods  = 60   // of a type
)

// oversize are the packages and types that are still larger, each with the
// size that it must not exceed. A row goes when its package or type fits.
var oversize = map[string]int{}

// sizes counts the lines of each package and the methods of each type, as
// "folder.Type", in a file of the folder rel.
func sizes(rel string, name string, source []byte, lines, methods map[string]int) error {
	f, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	lines[rel] += bytes.Count(source, []byte("\n"))
	for _, decl := range f.Decls {
		d, ok := decl.(*ast.FuncDecl)
		if !ok || d.Recv == nil || len(d.Recv.List) != 1 {
			continue
		}
		typ := d.Recv.List[0].Type
		if star, ok := typ.(*ast.StarExpr); ok {
			typ = star.X
		}
		switch x := typ.(type) {
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		}
		if id, ok := typ.(*ast.Ident); ok {
			methods[rel+"."+id.Name]++
		}
	}
	return nil
}

// outgrown are the sizes above limit and above their rows in allowed, and the
// rows of what fits.
func outgrown(what string, size map[string]int, limit int, allowed map[string]int) []string {
	var out []string
	for _, name := range sortedKeys(size) {
		row, has := allowed[name]
		switch n := size[name]; {
		case !has && n > limit:
			out = append(out, fmt.Sprintf("%s has %d %s, more than %d: split it by meaning", name, n, what, limit))
		case has && n > row:
			out = append(out, fmt.Sprintf("%s has grown to %d %s, above its row of %d in oversize", name, n, what, row))
		case has && n <= limit:
			out = append(out, fmt.Sprintf("%s fits with %d %s: take its row out of oversize", name, n, what))
		}
	}
	return out
}

// No package and no type is larger than a reader can hold in mind.
func TestSizes(t *testing.T) {
	dir := root(t)
	lines, methods := map[string]int{}, map[string]int{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != dir && (name == "node_modules" || name == "testdata" || strings.HasPrefix(name, ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, filepath.Dir(path))
		if err != nil {
			return err
		}
		return sizes(filepath.ToSlash(rel), path, source, lines, methods)
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) < 2 {
		t.Fatalf("found %d packages", len(lines))
	}
	for _, text := range append(outgrown("lines", lines, maxPackageLines, oversize), outgrown("methods", methods, maxTypeMethods, oversize)...) {
		t.Error(text)
	}
	for _, name := range sortedKeys(oversize) {
		if lines[name] == 0 && methods[name] == 0 {
			t.Errorf("oversize has a row for %s, which does not exist", name)
		}
	}
}

// A type of too many methods, whether generic or not, and a package of too many
// lines are seen; so is a row that has been outgrown, or is no longer needed.
func TestSizesAreSeen(t *testing.T) {
	source := "package p\n\ntype big[T any] struct{}\n\ntype small struct{}\n\nfunc (small) m() {}\n"
	for i := range 3 {
		source += fmt.Sprintf("\nfunc (b *big[T]) m%d() {}\n", i)
	}
	lines, methods := map[string]int{}, map[string]int{}
	if err := sizes("a/p", "p.go", []byte(source), lines, methods); err != nil {
		t.Fatal(err)
	}
	if lines["a/p"] != 13 || methods["a/p.big"] != 3 || methods["a/p.small"] != 1 {
		t.Errorf("counted %v and %v", lines, methods)
	}
	for _, c := range []struct {
		limit int
		rows  map[string]int
		want  int
	}{
		{3, nil, 0}, {2, nil, 1}, {2, map[string]int{"a/p.big": 3}, 0}, {2, map[string]int{"a/p.big": 2}, 1}, {3, map[string]int{"a/p.big": 3}, 1},
	} {
		if got := outgrown("methods", methods, c.limit, c.rows); len(got) != c.want {
			t.Errorf("limit %d, rows %v: %q", c.limit, c.rows, got)
		}
	}
}
