// node:process and the global process as wrangler bundles them where it does not use
// workerd's own: most of it says nothing, and much refuses. Names, values and texts are
// those of unenv 2.0.0-rc.24 and @cloudflare/unenv-preset 2.16.2.
function (native, p) {
  "use strict";
  const EventEmitter = native.require("events");
  const workerd = native.require("internal/process_v1");
  const refuse = (name) => () => { throw new Error(`[unenv] ${name} is not implemented yet!`); }; // the reference's text

  // hrtime tells the time of day in milliseconds. Its difference takes the seconds from
  // the nanoseconds, as there.
  const hrtime = p.ObjectAssign(function hrtime(start) {
    const now = Date.now();
    let seconds = p.MathTrunc(now / 1000), nanos = (now % 1000) * 1e6;
    if (!start) return [seconds, nanos];
    seconds -= start[0];
    nanos -= start[0];
    return nanos < 0 ? [seconds - 1, nanos + 1e9] : [seconds, nanos];
  }, { bigint: function bigint() { return p.BigInt(Date.now() * 1e6); } });

  const refused = "umask getActiveResourcesInfo exit reallyExit kill abort dlopen setSourceMapsEnabled loadEnvFile disconnect cpuUsage " +
    "setUncaughtExceptionCaptureCallback hasUncaughtExceptionCaptureCallback initgroups openStdin assert binding";
  const absent = "mainModule domain send exitCode channel getegid geteuid getgid getgroups getuid setegid seteuid setgid setgroups setuid " +
    "_events _eventsCount _exiting _maxListeners _debugEnd _debugProcess _fatalException _getActiveHandles _getActiveRequests _kill " +
    "_preload_modules _rawDebug _startProfilerIdleNotifier _stopProfilerIdleNotifier _tickCallback _disconnect _handleQueue _pendingMessage " +
    "_channel _send _linkedBinding";
  let directory = "/";
  class Process extends EventEmitter {
    constructor() {
      super();
      p.ObjectAssign(this, { env: workerd.env, hrtime, nextTick: workerd.nextTick });
      p.ObjectAssign(this, { arch: "", platform: "", argv: [], argv0: "", execArgv: [], execPath: "", title: "", pid: 200, ppid: 100 });
      this.permission = { has: refuse("process.permission.has") };
      this.report = { directory: "", filename: "", signal: "SIGUSR2", compact: false, reportOnFatalError: false, reportOnSignal: false,
        reportOnUncaughtException: false, getReport: refuse("process.report.getReport"), writeReport: refuse("process.report.writeReport") };
      this.finalization = { register: refuse("process.finalization.register"), unregister: refuse("process.finalization.unregister"),
        registerBeforeExit: refuse("process.finalization.registerBeforeExit") };
      const usage = () => ({ arrayBuffers: 0, rss: 0, external: 0, heapTotal: 0, heapUsed: 0 });
      this.memoryUsage = p.ObjectAssign(p.ObjectDefineProperty(usage, "name", { value: "" }), { rss: () => 0 });
      for (const name of absent.split(" ")) this[name] = undefined;
      for (const from of [Process.prototype, EventEmitter.prototype]) {
        for (const name of p.ObjectGetOwnPropertyNames(from)) if (typeof this[name] === "function") this[name] = this[name].bind(this);
      }
    }
    emitWarning(warning, type, code) { console.warn(`${code ? `[${code}] ` : ""}${type ? `${type}: ` : ""}${warning}`); }
    emit(...args) { return super.emit(...args); }
    listeners(name) { return super.listeners(name); }
    chdir(to) { directory = to; }
    cwd() { return directory; }
    constrainedMemory() { return 0; }
    availableMemory() { return 0; }
    uptime() { return 0; }
    resourceUsage() { return {}; }
    ref() {}
    unref() {}
  }
  for (const name of refused.split(" ")) {
    p.ObjectDefineProperty(Process.prototype, name, { value: p.ObjectDefineProperty(refuse(`process.${name}`), "name", { value: name }), writable: true, configurable: true });
  }

  const own = new Process(), process = {};
  const order = "abort addListener allowedNodeEnvironmentFlags hasUncaughtExceptionCaptureCallback setUncaughtExceptionCaptureCallback loadEnvFile " +
    "sourceMapsEnabled arch argv argv0 chdir config connected constrainedMemory availableMemory cpuUsage cwd debugPort dlopen disconnect emit " +
    "emitWarning env eventNames execArgv execPath exit finalization features getBuiltinModule getActiveResourcesInfo getMaxListeners hrtime kill " +
    "listeners listenerCount memoryUsage nextTick on off once pid platform ppid prependListener prependOnceListener rawListeners release " +
    "removeAllListeners removeListener report resourceUsage setMaxListeners setSourceMapsEnabled stderr stdin stdout title throwDeprecation " +
    "traceDeprecation umask uptime version versions domain initgroups moduleLoadList reallyExit openStdin assert binding send exitCode channel " +
    "getegid geteuid getgid getgroups getuid setegid seteuid setgid setgroups setuid permission mainModule _events _eventsCount _exiting " +
    "_maxListeners _debugEnd _debugProcess _fatalException _getActiveHandles _getActiveRequests _kill _preload_modules _rawDebug " +
    "_startProfilerIdleNotifier _stopProfilerIdleNotifier _tickCallback _disconnect _handleQueue _pendingMessage _channel _send _linkedBinding";
  const { ReadStream, WriteStream } = native.require("internal/tty_polyfill");
  const facts = {
    allowedNodeEnvironmentFlags: new p.Set(), sourceMapsEnabled: false, config: {}, connected: false, debugPort: 0, release: {},
    stderr: new WriteStream(2), stdin: new ReadStream(0), stdout: new WriteStream(1), throwDeprecation: false, traceDeprecation: false,
    version: "v22.14.0", versions: { node: "22.14.0" }, moduleLoadList: [], exit: workerd.exit, features: workerd.features, platform: workerd.platform,
    getBuiltinModule: workerd.getBuiltinModule,
  };
  // _events is read once, before there are listeners.
  for (const name of order.split(" ")) process[name] = name in facts ? facts[name] : name.startsWith("_") ? undefined : own[name];
  return process;
}
