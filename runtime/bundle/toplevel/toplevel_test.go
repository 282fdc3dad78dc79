package toplevel

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestScan(t *testing.T) {
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
		top, ok := Scan(c.text)
		if got := strings.Join(slices.Sorted(maps.Keys(top.Declared)), " "); !ok || got != c.want {
			t.Errorf("%s\n  got %s (%v), want %s", c.text, got, ok, c.want)
		}
	}
	for _, bad := range []string{
		"var a = {", "var a = `x", "}", "var a = \"x\n\"", "/* x", "export const a = 1;", "export default 1;", "var a = 1\nvar b = 2\n",
		"// a.js\nvar x = 1;\n// b.js\nvar x = 2;\n", "var a = f\n// a.js\n(1);\n", "import { \"a b\" as c } from \"x\";\n",
	} {
		if top, ok := Scan(bad); ok {
			t.Errorf("%q was accepted: %v", bad, top.Declared)
		}
	}
}

func TestScanRegions(t *testing.T) {
	top, ok := Scan("var a;\n// one.js\nvar b = `\n// no.js\n`;\nfunction f() {\n// nor.js\n}\n\n// two.js\nvar c;\nexport {\n  c\n};\n")
	if want := []Region{{1, "one.js"}, {9, "two.js"}}; !ok || !slices.Equal(top.Regions, want) || top.Exports != 11 {
		t.Fatalf("%v %v, exports at %d", ok, top.Regions, top.Exports)
	}
	if want := map[string]int{"a": -1, "b": 0, "f": 0, "c": 1}; !maps.Equal(top.Declared, want) {
		t.Errorf("declared %v", top.Declared)
	}
}

func FuzzScan(f *testing.F) {
	f.Add("var a = `x${b}`, c = /d/;\n// e.js\nfor (var g of h) {\n}\nexport {\n  a\n};\n")
	f.Add("import { a as b } from \"c\";\nclass d {\n}\n")
	if text, err := os.ReadFile("helpers.js"); err == nil {
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		top, ok := Scan(text)
		for name, at := range top.Declared {
			if ok && (name == "" || at < -1 || at >= len(top.Regions)) {
				t.Errorf("%q in region %d of %d", name, at, len(top.Regions))
			}
		}
	})
}
