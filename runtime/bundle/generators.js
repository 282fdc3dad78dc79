// What takes the place of esbuild's helpers for async generators and for await:
// sections 27.1.5, 27.6 and 14.4.14 of ECMA-262, with as many turns of the
// microtask queue as they say. The body of an async generator is a generator
// that yields Awaiting for an await, Passed for what yield* passes on, and any
// other value for a yield. Evaluated once per runtime, before user code.
(function (AsyncIteratorPrototype, guardAwait) {
  "use strict";
  const { apply } = Reflect;
  const { create, defineProperty, getPrototypeOf, setPrototypeOf: inherit } = Object;
  const { asyncIterator, iterator, toStringTag } = Symbol;
  const Type = TypeError, Eval = EvalError, P = Promise, promiseResolve = P.resolve, promiseThen = P.prototype.then;
  const Generator = getPrototypeOf(function* () {}).prototype;
  const { next: resume, throw: raise, return: leave } = Generator;
  const resolved = (v) => apply(promiseResolve, P, [guardAwait(v)]);
  const then = (promise, yes, no) => apply(promiseThen, promise, [yes, no]);
  const isObject = (v) => (typeof v === "object" && v !== null) || typeof v === "function";
  const shown = (v) => (isObject(v) ? "#<" + (v.constructor?.name || "Object") + ">" : typeof v === "string" ? `"${v}"` : String(v));
  const method = (obj, name) => {
    const fn = obj[name];
    if (fn === undefined || fn === null) return undefined;
    if (typeof fn !== "function") throw new Type(`${shown(fn)} is not a function`);
    return fn;
  };
  const result = (v) => {
    if (!isObject(v)) throw new Type(`Iterator result ${shown(v)} is not an object`);
    return v;
  };

  function Awaiting(value) { this.value = value; }
  function Passed(value) { this.value = value; }
  function Leaving(value) { this.value = value; }

  const START = 0, SUSPENDED = 1, RUNNING = 2, DRAINING = 3, DONE = 4;
  // The async generators. Requests wait in a list from #first to #last.
  class AsyncGenerator {
    #body; #state = START; #first; #last; #passing = false;
    constructor(body) { this.#body = body; }
    static request(it, kind, value) {
      return new P((resolve, reject) => {
        if (!isObject(it) || !(#body in it)) {
          reject(new Type(`[AsyncGenerator].prototype.${kind} called on incompatible receiver ${shown(it)}`));
          return;
        }
        it.#enqueue({ kind, value, resolve, reject, next: undefined });
      });
    }
    #enqueue(request) {
      if (this.#state === START && request.kind === "throw") this.#state = DONE;
      if (this.#state === DONE && request.kind !== "return") {
        if (request.kind === "next") request.resolve({ value: undefined, done: true });
        else request.reject(request.value);
        return;
      }
      if (this.#first === undefined) this.#first = request;
      else this.#last.next = request;
      this.#last = request;
      if (request.kind === "return" && (this.#state === START || this.#state === DONE)) {
        this.#state = DRAINING;
        this.#awaitReturn(request);
      } else if (this.#state === START || this.#state === SUSPENDED) {
        this.#continue(request);
      }
    }
    #shift() {
      const request = this.#first;
      this.#first = request.next;
      return request;
    }
    #continue({ kind, value }) {
      this.#state = RUNNING;
      if (kind !== "return") {
        this.#step(kind, value);
        return;
      }
      const passing = this.#passing;
      this.#await(value, (v) => { if (passing) this.#step("next", new Leaving(v)); else this.#step("return", v); });
    }
    #await(value, done) {
      let promise;
      try {
        promise = resolved(value);
      } catch (error) {
        this.#step("throw", error);
        return;
      }
      then(promise, done, (error) => this.#step("throw", error));
    }
    #step(kind, value) {
      for (;;) {
        let step;
        try {
          step = apply(kind === "next" ? resume : kind === "throw" ? raise : leave, this.#body, [value]);
        } catch (error) {
          this.#shift().reject(error);
          this.#drain();
          return;
        }
        const v = step.value;
        if (step.done) {
          this.#shift().resolve({ value: v, done: true });
          this.#drain();
        } else if (v instanceof Awaiting) {
          this.#await(v.value, (x) => this.#step("next", x));
        } else if (v instanceof Leaving) {
          kind = "return";
          value = v.value;
          continue;
        } else if (v instanceof Passed) {
          this.#yield(v.value, true);
        } else {
          this.#await(v, (x) => this.#yield(x, false));
        }
        return;
      }
    }
    #yield(value, passing) {
      this.#passing = passing;
      this.#shift().resolve({ value, done: false });
      if (this.#first === undefined) this.#state = SUSPENDED;
      else this.#continue(this.#first);
    }
    #drain() {
      this.#state = DRAINING;
      while (this.#first !== undefined) {
        if (this.#first.kind === "return") {
          this.#awaitReturn(this.#first);
          return;
        }
        const { kind, value, resolve, reject } = this.#shift();
        if (kind === "next") resolve({ value: undefined, done: true });
        else reject(value);
      }
      this.#state = DONE;
    }
    #awaitReturn({ value, resolve, reject }) {
      const finish = (settle) => (v) => {
        this.#shift();
        settle(v);
        this.#drain();
      };
      const no = finish(reject);
      let promise;
      try {
        promise = resolved(value);
      } catch (error) {
        no(error);
        return;
      }
      then(promise, finish((v) => resolve({ value: v, done: true })), no);
    }
  }
  const { request } = AsyncGenerator;
  const hide = (obj, name, value, writable = true) => defineProperty(obj, name, { value, writable, enumerable: false, configurable: true });
  const GeneratorPrototype = create(AsyncIteratorPrototype);
  const methods = {
    next(value) { return request(this, "next", value); },
    return(value) { return request(this, "return", value); },
    throw(error) { return request(this, "throw", error); },
  };
  for (const name of ["next", "return", "throw"]) hide(GeneratorPrototype, name, methods[name]);
  hide(GeneratorPrototype, toStringTag, "AsyncGenerator", false);
  const instances = create(GeneratorPrototype); // where a function's prototype would be
  function AsyncGeneratorFunction(...code) { throw new Eval("Code generation from strings disallowed for this context"); }
  const FunctionPrototype = create(Function.prototype);
  inherit(AsyncGeneratorFunction, Function);
  defineProperty(AsyncGeneratorFunction, "length", { value: 1 });
  defineProperty(AsyncGeneratorFunction, "prototype", { value: FunctionPrototype, writable: false });
  hide(FunctionPrototype, "constructor", AsyncGeneratorFunction, false);
  hide(FunctionPrototype, "prototype", GeneratorPrototype, false);
  hide(FunctionPrototype, toStringTag, "AsyncGeneratorFunction", false);
  hide(GeneratorPrototype, "constructor", FunctionPrototype, false);

  // 27.1.6.1: the async iterator over a synchronous one.
  const overSync = (it) => {
    const { next } = it;
    const settle = (step, closing) => {
      result(step);
      const done = !!step.done;
      const { value } = step;
      const fail = closing && !done ? (error) => {
        try { const close = method(it, "return"); if (close) apply(close, it, []); } catch { /* the first error counts */ }
        throw error;
      } : undefined;
      let promise;
      try { promise = resolved(value); } catch (error) { if (fail) fail(error); throw error; }
      return then(promise, (v) => ({ value: v, done }), fail);
    };
    const attempt = (fn) => { try { return fn(); } catch (error) { return P.reject(error); } };
    return {
      __proto__: null,
      next(...args) { return attempt(() => settle(apply(next, it, args), true)); },
      return(...args) { return attempt(() => {
        const close = method(it, "return");
        return close === undefined ? resolved({ value: args[0], done: true }) : settle(apply(close, it, args), false);
      }); },
      throw(...args) { return attempt(() => {
        const fn = method(it, "throw");
        if (fn !== undefined) return settle(apply(fn, it, args), true);
        const close = method(it, "return");
        if (close !== undefined) result(apply(close, it, []));
        throw new Type("The iterator does not provide a 'throw' method.");
      }); },
    };
  };
  const open = (v, text) => {
    const asked = v === undefined || v === null ? undefined : method(v, asyncIterator);
    const sync = asked ?? (v === undefined || v === null ? undefined : method(v, iterator));
    if (sync === undefined) throw new Type(`${text} is not async iterable`);
    const it = apply(sync, v, []);
    if (!isObject(it)) throw new Type(`Result of the Symbol.${asked === undefined ? "iterator" : "asyncIterator"} method is not an object`);
    return asked === undefined ? overSync(it) : it;
  };

  // 15.5.5: yield* in an async generator.
  function* delegate(value) {
    const it = open(value, shown(value)), { next } = it;
    let kind = "next", received;
    for (;;) {
      let step;
      if (kind === "next") {
        step = result(yield new Awaiting(apply(next, it, [received])));
      } else {
        const fn = method(it, kind);
        if (fn !== undefined) {
          step = result(yield new Awaiting(apply(fn, it, [received])));
        } else if (kind === "return") {
          yield new Leaving(received);
        } else {
          const close = method(it, "return");
          if (close !== undefined) result(yield new Awaiting(apply(close, it, [])));
          throw new Type("The iterator does not provide a 'throw' method.");
        }
      }
      if (step.done) {
        if (kind !== "return") return step.value;
        yield new Leaving(step.value);
      }
      try {
        received = yield new Passed(step.value);
        kind = "next";
        if (received instanceof Leaving) {
          kind = "return";
          received = received.value;
        }
      } catch (error) {
        kind = "throw";
        received = error;
      }
    }
  }

  return {
    __await: Awaiting,
    $generators: GeneratorPrototype,
    __asyncGenerator: (self, args, body) => inherit(new AsyncGenerator(apply(body, self, args ?? [])), instances),
    // In generators that are not async, where esbuild puts it, too. goja would name
    // the wrong value.
    __yieldStar: (value) => {
      const nullish = value === undefined || value === null;
      if (!nullish && value[iterator] !== undefined && value[iterator] !== null) return value;
      const kind = isObject(value) || value === undefined ? "" : typeof value + " ";
      throw new Type(`${kind}${shown(value)} is not iterable${isObject(value) ? "" : " (cannot read property Symbol(Symbol.iterator))"}`);
    },
    $delegate: delegate,
    // for await asks next() and return() of what this answers.
    __forAwait: (value) => {
      const it = open(value, shown(value)), { next } = it;
      return {
        __proto__: null,
        next() { return apply(next, it, []); },
        get return() {
          const close = method(it, "return");
          return close && (() => apply(close, it, []));
        },
      };
    },
    // What an await gives in for await, an object or an error.
    $result: result,
    $return: (value) => new Awaiting(value),
    // What was an async generator, and its name where it cannot get it by itself.
    $async: (fn, name) => {
      if (name !== undefined) defineProperty(fn, "name", { __proto__: null, value: name, configurable: true });
      inherit(fn, FunctionPrototype);
      defineProperty(fn, "prototype", { value: create(GeneratorPrototype) });
      return fn;
    },
  };
})
