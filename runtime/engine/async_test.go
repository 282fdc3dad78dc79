package engine

import (
	"strings"
	"testing"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
)

// asyncPrograms log what they do, in their order, beside a chain of promises that
// counts the turns of the microtask queue.
var asyncPrograms = map[string]string{
	"values":        `(async () => { log(await 1); log(await undefined); return 2; })().then(log)`,
	"a promise":     `(async () => { log(await Promise.resolve(1)); return Promise.resolve(2); })().then(log)`,
	"nothing":       `(async function () {})().then(log)`,
	"throws first":  `(async () => { throw new Error("x"); })().catch((e) => log(e.message))`,
	"throws later":  `(async () => { await 1; throw new Error("x"); })().catch((e) => log(e.message))`,
	"catches":       `(async () => { try { await Promise.reject(new Error("x")); } catch (e) { log(e.message); } finally { log("finally"); } return 3; })().then(log)`,
	"thenables":     `(async () => { log(await { then(f) { log("then"); f(1); f(2); } }); return { then(f, g) { g(4); } }; })().catch(log)`,
	"bad thenables": `(async () => { try { await { get then() { throw 1; } }; } catch (e) { log(e); } try { await { then() { throw 2; } }; } catch (e) { log(e); } return { get then() { throw 3; } }; })().catch(log)`,
	"itself":        `let p = (async () => { await 0; return p; })(); p.catch((e) => log(e.name))`,
	"constructors":  `(async () => { const p = Promise.resolve(1); p.constructor = function (f) { f(() => {}, () => {}); }; log(await p); class Q extends Promise {} log(await new Q((f) => f(5))); })()`,
	"methods":       `const o = { n: 1, async m(a) { await 0; log(this.n, a, arguments.length); return (async () => this.n + arguments[1])(); } }; o.m(2, 3).then(log)`,
	"super":         `class A { async m() { return 1; } } class B extends A { async m() { await 0; return (await super.m()) + 1; } async n() { return (async () => super.m())(); } async o() { return (() => super.m())(); } } const b = new B(); b.m().then(log); b.n().then(log); b.o().then(log)`,
	"natives":       `Promise.all([1, 2, 3].map(async (x) => { await 0; return x * 2; })).then((l) => log(l.join())); Promise.resolve(7).then(async (x) => { await x; return x; }).then(log)`,
	"generators":    `(async () => { for (const p of (function* () { yield Promise.resolve(1); yield 2; })()) log(await p); })()`,
	"parameters":    `(async (a = (() => { throw new Error("early"); })()) => a)().catch((e) => log(e.message))`,
	"loops":         `(async () => { for (let i = 0; i < 5; i++) { try { if (i % 2) throw i; await i; } catch (e) { await e; continue; } finally { log(i); await 0; } } })()`,
	"side by side":  `const go = async (n) => { for (let i = 0; i < 3; i++) { await null; log(n, i); } return n; }; go("a"); go("b").then(log)`,
	"text":          `async function f(a) { return a; } log(String(f), f.name, f.length, typeof f, Object.prototype.toString.call(f), f.constructor.name, "prototype" in f); try { new f(); } catch (e) { log(e.name); }`,
	"stacks":        `async function inner() { await 0; throw new Error("x"); } async function outer() { await inner(); } outer().catch((e) => log(e.stack))`,
	"deep":          `const down = async (n) => n ? 1 + await down(n - 1) : 0; down(200).then(log)`,
}

// Async functions of programs that were instrumented do what goja's do, in as many
// turns of the microtask queue.
func TestAsyncFunctions(t *testing.T) {
	for name, body := range asyncPrograms {
		var logs [2]string
		for i := range logs {
			w := newWorld(t)
			var got []string
			if err := w.e.vm.Set("log", func(c goja.FunctionCall) goja.Value {
				for _, a := range c.Arguments {
					got = append(got, a.String())
				}
				return goja.Undefined()
			}); err != nil {
				t.Fatal(err)
			}
			program := goja.MustCompile("async.js", `{ let n = 0, tick = () => { if (n++ < 20) { log("tick"); Promise.resolve().then(tick); } }; tick(); }`+"\n{"+body+"\n}", false)
			if i == 1 && !insides.Instrument(program) {
				t.Fatal("goja has changed: internal/insides has to follow")
			}
			if _, err := w.e.vm.RunProgram(program); err != nil {
				t.Fatal(name, err)
			}
			logs[i] = strings.Join(got, " ")
		}
		if !strings.Contains(logs[0], "tick tick") {
			t.Errorf("%s: no jobs ran: %s", name, logs[0])
		}
		if logs[0] != logs[1] {
			t.Errorf("%s:\n%s, goja's:\n%s", name, logs[1], logs[0])
		}
	}
}

// A call makes neither functions nor a second promise.
func TestAsyncFunctionsAllocateLess(t *testing.T) {
	w := newWorld(t)
	var allocations [2]float64
	for i := range allocations {
		program := goja.MustCompile("async.js", `(async () => { await 1; await 2; })`, false)
		if i == 1 {
			insides.Instrument(program)
		}
		v, err := w.e.vm.RunProgram(program)
		if err != nil {
			t.Fatal(err)
		}
		fn, _ := goja.AssertFunction(v)
		allocations[i] = testing.AllocsPerRun(100, func() {
			if _, err := fn(goja.Undefined()); err != nil {
				t.Fatal(err)
			}
		})
	}
	if allocations[1] > allocations[0]*6/10 {
		t.Errorf("%v allocations, goja makes %v", allocations[1], allocations[0])
	}
}
