// Built-ins of ECMAScript that goja lacks or has wrong and that can be written
// in JavaScript: Annex B, shared memory as far as one thread can see it, and
// repairs. native.float16 are the conversions of halves.
function (native, primordials) {
  "use strict";
  const { apply, ownKeys, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf, deleteProperty } = Reflect;
  const isObject = (v) => (typeof v === "object" && v !== null) || typeof v === "function";
  const { hide, add: methods } = native;

  // 23.2.2.1: items may be a primitive.
  const TypedArray = getPrototypeOf(Uint8Array);
  const from = TypedArray.from;
  hide(TypedArray, "from", { from(items, map = undefined, thisArg = undefined) {
    if (items === undefined || items === null) throw new TypeError(`${items === null ? "object null" : "undefined"} is not iterable (cannot read property Symbol(Symbol.iterator))`);
    const primitive = typeof items !== "object" && typeof items !== "function";
    return apply(from, this, [primitive ? Object(items) : items, map, thisArg]);
  } }.from);
  defineProperty(TypedArray.from, "length", { value: 1, configurable: true });

  // 23.2.3.31: the elements get the locales and the options.
  const { toLocaleString: typedToLocaleString, keys: typedKeys } = TypedArray.prototype, { toLocaleString: listToLocaleString } = Array.prototype;
  hide(TypedArray.prototype, "toLocaleString", { toLocaleString(...args) {
    if (args.length === 0) return apply(typedToLocaleString, this, args);
    apply(typedKeys, this, []); // refuses what is no typed array
    return apply(listToLocaleString, this, args);
  } }.toLocaleString);

  // 27.2.4.3: the error of Promise.any has a message.
  const any = Promise.any;
  const allRejected = (error) => {
    if (error instanceof AggregateError && getOwnPropertyDescriptor(error, "message") === undefined) hide(error, "message", "All promises were rejected");
    return error;
  };
  hide(Promise, "any", { any(iterable) {
    const C = this;
    if (C !== Promise) return apply(any, C, [iterable]);
    return new C((resolve, reject) => { apply(any, class extends C {
      constructor(executor) { super((a, b) => executor((v) => { resolve(v); a(v); }, (e) => { reject(allRejected(e)); a(); })); }
      static resolve(v) { return C.resolve(v); }
    }, [iterable]); });
  } }.any);

  // 27.2.4.8, with V8's texts for what is no function.
  const attempt = Promise.try, functionApply = Function.prototype.apply;
  const refuse = (fn, args) => {
    if (args.length === 0) throw new TypeError(`${native.called(fn)} is not a function`);
    return apply(functionApply, fn, [undefined, args]); // throws
  };
  hide(Promise, "try", { try(callback, ...args) {
    if (!isObject(this)) throw new TypeError("Promise.try called on non-object");
    return typeof callback === "function" ? apply(attempt, this, [callback, ...args]) : apply(attempt, this, [() => refuse(callback, args)]);
  } }.try);

  // Annex B.2.1
  const accessor = (name, receiver, key, fn) => {
    if (receiver === undefined || receiver === null) throw new TypeError(`Object.prototype.${name} called on null or undefined`);
    const side = name.endsWith("Getter__") ? "get" : "set";
    if (typeof fn !== "function") throw new TypeError(`Object.prototype.${name}: Expecting function`);
    Object.defineProperty(Object(receiver), key, { [side]: fn, enumerable: true, configurable: true });
  };
  const look = (receiver, key, side) => {
    if (receiver === undefined || receiver === null) throw new TypeError(`Object.prototype.__lookup${side === "get" ? "G" : "S"}etter__ called on null or undefined`);
    if (typeof key !== "symbol") key = `${key}`;
    for (let o = Object(receiver); o !== null; o = getPrototypeOf(o)) {
      const d = getOwnPropertyDescriptor(o, key);
      if (d !== undefined) return d[side];
    }
    return undefined;
  };
  methods(Object.prototype, {
    __defineGetter__(key, fn) { accessor("__defineGetter__", this, key, fn); },
    __defineSetter__(key, fn) { accessor("__defineSetter__", this, key, fn); },
    __lookupGetter__(key) { return look(this, key, "get"); },
    __lookupSetter__(key) { return look(this, key, "set"); },
  });
  // Annex B.2.2
  const html = (name, tag, attribute) => {
    const text = (receiver) => {
      if (receiver === undefined || receiver === null) throw new TypeError(`String.prototype.${name} called on null or undefined`);
      return `${receiver}`;
    };
    methods(String.prototype, { [name]: attribute === undefined ? { [name]() { return `<${tag}>${text(this)}</${tag}>`; } }[name]
      : { [name](value) { const body = text(this); return `<${tag} ${attribute}="${`${value}`.replaceAll('"', "&quot;")}">${body}</${tag}>`; } }[name] });
  };
  for (const [name, tag, attribute] of [["anchor", "a", "name"], ["big", "big"], ["blink", "blink"], ["bold", "b"], ["fixed", "tt"],
    ["fontcolor", "font", "color"], ["fontsize", "font", "size"], ["italics", "i"], ["link", "a", "href"], ["small", "small"],
    ["strike", "strike"], ["sub", "sub"], ["sup", "sup"]]) html(name, tag, attribute);
  // Annex B.2.3
  methods(Date.prototype, {
    getYear() { return this.getFullYear() - 1900; },
    setYear(year) {
      const y = +year;
      if (y !== y) return this.setTime(NaN);
      const whole = Math.trunc(y);
      if (Number.isNaN(this.getTime())) this.setTime(0);
      return this.setFullYear(whole >= 0 && whole <= 99 ? whole + 1900 : whole);
    },
    toGMTString: Date.prototype.toUTCString,
  });
  // 21.4.1.32: years before 0 and after 9999 have six digits.
  const toISOString = Date.prototype.toISOString;
  hide(Date.prototype, "toISOString", { toISOString() {
    const text = apply(toISOString, this, []);
    if (text[4] === "-") return text;
    const digits = text[0] === "-" || text[0] === "+" ? 1 : 0, year = text.indexOf("-", 1);
    return (text[0] === "-" ? "-" : "+") + text.slice(digits, year).padStart(6, "0") + text.slice(year);
  } }.toISOString);
  // 21.1.3.2: goja loses the sign where it pads with zeros.
  const { toExponential, valueOf } = Number.prototype;
  const { trunc } = Math;
  hide(Number.prototype, "toExponential", { toExponential(fractionDigits) {
    const x = typeof this === "number" ? this : apply(valueOf, this, []);
    if (fractionDigits !== undefined) fractionDigits = trunc(+fractionDigits) || 0;
    return x < 0 ? "-" + apply(toExponential, -x, [fractionDigits]) : apply(toExponential, x, [fractionDigits]);
  } }.toExponential);
  // 23.1.3.41
  const unscopables = Array.prototype[Symbol.unscopables];
  for (const name of ["groupBy", "groupByToMap"]) deleteProperty(unscopables, name);
  unscopables.at = true;
  for (const name of ["name", "length"]) deleteProperty(BigInt.prototype, name);
  deleteProperty(globalThis, "GoError");

  // 25.3.4: halves
  const { getUint16, setUint16 } = DataView.prototype, bufferOf = getOwnPropertyDescriptor(DataView.prototype, "buffer").get;
  methods(DataView.prototype, {
    getFloat16(byteOffset, littleEndian = undefined) { return native.fromHalf(apply(getUint16, this, [byteOffset, littleEndian])); },
    setFloat16(byteOffset, value, littleEndian = undefined) {
      apply(bufferOf, this, []); // refuses what is no DataView
      const at = native.index(byteOffset, "Offset is outside the bounds of the DataView");
      apply(setUint16, this, [at, native.toHalf(+value), littleEndian]);
    },
  });
  defineProperty(DataView.prototype.getFloat16, "length", { value: 1, configurable: true });
  defineProperty(DataView.prototype.setFloat16, "length", { value: 2, configurable: true });

  // 24.2.1.2: goja follows what keys() of a set-like answers without a look at its
  // next, which need not be callable.
  const setKeys = Set.prototype.keys, mapKeys = Map.prototype.keys;
  const setLike = (other) => ({
    get size() { return other.size; },
    get has() {
      const { has } = other;
      return typeof has === "function" ? (v) => apply(has, other, [v]) : undefined;
    },
    get keys() {
      const { keys } = other;
      return typeof keys !== "function" ? undefined : () => {
        const iterator = apply(keys, other, []);
        if (!isObject(iterator)) throw new TypeError("Result of the keys method is not an object");
        const { next } = iterator;
        return {
          next() {
            if (typeof next !== "function") throw new TypeError('string "next" is not a function'); // V8's text
            return apply(next, iterator, []);
          },
          get return() {
            const close = iterator.return;
            return typeof close === "function" ? () => apply(close, iterator, []) : close;
          },
        };
      };
    },
  });
  for (const name of ["union", "intersection", "difference", "symmetricDifference", "isSubsetOf", "isSupersetOf", "isDisjointFrom"]) {
    const method = Set.prototype[name];
    hide(Set.prototype, name, { [name](other) {
      const plain = !isObject(other) || native.isCollection(other) && (other.keys === setKeys || other.keys === mapKeys);
      return apply(method, this, [plain ? other : setLike(other)]);
    } }[name]);
  }

  // 10.5.6: the trap defineProperty gets a descriptor that is made for it (6.2.6.4,
  // 6.2.6.5); goja hands on what it was given.
  const described = (attributes) => {
    if (!isObject(attributes)) throw new TypeError(`Property description must be an object: ${native.show(attributes)}`);
    const found = { __proto__: null }, made = {};
    for (const name of ["enumerable", "configurable", "value", "writable", "get", "set"]) {
      if (!(name in attributes)) continue;
      const v = attributes[name];
      if (name === "get" || name === "set") {
        if (v !== undefined && typeof v !== "function") throw new TypeError(`${name === "get" ? "Getter" : "Setter"} must be a function: ${native.show(v)}`);
        found[name] = v;
      } else {
        found[name] = name === "value" ? v : !!v;
      }
    }
    if (("get" in found || "set" in found) && ("value" in found || "writable" in found)) throw new TypeError("Invalid property descriptor. Cannot both specify accessors and a value or writable attribute");
    for (const name of ["value", "writable", "get", "set", "enumerable", "configurable"]) {
      if (name in found) defineProperty(made, name, { __proto__: null, value: found[name], writable: true, enumerable: true, configurable: true });
    }
    return made;
  };
  const key = (v) => (typeof v === "symbol" ? v : ownKeys({ __proto__: null, [v]: 0 })[0]);
  native.describes(described, (target, properties) => {
    if (properties === undefined || properties === null) throw new TypeError("Cannot convert undefined or null to object");
    const list = [], from = Object(properties), names = ownKeys(from);
    for (let i = 0; i < names.length; i++) {
      if (getOwnPropertyDescriptor(from, names[i])?.enumerable) defineProperty(list, list.length, { __proto__: null, value: [names[i], described(from[names[i]])] });
    }
    for (let i = 0; i < list.length; i++) {
      if (!defineProperty(target, list[i][0], list[i][1])) throw new TypeError(`'defineProperty' on proxy: trap returned falsish for property '${String(list[i][0])}'`);
    }
    return target;
  }, key);

  proxies();
  halves();
  buffers(sharedMemory());
  atomics();

  // 10.5.12: the traps apply and construct get an array of their own. goja's lies
  // over its stack, which the next call overwrites; so the handler of a proxy for
  // a function is one that calls those of the program with a copy.
  function proxies() {
    const Original = Proxy, { revocable } = Proxy, { ArrayPrototypeSlice: slice } = primordials;
    const traps = {
      get(handler, key) {
        const trap = handler[key];
        if (typeof trap !== "function") return trap;
        const { known } = this;
        if (known[key]?.trap === trap) return known[key].call;
        const at = key === "apply" ? 2 : key === "construct" ? 1 : -1;
        const call = (...args) => {
          if (at >= 0) args[at] = slice(args[at]);
          return apply(trap, handler, args);
        };
        known[key] = { trap, call };
        return call;
      },
    };
    native.keepTraps(traps);
    const copying = (target, handler) => {
      if (typeof target !== "function" || !isObject(handler)) return handler;
      return new Original(handler, { __proto__: traps, known: { __proto__: null } });
    };
    const Bound = function (target, handler) {
      if (new.target === undefined) throw new TypeError("Constructor Proxy requires 'new'");
      return new Original(target, copying(target, handler));
    }.bind();
    defineProperty(Bound, "name", { value: "Proxy", configurable: true });
    defineProperty(Bound, "length", { value: 2, configurable: true });
    hide(Bound, "revocable", { revocable(target, handler) { return revocable(target, copying(target, handler)); } }.revocable);
    hide(globalThis, "Proxy", Bound);
  }

  // 23.2.5 for Float16Array: Uint16Arrays whose elements the engine makes halves.
  function halves() {
    const { get: tag } = getOwnPropertyDescriptor(TypedArray.prototype, Symbol.toStringTag);
    const { get: lengthOf } = getOwnPropertyDescriptor(TypedArray.prototype, "length");
    const { set, keys } = TypedArray.prototype;
    const make = (...args) => {
      const array = Reflect.construct(Uint16Array, args, Float16Array);
      return native.adoptHalves(array, Float16Array) ? array : undefined;
    };
    // filled is an array of source's elements, which are as many as length says.
    const filled = (source, length) => {
      const array = make(length);
      if (length > 0) apply(set, array, [source]);
      return array;
    };
    const fromArray = (source, type) => {
      apply(keys, source, []); // throws for one whose buffer is detached
      if (type[0] === "B") throw new TypeError("Cannot mix BigInt and other types, use explicit conversions");
      return filled(source, apply(lengthOf, source, []));
    };
    const fromList = (source) => {
      const method = source[Symbol.iterator];
      if (method === undefined || method === null) {
        const { length } = source;
        const array = make(length > 0 ? length : 0);
        for (let i = 0; i < array.length; i++) array[i] = source[i];
        return array;
      }
      if (typeof method !== "function") throw new TypeError(`${String(method)} is not a function`);
      const list = [];
      for (const v of { [Symbol.iterator]: () => apply(method, source, []) }) primordials.ArrayPrototypePush(list, v);
      return filled(list, list.length);
    };
    function Float16Array(first, byteOffset, length) {
      if (new.target === undefined) throw new TypeError("Constructor Float16Array requires 'new'");
      const empty = isObject(first) ? undefined : make(first);
      const proto = new.target.prototype;
      const array = empty ?? (native.isBuffer(first) ? make(first, byteOffset, length)
        : apply(tag, first, []) === undefined ? fromList(first) : fromArray(first, apply(tag, first, [])));
      return setPrototypeOf(array, isObject(proto) ? proto : Float16Array.prototype) && array;
    }
    if (make(0) === undefined) return; // the engine does not know goja's insides
    setPrototypeOf(Float16Array, TypedArray);
    setPrototypeOf(Float16Array.prototype, TypedArray.prototype);
    defineProperty(Float16Array, "prototype", { writable: false });
    for (const holder of [Float16Array, Float16Array.prototype]) defineProperty(holder, "BYTES_PER_ELEMENT", { value: 2 });
    hide(globalThis, "Float16Array", Float16Array);
  }

  // 25.2. A shared buffer is an ArrayBuffer of another class: nobody else can
  // get at it, since workers have no threads.
  function sharedMemory() {
    const byteLength = getOwnPropertyDescriptor(ArrayBuffer.prototype, "byteLength").get;
    const slice = ArrayBuffer.prototype.slice;
    const shared = new WeakSet();
    const check = (v, name) => {
      if (!isObject(v) || !shared.has(v)) throw new TypeError(`Method SharedArrayBuffer.prototype.${name} called on incompatible receiver ${isObject(v) ? "#<" + (v.constructor?.name ?? "Object") + ">" : String(v)}`);
      return v;
    };
    let known = false;
    const share = (buffer, proto) => {
      if (!known) native.keepShared({ has: (v) => shared.has(v), alias: (v) => share(v, SharedArrayBuffer.prototype) });
      known = true;
      shared.add(buffer);
      setPrototypeOf(buffer, proto);
      return buffer;
    };
    const Bytes = ArrayBuffer;
    function SharedArrayBuffer(length) {
      if (new.target === undefined) throw new TypeError("Constructor SharedArrayBuffer requires 'new'");
      return share(new Bytes(length, arguments[1]), new.target.prototype);
    }
    const proto = SharedArrayBuffer.prototype;
    defineProperty(SharedArrayBuffer, "prototype", { writable: false });
    defineProperty(SharedArrayBuffer, Symbol.species, { get: { get [Symbol.species]() { return this; } }.__lookupGetter__(Symbol.species), configurable: true });
    const getters = {
      get byteLength() { return apply(byteLength, check(this, "byteLength"), []); },
      get growable() { return native.limitOf(check(this, "growable")) !== undefined; },
      get maxByteLength() { return native.limitOf(check(this, "maxByteLength")) ?? apply(byteLength, this, []); },
    };
    for (const name of ownKeys(getters)) defineProperty(proto, name, { get: getOwnPropertyDescriptor(getters, name).get, enumerable: false, configurable: true });
    methods(proto, {
      grow(newLength) {
        const limit = native.limitOf(check(this, "grow")), message = "SharedArrayBuffer.prototype.grow: Invalid length parameter";
        if (limit === undefined) throw new TypeError("Method SharedArrayBuffer.prototype.grow called on incompatible receiver #<SharedArrayBuffer>");
        const n = native.index(newLength, message);
        if (n > limit || n < apply(byteLength, this, [])) throw new RangeError(message);
        native.resize(this, n);
      },
      slice(start, end) {
        setPrototypeOf(check(this, "slice"), ArrayBuffer.prototype); // slice asks for the species
        try { return share(apply(slice, this, [start, end]), proto); } finally { setPrototypeOf(this, proto); }
      },
    });
    defineProperty(proto, Symbol.toStringTag, { value: "SharedArrayBuffer", configurable: true });
    hide(globalThis, "SharedArrayBuffer", SharedArrayBuffer);
    return shared;
  }

  // 25.1.6: resizing and moving buffers. Shared ones have methods of their own.
  function buffers(shared) {
    const byteLength = getOwnPropertyDescriptor(ArrayBuffer.prototype, "byteLength").get;
    const check = (v, name) => {
      if (!native.isBuffer(v) || shared.has(v)) throw new TypeError(`Method ${name} called on incompatible receiver ${isObject(v) ? "#<" + (v.constructor?.name ?? "Object") + ">" : String(v)}`);
      return v;
    };
    const attached = (v, name) => {
      if (native.detached(v)) throw new TypeError(`Cannot perform ${name} on a detached ArrayBuffer`);
    };
    const transfer = (buffer, newLength, name, keep) => {
      const limit = keep ? native.limitOf(check(buffer, name)) : check(buffer, name) && undefined;
      const n = newLength === undefined ? apply(byteLength, buffer, []) : native.index(newLength, "Invalid array buffer length");
      attached(buffer, name);
      if (n > limit) throw new RangeError("Invalid array buffer length");
      return native.transfer(buffer, n, limit);
    };
    methods(ArrayBuffer.prototype, {
      resize(newLength) {
        const name = "ArrayBuffer.prototype.resize", limit = native.limitOf(check(this, name));
        if (limit === undefined) throw new TypeError(`Method ${name} called on incompatible receiver #<ArrayBuffer>`);
        const n = native.index(newLength, `${name}: Invalid length parameter`);
        attached(this, name);
        if (n > limit) throw new RangeError(`${name}: Invalid length parameter`);
        native.resize(this, n);
      },
      transfer(newLength = undefined) { return transfer(this, newLength, "ArrayBuffer.prototype.transfer", true); },
      transferToFixedLength(newLength = undefined) { return transfer(this, newLength, "ArrayBuffer.prototype.transferToFixedLength", false); },
    });
    const getters = {
      get detached() { return native.detached(check(this, "get ArrayBuffer.prototype.detached")); },
      get resizable() { return native.limitOf(check(this, "get ArrayBuffer.prototype.resizable")) !== undefined; },
      get maxByteLength() {
        const limit = native.limitOf(check(this, "get ArrayBuffer.prototype.maxByteLength"));
        return limit === undefined || native.detached(this) ? apply(byteLength, this, []) : limit;
      },
    };
    for (const name of ownKeys(getters)) defineProperty(ArrayBuffer.prototype, name, { get: getOwnPropertyDescriptor(getters, name).get, enumerable: false, configurable: true });
  }

  // 25.4
  function atomics() {
    if ("Atomics" in globalThis) return;
    const tag = getOwnPropertyDescriptor(TypedArray.prototype, Symbol.toStringTag).get;
    const integer = { __proto__: null, Int8Array: 8, Uint8Array: 8, Int16Array: 16, Uint16Array: 16, Int32Array: 32, Uint32Array: 32, BigInt64Array: 64, BigUint64Array: 64 };
    const at = (array, index, waitable) => {
      const name = isObject(array) ? apply(tag, array, []) : undefined;
      if (waitable ? name !== "Int32Array" && name !== "BigInt64Array" : !(name in integer)) throw new TypeError(`${name || Array.isArray(array) ? `[object ${name ?? "Array"}]` : native.show(array)} is not an ${waitable ? "int32 or BigInt64" : "integer"} typed array.`);
      const i = trunc(+index) || 0;
      if (i < 0 || i >= array.length) throw new RangeError(`Invalid atomic access index: ${i}`);
      return i;
    };
    const { asIntN } = BigInt; // which converts by ToBigInt: it takes no numbers
    const convert = (array, value) => (integer[apply(tag, array, [])] === 64 ? asIntN(64, value) : trunc(+value) || 0);
    const change = (fn) => (array, index, value) => {
      const i = at(array, index), v = convert(array, value), old = array[i];
      array[i] = fn(old, v);
      return old;
    };
    const [add, and, exchange, or, sub, xor] = [(a, b) => a + b, (a, b) => a & b, (a, b) => b, (a, b) => a | b, (a, b) => a - b, (a, b) => a ^ b].map(change);
    const Atomics = {};
    methods(Atomics, {
      load(array, index) { return array[at(array, index)]; },
      store(array, index, value) { const i = at(array, index), v = convert(array, value); array[i] = v; return v; },
      add(array, index, value) { return add(array, index, value); },
      sub(array, index, value) { return sub(array, index, value); },
      and(array, index, value) { return and(array, index, value); },
      or(array, index, value) { return or(array, index, value); },
      xor(array, index, value) { return xor(array, index, value); },
      exchange(array, index, value) { return exchange(array, index, value); },
      compareExchange(array, index, expected, replacement) {
        const i = at(array, index), old = array[i];
        const [e, r] = [convert(array, expected), convert(array, replacement)];
        const probe = new array.constructor(1);
        probe[0] = e;
        if (probe[0] === old) array[i] = r;
        return old;
      },
      isLockFree(size) { return [1, 2, 4, 8].includes(Number(size)); },
      wait(array, index, value, timeout) {
        at(array, index, true);
        throw new TypeError(array.buffer instanceof SharedArrayBuffer ? "Atomics.wait cannot be called in this context" : `[object ${apply(tag, array, [])}] is not a shared typed array.`);
      },
      waitAsync(array, index, value, timeout) {
        const i = at(array, index, true);
        if (array[i] !== convert(array, value)) return { async: false, value: "not-equal" };
        throw new TypeError("Atomics.waitAsync: nothing can wake the waiter here, since workers have no threads");
      },
      notify(array, index, count) {
        at(array, index, true);
        if (count !== undefined) trunc(+count);
        return 0;
      },
      pause(n) {
        if (n !== undefined && !Number.isInteger(n)) throw new TypeError("Atomics.pause argument must be undefined or an integer");
      },
    });
    defineProperty(Atomics, Symbol.toStringTag, { value: "Atomics", configurable: true });
    hide(globalThis, "Atomics", Atomics);
  }
}
