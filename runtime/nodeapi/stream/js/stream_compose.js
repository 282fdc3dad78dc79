// stream.compose and Duplex.from: one Duplex of a head that is written to and
// a tail that is read from (nodejs.org/api/stream.html#streamcomposestreams).
function (native, p) {
  "use strict";
  const { errors } = native;
  const base = native.require("internal/stream_base");
  const { Duplex } = native.require("internal/stream_duplex");
  const { finished, pipeline } = native.require("internal/stream_pipeline");
  const Readable = native.require("internal/stream_readable");
  const { SymbolAsyncIterator, Promise, ArrayIsArray } = p;
  const { tick, isNode } = base;

  // glue makes the Duplex. watch(done) tells it when all that lies between head
  // and tail is over; final waits for `last`.
  const glue = (head, tail, last, watch) => {
    let drained = null, ending = null, closing = null, hungry = false, over = false;
    const take = (callback, ...args) => { callback?.(...args); return null; };
    const d = new Duplex({
      readableObjectMode: !!tail?.readableObjectMode, writableObjectMode: !!head?.writableObjectMode, readable: !!tail, writable: !!head,
      write(chunk, encoding, callback) { if (head.write(chunk, encoding)) callback(); else drained = callback; },
      final(callback) { ending = callback; head.end(); },
      read() {
        for (;;) {
          const chunk = tail.read();
          if (chunk === null) { hungry = true; return; }
          if (!d.push(chunk)) return;
        }
      },
      destroy(error, callback) {
        drained = ending = null;
        const ended = (!tail || d.readableEnded) && (!head || d.writableFinished);
        if (!error && !over && !ended) error = base.aborted();
        if (over || ended) { callback(error); return; }
        closing = callback;
        for (const s of [tail, head]) if (s && !s.destroyed) s.destroy(error);
      },
    });
    if (head) {
      head.on("drain", () => { drained = take(drained); });
      finished(last, head === last ? { readable: false } : {}, (error) => { if (!error) ending = take(ending); });
    }
    if (tail) {
      tail.on("readable", () => { if (hungry) { hungry = false; d._read(); } });
      tail.on("end", () => d.push(null));
    }
    watch((error) => {
      over = true;
      if (closing) closing = take(closing, error);
      else if (error) d.destroy(error);
      else if (!tail && !head) d.destroy();
    });
    return d;
  };

  const pair = (writable, readable) => glue(writable, readable, writable, (done) => {
    let left = 0;
    const one = (error) => { if (--left === 0 || error) { done(error); done = () => {}; } };
    for (const [s, options] of [[writable, { readable: false }], [readable, { writable: false }]]) {
      if (s) { left++; finished(s, options, one); }
    }
  });

  // A function gets what is written as an async iterable.
  const fromFunction = (fn) => {
    let give, next = new Promise((resolve) => { give = resolve; });
    const stop = new AbortController();
    const put = (item) => { const send = give; give = null; send(item); };
    const source = {
      async next() {
        const item = await next;
        next = new Promise((resolve) => { give = resolve; });
        tick(item.callback);
        if (item.done) return { value: undefined, done: true };
        if (stop.signal.aborted) throw base.aborted(stop.signal.reason);
        return { value: item.chunk, done: false };
      },
      return: async (value) => ({ value, done: true }),
      [SymbolAsyncIterator]() { return this; },
    };
    const value = fn(source, { signal: stop.signal });
    const side = {
      objectMode: true,
      write(chunk, encoding, callback) { put({ chunk, callback }); },
      final(callback) { put({ done: true, callback }); },
    };
    const abort = (error) => { stop.abort(error); if (give) put({ done: true, callback() {} }); };
    if (base.isIterable(value)) {
      const readable = Readable.from(value), d = new Duplex({ ...side,
        read() {
          for (;;) {
            const chunk = readable.read();
            if (chunk === null || !d.push(chunk)) return;
          }
        },
        destroy(error, callback) { if (error) abort(error); readable.destroy(error); callback(error); } });
      readable.on("readable", () => d._read());
      readable.on("end", () => d.push(null));
      readable.on("error", (error) => d.destroy(error));
      return d;
    }
    if (typeof value?.then === "function") {
      const result = value.then((v) => {
        if (v !== undefined && v !== null) throw errors.make("TypeError", "ERR_INVALID_RETURN_VALUE", `Expected nully to be returned from the "body" function but got ${errors.received(v)}.`);
      });
      result.catch((error) => d.destroy(error));
      const d = new Duplex({ ...side, readable: false,
        final(callback) { put({ done: true, callback() { result.then(() => tick(callback, null), (error) => tick(callback, error)); } }); },
        destroy(error, callback) { if (error) abort(error); callback(error); } });
      return d;
    }
    throw errors.make("TypeError", "ERR_INVALID_RETURN_VALUE", `Expected Iterable, AsyncIterable or AsyncFunction to be returned from the "body" function but got ${errors.received(value)}.`);
  };

  const promised = (promise) => {
    let done = false;
    return { [SymbolAsyncIterator]: () => ({ next: async () => {
      const value = done ? undefined : await promise;
      const step = { value, done: done || value === undefined || value === null };
      done = true;
      return step;
    } }) };
  };

  const from = (body, name = "body") => {
    if (isNode(body) && body._readableState && body._writableState) return body;
    if (base.isReadableNode(body)) return pair(undefined, body);
    if (base.isWritableNode(body)) return pair(body, undefined);
    if (isNode(body)) return pair(undefined, undefined);
    const web = base.fromWeb(body);
    if (web !== body) return from(web, name);
    if (typeof body === "function") return fromFunction(body);
    if (body instanceof Blob) return from(body.arrayBuffer());
    if (typeof body === "string" || base.isIterable(body)) return pair(undefined, Readable.from(body));
    if (typeof body?.readable === "object" || typeof body?.writable === "object") {
      const readable = body.readable ? base.isReadableNode(body.readable) ? body.readable : from(body.readable) : undefined;
      const writable = body.writable ? base.isWritableNode(body.writable) ? body.writable : from(body.writable) : undefined;
      return pair(writable, readable);
    }
    if (typeof body?.then === "function") return pair(undefined, Readable.from(promised(body)));
    throw errors.argType(name, base.bodyKinds, body);
  };

  const compose = (...given) => {
    if (given.length === 0) throw errors.make("TypeError", "ERR_MISSING_ARGS", 'The "streams" argument must be specified');
    if (given.length === 1) return from(given[0]);
    const last = given.length - 1;
    const streams = given.map((s, i) => {
      if (typeof s === "function") return i === 0 || i === last ? from(s) : s;
      return base.fromWeb(s);
    });
    streams.forEach((s, i) => {
      if (!isNode(s)) {
        if (typeof s !== "function" && !base.isIterable(s)) throw errors.argType("body", base.bodyKinds, s);
        return;
      }
      if (i < last && !base.isReadable(s)) throw errors.argValue(`streams[${i}]`, given[i], "must be readable");
      if (i > 0 && !base.isWritable(s)) throw errors.argValue(`streams[${i}]`, given[i], "must be writable");
    });
    let done = null, result = null;
    const tail = pipeline(streams, (error) => { if (done) done(error); else result = [error]; });
    const head = base.isWritable(streams[0]) ? streams[0] : undefined;
    return glue(head, base.isReadable(tail) ? tail : undefined, tail, (fn) => { done = fn; if (result) fn(...result); });
  };

  return { compose, from };
}
