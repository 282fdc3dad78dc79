package ecma

import "testing"

// ECMA-262, section 9.14: symbols can be held weakly, but for those that
// Symbol.for gives; well-known ones can.
func TestSymbolsAsWeakKeys(t *testing.T) {
	for source, want := range map[string]string{
		`(() => { const a = Symbol("a"), m = new WeakMap([[a, 1], [Symbol.iterator, 2]]); m.set(a, 3); return [m.get(a), m.get(Symbol.iterator), m.has(Symbol("a")), m.delete(a), m.has(a), m.delete(a)] })()`: "3,2,false,true,false,false",
		`(() => { const a = Symbol("a"), s = new WeakSet([a]); return [s.has(a), s.add(Symbol.hasInstance) === s, s.has(Symbol.hasInstance), s.delete(a), s.has(a)] })()`:                                      "true,true,true,true,false",
		`(() => { const m = new WeakMap(), n = new WeakMap(), a = Symbol(), o = {}; m.set(a, 1).set(o, 2); n.set(a, 3); return [m.get(a), m.get(o), n.get(a), n.has(o)] })()`:                                  "1,2,3,false",
		`new WeakMap().set(Symbol.for("x"), 1)`: "TypeError: Invalid value used as weak map key",
		`new WeakMap([[Symbol.for("x"), 1]])`:   "TypeError: Invalid value used as weak map key",
		`new WeakSet().add(Symbol.for("x"))`:    "TypeError: Invalid value used in weak set",
		`new WeakSet(["x"])`:                    "TypeError: Invalid value used in weak set",
		`new WeakMap().set(1)`:                  "TypeError: Invalid value used as weak map key",
		`[new WeakMap().get(Symbol.for("x")), new WeakMap().has(1), new WeakSet().delete(Symbol.for("x")), new WeakMap().delete()]`: ",false,false,false",
		`WeakMap.prototype.set.call({}, Symbol(), 1)`:         "TypeError: Method WeakMap.prototype.set called on incompatible receiver #<Object>",
		`WeakSet.prototype.add.call(new WeakMap(), Symbol())`: "TypeError: Method WeakSet.prototype.add called on incompatible receiver #<WeakMap>",
		`[WeakMap.prototype.set.length, WeakMap.prototype.get.name, WeakSet.prototype.add.length, Object.keys(WeakMap.prototype).length]`:      "2,get,1,0",
		`(() => { class M extends WeakMap { set(k, v) { return super.set(k, v * 2) } } const a = Symbol(); return new M([[a, 2]]).get(a) })()`: "4",
	} {
		evaluates(t, source, want)
	}
}

// WeakMaps and WeakSets know their keys, and no others, whatever kind of object a key is and becomes.
func TestObjectsAsWeakKeys(t *testing.T) {
	const kinds = `[{}, [], () => {}, new (class {})(), Object.create(null), Object.freeze({}), new Date(), new Map(), Math, JSON, Reflect, RegExp.prototype, Object.prototype, Array.prototype, globalThis, /x/, new Proxy({}, {})]`
	for source, want := range map[string]string{
		kinds + `.map((key) => {
			const m = new WeakMap(), n = new WeakMap(), s = new WeakSet();
			const before = [m.has(key), m.get(key), m.delete(key), s.has(key), s.delete(key)];
			m.set(key, 1), s.add(key);
			const during = [m.has(key), m.get(key), n.has(key), n.get(key), s.has(key)];
			return [before, during, m.delete(key), m.has(key), s.delete(key), s.has(key)].join();
		}).filter((got) => got !== "false,,false,false,false,true,1,false,,true,true,false,true,false").length`: "0",
		`(() => { const m = new WeakMap(), a = []; m.set(a, 1); a[1e6] = 1; delete a[1e6]; return m.get(a) })()`:                                           "1",
		`(() => { const m = new WeakMap(); m.set(RegExp.prototype, 1); RegExp.prototype.exec = RegExp.prototype.exec; return m.get(RegExp.prototype) })()`: "1",
		`(() => { const o = {}, m = new WeakMap([[o, 1]]), s = new WeakSet([o]); return [m.get(o), s.has(o), m.get({}), s.has({})] })()`:                   "1,true,,false",
		`(() => { class M extends WeakMap {} const o = {}, m = new M([[o, 1]]); return [m.get(o), m.get({}), m.has({})] })()`:                              "1,,false",
		`WeakMap.prototype.get.call(new WeakSet(), {})`: "TypeError: Method WeakMap.prototype.get called on incompatible receiver #<WeakSet>",
		`WeakSet.prototype.has.call({}, {})`:            "TypeError: Method WeakSet.prototype.has called on incompatible receiver #<Object>",
		`WeakMap.prototype.has.call(undefined, {})`:     "TypeError: Method WeakMap.prototype.has called on incompatible receiver undefined",
		`new Proxy(new WeakMap(), {}).has({})`:          "TypeError: Method WeakMap.prototype.has called on incompatible receiver #<WeakMap>",
	} {
		evaluates(t, source, want)
	}
}
