package bundle

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"minido.dev/minido/runtime/bundle/uses"
)

// keptTree is a module that others run in, with functions of which some are never called.
func keptTree() map[string]string {
	return map[string]string{
		"main.ts": `import { Counter, never } from "./counter";
export const use = () => { const c = new Counter(); c.add(2); try { c.fail(); } catch (e) { return c.n + " " + e.stack + " " + c.add.toString() + " " + never.name; } };`,
		"counter.ts": `export class Counter {
	#n = 40;
	get n(): number { return this.#n; }
	add(by: number) { this.#n += by; }
	fail() {
		throw new Error("failed");
	}
}
export function never() { return /x(?<y>y)/u.exec("xy"); }`,
	}
}

// What one process has compiled, the next one reads; it does the same, with the same places.
// A file that is damaged costs time alone.
func TestProgramsAreKept(t *testing.T) {
	dir, cache := project(t, keptTree()), t.TempDir()
	run := func() (text string, kept int) {
		b := New(Options{Dir: dir, Entry: "main.ts", Builtins: testBuiltins, CacheDir: cache})
		defer b.Close()
		out, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		r := load(t, out)
		text = r.call("use").String()
		for _, m := range out.modules {
			if !m.compiled.Load() {
				continue
			}
			if b.store.programs.Program(useOf(m.unit)) != "" && !m.spoiled.Load() {
				kept++
			}
			if m.written == "" {
				t.Errorf("the functions of %s are not read one by one", m.name)
			}
		}
		if err := out.KeepPrograms(); err != nil {
			t.Fatal(err)
		}
		return text, kept
	}
	want, kept := run()
	if kept != 0 {
		t.Errorf("%d programs are there at first", kept)
	}
	if got, kept := run(); got != want || kept != 2 {
		t.Errorf("with %d programs of 2 it is %s, not %s", kept, got, want)
	}
	files, err := filepath.Glob(filepath.Join(cache, "*.programs"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{0, len(text) / 2, len(text) - 1} {
		damaged := append([]byte(nil), text...)
		damaged[at] ^= 1
		if err := os.WriteFile(files[0], damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, kept := run(); got != want || kept != 0 {
			t.Errorf("with byte %d damaged, %d programs are read: %s", at, kept, got)
		}
		if got, kept := run(); got != want || kept != 2 {
			t.Errorf("after byte %d was damaged, with %d programs of 2 it is %s", at, kept, got)
		}
	}
}

// Processes that evaluate different modules add to what is kept.
func TestKeptProgramsAreAdded(t *testing.T) {
	dir, cache := project(t, deferTree()), t.TempDir()
	process := func(call string) (kept int) {
		b := New(Options{Dir: dir, Entry: "main.ts", Builtins: testBuiltins, CacheDir: cache})
		defer b.Close()
		out, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		if r := load(t, out); call != "" {
			r.call(call)
		}
		if err := out.KeepPrograms(); err != nil {
			t.Fatal(err)
		}
		for _, m := range out.modules {
			if m.low != nil && m.low.code != "" && b.store.programs.Program(useOf(m.unit)) != "" {
				kept++
			}
		}
		return kept
	}
	few := process("")
	all := process("use")
	if again := process(""); few == 0 || all <= few || again != all {
		t.Errorf("%d programs are kept, then %d, then %d", few, all, again)
	}
}

// A program is written once: what a process keeps later is added to what it has kept before.
func TestKeptProgramsAreWrittenOnce(t *testing.T) {
	b := New(Options{Dir: project(t, deferTree()), Entry: "main.ts", Builtins: testBuiltins, CacheDir: t.TempDir()})
	defer b.Close()
	out, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	r := load(t, out)
	if err := out.KeepPrograms(); err != nil {
		t.Fatal(err)
	}
	marked := map[uses.Key]string{}
	for _, m := range out.modules {
		if m.compiled.Load() {
			marked[useOf(m.unit)] = "written before"
		}
	}
	if err := b.store.programs.Save(maps.Clone(marked)); err != nil {
		t.Fatal(err)
	}
	r.call("use")
	if err := out.KeepPrograms(); err != nil {
		t.Fatal(err)
	}
	more := 0
	for _, m := range out.modules {
		if !m.compiled.Load() {
			continue
		}
		key := useOf(m.unit)
		switch text := b.store.programs.Program(key); {
		case marked[key] == "" && text != "":
			more++
		case marked[key] != "" && text != marked[key]:
			t.Errorf("%s was written twice", m.name)
		}
	}
	if len(marked) == 0 || more == 0 {
		t.Errorf("%d programs are kept, then %d more", len(marked), more)
	}
}

// A frozen bundle has the programs of what was evaluated, as they were.
func TestFrozenPrograms(t *testing.T) {
	b := build(t, Options{Dir: project(t, keptTree())})
	want := load(t, b).call("use").String()
	thawed := rethawed(t, b)
	for _, m := range thawed.modules {
		if m.compiled.Load() != (m.written != "") {
			t.Errorf("%s: compiled %v, %d bytes of program", m.name, m.compiled.Load(), len(m.written))
		}
	}
	if got := load(t, thawed).call("use").String(); got != want {
		t.Errorf("thawed, it is %s, not %s", got, want)
	}
	if got := load(t, rethawed(t, thawed)).call("use").String(); got != want {
		t.Errorf("thawed twice, it is %s, not %s", got, want)
	}
}
