// Captures the built-ins that natives and preludes use (primordials.txt), before
// user code can patch them, and adds the well-known symbols and small built-ins that goja
// lacks. Names: a static is Class + Method, a prototype method is
// Class + "Prototype" + Method and takes its receiver first.
function (native, undefinedPrimordials) {
  "use strict";
  const { apply, ownKeys, getOwnPropertyDescriptor, defineProperty } = Reflect;
  const { bind, call } = Function.prototype;
  const uncurryThis = bind.bind(call);
  const hide = (obj, name, value) =>
    defineProperty(obj, name, { value, writable: true, enumerable: false, configurable: true });
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

  // Owners of what can be captured, by the prefix of the names: the statics of a
  // class or namespace under its name, the methods and getters of a prototype.
  const owners = { __proto__: null, Reflect: [Reflect, false], JSON: [JSON, false], Math: [Math, false] };
  const p = { __proto__: null, uncurryThis, apply, ownKeys };
  const classes = {
    Array, ArrayBuffer, BigInt, Boolean, DataView, Date, Error, EvalError, Function, Map, Number, Object,
    Promise, RangeError, ReferenceError, RegExp, Set, String, Symbol, SyntaxError, TypeError, URIError,
    Uint8Array, WeakMap, WeakSet, Proxy, AggregateError, TypedArray: Object.getPrototypeOf(Uint8Array),
  };
  for (const name in classes) {
    const C = classes[name];
    p[name] = C;
    owners[name] = [C, false];
    if (C.prototype) owners[name + "Prototype"] = [C.prototype, true];
  }
  owners.MapIteratorPrototype = [Reflect.getPrototypeOf(new Map().keys()), true];
  owners.SetIteratorPrototype = [Reflect.getPrototypeOf(new Set().keys()), true];
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

  // find takes a name apart at `cut`. What it finds is bound at its first use:
  // most of it never is.
  const later = { __proto__: null };
  const small = (s) => s[0].toLowerCase() + s.slice(1);
  const find = (prefix, rest) => {
    const owner = owners[prefix];
    if (owner === undefined || rest === "") return undefined;
    const symbol = rest.startsWith("Symbol") ? Symbol[small(rest.slice(6))] : undefined;
    const d = getOwnPropertyDescriptor(owner[0], symbol ?? small(rest));
    if (typeof d?.value === "function") return owner[1] ? d.value : [d.value, owner[0]];
    if (!owner[1] || !rest.startsWith("Get")) return undefined;
    const key = rest === "GetTag" ? Symbol.toStringTag : small(rest.slice(3));
    return getOwnPropertyDescriptor(owner[0], key)?.get;
  };
  const lines = native.names.split("\n");
  for (let i = 0; i < lines.length; i++) { // iterating by protocol costs as much as all the rest
    const line = lines[i], cut = line.indexOf(" ");
    if (cut < 0) continue;
    const prefix = line.slice(0, cut), rest = line.slice(cut + 1);
    later[prefix + rest] = find(prefix, rest);
  }
  const bound = (x) => typeof x === "function" ? uncurryThis(x) : apply(bind, x[0], [x[1]]);

  // give finds a primordial: one of the names above as it was then; any other
  // as it is now.
  const give = (name) => {
    let raw = later[name];
    for (let cut = name.length - 1; raw === undefined && cut > 2; cut--) raw = find(name.slice(0, cut), name.slice(cut));
    return raw === undefined ? undefined : bound(raw);
  };
  return native.lazy(p, give);
}
