package json

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// jsonProbe shows of a text what JSON.parse makes of it, as far as a program can
// tell, what becomes of that when a program changes it, and what JSON.stringify
// makes of both.
const jsonProbe = `(function () {
	"use strict";
	const units = (s) => s.split("").map((c) => /[ -~]/.test(c) ? c : "<" + c.charCodeAt(0) + ">").join("");
	const dump = (v) => {
		if (typeof v === "string") return '"' + units(v) + '"';
		if (typeof v !== "object" || v === null) return Object.is(v, -0) ? "-0" : String(v);
		const kind = { proto: Object.getPrototypeOf(v) === (Array.isArray(v) ? Array : Object).prototype, extensible: Object.isExtensible(v) };
		return kind.proto + "," + kind.extensible + "{" + Reflect.ownKeys(v).map((k) => {
			const d = Object.getOwnPropertyDescriptor(v, k);
			return units(k) + (d.writable ? "w" : "") + (d.enumerable ? "e" : "") + (d.configurable ? "c" : "") + ":" + dump(d.value);
		}).join() + "}";
	};
	const change = (v) => {
		const keys = Object.keys(v), log = [];
		for (const k of keys) if (typeof v[k] === "object" && v[k] !== null) log.push(change(v[k]));
		v.added = 1;
		v[5] = "five";
		if (Array.isArray(v)) log.push(v.push(2), v.unshift(3), v.sort().length, v.reverse().length, Reflect.deleteProperty(v, "length"), v.indexOf("five"));
		if (keys.length > 0) log.push(delete v[keys[0]], keys[0] in v, delete v[keys[0]]);
		v[7] = [];
		for (const k in v) log.push(units(k));
		if (Array.isArray(v)) {
			v.length = Math.min(v.length, 6);
			Object.defineProperty(v, "length", { writable: false });
			log.push(Reflect.set(v, "length", 0), v.length);
		}
		Object.defineProperty(v, "hidden", { value: 1 });
		Object.defineProperty(v, "got", { get() { return "it"; }, enumerable: true });
		return log.join();
	};
	return (text) => {
		const v = JSON.parse(text), was = dump(v), written = JSON.stringify(v);
		const again = JSON.parse(written), copy = JSON.stringify(again) === written;
		const out = [was, units(written), units(JSON.stringify(v, null, "- ")), copy];
		if (typeof v === "object" && v !== null) out.push(change(v), dump(v), units(JSON.stringify(v)));
		return out.join("\n");
	};
})()`

// jsonWorlds are two engines, of which the second knows goja only by its
// interface, and goja with its own JSON.
func jsonWorlds(t *testing.T) (looks, asks, original func(text string) string) {
	run := func(vm *goja.Runtime) func(text string) string {
		v, err := vm.RunString(jsonProbe)
		if err != nil {
			t.Fatal(err)
		}
		probe, _ := goja.AssertFunction(v)
		return func(text string) string {
			shown, err := probe(goja.Undefined(), vm.ToValue(text))
			if err != nil {
				return "! " + err.(*goja.Exception).Value().String()
			}
			return shown.String()
		}
	}
	a, b := newWorld(), newWorld()
	b.e.Maker().Plain = &insides.Plain{}
	return run(a.e.VM()), run(b.e.VM()), run(goja.New())
}

// Whatever the text, JSON with its look into goja does what it does without, and
// what goja's own does: a value that parses is written and parses again, has the
// properties of one that JavaScript made, and changes as one.
func FuzzJSON(f *testing.F) {
	for _, seed := range jsonSeeds {
		f.Add(seed)
	}
	var looks, asks, original func(string) string
	f.Fuzz(func(t *testing.T, text string) {
		if looks == nil {
			looks, asks, original = jsonWorlds(t)
		}
		if !utf8.ValidString(text) || len(text) > 10_000 {
			return
		}
		got := looks(text)
		if want := asks(text); got != want {
			t.Fatalf("%q gives\n%s\nand without a look\n%s", text, got, want)
		}
		if strings.Contains(strings.ToLower(text), `\ud`) {
			return // goja's loses surrogates
		}
		got, want := unindented(got), unindented(original(text))
		if strings.Contains(want, "cannot unmarshal number") {
			return // which is an infinity
		}
		if got != want && !(strings.HasPrefix(got, "! ") && strings.HasPrefix(want, "! ")) {
			t.Fatalf("%q gives\n%s\nand in goja\n%s", text, got, want)
		}
	})
}

