package inspect

import (
	"os"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/runtime/ecma"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// logged are the lines that a script logs.
func (w world) logged(source string) string {
	w.T.Helper()
	w.Run(source)
	text := strings.Join(w.Logs, "\n")
	w.Logs = nil
	if len(w.Out) > 0 {
		w.T.Errorf("%s said %q", source, w.Out)
		w.Out = nil
	}
	return text
}

// What the console logs is what Node 24 logs for the same arguments:
// testdata/console.txt holds expressions and Node's lines; of proxies workerd's.
func TestConsoleGolden(t *testing.T) {
	w := newWorld(t)
	data, err := os.ReadFile("testdata/console.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range strings.Split("\n"+strings.TrimSuffix(string(data), "\n"), "\n> ")[1:] {
		expr, want, _ := strings.Cut(entry, "\n")
		want = strings.ReplaceAll("\n"+want, "\n  ", "\n")[1:]
		if got := w.logged("console.log(" + expr + ")"); got != want {
			t.Errorf("%s\n--- got\n%s\n--- want\n%s", expr, got, want)
		}
	}
}

// A value of any depth is shown in bounded time, as far as Node's words say.
func TestConsoleDepth(t *testing.T) {
	w := newWorld(t)
	got := w.logged(`let o = {}; for (let i = 0; i < 20000; i++) o = {o}; console.dir(o, {depth: null})`)
	if n := strings.Count(got, "{"); n != inspectLevels || !strings.Contains(got, "[Object: Inspection interrupted prematurely. Maximum call stack size exceeded.]") {
		t.Errorf("%d levels, %.200s", n, got)
	}
}

// The options of util.inspect reach console.dir; a proxy, a getter and what is
// hidden are shown by them, and custom inspect methods are not asked.
func TestConsoleOptions(t *testing.T) {
	w := newWorld(t)
	for _, c := range [][2]string{
		{`console.dir(new Proxy({a: 1}, {b: 2}), {showProxy: true})`, "Proxy [ { a: 1 }, { b: 2 } ]"},
		{`console.dir({get a() { return 1 }, get b() { return {c: 2} }, get d() { throw new Error("no") }}, {getters: true})`,
			"{\n  a: [Getter: 1],\n  b: [Getter] { c: 2 },\n  d: [Getter: <Inspection threw (no)>]\n}"},
		{`console.dir([1], {showHidden: true}); console.dir({b: 1, a: 2}, {sorted: true}); console.dir({b: 1, a: 2}, {sorted: (x, y) => x < y ? 1 : -1})`,
			"[ 1, [length]: 1 ]\n{ a: 2, b: 1 }\n{ b: 1, a: 2 }"},
		{`console.dir([1, "a", null, undefined, true, 1n, Symbol("s")], {colors: true, breakLength: 1000})`,
			"[ \x1b[33m1\x1b[39m, \x1b[32m'a'\x1b[39m, \x1b[1mnull\x1b[22m, \x1b[90mundefined\x1b[39m, \x1b[33mtrue\x1b[39m, \x1b[33m1n\x1b[39m, \x1b[32mSymbol(s)\x1b[39m ]"},
		{`console.dir({a: {b: 1}, c: "x"}, {compact: true, breakLength: 5}); console.dir({a: 1}, {compact: false}); console.dir(123456.123456, {numericSeparator: true})`,
			"{ a:\n   { b: 1 },\n  c: 'x' }\n{\n  a: 1\n}\n123_456.123_456"},
		{`console.dir({[Symbol.for("nodejs.util.inspect.custom")]: () => "mine"})`, "{\n  Symbol(nodejs.util.inspect.custom): [Function: [nodejs.util.inspect.custom]]\n}"},
		{`console.log("%o %i %f", [1], 5n, "2.5x")`, "[ 1, [length]: 1 ] 5n 2.5"},
	} {
		if got := w.logged(c[0]); got != c[1] {
			t.Errorf("%s\n--- got\n%s\n--- want\n%s", c[0], got, c[1])
		}
	}
}

// The methods log at their levels; groups indent, counters count, timers stand
// still within a turn, and labels that are not there are told.
func TestConsoleMethods(t *testing.T) {
	w := newWorld(t)
	for _, c := range [][2]string{
		{`console.group("g", 1); console.log("a\nb"); console.groupCollapsed(); console.warn({a: 1}); console.groupEnd(); console.groupEnd(); console.groupEnd(); console.log("out")`,
			"g 1\n  a\n  b\n    { a: 1 }\nout"},
		{`console.count(); console.count("x"); console.count(); console.countReset(); console.count(); console.countReset("none")`,
			"default: 1\nx: 1\ndefault: 2\ndefault: 1\nCount for 'none' does not exist"},
		{`console.assert(true, "no"); console.assert(false); console.assert(0, "x is %d", 5); console.assert("", {a: 1})`,
			"Assertion failed\nAssertion failed: x is 5\nAssertion failed { a: 1 }"},
		{`console.dir({a: {b: {c: {d: 1}}}}, {depth: 0}); console.dir({a: {b: {c: {d: {}}}}}, {depth: null})`,
			"{ a: [Object] }\n{\n  a: { b: { c: { d: {} } } }\n}"},
		{`const { log } = console; log("free"); console.table(5); console.log()`, "free\n5\n"},
		{`console.table([{a: 1, b: "x"}, {a: 2, c: true}])`,
			"┌─────────┬───┬─────┬──────┐\n│ (index) │ a │ b   │ c    │\n├─────────┼───┼─────┼──────┤\n│ 0       │ 1 │ 'x' │      │\n│ 1       │ 2 │     │ true │\n└─────────┴───┴─────┴──────┘"},
		{`console.table([{a: 1, b: 2}, 7], ["b"])`,
			"┌─────────┬───┬────────┐\n│ (index) │ b │ Values │\n├─────────┼───┼────────┤\n│ 0       │ 2 │        │\n│ 1       │   │ 7      │\n└─────────┴───┴────────┘"},
		{`console.table(new Map([["k", 1]]))`,
			"┌───────────────────┬─────┬────────┐\n│ (iteration index) │ Key │ Values │\n├───────────────────┼─────┼────────┤\n│ 0                 │ 'k' │ 1      │\n└───────────────────┴─────┴────────┘"},
		{`(async () => { throw 5 })().catch(() => {}); console.log(Promise.reject(7).catch(() => {}) && Object.assign(Promise.resolve(), {}))`, "Promise { undefined }"},
	} {
		if got := w.logged(c[0]); got != c[1] {
			t.Errorf("%s\n--- got\n%s\n--- want\n%s", c[0], got, c[1])
		}
	}
	levels := map[string]engine.Level{}
	e := ecma.New(engine.Options{Name: "levels", Scheduler: w.Sched, Entropy: w.Realm.Engine.Entropy(),
		Logger: func(l engine.Level, _ *engine.Context, text string) { levels[text] = l }})
	r := webidl.New(e, webidl.Options{})
	install(r)
	e.Post(e.NewContext(engine.RequestContext, "").Frame(), "test", func() {
		if _, err := r.VM.RunString(`for (const m of ["debug", "info", "log", "warn", "error"]) console[m](m)`); err != nil {
			t.Error(err)
		}
	})
	for w.Sched.Step() {
	}
	for text, want := range map[string]engine.Level{"debug": engine.Debug, "info": engine.Info, "log": engine.Log, "warn": engine.Warn, "error": engine.Error} {
		if got, ok := levels[text]; !ok || got != want {
			t.Errorf("console.%s logs at level %d", text, got)
		}
	}
}

// Errors are shown by their stacks, with what else hangs on them; a
// DOMException is shown as one.
func TestConsoleErrors(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ source, want string }{
		{`const e = new TypeError("boo"); e.stack = "TypeError: boo\n    at f (w.js:1:2)"; console.log(e)`, "TypeError: boo\n    at f (w.js:1:2)"},
		{`const e = new Error("boo"); e.stack = "Error: boo\n    at f (w.js:1:2)"; e.code = "E"; console.log({e})`,
			"{\n  e: Error: boo\n      at f (w.js:1:2) {\n    code: 'E'\n  }\n}"},
		{`const e = new Error("a", {cause: new Error("b")}); e.stack = "Error: a\n    at f (w.js:1:2)"; e.cause.stack = ""; console.log(e)`,
			"Error: a\n    at f (w.js:1:2) {\n  [cause]: [Error: b]\n}"},
		{`const e = new AggregateError([1], "many"); e.stack = "AggregateError: many\n    at f (w.js:1:2)"; console.log(e)`,
			"AggregateError: many\n    at f (w.js:1:2) {\n  [errors]: [ 1 ]\n}"},
		{`class MyError extends Error {} const e = new MyError("m"); e.stack = "Error: m\n    at f (w.js:1:2)"; console.log(e)`, "MyError: m\n    at f (w.js:1:2)"},
	} {
		if got := w.logged(c.source); got != c.want {
			t.Errorf("%s\n--- got\n%s\n--- want\n%s", c.source, got, c.want)
		}
	}
	got := w.logged(`console.error(new DOMException("m", "AbortError")); function place() { console.trace("here %d", 1) } place()`)
	if !strings.HasPrefix(got, "DOMException {\n  code: 20,\n  name: 'AbortError',\n  message: 'm',\n  stack: 'AbortError: m\\n    at ") || !strings.Contains(got, "\nTrace: here 1\n    at place (") {
		t.Errorf("got %s", got)
	}
}

