package insides

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"minido.dev/minido/internal/insides/written"
)

// reread is a program as another process reads it.
func reread(t testing.TB, program *goja.Program, name, source string) *goja.Program {
	t.Helper()
	data, err := WriteProgram(program)
	if err != nil {
		t.Fatal(err)
	}
	p := ReadProgram(string(data), name, source)
	if p == nil {
		t.Fatal("the program cannot be read")
	}
	return p
}

// What is read and written again is the same, also after programs were changed.
func TestWrittenPrograms(t *testing.T) {
	for name, source := range map[string]string{"all kinds": written.Samples + written.LoopSamples, "loop": written.LoopSamples, "empty": ""} {
		t.Run(name, func(t *testing.T) {
			program, err := goja.Compile(name, source, false)
			if err != nil {
				t.Fatal(err)
			}
			data, err := WriteProgram(program)
			if err != nil {
				t.Fatal(err)
			}
			Instrument(program)
			if again, err := WriteProgram(program); err != nil || !bytes.Equal(again, data) {
				t.Error("a program that was instrumented is written otherwise")
			}
			if again, err := WriteProgram(reread(t, program, name, source)); err != nil || !bytes.Equal(again, data) {
				t.Error("what was read is written otherwise")
			}
		})
	}
}

// Each instruction that the samples have can be written.
func TestEachInstructionIsWritten(t *testing.T) {
	program, err := goja.Compile("", written.Samples+written.LoopSamples, false)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	if Instrument(nil); !theWriting.known {
		t.Fatal("writing is not known")
	}
	for _, k := range theWriting.format.Kinds() {
		kinds[k] = true
	}
	theLoop.programs.each(program, func(i *words) {
		if k := theLoop.programs.typeOf(i).String(); !kinds[k] {
			t.Errorf("%s is not written", k)
		}
	})
	if len(kinds) < 200 {
		t.Errorf("only %d instructions are known", len(kinds))
	}
}

// behaving is a program that shows what it does in one text: calls of all kinds of
// functions, places in stacks, texts of functions, private members, patterns.
const behaving = `(function () {
	const out = [];
	function place(f) { try { f(); } catch (e) { return e.stack.split("\n").slice(0, 3).map((l) => l.trim()).join(" < "); } }
	function named(a, b = 2, ...c) { return [a, b, c.length, arguments.length, this === undefined].join(); }
	const arrow = (x) => x * 2, nested = () => () => () => arrow(21);
	class Base { #p = 1; static s = "s"; constructor(x) { this.x = x; } get p() { return this.#p; } bump() { return ++this.#p; } has(o) { return #p in o; } }
	class Derived extends Base { y = this.x + 1; constructor(...a) { super(...a); } bump() { return super.bump() + 100; } static make() { return new this(5); } async later() { return (await 1) + super.bump(); } async inner() { const f = async () => { await 1; return super.p; }; return await f() + (await (async () => 1)()); } }
	function* gen(n) { for (let i = 0; i < n; i++) { const got = yield i; if (got) out.push("got " + got); } return "end"; }
	const object = { m() { return typeof super.toString; }, get g() { return "getter"; }, ["c" + 1](v) { return v; } };
	out.push(named(1), named.call(null, 1, 3, 4, 5), nested()()(), arrow(4), arrow(5));
	const d = Derived.make(); out.push(d.x, d.y, d.p, d.bump(), d.bump(), d.has(d), d.has({}), Base.s, Derived.name, named.name, named.length);
	const it = gen(3); out.push(JSON.stringify([it.next(), it.next("a"), it.next(), it.next()]));
	out.push(object.m(), object.g, object.c1("v"), named.toString(), String(Base).length, /a(b)c/gi.exec("xABCx")[1], /[é-ü]/u.test("ê"), "ç\u{1F600}".length, 2n ** 64n, -1.5, tag` + "`a${1}b\\n`" + `);
	function tag(s, ...v) { return s.raw.join("|") + v.length + Object.isFrozen(s); }
	out.push(place(() => { throw new Error("thrown"); }), place(function inner() { null.x; }), place(() => d.nothing()));
	let closures = []; for (let i = 0; i < 3; i++) closures.push(() => i++); out.push(closures.map((f) => f() + f()).join());
	{ const { a, b: [c, ...rest], ...others } = { a: 1, b: [2, 3, 4], e: 5, f: 6 }; out.push(a, c, rest.join(), JSON.stringify(others)); }
	switch (d.x) { case 5: out.push("five"); default: out.push("through"); }
	label: for (const x of [1, 2, 3]) { for (const k in { a: 1 }) { if (x === 2) continue label; out.push(x + k); } }
	try { try { throw 1; } finally { out.push("finally"); } } catch (e) { out.push("caught " + e); }
	out.push(eval("arrow(50)"), typeof undeclared, void 0, null ?? "x", d?.["x"], delete object.g, "g" in object);
	d.later().then((v) => out.push("later " + v)); d.inner().then((v) => out.push("inner " + v));
	(async () => { const a = await 1; out.push("async " + a); try { await Promise.reject(new Error("late")); } catch (e) { out.push(e.message); } })();
	return () => out.map(String).join("\n");
})()`