// unindented is what the probe shows without the indented text: goja indents wrongly
// after an empty array.
func unindented(shown string) string {
	lines := strings.Split(shown, "\n")
	if len(lines) < 4 {
		return shown
	}
	return strings.Join(slices.Delete(lines, 2, 3), "\n")
}

var jsonSeeds = []string{
	`{"a":1,"b":[true,false,null,"x"],"c":{"d":-0,"e":1.5e300,"f":1e-7}}`,
	`{"2":1,"b":2,"1":3,"a":4,"b":5,"01":6,"4294967295":7,"-1":8}`,
	`{"__proto__":{"x":1},"constructor":2,"toJSON":3,"length":4,"":5,"é":6,"😀":7}`,
	`{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10,"a":11}`,
	`[1,2,[3,[4,[]]],{},"",255,256,-256,-257,9007199254740993,123456789012345,1234567890123456,0.1,1e21,123456789012345680000,-1e-6]`,
	`["\ud83d\ude00","\ud83d","\ude00\ud83d","\u0000\u001f\u007f\u2028","\"\\\/\b\f\n\r\t","é 😀 漢字"]`,
	`"12345678\"1234567\\éééééééé12345678"`, ` [ 1 , { "a" : [ ] } ] `, `12`, `-0`, `-0.0`, `1e1000`, `"é"`, `null`,
	`{"a":`, `[1,]`, `{"a":1,}`, `{"a" 1}`, `"abc`, `01`, `1.`, `1e`, `-`, `nul`, "\"\n\"", `"\x"`, `"\u12g4"`, ``, `{"é"`, `["é",]`, `{"a\u0062":1,"ab":2}`, "\"12345678901234567890\x01\"",
}

