// The methods of %TypedArray%.prototype (ECMA-262, 23.2.3) for views on
// resizable buffers: the length is what it was at the beginning, as the
// specification has it, whatever user code does to the buffer meanwhile. What
// is gone reads as undefined and takes no writes.
function (native, primordials) {
  "use strict";
  const {
    apply, ArrayPrototypePush, ArrayPrototypeSort, ArrayPrototypeJoin, ObjectGetOwnPropertyDescriptor, ReflectHas, Symbol,
    Array, BigInt, Number, String, TypeError, TypedArray, MathTrunc, MathMax, MathMin,
  } = primordials;
  const proto = TypedArray.prototype;
  const { keys } = proto; // throws if the view is out of bounds or its buffer detached
  const lengthOf = ObjectGetOwnPropertyDescriptor(proto, "length").get;
  const tagOf = (v) => apply(tag, v, []);
  const tag = ObjectGetOwnPropertyDescriptor(proto, primordials.SymbolToStringTag).get;
  const sizeOf = (ta) => {
    apply(keys, ta, []);
    return apply(lengthOf, ta, []);
  };
  const callable = (fn) => {
    if (typeof fn !== "function") throw new TypeError(`${String(fn)} is not a function`);
    return fn;
  };
  const integer = (v) => MathTrunc(+v) || 0;
  const relative = (v, n) => {
    const i = integer(v);
    return i < 0 ? MathMax(n + i, 0) : MathMin(i, n);
  };
  const end = (v, n) => (v === undefined ? n : relative(v, n));
  const isBig = (ta) => tagOf(ta)[0] === "B";
  const convert = (ta, v) => (isBig(ta) ? BigInt.asIntN(64, v) : +v);
  // 23.2.4.1: TypedArraySpeciesCreate
  const create = (ta, ...args) => {
    let C = ta.constructor;
    if (C !== undefined) {
      if ((typeof C !== "object" || C === null) && typeof C !== "function") throw new TypeError("object.constructor is not an object");
      C = C[Symbol.species];
    }
    const made = new (C ?? native.classOf(tagOf(ta)))(...args);
    const n = sizeOf(made);
    if (isBig(made) !== isBig(ta)) throw new TypeError("Content type of source and derived typed arrays differ");
    if (args.length === 1 && n < args[0]) throw new TypeError("Derived TypedArray constructor created an array which was too small");
    return made;
  };
  // find calls fn from one end to the other until it returns true.
  const find = (ta, fn, thisArg, up) => {
    const n = sizeOf(ta);
    callable(fn);
    for (let i = 0; i < n; i++) {
      const k = up ? i : n - 1 - i, value = ta[k];
      if (apply(fn, thisArg, [value, k, ta])) return { k, value };
    }
    return { k: -1, value: undefined };
  };
  const reduce = (ta, args, up) => {
    const n = sizeOf(ta), fn = callable(args[0]);
    let i = 0, result = args[1];
    if (args.length < 2) {
      if (n === 0) throw new TypeError("Reduce of empty array with no initial value");
      result = ta[up ? i : n - 1];
      i++;
    }
    for (; i < n; i++) {
      const k = up ? i : n - 1 - i;
      result = fn(result, ta[k], k, ta);
    }
    return result;
  };
  const list = (ta, n, fn) => {
    const values = [];
    for (let k = 0; k < n; k++) ArrayPrototypePush(values, fn(ta[k], k));
    return values;
  };
  const less = (x, y) => {
    if (x !== x || y !== y) return x === x ? -1 : y === y ? 1 : 0;
    if (x < y) return -1;
    if (x > y) return 1;
    return x === 0 && y === 0 && typeof x === "number" ? 1 / x - 1 / y || 0 : 0;
  };

  return {
    at(index) {
      const n = sizeOf(this), i = integer(index);
      return this[i < 0 ? n + i : i];
    },
    copyWithin(target, start, stop = undefined) {
      const n = sizeOf(this), to = relative(target, n), from = relative(start, n);
      const count = MathMin(end(stop, n) - from, n - to);
      if (count <= 0) return this;
      const left = sizeOf(this), down = from < to && to < from + count;
      for (let i = 0; i < count; i++) {
        const k = down ? count - 1 - i : i;
        if (from + k < left && to + k < left) this[to + k] = this[from + k];
      }
      return this;
    },
    every(fn, thisArg = undefined) {
      const n = sizeOf(this);
      callable(fn);
      for (let k = 0; k < n; k++) if (!apply(fn, thisArg, [this[k], k, this])) return false;
      return true;
    },
    some(fn, thisArg = undefined) { return find(this, fn, thisArg, true).k >= 0; },
    find(fn, thisArg = undefined) { return find(this, fn, thisArg, true).value; },
    findIndex(fn, thisArg = undefined) { return find(this, fn, thisArg, true).k; },
    findLast(fn, thisArg = undefined) { return find(this, fn, thisArg, false).value; },
    findLastIndex(fn, thisArg = undefined) { return find(this, fn, thisArg, false).k; },
    forEach(fn, thisArg = undefined) {
      const n = sizeOf(this);
      callable(fn);
      for (let k = 0; k < n; k++) apply(fn, thisArg, [this[k], k, this]);
    },
    reduce(...args) { return reduce(this, args, true); },
    reduceRight(...args) { return reduce(this, args, false); },
    map(fn, thisArg = undefined) {
      const n = sizeOf(this);
      callable(fn);
      const result = create(this, n);
      for (let k = 0; k < n; k++) result[k] = apply(fn, thisArg, [this[k], k, this]);
      return result;
    },
    filter(fn, thisArg = undefined) {
      const n = sizeOf(this), kept = [];
      callable(fn);
      for (let k = 0; k < n; k++) {
        const value = this[k];
        if (apply(fn, thisArg, [value, k, this])) ArrayPrototypePush(kept, value);
      }
      const result = create(this, kept.length);
      for (let k = 0; k < kept.length; k++) result[k] = kept[k];
      return result;
    },
    fill(value, start, stop = undefined) {
      const n = sizeOf(this), v = convert(this, value);
      let k = relative(start, n);
      const last = end(stop, n), left = MathMin(last, sizeOf(this));
      for (; k < left; k++) this[k] = v;
      return this;
    },
    includes(element, from = undefined) {
      const n = sizeOf(this);
      if (n === 0) return false;
      for (let k = relative(from, n); k < n; k++) {
        const value = this[k];
        if (value === element || (value !== value && element !== element)) return true;
      }
      return false;
    },
    indexOf(element, from = undefined) {
      const n = sizeOf(this);
      if (n === 0) return -1;
      for (let k = relative(from, n); k < n; k++) if (this[k] === element && ReflectHas(this, k)) return k;
      return -1;
    },
    lastIndexOf(element, ...from) {
      const n = sizeOf(this);
      if (n === 0) return -1;
      const i = from.length > 0 ? integer(from[0]) : n - 1;
      for (let k = i < 0 ? n + i : MathMin(i, n - 1); k >= 0; k--) if (this[k] === element && ReflectHas(this, k)) return k;
      return -1;
    },
    join(separator = undefined) {
      const n = sizeOf(this), sep = separator === undefined ? "," : `${separator}`;
      return ArrayPrototypeJoin(list(this, n, (v) => v), sep);
    },
    toLocaleString() {
      const n = sizeOf(this);
      return ArrayPrototypeJoin(list(this, n, (v) => (v === undefined ? "" : String(v.toLocaleString()))), ",");
    },
    slice(start, stop = undefined) {
      const n = sizeOf(this), from = relative(start, n), to = end(stop, n);
      const count = MathMax(to - from, 0), result = create(this, count);
      if (count === 0) return result;
      const last = MathMin(to, sizeOf(this));
      for (let k = from; k < last; k++) result[k - from] = this[k];
      return result;
    },
    sort(compare = undefined) {
      if (compare !== undefined && typeof compare !== "function") throw new TypeError("The comparison function must be either a function or undefined");
      const n = sizeOf(this);
      const sorted = ArrayPrototypeSort(list(this, n, (v) => v), compare ?? less);
      for (let k = 0; k < n; k++) if (k < apply(lengthOf, this, [])) this[k] = sorted[k];
      return this;
    },
    subarray(start, stop = undefined) {
      const { 0: buffer, 1: offset, 2: tracking } = native.viewed(this);
      const n = apply(lengthOf, this, []), from = relative(start, n), at = offset + from * this.BYTES_PER_ELEMENT;
      if (tracking && stop === undefined) return create(this, buffer, at);
      return create(this, buffer, at, MathMax(end(stop, n) - from, 0));
    },
  };
}
