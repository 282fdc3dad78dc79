// node:util (nodejs.org/api/util.html).
function (native, p) {
  "use strict";
  const { errors } = native;
  const { ReflectApply, ReflectOwnKeys, ObjectDefineProperty, ObjectGetOwnPropertyDescriptors, ObjectDefineProperties,
    ObjectGetPrototypeOf, ObjectSetPrototypeOf, ObjectPrototypeToString, Promise, ArrayIsArray } = p;
  const types = native.require("util/types");
  const custom = Symbol.for("nodejs.util.promisify.custom");

  const promisify = function promisify(original) {
    errors.func(original, "original");
    const own = original[custom];
    if (own) {
      errors.func(own, "util.promisify.custom");
      ObjectDefineProperty(own, custom, { value: own, configurable: true });
      return own;
    }
    const fn = function (...args) {
      return new Promise((resolve, reject) => {
        ReflectApply(original, this, [...args, (error, value) => (error ? reject(error) : resolve(value))]);
      });
    };
    ObjectSetPrototypeOf(fn, ObjectGetPrototypeOf(original));
    ObjectDefineProperty(fn, custom, { value: fn, configurable: true });
    const own_ = ObjectGetOwnPropertyDescriptors(original);
    delete own_.prototype;
    return ObjectDefineProperties(fn, own_);
  };
  promisify.custom = custom;

  const callbackify = function callbackify(original) {
    errors.func(original, "original");
    const fn = function (...args) {
      const callback = args.pop();
      errors.func(callback, "last argument");
      ReflectApply(original, this, args).then((value) => native.nextTick(callback, null, value), (reason) => {
        if (!reason) {
          const error = errors.make("Error", "ERR_FALSY_VALUE_REJECTION", "Promise was rejected with falsy value");
          error.reason = reason;
          reason = error;
        }
        native.nextTick(callback, reason);
      });
    };
    ObjectDefineProperty(fn, "name", { value: `${original.name}Callbackified`, configurable: true });
    ObjectDefineProperty(fn, "length", { value: original.length + 1, configurable: true });
    return fn;
  };

  const inherits = function inherits(constructor, superConstructor) {
    if (superConstructor === undefined || superConstructor === null) throw errors.argType("superCtor", "of type function", superConstructor);
    if (constructor === undefined || constructor === null) throw errors.argType("ctor", "of type function", constructor);
    if (superConstructor.prototype === undefined) throw errors.argType("superCtor.prototype", "of type object", superConstructor.prototype);
    ObjectDefineProperty(constructor, "super_", { value: superConstructor, writable: true, configurable: true });
    ObjectSetPrototypeOf(constructor.prototype, superConstructor.prototype);
  };

  const deprecated = new p.Set();
  const deprecate = function deprecate(fn, message, code) {
    if (code !== undefined) errors.string(code, "code");
    let warned = false;
    const warn = () => {
      if (warned || code !== undefined && deprecated.has(code)) return;
      warned = true;
      if (code !== undefined) deprecated.add(code);
      native.warn(`${code ? `(${code}) ` : ""}DeprecationWarning: ${message}`);
    };
    const wrapped = function (...args) {
      warn();
      return new.target ? p.ReflectConstruct(fn, args, new.target) : ReflectApply(fn, this, args);
    };
    ObjectSetPrototypeOf(wrapped, fn);
    for (const key of ["name", "length"]) ObjectDefineProperty(wrapped, key, { value: fn[key], configurable: true });
    if (fn.prototype) wrapped.prototype = fn.prototype;
    return wrapped;
  };

  // format: the directives of util.format.
  const formatWithOptions = function formatWithOptions(options, ...args) {
    if (typeof options !== "object" || options === null) throw errors.argType("inspectOptions", "of type object", options);
    return native.format(options, args);
  };

  // As in workerd every debuglog is on, and NODE_DEBUG is not looked at.
  const debuglog = function debuglog(set, callback) {
    let name;
    const debug = function debug(...args) { globalThis.console.log(`${name}: ${native.format({}, args)}\n`); };
    // The callback gets the function that is used from the first call on.
    const logger = (...args) => {
      if (name === undefined) {
        name = set.toUpperCase();
        if (typeof callback === "function") callback(debug);
      }
      debug(...args);
    };
    ObjectDefineProperty(logger, "enabled", { get: () => true, configurable: true });
    return logger;
  };

  const styles = { __proto__: null, reset: [0, 0], bold: [1, 22], dim: [2, 22], italic: [3, 23], underline: [4, 24], blink: [5, 25], inverse: [7, 27],
    hidden: [8, 28], strikethrough: [9, 29], doubleunderline: [21, 24], black: [30, 39], red: [31, 39], green: [32, 39], yellow: [33, 39], blue: [34, 39],
    magenta: [35, 39], cyan: [36, 39], white: [37, 39], bgBlack: [40, 49], bgRed: [41, 49], bgGreen: [42, 49], bgYellow: [43, 49], bgBlue: [44, 49],
    bgMagenta: [45, 49], bgCyan: [46, 49], bgWhite: [47, 49], framed: [51, 54], overlined: [53, 55], gray: [90, 39], redBright: [91, 39],
    greenBright: [92, 39], yellowBright: [93, 39], blueBright: [94, 39], magentaBright: [95, 39], cyanBright: [96, 39], whiteBright: [97, 39],
    bgGray: [100, 49], bgRedBright: [101, 49], bgGreenBright: [102, 49], bgYellowBright: [103, 49], bgBlueBright: [104, 49], bgMagentaBright: [105, 49],
    bgCyanBright: [106, 49], bgWhiteBright: [107, 49] };
  // Other names of styles, which lists of them leave out.
  const alias = (of) => {
    for (const [name, also] of [["gray", "grey"], ["bgGray", "bgGrey"], ["dim", "faint"], ["strikethrough", "crossedout"], ["strikethrough", "strikeThrough"],
      ["strikethrough", "crossedOut"], ["hidden", "conceal"], ["inverse", "swapColors"], ["inverse", "swapcolors"], ["doubleunderline", "doubleUnderline"]]) {
      ObjectDefineProperty(of, also, { configurable: true, get() { return this[name]; }, set(v) { this[name] = v; } });
    }
    return of;
  };
  alias(styles);
  const isStream = (v) => v instanceof globalThis.ReadableStream || v instanceof globalThis.WritableStream
    || Boolean(v && (v._readableState || v._writableState || typeof v.on === "function" && (typeof v.write === "function" || typeof v.pipe === "function")));
  const styleText = function styleText(format, text, options = {}) {
    errors.string(text, "text");
    const { validateStream = true, stream } = options;
    if (typeof validateStream !== "boolean") throw errors.argType("options.validateStream", "of type boolean", validateStream);
    if (validateStream && stream !== undefined && !isStream(stream)) throw errors.argType("stream", "an instance of ReadableStream, WritableStream, or Stream", stream);
    const list = ArrayIsArray(format) ? format : [format];
    for (const name of list) {
      if (name !== "none" && !styles[name]) {
        throw errors.argValue("format", name, `must be one of: ${p.ObjectKeys(styles).map((s) => `'${s}'`).join(", ")}`);
      }
    }
    if (validateStream) return text; // no stream here is a terminal
    return list.filter((n) => n !== "none").reduceRight((t, n) => `\u001b[${styles[n][0]}m${t}\u001b[${styles[n][1]}m`, text);
  };

  const is = {
    isBoolean: (v) => typeof v === "boolean",
    isBuffer: (v) => native.require("buffer").Buffer.isBuffer(v),
    isDate: (v) => types.isDate(v),
    isError: (v) => Error.isError(v),
    isFunction: (v) => typeof v === "function",
    isNull: (v) => v === null,
    isNullOrUndefined: (v) => v === null || v === undefined,
    isNumber: (v) => typeof v === "number",
    isObject: (v) => v !== null && typeof v === "object",
    isPrimitive: (v) => v === null || typeof v !== "object" && typeof v !== "function",
    isRegExp: (v) => types.isRegExp(v),
    isString: (v) => typeof v === "string",
    isSymbol: (v) => typeof v === "symbol",
    isUndefined: (v) => v === undefined,
  };
  if (native.compat("remove_nodejs_compat_eol_v23")) for (const name of p.ObjectKeys(is)) is[name] = undefined;

  const systemError = (number) => {
    if (typeof number !== "number") throw errors.argType("err", "of type number", number);
    if (!(number < 0) || number % 1 !== 0) throw errors.range("err", "a negative integer", number);
    return native.require("internal/constants").systemErrors.get(number) ?? [`Unknown system error ${number}`, `Unknown system error ${number}`];
  };

  // util.aborted(signal, resource): resolves when the signal aborts.
  const aborted = async function aborted(signal, resource) {
    if (signal === undefined || typeof signal.aborted !== "boolean") throw errors.argType("signal", "an instance of AbortSignal", signal);
    if (resource === null || typeof resource !== "object") throw errors.argType("resource", "of type object", resource);
    return signal.aborted ? undefined : new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  };

  // callSites are the frames that called getCallSites, the topmost first.
  const callSites = () => {
    const { prepareStackTrace, stackTraceLimit } = Error, holder = {};
    Error.prepareStackTrace = (_, sites) => sites;
    Error.stackTraceLimit = 200;
    try { Error.captureStackTrace(holder, util.getCallSites); return holder.stack.map((s) => {
      const at = { functionName: s.getFunctionName() ?? "", scriptName: s.getFileName() ?? "", lineNumber: s.getLineNumber(), columnNumber: s.getColumnNumber() };
      return { ...at, column: at.columnNumber };
    }); } finally { p.ObjectAssign(Error, { prepareStackTrace, stackTraceLimit }); }
  };

  const inspect = function inspect(value, options, ...legacy) {
    if (legacy.length > 0 || typeof options === "boolean") {
      options = { showHidden: !!options, depth: legacy[0], colors: legacy[1] };
      if (options.depth === undefined) delete options.depth;
    }
    return native.inspect(value, { ...defaults, ...options });
  };
  inspect.custom = Symbol.for("nodejs.util.inspect.custom");
  const defaults = { showHidden: false, depth: 2, colors: false, customInspect: true, showProxy: false, maxArrayLength: 100, maxStringLength: 10000,
    breakLength: 80, compact: 3, sorted: false, getters: false, numericSeparator: false };
  ObjectDefineProperty(inspect, "defaultOptions", {
    get: () => defaults,
    set(options) {
      if (typeof options !== "object" || options === null) throw errors.argType("options", "of type object", options);
      p.ObjectAssign(defaults, options);
    },
  });
  inspect.colors = alias({ __proto__: null, ...styles });
  inspect.styles = { __proto__: null, special: "cyan", number: "yellow", bigint: "yellow", boolean: "yellow", undefined: "grey", null: "bold",
    string: "green", symbol: "green", date: "magenta", regexp: "red", module: "underline" };

  const util = {
    isArray: ArrayIsArray,
    ...is,
    inspect,
    format: (...args) => native.format({}, args),
    formatWithOptions,
    promisify,
    callbackify,
    inherits,
    deprecate,
    debuglog,
    debug: debuglog,
    log: (...args) => native.logLine(1, native.format({}, args)),
    types,
    isDeepStrictEqual: (a, b) => native.require("internal/comparisons").equal(a, b),
    styleText,
    stripVTControlCharacters(text) {
      errors.string(text, "str");
      return text.replace(/[\u001B\u009B][[\]()#;?]*(?:(?:(?:(?:;[-a-zA-Z\d/#&.:=?%@~_]+)*|[a-zA-Z\d]+(?:;[-a-zA-Z\d/#&.:=?%@~_]*)*)?(?:\u0007|\u001B\\|\u009C))|(?:(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-nq-uy=><~]))/g, "");
    },
    toUSVString: (text) => native.usv(`${text}`),
    parseEnv(text) { errors.string(text, "content"); return native.parseEnv(text); },
    getSystemErrorName: (number) => systemError(number)[0],
    getSystemErrorMessage: (number) => systemError(number)[1],
    getSystemErrorMap: () => native.require("internal/constants").systemErrors,
    getCallSites(count = 10) {
      count = p.Number(count);
      if (!(count >= 1 && count <= 200)) throw new p.Error("Frame count should be between 1 and 200 inclusive.");
      return callSites().slice(0, count - 1); // the reference counts its own frame
    },
    diff(actual, expected) {
      const list = (v, name) => {
        if (typeof v === "string") return v.split("");
        if (!ArrayIsArray(v)) throw errors.argType(name, "of type string", v);
        for (const [i, item] of v.entries()) errors.string(item, `${name}[${i}]`);
        return v;
      };
      if (actual === expected) return [];
      return native.require("internal/comparisons").edits(list(actual, "actual"), list(expected, "expected"));
    },
    convertProcessSignalToExitCode(name) {
      const number = native.require("internal/constants").os.signals[name];
      if (number === undefined) throw errors.argValue("signalCode", name, "is invalid");
      return 128 + number;
    },
    aborted,
    // Signals are given to other workers by RPC, so there is nothing to mark.
    transferableAbortController: () => new globalThis.AbortController(),
    transferableAbortSignal(signal) {
      if (!(signal instanceof globalThis.AbortSignal)) throw errors.argType("signal", "an instance of AbortSignal", signal);
      return signal;
    },
    setTraceSigInt(enable) {},
    _extend(target, source) { return source !== null && typeof source === "object" ? p.ObjectAssign(target, source) : target; },
    _errnoException(number, syscall, original) {
      const name = systemError(number)[0];
      const error = new Error(`${syscall} ${name}${original ? ` ${original}` : ""}`);
      return p.ObjectAssign(error, { errno: number, code: name, syscall });
    },
    parseArgs() { throw errors.refused("util.parseArgs"); },
  };
  util.getCallSite = util.getCallSites;
  native.lazy(util, "TextEncoder", () => globalThis.TextEncoder);
  native.lazy(util, "TextDecoder", () => globalThis.TextDecoder);
  native.lazy(util, "MIMEType", () => native.require("internal/mime").MIMEType);
  native.lazy(util, "MIMEParams", () => native.require("internal/mime").MIMEParams);
  return util;
}