// What JSON.stringify is given besides data: all that may run a program's code
// while it goes through objects, or change what it goes through. An engine that
// looks into goja answers what one without does.
func TestStringifyWhilePrograms(t *testing.T) {
	a, b := newWorld(), newWorld()
	b.e.Maker().Plain = &insides.Plain{}
	shown := func(w *world, source string) (text string) {
		w.e.Post(engine.GlobalFrame, "test", func() {
			v, err := w.e.VM().RunString("{ const log = []; try { log.push((() => {" + source + "})()) } catch (e) { log.push(e.name + ': ' + e.message) }; log.map(String).join(' | ') }")
			if err != nil {
				t.Fatalf("%s: %v", source, err)
			}
			text = v.String()
		})
		w.run()
		return text
	}
	for _, c := range []struct{ source, want string }{
		{`const o = { a: { toJSON() { o.b = 9; o.z = 1; delete o.c; return 1 } }, b: 2, c: 3, d: 4 }; return JSON.stringify(o)`, `{"a":1,"b":9,"d":4}`},
		{`const o = { get a() { o.b = 9; delete o.c; Object.defineProperty(o, "d", { enumerable: false }); return 1 }, b: 2, c: 3, d: 4 }; return JSON.stringify(o)`, `{"a":1,"b":9,"d":4}`},
		{`const o = { a: { b: {} }, c: 1 }; o.a.b.toJSON = () => { o.c = { d: 2 }; return 0 }; return JSON.stringify([o, o])`, `[{"a":{"b":0},"c":{"d":2}},{"a":{"b":0},"c":{"d":2}}]`},
		{`const o = { a: Object(1n), b: 1 }; Object.defineProperty(BigInt.prototype, "toJSON", { configurable: true, get() { o.b = 2; return () => "big" } }); try { return JSON.stringify(o) } finally { delete BigInt.prototype.toJSON }`, `{"a":"big","b":2}`},
		{`const n = new Number(1); n.valueOf = () => { o.b = 2; return 7 }; const o = { n, b: 1 }; return JSON.stringify(o)`, `{"n":7,"b":2}`},
		{`const s = new String("s"); s.toString = () => { a.length = 2; return "t" }; const a = [s, 1, 2, 3]; return JSON.stringify(a)`, `["t",1,null,null]`},
		{`const o = { p: new Proxy({}, { get(_, k) { log.push(String(k)); o.b = 2 }, ownKeys() { log.push("keys"); return [] } }), b: 1 }; return JSON.stringify(o)`, `toJSON | keys | {"p":{},"b":2}`},
		{`const a = [{ toJSON() { a[1] = "new"; a[6000] = 1; a.length = 3; return 0 } }, 1, 2]; return JSON.stringify(a)`, `[0,"new",2]`},
		{`const a = [0, , 2]; Array.prototype[1] = "proto"; try { return JSON.stringify(a) } finally { delete Array.prototype[1] }`, `[0,"proto",2]`},
		{`const a = [0, , 2]; Object.defineProperty(Array.prototype, 1, { configurable: true, get() { a[2] = 9; return "got" } }); try { return JSON.stringify(a) } finally { delete Array.prototype[1] }`, `[0,"got",9]`},
		{`Object.prototype.toJSON = function () { return this.k ? { v: this.k } : Array.isArray(this) ? "array" : 5 }; try { return JSON.stringify([{ k: 1 }]) + JSON.stringify({ k: 2 }) + JSON.stringify({}) } finally { delete Object.prototype.toJSON }`, `"array"{"v":2}5`},
		{`Array.prototype.toJSON = function () { return { n: this.length } }; try { return JSON.stringify({ a: [1, 2], b: "x" }) } finally { delete Array.prototype.toJSON }`, `{"a":{"n":2},"b":"x"}`},
		{`String.prototype.toJSON = () => 1; Number.prototype.toJSON = () => 2; Boolean.prototype.toJSON = () => 3; try { return JSON.stringify(["s", 5, true, new String("t"), null]) } finally { delete String.prototype.toJSON; delete Number.prototype.toJSON; delete Boolean.prototype.toJSON }`, `["s",5,true,1,null]`},
		{`Object.prototype.toJSON = undefined; try { return JSON.stringify({ a: [1] }) } finally { delete Object.prototype.toJSON }`, `{"a":[1]}`},
		{`Object.defineProperty(Object.prototype, "toJSON", { configurable: true, get() { log.push("got"); return undefined } }); try { return JSON.stringify({ a: [1] }) } finally { delete Object.prototype.toJSON }`, `got | got | {"a":[1]}`},
		{`class A { constructor() { this.x = 1 } toJSON(k) { return "A" + k } } class B extends A {} return JSON.stringify({ a: new A(), b: [new B()] })`, `{"a":"Aa","b":["A0"]}`},
		{`class A { constructor() { this.x = 1; this[2] = 3 } get y() { return 2 } } return JSON.stringify([new A(), new (class extends Array {})(3), Object.create({ z: 1 })])`, `[{"2":3,"x":1},[null,null,null],{}]`},
		{`class L extends Array { toJSON() { return "L" + this.length } } return JSON.stringify({ l: L.of(1, 2) })`, `{"l":"L2"}`},
		{`const a = [1, 2]; Object.setPrototypeOf(a, { toJSON() { return "set" } }); return JSON.stringify([a])`, `["set"]`},
		{`const o = Object.setPrototypeOf({ a: 1 }, new Proxy({}, { get(_, k) { log.push(k); return undefined } })); return JSON.stringify(o)`, `toJSON | {"a":1}`},
		{`const o = { a: 1 }; Object.defineProperty(o, "toJSON", { value: () => "hidden" }); return JSON.stringify([o])`, `["hidden"]`},
		{`return JSON.stringify({ d: new Date(0), n: Object.assign(new Date(NaN), { toJSON: 1, a: 2 }) })`, `{"d":"1970-01-01T00:00:00.000Z","n":{"toJSON":1,"a":2}}`},
		{`return JSON.stringify({ a: 1, b: { a: 2, c: 3 } }, ["b", "a"]) + JSON.stringify([{ a: 1 }], ["a", 0])`, `{"b":{"a":2},"a":1}[{"a":1}]`},
		{`return JSON.stringify({ get a() { return this.b }, b: 2 }, ["a"])`, `{"a":2}`},
		{`const o = { a: 1, b: 2 }; return JSON.stringify(o, function (k, v) { if (k === "a") { this.b = "changed"; delete this.c } log.push(k); return v })`, ` | a | b | {"a":1,"b":"changed"}`},
		{`return JSON.stringify({ a: [1, { b: 2 }] }, null, "\udc00\ud800").length + JSON.stringify([1], null, "\ud83d\ude00".repeat(8)).length + JSON.stringify([[1]], null, "\u0000")`, "63[\n\x00[\n\x00\x001\n\x00]\n]"},
		{`return JSON.stringify(JSON.rawJSON('"\ud800é"')).length + JSON.stringify({ r: JSON.rawJSON("1.0") }, null, 1)`, "4{\n \"r\": 1.0\n}"},
		{`const o = JSON.parse('{"a":[1,2],"b":{"c":3}}'); o.a.push(o); try { JSON.stringify(o) } catch (e) { log.push(e.message.split("\n").length) } let d = []; for (let i = 0; i < 100000; i++) d = [d]; return JSON.stringify(d)`, `4 | RangeError: Maximum call stack size exceeded`},
		{`const f = []; for (const x of [0, -0, 1e21, 1e-7, 1e-6, 123e-20, 5e-324, 1.7976931348623157e308, 0.1 + 0.2, 2 ** 53, -(2 ** 63), 1e20, 100, 1 / 3, NaN, -Infinity]) if (JSON.stringify(x) !== (Number.isFinite(x) ? String(x) : "null")) f.push(x); return f.length`, `0`},
		{`return JSON.stringify({ und: undefined, fn() {}, [Symbol()]: 1, sym: Symbol(), arr: [undefined, () => 1, Symbol()], nan: NaN })`, `{"arr":[null,null,null],"nan":null}`},
		{`return JSON.stringify({ n: new Number(3), s: new String("x"), b: new Boolean(false), f: Object.assign(() => 1, { a: 1 }), e: new Error("no"), m: new Map([[1, 2]]), r: /x/ })`, `{"n":3,"s":"x","b":false,"e":{},"m":{},"r":{}}`},
		{`return JSON.stringify(Object.freeze(JSON.parse('{"a":{"b":[1]}}'))) + JSON.stringify(Object.seal([1]))`, `{"a":{"b":[1]}}[1]`},
	} {
		got, without := shown(a, c.source), shown(b, c.source)
		if got != c.want || without != c.want {
			t.Errorf("%s:\n    got %q\nwithout %q\n   want %q", c.source, got, without, c.want)
		}
	}
}

