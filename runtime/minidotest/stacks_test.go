package minidotest

import "testing"

// What code reads as an error's stack has V8's form, with the places of the
// source (V8's stack trace API).
func TestStacksAreV8s(t *testing.T) {
	w := NewWorker(t, `
class Mine extends Error {}
function inner() { throw new TypeError("bad"); }
const outer = () => inner();
const thrown = (f: () => unknown) => { try { f(); } catch (e) { return (e as Error).stack; } };
const with_ = (set: object, f: () => unknown) => { Object.assign(Error, set); try { return f(); } finally { Error.stackTraceLimit = 10; Error.prepareStackTrace = undefined; } };
const ours = (stack?: string) => stack!.split("\n").filter((line) => !line.includes("harness.js"));
const deep = (n: number): string | undefined => n > 0 ? deep(n - 1) : new Error("deep").stack;
export default serve({
  thrown: () => ours(thrown(outer)),
  mine: () => ours(new Mine("own class").stack),
  dom: () => ours(new DOMException("gone", "AbortError").stack),
  captured() { const o: { stack?: string } = {}; Error.captureStackTrace(o); return ours(o.stack); },
  ten: () => deep(20)!.split("\n").length,
  limited: () => with_({ stackTraceLimit: 1 }, () => deep(1)),
  unlimited: () => with_({ stackTraceLimit: "no number" }, () => deep(1) === undefined),
  prepared: () => with_({ prepareStackTrace: (e: Error, sites: NodeJS.CallSite[]) => e.message + sites[0].getFunctionName() }, () => deep(0)),
  absent: () => [(undefined as unknown as Error)?.stack === undefined, ours(thrown(() => (null as unknown as { a: Error }).a.stack))[0]],
  optional: () => [(new Error("x") as Error | undefined)?.stack?.split("\n")[0], ({ a: undefined } as { a?: { b: Error } }).a?.b.stack === undefined],
  written() { const e = new Error("x"); e.stack = "own"; e.stack += "!"; const all = [e.stack]; delete e.stack; return [...all, e.stack === undefined]; },
  others: () => { const parser = { stack: [1, 2] }; parser.stack.push(3); return parser.stack.length; },
  descriptor() { const e = new Error("x"); e.stack; const d = Object.getOwnPropertyDescriptor(e, "stack")!; return [typeof d.get, typeof d.set, d.get!.name, "value" in d, d.enumerable, d.configurable, Object.getOwnPropertyNames(e), Object.keys(e)]; },
  shared: () => Object.getOwnPropertyDescriptor(new Error("a"), "stack")!.get === Object.getOwnPropertyDescriptor(new Error("b"), "stack")!.get,
  destructured() { const { stack } = new Error("x"); return ours(stack); },
  parameter: () => ours((({ stack }) => stack)(new Error("x"))),
  caught() { try { (null as any).x; } catch ({ stack }: any) { return ours(stack); } },
  computed() { const key = "sta" + "ck"; return ours((new Error("x") as any)[key]); },
  reflected: () => ours(Reflect.get(new Error("x"), "stack")),
  byDescriptor() { const e = new Error("x"); return ours(Object.getOwnPropertyDescriptor(e, "stack")!.get!.call(e)); },
  logged() { const e = new Error("x"); console.error(e); const { stack } = e; return ours(stack); },
  domDestructured() { const { stack } = new DOMException("gone", "AbortError"); return ours(stack); },
  unchanged() { const e = new Error("x"), { stack } = e; e.message = "y"; e.name = "Z"; return [e.stack === stack, stack!.split("\n")[0]]; },
  writtenUnread() { const e = new Error("x"); e.stack = "own"; const { stack } = e; return [stack, typeof Object.getOwnPropertyDescriptor(e, "stack")!.get]; },
});`, Options{})
	for name, want := range map[string]string{
		"thrown":     `["TypeError: bad","    at inner (worker.ts:5:26)","    at outer (worker.ts:6:21)","    at thrown (worker.ts:7:46)","    at thrown (worker.ts:12:22)"]`,
		"mine":       `["Error: own class","    at mine (worker.ts:13:20)"]`,
		"dom":        `["AbortError: gone","    at dom (worker.ts:14:19)"]`,
		"captured":   `["Error","    at Object.captured (worker.ts:15:56)"]`,
		"ten":        `11`,
		"limited":    `"Error: deep\n    at deep (worker.ts:10:71)"`,
		"unlimited":  `true`,
		"prepared":   `"deepdeep"`,
		"absent":     `[true,"TypeError: Cannot read properties of null (reading 'a')"]`,
		"optional":   `["Error: x",true]`,
		"written":    `["own!",true]`,
		"others":     `3`,
		"descriptor": `["function","function","",false,false,true,["stack","message"],[]]`,
		"shared":     `true`,

		"destructured":    `["Error: x","    at Object.destructured (worker.ts:26:38)"]`,
		"parameter":       `["Error: x","    at parameter (worker.ts:27:48)"]`,
		"caught":          `["TypeError: Cannot read properties of null (reading 'x')","    at Object.caught (worker.ts:28:34)"]`,
		"computed":        `["Error: x","    at Object.computed (worker.ts:29:55)"]`,
		"reflected":       `["Error: x","    at reflected (worker.ts:30:37)"]`,
		"byDescriptor":    `["Error: x","    at Object.byDescriptor (worker.ts:31:30)"]`,
		"logged":          `["Error: x","    at Object.logged (worker.ts:32:24)"]`,
		"domDestructured": `["AbortError: gone","    at Object.domDestructured (worker.ts:33:41)"]`,
		"unchanged":       `[true,"Error: x"]`,
		"writtenUnread":   `["own","function"]`,
	} {
		w.Want(`{"ok":`+want+`}`, "!"+name)
	}
}

