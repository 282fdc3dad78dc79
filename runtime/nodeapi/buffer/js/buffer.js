// node:buffer (nodejs.org/api/buffer.html). Memory, codecs and search are in
// buffer*.go; here stands the class and what walks JavaScript values.
function (native, p) {
  "use strict";
  const { errors } = native;
  const { Uint8Array, ObjectSetPrototypeOf, ObjectDefineProperty, SymbolIterator, ArrayIsArray } = p;
  const toPrimitive = Symbol.toPrimitive;

  class FastBuffer extends Uint8Array {}

  const alike = (value) => native.from(value);

  const from = (value, encodingOrOffset, length) => {
    if (typeof value === "object" && value !== null) {
      if (value instanceof Uint8Array || native.isBytes(value)) return native.from(value, encodingOrOffset, length);
      const valueOf = value.valueOf?.();
      if (valueOf !== undefined && valueOf !== null && valueOf !== value && (typeof valueOf === "string" || typeof valueOf === "object")) {
        return from(valueOf, encodingOrOffset, length);
      }
      if (value.length !== undefined || p.ArrayBuffer.isView(value)) return alike(typeof value.length === "number" ? value : []);
      if (value.type === "Buffer" && ArrayIsArray(value.data)) return alike(value.data);
      if (typeof value[toPrimitive] === "function") {
        const convert = value[toPrimitive]; // called without a receiver, as in the reference
        const primitive = convert("string");
        if (typeof primitive === "string") return native.from(primitive, encodingOrOffset);
      }
    }
    return native.from(value, encodingOrOffset, length);
  };

  function Buffer(value, encodingOrOffset, length) {
    if (typeof value === "number") {
      if (typeof encodingOrOffset === "string") throw errors.argType("string", "of type string", value);
      return native.alloc(value);
    }
    return from(value, encodingOrOffset, length);
  }
  ObjectSetPrototypeOf(Buffer, globalThis.Uint8Array); // the primordial is without the guard of sizes
  Buffer.prototype = FastBuffer.prototype;
  ObjectDefineProperty(FastBuffer.prototype, "constructor", { value: Buffer, writable: true, configurable: true });

  // These are plain functions in the reference, and cbor-x calls `new` on one.
  const method = {
    from: function (value, encodingOrOffset, length) { return from(value, encodingOrOffset, length); },
    of: function (...items) { return alike(items); },
    alloc: function (size, fill, encoding) { return native.alloc(size, fill, encoding); },
    allocUnsafe: function (size) { return native.alloc(size); },
    allocUnsafeSlow: function (size) { return native.alloc(size); },
    isBuffer: native.isBuffer,
    compare: native.compare,
    isEncoding: native.isEncoding,
    concat: native.concat,
    byteLength: native.byteLength,
  };
  Buffer.poolSize = 0;
  for (const name of p.ObjectKeys(method)) Buffer[name] = method[name];

  native.adopt(Buffer, FastBuffer);

  const proto = Buffer.prototype;
  ObjectDefineProperty(proto, "parent", { enumerable: true, get() { return native.isBuffer(this) ? this.buffer : undefined; } });
  ObjectDefineProperty(proto, "offset", { enumerable: true, get() { return native.isBuffer(this) ? this.byteOffset : undefined; } });

  for (const name of p.ObjectKeys(proto)) if (name.includes("UInt")) proto[name.replace("UInt", "Uint")] = proto[name];
  proto.toLocaleString = proto.toString;

  const exports = {
    Buffer,
    constants: { MAX_LENGTH: 2147483647, MAX_STRING_LENGTH: 536870888 },
    kMaxLength: 2147483647,
    kStringMaxLength: 536870888,
    INSPECT_MAX_BYTES: 50,
    isUtf8: native.isUtf8,
    isAscii: native.isAscii,
    transcode: native.transcode,
    SlowBuffer: function SlowBuffer(size) { return native.alloc(+size); },
    resolveObjectURL(id) {
      throw errors.refused("buffer.resolveObjectURL");
    },
  };
  proto.inspect = function inspect(depth, options) {
    const max = exports.INSPECT_MAX_BYTES;
    const hex = this.hexSlice(0, Math.min(max, this.length)).replace(/(.{2})/g, "$1 ").trim();
    const more = this.length > max ? ` ... ${this.length - max} more byte${this.length - max > 1 ? "s" : ""}` : "";
    const name = this.constructor?.name ?? "Buffer";
    let others = "";
    if (options) {
      const own = { __proto__: null };
      for (const key of p.ReflectOwnKeys(this)) if (typeof key === "symbol" || !/^\d+$/.test(key)) own[key] = this[key];
      const text = native.require("util").inspect(own, { ...options, breakLength: Infinity, compact: true });
      others = text.slice("[Object: null prototype] {".length + 1, -2);
      if (p.ReflectOwnKeys(own).length > 0 && this.length > 0) others = `, ${others}`;
    }
    return `<${name} ${hex}${more}${others}>`;
  };
  proto[Symbol.for("nodejs.util.inspect.custom")] = proto.inspect;
  for (const name of p.ReflectOwnKeys(proto)) {
    if (name !== "constructor" && typeof name === "string") continue;
    ObjectDefineProperty(proto, name, { enumerable: false });
  }
  for (const name of ["Blob", "File"]) native.lazy(exports, name, () => globalThis[name]);
  native.methods(exports, { atob(input) { return globalThis.atob(input); }, btoa(input) { return globalThis.btoa(input); } });
  return exports;
}
