package bundle

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
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
