package minidotest

import "testing"

// What code reads as an error's stack has V8's form, with the places of the
// source (V8's stack trace API), but for the classes of methods ("Object.thrown").
func TestStacksAreV8s(t *testing.T) {
	w := newTest(t, `
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
  descriptor() { const e = new Error("x"); e.stack; const d = Object.getOwnPropertyDescriptor(e, "stack")!; return [typeof d.value, d.writable, d.enumerable, d.configurable, Object.keys(e)]; },
});`, Options{})
	for name, want := range map[string]string{
		"thrown":     `["TypeError: bad","    at inner (worker.ts:5:26)","    at outer (worker.ts:6:21)","    at thrown (worker.ts:7:46)","    at thrown (worker.ts:12:22)"]`,
		"mine":       `["Error: own class","    at mine (worker.ts:13:20)"]`,
		"dom":        `["AbortError: gone","    at dom (worker.ts:14:19)"]`,
		"captured":   `["Error","    at captured (worker.ts:15:56)"]`,
		"ten":        `11`,
		"limited":    `"Error: deep\n    at deep (worker.ts:10:71)"`,
		"unlimited":  `true`,
		"prepared":   `"deepdeep"`,
		"absent":     `[true,"TypeError: Cannot read properties of null (reading 'a')"]`,
		"optional":   `["Error: x",true]`,
		"written":    `["own!",true]`,
		"others":     `3`,
		"descriptor": `["string",true,false,true,[]]`,
	} {
		w.want(`{"ok":`+want+`}`, "!"+name)
	}
}
