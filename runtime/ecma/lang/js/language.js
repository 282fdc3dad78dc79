// The parts of ECMAScript that goja lacks and that can be written over what it
// has: sections of ECMA-262 (2026) are named at each. `native` brings what
// needs the engine.
function (native, primordials) {
  "use strict";
  const {
    ArrayPrototypePush, MapPrototypeGet, MapPrototypeHas, MapPrototypeSet, ObjectDefineProperty,
    ObjectGetOwnPropertyDescriptor, ObjectGetPrototypeOf, ObjectCreate, ReflectApply, SymbolIterator, SymbolAsyncIterator, SymbolToStringTag, SymbolDispose,
    Map, TypeError, RangeError, Error, Object, Array, String, Number,
  } = primordials;

  const { hide, add } = native;
  // getters gives obj the accessors of from.
  const getters = (obj, from) => {
    for (const name of primordials.ownKeys(from)) {
      ObjectDefineProperty(obj, name, { ...ObjectGetOwnPropertyDescriptor(from, name), enumerable: false, configurable: true });
    }
  };
  const callable = (fn) => {
    if (typeof fn !== "function") throw new TypeError(`${native.show(fn)} is not a function`);
    return fn;
  };
  const isObject = (v) => (typeof v === "object" && v !== null) || typeof v === "function";
  const object = (v) => {
    if (!isObject(v)) throw new TypeError(`${native.show(v)} is not an object`);
    return v;
  };
  // objectFor is object with V8's text for what was called, or for an argument of it.
  const objectFor = (v, name) => {
    if (!isObject(v)) throw new TypeError(`${name} called on non-object`);
    return v;
  };
  const called = (fn) => {
    if (typeof fn !== "function") throw new TypeError(`${native.called(fn)} is not a function`);
    return fn;
  };
  const iterableBy = (v, method) => {
    if (typeof method !== "function") throw new TypeError(`${native.called(v)} is not iterable (cannot read property Symbol(Symbol.iterator))`);
    return method;
  };

  // 7.3.35 GroupBy
  const group = (name, items, fn, map) => {
    if (items === undefined || items === null) throw new TypeError(`${name}.groupBy called on null or undefined`);
    callable(fn);
    iterableBy(items, items[SymbolIterator]);
    let i = 0;
    for (const item of items) {
      const key = fn(item, i++);
      const list = map.get(key);
      if (list) ArrayPrototypePush(list, item);
      else map.set(key, [item]);
    }
  };
  add(Object, {
    groupBy(items, callback) {
      const groups = ObjectCreate(null);
      group("Object", items, callback, {
        get: (key) => groups[key],
        set: (key, list) => { groups[key] = list; },
      });
      return groups;
    },
  });
  add(Map, {
    groupBy(items, callback) {
      const groups = new Map();
      group("Map", items, callback, {
        get: (key) => MapPrototypeGet(groups, key),
        set: (key, list) => { MapPrototypeSet(groups, key, list); },
      });
      return groups;
    },
  });
  const upsert = (name, get, has, set) => ({
    getOrInsert(key, value) {
      if (held(has, this, key, `${name}.prototype.getOrInsert`)) return get(this, key);
      set(this, key, value);
      return value;
    },
    getOrInsertComputed(key, callback) {
      const known = held(has, this, key, `${name}.prototype.getOrInsertComputed`);
      if (typeof callback !== "function") throw new TypeError(`${name}.prototype.getOrInsertComputed is not a function`); // V8's text
      if (known) return get(this, key);
      const value = callback(key);
      set(this, key, value);
      return value;
    },
  });
  const held = (has, receiver, key, method) => {
    try { return has(receiver, key); } catch { throw new TypeError(`Method ${method} called on incompatible receiver ${native.show(receiver)}`); }
  };
  add(Map.prototype, upsert("Map", MapPrototypeGet, MapPrototypeHas, MapPrototypeSet));
  add(primordials.WeakMap.prototype, upsert("WeakMap", primordials.WeakMapPrototypeGet, primordials.WeakMapPrototypeHas, primordials.WeakMapPrototypeSet));

  // 22.1.3: strings without lone surrogates
  add(String.prototype, {
    isWellFormed() { return native.isWellFormed(text(this, "isWellFormed")); },
    toWellFormed() { return native.toWellFormed(text(this, "toWellFormed")); },
  });
  function text(v, name) {
    if (v === undefined || v === null) throw new TypeError(`String.prototype.${name} called on null or undefined`);
    return String(v);
  }

  // 23.1.2.1 Array.fromAsync
  add(Array, {
    async fromAsync(items, map = undefined, thisArg = undefined) {
      if (map !== undefined) callable(map);
      if (items === undefined || items === null) throw new TypeError(`Cannot read properties of ${items} (reading 'Symbol(Symbol.asyncIterator)')`);
      const C = typeof this === "function" && this.prototype !== undefined ? this : Array;
      const method = items[SymbolAsyncIterator] ?? items[SymbolIterator];
      let k = 0;
      if (method === undefined || method === null) {
        const length = native.toLength(items.length);
        const result = new C(length);
        for (; k < length; k++) {
          let value = await items[k];
          if (map) value = await ReflectApply(map, thisArg, [value, k]);
          put(result, k, value);
        }
        result.length = length;
        return result;
      }
      const isAsync = items[SymbolAsyncIterator] !== undefined && items[SymbolAsyncIterator] !== null;
      const result = new C();
      const iterator = object(ReflectApply(callable(method), items, []));
      const next = iterator.next;
      const end = () => {
        result.length = k;
        return result;
      };
      for (;;) {
        let step = ReflectApply(next, iterator, []);
        if (isAsync) step = await step;
        const { done } = object(step);
        if (done && isAsync) return end();
        try {
          let { value } = step;
          if (!isAsync) { // 27.1.6: what a sync iterator gives is awaited, and so is the result that it becomes
            value = await value;
            await undefined;
            if (done) return end();
          }
          if (map) value = await ReflectApply(map, thisArg, [value, k]);
          put(result, k, value);
        } catch (error) {
          if (done) throw error;
          try {
            const closing = iterator.return;
            if (closing !== undefined && closing !== null) await ReflectApply(closing, iterator, []);
          } catch { /* the first error counts */ }
          throw error;
        }
        k++;
      }
    },
  });
  function put(obj, key, value) {
    ObjectDefineProperty(obj, key, { value, writable: true, enumerable: true, configurable: true });
  }

  // 20.5: errors
  add(Error, {
    isError(v) { return native.isError(v); },
    captureStackTrace(obj, constructorOpt) {
      if (!isObject(obj)) throw new TypeError("invalid_argument"); // V8's text
      native.captureStack(obj, typeof constructorOpt === "function" ? constructorOpt : undefined);
    },
  });
  if (!("stackTraceLimit" in Error)) Error.stackTraceLimit = 10;
  class CallSite {
    #site;
    constructor(site) { this.#site = site; }
    getFileName() { return this.#site.file || null; }
    getScriptNameOrSourceURL() { return this.#site.file || null; }
    getLineNumber() { return this.#site.native ? null : this.#site.line; }
    getColumnNumber() { return this.#site.native ? null : this.#site.column; }
    getFunctionName() { return this.#parts().name || null; }
    getMethodName() { const { type, name, method } = this.#parts(); return method ?? (type === null ? null : name || null); }
    // #parts takes "Type.name [as method]" apart.
    #parts() {
      let { name } = this.#site, type = null, method = null;
      if (this.isConstructor()) return { type, name: name === "new <anonymous>" ? "" : name.slice(4), method };
      if (this.isAsync()) name = name.slice(6);
      if (this.isPromiseAll()) name = name.slice(0, name.indexOf(" "));
      const as = name.indexOf(" [as ");
      if (as >= 0) {
        method = name.slice(as + 5, -1);
        name = name.slice(0, as);
      }
      const dot = name.indexOf(".");
      if (dot > 0) {
        type = name.slice(0, dot);
        name = name.slice(dot + 1);
      }
      return { type, name: name === "<anonymous>" ? "" : name, method };
    }
    getTypeName() { return this.#parts().type; }
    getThis() { return undefined; }
    getFunction() { return undefined; }
    getEvalOrigin() { return undefined; }
    isNative() { return false; } // built-ins are not, in V8
    isToplevel() { return this.#parts().type === null && !this.isConstructor(); }
    isEval() { return false; }
    isConstructor() { return this.#site.name.startsWith("new "); }
    isAsync() { return this.#site.name.startsWith("async"); }
    isPromiseAll() { return this.#site.name.startsWith("async Promise.all "); }
    getPromiseIndex() { return this.isPromiseAll() ? +this.#site.name.slice(25, -1) : null; }
    toString() {
      const { name, file, line, column, native } = this.#site;
      if (this.isPromiseAll()) return name;
      const at = native ? "<anonymous>" : `${file}:${line}:${column}`;
      return name ? `${name} (${at})` : at;
    }
  }
  native.keepCallSite((site) => new CallSite(site));
  add(primordials.RegExp, { escape(s) { return native.escapeRegExp(s); } });

  add(Math, {
    f16round(x) { return native.f16round(+x); },
    sumPrecise(items) {
      const list = [];
      for (const x of items) {
        if (typeof x !== "number") throw new TypeError(`${native.show(x)} is not a number`);
        ArrayPrototypePush(list, x);
      }
      return native.sumPrecise(list);
    },
  });

  iteratorHelpers();

  // 27.1: Iterator and its helpers
  function iteratorHelpers() {
    const IteratorPrototype = ObjectGetPrototypeOf(ObjectGetPrototypeOf([][SymbolIterator]()));
    function Iterator() {
      if (new.target === undefined) throw new TypeError("Constructor Iterator requires 'new'");
      if (new.target === Iterator) throw new TypeError("Abstract class Iterator not directly constructable");
    }
    ObjectDefineProperty(Iterator, "prototype", { value: IteratorPrototype, writable: false, enumerable: false, configurable: false });
    // The accessors that keep the web working (27.1.4.1): a set makes an own property.
    const assign = (obj, key, v) => {
      object(obj);
      if (obj === IteratorPrototype) throw new TypeError(`Cannot assign to read only property '${String(key)}' of object '[object Object]'`);
      if (primordials.ObjectPrototypeHasOwnProperty(obj, key)) obj[key] = v;
      else put(obj, key, v);
    };
    getters(IteratorPrototype, {
      get constructor() { return Iterator; },
      set constructor(v) { assign(this, "constructor", v); },
      get [SymbolToStringTag]() { return "Iterator"; },
      set [SymbolToStringTag](v) { assign(this, SymbolToStringTag, v); },
    });

    const direct = (obj) => ({ iterator: obj, next: obj.next });
    const step = (it) => {
      const result = ReflectApply(called(it.next), it.iterator, []);
      if (!isObject(result)) throw new TypeError(`Iterator result ${native.show(result)} is not an object`);
      return result;
    };
    const close = (it) => {
      const method = it.iterator.return;
      if (method !== undefined && method !== null) object(ReflectApply(method, it.iterator, []));
    };
    // fail closes the iterator and throws error, whatever the closing throws.
    const fail = (it, error) => {
      try { close(it); } catch { /* the first error counts */ }
      throw error;
    };
    const guarded = (it, fn) => {
      try { return fn(); } catch (error) { fail(it, error); }
    };
    const receiver = (obj, name) => objectFor(obj, `Iterator.prototype.${name}`);
    const check = (obj, fn, name) => {
      receiver(obj, name);
      guarded({ iterator: obj }, () => called(fn));
    };
    const limitOf = (obj, n, name) => {
      receiver(obj, name);
      return guarded({ iterator: obj }, () => {
        const number = +n;
        if (number !== number) throw new RangeError(`${native.show(n)} must be positive`);
        const integer = primordials.MathTrunc(number);
        if (integer < 0) throw new RangeError(`${native.show(n)} must be positive`);
        return integer;
      });
    };

    // 27.1.2.1: the objects that helpers return
    class Helper {
      #next; #close; #state = "new";
      constructor(next, close) { this.#next = next; this.#close = close; }
      next() {
        if (this.#state === "running") throw new TypeError("Generator is already running");
        if (this.#state === "done") return { value: undefined, done: true };
        this.#state = "running";
        try {
          const result = (0, this.#next)();
          this.#state = result.done ? "done" : "new";
          return result;
        } catch (error) {
          this.#state = "done";
          throw error;
        }
      }
      return() {
        if (this.#state === "running") throw new TypeError("Generator is already running");
        if (this.#state !== "done") {
          this.#state = "done";
          (0, this.#close)();
        }
        return { value: undefined, done: true };
      }
    }
    delete Helper.prototype.constructor;
    primordials.ReflectSetPrototypeOf(Helper.prototype, IteratorPrototype);
    native.markLanguage(Helper.prototype);
    ObjectDefineProperty(Helper.prototype, SymbolToStringTag, { value: "Iterator Helper", writable: false, enumerable: false, configurable: true });
    const helper = (next, close) => new Helper(next, close);
    const over = (it) => () => close(it);
    const done = { value: undefined, done: true };
    const give = (value) => ({ value, done: false });
    const iterable = (v) => {
      if (!isObject(v)) throw new TypeError(`${native.show(v)} is not iterable`);
      return v;
    };
    const methodOf = (v, method) => {
      if (method === undefined || method === null) throw new TypeError(`${native.show(v)} is not iterable`);
      if (typeof method !== "function") throw new TypeError(`'${native.show(method)}' returned for property 'Symbol(Symbol.iterator)' of object '${native.show(v)}' is not a function`);
      return method;
    };
    const flattenable = (v) => {
      const method = v[SymbolIterator];
      if (method === undefined || method === null) return direct(iterable(v));
      const iterator = ReflectApply(methodOf(v, method), v, []);
      if (!isObject(iterator)) throw new TypeError(`${native.show(v)} is not iterable`);
      return direct(iterator);
    };

    add(IteratorPrototype, {
      map(mapper) {
        check(this, mapper, "map");
        const it = direct(this);
        let i = 0;
        return helper(() => {
          const s = step(it);
          if (s.done) return { ...done };
          const { value } = s;
          return give(guarded(it, () => mapper(value, i++)));
        }, over(it));
      },
      filter(predicate) {
        check(this, predicate, "filter");
        const it = direct(this);
        let i = 0;
        return helper(() => {
          for (;;) {
            const s = step(it);
            if (s.done) return { ...done };
            const { value } = s;
            if (guarded(it, () => predicate(value, i++))) return give(value);
          }
        }, over(it));
      },
      take(limit) {
        let left = limitOf(this, limit, "take");
        const it = direct(this);
        return helper(() => {
          if (left === 0) {
            close(it);
            return { ...done };
          }
          left--;
          const s = step(it);
          return s.done ? { ...done } : give(s.value);
        }, over(it));
      },
      drop(limit) {
        let left = limitOf(this, limit, "drop");
        const it = direct(this);
        return helper(() => {
          for (; left > 0; left--) {
            if (step(it).done) return { ...done };
          }
          const s = step(it);
          return s.done ? { ...done } : give(s.value);
        }, over(it));
      },
      flatMap(mapper) {
        receiver(this, "flatMap");
        if (typeof mapper !== "function") fail({ iterator: this }, new TypeError("Iterator.prototype.flatMap is not a function")); // V8's text
        const it = direct(this);
        let i = 0;
        let inner = null;
        return helper(() => {
          for (;;) {
            if (inner === null) {
              const s = step(it);
              if (s.done) return { ...done };
              const { value } = s;
              inner = guarded(it, () => flattenable(receiver(mapper(value, i++), "flatMap")));
            }
            const s = guarded(it, () => step(inner));
            if (!guarded(it, () => s.done)) return give(guarded(it, () => s.value));
            inner = null;
          }
        }, () => {
          if (inner !== null) {
            try { close(inner); } catch (error) { fail(it, error); }
          }
          close(it);
        });
      },
      reduce(reducer, ...initial) {
        check(this, reducer, "reduce");
        const it = direct(this);
        let i = 0;
        let sum;
        if (initial.length > 0) {
          sum = initial[0];
        } else {
          const s = step(it);
          if (s.done) throw new TypeError("Reduce of a done iterator with no initial value");
          sum = s.value;
          i = 1;
        }
        for (;;) {
          const s = step(it);
          if (s.done) return sum;
          const { value } = s;
          sum = guarded(it, () => reducer(sum, value, i++));
        }
      },
      includes(wanted, skipped = undefined) {
        receiver(this, "includes");
        let left = 0;
        if (skipped !== undefined) {
          if (typeof skipped !== "number" || skipped !== Infinity && skipped !== -Infinity && primordials.MathTrunc(skipped) !== skipped) {
            fail({ iterator: this }, new TypeError("skippedElements argument must be undefined or an integer"));
          }
          if (skipped < 0) fail({ iterator: this }, new RangeError(`${skipped} must be positive`));
          left = skipped;
        }
        const it = direct(this);
        return search(it, (value, i) => i >= left && (value === wanted || value !== value && wanted !== wanted), true, () => true, false);
      },
      join(separator) {
        receiver(this, "join");
        const between = separator === undefined ? "," : guarded({ iterator: this }, () => `${separator}`);
        const it = direct(this);
        const list = [];
        for (;;) {
          const s = step(it);
          if (s.done) return primordials.ArrayPrototypeJoin(list, between);
          const { value } = s;
          ArrayPrototypePush(list, value === undefined || value === null ? "" : guarded(it, () => `${value}`));
        }
      },
      toArray() {
        const it = direct(receiver(this, "toArray"));
        const list = [];
        for (;;) {
          const s = step(it);
          if (s.done) return list;
          ArrayPrototypePush(list, s.value);
        }
      },
      forEach(fn) {
        check(this, fn, "forEach");
        const it = direct(this);
        let i = 0;
        for (;;) {
          const s = step(it);
          if (s.done) return;
          const { value } = s;
          guarded(it, () => fn(value, i++));
        }
      },
      some(predicate) {
        check(this, predicate, "some");
        return search(direct(this), predicate, true, () => true, false);
      },
      every(predicate) {
        check(this, predicate, "every");
        return search(direct(this), predicate, false, () => false, true);
      },
      find(predicate) {
        check(this, predicate, "find");
        return search(direct(this), predicate, true, (value) => value, undefined);
      },
    });
    // search closes the iterator at the first value for which the predicate says wanted.
    function search(it, predicate, wanted, found, otherwise) {
      let i = 0;
      for (;;) {
        const s = step(it);
        if (s.done) return otherwise;
        const { value } = s;
        if (!!guarded(it, () => predicate(value, i++)) === wanted) {
          close(it);
          return found(value);
        }
      }
    }
    if (!(SymbolDispose in IteratorPrototype)) {
      hide(IteratorPrototype, SymbolDispose, { [SymbolDispose]() {
        const method = this.return;
        if (method !== undefined && method !== null) ReflectApply(method, this, []);
      } }[SymbolDispose]);
    }

    const wrapPrototype = ObjectCreate(IteratorPrototype);
    native.markLanguage(wrapPrototype);
    const wrapped = new primordials.WeakMap();
    hide(wrapPrototype, "next", { next() {
      const it = primordials.WeakMapPrototypeGet(wrapped, this);
      return ReflectApply(it.next, it.iterator, []);
    } }.next);
    hide(wrapPrototype, "return", { return() {
      const { iterator } = primordials.WeakMapPrototypeGet(wrapped, this);
      const method = iterator.return;
      return method === undefined ? { ...done } : ReflectApply(method, iterator, []);
    } }.return);
    add(Iterator, {
      from(v) {
        if (typeof v !== "string" && (typeof v !== "object" || v === null) && typeof v !== "function") throw new TypeError("Iterator.from called on non-object");
        const it = flattenable(v);
        if (primordials.ObjectPrototypeIsPrototypeOf(IteratorPrototype, it.iterator)) return it.iterator;
        const w = ObjectCreate(wrapPrototype);
        primordials.WeakMapPrototypeSet(wrapped, w, it);
        return w;
      },
      concat(...items) {
        const sources = items.map((item) => ({ item: objectFor(item, "Iterator.concat"), method: methodOf(item, item[SymbolIterator]) }));
        let k = 0;
        let inner = null;
        return helper(() => {
          for (;;) {
            if (inner === null) {
              if (k === sources.length) return { ...done };
              const { item, method } = sources[k++];
              inner = direct(iterable(ReflectApply(method, item, [])));
            }
            const s = step(inner);
            if (!s.done) return give(s.value);
            inner = null;
          }
        }, () => { if (inner !== null) close(inner); });
      },
    });
    ObjectDefineProperty(IteratorPrototype.includes, "length", { value: 1, configurable: true });
    zips();
    hide(globalThis, "Iterator", Iterator);

    // 27.1.3.2.3: Iterator.zip and zipKeyed (joint iteration)
    function zips() {
      const options = (given, name) => {
        if (given === undefined) given = ObjectCreate(null);
        objectFor(given, "options");
        const mode = given.mode === undefined ? "shortest" : given.mode;
        if (mode !== "shortest" && mode !== "longest" && mode !== "strict") throw new TypeError(`${name} mode must be 'shortest', 'longest', or 'strict'`);
        const padding = mode === "longest" ? given.padding : undefined;
        if (padding !== undefined) objectFor(padding, "padding");
        return { mode, padding };
      };
      // closeAll closes those still open, the last one first; error, if there is one, wins.
      const closeAll = (its, thrown) => {
        for (let i = its.length - 1; i >= 0; i--) {
          if (its[i] === null) continue;
          try { close(its[i]); } catch (error) { thrown ??= { error }; }
        }
        if (thrown) throw thrown.error;
      };
      const within = (its, fn) => { try { return fn(); } catch (error) { closeAll(its, { error }); } };
      const joint = (its, mode, padding, finish) => {
        const all = its.slice();
        const next = () => {
          if (all.length === 0) return { ...done };
          const values = [];
          for (let i = 0; i < all.length; i++) {
            if (all[i] === null) { put(values, i, padding[i]); continue; }
            const it = all[i];
            let s;
            try { s = step(it); if (!s.done) { put(values, i, s.value); continue; } } catch (error) { all[i] = null; closeAll(all, { error }); }
            all[i] = null;
            if (mode === "shortest") { closeAll(all); return { ...done }; }
            if (mode === "longest") {
              if (all.every((x) => x === null)) return { ...done };
              put(values, i, padding[i]);
              continue;
            }
            const uneven = () => new TypeError("Iterators passed to Iterator.zip in 'strict' mode must have the same length");
            if (i > 0) closeAll(all, { error: uneven() });
            for (let k = 1; k < all.length; k++) {
              let open;
              try { open = !step(all[k]).done; } catch (error) { all[k] = null; closeAll(all, { error }); }
              if (open) closeAll(all, { error: uneven() });
              all[k] = null;
            }
            return { ...done };
          }
          return give(finish(values));
        };
        return helper(next, () => closeAll(all));
      };
      const opened = (its, value) => ArrayPrototypePush(its, flattenable(iterable(value)));
      add(Iterator, {
        zip(iterables, given = undefined) {
          objectFor(iterables, "Iterator.zip");
          const { mode, padding } = options(given, "Iterator.zip");
          const its = [], pad = [];
          const input = direct(object(ReflectApply(iterableBy(iterables, iterables[SymbolIterator]), iterables, [])));
          for (;;) {
            const s = within(its, () => step(input));
            if (within(its, () => s.done)) break;
            within([input, ...its], () => opened(its, s.value));
          }
          if (mode === "longest" && padding !== undefined) within(its, () => {
            const from = direct(object(ReflectApply(iterableBy(padding, padding[SymbolIterator]), padding, [])));
            let open = true;
            for (let i = 0; i < its.length && open; i++) {
              const s = step(from);
              if (s.done) open = false; else put(pad, i, s.value);
            }
            if (open) close(from);
          });
          return joint(its, mode, pad, (values) => values);
        },
        zipKeyed(iterables, given = undefined) {
          objectFor(iterables, "Iterator.zipKeyed");
          const { mode, padding } = options(given, "Iterator.zipKeyed");
          const its = [], keys = [], pad = [];
          const all = primordials.ownKeys(iterables);
          for (let i = 0; i < all.length; i++) within(its, () => {
            if (!ObjectGetOwnPropertyDescriptor(iterables, all[i])?.enumerable) return;
            const value = iterables[all[i]];
            if (value === undefined) return;
            ArrayPrototypePush(keys, all[i]);
            opened(its, value);
          });
          if (mode === "longest" && padding !== undefined) within(its, () => { for (let i = 0; i < keys.length; i++) put(pad, i, padding[keys[i]]); });
          return joint(its, mode, pad, (values) => {
            const result = ObjectCreate(null);
            for (let i = 0; i < keys.length; i++) put(result, keys[i], values[i]);
            return result;
          });
        },
      });
      for (const name of ["zip", "zipKeyed"]) ObjectDefineProperty(Iterator[name], "length", { value: 1, configurable: true });
    }
  }
}
