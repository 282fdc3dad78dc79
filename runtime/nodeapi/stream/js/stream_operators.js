// The operators of stream.Readable: map, filter, reduce and the like
// (nodejs.org/api/stream.html#readablemapfn-options).
function (native, p) {
  "use strict";
  const { errors, methods } = native;
  const { SymbolAsyncIterator, SymbolIterator, Promise } = p;
  const base = native.require("internal/stream_base");
  const skipped = p.Symbol("skipped");
  const finishedStep = { value: undefined, done: true };
  const nothing = () => {};

  return (Readable) => {
    const derived = (stream, step) => Readable.from({
      [SymbolAsyncIterator]() {
        const it = stream[SymbolAsyncIterator]();
        return { next: () => step(it), return: (v) => it.return(v), throw: (e) => it.throw(e) };
      },
    });
    const live = (signal) => { if (signal?.aborted) throw base.aborted(signal.reason); };
    const each = async (stream, fn, signal) => {
      const it = stream[SymbolAsyncIterator]();
      for (;;) {
        let stop;
        try {
          live(signal);
          const step = await it.next();
          live(signal);
          if (step.done) return;
          stop = await fn(step.value);
        } catch (error) { await it.return(); throw error; }
        if (stop === true) { await it.return(); return; }
      }
    };
    const callback = (fn, name = "fn") => {
      if (typeof fn !== "function") throw errors.argType(name, "of type function or an instance of AsyncFunction", fn);
    };
    // mapped calls fn for up to options.concurrency chunks at a time and keeps
    // their order; a result that is `skipped` is left out.
    const mapped = (stream, fn, options) => {
      callback(fn);
      base.checkOptions(options);
      const concurrency = options?.concurrency === undefined ? 1 : p.MathFloor(options.concurrency);
      errors.integer(concurrency, "concurrency", 1);
      const signal = options?.signal ?? new AbortController().signal;
      const results = [];
      let started = false, wake = nothing, proceed = nothing;
      const pump = async (it) => {
        const add = (promise) => { promise.catch(nothing); results.push(promise); wake(); };
        try {
          for (;;) {
            live(signal);
            const step = await it.next();
            if (step.done) break;
            live(signal);
            add((async () => ({ value: await fn(step.value, { signal }), done: false }))());
            if (results.length >= concurrency) await new Promise((resolve) => { proceed = resolve; });
          }
          add(p.PromiseResolve(finishedStep));
        } catch (error) { add(p.PromiseReject(error)); }
      };
      return derived(stream, async (it) => {
        if (!started) { started = true; pump(it); }
        for (;;) {
          while (results.length === 0) await new Promise((resolve) => { wake = resolve; });
          const step = await results[0];
          if (step.done) return step;
          results.shift();
          proceed();
          live(signal);
          if (step.value !== skipped) return step;
        }
      });
    };
    const filtered = (stream, fn, options) => {
      callback(fn);
      return mapped(stream, async (v, o) => (await fn(v, o) ? v : skipped), options);
    };
    const first = async (stream, none, some) => {
      const it = stream[SymbolAsyncIterator](), step = await it.next();
      if (step.done) return none;
      await it.return();
      return some(step.value);
    };
    const count = (n) => {
      n = p.Number(n);
      if (n !== n) return 0;
      if (n < 0) throw errors.range("number", ">= 0", n);
      return n;
    };
    methods(Readable.prototype, {
      map(fn, options) { return mapped(this, fn, options); },
      filter(fn, options) { return filtered(this, fn, options); },
      flatMap(fn, options) {
        const lists = mapped(this, fn, options);
        let inner = null;
        return derived(lists, async (it) => {
          for (;;) {
            if (inner !== null) {
              const s = await inner.next();
              if (!s.done) return s;
              inner = null;
            }
            const s = await it.next();
            if (s.done) return s;
            inner = (s.value[SymbolAsyncIterator] ?? s.value[SymbolIterator]).call(s.value);
          }
        });
      },
      take(n, options) {
        base.checkOptions(options);
        let left = count(n);
        return derived(this, async (it) => {
          live(options?.signal);
          if (left-- <= 0) { await it.return(); return finishedStep; }
          return it.next();
        });
      },
      drop(n, options) {
        base.checkOptions(options);
        let left = count(n);
        return derived(this, async (it) => {
          live(options?.signal);
          while (left-- > 0) if ((await it.next()).done) return finishedStep;
          return it.next();
        });
      },
      asIndexedPairs(options) {
        base.checkOptions(options);
        let index = 0;
        return derived(this, async (it) => {
          live(options?.signal);
          const s = await it.next();
          return s.done ? s : { value: [index++, s.value], done: false };
        });
      },
      async forEach(fn, options) {
        callback(fn);
        await each(mapped(this, async (v, o) => { await fn(v, o); return skipped; }, options), nothing);
      },
      async toArray(options) {
        base.checkOptions(options);
        const out = [];
        await each(this, (v) => { out.push(v); }, options?.signal);
        return out;
      },
      async some(fn, options) { return first(filtered(this, fn, options), false, () => true); },
      async every(fn, options) {
        callback(fn);
        return first(filtered(this, async (v, o) => !await fn(v, o), options), true, () => false);
      },
      async find(fn, options) { return first(filtered(this, fn, options), undefined, (v) => v); },
      async reduce(fn, initial, options) {
        callback(fn, "reducer");
        base.checkOptions(options);
        let has = arguments.length > 1, total = initial;
        const signal = options?.signal ?? new AbortController().signal;
        await each(this, async (v) => {
          if (has) total = await fn(total, v, { signal }); else { total = v; has = true; }
        }, signal);
        if (!has) throw errors.make("TypeError", "ERR_MISSING_ARGS", "Reduce of an empty stream requires an initial value");
        return total;
      },
      compose(stream, options) {
        base.checkOptions(options);
        const composed = native.require("internal/stream_compose").compose(this, stream);
        if (options?.signal) native.require("internal/stream_pipeline").addAbortSignal(options.signal, composed);
        return composed;
      },
    });
  };
}
