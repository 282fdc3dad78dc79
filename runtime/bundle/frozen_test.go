package bundle

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"minido.dev/minido/runtime/bundle/uses"
)

// rethawed is b as another process gets it.
func rethawed(t *testing.T, b *Bundle) *Bundle {
	t.Helper()
	path := filepath.Join(t.TempDir(), "b.frozen")
	if err := b.Freeze(path); err != nil {
		t.Fatal(err)
	}
	if b = Thaw(path, b.bundler.opts); b == nil {
		t.Fatal("what was frozen does not thaw")
	}
	return b
}

// A frozen bundle does not ask the disk again: its sources may be gone. What was
// used, and only that, is compiled before it loads and evaluated as it does, parts of a prebuilt bundle too.
func TestFrozenBundleNeedsNoSources(t *testing.T) {
	dir := prebuilt(t)
	b := build(t, Options{Dir: dir, Entry: "dist/index.js", NoBundle: true, Builtins: testBuiltins})
	first := load(t, b)
	want := first.call("use").String()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	thawed := rethawed(t, b)
	for _, m := range thawed.modules {
		if was := b.modules[m.id]; (m.prog != nil) != was.used.Load() || m.name != was.name {
			t.Errorf("%s: compiled %v, %s was used %v", m.name, m.prog != nil, was.name, was.used.Load())
		}
	}
	again := load(t, thawed)
	slices.Sort(first.log) // what could wait does not, in an order of its own
	if slices.Sort(again.log); again.err != nil || !slices.Equal(again.log, first.log) {
		t.Errorf("%v, log %q instead of %q", again.err, again.log, first.log)
	}
	if got := again.call("use").String(); got != want || len(again.log) != len(first.log) {
		t.Errorf("use() = %s, log %q", got, again.log)
	}
}

