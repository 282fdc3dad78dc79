package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"
	"pgregory.net/rapid"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/insides"
	"minido.dev/minido/internal/sched"
)

// What the loop over instructions computes is what goja computes, whatever the values are.
func TestLoopIsAsGoja(t *testing.T) {
	w := newWorld(t)
	rapid.Check(t, func(t *rapid.T) { loopAsGoja(t, w.e.vm) })
}

// FuzzLoop is TestLoopIsAsGoja with the fuzzer's choices.
func FuzzLoop(f *testing.F) {
	w := newWorld(f)
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { loopAsGoja(t, w.e.vm) }))
}

func loopAsGoja(t *rapid.T, vm *goja.Runtime) {
	source := loopProgram(t)
	var results [2]string
	for i := range results {
		program, err := goja.Compile("loop.js", source, false)
		if err != nil {
			t.Fatalf("%s\n%v", source, err)
		}
		if i == 1 && !insides.Instrument(program) {
			t.Fatal("goja has changed: internal/insides has to follow")
		}
		v, err := vm.RunProgram(program)
		if err != nil {
			t.Fatalf("%s\n%v", source, err)
		}
		results[i] = v.String()
	}
	if results[0] != results[1] {
		t.Fatalf("%s\nis   %s\ngoja %s", source, results[1], results[0])
	}
}

// loopProgram is a random program whose result is the text of its variables.
func loopProgram(t *rapid.T) string {
	g := loopGenerator{t: t}
	var b strings.Builder
	mode := rapid.SampledFrom([]string{`"use strict";`, ""}).Draw(t, "mode")
	shared := rapid.SampledFrom([]string{"", "const keep = () => n0 + n1 + x0;", "const keep = (v) => { n0 = v; x1 = v; return n2; };"}).Draw(t, "shared")
	fmt.Fprintf(&b, `(function () { %s
	let out = "", n0 = 1, n1 = -2.5, n2 = 300, x0 = "a", x1 = null, x2 = {}; var n3 = 70000, x3;
	const ints = new Int32Array(4), bytes = new Uint8Array([250, 3, 4, 5]), clamped = new Uint8ClampedArray(3), floats = new Float64Array([1.5, NaN, -0, 7]), short = new Int16Array(2), single = new Float32Array(3), big = new BigInt64Array(2);
	const list = [1, 2.5, "c", , undefined, null], made = { p: 1, q: "w", get r() { return n0; }, valueOf() { out += "v"; return 7; } };
	class A { constructor(v) { this.v = v; } m(k) { return k + this.v; } get g() { return this.v; } static s = 4; }
	class B extends A { m(k) { return super.m(k) * 2; } }
	const item = new B(3), bare = Object.create(null); bare.z = 9;
	function f(a, b, c) { let d = a; if (b === undefined) d = 1; return d + (c === undefined ? 2 : c); }
	const arrow = (a, b = 5) => a - b, deep = (n) => n > 0 ? n + deep(n - 1) : 0;
	function counted(a) { var t = 0; for (let i = 0; i < a; i++) { if (i === 3) continue; if (i > 5) break; t += i; } return t; }
	%s
`, mode, shared)
	for range rapid.IntRange(1, 8).Draw(t, "statements") {
		b.WriteString(g.statement(2))
	}
	b.WriteString(`	const show = (v) => typeof v + (Object.is(v, -0) ? "-0" : typeof v === "object" && v !== null ? "o" : String(v));
	return out + [n0, n1, n2, n3, x0, x1, x2, x3, ...ints, ...bytes, ...clamped, ...floats, ...short, ...single, ...big, ...list].map(show).join(" ");
})()`)
	return b.String()
}

type loopGenerator struct{ t *rapid.T }

func (g *loopGenerator) pick(name string, from ...string) string {
	return rapid.SampledFrom(from).Draw(g.t, name)
}

func (g *loopGenerator) array() string {
	return g.pick("array", "ints", "bytes", "clamped", "floats", "short", "single", "list")
}

func (g *loopGenerator) index() string {
	return g.pick("index", "0", "1", "2", "3", "5", "-1", "1.5", "n0", "x0", "n2 & 3", "'1'")
}

// number is an expression that is a number for most values.
func (g *loopGenerator) number(depth int) string {
	if depth == 0 || rapid.IntRange(0, 3).Draw(g.t, "leaf") == 0 {
		return g.pick("number", "n0", "n1", "n2", "n3", "0", "1", "-1", "7", "255", "256", "65536", "2147483647", "-2147483648", "1.5", "-0.25", "NaN", "Infinity", "-0",
			"ints[1]", "bytes[0]", "floats[0]", "floats[1]", "list[0]", "list[1]", "list.length", "x0.length", "item.v", "item.g", "item.m(2)", "bare.z", "made.p", "made.r", "A.s", "f(n0)", "f(1, 2, 3)", "arrow(n1)", "arrow(4, n0)", "deep(9)", "counted(n2)", "Math.floor(n1)")
	}
	a, c := g.number(depth-1), g.number(depth-1)
	switch op := g.pick("operator", "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", ">>>", "-u", "~", "+u", "?", "any"); op {
	case "*": // goja has no -0 here
		return fmt.Sprintf("(%s * %s + 0)", a, c)
	case "-u", "+u", "~":
		return fmt.Sprintf("(%c(%s))", op[0], a)
	case "?":
		return fmt.Sprintf("(%s ? %s : %s)", g.truth(depth-1), a, c)
	case "any":
		return fmt.Sprintf("(+%s)", g.any(depth-1))
	default:
		return fmt.Sprintf("(%s %s %s)", a, op, c)
	}
}