// Nothing that is logged can make the console throw, or run for long.
func TestConsoleHostile(t *testing.T) {
	w := newWorld(t)
	for _, source := range []string{
		`{get [Symbol.toStringTag]() { throw 1 }}`, `{toString() { throw 1 }}`, `{[Symbol.toPrimitive]() { throw 1 }}`,
		`"%s", {toString() { throw 1 }}`, `"%d", {valueOf() { throw 1 }}`, `"%j", {toJSON() { throw 1 }}`, `"%j", (o => o.o = o)({})`,
		`{[Symbol.for("nodejs.util.inspect.custom")]() { throw 1 }}`, `{get [Symbol.for("nodejs.util.inspect.custom")]() { throw 1 }}`,
		`new Proxy({}, new Proxy({}, {get() { throw 1 }}))`, `Object.create(new Proxy({}, {getPrototypeOf() { throw 1 }, get() { throw 1 }}))`,
		`(() => { const r = Proxy.revocable({}, {}); r.revoke(); return [r.proxy, r] })()`, `Object.defineProperty(new Error("x"), "stack", {get() { throw 1 }})`,
		`Object.assign(new Error("x"), {message: {toString() { throw 1 }}, name: Symbol("n")})`, `Object.defineProperties(() => {}, {name: {value: 1}, constructor: {value: 2}, prototype: {value: 3}})`,
		`Object.create(Map.prototype), Object.create(Promise.prototype), Object.create(Uint8Array.prototype), Object.create(Date.prototype), Object.create(URL.prototype)`,
		`(() => { let o = {}; for (let i = 0; i < 5000; i++) o = {o}; return o })()`, `(() => { const a = []; a.length = 4294967295; return a })()`,
		`Object.setPrototypeOf(function () {}, null), Object.setPrototypeOf([1], null), Object.setPrototypeOf(new Map(), null), Object.setPrototypeOf(new Error("x"), null)`,
		`URL.constructor, globalThis`, `(() => { const b = new ArrayBuffer(8), v = new Uint8Array(b), d = new DataView(b); b.transfer(); return [b, v, d] })()`,
	} {
		if got := w.logged("console.log(" + source + "); console.table(" + source + ")"); got == "" || strings.Contains(got, "console.log:") {
			t.Errorf("%s logs %q", source, got)
		}
	}
	if got := w.logged(`const p = {}; for (let i = 0; i < 3; i++) p["k" + i] = p; console.dir(p, {depth: Infinity}); console.log(Symbol.for = null, {a: 1})`); got != "<ref *1> { k0: [Circular *1], k1: [Circular *1], k2: [Circular *1] }\nnull { a: 1 }" {
		t.Errorf("got %s", got)
	}
}