// V8's stack trace API: methods are shown with the class of their receiver, what
// constructs with new, what waits with async, and the built-ins that called back;
// call sites say the same. The lines are workerd's.
func TestNamesInStacks(t *testing.T) {
	w := NewWorker(t, `
const lines = (e: unknown) => (e as Error).stack!.split("\n").slice(1).map((l) => l.replace(/\(?worker.ts:\d+:\d+\)?/, "@").trim()).filter((l) => !l.includes("harness.js"));
const first = (f: () => unknown, n = 1) => { try { return lines(f()).slice(0, n); } catch (e) { return lines(e).slice(0, n); } };
class Foo {
  constructor(fail?: boolean) { if (fail) throw new Error("c"); }
  method() { return new Error("m"); }
  static make() { return new Error("s"); }
  get value() { return new Error("g"); }
  #own() { return new Error("p"); }
  callsOwn() { return this.#own(); }
  async later() { await null; return new Error("l"); }
  [Symbol.iterator]() { return new Error("i"); }
}
class Bar extends Foo { method() { return super.method(); } }
const object = { m() { return new Error(); }, named: function nm() { return new Error(); } };
function Ctor(this: { e: Error }) { this.e = new Error(); }
function plain() { return new Error("plain"); }
async function a1() { await null; return new Error("a1"); }
async function a2() { return await a1(); }
class Caller { own = null as any; arrow: () => Error; constructor() { this.own = plain(); this.arrow = () => plain(); } }
class Base { e: Error; constructor() { this.e = new Error(); } }
class Derived extends Base { constructor() { super(); } }
class Failure extends Error { constructor(m: string) { super(m); this.name = "Failure"; } }
class Deep extends Failure { at = 1; constructor() { super("deep"); } }
class Quota extends TypeError {}
const fails = (make: () => Error) => make();
class Holder { e: Error; constructor() { this.e = new Deep(); } }
const sites = (f: () => Error) => { const old = Error.prepareStackTrace; Error.prepareStackTrace = (e, s) => s; try { const s = f().stack as unknown as NodeJS.CallSite[]; return s.slice(0, 2).map((c) => [c.getFunctionName(), c.getTypeName(), c.getMethodName(), c.isToplevel(), c.isConstructor(), c.isNative()]); } finally { Error.prepareStackTrace = old; } };
export default serve({
  methods: () => [first(() => new Foo().method()), first(() => new Bar().method(), 2), first(() => Foo.make()), first(() => new Foo().value), first(() => new Foo().callsOwn(), 2), first(() => new Foo()[Symbol.iterator]()), first(() => object.m()), first(() => object.named())],
  constructions: () => [first(() => new Foo(true)), first(() => new (Ctor as any)().e), first(() => new Caller().own, 2), first(() => new Caller().arrow(), 2), first(() => new Derived().e, 2), first(() => Reflect.construct(Ctor, []).e)],
  classes: () => [first(() => fails(() => new Failure("x")), 2), first(() => fails(() => new Deep()), 2), first(() => new Holder().e), first(() => fails(() => new Quota()), 2), first(() => new Error())],
  receivers: () => [first(plain), first(() => plain.call(1 as any)), first(() => new Proxy({}, { get() { return new Error(); } } as any).a), first(() => String({ toString() { throw new Error(); } }))],
  builtins: () => [first(() => [1].map(function cb() { return new Error(); })[0], 2), first(() => JSON.parse("{")), first(() => "a".replace("a", () => { throw new Error(); }), 2), first(() => new Map([[1, 2]]).forEach(() => { throw new Error(); }), 2), first(() => (1).toFixed(200)), first(() => [2, 1].sort(() => { throw new Error(); }), 2)],
  waiting: async () => [lines(await a2()), lines(await new Foo().later())],
  sites: () => [sites(() => new Foo().method()), sites(() => { try { return new Foo(true) as any; } catch (e) { return e; } }), sites(() => [1].map(() => new Error())[0])],
  above() { const o: { stack?: string } = {}; const inner = () => Error.captureStackTrace(o, outer), outer = () => inner(); outer(); return lines(o).slice(0, 1); },
});`, Options{})
	for name, want := range map[string]string{
		"methods":       `[["at Foo.method @"],["at Bar.method @","at Bar.method @"],["at Foo.make @"],["at get value @"],["at #own @","at Foo.callsOwn @"],["at [Symbol.iterator] @"],["at Object.m @"],["at Object.nm [as named] @"]]`,
		"constructions": `[["at new Foo @"],["at new Ctor @"],["at plain @","at new Caller @"],["at plain @","at @"],["at new Base @","at new Derived @"],["at new Ctor @"]]`,
		"classes":       `[["at @","at fails @"],["at @","at fails @"],["at new Holder @"],["at @","at fails @"],["at @"]]`,
		"receivers":     `[["at plain @"],["at Number.plain @"],["at Object.get @"],["at Object.toString @"]]`,
		"builtins":      `[["at cb @","at Array.map (<anonymous>)"],["at JSON.parse (<anonymous>)"],["at @","at String.replace (<anonymous>)"],["at @","at Map.forEach (<anonymous>)"],["at Number.toFixed (<anonymous>)"],["at @","at Array.sort (<anonymous>)"]]`,
		"waiting":       `[["at a1 @","at async a2 @","at async waiting @"],["at Foo.later @","at async waiting @"]]`,
		"sites":         `[[["method","Foo","method",false,false,false],[null,null,null,true,false,false]],[["Foo",null,null,false,true,false],[null,null,null,true,false,false]],[[null,null,null,true,false,false],["map","Array","map",false,false,false]]]`,
		"above":         `["at Object.above @"]`,
	} {
		w.Want(`{"ok":`+want+`}`, "!"+name)
	}
}
