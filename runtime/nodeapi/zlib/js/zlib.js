// node:zlib (nodejs.org/api/zlib.html). Coding is in zlib.go and zlib_decode.go.
function (native, p) {
  "use strict";
  const { errors } = native;
  const { ReflectApply, ObjectSetPrototypeOf, ObjectDefineProperty } = p;
  const { Transform } = native.require("internal/stream_duplex");
  const { finished } = native.require("internal/stream_pipeline");
  const { Buffer, kMaxLength } = native.require("buffer");
  const constants = native.require("internal/constants").zlib;
  const MORE = 0, FLUSH = 1, LAST = 2, CUT = 3, FULL = 4, PARTIAL = 5, BLOCK = 6; // zlib.go's coderStep

  // given reports whether a number was given.
  const given = (v, name) => {
    if (v === undefined || v !== v) return false;
    if (typeof v !== "number") throw errors.argType(name, "of type number", v);
    if (v === Infinity || v === -Infinity) throw errors.range(name, "a finite number", v);
    return true;
  };
  const bounded = (v, name, low, high, fallback) => {
    if (!given(v, name)) return fallback;
    if (v < low || v > high) throw errors.range(name, `>= ${low} and <= ${high}`, v);
    return v;
  };
  const option = (options, name, low, high, fallback) => bounded(options?.[name], `options.${name}`, low, high, fallback);

  // The three families: their flush operations, and the parameters of the newer two.
  const families = {
    zlib: { last: 5, flush: constants.Z_NO_FLUSH, finish: constants.Z_FINISH, full: constants.Z_FULL_FLUSH },
    brotli: { last: 3, flush: constants.BROTLI_OPERATION_PROCESS, finish: constants.BROTLI_OPERATION_FINISH, full: constants.BROTLI_OPERATION_FLUSH,
      code: "ERR_BROTLI_INVALID_PARAM", named: "Brotli", highest: 9, level: constants.BROTLI_PARAM_QUALITY, normal: constants.BROTLI_DEFAULT_QUALITY },
    zstd: { last: 2, flush: constants.ZSTD_e_continue, finish: constants.ZSTD_e_end, full: constants.ZSTD_e_flush,
      code: "ERR_ZSTD_INVALID_PARAM", named: "Zstd", highest: 402, level: constants.ZSTD_c_compressionLevel, normal: constants.ZSTD_CLEVEL_DEFAULT },
  };
  const compresses = { __proto__: null, gzip: true, deflate: true, deflateraw: true, brotlicompress: true, zstdcompress: true };
  const familyOf = (kind) => (kind.startsWith("brotli") ? families.brotli : kind.startsWith("zstd") ? families.zstd : families.zlib);

  const zlibSettings = (kind, options) => {
    const inflates = kind === "gunzip" || kind === "inflate" || kind === "unzip";
    const bits = options?.windowBits;
    const windowBits = (bits === undefined || bits === null || bits === 0) && inflates ? 0 : option(options, "windowBits", kind === "gzip" ? 9 : 8, 15, 15);
    const level = option(options, "level", -1, 9, -1);
    const memLevel = option(options, "memLevel", 1, 9, 8);
    const strategy = option(options, "strategy", 0, 4, 0);
    const dictionary = options?.dictionary;
    if (dictionary !== undefined && !native.isView(dictionary) && !(dictionary instanceof ArrayBuffer)) {
      throw errors.argType("options.dictionary", "an instance of Buffer, TypedArray, DataView, or ArrayBuffer", dictionary);
    }
    return { windowBits, level, memLevel, strategy, dictionary };
  };
  const paramSettings = (family, options) => {
    for (const key of options?.params ? p.ObjectKeys(options.params) : []) {
      const n = +key, v = options.params[key];
      if (!(n >= 0 && n <= family.highest)) throw errors.make("RangeError", family.code, `${key} is not a valid ${family.named} parameter`);
      if (typeof v !== "number" && typeof v !== "boolean") throw errors.argType("options.params[key]", "of type number", v);
    }
    const { params } = options ?? {};
    const s = { level: params?.[family.level] ?? family.normal };
    if (family === families.brotli) s.windowBits = bounded(params?.[constants.BROTLI_PARAM_LGWIN], "options.params[key]", 0, 24, 0) || 22;
    else s.strategy = params?.[constants.ZSTD_c_checksumFlag] ? 1 : 0;
    return s;
  };
  // settings checks options in Node's order.
  const settings = (kind, options) => {
    const family = familyOf(kind);
    const s = family === families.zlib ? zlibSettings(kind, options) : paramSettings(family, options);
    s.family = family;
    s.chunkSize = 16384;
    if (given(options?.chunkSize, "options.chunkSize")) {
      s.chunkSize = options.chunkSize;
      if (s.chunkSize < 64) throw errors.range("options.chunkSize", ">= 64", s.chunkSize);
    }
    s.flush = option(options, "flush", 0, family.last, family.flush);
    s.finish = option(options, "finishFlush", 0, family.last, family.finish);
    s.limit = option(options, "maxOutputLength", 1, kMaxLength, kMaxLength);
    return s;
  };
  // number reads an option of a one-shot function as the reference's native code does:
  // without codes in the errors, and with an int of whatever converts to one.
  const number = (v, name, low, high, fallback) => {
    if (v === undefined) return fallback;
    const n = v !== v ? 0 : +v;
    if (n !== n || n === Infinity || n === -Infinity) throw new p.TypeError("The value cannot be converted because it is not an integer.");
    const int = n < 0 ? p.MathCeil(n) : p.MathFloor(n);
    if (int < low || int > high) throw new p.RangeError(`The value of "options.${name}" is out of range. It must be >= ${low} and <= ${high}. Received ${int}`);
    return int;
  };
  const LARGEST = 134217728; // bytes that a one-shot function gives
  const wrongField = (field, type) => new p.TypeError(`Incorrect type for the '${field}' field on 'Options': the provided value is not of type '${type}'.`);
  // onceSettings are settings for a one-shot function.
  const onceSettings = (kind, options) => {
    const family = familyOf(kind);
    const o = options ?? {};
    number(o.chunkSize, "chunkSize", 64, LARGEST);
    const s = { family, limit: number(o.maxOutputLength, "maxOutputLength", 1, LARGEST, LARGEST) };
    number(o.flush, "flush", 0, family.last);
    s.finish = number(o.finishFlush, "finishFlush", 0, family.last, family.finish);
    if (family === families.zlib) {
      const inflates = kind === "gunzip" || kind === "inflate" || kind === "unzip";
      s.level = number(o.level, "level", -1, 9, -1);
      s.windowBits = number(o.windowBits, "windowBits", inflates ? 0 : 8, 15, inflates ? 0 : 15);
      s.memLevel = number(o.memLevel, "memLevel", 1, 9, 8);
      s.strategy = number(o.strategy, "strategy", -2147483648, 2147483647, 0);
      s.dictionary = o.dictionary;
      if (s.dictionary !== undefined && !native.isView(s.dictionary) && !(s.dictionary instanceof ArrayBuffer)) throw wrongField("dictionary", "ArrayBuffer or ArrayBufferView");
      if (s.strategy < 0 || s.strategy > 4) throw new p.Error("invalid strategy");
      if (compresses[kind] && s.windowBits < (kind === "gzip" ? 9 : 8)) throw new p.Error("Zlib error");
      return s;
    }
    const { params } = o;
    if (params !== undefined && (typeof params !== "object" || params === null)) throw wrongField("params", "object");
    for (const key of params ? p.ObjectKeys(params) : []) {
      if (+key >= 0 && +key <= family.highest) continue;
      throw new p.Error(family === families.zstd ? `Unsupported Zstd ${compresses[kind] ? "compression" : "decompression"} parameter: ${key}` : "Setting parameter failed");
    }
    // Values beyond a parameter's range are brought into it, as brotli does.
    const set = (name, low, high, fallback) => {
      const n = +(params?.[name] ?? NaN);
      return n === n ? p.MathMin(p.MathMax(n, low), high) : fallback;
    };
    s.level = family === families.brotli ? set(family.level, 0, 11, family.normal) : set(family.level, -131072, 22, family.normal);
    if (family === families.brotli) s.windowBits = set(constants.BROTLI_PARAM_LGWIN, 10, 24, 22);
    else s.strategy = params?.[constants.ZSTD_c_checksumFlag] ? 1 : 0;
    return s;
  };
  const open = (target, kind, s) => native.coder(target, kind, s.level, s.dictionary, s.limit, s.windowBits, s.strategy, s.memLevel);
  // stepOf is what a flush operation asks of a coder; final: no input follows.
  const zlibSteps = [MORE, PARTIAL, FLUSH, FULL, LAST, BLOCK];
  const stepOf = (kind, flag, final) => {
    const family = familyOf(kind);
    if (flag === family.finish) return LAST;
    if (final && !compresses[kind]) return CUT;
    if (family === families.zlib) return zlibSteps[flag];
    return flag === family.flush ? MORE : FLUSH;
  };

  const kind = Symbol("kind"), flushing = Symbol("flush");
  function Zlib(options, name, s) {
    const { encoding, objectMode, writableObjectMode, ...rest } = options ?? {};
    ReflectApply(Transform, this, [{ autoDestroy: true, ...rest }]);
    ObjectDefineProperty(this, kind, { value: name });
    this.bytesWritten = 0;
    this._chunkSize = s.chunkSize;
    this._defaultFlushFlag = s.flush;
    this._finishFlushFlag = s.finish;
    this._defaultFullFlushFlag = s.family.full;
    this._info = Boolean(options?.info);
    this._maxOutputLength = s.limit;
    this._handle = {};
    open(this._handle, name, { ...s, limit: kMaxLength }); // the limit is that of results in one piece
    ObjectDefineProperty(this._handle, "settings", { value: s, writable: true });
    if (s.family === families.zlib) { this._level = s.level; this._strategy = s.strategy; }
  }
  ObjectSetPrototypeOf(Zlib.prototype, Transform.prototype);
  ObjectSetPrototypeOf(Zlib, Transform);

  // Output comes in a later microtask, as it comes later in Node.
  const coded = (stream, chunk, flag, final, callback) => native.nextTick(() => {
    if (!stream._handle) { callback(); return; }
    let out;
    try { out = native.code(stream._handle, chunk, stepOf(stream[kind], flag, final)); } catch (error) {
      stream.destroy(error);
      return;
    }
    stream.bytesWritten += chunk.byteLength;
    for (let i = 0; i < out.length; i += stream._chunkSize) stream.push(out.length <= stream._chunkSize ? out : out.subarray(i, i + stream._chunkSize));
    callback();
  });
  const bound = (stream) => {
    if (!stream._handle) throw errors.make("Error", "ERR_INTERNAL_ASSERTION", "zlib binding closed");
    return stream._handle;
  };
  // A write of one of these asks for a flush.
  const requests = [];
  const request = (flag) => {
    if (requests[flag] === undefined) { requests[flag] = Buffer.alloc(0); requests[flag][flushing] = flag; }
    return requests[flag];
  };
  p.ObjectAssign(Zlib.prototype, {
    _transform(chunk, encoding, callback) {
      let flag = this._defaultFlushFlag;
      const final = this.writableEnded && this.writableLength === chunk.byteLength;
      if (typeof chunk[flushing] === "number") flag = chunk[flushing];
      else if (final) flag = p.MathMax(flag, this._finishFlushFlag);
      coded(this, chunk, flag, final, callback);
    },
    _final(callback) { callback(); },
    _flush(callback) { this._transform(Buffer.alloc(0), "", callback); },
    _destroy(error, callback) { this._handle = null; callback(error); },
    _processChunk(chunk, flag, callback) {
      if (typeof callback === "function") { coded(this, chunk, flag, flag === this._finishFlushFlag, callback); return undefined; }
      const handle = bound(this);
      this.bytesWritten += chunk.byteLength;
      try { return native.code(handle, chunk, stepOf(this[kind], flag, flag === this._finishFlushFlag)); } finally { this._handle = null; }
    },
    flush(flag, callback) {
      if (typeof flag === "function" || (flag === undefined && !callback)) { callback = flag; flag = this._defaultFullFlushFlag; }
      if (this.writableFinished) { if (callback) native.nextTick(callback); }
      else if (this.writableEnded) { if (callback) this.once("end", callback); }
      else this.write(request(flag), "", callback);
    },
    close(callback) {
      if (callback) finished(this, callback);
      this.destroy();
    },
    reset() { const handle = bound(this); open(handle, this[kind], handle.settings); },
    params(level, strategy, callback) {
      bounded(level, "level", -1, 9);
      bounded(strategy, "strategy", 0, 4);
      if (this._level === level && this._strategy === strategy) { if (callback) native.nextTick(callback); return; }
      this.flush(constants.Z_SYNC_FLUSH, () => {
        const handle = bound(this);
        native.params(handle, level, strategy);
        handle.settings = { ...handle.settings, level, strategy };
        this._level = level;
        this._strategy = strategy;
        callback?.();
      });
    },
  });
  ObjectDefineProperty(Zlib.prototype, "_closed", { configurable: true, enumerable: true, get() { return !this._handle; } });
  ObjectDefineProperty(Zlib.prototype, "bytesRead", { configurable: true, enumerable: true, get() { return this.bytesWritten; }, set(v) { this.bytesWritten = v; } });

  const zlib = {};
  const named = (name, fn) => { ObjectDefineProperty(fn, "name", { value: name, configurable: true }); return fn; };
  for (const name of ["Deflate", "Inflate", "Gzip", "Gunzip", "DeflateRaw", "InflateRaw", "Unzip", "BrotliCompress", "BrotliDecompress", "ZstdCompress", "ZstdDecompress"]) {
    const format = name.toLowerCase();
    const method = name[0].toLowerCase() + name.slice(1);
    const C = named(name, function (options) {
      if (new.target === undefined) throw new p.TypeError(`Class constructor ${name} cannot be invoked without 'new'`);
      ReflectApply(Zlib, this, [options, format, settings(format, options)]);
    });
    ObjectSetPrototypeOf(C.prototype, Zlib.prototype);
    ObjectDefineProperty(C.prototype, "constructor", { value: C, writable: true, configurable: true });
    ObjectSetPrototypeOf(C, Zlib);
    ObjectDefineProperty(C, "prototype", { writable: false });
    const task = familyOf(format) === families.zlib ? "zlib" : method; // the reference's native function
    const once = (buffer, options) => {
      if (options?.info) {
        const engine = new C(options);
        return { engine, buffer: engine._processChunk(native.isView(buffer) ? buffer : Buffer.from(buffer), engine._finishFlushFlag) };
      }
      const s = onceSettings(format, options), state = {};
      open(state, format, s);
      return native.codeOnce(state, buffer, stepOf(format, s.finish, true));
    };
    zlib[name] = C;
    zlib[`create${name}`] = named(`create${name}`, (options) => new C(options));
    zlib[`${method}Sync`] = named(`${method}Sync`, (buffer, options = {}) => {
      native.input(buffer, `${task}Sync`);
      return once(buffer, options);
    });
    zlib[method] = named(method, (buffer, options, callback) => {
      if (typeof options === "function") { callback = options; options = undefined; }
      errors.func(callback, "callback");
      native.input(buffer, task);
      native.nextTick(() => {
        let out;
        try { out = once(buffer, options); } catch (error) { callback(error); return; }
        callback(null, out);
      });
    });
  }
  zlib.crc32 = named("crc32", (data, value = 0) => {
    errors.uint32(value, "value");
    native.input(data, "crc32");
    return native.crc32(data, value);
  });
  const codes = {};
  for (const name of ["Z_OK", "Z_STREAM_END", "Z_NEED_DICT", "Z_ERRNO", "Z_STREAM_ERROR", "Z_DATA_ERROR", "Z_MEM_ERROR", "Z_BUF_ERROR", "Z_VERSION_ERROR"]) codes[name] = constants[name];
  for (const name of p.ObjectKeys(codes)) codes[codes[name]] = name;
  ObjectDefineProperty(zlib, "codes", { value: p.ObjectFreeze(codes), enumerable: true });
  zlib.constants = constants;
  for (const name of p.ObjectKeys(constants)) {
    if (!(name in zlib)) ObjectDefineProperty(zlib, name, { value: constants[name], enumerable: true });
  }
  return zlib;
}