// The first line of an error has its class where the name says less, and calls that the
// cause has, too, are left out: as workerd 1.20261117.1 logs them.
func TestOddErrors(t *testing.T) {
	w := newWorld(t)
	w.Run(`globalThis.Named = class Named extends Error { constructor(m) { super(m); this.name = "CustomName"; } };
		globalThis.Getter = class extends TypeError { get name() { return "GetterName"; } };
		globalThis.E = class E extends Error {}; globalThis.Plain = class Plain {};
		globalThis.deep = (n) => n ? deep(n - 1) : new Error("outer", { cause: new TypeError("inner") });`)
	for expr, want := range map[string]string{
		`new Named("m")`:  "CustomName: m|at",
		`new Getter("m")`: "GetterName: m|at",
		`new E("m")`:      "E [Error]: m|at",
		`Object.assign(new Error("m"), { name: "AbortError" })`:    "Error [AbortError]: m|at",
		`Object.assign(new Error("m"), { name: 5 })`:               "5 [Error]: m|at",
		`Object.assign(new Error("m"), { name: "" })`:              "m|at",
		`Object.setPrototypeOf(new Error("m"), null)`:              "[Error: null prototype]: m|at",
		`Object.setPrototypeOf(new Error("m"), Plain.prototype)`:   "Plain [Error]: m|at",
		`Object.assign(new Error("m"), { stack: "custom stack" })`: "[custom stack]",
		`deep(20)`: "Error: outer|at|... 7 lines matching cause stack trace ...|at {|[cause]: TypeError: inner|at|}",
	} {
		lines := strings.Split(w.logged("console.log("+expr+")"), "\n")
		for i, line := range lines {
			lines[i] = strings.TrimSpace(line)
			if strings.HasPrefix(lines[i], "at ") {
				lines[i] = "at" + strings.Repeat(" {", strings.Count(line, " {"))
			}
		}
		if got := strings.Join(slices.Compact(lines), "|"); got != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
}