func (g *loopGenerator) truth(depth int) string {
	a, c := g.any(depth), g.any(depth)
	if rapid.Bool().Draw(g.t, "numbers") {
		a, c = g.number(depth), g.number(depth)
	}
	switch op := g.pick("comparison", "<", "<=", ">", ">=", "==", "!=", "===", "!==", "!", "&&", "||", "null", "typeof"); op {
	case "!":
		return "!" + a
	case "null":
		return fmt.Sprintf("(%s == null)", a)
	case "typeof":
		return fmt.Sprintf("(typeof %s === %s)", a, g.pick("type", `"string"`, `"number"`, `"object"`, `"function"`, `"undefined"`))
	default:
		return fmt.Sprintf("(%s %s %s)", a, op, c)
	}
}

func (g *loopGenerator) any(depth int) string {
	if depth > 0 && rapid.Bool().Draw(g.t, "deeper") {
		switch g.pick("kind", "truth", "typeof", "??", "?.", "element", "join") {
		case "truth":
			return "(" + g.truth(depth-1) + ")"
		case "typeof":
			return "(typeof " + g.any(depth-1) + ")"
		case "??":
			return fmt.Sprintf("(%s ?? %s)", g.any(depth-1), g.any(depth-1))
		case "?.":
			return g.pick("optional", "x0", "x1", "x2", "item") + "?." + g.pick("member", "p", "v", "length")
		case "element":
			return g.array() + "[" + g.index() + "]"
		default:
			return fmt.Sprintf("(%s + %s)", g.any(depth-1), g.any(depth-1))
		}
	}
	return g.pick("value", "x0", "x1", "x2", "x3", "n0", "n1", `"a"`, `""`, `"12"`, "\"\u00e7\u4e8c\"", "true", "false", "null", "undefined", "made", "made.q", "item", "list", "f", "1n", "A", "made.none", "f.name", "list[3]", "(x2 = item)")
}

func (g *loopGenerator) statement(depth int) string {
	n, x := g.pick("n", "n0", "n1", "n2", "n3"), g.pick("x", "x0", "x1", "x2", "x3")
	guarded := func(s string) string {
		return "	try { " + s + " } catch (e) { out += e.name + \";\"; }\n"
	}
	switch g.pick("statement", "number", "any", "element", "update", "if", "for", "while", "do", "object", "call") {
	case "any":
		return guarded(x + " = " + g.any(2) + ";")
	case "element":
		return guarded(g.pick("used", "", x+" = ") + g.array() + "[" + g.index() + "] = " + g.number(2) + ";")
	case "update":
		return guarded(n + g.pick("update", "++", "--", " += 1.5", " |= 0", " -= n1", " >>>= 1", " = -"+n) + ";" + g.array() + "[" + g.index() + "]" + g.pick("op", "++", " += 2", " ^= 5") + ";")
	case "if":
		if depth > 0 {
			return "	if (" + g.pick("test", "n0 < n1", "x0", "n2 !== n3", "!x1", "x1 == null") + ") {" + g.statement(depth-1) + "} else {" + g.statement(depth-1) + "}\n"
		}
	case "for":
		if depth > 0 {
			return "	for (let i = 0, k = n0; i < 4; i++) {" + g.statement(depth-1) + n + " = (" + n + " + i * 3) % 1000; ints[i & 3] = ints[(i + 1) & 3] + i; }\n"
		}
	case "while":
		if depth > 0 {
			return "	{ let i = 5; while (--i > 0) {" + g.statement(depth-1) + "} }\n"
		}
	case "do":
		if depth > 0 {
			return "	{ let i = 0; do {" + g.statement(depth-1) + "} while (i++ < 3 && !" + g.pick("stop", "x1", "false") + ") }\n"
		}
	case "object":
		return guarded("made." + g.pick("member", "p", "s", "r") + g.pick("set", " = ", " += ") + g.number(1) + ";")
	case "call":
		return guarded(n + " = " + g.pick("callee", "f", "arrow", "deep", "item.m", "made.none", "new A(2).m", "x1", "counted") + "(" + g.pick("arguments", "", "3", "3, n0", "...list") + ") % 1000;")
	}
	return guarded(n + " = " + g.number(3) + " % 2147483648.5;")
}

