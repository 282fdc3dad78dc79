package lang

import (
	"testing"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
)

// What goja lacks of ECMAScript answers as workerd's V8 does, messages included.
func TestLanguage(t *testing.T) {
	newWorld(t).Tries([][2]string{
		{`Object.groupBy([1,2,3], n => n % 2 ? "odd" : "even")`, `{"odd":[1,3],"even":[2]}`},
		{`[...Map.groupBy([1,2,3], n => n % 2)].join("|")`, `1,1,3|0,2`},
		{`Object.groupBy(null, () => 1)`, `TypeError: Object.groupBy called on null or undefined`},
		{`Object.groupBy([1], 5)`, `TypeError: 5 is not a function`},
		{`Array.fromAsync([1, Promise.resolve(2), 3])`, `[1,2,3]`},
		{`Array.fromAsync({ [Symbol.asyncIterator]() { let n = 0; return { next: async () => ({ value: ++n, done: n > 2 }) } } }, async x => x * 2)`, `[2,4]`},
		{`Array.fromAsync({length: 2, 0: "a", 1: Promise.resolve("b")})`, `["a","b"]`},
		{`Array.fromAsync(null)`, `TypeError: Cannot read properties of null (reading 'Symbol(Symbol.asyncIterator)')`},
		{`["ab\ud800".isWellFormed(), "ab\ud83d\ude00".isWellFormed(), "a\ud800b".toWellFormed() === "a\ufffdb"]`, `[false,true,true]`},
		{`[1,2,3,4].values().filter(x => x % 2).map(x => x * 10).toArray()`, `[10,30]`},
		{`[..."abc"].values().drop(1).take(1).toArray()`, `["b"]`},
		{`[1,2].values().flatMap(x => [x, x]).toArray()`, `[1,1,2,2]`},
		{`[1,2,3].values().reduce((a, b) => a + b)`, `6`},
		{`[[1,2].values().some(x => x > 1), [1,2].values().every(x => x > 1), [1,2].values().find(x => x > 1)]`, `[true,false,2]`},
		{`Iterator.from({ next() { return { done: this.n > 1, value: this.n++ } }, n: 0 }).toArray()`, `[0,1]`},
		{`(() => { let closed = 0; const it = { __proto__: Iterator.prototype, next: () => ({ value: 1, done: false }), return() { closed++; return {} } }; const t = it.take(2); [...t]; it.map(x => x).return(); try { it.map(5) } catch {} return closed })()`, `3`},
		{`[1].values().take(-1)`, `RangeError: -1 must be positive`},
		{`[].values().reduce((a, b) => a)`, `TypeError: Reduce of a done iterator with no initial value`},
		{`[].values().map(5)`, `TypeError: number 5 is not a function`},
		{`new Iterator()`, `TypeError: Abstract class Iterator not directly constructable`},
		{`(() => { class I extends Iterator { next() { return { done: true } } } return [new I() instanceof Iterator, new I().toArray().length, String(new I()), String([].values().map(x => x))] })()`, `[true,0,"[object Iterator]","[object Iterator Helper]"]`},
		{`[Iterator.concat([1], new Set([2])).toArray(), typeof Iterator.prototype[Symbol.dispose]]`, `[[1,2],"function"]`},
		{`[RegExp.escape("a.b*c"), RegExp.escape("1-2"), RegExp.escape("é\n \ud800")]`, `["\\x61\\.b\\*c","\\x31\\x2d2","é\\n\\x20\\ud800"]`},
		{`RegExp.escape(5)`, `TypeError: input argument must be a string`},
		{`Error.isError(new TypeError()) + "" + Error.isError({}) + Error.isError(new DOMException())`, `truefalsefalse`},
		{`(() => { const o = {}; Error.captureStackTrace(o); return o.stack.split("\n")[0] })()`, `Error`},
		{`(() => { class E extends Error { constructor(m) { super(m); Error.captureStackTrace(this, E) } } return new E("q").stack.split("\n")[0] })()`, `Error: q`},
		{`(() => { const b = new Uint8Array([1,2,3]).buffer; const c = b.transfer(2); return [b.byteLength, b.detached, c.byteLength, new Uint8Array(c)[1]] })()`, `[0,true,2,2]`},
		{`[Math.f16round(1.337), Math.f16round(70000), Math.f16round(1e-8), Math.sumPrecise([1e20, 0.1, -1e20])]`, `[1.3369140625,null,0,0.1]`},
		{`(() => { const m = new Map(); return [m.getOrInsert("a", 1), m.getOrInsert("a", 2), m.getOrInsertComputed("b", k => k + "!")] })()`, `[1,1,"b!"]`},
		{`(() => { const o = {}; const r = new WeakRef(o); return [r.deref() === o, String(r), typeof new FinalizationRegistry(() => {}).register(o, 1)] })()`, `[true,"[object WeakRef]","undefined"]`},
		{`(() => { const s = Symbol(), r = new FinalizationRegistry(() => {}); r.register(s, 1, s); return [new WeakRef(s).deref() === s, r.unregister(s), r.unregister(s)] })()`, `[true,true,false]`},
		{`new WeakRef(5)`, `TypeError: WeakRef: invalid target`},
		{`new FinalizationRegistry(5)`, `TypeError: FinalizationRegistry: cleanup must be callable`},
	})
}

// Code is not made from strings in a handler, however the constructors are
// reached; while the global scope runs it is.
func TestCodeGeneration(t *testing.T) {
	w := newWorld(t)
	w.Tries([][2]string{
		{`eval("1 + 1")`, `EvalError: Code generation from strings disallowed for this context`},
		{`new Function("return 1")`, `EvalError: Code generation from strings disallowed for this context`},
		{`(0, eval)(5)`, `EvalError: Code generation from strings disallowed for this context`},
		{`(async () => {}).constructor("return 1")`, `EvalError: Code generation from strings disallowed for this context`},
		{`(function* () {}).constructor("yield 1")`, `EvalError: Code generation from strings disallowed for this context`},
		{`(() => {}).constructor("return 1")`, `EvalError: Code generation from strings disallowed for this context`},
		{`[(() => {}) instanceof Function, Function.prototype.constructor === Function, Function.name, Function.length, class {} instanceof Function]`, `[true,true,"Function",1,true]`},
		{`(() => { class F extends Function {} ; return new F("x") })()`, `EvalError: Code generation from strings disallowed for this context`},
	})
	w.Realm.Engine.Post(engine.GlobalFrame, "load", func() {
		v, err := w.Realm.VM.RunString(`eval("1 + 1") + new Function("a", "return a")(40) + (() => {}).constructor("return 0")()`)
		if err != nil || v.ToInteger() != 42 {
			t.Errorf("in the global scope: %v %v", v, err)
		}
		w.Off[compat.AllowEvalDuringStartup] = true
		if _, err := w.Realm.VM.RunString(`eval("1")`); err == nil {
			t.Error("eval works against the compatibility flag")
		}
	})
	for w.Sched.Step() {
	}
}
