package engine

import (
	"testing"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
)

// asGoja runs a program as goja compiles it and as insides.Instrument changes it; both
// must have the same result, which it returns.
func asGoja(t *testing.T, program string) string {
	t.Helper()
	plain, err := newWorld(t).e.vm.RunProgram(goja.MustCompile("plain.js", program, false))
	if err != nil {
		t.Fatalf("%s: %v", program, err)
	}
	w := newWorld(t)
	got, err := w.e.vm.RunProgram(instrumented(t, program))
	if err != nil {
		t.Fatalf("%s: %v", program, err)
	}
	if got.String() != plain.String() {
		t.Errorf("%s: %s, goja: %s", program, got, plain)
	}
	return got.String()
}

// logging is a program whose result is what source logs.
func logging(source string) string {
	return "let said = []; const log = (...a) => { said[said.length] = a.map(String).join('/') };\n{ " + source + " }\nsaid.join(' ')"
}

// instrumented is a program as insides.Instrument changes it.
func instrumented(t testing.TB, source string) *goja.Program {
	t.Helper()
	program := goja.MustCompile("instrumented.js", source, false)
	if !insides.Instrument(program) {
		t.Fatal("goja has changed: internal/insides has to follow")
	}
	return program
}

// instrumentedFunction is the function that an instrumented program evaluates to.
func instrumentedFunction(t testing.TB, vm *goja.Runtime, source string) goja.Callable {
	t.Helper()
	v, err := vm.RunProgram(instrumented(t, source))
	if err != nil {
		t.Fatal(err)
	}
	fn, ok := goja.AssertFunction(v)
	if !ok {
		t.Fatalf("%s is no function", source)
	}
	return fn
}
