// node:timers/promises (nodejs.org/api/timers.html#timers-promises-api).
function (native, p) {
  "use strict";
  const { errors } = native;
  const { Promise, PromiseResolve, PromiseReject, SymbolAsyncIterator } = p;

  const aborted = (signal) => native.require("internal/abort_error")(signal.reason);
  const check = (options) => {
    if (options === undefined) return undefined;
    if (options === null || typeof options !== "object") throw errors.argType("options", "of type object", options);
    const { signal, ref } = options;
    if (signal !== undefined && (signal === null || typeof signal !== "object" || !("aborted" in signal))) {
      throw errors.argType("options.signal", "an instance of AbortSignal", signal);
    }
    if (ref !== undefined && typeof ref !== "boolean") throw errors.argType("options.ref", "of type boolean", ref);
    return signal;
  };
  const once = (delay, value, options) => {
    let signal;
    try {
      if (delay !== undefined && typeof delay !== "number") throw errors.argType("delay", "of type number", delay);
      signal = check(options);
    } catch (error) { return PromiseReject(error); }
    if (signal?.aborted) return PromiseReject(aborted(signal));
    return new Promise((resolve, reject) => {
      const onAbort = () => { native.clear(id); reject(aborted(signal)); };
      const id = native.set(delay, false, () => {
        signal?.removeEventListener("abort", onAbort);
        resolve(value);
      });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  };
  const setTimeout = (delay, value, options) => once(delay, value, options);
  const setImmediate = (value, options) => once(0, value, options);
  const setInterval = (delay, value, options) => {
    const signal = check(options);
    let ready = 0, wake = null, failure, over = false, id;
    const stop = () => {
      over = true;
      native.clear(id);
      signal?.removeEventListener("abort", onAbort);
      wake?.();
    };
    const onAbort = () => { failure = aborted(signal); stop(); };
    if (signal?.aborted) { failure = aborted(signal); over = true; } else {
      id = native.set(delay, true, () => { ready++; wake?.(); });
      signal?.addEventListener("abort", onAbort, { once: true });
    }
    return {
      async next() {
        while (ready === 0 && !over) await new Promise((resolve) => { wake = resolve; });
        if (failure) { const e = failure; failure = undefined; throw e; }
        if (over) return { value: undefined, done: true };
        ready--;
        return { value, done: false };
      },
      return() { stop(); return PromiseResolve({ value: undefined, done: true }); },
      [SymbolAsyncIterator]() { return this; },
    };
  };
  class Scheduler {
    wait(delay, options) { own(this); return once(delay, undefined, options); }
    yield() { own(this); return setImmediate(); }
  }
  const own = (that) => {
    if (!(that instanceof Scheduler)) throw errors.make("TypeError", "ERR_INVALID_THIS", 'Value of "this" must be of type Scheduler');
  };
  return { setTimeout, setImmediate, setInterval, scheduler: new Scheduler() };
}
