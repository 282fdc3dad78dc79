package bundle

import (
	"maps"
	"minido.dev/minido/runtime/bundle/mend"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
	"github.com/evanw/esbuild/pkg/api"
)

func TestScanTopLevel(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"var a = 1, b = (2, 3), c;\nlet { d, e: f, [g()]: h = 1, 'x': [i, , j = {k: 1}, ...l], ...m } = n;", "a b c d f h i j l m"},
		{"function a(b, { c }) {\n  var d;\n}\nasync function* e() {\n}\nclass F extends g() {\n  h = 1;\n}", "F a e"},
		{"import a, { b as c, as as from, d } from \"x\";\nimport * as e from \"y\" with { type: \"json\" };\nimport \"z\";\nimport(\"w\");", "a c d e from"},
		{"for (var a of b) {\n  var c = 1;\n  let d;\n  (function() {\n    var e;\n  })();\n}\nfor (const f in g) ;\nif (h) {\n  var i;\n} else {\n  var j;\n}", "a c i j"},
		{"for (var a = 0, b = 1; a < b; a++) {\n}\ntry {\n  var c;\n} catch (d) {\n  var e;\n} finally {\n  var f;\n}\nx.catch(() => {\n  var g;\n});", "a b c e f"},
		{"switch (a) {\n  case 1: {\n    var b;\n  }\n  default:\n    var c;\n}\nfor await (var d of e) {\n}", "b c d"},
		{"var a = `x${`y${b}` + {c: 1}.c}\nvar no = 1;\n`, d = /[/\"`]{/g, e = f / g / h, i = j++ / 2, k = \"\\\"{\";", "a d e i k"},
		{"/* {\n*/\nvar a = (1) / 2; // var b = {\nvar c = () => {\n  var d;\n}, e = class {\n  static {\n    var f;\n  }\n};", "a c e"},
		{"var obj = { const: 1, var: 2 }, x = obj.const + obj.var;\nvar done = y;", "done obj x"},
	} {
		top, ok := scanTopLevel(c.text)
		if got := strings.Join(slices.Sorted(maps.Keys(top.declared)), " "); !ok || got != c.want {
			t.Errorf("%s\n  got %s (%v), want %s", c.text, got, ok, c.want)
		}
	}
	for _, bad := range []string{
		"var a = {", "var a = `x", "}", "var a = \"x\n\"", "/* x", "export const a = 1;", "export default 1;", "var a = 1\nvar b = 2\n",
		"// a.js\nvar x = 1;\n// b.js\nvar x = 2;\n", "var a = f\n// a.js\n(1);\n", "import { \"a b\" as c } from \"x\";\n",
	} {
		if top, ok := scanTopLevel(bad); ok {
			t.Errorf("%q was accepted: %v", bad, top.declared)
		}
	}
}

func TestScanRegions(t *testing.T) {
	top, ok := scanTopLevel("var a;\n// one.js\nvar b = `\n// no.js\n`;\nfunction f() {\n// nor.js\n}\n\n// two.js\nvar c;\nexport {\n  c\n};\n")
	if want := []region{{1, "one.js"}, {9, "two.js"}}; !ok || !slices.Equal(top.regions, want) || top.exports != 11 {
		t.Fatalf("%v %v, exports at %d", ok, top.regions, top.exports)
	}
	if want := map[string]int{"a": -1, "b": 0, "f": 0, "c": 1}; !maps.Equal(top.declared, want) {
		t.Errorf("declared %v", top.declared)
	}
}

// On a bundle of real packages the tokens give the names that a parser finds.
func TestScanRealBundle(t *testing.T) {
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
	top, ok := scanTopLevel(text)
	if !ok || len(top.regions) < 100 {
		t.Fatalf("%v, %d regions", ok, len(top.regions))
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
		if _, ok := top.declared[n]; !ok {
			t.Errorf("%s was not found", n)
		}
	}
	imports := len(top.declared) - len(names)
	t.Logf("%d names, %d of them imports", len(top.declared), imports)
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

func FuzzScanTopLevel(f *testing.F) {
	f.Add("var a = `x${b}`, c = /d/;\n// e.js\nfor (var g of h) {\n}\nexport {\n  a\n};\n")
	f.Add("import { a as b } from \"c\";\nclass d {\n}\n")
	if text, err := os.ReadFile("helpers.js"); err == nil {
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		top, ok := scanTopLevel(text)
		for name, at := range top.declared {
			if ok && (name == "" || at < -1 || at >= len(top.regions)) {
				t.Errorf("%q in region %d of %d", name, at, len(top.regions))
			}
		}
	})
}