// Where goja differs from V8 the loop is right.
func TestLoopNumbersOfV8(t *testing.T) {
	w := newWorld(t)
	for source, want := range map[string]string{
		`1 / (a * -5)`:            "-Infinity", // a is 0
		`1 / (-5 * a)`:            "-Infinity",
		`(two63 + 2 ** 11) | 0`:   "2048",
		`(-two63 - 2 ** 12) >> 0`: "-4096",
		`two63 * 4 >>> 0`:         "0",
	} {
		v, err := w.e.vm.RunProgram(instrumented(t, "((a, two63) => "+source+")(0, 2 ** 63)"))
		if err != nil || v.String() != want {
			t.Errorf("%s: %v, %v; want %s", source, v, err, want)
		}
	}
}

// BigInts are computed with as goja does, and not beyond their bound.
func TestLoopBigInts(t *testing.T) {
	w := newWorld(t)
	const source = `(a, b) => [() => a + b, () => a - b, () => a * b, () => a / b, () => a % b, () => a & b, () => a | b, () => a ^ b, () => a << (b % 200n), () => a >> (b % 200n), () => a < b, () => a <= b, () => a > b, () => a >= b, () => a === b]
		.map((f) => { try { return String(f()); } catch (e) { return e.name; } }).join(" ")`
	plain, err := w.e.vm.RunProgram(goja.MustCompile("plain.js", source, false))
	if err != nil {
		t.Fatal(err)
	}
	theirs, _ := goja.AssertFunction(plain)
	ours := instrumentedFunction(t, w.e.vm, source)
	parse, _ := goja.AssertFunction(w.e.vm.Get("BigInt"))
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) goja.Value {
			digits := rapid.StringMatching(`[1-9][0-9]{0,17}|[1-9][0-9]{60,320}|0`).Draw(t, name)
			v, err := parse(goja.Undefined(), w.e.vm.ToValue(digits))
			if err != nil {
				t.Fatal(err)
			}
			if rapid.Bool().Draw(t, "negative") {
				v, err = parse(goja.Undefined(), w.e.vm.ToValue("-"+digits))
			}
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		a, b := draw("a"), draw("b")
		want, err := theirs(goja.Undefined(), a, b)
		got, err2 := ours(goja.Undefined(), a, b)
		if err != nil || err2 != nil || want.String() != got.String() {
			t.Fatalf("%s, %s: %v %v, goja: %v %v", a, b, got, err2, want, err)
		}
	})
	for source, want := range map[string]string{
		`1n << (1n << 40n)`:           "RangeError: Maximum BigInt size exceeded",
		`1n >> -(1n << 70n)`:          "RangeError: Maximum BigInt size exceeded",
		`-5n >> (1n << 70n)`:          "-1",
		`5n << -(1n << 40n)`:          "0",
		`0n << (1n << 70n)`:           "0",
		`2n ** 5n * (1n << 5000000n)`: "RangeError: Maximum BigInt size exceeded",
		`({ valueOf: () => 3n }) * { valueOf: () => 1n << 5000000n }`: "RangeError: Maximum BigInt size exceeded",
		`7n % 0n`: "RangeError: Division by zero",
		`1n * 1`:  "TypeError: Cannot mix BigInt and other types, use explicit conversions",
	} {
		v, err := w.e.vm.RunProgram(instrumented(t, "(() => { try { return String("+source+"); } catch (e) { return String(e); } })()"))
		if err != nil || v.String() != want {
			t.Errorf("%s: %v, %v; want %s", source, v, err, want)
		}
	}
}

// The CPU limit ends each kind of loop, also one of which no instruction is goja's.
func TestLoopIsInterrupted(t *testing.T) {
	for _, source := range []string{
		`for (;;);`,
		`let i = 0; do { i = (i + 1) & 7; } while (i < 100);`,
		`let i = 0, b = new Uint8Array(1); do { b[0] = i++; } while (b[0] < 256);`,
		`let i = 0; for (; i !== -1 || i; ) i ^= 1;`,
		`const f = (n) => n & 1; let i = 0; while (f(i) < 2) i = f(i) + 1;`,
		`let o = { a: [1] }, n = 0; while (o.a.length) { n = o.a[0]; o.a[0] = n; }`,
	} {
		t.Run(source, func(t *testing.T) {
			th := sched.NewThreads(clock.Real{})
			done := make(chan error, 1)
			e := New(Options{Name: "x", Scheduler: th, Entropy: entropy.NewSeeded(1), Condemned: func(r error) { done <- r }, TurnLimit: 20 * time.Millisecond})
			program := instrumented(t, "(function () { \"use strict\"; "+source+" })()")
			if err := e.Post(e.NewContext(ObjectContext, "Room/lobby").Frame(), "rpc", func() {
				_, err := e.VM().RunProgram(program)
				e.Rethrow(err)
			}); err != nil {
				t.Fatal(err)
			}
			var limit *LimitError
			if err := <-done; !errors.As(err, &limit) || limit.Resource != CPUTime {
				t.Errorf("condemned by %v", err)
			}
			if err := th.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
		})
	}
}
