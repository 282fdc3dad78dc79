// The methods of Array.prototype (ECMA-262, section 23.1.3) step by step, for
// receivers whose steps can be observed: proxies, objects that are like arrays,
// arguments that user code makes. goja's own take ordinary arrays.
function (native, primordials) {
  "use strict";
  const { apply, construct, defineProperty, deleteProperty } = Reflect;
  const { isArray } = Array, { trunc, min, max } = Math;
  const { species, isConcatSpreadable, iterator: iteratorOf } = Symbol;
  const { MAX_SAFE_INTEGER } = Number, ArrayOf = Array, ObjectOf = Object, TypeErrorOf = TypeError, RangeErrorOf = RangeError;
  const isObject = (v) => (typeof v === "object" && v !== null) || typeof v === "function";
  const receiver = (v, name) => {
    if (v === undefined || v === null) throw new TypeErrorOf(`Array.prototype.${name} called on null or undefined`);
    return ObjectOf(v);
  };
  // 7.1.20, 7.1.5
  const lengthOf = (o) => {
    const n = +o.length;
    return n > 0 ? min(trunc(n), MAX_SAFE_INTEGER) : 0;
  };
  const integer = (v) => {
    const n = trunc(+v);
    return n !== n ? 0 : n + 0;
  };
  const from = (v, length) => {
    const n = integer(v);
    return n < 0 ? max(length + n, 0) : min(n, length);
  };
  const upTo = (v, length) => (v === undefined ? length : from(v, length));
  const callable = (fn) => {
    if (typeof fn !== "function") throw new TypeErrorOf(`${native.called(fn)} is not a function`);
    return fn;
  };
  // walk refuses more steps than a built-in may take without rest.
  const walk = (n) => { if (n > native.most) throw new RangeErrorOf("Invalid array length"); };
  const field = (value) => ({ __proto__: null, value, writable: true, enumerable: true, configurable: true });
  const create = (o, key, value) => {
    if (!defineProperty(o, key, field(value))) throw new TypeErrorOf(native.fixed(o, key));
  };
  const remove = (o, key) => {
    if (!deleteProperty(o, key)) throw new TypeErrorOf(`Cannot delete property '${key}' of ${native.show(o)}`);
  };
  const list = (length) => {
    if (length > 4294967295) throw new RangeErrorOf("Invalid array length");
    return new ArrayOf(length);
  };
  const speciesOf = (o, length) => { // 10.4.2.2
    if (!isArray(o)) return list(length);
    let C = o.constructor;
    if (isObject(C)) {
      C = C[species];
      if (C === null) C = undefined;
    }
    if (C === undefined) return list(length);
    if (!native.isConstructor(C)) throw new TypeErrorOf("object.constructor[Symbol.species] is not a constructor");
    return construct(C, [length]);
  };
  const spreadable = (v) => {
    if (!isObject(v)) return false;
    const s = v[isConcatSpreadable];
    return s !== undefined ? !!s : isArray(v);
  };
  const room = (n) => { if (n > MAX_SAFE_INTEGER) throw new TypeErrorOf(`Pushing elements past the length limit of ${MAX_SAFE_INTEGER}`); };
  const flatten = (target, source, length, at, depth, fn, self, level) => {
    if (level > native.deepest) throw new RangeErrorOf("Maximum call stack size exceeded");
    walk(length);
    for (let i = 0; i < length; i++) {
      if (!(i in source)) continue;
      let v = source[i];
      if (fn !== undefined) v = apply(fn, self, [v, i, source]);
      if (depth > 0 && isArray(v)) {
        at = flatten(target, v, lengthOf(v), at, depth - 1, undefined, undefined, level + 1);
      } else {
        if (at >= native.most) throw new RangeErrorOf("Invalid array length");
        create(target, at++, v);
      }
    }
    return at;
  };
  const joined = (o, separator, text) => {
    const length = lengthOf(o), between = separator === undefined ? "," : `${separator}`;
    if (length === 0) return "";
    if (length * (between.length || 1) > native.longest) throw new RangeErrorOf("Invalid string length");
    return native.cyclic(o, () => {
      const parts = [];
      for (let i = 0; i < length; i++) {
        const v = o[i];
        create(parts, i, v === undefined || v === null ? "" : text(v));
      }
      return native.join(parts, between);
    });
  };
  const find = (name, forwards, give) => ({ [name](predicate, self) {
    const o = receiver(this, name), length = lengthOf(o);
    callable(predicate);
    walk(length);
    for (let n = 0; n < length; n++) {
      const i = forwards ? n : length - 1 - n, v = o[i];
      if (apply(predicate, self, [v, i, o])) return give(v, i);
    }
    return give(undefined, -1);
  } })[name];
  const test = (name, until, otherwise) => ({ [name](fn, self) {
    const o = receiver(this, name), length = lengthOf(o);
    callable(fn);
    walk(length);
    for (let i = 0; i < length; i++) {
      if (i in o && !!apply(fn, self, [o[i], i, o]) === until) return until;
    }
    return otherwise;
  } })[name];
  const fold = (name, forwards) => ({ [name](fn, ...initial) {
    const o = receiver(this, name), length = lengthOf(o);
    callable(fn);
    walk(length);
    let n = 0, sum, known = initial.length > 0;
    if (known) sum = initial[0];
    for (; !known && n < length; n++) {
      const i = forwards ? n : length - 1 - n;
      if (i in o) { known = true; sum = o[i]; }
    }
    if (!known) throw new TypeErrorOf("Reduce of empty array with no initial value");
    for (; n < length; n++) {
      const i = forwards ? n : length - 1 - n;
      if (i in o) sum = fn(sum, o[i], i, o);
    }
    return sum;
  } })[name];
  const comparable = (fn) => {
    if (fn !== undefined && typeof fn !== "function") throw new TypeErrorOf(`The comparison function must be either a function or undefined: ${native.show(fn)}`);
  };

  return {
    at(index) {
      const o = receiver(this, "at"), length = lengthOf(o), n = integer(index);
      const k = n < 0 ? length + n : n;
      return k < 0 || k >= length ? undefined : o[k];
    },
    concat(...items) {
      const o = receiver(this, "concat"), a = speciesOf(o, 0);
      let n = 0;
      for (let at = -1; at < items.length; at++) {
        const e = at < 0 ? o : items[at];
        if (!spreadable(e)) {
          room(n + 1);
          create(a, n++, e);
          continue;
        }
        const length = lengthOf(e);
        room(n + length);
        walk(n + length);
        for (let i = 0; i < length; i++) if (i in e) create(a, n + i, e[i]);
        n += length;
      }
      a.length = n;
      return a;
    },
    copyWithin(target, start, end) {
      const o = receiver(this, "copyWithin"), length = lengthOf(o);
      let to = from(target, length), at = from(start, length);
      let count = min(upTo(end, length) - at, length - to);
      walk(count);
      let step = 1;
      if (at < to && to < at + count) {
        step = -1;
        at += count - 1;
        to += count - 1;
      }
      for (; count > 0; count--, at += step, to += step) {
        if (at in o) o[to] = o[at]; else remove(o, to);
      }
      return o;
    },
    every: test("every", false, true),
    fill(value, start, end) {
      const o = receiver(this, "fill"), length = lengthOf(o);
      let k = from(start, length);
      const last = upTo(end, length);
      walk(last - k);
      for (; k < last; k++) o[k] = value;
      return o;
    },
    filter(fn, self) {
      const o = receiver(this, "filter"), length = lengthOf(o);
      callable(fn);
      walk(length);
      const a = speciesOf(o, 0);
      let to = 0;
      for (let i = 0; i < length; i++) {
        if (!(i in o)) continue;
        const v = o[i];
        if (apply(fn, self, [v, i, o])) create(a, to++, v);
      }
      return a;
    },
    find: find("find", true, (v) => v),
    findIndex: find("findIndex", true, (v, i) => i),
    findLast: find("findLast", false, (v) => v),
    findLastIndex: find("findLastIndex", false, (v, i) => i),
    flat(depth) {
      const o = receiver(this, "flat"), length = lengthOf(o);
      const deep = depth === undefined ? 1 : max(integer(depth), 0);
      const a = speciesOf(o, 0);
      flatten(a, o, length, 0, deep, undefined, undefined, 0);
      return a;
    },
    flatMap(fn, self) {
      const o = receiver(this, "flatMap"), length = lengthOf(o);
      callable(fn);
      const a = speciesOf(o, 0);
      flatten(a, o, length, 0, 1, fn, self, 0);
      return a;
    },
    forEach(fn, self) {
      const o = receiver(this, "forEach"), length = lengthOf(o);
      callable(fn);
      walk(length);
      for (let i = 0; i < length; i++) if (i in o) apply(fn, self, [o[i], i, o]);
    },
    includes(value, start) {
      const o = receiver(this, "includes"), length = lengthOf(o);
      if (length === 0) return false;
      let k = from(start, length);
      walk(length - k);
      for (; k < length; k++) {
        const v = o[k];
        if (v === value || v !== v && value !== value) return true;
      }
      return false;
    },
    indexOf(value, start) {
      const o = receiver(this, "indexOf"), length = lengthOf(o);
      if (length === 0) return -1;
      let k = from(start, length);
      walk(length - k);
      for (; k < length; k++) if (k in o && o[k] === value) return k;
      return -1;
    },
    from(items, fn, self) { // 23.1.2.1
      const C = this;
      if (fn !== undefined) callable(fn);
      const make = native.isConstructor(C), method = items[iteratorOf];
      if (method === undefined || method === null) {
        const length = lengthOf(items), a = make ? construct(C, [length]) : list(length);
        walk(length);
        for (let i = 0; i < length; i++) create(a, i, fn === undefined ? items[i] : apply(fn, self, [items[i], i]));
        a.length = length;
        return a;
      }
      callable(method);
      const a = make ? construct(C, []) : [], iterator = apply(method, items, []);
      if (!isObject(iterator)) throw new TypeErrorOf("Result of the Symbol.iterator method is not an object");
      const { next } = iterator;
      for (let i = 0; ; i++) {
        callable(next);
        const step = apply(next, iterator, []);
        if (!isObject(step)) throw new TypeErrorOf(`Iterator result ${native.show(step)} is not an object`);
        if (step.done) {
          a.length = i;
          return a;
        }
        const { value } = step;
        try {
          create(a, i, fn === undefined ? value : apply(fn, self, [value, i]));
        } catch (error) {
          try {
            const close = iterator.return;
            if (close !== undefined && close !== null) apply(close, iterator, []);
          } catch { /* the first error counts */ }
          throw error;
        }
      }
    },
    join(separator) { return joined(receiver(this, "join"), separator, (v) => `${v}`); },
    lastIndexOf(value, ...start) {
      const o = receiver(this, "lastIndexOf"), length = lengthOf(o);
      if (length === 0) return -1;
      const n = start.length > 0 ? integer(start[0]) : length - 1;
      let k = n >= 0 ? min(n, length - 1) : length + n;
      walk(k);
      for (; k >= 0; k--) if (k in o && o[k] === value) return k;
      return -1;
    },
    map(fn, self) {
      const o = receiver(this, "map"), length = lengthOf(o);
      callable(fn);
      walk(length);
      const a = speciesOf(o, length);
      for (let i = 0; i < length; i++) if (i in o) create(a, i, apply(fn, self, [o[i], i, o]));
      return a;
    },
    pop() {
      const o = receiver(this, "pop"), length = lengthOf(o);
      if (length === 0) {
        o.length = 0;
        return undefined;
      }
      const v = o[length - 1];
      remove(o, length - 1);
      o.length = length - 1;
      return v;
    },
    push(...items) {
      const o = receiver(this, "push");
      let length = lengthOf(o);
      room(length + items.length);
      for (let i = 0; i < items.length; i++) o[length++] = items[i];
      o.length = length;
      return length;
    },
    reduce: fold("reduce", true),
    reduceRight: fold("reduceRight", false),
    reverse() {
      const o = receiver(this, "reverse"), length = lengthOf(o);
      walk(length / 2);
      for (let low = 0, high = length - 1; low < high; low++, high--) {
        const lowIs = low in o, a = lowIs ? o[low] : undefined;
        const highIs = high in o, b = highIs ? o[high] : undefined;
        if (highIs) o[low] = b; else if (lowIs) remove(o, low);
        if (lowIs) o[high] = a; else if (highIs) remove(o, high);
      }
      return o;
    },
    shift() {
      const o = receiver(this, "shift"), length = lengthOf(o);
      if (length === 0) {
        o.length = 0;
        return undefined;
      }
      walk(length);
      const first = o[0];
      for (let k = 1; k < length; k++) if (k in o) o[k - 1] = o[k]; else remove(o, k - 1);
      remove(o, length - 1);
      o.length = length - 1;
      return first;
    },
    slice(start, end) {
      const o = receiver(this, "slice"), length = lengthOf(o);
      let k = from(start, length);
      const last = upTo(end, length);
      const a = speciesOf(o, max(last - k, 0));
      walk(last - k);
      let n = 0;
      for (; k < last; k++, n++) if (k in o) create(a, n, o[k]);
      a.length = n;
      return a;
    },
    some: test("some", true, false),
    sort(fn) {
      comparable(fn);
      const o = receiver(this, "sort"), length = lengthOf(o), values = [];
      walk(length);
      let n = 0;
      for (let i = 0; i < length; i++) if (i in o) create(values, n++, o[i]);
      const sorted = native.sorted(values, fn);
      for (let i = 0; i < n; i++) o[i] = sorted[i];
      for (let i = n; i < length; i++) remove(o, i);
      return o;
    },
    splice(...args) {
      const o = receiver(this, "splice"), length = lengthOf(o), start = from(args[0], length);
      const count = args.length === 0 ? 0 : args.length === 1 ? length - start : min(max(integer(args[1]), 0), length - start);
      const added = max(args.length - 2, 0);
      room(length + added - count);
      const a = speciesOf(o, count);
      walk(added === count ? count : length - start);
      for (let i = 0; i < count; i++) if (start + i in o) create(a, i, o[start + i]);
      a.length = count;
      if (added < count) {
        for (let k = start; k < length - count; k++) {
          if (k + count in o) o[k + added] = o[k + count]; else remove(o, k + added);
        }
        for (let k = length; k > length - count + added; k--) remove(o, k - 1);
      } else if (added > count) {
        for (let k = length - count; k > start; k--) {
          if (k + count - 1 in o) o[k + added - 1] = o[k + count - 1]; else remove(o, k + added - 1);
        }
      }
      for (let i = 0; i < added; i++) o[start + i] = args[2 + i];
      o.length = length - count + added;
      return a;
    },
    toLocaleString(locales, options) {
      return joined(receiver(this, "toLocaleString"), ",", (v) => `${v.toLocaleString(locales, options)}`);
    },
    toReversed() {
      const o = receiver(this, "toReversed"), length = lengthOf(o), a = list(length);
      walk(length);
      for (let i = 0; i < length; i++) create(a, i, o[length - 1 - i]);
      return a;
    },
    toSorted(fn) {
      comparable(fn);
      const o = receiver(this, "toSorted"), length = lengthOf(o), a = list(length);
      walk(length);
      for (let i = 0; i < length; i++) create(a, i, o[i]);
      return native.sorted(a, fn);
    },
    toSpliced(...args) {
      const o = receiver(this, "toSpliced"), length = lengthOf(o), start = from(args[0], length);
      const skipped = args.length === 0 ? 0 : args.length === 1 ? length - start : min(max(integer(args[1]), 0), length - start);
      const added = max(args.length - 2, 0), whole = length + added - skipped;
      if (whole > MAX_SAFE_INTEGER) throw new TypeErrorOf("Invalid array length");
      const a = list(whole);
      walk(whole);
      let i = 0;
      for (; i < start; i++) create(a, i, o[i]);
      for (let k = 0; k < added; k++) create(a, i++, args[2 + k]);
      for (let r = start + skipped; i < whole; i++, r++) create(a, i, o[r]);
      return a;
    },
    toString() {
      const o = receiver(this, "toString"), { join } = o;
      return typeof join === "function" ? apply(join, o, []) : native.describe(o);
    },
    unshift(...items) {
      const o = receiver(this, "unshift"), length = lengthOf(o), added = items.length;
      if (added > 0) {
        room(length + added);
        walk(length);
        for (let k = length; k > 0; k--) {
          if (k - 1 in o) o[k + added - 1] = o[k - 1]; else remove(o, k + added - 1);
        }
        for (let i = 0; i < added; i++) o[i] = items[i];
      }
      o.length = length + added;
      return length + added;
    },
    with(index, value) {
      const o = receiver(this, "with"), length = lengthOf(o), n = integer(index);
      const at = n < 0 ? length + n : n;
      if (at >= length || at < 0) throw new RangeErrorOf("Invalid index : " + n);
      const a = list(length);
      walk(length);
      for (let i = 0; i < length; i++) create(a, i, i === at ? value : o[i]);
      return a;
    },
  };
}
