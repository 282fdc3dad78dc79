package engine

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/dop251/goja"
	"pgregory.net/rapid"

	"minido.dev/minido/internal/insides"
)

// Strings that are appended to in any order, from any of those that were made, are
// what goja makes of them without room behind them.
func TestAppendedStrings(t *testing.T) {
	w := newWorld(t)
	const source = `(steps) => {
		const made = ["", "a".repeat(255), "b".repeat(256), "\u4e00" + "c".repeat(300), "d".repeat(5000)];
		for (const [from, piece] of steps) { let s = made[from % made.length]; s += piece === null ? made[(from >> 8) % made.length] : piece; made.push(s); }
		return made;
	}`
	run := func(ours bool) goja.Callable {
		program := goja.MustCompile("append.js", source, true)
		if ours && !insides.Instrument(program) {
			t.Fatal("goja has changed: internal/insides/instructions.go has to follow")
		}
		v, err := w.e.vm.RunProgram(program)
		if err != nil {
			t.Fatal(err)
		}
		fn, _ := goja.AssertFunction(v)
		return fn
	}
	plain, ours := run(false), run(true)
	rapid.Check(t, func(t *rapid.T) {
		steps := []any{}
		last := 4
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			from := rapid.OneOf(rapid.Just(last), rapid.IntRange(0, 1<<16)).Draw(t, "from")
			piece := rapid.SampledFrom([]any{"x", "some words ", "", "\u4e8c", "\U0001f600", 7, 1.5, -1, nil, true}).Draw(t, "piece")
			steps = append(steps, []any{from, piece})
			last++
		}
		list := w.e.vm.ToValue(steps)
		want, err := plain(goja.Undefined(), list)
		got, err2 := ours(goja.Undefined(), list)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		a, b := want.(*goja.Object), got.(*goja.Object)
		for i := range a.Get("length").ToInteger() {
			at := fmt.Sprint(i)
			if !a.Get(at).StrictEquals(b.Get(at)) {
				t.Fatalf("string %d: %.80q, want %.80q", i, b.Get(at), a.Get(at))
			}
		}
	})
}

// A string that is built of pieces is not copied for each: in whatever bytes.
func TestAppendingIsLinear(t *testing.T) {
	w := newWorld(t)
	program := goja.MustCompile("build.js", `(start, n) => { let s = start, o = { text: start }; for (let i = 0; i < n; i++) { s += "0123456789"; o.text += "0123456789"; } return s.length + o.text.length; }`, true)
	insides.Instrument(program)
	v, err := w.e.vm.RunProgram(program)
	if err != nil {
		t.Fatal(err)
	}
	fn, _ := goja.AssertFunction(v)
	for _, start := range []string{"a", "\u4e00"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if got, err := fn(goja.Undefined(), w.e.vm.ToValue(start), w.e.vm.ToValue(10_000)); err != nil || got.ToInteger() != 200_002 {
			t.Fatal(got, err)
		}
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		if allocated > 10<<20 { // 1 GB if each is copied
			t.Errorf("%d bytes for 20,000 pieces behind %q", allocated, start)
		}
	}
}
