// stream.finished, pipeline, addAbortSignal and the promises of both
// (nodejs.org/api/stream.html).
function (native, p) {
  "use strict";
  const { errors } = native;
  const base = native.require("internal/stream_base");
  const { tick, isNode, isReadableNode, isWritableNode } = base;
  const { Promise, PromiseResolve, SymbolAsyncIterator, SymbolIterator } = p;
  const premature = () => errors.make("TypeError", "ERR_STREAM_PREMATURE_CLOSE", "Premature close");

  // finished(stream[, options], callback) calls back once, when the stream can
  // do nothing more. It returns a function that takes the listeners off.
  const finished = (stream, options, callback) => {
    if (typeof options === "function") { callback = options; options = {}; }
    options ??= {};
    base.checkOptions(options);
    errors.func(callback, "callback");
    if (base.isWebReadable(stream) || base.isWebWritable(stream)) {
      throw errors.refused("stream.finished(a web stream)");
    }
    if (!isNode(stream)) throw errors.argType("stream", "an instance of ReadableStream, WritableStream, or Stream", stream);
    let called = false;
    const done = (error) => {
      if (called) return;
      called = true;
      if (error === undefined || error === null) callback.call(stream); else callback.call(stream, error);
    };
    const r = stream._readableState, w = stream._writableState;
    const wantsRead = options.readable ?? (r ? r.readable !== false : isReadableNode(stream) && !w);
    const wantsWrite = options.writable ?? (w ? w.writable !== false : isWritableNode(stream) && !r);
    let readDone = !wantsRead || (r ? r.endEmitted : stream.readable === false);
    let writeDone = !wantsWrite || (w ? w.finished : stream.writable === false);
    const willClose = !!((r ?? w)?.autoDestroy && (r ?? w)?.emitClose) && (!r || !w || wantsRead && wantsWrite || r.autoDestroy);
    const failure = () => (w?.errored ?? null) || (r?.errored ?? null);
    const settle = () => {
      if (!readDone || !writeDone) return;
      if (willClose && !stream.closed && ((r && wantsRead && r.autoDestroy) || (w && wantsWrite && w.autoDestroy)) && fullyOver()) return;
      done(failure());
    };
    // The stream destroys itself only when both of its sides are over.
    const fullyOver = () => (!r || r.readable === false || r.endEmitted) && (!w || w.writable === false || w.finished);
    const onEnd = () => { readDone = true; settle(); };
    const onFinish = () => { writeDone = true; settle(); };
    const onError = (error) => done(error);
    const onClose = () => {
      const error = failure();
      if (error && typeof error !== "boolean") { done(error); return; }
      if (!readDone && !(r && r.endEmitted)) { done(premature()); return; }
      if (!writeDone && !(w && w.finished)) { done(premature()); return; }
      done();
    };
    stream.on("end", onEnd);
    stream.on("finish", onFinish);
    if (options.error !== false) stream.on("error", onError);
    stream.on("close", onClose);
    stream.on("aborted", onClose);
    if (stream.closed || (r ?? w)?.closeEmitted) tick(onClose);
    else if ((r ?? w)?.errorEmitted) tick(() => done(failure()));
    else if (readDone && writeDone && !((r ?? w) && willClose && fullyOver())) tick(() => done(failure()));
    else if (readDone && writeDone && stream.destroyed === false && !willClose) tick(done);
    const cleanup = () => {
      called = true;
      stream.off("end", onEnd);
      stream.off("finish", onFinish);
      stream.off("error", onError);
      stream.off("close", onClose);
      stream.off("aborted", onClose);
    };
    if (options.signal) onAbort(options.signal, () => { const cb = callback; cleanup(); cb.call(stream, base.aborted(options.signal.reason)); });
    return cleanup;
  };

  const onAbort = (signal, fn) => {
    if (signal.aborted) tick(fn); else signal.addEventListener("abort", fn, { once: true });
    return () => signal.removeEventListener("abort", fn);
  };

  const addAbortSignal = (signal, stream) => {
    if (signal === null || typeof signal !== "object" || !("aborted" in signal)) throw errors.argType("signal", "an instance of AbortSignal", signal);
    if (base.isWebReadable(stream) || base.isWebWritable(stream)) throw errors.refused("stream.addAbortSignal(a web stream)");
    if (!isNode(stream)) throw errors.argType("stream", "an instance of ReadableStream, WritableStream, or Stream", stream);
    const abort = () => stream.destroy(base.aborted(signal.reason));
    if (signal.aborted) abort();
    else finished(stream, onAbort(signal, abort));
    return stream;
  };

  // pump writes an iterable into a Writable, waiting for drain.
  const pump = async (iterable, writable, closes) => {
    let failed, wake = null;
    const resume = () => { const fn = wake; wake = null; fn?.(); };
    writable.on("drain", resume);
    const cleanup = finished(writable, { readable: false }, (error) => { failed = { error: error ?? premature() }; resume(); });
    const iterator = (iterable[SymbolAsyncIterator] ?? iterable[SymbolIterator]).call(iterable);
    try {
      for (;;) {
        const step = await iterator.next();
        if (step.done) break;
        if (failed) { await iterator.return?.(); break; }
        if (!writable.write(step.value) && writable.writableNeedDrain) await new Promise((resolve) => { wake = resolve; });
      }
      if (failed) { if (failed.error.code !== "ERR_STREAM_PREMATURE_CLOSE" || !writable.writableFinished) throw failed.error; }
      if (closes) {
        cleanup();
        writable.end();
        await promised(finished, writable, { readable: false });
      }
    } catch (error) {
      if (writable !== undefined && !writable.destroyed) writable.destroy(error);
      throw error;
    } finally {
      cleanup();
      writable.off("drain", resume);
    }
  };

  const promised = (fn, ...args) => new Promise((resolve, reject) => {
    fn(...args, (error, value) => (error ? reject(error) : resolve(value)));
  });

  // pipeline(...streams, callback): the last stream, piped from the first; one
  // failure destroys all.
  const pipeline = (...given) => {
    const callback = given.pop();
    errors.func(callback, "streams[stream.length - 1]");
    return start(given.length === 1 && p.ArrayIsArray(given[0]) ? [...given[0]] : given, {}, callback);
  };

  const start = (streams, options, callback) => {
    if (streams.length < 2) throw errors.make("TypeError", "ERR_MISSING_ARGS", 'The "streams" argument must be specified');
    const destroys = [];
    // What a function gets as its signal: it ends with the pipeline.
    const stop = streams.some((stage) => typeof stage === "function") ? new AbortController() : undefined;
    let failure = null, left = 0, value, over = false;
    const finish = (error) => {
      if (error && (failure === null || failure.code === "ERR_STREAM_PREMATURE_CLOSE")) failure = error;
      if (error) {
        for (const d of destroys.splice(0)) d(failure);
        stop?.abort();
      }
      if (--left > 0 && !(error && over === false && left <= 0)) { if (!error) return; }
      if (left <= 0 && !over) {
        over = true;
        unabort?.();
        stop?.abort();
        tick(() => callback(failure ?? undefined, value));
      }
    };
    const watch = (stream, reading, writing) => {
      left++;
      let done = false;
      destroys.push((error) => { if (!done && !stream.destroyed) { done = true; stream.destroy?.(error ?? premature()); } });
      let called = false;
      const cleanup = finished(stream, { readable: reading, writable: writing }, (error) => {
        if (called) return;
        called = true;
        done = !error;
        if (error && reading && !writing && error.code === "ERR_STREAM_PREMATURE_CLOSE" && stream._readableState?.ended) error = undefined;
        finish(error);
      });
      return cleanup;
    };
    const unabort = options.signal ? onAbort(options.signal, () => {
      failure ??= base.aborted(options.signal.reason);
      for (const d of destroys.splice(0)) d(failure);
      finishAll();
    }) : undefined;
    const finishAll = () => { left = 1; finish(failure); };

    let current;
    streams.forEach((stage, i) => {
      const last = i === streams.length - 1;
      const closes = !last || options.end !== false;
      stage = base.fromWeb(stage);
      if (typeof stage === "function") {
        current = i === 0 ? stage({ signal: stop.signal }) : stage(current, { signal: stop.signal });
        if (i === 0 && !base.isIterable(current)) throw errors.make("TypeError", "ERR_INVALID_RETURN_VALUE", 'Expected Iterable, AsyncIterable or Stream to be returned from the "source" function but got ' + errors.received(current) + ".");
        if (!last) {
          if (!base.isIterable(current)) throw errors.make("TypeError", "ERR_INVALID_RETURN_VALUE", `Expected AsyncIterable to be returned from the "transform[${i - 1}]" function but got ${errors.received(current)}.`);
          return;
        }
        const { PassThrough } = native.require("internal/stream_duplex");
        const out = new PassThrough({ objectMode: true });
        if (typeof current?.then === "function") {
          left++;
          PromiseResolve(current).then((v) => {
            value = v;
            if (v !== undefined && v !== null) out.write(v);
            if (closes) out.end();
            tick(finish);
          }, (error) => { out.destroy(error); tick(finish, error); });
        } else if (base.isIterable(current)) {
          left++;
          pump(current, out, closes).then(() => finish(), finish);
        }
        current = out;
        return;
      }
      if (!isNode(stage)) {
        if (i === 0 && base.isIterable(stage)) { current = stage; return; }
        throw errors.argType("body", base.bodyKinds, stage);
      }
      if (i === 0) {
        watch(stage, true, false);
      } else {
        if (isNode(current) && typeof current.pipe === "function") {
          current.pipe(stage, { end: closes });
          if (closes) {
            watch(stage, !last, true);
          } else {
            left++;
            const cleanup = finished(stage, { readable: false }, (e) => { if (e) finish(e); });
            finished(current, { writable: false }, (e) => { cleanup(); finish(e); });
          }
        } else {
          left++;
          destroys.push((error) => { if (!stage.destroyed && !stage.writableFinished) stage.destroy(error); });
          pump(current, stage, closes).then(() => finish(), finish);
          if (!last) watch(stage, true, true);
        }
      }
      current = stage;
    });
    return current;
  };

  const promises = {
    finished: (stream, options) => new Promise((resolve, reject) => {
      const cleanup = finished(stream, options ?? {}, (error) => {
        if (options?.cleanup) cleanup();
        if (error) reject(error); else resolve();
      });
    }),
    pipeline(...streams) {
      const last = streams[streams.length - 1];
      const options = last && typeof last === "object" && !isNode(last) && !base.isIterable(last) && !base.isWebReadable(last) &&
        !base.isWebWritable(last) && !base.isWebTransform(last) ? streams.pop() : {};
      return new Promise((resolve, reject) => {
        start(streams.length === 1 && p.ArrayIsArray(streams[0]) ? [...streams[0]] : streams, options,
          (error, value) => (error ? reject(error) : resolve(value)));
      });
    },
  };
  return { finished, pipeline, addAbortSignal, promises, pump, onAbort };
}
