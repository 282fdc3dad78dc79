// The error classes of WebAssembly, which are as V8's: callable without new; and
// what JavaScript says best.
function (native, p) {
  "use strict";
  const { Error, TypeError, ReflectConstruct, ObjectCreate, ObjectDefineProperty, ObjectSetPrototypeOf, BigIntAsIntN } = p;
  const { iterator } = Symbol;
  const hidden = (value) => ({ __proto__: null, value, writable: true, configurable: true, enumerable: false });
  const make = (name) => {
    const C = { [name]: function (message) {
      return ReflectConstruct(Error, message === undefined ? [] : [message, arguments[1]], new.target ?? C);
    } }[name];
    ObjectSetPrototypeOf(C, Error);
    const proto = ObjectCreate(Error.prototype, { __proto__: null, constructor: hidden(C), name: hidden(name), message: hidden("") });
    return ObjectDefineProperty(C, "prototype", { __proto__: null, value: proto, writable: false });
  };
  return {
    CompileError: make("CompileError"), LinkError: make("LinkError"), RuntimeError: make("RuntimeError"),
    int64: (v) => BigIntAsIntN(64, v),
    collect: (v) => {
      if (v == null || typeof v[iterator] !== "function") {
        throw new TypeError((v == null ? v : typeof v + " " + v) + " is not iterable (cannot read property Symbol(Symbol.iterator))");
      }
      const list = ObjectCreate(null);
      let length = 0;
      for (const item of v) list[length++] = item;
      list.length = length;
      return list;
    },
  };
}
