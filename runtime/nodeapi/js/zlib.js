// node:zlib (nodejs.org/api/zlib.html). Coding is in zlib.go.
function (native, p) {
  "use strict";
  const { errors } = native;
  const { ReflectApply, ObjectSetPrototypeOf, ObjectDefineProperty } = p;
  const { Transform } = native.require("internal/stream_duplex");
  const { Buffer } = native.require("buffer");
  const constants = native.require("internal/constants").zlib;

  const bounded = (options, name, low, high, fallback) => {
    const v = options?.[name];
    if (v === undefined || v !== v) return fallback;
    if (typeof v !== "number") throw errors.argType(`options.${name}`, "of type number", v);
    if (v < low || v > high) throw errors.range(`options.${name}`, `>= ${low} and <= ${high}`, v);
    return v;
  };
  // level is the one number that coders take.
  const level = (kind, options) => {
    if (kind === "brotlicompress") return options?.params?.[constants.BROTLI_PARAM_QUALITY] ?? constants.BROTLI_DEFAULT_QUALITY;
    if (kind === "zstdcompress") return options?.params?.[constants.ZSTD_c_compressionLevel] ?? constants.ZSTD_CLEVEL_DEFAULT;
    bounded(options, "windowBits", kind === "gunzip" || kind === "inflate" || kind === "unzip" ? 0 : 8, 15, 15);
    bounded(options, "memLevel", 1, 9, 8);
    bounded(options, "strategy", 0, 4, 0);
    bounded(options, "chunkSize", 64, Infinity, 16384);
    return bounded(options, "level", -1, 9, -1);
  };
  const open = (target, kind, options) => {
    if (options?.dictionary !== undefined && !native.isView(options.dictionary) && !(options.dictionary instanceof ArrayBuffer)) {
      throw errors.argType("options.dictionary", "an instance of Buffer, TypedArray, DataView, or ArrayBuffer", options.dictionary);
    }
    native.coder(target, kind, level(kind, options), options?.dictionary, options?.maxOutputLength);
  };
  const MORE = 0, FLUSH = 1, LAST = 2;

  function Zlib(kind, options) {
    ReflectApply(Transform, this, [{ autoDestroy: true, ...options, decodeStrings: true }]);
    open(this, kind, options);
    this._kind = kind;
    this._open = options;
    this.bytesWritten = 0;
    const flush = options?.flush;
    this._step = flush !== undefined && flush !== constants.Z_NO_FLUSH && !kind.startsWith("brotli") ? FLUSH : MORE;
  }
  ObjectSetPrototypeOf(Zlib.prototype, Transform.prototype);
  ObjectSetPrototypeOf(Zlib, Transform);
  // Output comes in a later microtask, as it comes later in Node.
  const step = (stream, chunk, how, callback) => native.nextTick(() => {
    if (stream.destroyed) { callback(); return; }
    let out;
    try { out = native.code(stream, chunk, how); } catch (error) { callback(error); return; }
    if (out.length > 0) stream.push(out);
    callback();
  });
  p.ObjectAssign(Zlib.prototype, {
    _transform(chunk, encoding, callback) {
      this.bytesWritten += chunk.length;
      step(this, chunk, this._step, callback);
    },
    _flush(callback) { step(this, null, LAST, callback); },
    flush(kind, callback) {
      if (typeof kind === "function") callback = kind;
      const done = () => step(this, null, FLUSH, callback ?? (() => {}));
      if (this.writableLength === 0) native.nextTick(done); else this.write(Buffer.alloc(0), done);
    },
    close(callback) {
      if (callback) { if (this.destroyed) native.nextTick(callback); else this.once("close", callback); }
      this.destroy();
    },
    reset() { open(this, this._kind, this._open); },
    params(levelNow, strategy, callback) { this._open = { ...this._open, level: levelNow }; native.nextTick(callback); },
  });
  ObjectDefineProperty(Zlib.prototype, "_closed", { get() { return this.destroyed; } });

  const once = (kind, buffer, options) => {
    const state = {};
    open(state, kind, options);
    native.input(buffer);
    return native.code(state, buffer, LAST);
  };
  const zlib = { Zlib };
  for (const name of ["Deflate", "Inflate", "Gzip", "Gunzip", "DeflateRaw", "InflateRaw", "Unzip", "BrotliCompress", "BrotliDecompress", "ZstdCompress", "ZstdDecompress"]) {
    const kind = name.toLowerCase();
    const method = name[0].toLowerCase() + name.slice(1);
    const C = function (options) {
      if (!(this instanceof C)) return new C(options);
      ReflectApply(Zlib, this, [kind, options]);
    };
    ObjectDefineProperty(C, "name", { value: name, configurable: true });
    ObjectSetPrototypeOf(C.prototype, Zlib.prototype);
    ObjectSetPrototypeOf(C, Zlib);
    zlib[name] = C;
    zlib[`create${name}`] = (options) => new C(options);
    zlib[`${method}Sync`] = (buffer, options) => once(kind, buffer, options);
    zlib[method] = (buffer, options, callback) => {
      if (typeof options === "function") { callback = options; options = undefined; }
      errors.func(callback, "callback");
      native.input(buffer);
      native.nextTick(() => {
        let out;
        try { out = once(kind, buffer, options); } catch (error) { callback(error); return; }
        callback(null, out);
      });
    };
    const custom = Symbol.for("nodejs.util.promisify.custom");
    ObjectDefineProperty(zlib[method], custom, { value: (buffer, options) => new p.Promise((resolve, reject) => {
      zlib[method](buffer, options, (error, out) => (error ? reject(error) : resolve(out)));
    }) });
  }
  zlib.crc32 = (data, value = 0) => {
    errors.integer(value, "value", 0, 4294967295);
    return native.crc32(data, value);
  };
  const codes = {};
  for (const name of ["Z_OK", "Z_STREAM_END", "Z_NEED_DICT", "Z_ERRNO", "Z_STREAM_ERROR", "Z_DATA_ERROR", "Z_MEM_ERROR", "Z_BUF_ERROR", "Z_VERSION_ERROR"]) {
    codes[name] = constants[name];
    codes[constants[name]] = name;
  }
  zlib.codes = p.ObjectFreeze(codes);
  zlib.constants = p.ObjectFreeze(constants);
  for (const name of p.ObjectKeys(constants)) {
    if (!(name in zlib)) ObjectDefineProperty(zlib, name, { value: constants[name], enumerable: true });
  }
  return zlib;
}
