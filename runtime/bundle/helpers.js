// What lowered modules call instead of esbuild's own helpers: the same rules,
// with deferred namespaces in mind. Evaluated once per runtime, before user
// code, so the built-ins it captures are the originals.
(function (isNamespace, touch) {
  "use strict";
  const { create, defineProperty, getOwnPropertyDescriptor, getOwnPropertyNames, getPrototypeOf, hasOwn, keys } = Object;

  // A getter for each of many names. One descriptor and plain loops: real bundles
  // have thousands of names, and each object, iterator and for-in costs.
  const shared = { get: undefined, enumerable: true, configurable: true };
  const define = (to, name, get) => {
    shared.get = get;
    defineProperty(to, name, shared);
  };

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
  const numeric = (v) => typeof v === "number" || typeof v === "bigint" ? v : -(-v);
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
    __export: (target, all) => {
      const names = keys(all);
      for (let i = 0, n = names.length; i < n; i++) define(target, names[i], all[names[i]]);
    },
    __toESM: (mod) => wrap(mod, false),
    __toESMNode: (mod) => wrap(mod, true),
    __toCommonJS: (ns) => ns,
    __reExport: (target, mod) => copy(target, mod, "default"),
    // Getters for names that exist before their module has run.
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
