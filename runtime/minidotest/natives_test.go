package minidotest

import (
	"strings"
	"testing"
)

// nativesWorker keeps built-ins busy with each other, where no JavaScript runs.
const nativesWorker = `
function* endless() { yield* endless(); }
const nested = (depth, leaf = []) => { let a = leaf; for (let i = 0; i < depth; i++) a = [a]; return a; };
const doubled = () => { let a = [1]; for (let i = 0; i < 60; i++) a = [a, a]; return a; };
const far = (method, ...args) => Array.prototype[method].call({ length: 2 ** 53 - 1 }, ...args);
export class H extends DurableObject {
  ok() { return "ok"; }
  run(name) {
    const tries = {
      delegation: () => endless().next(), trim: () => ({ toString: String.prototype.trim }) + "",
      getter: () => Object.defineProperty({}, "length", { get: Array.prototype.pop }).length,
      bound: () => { const a = []; const f = a.forEach.bind(a); a.push(f); f(f); },
      platform: () => { const o = {}; o.toString = TextEncoder.prototype.encode.bind(new TextEncoder(), o); return o + ""; },
      stringify: () => JSON.stringify(nested(6000)), listed: () => JSON.stringify(nested(6000), ["a"]), join: () => String(nested(10000)), flat: () => nested(6000).flat(Infinity),
      parse: () => JSON.parse("[".repeat(1e6)),
      target: () => { const t = {}; Object.setPrototypeOf(t, new Proxy(t, {})); return t.x; },
      handler: () => { const h = {}; h.__proto__ = new Proxy({}, h); return h.x; },
      forEach: () => far("forEach", Object), indexOf: () => far("indexOf", 1), slice: () => far("slice"), shift: () => far("shift"),
      apply: () => Math.max.apply(null, { length: 1e9 }), reflect: () => Reflect.apply(Math.max, null, { length: 1e9 }), raw: () => String.raw({ raw: { length: 1e12 } }),
      doubledFlat: () => doubled().flat(Infinity), list: () => JSON.stringify({}, new Proxy([], { get: () => 1e9 })),
      asUintN: () => BigInt.asUintN(2 ** 40, -1n), digits: () => BigInt("9".repeat(1e6)), shiftLeft: () => 1n << 2n ** 40n, shiftRight: () => 1n >> -(2n ** 40n), power: () => 3n ** 2n ** 40n,
      copied: () => ({ ..."x".repeat(1e6) }), copiedAll: () => ({ ...new Array(3e6).fill(0) }),
      less: () => 10n < "1".repeat(1e6), greater: () => "1".repeat(1e6) > 10n, equal: () => 10n == "1".repeat(1e6), unequal: () => "1".repeat(1e6) != 10n,
      url: () => new URL("https://x/" + "é".repeat(5e6)), urlPart: () => { new URL("https://x/").search = "é".repeat(5e6); }, order: () => "é".repeat(2e6).localeCompare("é".repeat(2e6) + "a"), collator: () => new Intl.Collator().compare("é".repeat(2e6), "f".repeat(2e6)),
      tag: () => Intl.getCanonicalLocales("en-x" + "-abcdefgh".repeat(1e6)),
      product: () => { const a = 1n << 2n ** 23n; return a * a; }, quotient: () => { const o = { a: 1n << 2n ** 23n }; return o.a / o.a; },
      remainder: () => { let a = 1n << 2n ** 23n; a %= -a; }, hidden: () => 3n * { valueOf: () => 1n << 2n ** 23n },
      assigned: () => { let a = 1n; a <<= 2n ** 40n; }, raised: () => { const o = { a: 3n }; o.a **= 2n ** 40n; },
    };
    try { tries[name](); return "ended"; } catch (e) { return e.name; }
  }
  spin(name) {
    const spins = {
      spread: () => [...Array.prototype.values.call({ length: 2 ** 53 - 1 })], from: () => Array.from(Array.prototype.keys.call({ length: 2 ** 53 - 1 })),
      locales: () => Intl.getCanonicalLocales({ length: 2 ** 53 - 1 }),
      replace: () => { for (;;) "xy".repeat(4e7).replaceAll("x", "z"); }, replaceRegExp: () => { for (;;) "xy".repeat(4e7).replace(/x/g, "z"); },
      normalize: () => { for (;;) "\u00e9".repeat(4e7).normalize("NFKD"); },
      set: () => new Set(Array.prototype.values.call({ length: 2 ** 53 - 1 })), join: () => String(doubled()), stringify: () => JSON.stringify(doubled()),
      replaced: () => JSON.stringify(doubled(), (k, v) => v), listed: () => { let o = {}; for (let i = 0; i < 60; i++) o = { a: o, b: o, c: 1 }; return JSON.stringify(o, ["b", "a"]); },
    };
    spins[name]();
    return "ended";
  }
}
export default serve({
  harmless() {
    const o = { b: 1, a: { b: [2, { b: 3, c: 4 }], c: 5 }, toJSON(k) { return { ...this, toJSON: undefined, k }; } };
    const circle = { a: 1 }; circle.b = circle;
    const thrown = (fn) => { try { return fn(); } catch (e) { return e.name; } };
    return [JSON.stringify(o, ["a", "b"]), JSON.stringify(o, (k, v) => typeof v === "number" ? v + 1 : v), JSON.stringify([new Number(1), new String("x"), Object(2n) === 1, undefined, () => 1, new Date(0)], ["x"]),
      JSON.stringify({ a: [1] }, null, 2), JSON.stringify({ a: 1, 2: 3 }, [2, new String("a"), "a", {}]), thrown(() => JSON.stringify(circle, ["a", "b"])), JSON.stringify(circle, ["a"]),
      JSON.stringify({ toJSON: () => JSON.stringify({ a: [1] }) }), String(BigInt.asUintN(2 ** 40, 5n)), String(BigInt.asIntN(2 ** 40, -5n)), String(BigInt.asUintN(8, -1n)),
      String(2n ** 64n), String(1n << 65n), String(-1n >> 2n ** 40n), 2 ** 3 ** 2, (-2) ** 2, 1 << 33, -1 >>> 28, 5 << { valueOf: () => 2 }, String(1n << { valueOf: () => 2n }), thrown(() => 1n << 1), thrown(() => 1n ** 1),
      [[1, [2, [3]]]].flat(Infinity).length, [..."abc"].join.name, Object.getPrototypeOf(Object.setPrototypeOf({}, Array.prototype)) === Array.prototype, Object.getPrototypeOf(Object.setPrototypeOf({}, new Proxy({}, {}))) !== null];
  },
});
`

