// What takes the place of esbuild's helpers for using and await using: sections
// 9.5 (DisposableResource records) and 14.3.1 of ECMA-262, explicit resource
// management, with V8's error texts and as many turns of the microtask queue as
// they say. Evaluated once per runtime, before user code.
(function () {
  "use strict";
  const { apply } = Reflect, Type = TypeError, P = Promise, promiseResolve = P.resolve, promiseReject = P.reject;
  const { dispose: disposeSymbol, asyncDispose: asyncDisposeSymbol } = Symbol;
  const Suppressed = typeof SuppressedError === "function" ? SuppressedError : undefined;
  const isObject = (v) => (typeof v === "object" && v !== null) || typeof v === "function";

  const method = (value, symbol) => {
    const fn = value[symbol];
    if (fn === undefined || fn === null) return undefined;
    if (typeof fn !== "function") throw new Type(`${symbol === disposeSymbol ? "Symbol(Symbol.dispose)" : "Symbol(Symbol.asyncDispose)"} is not a function`);
    return fn;
  };
  const disposer = (value, async) => {
    const own = async ? method(value, asyncDisposeSymbol) : undefined;
    if (own !== undefined) return own;
    const sync = method(value, disposeSymbol);
    if (sync === undefined) throw new Type("Symbol(Symbol.dispose) is not a function");
    if (!async) return sync;
    return function () {
      try {
        apply(sync, this, []);
      } catch (error) {
        return apply(promiseReject, P, [error]);
      }
      return apply(promiseResolve, P, [undefined]);
    };
  };

  // The resources of one block that are left, and what the block ended with.
  class Disposal {
    #stack; #error; #failed; #waits = false; #waited = false;
    value; // what to await now
    constructor(stack, error, failed) {
      this.#stack = stack;
      this.#error = error;
      this.#failed = !!failed;
    }
    fail(error) {
      this.#error = this.#failed ? new Suppressed(error, this.#error, "An error was suppressed during disposal") : error;
      this.#failed = true;
    }
    // Goes on to the next await, and answers with the disposal; or to the end.
    next() {
      while (this.#stack.length > 0) {
        const resource = this.#stack[this.#stack.length - 1];
        if (!resource.async && this.#waits && !this.#waited) {
          this.#waits = false;
          this.#waited = true;
          this.value = undefined;
          return this;
        }
        this.#stack.length--;
        if (resource.dispose === undefined) {
          this.#waits = true;
          continue;
        }
        try {
          const answer = apply(resource.dispose, resource.value, []);
          if (resource.async) {
            this.#waited = true;
            this.value = answer;
            return this;
          }
        } catch (error) {
          this.fail(error);
        }
      }
      if (this.#waits && !this.#waited) {
        this.#waited = true;
        this.value = undefined;
        return this;
      }
      if (this.#failed) throw this.#error;
      return undefined;
    }
  }

  return {
    __using: (stack, value, async) => {
      if (value === null || value === undefined) {
        if (async) stack[stack.length] = { __proto__: null, async, dispose: undefined, value };
        return value;
      }
      if (!isObject(value)) throw new Type("An object is expected with `using` declarations");
      stack[stack.length] = { __proto__: null, async: !!async, dispose: disposer(value, async), value };
      return value;
    },
    __callDispose: (stack, error, failed) => new Disposal(stack, error, failed).next(),
  };
})