// A text is bounded while it grows, whatever it consists of.
func TestStringifyIsBounded(t *testing.T) {
	w := newWorld()
	for _, source := range []string{`[1, 2]`, `({ a: "x" })`, `[[]]`, `({ a: {} })`, `new Proxy([1], {})`, `new Proxy({ a: 1 }, {})`,
		// Where nothing else looks: a long text by itself.
		`"x".repeat(1 << 16)`, `"é".repeat(1 << 16)`} {
		w.e.Post(engine.GlobalFrame, "test", func() {
			v, err := w.e.VM().RunString(source)
			if err != nil {
				t.Fatal(err)
			}
			s := &stringifier{e: w.e, out: writer{extra: -engine.MaxValueBytes}} // as if there were so many units
			if err := w.e.Try(func() { s.write(v, step{index: -1}) }); err == nil || !strings.Contains(err.String(), builtin.BadStringLength) {
				t.Errorf("%s: %v", source, err)
			}
		})
		w.run()
	}
}

// A long text's room is counted before it is written, so that it grows no further.
func TestQuotedLengths(t *testing.T) {
	for _, source := range []string{"", "plain", `"\"\\`, "\x00\x1f\n\t", "a\x7fb\"", strings.Repeat(`\"`, 20)} {
		var out writer
		out.quoteASCII(source)
		if units, bytes := quotedASCII(source); units != out.length() || bytes != len(out.bytes) {
			t.Errorf("%q: counted %d units in %d bytes, written %d in %d", source, units, bytes, out.length(), len(out.bytes))
		}
	}
	for _, source := range [][]uint16{nil, {'a', 'é', '漢', '"', 1}, {0xD800}, {0xDC00, 'x'}, {'\n', 0xFFFF, 0x7FF, 0x800}} {
		var out writer
		out.quoteUnits(source)
		if units, bytes := quotedUnits(source); units != out.length() || bytes != len(out.bytes) {
			t.Errorf("%x: counted %d units in %d bytes, written %d in %d", source, units, bytes, out.length(), len(out.bytes))
		}
	}
}
