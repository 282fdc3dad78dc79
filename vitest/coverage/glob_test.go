package coverage

import "testing"

// Globs match what picomatch 4 matches with its options dot and, where anywhere is set,
// contains.
func TestGlobs(t *testing.T) {
	for _, c := range []struct {
		glob, path string
		anywhere   bool
		want       bool
	}{
		{"**", "/p/src/a.ts", true, true},
		{"src/**", "/p/src/deep/a.ts", true, true},
		{"src/**", "src/deep/a.ts", false, true},
		{"src/**", "lib/src/a.ts", false, false},
		{"src/*.ts", "src/deep/a.ts", false, false},
		{"**/*.ts", "a.ts", false, true},
		{"**/.hidden/**", "/p/.hidden/a.ts", true, true},
		{"math", "/p/src/math.ts", true, true},
		{"src/math", "/p/src/math.ts", false, false},
		{"**/*.{test,spec}.?(c|m)[jt]s?(x)", "/p/a.spec.mts", true, true},
		{"**/*.{test,spec}.?(c|m)[jt]s?(x)", "/p/a.specs.ts", true, false},
		{"*.@(a|b)", "x.b", false, true},
		{"+(ab).ts", "abab.ts", false, true},
		{"[!a].ts", "a.ts", false, true},
		{"[^a].ts", "a.ts", false, false},
		{"a?.ts", "ab.ts", false, true},
		{"a(1).ts", "a(1).ts", false, true},
		{`\*.ts`, "*.ts", false, true},
	} {
		g, err := compile(c.glob, c.anywhere)
		if err != nil {
			t.Errorf("%s: %v", c.glob, err)
			continue
		}
		if g.MatchString(c.path) != c.want {
			t.Errorf("%s and %s: %v", c.glob, c.path, !c.want)
		}
	}
	for _, bad := range []string{"!src", "{a,b", "[a", "+(a"} {
		if _, err := compile(bad, true); err == nil {
			t.Errorf("%s is understood", bad)
		}
	}
}
