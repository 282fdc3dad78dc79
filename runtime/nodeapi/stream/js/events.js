// node:events (nodejs.org/api/events.html).
function (native, p) {
  "use strict";
  const { errors } = native;
  const { ReflectApply, ReflectOwnKeys, ObjectGetPrototypeOf, Promise, PromiseResolve, PromiseReject, PromisePrototypeThen,
    SymbolAsyncIterator, Symbol } = p;

  const errorMonitor = Symbol("events.errorMonitor");
  const kCapture = Symbol("kCapture");
  const rejection = Symbol.for("nodejs.rejection");
  let defaultMax = 10;
  let captureAll = false;

  const checkListener = (fn) => { errors.func(fn, "listener"); };
  const checkMax = (n, name) => {
    if (typeof n !== "number" || n < 0 || n !== n) throw errors.range(name, "a non-negative number", n);
  };

  function EventEmitter(options) { EventEmitter.init.call(this, options); }
  const proto = EventEmitter.prototype;
  proto._events = undefined;
  proto._eventsCount = 0;
  proto._maxListeners = undefined;

  EventEmitter.init = function (options) {
    if (this._events === undefined || this._events === ObjectGetPrototypeOf(this)._events) {
      this._events = { __proto__: null };
      this._eventsCount = 0;
    }
    this._maxListeners = this._maxListeners || undefined;
    this.domain = null;
    if (options?.captureRejections) {
      if (typeof options.captureRejections !== "boolean") {
        throw errors.argType("options.captureRejections", "of type boolean", options.captureRejections);
      }
      this[kCapture] = true;
    } else if (captureAll) {
      this[kCapture] = true;
    }
  };

  // What an emitter keeps under a type is one function or an array of them; an
  // array is replaced, never changed, while it may be walked.
  const limit = (self) => (self._maxListeners === undefined ? defaultMax : self._maxListeners);

  const add = (self, type, listener, first) => {
    checkListener(listener);
    let events = self._events;
    if (events === undefined) {
      events = self._events = { __proto__: null };
      self._eventsCount = 0;
    } else if (events.newListener !== undefined) {
      self.emit("newListener", type, listener.listener ?? listener);
      events = self._events;
    }
    const existing = events[type];
    if (existing === undefined) {
      events[type] = listener;
      ++self._eventsCount;
      return self;
    }
    const list = typeof existing === "function"
      ? (first ? [listener, existing] : [existing, listener])
      : (first ? [listener, ...existing] : [...existing, listener]);
    if (typeof existing !== "function" && existing.warned) list.warned = true;
    events[type] = list;
    const max = limit(self);
    if (max > 0 && list.length > max && !list.warned) {
      list.warned = true;
      const name = self.constructor?.name ?? "EventEmitter";
      native.warn(`MaxListenersExceededWarning: Possible EventEmitter memory leak detected. ${list.length} ${String(type)} ` +
        `listeners added to ${name}. MaxListeners is ${max}. Use emitter.setMaxListeners() to increase limit`);
    }
    return self;
  };

  const onceWrapper = (self, type, listener) => {
    checkListener(listener);
    let fired = false;
    const wrapped = function (...args) {
      if (fired) return undefined;
      fired = true;
      self.removeListener(type, wrapped);
      return ReflectApply(listener, self, args);
    };
    p.ObjectDefineProperty(wrapped, "name", { value: "bound onceWrapper" });
    wrapped.listener = listener;
    return wrapped;
  };

  const captured = (self, result, type, args) => {
    if (!self[kCapture] || result === undefined || result === null || typeof result.then !== "function") return;
    result.then(undefined, (error) => {
      native.nextTick(() => {
        if (typeof self[rejection] === "function") {
          self[rejection](error, type, ...args);
          return;
        }
        const before = self[kCapture];
        self[kCapture] = false;
        try { self.emit("error", error); } finally { self[kCapture] = before; }
      });
    });
  };

  const unhandled = (self, args) => {
    const error = args[0];
    if (error instanceof Error) throw error;
    let shown;
    try { shown = native.require("util").inspect(error); } catch { shown = String(error); }
    const wrapped = errors.make("Error", "ERR_UNHANDLED_ERROR", `Unhandled error. (${shown})`);
    wrapped.context = error;
    throw wrapped;
  };

  const listOf = (self, type, unwrap) => {
    const list = self._events?.[type];
    if (list === undefined) return [];
    const all = typeof list === "function" ? [list] : [...list];
    return unwrap ? all.map((fn) => fn.listener ?? fn) : all;
  };
  native.methods(proto, {
    emit(type, ...args) {
      const events = this._events;
      if (type === "error") {
        if (events?.[errorMonitor] !== undefined) this.emit(errorMonitor, ...args);
        if (events?.error === undefined) unhandled(this, args);
      }
      const handler = events?.[type];
      if (handler === undefined) return false;
      if (typeof handler === "function") {
        captured(this, ReflectApply(handler, this, args), type, args);
        return true;
      }
      for (let i = 0, n = handler.length; i < n; i++) captured(this, ReflectApply(handler[i], this, args), type, args);
      return true;
    },
    addListener(type, listener) { return add(this, type, listener, false); },
    on(type, listener) { return add(this, type, listener, false); },
    prependListener(type, listener) { return add(this, type, listener, true); },
    once(type, listener) { return this.on(type, onceWrapper(this, type, listener)); },
    prependOnceListener(type, listener) {
      return this.prependListener(type, onceWrapper(this, type, listener));
    },
    removeListener(type, listener) {
      checkListener(listener);
      const list = this._events?.[type];
      if (list === undefined) return this;
      let left;
      if (typeof list === "function") {
        if (list !== listener && list.listener !== listener) return this;
      } else {
        let at = list.length - 1;
        while (at >= 0 && list[at] !== listener && list[at].listener !== listener) at--;
        if (at < 0) return this;
        left = list.filter((_, i) => i !== at);
        if (list.warned) left.warned = true;
        if (left.length === 1) left = left[0];
      }
      if (left === undefined) {
        delete this._events[type];
        this._eventsCount--;
      } else {
        this._events[type] = left;
      }
      if (this._events.removeListener !== undefined) this.emit("removeListener", type, listener.listener ?? listener);
      return this;
    },
    removeAllListeners(type) {
      const events = this._events;
      if (events === undefined) return this;
      if (events.removeListener === undefined) {
        if (arguments.length === 0) {
          this._events = { __proto__: null };
          this._eventsCount = 0;
        } else if (events[type] !== undefined) {
          delete events[type];
          this._eventsCount--;
        }
        return this;
      }
      if (arguments.length === 0) {
        for (const key of ReflectOwnKeys(events)) if (key !== "removeListener") this.removeAllListeners(key);
        this.removeAllListeners("removeListener");
        this._events = { __proto__: null };
        this._eventsCount = 0;
        return this;
      }
      const list = events[type];
      if (typeof list === "function") this.removeListener(type, list);
      else if (list !== undefined) for (let i = list.length - 1; i >= 0; i--) this.removeListener(type, list[i]);
      return this;
    },
    listeners(type) { return listOf(this, type, true); },
    rawListeners(type) { return listOf(this, type, false); },
    listenerCount(type, listener) {
      const list = listOf(this, type, false);
      if (listener === undefined || listener === null) return list.length;
      return list.filter((fn) => fn === listener || fn.listener === listener).length;
    },
    eventNames() { return this._eventsCount > 0 ? ReflectOwnKeys(this._events) : []; },
    setMaxListeners(n) {
      checkMax(n, "n");
      this._maxListeners = n;
      return this;
    },
    getMaxListeners() { return limit(this); },
  });
  proto.off = proto.removeListener;

  const isTarget = (x) => typeof x?.addEventListener === "function" && typeof x.on !== "function";
  const noEmitter = (x, name = "emitter", orTarget = " or EventTarget") => errors.argType(name, `an instance of EventEmitter${orTarget}`, x);

  const aborted = (signal) => native.require("internal/abort_error")(signal.reason);
  const checkSignal = (options) => {
    if (options === null || typeof options !== "object") throw errors.argType("options", "of type object", options);
    const { signal } = options;
    if (signal !== undefined && (signal === null || typeof signal !== "object" || !("aborted" in signal))) {
      throw errors.argType("options.signal", "an instance of AbortSignal", signal);
    }
  };

  const subscribe = (emitter, type, fn, once) => {
    if (isTarget(emitter)) {
      emitter.addEventListener(type, fn, { once });
      return () => emitter.removeEventListener(type, fn);
    }
    if (typeof emitter?.on !== "function") throw noEmitter(emitter, "emitter", "");
    if (once) emitter.once(type, fn); else emitter.on(type, fn);
    return () => emitter.removeListener(type, fn);
  };

  // events.once(emitter, name, {signal}): a promise for the arguments.
  const once = async function once(emitter, type, options = {}) {
    checkSignal(options);
    const { signal } = options;
    if (signal?.aborted) throw aborted(signal);
    return new Promise((resolve, reject) => {
      const undo = [];
      const settle = (fn, value) => {
        for (const u of undo) u();
        fn(value);
      };
      undo.push(subscribe(emitter, type, (...args) => settle(resolve, args), true));
      if (type !== "error" && typeof emitter.once === "function") {
        undo.push(subscribe(emitter, "error", (error) => settle(reject, error), true));
      }
      if (signal !== undefined) {
        const onAbort = () => settle(reject, aborted(signal));
        signal.addEventListener("abort", onAbort, { once: true });
        undo.push(() => signal.removeEventListener("abort", onAbort));
      }
    });
  };

  // events.on(emitter, name, {signal}): an async iterator of arguments.
  const on = function on(emitter, type, options = {}) {
    checkSignal(options);
    const { signal } = options;
    if (signal?.aborted) throw aborted(signal);
    for (const name of ["highWaterMark", "lowWaterMark"]) {
      const mark = options[name] ?? options[name.replace("M", "m")];
      if (mark !== undefined) errors.integer(mark, `options.${name}`, 1);
    }
    const queue = [], waiting = [], undo = [];
    let failure, finished = false;
    const stop = () => {
      for (const u of undo) u();
      undo.length = 0;
      finished = true;
      for (const w of waiting) w.resolve({ value: undefined, done: true });
      waiting.length = 0;
    };
    const fail = (error) => {
      if (waiting.length > 0) waiting.shift().reject(error); else failure = { error };
      stop();
    };
    undo.push(subscribe(emitter, type, (...args) => {
      if (waiting.length > 0) waiting.shift().resolve({ value: args, done: false }); else queue.push(args);
    }, false));
    if (type !== "error" && typeof emitter.on === "function") undo.push(subscribe(emitter, "error", fail, false));
    if (signal !== undefined) {
      const onAbort = () => fail(aborted(signal));
      signal.addEventListener("abort", onAbort, { once: true });
      undo.push(() => signal.removeEventListener("abort", onAbort));
    }
    return {
      next() {
        if (queue.length > 0) return PromiseResolve({ value: queue.shift(), done: false });
        if (failure !== undefined) {
          const { error } = failure;
          failure = undefined;
          return PromiseReject(error);
        }
        if (finished) return PromiseResolve({ value: undefined, done: true });
        return new Promise((resolve, reject) => { waiting.push({ resolve, reject }); });
      },
      return() { stop(); return PromiseResolve({ value: undefined, done: true }); },
      throw(error) {
        if (!(error instanceof Error)) throw errors.argType("EventEmitter.AsyncIterator", "an instance of Error", error);
        fail(error); 
        return PromiseResolve({ value: undefined, done: true });
      },
      [SymbolAsyncIterator]() { return this; },
    };
  };

  const targetMax = new p.WeakMap();

  EventEmitter.on = on;
  EventEmitter.once = once;
  EventEmitter.getEventListeners = function getEventListeners(emitter, type) {
    if (typeof emitter?.listeners === "function") return emitter.listeners(type);
    const list = native.listeners(emitter, type);
    if (list !== undefined) return list;
    throw noEmitter(emitter);
  };
  EventEmitter.getMaxListeners = function getMaxListeners(emitter) {
    if (typeof emitter?.getMaxListeners === "function") return limit(emitter);
    return targetMax.get(emitter) ?? defaultMax;
  };
  EventEmitter.setMaxListeners = function setMaxListeners(n = defaultMax, ...targets) {
    checkMax(n, "n");
    if (targets.length === 0) { defaultMax = n; return; }
    for (const target of targets) {
      if (isTarget(target)) targetMax.set(target, n);
      else if (typeof target?.setMaxListeners === "function") target.setMaxListeners(n);
      else throw noEmitter(target, "eventTargets");
    }
  };
  EventEmitter.listenerCount = (emitter, type) =>
    (typeof emitter?.listenerCount === "function" ? emitter.listenerCount(type) : EventEmitter.getEventListeners(emitter, type).length);
  EventEmitter.addAbortListener = function addAbortListener(signal, listener) {
    if (typeof signal?.addEventListener !== "function" || !("aborted" in signal)) throw errors.argType("signal", "an instance of AbortSignal", signal);
    errors.func(listener, "listener");
    let undo;
    if (signal.aborted) {
      native.nextTick(() => listener());
    } else {
      signal.addEventListener("abort", listener, { once: true });
      undo = () => signal.removeEventListener("abort", listener);
    }
    return { [p.SymbolDispose]() { undo?.(); } };
  };
  EventEmitter.EventEmitter = EventEmitter;
  EventEmitter.usingDomains = false;
  EventEmitter.captureRejectionSymbol = rejection;
  EventEmitter.errorMonitor = errorMonitor;
  p.ObjectDefineProperty(EventEmitter, "defaultMaxListeners", {
    enumerable: true, configurable: true,
    get: () => defaultMax,
    set: (n) => { checkMax(n, "defaultMaxListeners"); defaultMax = n; },
  });
  p.ObjectDefineProperty(EventEmitter, "captureRejections", {
    enumerable: true, configurable: true,
    get: () => captureAll,
    set: (v) => {
      if (typeof v !== "boolean") throw errors.argType("EventEmitter.captureRejections", "of type boolean", v);
      captureAll = v;
    },
  });

  native.lazy(EventEmitter, "EventEmitterAsyncResource", () => {
    const { AsyncResource } = native.require("async_hooks");
    class EventEmitterAsyncResource extends EventEmitter {
      #resource;
      constructor(options) {
        super(typeof options === "object" ? options : undefined);
        const name = typeof options === "string" ? options : options?.name ?? new.target.name;
        this.#resource = new AsyncResource(name);
        this.#resource.eventEmitter = this;
      }
      emit(type, ...args) { return this.#resource.runInAsyncScope(super.emit, this, type, ...args); }
      emitDestroy() { this.#resource.emitDestroy(); }
      get asyncId() { return this.#resource.asyncId(); }
      get triggerAsyncId() { return this.#resource.triggerAsyncId(); }
      get asyncResource() { return this.#resource; }
    }
    return EventEmitterAsyncResource;
  });
  return EventEmitter;
}
