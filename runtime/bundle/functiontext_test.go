package bundle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// With NoBundle a function's text is that of its file, though the program has another;
// without it the program's is all there is.
func TestFunctionText(t *testing.T) {
	const function = "function remember( storageKey ) {\n\tlet key = 'a } b';\n\treturn `${key}${storageKey}` }"
	dir := t.TempDir()
	entry := filepath.Join(dir, "index.js")
	source := "const before = 1;\n" + function + "\nexport default { fetch() { return new Response(before + String(remember)); } };\n"
	if err := os.WriteFile(entry, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, as := range []bool{true, false} {
		built, err := New(Options{Entry: entry, Dir: dir, NoBundle: as}).Build()
		if err != nil {
			t.Fatal(err)
		}
		code := built.modules[built.entry].low.code
		at := strings.Index(code, "function remember")
		text := code[at : at+strings.Index(code[at:], "\n}")+2]
		if text == function {
			t.Fatal("the program has the text of the file")
		}
		if original, ok := built.FunctionText(text); ok != as || as && original != function {
			t.Errorf("NoBundle %t: %q, %t", as, original, ok)
		}
	}
}
