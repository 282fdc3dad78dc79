// Captures the built-ins that natives and preludes use, before user code can
// patch them, and adds the well-known symbols and small built-ins that goja
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
      const promise = new this((res, rej) => { resolve = res; reject = rej; });
      return { promise, resolve, reject };
    } }.withResolvers);
  }
  if (!own(Promise, "try")) {
    hide(Promise, "try", { try(fn, ...args) {
      return new this((resolve) => resolve(fn(...args)));
    } }.try);
  }

  // What is captured is bound at its first use: most of it never is.
  const p = { __proto__: null, uncurryThis, apply, ownKeys };
  const later = { __proto__: null };
  const bound = (x) => typeof x === "function" ? uncurryThis(x) : bind.call(x[0], x[1]);
  const capital = (key) => key[0].toUpperCase() + key.slice(1);
  const capture = (target, prefix, uncurry) => {
    for (const key of ownKeys(target)) {
      let name = key;
      if (typeof key === "symbol") name = "Symbol" + capital(String(key.description).replace("Symbol.", ""));
      const d = getOwnPropertyDescriptor(target, key);
      if (typeof d.value === "function") {
        later[prefix + capital(name)] = uncurry ? d.value : [d.value, target];
      } else if (typeof d.get === "function" && uncurry) {
        later[prefix + "Get" + capital(name)] = d.get;
      }
    }
  };
  for (const [name, C] of Object.entries({
    Array, ArrayBuffer, BigInt, Boolean, DataView, Date, Error, EvalError, Function, Map, Number, Object,
    Promise, RangeError, ReferenceError, RegExp, Set, String, Symbol, SyntaxError, TypeError, URIError,
    Uint8Array, WeakMap, WeakSet, Proxy, AggregateError,
  })) {
    p[name] = C;
    if (name === "Array" || name === "Object" || name === "Promise" || name === "Number" || name === "String" || name === "ArrayBuffer" || name === "BigInt") capture(C, name, false);
    if (C.prototype) capture(C.prototype, name + "Prototype", true);
  }
  const TypedArray = Object.getPrototypeOf(Uint8Array);
  p.TypedArray = TypedArray;
  capture(TypedArray.prototype, "TypedArrayPrototype", true);
  capture(Reflect, "Reflect", false);
  capture(JSON, "JSON", false);
  capture(Math, "Math", false);
  const tagOf = Object.getOwnPropertyDescriptor(TypedArray.prototype, Symbol.toStringTag).get;
  later.TypedArrayPrototypeGetTag = tagOf;
  p.SymbolIterator = Symbol.iterator;
  p.SymbolAsyncIterator = Symbol.asyncIterator;
  p.SymbolDispose = Symbol.dispose;
  p.SymbolAsyncDispose = Symbol.asyncDispose;
  p.SymbolToStringTag = Symbol.toStringTag;
  p.SymbolHasInstance = Symbol.hasInstance;
  return native.lazy(p, later, bound);
}
