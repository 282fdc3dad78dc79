// node:test: mocks of functions and methods, which is all that Workers have of
// it (nodejs.org/api/test.html, "Mocking").
function (native, p) {
  "use strict";
  const { errors } = native;
  const { ObjectDefineProperty, ObjectGetOwnPropertyDescriptor, ObjectGetPrototypeOf, ReflectApply, ReflectConstruct } = p;
  const isObject = (v) => typeof v === "object" && v !== null;
  const times = (options) => {
    const n = options?.times ?? Infinity;
    if (n !== Infinity) errors.integer(n, "options.times", 1);
    return n;
  };

  class MockFunctionContext {
    #calls = [];
    #original;
    #implementation;
    #once = new p.Map();
    #times;
    #undo;
    constructor(original, implementation, limit, undo) {
      this.#original = original;
      this.#implementation = implementation;
      this.#times = limit;
      this.#undo = undo;
    }
    get calls() { return this.#calls.slice(); }
    callCount() { return this.#calls.length; }
    mockImplementation(implementation) {
      errors.func(implementation, "implementation");
      this.#implementation = implementation;
    }
    mockImplementationOnce(implementation, onCall) {
      errors.func(implementation, "implementation");
      const call = onCall ?? this.#calls.length;
      errors.integer(call, "onCall", this.#calls.length);
      this.#once.set(call, implementation);
    }
    resetCalls() { this.#calls = []; }
    restore() {
      this.#undo?.();
      this.#implementation = this.#original;
      this.#once.clear();
      this.#times = 0;
    }
    // run does one call by invoke(fn) and keeps what came of it.
    run(args, target, self, invoke) {
      args = p.ArrayPrototypeSlice(args); // goja's lies over its stack
      const n = this.#calls.length;
      const fn = this.#once.get(n) ?? (n < this.#times ? this.#implementation : this.#original);
      this.#once.delete(n);
      let error, result;
      try {
        result = invoke(fn);
        return result;
      } catch (thrown) {
        error = thrown;
        throw thrown;
      } finally {
        this.#calls.push({ arguments: args, error, result, stack: new Error(), target, this: target === undefined ? self : result });
        if (n + 1 === this.#times) this.restore();
      }
    }
  }
  const runs = MockFunctionContext.prototype.run;
  delete MockFunctionContext.prototype.run;

  // mocked is original behind a proxy that counts its calls.
  const mocked = (original, context) => {
    const mock = new p.Proxy(original, {
      __proto__: null,
      apply: (_, self, args) => ReflectApply(runs, context, [args, undefined, self, (fn) => ReflectApply(fn, self, args)]),
      construct: (target, args, newTarget) => ReflectApply(runs, context,
        [args, target, undefined, (fn) => ReflectConstruct(fn, args, newTarget === mock ? fn : newTarget)]),
      get: (target, key, receiver) => (key === "mock" ? context : p.ReflectGet(target, key, receiver)),
    });
    return mock;
  };

  const descriptorOf = (object, name) => {
    for (let o = object; o !== null; o = ObjectGetPrototypeOf(o)) {
      const descriptor = ObjectGetOwnPropertyDescriptor(o, name);
      if (descriptor !== undefined) return descriptor;
    }
    return undefined;
  };

  class MockTracker {
    #contexts = [];
    #keep(original, implementation, options, undo) {
      const context = new MockFunctionContext(original, implementation, times(options), undo);
      this.#contexts.push(context);
      return mocked(original, context);
    }
    fn(original, implementation, options) {
      if (isObject(original)) { options = original; original = undefined; implementation = undefined; }
      else if (isObject(implementation)) { options = implementation; implementation = original; }
      original ??= function () {};
      implementation ??= original;
      errors.func(original, "original");
      errors.func(implementation, "implementation");
      return this.#keep(original, implementation, options);
    }
    method(object, name, implementation, options) {
      if (!isObject(object) && typeof object !== "function") throw errors.argType("object", "of type object", object);
      if (typeof name !== "string" && typeof name !== "symbol") throw errors.argType("methodName", "one of type string or symbol", name);
      if (isObject(implementation)) { options = implementation; implementation = undefined; }
      const { getter = false, setter = false } = options ?? {};
      if (getter && setter) throw errors.argValue("options.setter", setter, "cannot be used with 'options.getter'");
      const descriptor = descriptorOf(object, name);
      const part = getter ? "get" : setter ? "set" : "value";
      const original = descriptor?.[part];
      if (typeof original !== "function") throw errors.argValue("methodName", original, "must be a method");
      if (implementation !== undefined) errors.func(implementation, "implementation");
      const mock = this.#keep(original, implementation ?? original, options, () => ObjectDefineProperty(object, name, descriptor));
      ObjectDefineProperty(object, name, { ...descriptor, configurable: descriptor.configurable, [part]: mock });
      return mock;
    }
    getter(object, name, implementation, options) {
      if (isObject(implementation)) { options = implementation; implementation = undefined; }
      return this.method(object, name, implementation, { ...options, getter: true });
    }
    setter(object, name, implementation, options) {
      if (isObject(implementation)) { options = implementation; implementation = undefined; }
      return this.method(object, name, implementation, { ...options, setter: true });
    }
    reset() {
      this.restoreAll();
      this.#contexts = [];
    }
    restoreAll() { for (const context of this.#contexts) context.restore(); }
  }

  return { MockFunctionContext, MockTracker, mock: new MockTracker() };
}
