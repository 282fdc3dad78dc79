package mend

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// The lines that esbuild writes get other names if the file asks for module or exports.
func TestWithoutCommonJS(t *testing.T) {
	own := "var lib_exports = exports;\nmodule.exports = __toCommonJS(lib_exports);\n__reExport(lib_exports, require(\"i/x\"), module.exports);\n"
	for _, test := range []struct{ code, out, parameters string }{
		{own, own, CommonJS},
		{own + "x.module.exports; $module.y; typeof modules; my_exports.z", "", CommonJS},
		{own + "typeof module", "changed", "$exports$,require,$module$"},
		{own + "exports.x = 1", "changed", "$exports$,require,$module$"},
		{"ünd\nmodule.hot", "ünd\nmodule.hot", "$exports$,require,$module$"},
	} {
		want := test.out
		switch want {
		case "":
			want = test.code
		case "changed":
			want = "var lib_exports = $exports$;\n$module$.exports = __toCommonJS(lib_exports);\n" +
				"__reExport(lib_exports, require(\"i/x\"), $module$.exports);\n" + strings.TrimPrefix(test.code, own)
		}
		if out, parameters := WithoutCommonJS(test.code); out != want || parameters != test.parameters {
			t.Errorf("%q: got %q, %s; want %q, %s", test.code, out, parameters, want, test.parameters)
		}
	}
}

// Random code, for which regular expressions over the whole of it say the same.
func TestWithoutCommonJSIsWhatExpressionsFind(t *testing.T) {
	expressions := []struct {
		pattern     *regexp.Regexp
		replacement string
	}{
		{regexp.MustCompile(`(?m)^(var [\w$]+ = )exports;`), "${1}$$exports$$;"},
		{regexp.MustCompile(`(?m)^module\.exports( = __toCommonJS\d*\([\w$]+\);)$`), "$$module$$.exports${1}"},
		{regexp.MustCompile(`(?m)^(__reExport\d*\([\w$]+, .*, )module\.exports\);$`), "${1}$$module$$.exports);"},
	}
	asks := regexp.MustCompile(`(?:^|[^.\w$])(?:typeof (?:module|exports)\b|(?:module|exports)\.)`)
	parts := []string{"module", "exports", ".", "\n", "typeof ", "var x = exports;", "module.exports = __toCommonJS2(a$);", "$", "_", " ", "é", "a", "1",
		"__reExport(ns, require(\"x\"), ", "module.exports);", ", ", "\nvar $ = exports;\n", "\nmodule.exports = __toCommonJS(b);\n", "\xff"}
	random := rand.New(rand.NewPCG(1, 2))
	changed := 0
	for range 50_000 {
		var sb strings.Builder
		for range random.IntN(12) {
			sb.WriteString(parts[random.IntN(len(parts))])
		}
		code := sb.String()
		want, parameters := code, "$exports$,require,$module$"
		for _, e := range expressions {
			want = e.pattern.ReplaceAllString(want, e.replacement)
		}
		if !asks.MatchString(want) {
			want, parameters = code, CommonJS
		}
		if want != code {
			changed++
		}
		if out, p := WithoutCommonJS(code); out != want || p != parameters {
			t.Fatalf("%q: got %q, %s; want %q, %s", code, out, p, want, parameters)
		}
	}
	if changed < 1000 {
		t.Errorf("%d of the programs were changed: too few", changed)
	}
}
