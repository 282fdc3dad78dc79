// %TypedArray%.from, of and %TypedArray%.prototype.map (ECMA-262, 23.2.2.1,
// 23.2.2.2 and 23.2.3.22) where a constructor of the user's makes the array: its
// buffer may be gone before the last element is written.
function (native, primordials) {
  "use strict";
  const { apply, ArrayPrototypePush, ObjectPrototypeToString, ObjectGetOwnPropertyDescriptor, String, Symbol, TypeError, TypedArray, MathMin, MathTrunc, MathMax, Number } = primordials;
  const proto = TypedArray.prototype;
  const { keys } = proto; // throws if the view is out of bounds or its buffer detached
  const lengthOf = ObjectGetOwnPropertyDescriptor(proto, "length").get;
  const tag = ObjectGetOwnPropertyDescriptor(proto, primordials.SymbolToStringTag).get;
  const isObject = (v) => (typeof v === "object" && v !== null) || typeof v === "function";
  const isBig = (ta) => apply(tag, ta, [])[0] === "B";
  const callable = (fn) => {
    if (typeof fn !== "function") throw new TypeError(`${String(fn)} is not a function`);
    return fn;
  };
  // 23.2.4.2: TypedArrayCreateFromCtor
  const create = (C, n, name) => {
    const made = new C(n);
    if (apply(tag, made, []) === undefined) {
      throw new TypeError(`Method %TypedArray%.${name} called on incompatible receiver ${ObjectPrototypeToString(made)}`);
    }
    apply(keys, made, []);
    if (apply(lengthOf, made, []) < n) throw new TypeError("Derived TypedArray constructor created an array which was too small");
    return made;
  };
  const listOf = (source, method) => {
    const iterator = apply(callable(method), source, []), values = [];
    if (!isObject(iterator)) throw new TypeError("Result of the Symbol.iterator method is not an object");
    const { next } = iterator;
    for (;;) {
      const result = apply(next, iterator, []);
      if (!isObject(result)) throw new TypeError(`Iterator result ${String(result)} is not an object`);
      if (result.done) return values;
      ArrayPrototypePush(values, result.value);
    }
  };
  return {
    from(C, source, mapper, thisArg) {
      if (mapper !== undefined) callable(mapper);
      const method = source[Symbol.iterator];
      const values = method === undefined || method === null ? native.object(source) : listOf(source, method);
      const n = MathMin(MathMax(MathTrunc(+values.length) || 0, 0), 2 ** 53 - 1);
      const made = create(C, n, "from");
      for (let k = 0; k < n; k++) made[k] = mapper === undefined ? values[k] : thisArg === undefined ? mapper(values[k], k) : apply(mapper, thisArg, [values[k], k]);
      return made;
    },
    of(C, items) {
      const made = create(C, items.length, "of");
      for (let k = 0; k < items.length; k++) made[k] = items[k];
      return made;
    },
    map(ta, C, fn, thisArg) {
      const n = apply(lengthOf, ta, []);
      if (C !== undefined) {
        if (!isObject(C)) throw new TypeError("The .constructor property is not an object");
        C = C[Symbol.species];
      }
      const made = create(C ?? native.classOf(apply(tag, ta, [])), n, "prototype.map");
      if (isBig(made) !== isBig(ta)) throw new TypeError("Content type of source and derived typed arrays differ");
      for (let k = 0; k < n; k++) made[k] = thisArg === undefined ? fn(ta[k], k, ta) : apply(fn, thisArg, [ta[k], k, ta]);
      return made;
    },
  };
}
