// What the modules that mostly refuse have that works: constants, questions
// and names of the platform.
function (native, p) {
  "use strict";
  const { errors } = native;
  const octet = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
  const v4 = new p.RegExp(`^${octet}(?:\\.${octet}){3}$`);
  const isIPv4 = (s) => v4.test(`${s}`);
  const isIPv6 = (s) => {
    let text = `${s}`.replace(/%[0-9a-zA-Z._~-]+$/, "");
    const tail = text.slice(text.lastIndexOf(":") + 1);
    if (tail.includes(".")) {
      if (!isIPv4(tail)) return false;
      text = `${text.slice(0, text.length - tail.length)}0:0`;
    }
    const halves = text.split("::");
    if (halves.length > 2) return false;
    const groups = halves.flatMap((h) => (h === "" ? [] : h.split(":")));
    if (!groups.every((g) => /^[0-9a-fA-F]{1,4}$/.test(g))) return false;
    return halves.length === 2 ? groups.length <= 7 : groups.length === 8;
  };
  const lazy = (object, names) => {
    for (const name of names) if (name in globalThis) native.lazy(object, name, () => globalThis[name]);
    return object;
  };
  return {
    net: () => ({ isIP: (s) => (isIPv4(s) ? 4 : isIPv6(s) ? 6 : 0), isIPv4, isIPv6, getDefaultAutoSelectFamily: () => true, setDefaultAutoSelectFamily() {},
      getDefaultAutoSelectFamilyAttemptTimeout: () => 250, setDefaultAutoSelectFamilyAttemptTimeout() {} }),
    dns: () => ({ ...native.require("internal/constants").dns, getServers: () => [], getDefaultResultOrder: () => "verbatim", setDefaultResultOrder() {} }),
    tty: () => ({ isatty: () => false }),
    console: () => {
      const own = p.ObjectCreate(p.ObjectGetPrototypeOf(globalThis.console));
      for (const key of p.ReflectOwnKeys(globalThis.console)) p.ObjectDefineProperty(own, key, p.ObjectGetOwnPropertyDescriptor(globalThis.console, key));
      return own;
    },
    worker_threads: () => lazy({ isMainThread: true, isInternalThread: false, parentPort: null, workerData: null, threadId: 0, resourceLimits: {},
      SHARE_ENV: Symbol.for("nodejs.worker_threads.SHARE_ENV"), getEnvironmentData: () => undefined, setEnvironmentData() {},
      markAsUntransferable() {}, markAsUncloneable() {}, isMarkedAsUntransferable: () => false }, ["MessageChannel", "MessagePort", "BroadcastChannel"]),
    tls: () => ({ CLIENT_RENEG_LIMIT: 3, CLIENT_RENEG_WINDOW: 600, DEFAULT_CIPHERS: "", DEFAULT_ECDH_CURVE: "auto", DEFAULT_MIN_VERSION: "TLSv1.2",
      DEFAULT_MAX_VERSION: "TLSv1.3", rootCertificates: [], getCiphers: () => [] }),
    cluster: () => ({ isMaster: true, isPrimary: true, isWorker: false, SCHED_NONE: 1, SCHED_RR: 2, schedulingPolicy: 2, settings: {}, workers: {},
      _events: {}, _eventsCount: 0, _maxListeners: 0 }),
    vm: () => ({ isContext: () => false, constants: { __proto__: null, USE_MAIN_CONTEXT_DEFAULT_LOADER: p.Symbol("vm_dynamic_import_main_context_default"),
      DONT_CONTEXTIFY: p.Symbol("vm_context_no_contextify") } }),
    v8: () => ({ cachedDataVersionTag: () => 0, getHeapStatistics: () => ({ total_heap_size: 0, used_heap_size: 0, heap_size_limit: 0 }),
      getHeapSpaceStatistics: () => [], setFlagsFromString() {}, promiseHooks: {}, startupSnapshot: {}, isStringOneByteRepresentation: (s) => !/[^\0-\xff]/.test(s) }),
    inspector: () => ({ console: globalThis.console, url: () => undefined, Network: {}, close() {}, waitForDebugger() {} }),
    trace_events: () => ({ getEnabledCategories: () => "" }),
    http2: () => ({ sensitiveHeaders: Symbol.for("nodejs.http2.sensitiveHeaders"), constants: {} }),
    domain: () => ({ active: null }),
    dgram: () => ({}),
    repl: () => ({ REPL_MODE_SLOPPY: p.Symbol("repl-sloppy"), REPL_MODE_STRICT: p.Symbol("repl-strict"), builtinModules: native.require("module").builtinModules }),
    _http_common: () => ({ CRLF: "\r\n", methods: native.require("internal/constants").methods, chunkExpression: /(?:^|\W)chunked(?:$|\W)/i,
      continueExpression: /(?:^|\W)100-continue(?:$|\W)/i, kIncomingMessage: p.Symbol("IncomingMessage"), parsers: {},
      _checkIsHttpToken: (s) => /^[\^_`a-zA-Z\-0-9!#$%&'*+.|~]+$/.test(s), _checkInvalidHeaderChar: (s) => /[^\t\x20-\x7e\x80-\xff]/.test(s) }),
  };
}
