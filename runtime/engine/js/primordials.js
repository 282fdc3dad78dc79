// Captures the built-ins that natives and preludes use (primordials.txt), before
// user code can patch them, and adds the well-known symbols and small built-ins that goja
// lacks. Names: a static is Class + Method, a prototype method is
// Class + "Prototype" + Method and takes its receiver first.
function (native, undefinedPrimordials) {
  "use strict";
  const { apply, ownKeys, getOwnPropertyDescriptor, defineProperty } = Reflect;
  const { bind, call } = Function.prototype;
  const uncurryThis = bind.bind(call);
  const { hide } = native;
  const own = (obj, name) => Object.prototype.hasOwnProperty.call(obj, name);

  for (const name of ["asyncIterator", "dispose", "asyncDispose"]) {
    if (!own(Symbol, name)) {
      defineProperty(Symbol, name, { value: Symbol("Symbol." + name), writable: false, enumerable: false, configurable: false });
    }
  }
  if (!own(Promise, "withResolvers")) {
    hide(Promise, "withResolvers", { withResolvers() {
      let resolve, reject;
      const promise = new this((res, rej) => {
        if (resolve !== undefined || reject !== undefined) throw new TypeError("Promise executor has already been invoked with non-undefined arguments");
        resolve = res;
        reject = rej;
      });
      if (typeof resolve !== "function" || typeof reject !== "function") throw new TypeError("Promise resolve or reject function is not callable");
      return { promise, resolve, reject };
    } }.withResolvers);
  }
  if (!own(Promise, "try")) {
    const { resolve: resolved, reject: rejected } = Promise;
    hide(Promise, "try", { try(fn, ...args) {
      if (this !== Promise) return new this((resolve) => resolve(fn(...args)));
      try { return apply(resolved, Promise, [fn(...args)]); } catch (error) { return apply(rejected, Promise, [error]); }
    } }.try);
  }

  const classes = {
    __proto__: null,
    Array, ArrayBuffer, BigInt, Boolean, DataView, Date, Error, EvalError, Function, Map, Number, Object,
    Promise, RangeError, ReferenceError, RegExp, Set, String, Symbol, SyntaxError, TypeError, URIError,
    Uint8Array, WeakMap, WeakSet, Proxy, AggregateError, TypedArray: Object.getPrototypeOf(Uint8Array),
  };
  // Other owners of what can be captured; the prototype of a class is one under its name, too.
  const others = {
    __proto__: null, Reflect, JSON, Math,
    MapIteratorPrototype: Reflect.getPrototypeOf(new Map().keys()), SetIteratorPrototype: Reflect.getPrototypeOf(new Set().keys()),
  };
  const p = { __proto__: null, uncurryThis, apply, ownKeys };
  for (const name in classes) p[name] = classes[name];
  p.SymbolIterator = Symbol.iterator;
  p.SymbolAsyncIterator = Symbol.asyncIterator;
  p.SymbolDispose = Symbol.dispose;
  p.SymbolAsyncDispose = Symbol.asyncDispose;
  p.SymbolToStringTag = Symbol.toStringTag;
  p.SymbolHasInstance = Symbol.hasInstance;
  // resource says that a class is one of workerd's native code (Engine.MarkResource), and tag
  // gives it its Symbol.toStringTag, too (engine.Options.Untagged).
  p.resource = (C) => native.resource(C.prototype);
  p.tag = (C, name) => {
    p.resource(C);
    if (native.tagged) defineProperty(C.prototype, Symbol.toStringTag, { value: name, writable: true, enumerable: false, configurable: true });
  };

  // 27.1.4: what all async iterators inherit from.
  p.AsyncIteratorPrototype = {};
  hide(p.AsyncIteratorPrototype, Symbol.asyncIterator, { [Symbol.asyncIterator]() { return this; } }[Symbol.asyncIterator]);
  hide(p.AsyncIteratorPrototype, Symbol.asyncDispose, { [Symbol.asyncDispose]() {
    const nothing = () => undefined;
    try {
      const close = this.return;
      return close === undefined || close === null ? p.Promise.resolve() : p.Promise.resolve(apply(close, this, [undefined])).then(nothing);
    } catch (error) {
      return p.Promise.reject(error);
    }
  } }[Symbol.asyncDispose]);

  // find takes a name apart at `cut`.
  const small = (s) => s[0].toLowerCase() + s.slice(1);
  const find = (prefix, rest) => {
    const inherited = prefix.endsWith("Prototype");
    const owner = others[prefix] ?? (inherited ? classes[prefix.slice(0, -9)]?.prototype : classes[prefix]);
    if (owner === undefined || rest === "") return undefined;
    const symbol = rest.startsWith("Symbol") ? Symbol[small(rest.slice(6))] : undefined;
    const d = getOwnPropertyDescriptor(owner, symbol ?? small(rest));
    if (typeof d?.value === "function") return bound(d.value, inherited ? undefined : owner);
    if (!inherited || !rest.startsWith("Get")) return undefined;
    const key = rest === "GetTag" ? Symbol.toStringTag : small(rest.slice(3));
    const get = getOwnPropertyDescriptor(owner, key)?.get;
    return get && bound(get);
  };
  // bound is a static function with its owner, or a method that takes its receiver first.
  const bound = (fn, owner) => owner === undefined ? uncurryThis(fn) : apply(bind, fn, [owner]);

  // give finds a primordial that was not captured, as it is now.
  const give = (name) => {
    let found;
    for (let cut = name.length - 1; found === undefined && cut > 2; cut--) found = find(name.slice(0, cut), name.slice(cut));
    return found;
  };
  return native.lazy(p, others, bound, give);
}
