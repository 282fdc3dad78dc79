// Explicit resource management: SuppressedError (ECMA-262, section 20.5.8),
// DisposableStack (27.3) and AsyncDisposableStack (27.4).
function (native, primordials) {
  "use strict";
  const { ObjectDefineProperty, SymbolDispose, SymbolAsyncDispose, SymbolToStringTag, Error, TypeError, ReferenceError, ReflectApply } = primordials;
  const hide = (obj, name, value) => ObjectDefineProperty(obj, name, { value, writable: true, enumerable: false, configurable: true });

  function SuppressedError(error, suppressed, message) {
    const self = primordials.ReflectConstruct(Error, message === undefined ? [] : [message], new.target ?? SuppressedError);
    hide(self, "error", error);
    hide(self, "suppressed", suppressed);
    return self;
  }
  ObjectDefineProperty(SuppressedError, "length", { value: 3, configurable: true });
  primordials.ReflectSetPrototypeOf(SuppressedError, Error);
  ObjectDefineProperty(SuppressedError, "prototype", { value: primordials.ObjectCreate(Error.prototype), writable: false });
  hide(SuppressedError.prototype, "constructor", SuppressedError);
  hide(SuppressedError.prototype, "name", "SuppressedError");
  hide(SuppressedError.prototype, "message", "");

  // The resources of a stack; each is a function that disposes of one.
  class Resources {
    constructor(name) { this.name = name; this.list = []; this.disposed = false; }
    check(method) {
      if (this.disposed) throw new ReferenceError(`Cannot call ${this.name}.prototype.${method} on an already-disposed ${this.name}`);
    }
    add(dispose) { this.list[this.list.length] = dispose; }
    take() {
      const { list } = this;
      this.list = [];
      this.disposed = true;
      return list;
    }
  }
  const suppress = (failure, error) =>
    failure ? { error: new SuppressedError(error, failure.error, "An error was suppressed during disposal") } : { error };
  const method = (value, symbol, fallback) => {
    if ((typeof value !== "object" || value === null) && typeof value !== "function") throw new TypeError("An object is expected with `using` declarations"); // V8's text
    let fn = value[symbol];
    if ((fn === undefined || fn === null) && fallback) fn = value[fallback];
    if (typeof fn !== "function") throw new TypeError(`Symbol(${symbol === SymbolDispose ? "Symbol.dispose" : "Symbol.asyncDispose"}) is not a function`);
    return fn;
  };
  const callable = (fn) => {
    if (typeof fn !== "function") throw new TypeError(`${native.show(fn)} is not a function`);
    return fn;
  };

  class DisposableStack {
    #resources = new Resources("DisposableStack");
    get disposed() { return this.#resources.disposed; }
    use(value) {
      this.#resources.check("use");
      if (value !== null && value !== undefined) {
        const fn = method(value, SymbolDispose);
        this.#resources.add(() => ReflectApply(fn, value, []));
      }
      return value;
    }
    adopt(value, onDispose) {
      this.#resources.check("adopt");
      callable(onDispose);
      this.#resources.add(() => onDispose(value));
      return value;
    }
    defer(onDispose) {
      this.#resources.check("defer");
      callable(onDispose);
      this.#resources.add(() => onDispose());
    }
    move() {
      this.#resources.check("move");
      const moved = new DisposableStack();
      moved.#resources.list = this.#resources.take();
      return moved;
    }
    dispose() {
      const list = this.#resources.take();
      let failure;
      for (let i = list.length - 1; i >= 0; i--) {
        try { (0, list[i])(); } catch (error) { failure = suppress(failure, error); }
      }
      if (failure) throw failure.error;
    }
  }
  hide(DisposableStack.prototype, SymbolDispose, DisposableStack.prototype.dispose);

  class AsyncDisposableStack {
    #resources = new Resources("AsyncDisposableStack");
    get disposed() { return this.#resources.disposed; }
    use(value) {
      this.#resources.check("use");
      if (value === null || value === undefined) {
        this.#resources.add(() => undefined);
      } else {
        const fn = method(value, SymbolAsyncDispose, SymbolDispose);
        this.#resources.add(() => ReflectApply(fn, value, []));
      }
      return value;
    }
    adopt(value, onDispose) {
      this.#resources.check("adopt");
      callable(onDispose);
      this.#resources.add(() => onDispose(value));
      return value;
    }
    defer(onDispose) {
      this.#resources.check("defer");
      callable(onDispose);
      this.#resources.add(() => onDispose());
    }
    move() {
      this.#resources.check("move");
      const moved = new AsyncDisposableStack();
      moved.#resources.list = this.#resources.take();
      return moved;
    }
    async disposeAsync() {
      const list = this.#resources.take();
      let failure;
      for (let i = list.length - 1; i >= 0; i--) {
        try { await (0, list[i])(); } catch (error) { failure = suppress(failure, error); }
      }
      if (failure) throw failure.error;
    }
  }
  hide(AsyncDisposableStack.prototype, SymbolAsyncDispose, AsyncDisposableStack.prototype.disposeAsync);

  for (const C of [DisposableStack, AsyncDisposableStack]) {
    native.markLanguage(C.prototype);
    ObjectDefineProperty(C.prototype, SymbolToStringTag, { value: C.name, writable: false, enumerable: false, configurable: true });
  }
  return { SuppressedError, DisposableStack, AsyncDisposableStack };
}
