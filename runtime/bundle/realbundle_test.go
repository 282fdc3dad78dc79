package bundle

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
	"github.com/evanw/esbuild/pkg/api"

	"minido.dev/minido/runtime/bundle/mend"
	"minido.dev/minido/runtime/bundle/toplevel"
)

// On a bundle of real packages the tokens give the names that a parser finds.
func TestTopLevelOfRealBundle(t *testing.T) {
	dir, err := filepath.Abs("../../fixtures/fibers")
	if err != nil {
		t.Fatal(err)
	}
	r := api.Build(api.BuildOptions{EntryPoints: []string{filepath.Join(dir, "src/worker.ts")}, AbsWorkingDir: dir, Outfile: "/out.js",
		Bundle: true, Format: api.FormatESModule, KeepNames: true, External: []string{"node:*", "cloudflare:*"},
		Target: api.ES2022, Supported: supported, Conditions: []string{"workerd", "worker", "browser"},
		Alias: map[string]string{"async_hooks": "node:async_hooks", "path": "node:path", "os": "node:os"}})
	if len(r.Errors) > 0 {
		t.Fatalf("%s (have the fixtures' packages been installed?)", r.Errors[0].Text)
	}
	text := string(r.OutputFiles[0].Contents)
	top, ok := toplevel.Scan(text)
	if !ok || len(top.Regions) < 100 {
		t.Fatalf("%v, %d regions", ok, len(top.Regions))
	}
	// goja parses no modules: the imports and the export clause have to go.
	var body strings.Builder
	inClause := false
	for line := range strings.SplitSeq(text, "\n") {
		inClause = inClause || line == "export {" || strings.HasPrefix(line, "import {") && !strings.Contains(line, "}")
		if !inClause && !strings.HasPrefix(line, "import ") {
			body.WriteString(line)
		}
		inClause = inClause && !strings.HasPrefix(line, "}")
		body.WriteString("\n")
	}
	tree, err := goja.Parse("", "(async function() {\n"+mend.Parseable(body.String())+"\n})", parser.WithDisableSourceMaps)
	if err != nil {
		t.Fatal(err)
	}
	fn := tree.Body[0].(*ast.ExpressionStatement).Expression.(*ast.FunctionLiteral)
	names := map[string]bool{}
	for _, st := range fn.Body.List {
		for _, n := range declaredBy(st) {
			names[n] = true
		}
	}
	for _, d := range fn.DeclarationList {
		for _, b := range d.List {
			for _, n := range boundBy(b.Target) {
				names[n] = true
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(names)) {
		if _, ok := top.Declared[n]; !ok {
			t.Errorf("%s was not found", n)
		}
	}
	imports := len(top.Declared) - len(names)
	t.Logf("%d names, %d of them imports", len(top.Declared), imports)
	if imports < 0 || imports > 100 {
		t.Errorf("%d names too many", imports)
	}
}

func declaredBy(st ast.Statement) (names []string) {
	switch st := st.(type) {
	case *ast.LexicalDeclaration:
		for _, b := range st.List {
			names = append(names, boundBy(b.Target)...)
		}
	case *ast.FunctionDeclaration:
		names = append(names, st.Function.Name.Name.String())
	case *ast.ClassDeclaration:
		names = append(names, st.Class.Name.Name.String())
	}
	return names
}

func boundBy(target ast.Node) (names []string) {
	switch t := target.(type) {
	case *ast.Identifier:
		names = append(names, t.Name.String())
	case *ast.AssignExpression:
		names = boundBy(t.Left)
	case *ast.ArrayPattern:
		for _, e := range t.Elements {
			names = append(names, boundBy(e)...)
		}
		names = append(names, boundBy(t.Rest)...)
	case *ast.ObjectPattern:
		for _, p := range t.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				names = append(names, p.Name.Name.String())
			case *ast.PropertyKeyed:
				names = append(names, boundBy(p.Value)...)
			}
		}
		names = append(names, boundBy(t.Rest)...)
	}
	return names
}
