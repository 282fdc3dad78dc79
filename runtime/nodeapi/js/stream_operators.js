// The operators of stream.Readable: map, filter, reduce and the like
// (nodejs.org/api/stream.html#readablemapfn-options).
function (native, p) {
  "use strict";
  const { errors, methods } = native;
  const { SymbolAsyncIterator, SymbolIterator } = p;

  return (Readable) => {
    // Operators over chunks. Those that give a stream are lazy.
    const callable = (fn) => { errors.func(fn, "fn"); };
    const derived = (stream, step) => Readable.from({
      [SymbolAsyncIterator]() {
        const it = stream[SymbolAsyncIterator]();
        return { next: () => step(it), return: (v) => it.return(v), throw: (e) => it.throw(e) };
      },
    });
    const each = async (stream, fn) => {
      const it = stream[SymbolAsyncIterator]();
      for (let i = 0; ; i++) {
        const step = await it.next();
        if (step.done) return;
        let stop;
        try { stop = await fn(step.value, i); } catch (error) { await it.return(); throw error; }
        if (stop === true) { await it.return(); return; }
      }
    };
    const finishedStep = { value: undefined, done: true };
    methods(Readable.prototype, {
      map(fn) {
        callable(fn);
        return derived(this, async (it) => {
          const s = await it.next();
          return s.done ? s : { value: await fn(s.value, {}), done: false };
        });
      },
      filter(fn) {
        callable(fn);
        return derived(this, async (it) => {
          for (;;) {
            const s = await it.next();
            if (s.done || await fn(s.value, {})) return s;
          }
        });
      },
      flatMap(fn) {
        callable(fn);
        let inner = null;
        return derived(this, async (it) => {
          for (;;) {
            if (inner !== null) {
              const s = await inner.next();
              if (!s.done) return s;
              inner = null;
            }
            const s = await it.next();
            if (s.done) return s;
            const list = await fn(s.value, {});
            inner = (list[SymbolAsyncIterator] ?? list[SymbolIterator]).call(list);
          }
        });
      },
      take(n) {
        let left = n;
        return derived(this, async (it) => {
          if (left-- <= 0) { await it.return(); return finishedStep; }
          return it.next();
        });
      },
      drop(n) {
        let left = n;
        return derived(this, async (it) => {
          while (left-- > 0) if ((await it.next()).done) return finishedStep;
          return it.next();
        });
      },
      async forEach(fn) { callable(fn); await each(this, async (v) => { await fn(v, {}); }); },
      async toArray() {
        const out = [];
        await each(this, (v) => { out.push(v); });
        return out;
      },
      async some(fn) {
        callable(fn);
        let found = false;
        await each(this, async (v) => (found = !!await fn(v, {})));
        return found;
      },
      async every(fn) {
        callable(fn);
        return !(await this.some(async (v) => !(await fn(v, {}))));
      },
      async find(fn) {
        callable(fn);
        let found;
        await each(this, async (v) => { if (await fn(v, {})) { found = v; return true; } return false; });
        return found;
      },
      async reduce(fn, ...initial) {
        callable(fn);
        let has = initial.length > 0, total = initial[0];
        await each(this, async (v) => {
          if (has) total = await fn(total, v, {}); else { total = v; has = true; }
        });
        if (!has) throw errors.make("TypeError", "ERR_MISSING_ARGS", "Reduce of an empty stream requires an initial value");
        return total;
      },
    });
  };
}
