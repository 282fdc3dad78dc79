// node:process as Workers have it (workerd: src/node/process.ts).
function (native, p) {
  "use strict";
  const { errors } = native;
  const { ObjectDefineProperty, ObjectAssign } = p;
  const EventEmitter = native.require("events");

  const refuse = (name) => native.require("internal/missing")(`process.${name}`);

  const assert = p.ObjectDefineProperty(function (value, message) {
    if (!value) throw new (native.require("assert").AssertionError)({ message, actual: value, expected: true, operator: "==" });
  }, "name", { value: "bound assert", configurable: true });

  const text = (key) => { if (typeof key === "symbol") throw errors.make("TypeError", "", "Cannot convert a symbol value to a string"); };
  const env = new p.Proxy(native.env(), {
    set(target, key, value) { text(key); text(value); target[key] = `${value}`; return true; },
    defineProperty(target, key, d) {
      text(key);
      for (const name of ["configurable", "writable", "enumerable"]) {
        if (!d[name]) throw errors.argValue(`descriptor.${name}`, d, `process.env value must be ${name}`);
      }
      if ("value" in d) d = { ...d, value: `${d.value}` };
      return p.ReflectDefineProperty(target, key, d);
    },
  });

  const hrtime = (previous) => {
    const now = native.nanoseconds();
    let seconds = p.Number(now / 1000000000n), nanos = p.Number(now % 1000000000n);
    if (previous !== undefined) {
      if (!p.ArrayIsArray(previous)) throw errors.argType("time", "tuple of integers", previous);
      if (previous.length !== 2) throw errors.range("time", "2", previous);
      seconds -= previous[0];
      nanos -= previous[1];
      if (nanos < 0) { seconds--; nanos += 1e9; }
    }
    return [seconds, nanos];
  };
  hrtime.bigint = () => native.nanoseconds();

  const version = native.nodeVersion;
  const versions = { node: version };
  for (const name of ("v8 modules zlib brotli zstd ares napi llhttp nghttp2 acorn ada simdutf nbytes ncrypto uvwasi uv openssl sqlite icu undici " +
    "simdjson unicode cldr tz cjs_module_lexer amaro merve").split(" ")) versions[name] = "";

  const process = p.ObjectCreate(p.ObjectCreate(EventEmitter.prototype, {
    constructor: { value: function process() { throw errors.make("TypeError", "", "Illegal constructor"); }, writable: true, configurable: true },
    [p.SymbolToStringTag]: { value: "process", configurable: true },
  }));
  EventEmitter.call(process);

  const zero = (names) => p.ObjectFromEntries(names.split(" ").map((n) => [n, 0]));
  const notPermitted = (syscall) => { throw native.require("internal/errors").system("EPERM", "operation not permitted", syscall, 1, { path: undefined }); };
  ObjectAssign(process, {
    version: `v${version}`,
    versions: p.ObjectFreeze(versions),
    title: "workerd",
    argv: ["workerd"],
    argv0: "workerd",
    execArgv: [],
    execPath: "",
    arch: "x64",
    platform: "linux",
    config: { target_defaults: { default_configuration: "Release" }, variables: {} },
    pid: 1,
    ppid: 0,
    env,
    exitCode: undefined,
    release: { name: "node", lts: true, sourceUrl: "", headersUrl: "" },
    features: { inspector: false, debug: false, uv: true, ipv6: true, tls_alpn: true, tls_sni: true, tls_ocsp: true, tls: true, cached_builtins: true,
      typescript: false, require_module: false, openssl_is_boringssl: true },
    allowedNodeEnvironmentFlags: new p.Set(),
    debugPort: 0,
    channel: null,
    connected: false,
    domain: null,
    noDeprecation: false,
    throwDeprecation: false,
    traceDeprecation: false,
    sourceMapsEnabled: false,
    moduleLoadList: [],
    permission: { has: () => true },
    report: { compact: false, directory: "", filename: "", reportOnFatalError: false, reportOnSignal: false, reportOnUncaughtException: false, excludeNetwork: false,
      excludeEnv: false, signal: "SIGUSR2", getReport: () => ({}), writeReport: refuse("report.writeReport") },
    finalization: { register() {}, registerBeforeExit() {}, unregister() {} },
    nextTick(callback, ...args) { native.nextTick(() => callback(...args)); },
    hrtime,
    uptime: () => 0,
    cwd: () => cwd,
    chdir(directory) {
      errors.string(directory, "directory");
      const to = native.require("path").resolve(cwd, directory);
      let code = "ENOENT", reason = "no such file or directory";
      const stats = native.require("fs").statSync(to, { throwIfNoEntry: false });
      if (stats?.isDirectory()) { cwd = to; return; }
      if (stats) [code, reason] = ["ENOTDIR", "not a directory"];
      const path = directory.replace(/^\//, "");
      throw ObjectAssign(errors.make("Error", "", `${reason}, chdir '${path}'`), { syscall: "chdir", code, path });
    },
    umask(mask) {
      const octal = typeof mask === "string" && /^[0-7]+$/.test(mask), integer = typeof mask === "number" && mask >= 0 && mask <= 4294967295 && p.Number.isInteger(mask);
      if (mask !== undefined && !octal && !integer) throw errors.argValue("mask", mask, "must be a 32-bit unsigned integer or an octal string");
      return 18;
    },
    memoryUsage: () => zero("rss heapTotal heapUsed external arrayBuffers"),
    resourceUsage: () => zero("userCPUTime systemCPUTime maxRSS sharedMemorySize unsharedDataSize unsharedStackSize minorPageFault majorPageFault swappedOut " +
      "fsRead fsWrite ipcSent ipcReceived signalsCount voluntaryContextSwitches involuntaryContextSwitches"),
    availableMemory: () => 0,
    constrainedMemory: () => 0,
    getuid: () => 0, geteuid: () => 0, getgid: () => 0, getegid: () => 0, getgroups: () => [0],
    getBuiltinModule: (name) => (typeof name === "string" ? native.builtin(name) : undefined),
    getSourceMapsSupport: () => ({ enabled: false, nodeModules: false, generatedCode: false }),
    setSourceMapsEnabled(value, options) {},
    hasUncaughtExceptionCaptureCallback: () => false,
    ref() {},
    unref() {},
    exit(code) {
      if (code !== undefined) process.exitCode = code;
      throw new Error(`The Node.js process.exit(${code ?? process.exitCode ?? 0}) API was called. A Worker has no process to end: return a response or throw instead.`);
    },
    abort() { throw new Error("The Node.js process.abort() API was called. A Worker has no process to end: throw an error instead."); },
    emitWarning(warning, type, code, ctor) {
      let options = typeof type === "object" && type !== null ? type : { type, code };
      if (typeof type === "function") [options, ctor] = [{}, type];
      else if (typeof code === "function") [options, ctor] = [{ type }, code];
      else if (code !== undefined && typeof code !== "string") ctor = code;
      if (type !== undefined && type !== null && !["string", "object", "function"].includes(typeof type)) errors.object(type, "options");
      if (ctor !== undefined) errors.func(ctor, "ctor");
      if (warning === undefined) throw errors.argType("warning", "an string or Error", warning);
      let error = warning;
      if (typeof warning === "string") {
        error = new Error(warning);
        ObjectDefineProperty(error, "name", { value: options.type || "Warning", writable: true, configurable: true });
        if (options.code !== undefined) error.code = options.code;
        if (options.detail !== undefined) error.detail = options.detail;
      } else if (!(warning instanceof Error)) {
        throw errors.argType("warning", "an string or Error", warning);
      }
      if (error.name === "DeprecationWarning" && process.noDeprecation) return;
      native.nextTick(() => {
        native.warn(`(workerd) ${error.code ? `[${error.code}] ` : ""}${error.name}: ${error.message}${error.detail ? `\n${error.detail}` : ""}`);
        process.emit("warning", error);
      });
    },
    assert: native.compat("remove_nodejs_compat_eol_v23") ? undefined : assert,
    loadEnvFile(path = ".env") {
      const parsed = native.require("util").parseEnv(native.require("fs").readFileSync(path, "utf8"));
      for (const key of p.ObjectKeys(parsed)) if (!(key in env)) env[key] = parsed[key];
    },
  });
  let cwd = "/bundle";
  process.reallyExit = process.exit;
  // What has nothing to do here, and does nothing in Workers either.
  ObjectAssign(process, {
    _debugEnd() {}, _debugProcess(pid) {}, _startProfilerIdleNotifier() {}, _stopProfilerIdleNotifier() {}, _tickCallback() {},
    _fatalException: (error) => false,
    _getActiveHandles: () => [],
    _getActiveRequests: () => [],
    send: (message, handle) => false,
    openStdin() { return process.stdin.resume(); },
    initgroups(user, extra) { notPermitted("initgroups"); },
    setgroups(groups) { notPermitted("setgroups"); },
    setegid(id) { notPermitted("setegid"); }, seteuid(id) { notPermitted("seteuid"); }, setgid(id) { notPermitted("setgid"); }, setuid(id) { notPermitted("setuid"); },
  });
  process._rawDebug = (...args) => native.logLine(2, native.require("util").format(...args));
  ObjectAssign(process, { _exiting: false, _preload_modules: [], _disconnect: undefined, _handleQueue: undefined, _pendingMessage: undefined,
    _channel: undefined, _send: undefined, _maxListeners: undefined, config: p.ObjectFreeze(process.config) });

  const output = (fd) => {
    const { Writable } = native.require("stream");
    class SyncWriteStream extends Writable {
      constructor() { super({ decodeStrings: true, autoDestroy: false }); this.fd = fd; this._type = "fs"; this._isStdio = true; }
      _write(chunk, encoding, callback) {
        native.write(fd, chunk);
        callback();
      }
      destroySoon() { this.end(); }
    }
    return new SyncWriteStream();
  };
  native.lazy(process, "stdout", () => output(1));
  native.lazy(process, "stderr", () => output(2));
  native.lazy(process, "stdin", () => {
    const { Readable } = native.require("stream");
    return ObjectAssign(Readable({ read() { this.push(null); } }), { fd: 0 });
  });

  // Rejections that nobody handles reach process through the global events.
  const forwarded = new p.Set();
  const forward = { unhandledRejection: "unhandledrejection", rejectionHandled: "rejectionhandled" };
  process.on("newListener", (name) => {
    const event = forward[name];
    if (event === undefined || forwarded.has(name)) return;
    forwarded.add(name);
    globalThis.addEventListener(event, (e) => {
      if (process.listenerCount(name) === 0) return;
      if (name === "unhandledRejection") {
        e.preventDefault();
        process.emit(name, e.reason, e.promise);
      } else {
        process.emit(name, e.promise);
      }
    });
  });
  return process;
}