func behaves(t testing.TB, program *goja.Program) string {
	t.Helper()
	vm := goja.New()
	v, err := vm.RunProgram(program)
	if err != nil {
		t.Fatal(err)
	}
	f, _ := goja.AssertFunction(v)
	text, err := f(goja.Undefined())
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// A program that was read does what it did, function by function, as often as it runs and
// side by side.
func TestReadProgramsBehave(t *testing.T) {
	program, err := goja.Compile("behaving.js", behaving, false)
	if err != nil {
		t.Fatal(err)
	}
	want := behaves(t, program)
	if !strings.Contains(want, "behaving.js:") || !strings.Contains(want, "late\n") || !strings.Contains(want, "later 5\n") || !strings.Contains(want, "inner 5") {
		t.Fatal(want)
	}
	read := reread(t, program, "behaving.js", behaving)
	Instrument(program)
	if got := behaves(t, program); got != want {
		t.Errorf("instrumented, it is\n%s\nnot\n%s", got, want)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 3 {
				if got := behaves(t, read); got != want {
					t.Errorf("it is\n%s\nnot\n%s", got, want)
				}
			}
		})
	}
	all.Wait()
}

// A function that was never called was not read; one that was called is itself from then on.
func TestFunctionsAreReadWhenCalled(t *testing.T) {
	const source = `const called = () => 1, never = () => 2; function both() { return [called, never]; } called(); both()`
	program, err := goja.Compile("", source, false)
	if err != nil {
		t.Fatal(err)
	}
	vm := goja.New()
	v, err := vm.RunProgram(reread(t, program, "", source))
	if err != nil {
		t.Fatal(err)
	}
	var unread []*written.Function
	for _, name := range []string{"0", "1"} {
		unread = append(unread, theWriting.format.OfUnread(scripted(v.ToObject(vm).Get(name)).prg))
	}
	if unread[0] != nil || unread[1] == nil || unread[1].Latest() != unread[1].Unread() {
		t.Errorf("%v", unread)
	}
}

// What another build has written is not read, nor is a program of whose instructions one is
// unknown written.
func TestUnreadablePrograms(t *testing.T) {
	program, err := goja.Compile("", "a + b", false)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := WriteProgram(program)
	if p := ReadProgram(strings.Replace(string(data), "goja._add", "goja._plus_", 1), "", "a + b"); p != nil {
		t.Error("an instruction that does not exist is read")
	}
	for n := range data {
		if p := ReadProgram(string(data[:n]), "", "a + b"); p != nil {
			t.Errorf("%d of %d bytes are read", n, len(data))
		}
	}
}

// Whatever is read, it is refused or can be written; functions in it, too.
func FuzzReadProgram(f *testing.F) {
	const source = "function f(a) { return a.b + /x/g + 1.5 + 'ç' + 2n } [f, class { #p = 1; m() { return `a${1}` } }]"
	program, err := goja.Compile("", source, false)
	if err != nil {
		f.Fatal(err)
	}
	data, err := WriteProgram(program)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data))
	f.Fuzz(func(t *testing.T, data string) {
		defer func() {
			if v := recover(); v != nil && v != written.ErrDamaged { // of a function in it
				panic(v)
			}
		}()
		if p := ReadProgram(data, "", source); p != nil {
			_, _ = WriteProgram(p) // all of it is read
		}
	})
}

var corpus = flag.String("corpus", "", "a directory of JavaScript whose programs are written and read")

// With -corpus DIR: each file below it.
func TestWrittenCorpus(t *testing.T) {
	if *corpus == "" {
		t.Skip("no -corpus")
	}
	files, refused := 0, 0
	err := filepath.WalkDir(*corpus, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "js") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		source := "(function (exports, require, module) {" + string(text) + "\n})"
		program := compiledOrNil(path, source)
		if program == nil {
			return nil
		}
		data, err := WriteProgram(program)
		if files++; err != nil {
			refused++
			return nil
		}
		if again, err := WriteProgram(reread(t, program, path, source)); err != nil || !bytes.Equal(data, again) {
			t.Errorf("%s: what was read is written otherwise", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files, %d cannot be written", files, refused)
}

// compiledOrNil is nil for what goja's parser refuses, or panics at.
func compiledOrNil(path, source string) (program *goja.Program) {
	defer func() { _ = recover() }()
	tree, err := goja.Parse(path, source, parser.WithDisableSourceMaps)
	if err != nil {
		return nil
	}
	program, _ = goja.CompileAST(tree, false)
	return program
}