// A file that is damaged, or not there, is no bundle.
func TestDamagedFrozenBundle(t *testing.T) {
	b := build(t, Options{Dir: project(t, map[string]string{"main.ts": `export default 1`})})
	path := filepath.Join(t.TempDir(), "b.frozen")
	if Thaw(path, b.bundler.opts) != nil {
		t.Error("a bundle from no file")
	}
	if err := b.Freeze(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{nil, text[:len(text)-1], bytes.Replace(text, []byte("main"), []byte("mein"), 1)} {
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if Thaw(path, b.bundler.opts) != nil {
			t.Errorf("a bundle from %d of %d bytes", len(bad), len(text))
		}
	}
}

// What an earlier process used is compiled ahead, and only that; a file of uses that is
// damaged costs time alone.
func TestRememberedUses(t *testing.T) {
	dir, cache := project(t, deferTree()), t.TempDir()
	var last *Bundle
	compiled := func() string {
		var tasks []func()
		b := New(Options{Dir: dir, Entry: "main.ts", Builtins: testBuiltins, CacheDir: cache, Spawn: func(_ string, fn func()) { tasks = append(tasks, fn) }})
		defer b.Close()
		out, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		for _, fn := range tasks {
			fn()
		}
		var names []string
		for _, m := range out.modules {
			if m.unit.prog != nil {
				names = append(names, filepath.Base(m.name))
			}
		}
		slices.Sort(names)
		r := load(t, out)
		r.call("use")
		if err := out.Remember(false); err != nil {
			t.Fatal(err)
		}
		last = out
		return strings.Join(names, " ")
	}
	const eager = "index.js main.ts"
	if got := compiled(); got != eager {
		t.Errorf("the first process compiles %s ahead", got)
	}
	const used = "index.js index.js main.ts polyfill.js"
	if got := compiled(); got != used {
		t.Errorf("the second process compiles %s ahead", got)
	}
	files, err := filepath.Glob(filepath.Join(cache, "*.uses"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for n := range text {
		if err := os.WriteFile(files[0], text[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		key := useOf(last.modules[last.entry].unit)
		if turn := uses.Read(files[0], cacheVersion).Turn(key); turn >= 0 {
			t.Errorf("%d of %d bytes say that the entry was evaluated as number %d", n, len(text), turn)
		}
	}
	if err := os.WriteFile(files[0], text[:len(text)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	if got := compiled(); got != eager {
		t.Errorf("with a damaged file %s are compiled ahead", got)
	}
	if got := compiled(); got != used {
		t.Errorf("after a damaged file %s are compiled ahead", got)
	}
}

// A frozen bundle knows the places that its positions were mapped to, and the source there,
// without the files that they were found by.
func TestFrozenPositions(t *testing.T) {
	const source = "export function run(): never { throw new Error(\"x\") }\n"
	dir := project(t, map[string]string{"src/app.ts": source})
	made := api.Build(api.BuildOptions{EntryPoints: []string{filepath.Join(dir, "src", "app.ts")}, Outfile: filepath.Join(dir, "dist", "main.js"),
		Bundle: true, Write: true, Format: api.FormatESModule, Sourcemap: api.SourceMapLinked, MinifyWhitespace: true})
	if len(made.Errors) > 0 {
		t.Fatal(made.Errors)
	}
	b := build(t, Options{Dir: filepath.Join(dir, "dist"), Entry: "main.js", NoBundle: true})
	const column = 34
	file, line, col, ok := b.MapPosition("main.js", 2, column)
	if !ok || !strings.HasSuffix(file, "app.ts") {
		t.Fatalf("%s:%d:%d, %v", file, line, col, ok)
	}
	again := func() *Bundle {
		b := rethawed(t, b)
		if err := os.RemoveAll(filepath.Join(dir, "dist")); err != nil {
			t.Fatal(err)
		}
		return b
	}()
	for range 2 {
		again = rethawed(t, again)
		if f, l, c, ok := again.MapPosition("main.js", 2, column); f != file || l != line || c != col || !ok {
			t.Errorf("%s:%d:%d, %v, not %s:%d:%d", f, l, c, ok, file, line, col)
		}
		if text, ok := again.Source(file); !ok || text != source {
			t.Errorf("the source of %s is %q", file, text)
		}
		if f, l, c, ok := again.MapPosition("main.js", 2, 1); ok && f == file {
			t.Errorf("a position that nobody asked for is %s:%d:%d", f, l, c)
		}
	}
}

// What processes come to use is remembered one after the other, in the order of evaluation,
// and compiled while the next process still looks for files. Used says when there is more.
func TestUsesAreAdded(t *testing.T) {
	dir, cache := project(t, deferTree()), t.TempDir()
	process := func(call string) (early string, used int) {
		tasks := map[string]func(){}
		b := New(Options{Dir: dir, Entry: "main.ts", Builtins: testBuiltins, CacheDir: cache, Spawn: func(name string, fn func()) { tasks[name] = fn }, Used: func() { used++ }})
		defer b.Close()
		out, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		if compile := tasks["bundle.early"]; compile != nil {
			compile()
		}
		var names []string
		for _, m := range out.modules {
			if m.unit.prog != nil {
				names = append(names, filepath.Base(m.name))
			}
		}
		for range 2 { // what the second runtime evaluates is known
			if r := load(t, out); call != "" {
				r.call(call)
			}
		}
		if err := out.Remember(true); err != nil {
			t.Fatal(err)
		}
		return strings.Join(names, " "), used
	}
	if early, used := process(""); early != "" || used != 2 {
		t.Errorf("the first process compiles %q early, and uses %d modules; 2 are eager", early, used)
	}
	if early, used := process("use"); early != "main.ts index.js" || used != 4 {
		t.Errorf("the second process compiles %q early, and uses %d modules", early, used)
	}
	const all = "main.ts index.js polyfill.js index.js"
	for range 2 {
		if early, _ := process(""); early != all {
			t.Errorf("a later process compiles %q early, not %q", early, all)
		}
	}
	b := New(Options{Dir: dir, Entry: "main.ts", Builtins: testBuiltins, CacheDir: cache})
	defer b.Close()
	out, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, m := range out.inUse(true) {
		order = append(order, m.name)
	}
	want := "node_modules/order/index.js main.ts node_modules/lazy/polyfill.js node_modules/lazy/index.js"
	if got := strings.Join(order, " "); got != want {
		t.Errorf("they are expected in the order %s, not %s", got, want)
	}
}
