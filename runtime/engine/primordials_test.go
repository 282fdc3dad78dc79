package engine

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

var (
	taken    = regexp.MustCompile(`const \{([^}]*)\}\s*=\s*(?:p|prims|primordials)\b`)
	member   = regexp.MustCompile(`\b(?:p|prims|primordials)\.([A-Z]\w*)`)
	fromGo   = regexp.MustCompile(`(?:Primordial|\bin\.(?:ask|has))\("(\w+)"[,)]`)
	variable = regexp.MustCompile(`[A-Z]\w*`)
)

// primordialsInUse are the names that preludes and natives ask for.
func primordialsInUse(t *testing.T) (names []string) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains([]string{"testdata", "node_modules", "fixtures", "e2e", "chaos"}, d.Name()) || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2):
			return fs.SkipDir
		case d.Name() == "primordials.js", !strings.HasSuffix(path, ".js") && !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".go") {
			for _, m := range fromGo.FindAllStringSubmatch(string(text), -1) {
				names = append(names, m[1])
			}
			return nil
		}
		for _, m := range taken.FindAllStringSubmatch(string(text), -1) {
			for entry := range strings.SplitSeq(m[1], ",") {
				name, _, _ := strings.Cut(entry, ":")
				names = append(names, variable.FindAllString(name, 1)...)
			}
		}
		for _, m := range member.FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// js/primordials.txt lists what is in use, so that user code cannot have
// patched it when it is first asked for.
func TestPrimordialsInUseAreCaptured(t *testing.T) {
	e, fresh := newWorld(t).e, newWorld(t).e
	listed := map[string]bool{}
	for line := range strings.Lines(primordialNames) {
		name := strings.ReplaceAll(strings.TrimSpace(line), " ", "")
		listed[name] = true
		if e.prims.Get(name) == nil {
			t.Errorf("primordials.txt: there is no %q", line)
		}
	}
	used := primordialsInUse(t)
	if len(used) < 50 {
		t.Fatalf("only %d names were found in use: %v", len(used), used)
	}
	plain := fresh.prims.Export().(*primordials).made // Array, SymbolIterator, ...
	for _, name := range used {
		if !listed[name] && plain.Get(name) == nil && e.prims.Get(name) != nil {
			t.Errorf("js/primordials.txt lacks %q: add it, with a space between owner and member", name)
		}
	}
	for name := range listed {
		if !slices.Contains(used, name) {
			t.Errorf("primordials.txt: nothing uses %q", name)
		}
	}
}

// A primordial is what the built-in was when the engine was made.
func TestPrimordialsOutliveUserCode(t *testing.T) {
	e := newWorld(t).e
	var got goja.Value
	e.In(GlobalFrame, func() {
		if _, err := e.vm.RunString(`Array.prototype.slice = JSON.parse = Function.prototype.call = Function.prototype.bind =
			Map.prototype.get = () => { throw new Error("patched") };
			Object.defineProperty(Map.prototype, "size", { get() { throw new Error("patched"); } })`); err != nil {
			t.Fatal(err)
		}
		m, err := e.vm.RunString(`new Map([[1, 2]])`)
		if err != nil {
			t.Fatal(err)
		}
		e.Call(e.Primordial("ArrayPrototypeSlice"), goja.Undefined(), e.vm.NewArray(1))
		e.Call(e.Primordial("JSONParse"), goja.Undefined(), e.vm.ToValue("1"))
		e.Call(e.Primordial("MapPrototypeGetSize"), goja.Undefined(), m)
		got = e.Call(e.Primordial("MapPrototypeGet"), goja.Undefined(), m, e.vm.ToValue(1))
	})
	if got.ToInteger() != 2 {
		t.Errorf("got %v", got)
	}
}
