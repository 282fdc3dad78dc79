// Writable streams (WHATWG Streams, section 5), written from the standard. W
// is a stream's record, X a writer's, C a controller's.
function (native, p) {
  "use strict";
  const r = native.readable, { defer, handled, attempt, VOID, member, object, strategy, illegal } = r;
  const { TypeError, RangeError, PromisePrototypeThen: then, PromiseResolve: resolved, PromiseReject: rejected, ArrayPrototypeShift: shift, ReflectApply: apply } = p;
  const KEY = {}, CLOSE = {};
  const WRITABLE = 0, ERRORING = 1, CLOSED = 2, ERRORED = 3;
  const LOCKED = "This WritableStream is currently locked to a writer.";
  const RELEASED = "This WritableStream writer has been released.";
  const ENDED = "This WritableStream has been closed.";

  const fulfil = (d) => { if (!d.done) { d.done = true; d.res(); } };
  const fail = (d, e) => { if (!d.done) { d.done = true; d.rej(e); handled(d.promise); } };
  const failed = (e) => { const d = defer(); fail(d, e); return d; };
  const fulfilled = () => { const d = defer(); fulfil(d); return d; };
  // refuse makes X[name] a rejected promise, whatever it was.
  const refuse = (X, name, e) => { if (X[name].done) X[name] = failed(e); else fail(X[name], e); };

  const closing = (W) => W.closeReq !== undefined || W.closingNow !== undefined;
  const busy = (W) => W.writing !== undefined || W.closingNow !== undefined;
  const forget = (C) => { C.write = C.close = C.abort = C.size = undefined; };
  const startErroring = (W, e) => {
    W.st = ERRORING;
    W.err = e;
    if (W.writer) refuse(W.writer, "ready", e);
    if (!busy(W) && W.C.started) finishErroring(W);
  };
  const rejectClosed = (W) => {
    if (W.closeReq) { W.closeReq.rej(W.err); W.closeReq = undefined; }
    if (W.writer) fail(W.writer.closed, W.err);
  };
  const finishErroring = (W) => {
    const C = W.C, reqs = W.reqs, pending = W.pendingAbort;
    W.st = ERRORED;
    C.q = []; C.n = 0;
    W.reqs = [];
    for (let i = 0; i < reqs.length; i++) reqs[i].rej(W.err);
    W.pendingAbort = undefined;
    if (!pending) { rejectClosed(W); return; }
    if (pending.late) { pending.d.rej(W.err); rejectClosed(W); return; }
    const result = C.abort ? C.abort(pending.reason) : VOID;
    forget(C);
    then(result, () => { pending.d.res(); rejectClosed(W); }, (e) => { pending.d.rej(e); rejectClosed(W); });
  };
  const rejection = (W, e) => { if (W.st === WRITABLE) startErroring(W, e); else finishErroring(W); };
  const abort = (W, reason) => {
    if (W.st === CLOSED || W.st === ERRORED) return resolved();
    W.C.aborted = { reason };
    if (W.C.abortController) native.abort(W.C.abortController, reason);
    if (W.st === CLOSED || W.st === ERRORED) return resolved();
    if (W.pendingAbort) return W.pendingAbort.d.promise;
    const late = W.st === ERRORING, d = defer();
    W.pendingAbort = { d, reason: late ? undefined : reason, late };
    if (!late) startErroring(W, reason);
    if (W.C.interrupt && W.writing) W.C.interrupt(reason);
    return d.promise;
  };
  const close = (W) => {
    if (W.st === CLOSED || W.st === ERRORED || closing(W)) return rejected(new TypeError(ENDED));
    const d = W.closeReq = defer(), X = W.writer;
    if (X && W.bp && W.st === WRITABLE) fulfil(X.ready);
    W.C.q[W.C.q.length] = { v: CLOSE, n: 0 };
    advance(W.C);
    return d.promise;
  };
  const backpressure = (W) => {
    const bp = W.C.hwm - W.C.n <= 0, X = W.writer;
    if (X && bp !== W.bp) { if (bp) X.ready = defer(); else fulfil(X.ready); }
    W.bp = bp;
  };
  const errorIfNeeded = (C, e) => { if (C.W.st === WRITABLE) { forget(C); startErroring(C.W, e); } };
  const take = (C) => { const e = shift(C.q); C.n = C.q.length === 0 ? 0 : C.n - e.n; };
  const advance = (C) => {
    const W = C.W;
    if (!C.started || W.writing) return;
    if (W.st === ERRORING) { finishErroring(W); return; }
    if (C.q.length === 0 || W.st !== WRITABLE) return;
    const { v } = C.q[0];
    if (v === CLOSE) { finish(C); return; }
    W.writing = shift(W.reqs);
    then(C.write ? C.write(v) : VOID, () => {
      W.writing.res();
      W.writing = undefined;
      take(C);
      if (!closing(W) && W.st === WRITABLE) backpressure(W);
      advance(C);
    }, (e) => {
      if (W.st === WRITABLE) forget(C);
      W.writing.rej(e);
      W.writing = undefined;
      rejection(W, e);
    });
  };
  const finish = (C) => {
    const W = C.W;
    W.closingNow = W.closeReq;
    W.closeReq = undefined;
    take(C);
    const result = C.close ? C.close() : VOID;
    forget(C);
    then(result, () => {
      W.closingNow.res();
      W.closingNow = undefined;
      if (W.st === ERRORING) {
        W.err = undefined;
        if (W.pendingAbort) { W.pendingAbort.d.res(); W.pendingAbort = undefined; }
      }
      W.st = CLOSED;
      if (W.writer) fulfil(W.writer.closed);
    }, (e) => {
      W.closingNow.rej(e);
      W.closingNow = undefined;
      if (W.pendingAbort) { W.pendingAbort.d.rej(e); W.pendingAbort = undefined; }
      rejection(W, e);
    });
  };

  // ---- writers
  const acquire = (W) => {
    if (W.writer) throw new TypeError(LOCKED);
    const X = W.writer = { W, ready: undefined, closed: undefined };
    if (W.st === WRITABLE) X.ready = !closing(W) && W.bp ? defer() : fulfilled();
    else X.ready = W.st === CLOSED ? fulfilled() : failed(W.err);
    X.closed = W.st === CLOSED ? fulfilled() : W.st === ERRORED ? failed(W.err) : defer();
    return X;
  };
  const release = (X) => {
    if (!X.W) return;
    const e = new TypeError(RELEASED);
    refuse(X, "ready", e);
    refuse(X, "closed", e);
    X.W.writer = X.W = undefined;
  };
  // write tells d, with res() or rej(e), what has become of the chunk.
  const write = (X, v, d) => {
    const W = X.W;
    if (!W) { d.rej(new TypeError(RELEASED)); return; }
    const C = W.C;
    let n = 1;
    if (C.size) {
      try { n = +(0, C.size)(v); } catch (e) { errorIfNeeded(C, e); n = 1; }
      if (W !== X.W) { d.rej(new TypeError(RELEASED)); return; }
    }
    if (W.st === ERRORED) { d.rej(W.err); return; }
    if (closing(W) || W.st === CLOSED) { d.rej(new TypeError(ENDED)); return; }
    if (W.st === ERRORING) { d.rej(W.err); return; }
    W.reqs[W.reqs.length] = d;
    if (!(n >= 0) || n === Infinity) {
      errorIfNeeded(C, new RangeError("The strategy's size() must return a finite number that is not negative."));
      return;
    }
    C.q[C.q.length] = { v, n };
    C.n += n;
    if (!closing(W) && W.st === WRITABLE) backpressure(W);
    advance(C);
  };
  const closePropagating = (X) => {
    const W = X.W;
    if (closing(W) || W.st === CLOSED) return resolved();
    return W.st === ERRORED ? rejected(W.err) : close(W);
  };

  // create makes a stream for use inside the platform; started is a promise or absent,
  // interrupt ends a write that an abort would wait for.
  const setUp = (hwm, size) => {
    const W = { st: WRITABLE, err: undefined, writer: undefined, reqs: [], writing: undefined, closeReq: undefined, closingNow: undefined, pendingAbort: undefined, bp: false, C: undefined, obj: undefined };
    W.C = { W, q: [], n: 0, hwm, size, started: false, write: undefined, close: undefined, abort: undefined, interrupt: undefined, abortController: undefined, aborted: undefined, obj: undefined };
    W.bp = hwm <= 0;
    return W;
  };
  const start = (C, started) => then(started, () => { C.started = true; advance(C); }, (e) => { C.started = true; rejection(C.W, e); });
  const create = ({ write, close, abort, interrupt, hwm = 1, size, started }) => {
    const W = setUp(hwm, size), C = W.C;
    C.write = write; C.close = close; C.abort = abort; C.interrupt = interrupt;
    if (started) start(C, started); else C.started = true;
    new WritableStream(KEY, W);
    return W;
  };

  let streamOf, writerOf;
  class WritableStream {
    #r;
    static { streamOf = (o) => typeof o === "object" && o !== null && #r in o ? o.#r : undefined; }
    constructor(sink = undefined, queuing = undefined) {
      if (sink === KEY) { this.#r = queuing; queuing.obj = this; return; }
      sink = object(sink, 1, "WritableStream", "UnderlyingSink");
      queuing = strategy(queuing, 2, "WritableStream");
      const fn = {};
      for (const name of ["abort", "close", "start"]) fn[name] = member(sink, name, "UnderlyingSink");
      if (sink.type !== undefined) throw new RangeError("The type of an underlying sink must be undefined.");
      fn.write = member(sink, "write", "UnderlyingSink");
      const W = setUp(r.highWaterMark(queuing, 1), queuing.size), C = W.C;
      this.#r = W;
      W.obj = this;
      C.obj = new WritableStreamDefaultController(KEY, C);
      if (fn.write) C.write = (v) => attempt(fn.write, sink, v, C.obj);
      if (fn.close) C.close = () => attempt(fn.close, sink);
      if (fn.abort) C.abort = (reason) => attempt(fn.abort, sink, reason);
      start(C, resolved(fn.start ? apply(fn.start, sink, [C.obj]) : undefined));
    }
    get locked() { return (streamOf(this) || illegal()).writer !== undefined; }
    abort(reason = undefined) {
      const W = streamOf(this);
      if (!W) return attempt(illegal);
      return W.writer ? rejected(new TypeError(LOCKED)) : abort(W, reason);
    }
    close() {
      const W = streamOf(this);
      if (!W) return attempt(illegal);
      return W.writer ? rejected(new TypeError(LOCKED)) : close(W);
    }
    getWriter() { return new WritableStreamDefaultWriter(KEY, acquire(streamOf(this) || illegal())); }
  }
  class WritableStreamDefaultWriter {
    #r;
    static { writerOf = (o) => typeof o === "object" && o !== null && #r in o ? o.#r : undefined; }
    constructor(stream, X = undefined) {
      if (stream === KEY) { this.#r = X; return; }
      const W = streamOf(stream);
      if (!W) throw new TypeError("Failed to construct 'WritableStreamDefaultWriter': constructor parameter 1 is not of type 'WritableStream'.");
      this.#r = acquire(W);
    }
    get closed() { const X = writerOf(this); return X ? X.closed.promise : attempt(illegal); }
    get ready() { const X = writerOf(this); return X ? X.ready.promise : attempt(illegal); }
    get desiredSize() {
      const { W } = writerOf(this) || illegal();
      if (!W) throw new TypeError(RELEASED);
      return W.st === WRITABLE ? W.C.hwm - W.C.n : W.st === CLOSED ? 0 : null;
    }
    abort(reason = undefined) {
      const X = writerOf(this);
      if (!X) return attempt(illegal);
      return X.W ? abort(X.W, reason) : rejected(new TypeError(RELEASED));
    }
    close() {
      const X = writerOf(this);
      if (!X) return attempt(illegal);
      return X.W ? close(X.W) : rejected(new TypeError(RELEASED));
    }
    write(chunk = undefined) {
      const X = writerOf(this), d = defer();
      if (!X) return attempt(illegal);
      write(X, chunk, d);
      return d.promise;
    }
    releaseLock() { release(writerOf(this) || illegal()); }
  }
  class WritableStreamDefaultController {
    #r;
    constructor(key = undefined, C = undefined) { if (key !== KEY) throw new TypeError("Illegal constructor"); this.#r = C; }
    get signal() {
      const C = this.#r;
      if (!C.abortController) {
        C.abortController = native.newAbortController();
        if (C.aborted) native.abort(C.abortController, C.aborted.reason);
      }
      return C.abortController.signal;
    }
    error(e = undefined) { errorIfNeeded(this.#r, e); }
  }
  const classes = { WritableStream, WritableStreamDefaultWriter, WritableStreamDefaultController };
  r.expose(classes);
  // transfer moves a stream to another object, as that of readable streams does.
  const transfer = (W) => {
    const X = acquire(W), T = create({
      write(v) {
        const d = defer();
        try { write(X, native.clone(v), d); } catch (e) { handled(abort(W, e)); d.rej(e); }
        return d.promise;
      },
      close: () => closePropagating(X),
      abort: (reason) => abort(W, reason),
    });
    then(X.closed.promise, undefined, (e) => errorIfNeeded(T.C, e));
    return T;
  };
  // sink makes a stream whose chunks Go takes, and what tells of them.
  const FLUSH = {};
  const sink = ({ write: take, close: end, abort: drop, interrupt, hwm }) => {
    const W = create({ write: (chunk) => chunk === FLUSH ? r.VOID : take(chunk), close: end, abort: drop, interrupt, hwm });
    return {
      obj: W.obj,
      fail: (e) => errorIfNeeded(W.C, e),
      end() { if (!closing(W)) r.handled(close(W)); },
      ending() { const X = W.closeReq || W.closingNow; return X && X.promise; },
      lock() {
        const X = acquire(W);
        return () => { const d = r.defer(); write(X, FLUSH, d); return d.promise; };
      },
    };
  };

  return {
    classes, WRITABLE, ERRORING, CLOSED, ERRORED, LOCKED, streamOf, acquire, release, write, close, abort, closing, closePropagating,
    create, sink, errorIfNeeded, advance, transferStream: transfer,
    transferable: (o) => streamOf(o).writer === undefined,
    transfer: (o) => transfer(streamOf(o)).obj,
    isStream: (o) => streamOf(o) !== undefined,
  };
}
