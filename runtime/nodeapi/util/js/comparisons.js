// Deep equality (nodejs.org/api/assert.html, "Comparison details"). In Workers
// the loose forms are strict too.
function (native, p) {
  "use strict";
  const types = native.require("util/types");
  const { ObjectIs, ObjectKeys, ObjectGetPrototypeOf, ObjectPrototypeHasOwnProperty: own, ObjectPrototypeToString: tag,
    ObjectPrototypePropertyIsEnumerable: enumerable, ObjectGetOwnPropertySymbols, ArrayIsArray, Map, Set } = p;

  const index = /^(0|[1-9]\d*)$/;
  const isIndex = (key) => index.test(key);
  const symbols = (v) => ObjectGetOwnPropertySymbols(v).filter((s) => enumerable(v, s));
  const equal = (a, b, seen) => {
    if (ObjectIs(a, b)) return true;
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
    if (ObjectGetPrototypeOf(a) !== ObjectGetPrototypeOf(b)) return false;
    if (tag(a) !== tag(b) || ArrayIsArray(a) !== ArrayIsArray(b)) return false;
    if (ArrayIsArray(a)) {
      if (a.length !== b.length) return false;
      return cyclic(a, b, seen, () => sameKeys(a, b, seen));
    }
    if (!sameBoxes(a, b, seen)) return false;
    return cyclic(a, b, seen, () => {
      if (types.isSet(a)) { if (!types.isSet(b) || a.size !== b.size || !sameSets(a, b, seen)) return false; }
      else if (types.isMap(a)) { if (!types.isMap(b) || a.size !== b.size || !sameMaps(a, b, seen)) return false; }
      return sameKeys(a, b, seen);
    });
  };

  const sameBoxes = (a, b, seen) => {
    if (types.isDate(a)) return types.isDate(b) && ObjectIs(a.getTime(), b.getTime());
    if (types.isRegExp(a)) return types.isRegExp(b) && a.source === b.source && a.flags === b.flags && a.lastIndex === b.lastIndex;
    if (a instanceof Error) {
      if (!(b instanceof Error) || a.message !== b.message || a.name !== b.name) return false;
      return !own(a, "errors") || equal(a.errors, b.errors, seen);
    }
    if (p.ArrayBufferIsView(a)) {
      if (!p.ArrayBufferIsView(b) || a.byteLength !== b.byteLength) return false;
      return native.sameBytes(a, b);
    }
    if (types.isAnyArrayBuffer(a)) return types.isAnyArrayBuffer(b) && native.sameBytes(a, b);
    if (types.isBoxedPrimitive(a)) return types.isBoxedPrimitive(b) && ObjectIs(a.valueOf(), b.valueOf());
    if (types.isPromise(a) || types.isWeakMap(a) || types.isWeakSet(a)) return false;
    return true;
  };

  // cyclic assumes that a pair which is being compared is equal: one of which
  // leads back to itself equals none but its partner.
  const cyclic = (a, b, seen, compare) => {
    for (let s = seen.top; s; s = s.up) if (s.a === a || s.b === b) return s.a === a && s.b === b;
    const up = seen.top;
    seen.top = { a, b, up };
    const result = compare();
    seen.top = up;
    return result;
  };

  const keysOf = (v) => {
    const keys = ObjectKeys(v);
    return p.ArrayBufferIsView(v) ? keys.filter((k) => !index.test(k)) : keys;
  };
  const sameKeys = (a, b, seen) => {
    const ka = keysOf(a), kb = keysOf(b);
    if (ka.length !== kb.length) return false;
    for (const k of ka) if (!own(b, k) || !enumerable(b, k)) return false;
    const sa = symbols(a);
    if (sa.length !== symbols(b).length) return false;
    for (const s of sa) {
      if (!enumerable(b, s)) return false;
      ka.push(s);
    }
    for (const k of ka) if (!equal(a[k], b[k], seen)) return false;
    return true;
  };

  const isObject = (v) => typeof v === "object" && v !== null;
  const sameSets = (a, b, seen) => {
    const rest = [];
    for (const v of a) {
      if (b.has(v)) continue;
      if (!isObject(v)) return false;
      rest.push(v);
    }
    const candidates = [...b].filter((v) => !a.has(v) && isObject(v));
    return match(rest, candidates, (x, y) => equal(x, y, seen));
  };
  const sameMaps = (a, b, seen) => {
    const rest = [];
    for (const [k, v] of a) {
      if (b.has(k) && (!isObject(k) || equal(v, b.get(k), seen))) {
        if (!equal(v, b.get(k), seen)) return false;
        continue;
      }
      if (!isObject(k)) return false;
      rest.push([k, v]);
    }
    const candidates = [...b].filter(([k]) => !a.has(k) || isObject(k));
    return match(rest, candidates, ([k, v], [l, w]) => equal(k, l, seen) && equal(v, w, seen));
  };
  const match = (rest, candidates, same) => {
    for (const x of rest) {
      const i = candidates.findIndex((y) => same(x, y));
      if (i < 0) return false;
      candidates.splice(i, 1);
    }
    return true;
  };

  // partial: every property of expected is in actual (assert.partialDeepStrictEqual).
  const partial = (actual, expected, seen) => {
    if (!isObject(expected) || !isObject(actual)) return equal(actual, expected, seen);
    const within = (v, w) => partial(v, w, seen);
    return cyclic(actual, expected, seen, () => {
      if (types.isMap(expected)) {
        return types.isMap(actual) && match([...expected], [...actual], ([k, v], [l, w]) => equal(l, k, {}) && within(w, v));
      }
      if (types.isSet(expected)) return types.isSet(actual) && match([...expected], [...actual], (v, w) => equal(w, v, {}));
      const kind = tag(expected);
      if (tag(actual) !== kind || ArrayIsArray(expected) !== ArrayIsArray(actual)) return false;
      if (ObjectGetPrototypeOf(actual) !== ObjectGetPrototypeOf(expected)) return false;
      const holds = (k) => own(actual, k) && within(actual[k], expected[k]);
      if (kind !== "[object Object]" && !ArrayIsArray(expected) && !types.isTypedArray(expected)) return equal(actual, expected, {});
      return [...ObjectKeys(expected), ...symbols(expected)].every(holds);
    });
  };

  // edits is the shortest way from expected to actual (Myers, "An O(ND) Difference
  // Algorithm"): [0, both], [1, only in actual], [-1, only in expected].
  const edits = (actual, expected) => {
    const n = actual.length, m = expected.length;
    const reach = { 1: 0 }, trace = [];
    const down = (k, d, v) => k === -d || k !== d && v[k - 1] < v[k + 1];
    search: for (let d = 0; d <= n + m; d++) {
      trace.push({ ...reach });
      for (let k = -d; k <= d; k += 2) {
        let x = down(k, d, reach) ? reach[k + 1] : reach[k - 1] + 1;
        while (x < n && x - k < m && actual[x] === expected[x - k]) x++;
        reach[k] = x;
        if (x >= n && x - k >= m) break search;
      }
    }
    const out = [];
    let x = n, y = m;
    for (let d = trace.length - 1; d >= 0; d--) {
      const v = trace[d], k = x - y;
      const fromX = v[down(k, d, v) ? k + 1 : k - 1], fromY = fromX - (down(k, d, v) ? k + 1 : k - 1);
      for (; x > fromX && y > fromY; x--, y--) out.push([0, actual[x - 1]]);
      if (d > 0) out.push(x > fromX ? [1, actual[--x]] : [-1, expected[--y]]);
    }
    return out.reverse();
  };

  return { equal: (a, b) => equal(a, b, {}), partial: (a, b) => partial(a, b, {}), edits };
}
