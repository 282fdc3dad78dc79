package engine

import (
	"strings"
	"testing"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/engine/prepared"
)

func TestPreparedPreludesDoTheSame(t *testing.T) {
	const source = `function (native) {
		const inner = (n) => { if (n > 2) throw new Error("too much"); return n + native.base; };
		return { inner, text: inner.toString() };
	}`
	data, err := Prepare(source)
	if err != nil {
		t.Fatal(err)
	}
	written, ok := strings.CutPrefix(data, prepared.Data(insides.ProgramFormat(), ""))
	if !ok {
		t.Fatalf("what is prepared begins with %.60q", data)
	}
	program := insides.ReadProgram(written, prefix+"p.js", expression(source))
	if program == nil {
		t.Fatal("what was prepared is not read")
	}
	vm := goja.New()
	fn, err := vm.RunProgram(program)
	if err != nil {
		t.Fatal(err)
	}
	vm.Set("fn", fn)
	got, err := vm.RunString(`const made = fn({ base: 40 }); let stack; try { made.inner(3); } catch (e) { stack = e.stack; }
		[made.inner(2), made.text, stack].join(";")`)
	if err != nil {
		t.Fatal(err)
	}
	want := "42;" + `(n) => { if (n > 2) throw new Error("too much"); return n + native.base; }` + ";Error: too much\n\tat inner (minido:p.js:2:43("
	if !strings.HasPrefix(got.String(), want) {
		t.Errorf("%q\nwants %q", got, want)
	}
}

func TestPrepareRefuses(t *testing.T) {
	if _, err := Prepare("function () { return"); err == nil {
		t.Error("half a function is prepared")
	}
}

// Programs of another format, or of another source, are not there.
func TestPreparedForAnother(t *testing.T) {
	if p := prepared.Program("another format", primordialsSource); p != "" {
		t.Errorf("%.40q", p)
	}
	if p := prepared.Program(insides.ProgramFormat(), primordialsSource+" "); p != "" {
		t.Errorf("%.40q", p)
	}
}