// Built-ins that call each other without end, and those that are asked to walk
// far more than can exist, throw a RangeError (or a TypeError, where the search
// for a property would never end); others go on.
func TestNativesAreBounded(t *testing.T) {
	w := NewWorker(t, nativesWorker, Options{})
	for _, name := range strings.Fields(`delegation trim getter bound platform stringify join flat parse forEach indexOf slice shift apply reflect raw
doubledFlat list asUintN digits shiftLeft shiftRight power product quotient remainder hidden
assigned raised tag copied copiedAll less greater equal unequal url urlPart order collator`) {
		if got := w.Call("H/a/run", name); got != `{"ok":"RangeError"}` {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, name := range []string{"target", "handler"} {
		if got := w.Call("H/a/run", name); got != `{"ok":"TypeError"}` {
			t.Errorf("%s: %s", name, got)
		}
	}
	w.Want(`{"ok":["{\"a\":{\"b\":[2,{\"b\":3}]},\"b\":1}","{\"b\":2,\"a\":{\"b\":[3,{\"b\":4,\"c\":5}],\"c\":6},\"k\":\"\"}","[1,\"x\",false,null,null,\"1970-01-01T00:00:00.000Z\"]",`+
		`"{\n  \"a\": [\n    1\n  ]\n}","{\"2\":3,\"a\":1}","TypeError","{\"a\":1}","\"{\\\"a\\\":[1]}\"","5","-5","255",`+
		`"18446744073709551616","36893488147419103232","-1",512,4,2,15,20,"4","TypeError","TypeError",3,"join",true,true]}`, "!harmless")
	w.Want(`{"ok":"ok"}`, "H/a/ok")
}

// What built-ins do without end, or for an age, is stopped as JavaScript is.
func TestCPULimitOfNatives(t *testing.T) {
	w := NewWorker(t, nativesWorker, Options{TurnLimit: testTurnLimit})
	for _, name := range strings.Fields("spread from set join stringify replaced listed replace replaceRegExp locales normalize") {
		if got := w.Call("H/a/spin", name); strings.HasPrefix(got, `{"ok"`) || strings.Contains(got, "TypeError") {
			t.Errorf("%s: %s", name, got)
		}
		w.Want(`{"ok":"ok"}`, "H/a/ok")
	}
}
