// node:util/types (nodejs.org/api/util.html#utiltypes). Brands come from
// the engine and its built-ins; what has none is told by its tag.
function (native, p) {
  "use strict";
  const { TypedArrayPrototypeGetTag: tag } = p;
  const typed = (name) => (v) => (typeof v === "object" && v !== null && tag(v) === name);
  const class_ = (name) => (v) => native.classOf(v) === name;

  const branded = (ask) => (v) => {
    if (typeof v !== "object" || v === null) return false;
    try { ask(v); return true; } catch { return false; }
  };
  const tagged = (name) => (v) => native.classOf(v) !== "Proxy" && p.ObjectPrototypeToString(v) === `[object ${name}]`;

  const sharedLength = p.ObjectGetOwnPropertyDescriptor(globalThis.SharedArrayBuffer.prototype, "byteLength").get;
  const isShared = branded((v) => p.ReflectApply(sharedLength, v, []));

  const types = {
    isDate: class_("Date"),
    isRegExp: class_("RegExp"),
    isMap: branded(p.MapPrototypeGetSize),
    isSet: branded(p.SetPrototypeGetSize),
    isWeakMap: branded((v) => p.WeakMapPrototypeHas(v, v)),
    isWeakSet: branded((v) => p.WeakSetPrototypeHas(v, v)),
    isPromise: class_("Promise"),
    isProxy: class_("Proxy"),
    isNativeError: class_("Error"),
    isArgumentsObject: class_("Arguments"),
    isArrayBuffer: (v) => native.classOf(v) === "ArrayBuffer" && !isShared(v),
    isAnyArrayBuffer: class_("ArrayBuffer"),
    isSharedArrayBuffer: isShared,
    isDataView: (v) => p.ArrayBufferIsView(v) && tag(v) === undefined,
    isArrayBufferView: p.ArrayBufferIsView,
    isTypedArray: (v) => typeof v === "object" && v !== null && tag(v) !== undefined,
    isNumberObject: class_("Number"),
    isStringObject: class_("String"),
    isBooleanObject: class_("Boolean"),
    isSymbolObject: branded(p.SymbolPrototypeValueOf),
    isBigIntObject: branded(p.BigIntPrototypeValueOf),
    isMapIterator: tagged("Map Iterator"),
    isSetIterator: tagged("Set Iterator"),
    isGeneratorObject: tagged("Generator"),
    isGeneratorFunction: tagged("GeneratorFunction"),
    isAsyncFunction: tagged("AsyncFunction"),
    isModuleNamespaceObject: () => false,
    isExternal: () => false,
    isCryptoKey: (v) => typeof globalThis.CryptoKey === "function" && v instanceof globalThis.CryptoKey,
    isKeyObject: (v) => v instanceof native.require("crypto").KeyObject,
  };
  types.isBoxedPrimitive = (v) => types.isNumberObject(v) || types.isStringObject(v) || types.isBooleanObject(v) ||
    types.isSymbolObject(v) || types.isBigIntObject(v);
  for (const name of ["Uint8Array", "Uint8ClampedArray", "Uint16Array", "Uint32Array", "Int8Array", "Int16Array", "Int32Array",
    "Float16Array", "Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array"]) types[`is${name}`] = typed(name);
  for (const name of p.ObjectKeys(types)) { // those that are native in the reference need their argument
    const test = types[name];
    if (name === "isCryptoKey" || name === "isKeyObject") continue;
    types[name] = { [name](v) {
      if (arguments.length === 0) throw new p.TypeError(`Failed to execute '${name}' on 'UtilModule': parameter 1 is not of type 'Value'.`);
      return test(v);
    } }[name];
  }
  return types;
}
