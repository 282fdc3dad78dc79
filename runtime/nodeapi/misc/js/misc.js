// What the modules that mostly refuse have that works: constants, questions
// and names of the platform.
function (native, p) {
  "use strict";
  const { errors } = native;
  const environment = new p.Map();
  const zeros = (names) => p.ObjectFromEntries(names.split(" ").map((n) => [n, 0]));
  const hooks = (names) => p.ObjectFromEntries(names.split(" ").map((n) => [n, { [n]() {} }[n]]));
  const lazy = (object, names) => {
    for (const name of names) if (name in globalThis) native.lazy(object, name, () => globalThis[name]);
    return object;
  };
  return {
    tty: () => ({ isatty: () => false }),
    worker_threads: () => lazy({ isMainThread: true, isInternalThread: false, parentPort: null, workerData: null, threadId: 0, resourceLimits: {},
      SHARE_ENV: Symbol.for("nodejs.worker_threads.SHARE_ENV"), getEnvironmentData: (key) => environment.get(key),
      setEnvironmentData(key, value) { if (value === undefined) environment.delete(key); else environment.set(key, value); },
      receiveMessageOnPort: native.receive,
      markAsUntransferable() {}, markAsUncloneable() {}, isMarkedAsUntransferable: () => false }, ["MessageChannel", "MessagePort", "BroadcastChannel"]),
    cluster: () => ({ isMaster: true, isPrimary: true, isWorker: false, SCHED_NONE: 1, SCHED_RR: 2, schedulingPolicy: 2, settings: {}, workers: {},
      _events: {}, _eventsCount: 0, _maxListeners: 0 }),
    vm: () => ({ createContext: (object = {}) => object,
      isContext(object) {
        if (object === null || typeof object !== "object") throw errors.argType("object", "of type object", object);
        return false;
      },
      constants: { __proto__: null, USE_MAIN_CONTEXT_DEFAULT_LOADER: p.Symbol("vm_dynamic_import_main_context_default"),
        DONT_CONTEXTIFY: p.Symbol("vm_context_no_contextify") } }),
    v8: () => ({ cachedDataVersionTag: () => 0,
      getHeapStatistics: () => zeros("total_heap_size total_heap_size_executable total_physical_size total_available_size used_heap_size heap_size_limit malloced_memory " +
        "peak_malloced_memory does_zap_garbage number_of_native_contexts number_of_detached_contexts total_global_handles_size used_global_handles_size external_memory total_allocated_bytes"),
      getHeapCodeStatistics: () => zeros("code_and_metadata_size bytecode_and_metadata_size external_script_source_size cpu_profiler_metadata_size"),
      getCppHeapStatistics: () => ({ ...zeros("committed_size_bytes resident_size_bytes used_size_bytes"), space_statistics: [], type_names: [], detail_level: "detailed" }),
      getHeapSpaceStatistics: () => [], setFlagsFromString() {},
      promiseHooks: hooks("createHook onInit onBefore onAfter onSettled"),
      startupSnapshot: { ...hooks("addSerializeCallback addDeserializeCallback setDeserializeMainFunction"), isBuildingSnapshot: () => false },
      isStringOneByteRepresentation(s) { errors.string(s, "content"); return !/[^\0-\xff]/.test(s); } }),
    inspector: () => ({ console: globalThis.console, url: () => undefined, Network: {}, close() {}, waitForDebugger() {} }),
    trace_events: () => ({ getEnabledCategories() {}, createTracing(options) {
      if (options === null || typeof options !== "object") throw errors.argType("options", "of type object", options);
      if (!p.ArrayIsArray(options.categories)) throw errors.argType("options.categories", "an instance of Array", options.categories);
      return new (class Tracing { enable() {} disable() {} get enabled() { return false; } get categories() { return options.categories.join(","); } })();
    } }),
    http2: () => ({ sensitiveHeaders: Symbol.for("nodejs.http2.sensitiveHeaders"), constants: {},
      getDefaultSettings: () => ({}), getPackedSettings: () => native.require("buffer").Buffer.alloc(0), getUnpackedSettings: () => ({}) }),
    domain: () => ({ active: null }),
    dgram: () => ({}),
    repl: () => ({ REPL_MODE_SLOPPY: p.Symbol("repl-sloppy"), REPL_MODE_STRICT: p.Symbol("repl-strict"), builtinModules: native.require("module").builtinModules }),
    _http_common: () => ({ CRLF: "\r\n", methods: native.require("internal/constants").methods, chunkExpression: /(?:^|\W)chunked(?:$|\W)/i,
      continueExpression: /(?:^|\W)100-continue(?:$|\W)/i, kIncomingMessage: p.Symbol("IncomingMessage"), parsers: {},
      _checkIsHttpToken: (s) => /^[\^_`a-zA-Z\-0-9!#$%&'*+.|~]+$/.test(s), _checkInvalidHeaderChar: (s) => /[^\t\x20-\x7e\x80-\xff]/.test(s) }),
  };
}
