// What lowered modules call instead of esbuild's own helpers: the same rules,
// with deferred namespaces in mind. Evaluated once per runtime, before user
// code, so the built-ins it captures are the originals.
(function (isNamespace, touch, define) {
  "use strict";
  const { create, defineProperty, getOwnPropertyDescriptor, getOwnPropertyNames, getPrototypeOf, hasOwn } = Object;
  const { apply, get, ownKeys, set } = Reflect, P = Promise, Type = TypeError;

  // Properties that read through to `from`, so that bindings stay live.
  const copy = (to, from, except) => {
    if ((typeof from !== "object" || from === null) && typeof from !== "function") return to;
    for (const key of getOwnPropertyNames(from)) {
      if (key === except || hasOwn(to, key)) continue;
      const enumerable = getOwnPropertyDescriptor(from, key)?.enumerable ?? true;
      defineProperty(to, key, { get: () => from[key], enumerable, configurable: true });
    }
    return to;
  };

  // The namespace of a CommonJS module. `default` is module.exports unless the
  // module was compiled from ESM and the importer is not in Node's mode.
  const wrap = (mod, node) => {
    if (isNamespace(mod)) return mod;
    const target = mod === null || mod === undefined ? {} : create(getPrototypeOf(mod));
    if (node || !mod || !mod.__esModule) defineProperty(target, "default", { value: mod, enumerable: true });
    return copy(target, mod);
  };

  // BigInts of more bits are refused, where V8's bound is 2^30 (bigint.go).
  const bits = 1 << 24, limit = BigInt(bits), Range = RangeError, { abs, ceil, pow } = Math;
  const usual = 1n << 4096n, least = -usual;
  let longest; // made when it is needed: it takes 512 KB
  const tooBig = () => new Range("Maximum BigInt size exceeded");
  const numeric = (v) => typeof v === "number" || typeof v === "bigint" ? v : v--; // as it was, converted once
  const asString = BigInt.prototype.toString, call = Function.prototype.call;
  const digits = (n) => call.call(asString, n, 16).length;

  return {
    __pow: (a, b) => {
      a = numeric(a);
      b = numeric(b);
      if (typeof a !== "bigint" || typeof b !== "bigint") {
        if (typeof a !== typeof b) a + b; // throws
        return pow(a, b);
      }
      if (b < 0n) throw new Range("Exponent must be positive");
      if (a > 1n || a < -1n) {
        if (b > limit || digits(a) * 4 * Number(b) > 2 * bits) throw tooBig();
      } else if (b > 1n) {
        b = 2n - (b & 1n);
      }
      let result = 1n;
      for (; b > 0n; b >>= 1n, a = b > 0n ? a * a : a) if (b & 1n) result *= a;
      return result;
    },
    // What a value is shifted by. Farther to the other side, all bits are gone.
    $shl: (by) => {
      if (typeof by === "number") return by;
      by = numeric(by);
      if (typeof by !== "bigint" || by <= limit && by >= -limit) return by;
      if (by > 0n) throw tooBig();
      return -limit * 2n;
    },
    $shr: (by) => {
      if (typeof by === "number") return by;
      by = numeric(by);
      if (typeof by !== "bigint" || by <= limit && by >= -limit) return by;
      if (by < 0n) throw tooBig();
      return limit * 2n;
    },
    // The right operand of *, / and %: with one of so many bits these take seconds
    // at worst, and cannot be interrupted.
    $mul: (by) => {
      if (typeof by === "number") return by;
      by = numeric(by);
      if (typeof by !== "bigint" || by <= usual && by >= least) return by;
      longest ??= 1n << limit / 4n;
      if (by > longest || by < -longest) throw tooBig();
      return by;
    },
    __toESM: (mod) => wrap(mod, false),
    __toESMNode: (mod) => wrap(mod, true),
    __toCommonJS: (ns) => ns,
    __reExport: (target, mod) => copy(target, mod, "default"),
    // A promise of what is no promise, for await, which has goja ask any object for its
    // constructor, and take one that answers with Promise for a promise.
    settled: (v) => new P((done) => done(v)),
    // The object that a property with a computed key is spread from.
    $own: (key, value, nameless) => {
      const d = { __proto__: null, value, writable: true, enumerable: true, configurable: true }, o = defineProperty({ __proto__: null }, key, d);
      if (nameless) {
        key = ownKeys(o)[0];
        const given = getOwnPropertyDescriptor(value, "name");
        if (given === undefined || given.value === "") defineProperty(value, "name", { __proto__: null, value: typeof key === "symbol" ? (key.description === undefined ? "" : `[${key.description}]`) : key, configurable: true });
      }
      return o;
    },
    // Calls a method that an optional chain was taken apart for.
    $call: (fn, self, args) => {
      if (typeof fn !== "function") throw new Type(`${String(fn)} is not a function`);
      return apply(fn, self, args);
    },
    // What has a member that is assigned to by reference, which goja makes an object of.
    $base: (v) => {
      if (v !== null && (typeof v === "object" || typeof v === "function")) return v;
      if (v === null || v === undefined) {
        return new Proxy({}, {
          get: (o, key) => { throw new Type(`Cannot read properties of ${v} (reading '${String(key)}')`); },
          set: (o, key) => { throw new Type(`Cannot set properties of ${v} (setting '${String(key)}')`); },
        });
      }
      return new Proxy(Object(v), {
        get: (o, key) => get(o, key, v),
        set: (o, key, value) => {
          if (set(o, key, value, v)) return true;
          const d = getOwnPropertyDescriptor(o, key);
          if (d !== undefined) throw new Type(`Cannot assign to read only property '${String(key)}' of ${typeof v} '${String(v)}'`);
          throw new Type(`Cannot create property '${String(key)}' on ${typeof v} '${String(v)}'`);
        },
      });
    },
    // Getters for names that exist before their module has run. A plain loop, and a
    // native that makes no descriptor: real bundles have thousands of names.
    announce: (ns, id, names) => {
      for (let i = 0, n = names.length; i < n; i++) {
        const name = names[i];
        define(ns, name, () => touch(id, name));
      }
    },
    // Gives a re-export the getter of its origin, which saves later reads the detour.
    adopt: (ns, name, from, original) => {
      const d = getOwnPropertyDescriptor(from, original);
      if (d?.get) defineProperty(ns, name, d);
    },
  };
})
