package ecma

import "testing"

// Long arrays are filled in one go, and end as if each item had been set: also where a setter, a
// fixed item or an array that takes no more stands in the way.
func TestFill(t *testing.T) {
	for source, want := range map[string]string{
		`(() => { const a = new Array(1000).fill(7); return [a.length, a[0], a[999], Object.keys(a).length, a.push(1), a.length].join(); })()`:   "1000,7,7,1000,1001,1001",
		`(() => { const a = new Array(1000).fill(); return [a.includes(undefined), 999 in a, a.at(-1)].join(); })()`:                             "true,true,",
		`(() => { const a = Array.from({ length: 1000 }, (_, i) => i).fill("x"); return a.every((v) => v === "x") + "," + a.length; })()`:        "true,1000",
		`(() => { const a = new Array(1000).fill(7, 998); return [997 in a, a[998], a[999]].join(); })()`:                                        "false,7,7",
		`(() => { const a = Object.preventExtensions(new Array(1000)); try { a.fill(1); } catch (e) { return e.name + (0 in a); } })()`:          "TypeErrorfalse",
		`(() => { const a = Object.preventExtensions(new Array(1000).fill(1)); return a.fill(2)[999]; })()`:                                      "2",
		`(() => { const a = new Array(1000).fill(1); a.length = 500; a.fill(2); return [a.length, a[499], 500 in a].join(); })()`:                "500,2,false",
		`(() => { const a = Object.freeze(new Array(1000).fill(1)); try { a.fill(2); } catch (e) { return e.name + a[0]; } })()`:                 "TypeError1",
		`(() => { let n = 0; const a = new Array(1000); Object.defineProperty(a, 5, { set() { n++; } }); a.fill(1); return n + "," + a[6]; })()`: "1,1",
		`(() => { let n = 0; Object.defineProperty(Array.prototype, "3", { set() { n++; }, configurable: true });
			const a = new Array(1000).fill(1); delete Array.prototype[3]; return n + "," + (3 in a) + a[4]; })()`: "1,false1",
		`(() => { let n = 0; Object.defineProperty(Object.prototype, "3", { set() { n++; }, configurable: true });
			const a = new Array(1000).fill(1); delete Object.prototype[3]; return n + "," + (3 in a) + a[4]; })()`: "1,false1",
		`(() => { let n = 0; const a = new Array(1000); Object.setPrototypeOf(a, new Proxy(Array.prototype, { set(...args) { n++; return Reflect.set(...args); } }));
			Array.prototype.fill.call(a, 1); return n + "," + a[999]; })()`: "1000,1",
	} {
		evaluates(t, source, want)
	}
}

// The characters of a very long text are not listed; those of a long one are.
func TestKeysOfText(t *testing.T) {
	for source, want := range map[string]string{
		`Object.keys("x".repeat(1e5)).length`: "100000",
		`Object.keys("x".repeat(3e6))`:        "RangeError: Invalid array length",
		`Object.entries("x".repeat(3e6))`:     "RangeError: Invalid array length",
	} {
		evaluates(t, source, want)
	}
}

// What would fill the memory is refused before it is made: more elements become properties,
// pairs or descriptions than there is room for.
func TestPropertiesOfLongArrays(t *testing.T) {
	for source, want := range map[string]string{
		`Object.keys(Object.assign({}, new Array(1e5).fill(1))).length`: "100000",
		`Object.assign([], new Array(3e6).fill(1)).length`:              "RangeError: Invalid array length",
		`Object.assign({}, new Array(3e6).fill(1))`:                     "RangeError: Invalid array length",
		`Object.entries(new Array(1e5).fill(1)).length`:                 "100000",
	} {
		evaluates(t, source, want)
	}
}

// A long array that grows by push or by an element behind its last one is copied in steps
// (internal/stepwise); what it holds stays, and so does what an array with holes is.
func TestLongArraysGrow(t *testing.T) {
	for source, want := range map[string]string{
		`(() => { const a = []; for (let i = 0; i < 3e5; i++) a.push(i); return a.length + " " + a.every((v, i) => v === i); })()`:                 "300000 true",
		`(() => { const a = []; for (let i = 0; i < 3e5; i++) a[i] = i; return a.length + " " + a.every((v, i) => v === i); })()`:                  "300000 true",
		`(() => { const a = new Array(7e4).fill(1), n = a.push(...new Array(5e4).fill(2)); return [n, a[69999], a[70000], a[119999]].join(); })()`: "120000,1,2,2",
		`(() => { const a = new Array(7e4).fill(1); a[1e9] = 2; a.push(3); return [a.length, a[1e9], Object.keys(a).length].join(); })()`:          "1000000002,2,70002",
		`(() => { const a = Object.freeze(new Array(7e4).fill(1)); a.push(2) })()`:                                                                 "TypeError: Cannot add property 70000, object is not extensible",
	} {
		evaluates(t, source, want)
	}
}

// sort and toSorted without a function make the text of each value once, and stop where the
// worker's time is over.
func TestSortsByText(t *testing.T) {
	evaluates(t, `[3, 20, 100, undefined, null, true, "b", 1n, -0, NaN, undefined, "\u{1F600}", "\uFFFF", "é"].sort().join("|")`, "0|1|100|20|3|NaN|b||true|é|\U0001F600|\uffff||")
	for source, want := range map[string]string{
		`(() => { const a = ["b", "a", , "c"]; return [a.sort() === a, a.length, 3 in a, a.join()].join(" ") })()`:                             "true 4 false a,b,c,",
		`(() => { const a = [2, 1], b = a.toSorted(); return [a.join(), b.join(), b !== a].join(" ") })()`:                                     "2,1 1,2 true",
		`(() => { let n = 0; const o = (t) => ({ toString() { n++; return t } }); return ["" + [o("b"), o("a")].sort(), n > 1].join(" ") })()`: "a,b true",
		`[Symbol("x"), 1].sort()`:      "TypeError: Cannot convert a Symbol value to a string",
		`Object.freeze([2, 1]).sort()`: "TypeError: Cannot assign to read only property '0' of object '[object Array]'",
		`(() => { const a = []; for (let i = 0; i < 2e5; i++) a.push(i * 7919 % 200003); a.sort(); return a.every((v, i) => i === 0 || String(a[i - 1]) <= String(v)) })()`: "true",
	} {
		evaluates(t, source, want)
	}
}
